/* when_tokens.c -- cuts a text into numbers, words and signs.
 *
 * Dashes and blanks of all widths, as telephones and browsers write them, are "-" and a blank here; "p.m." is
 * "pm". Any other byte beyond ASCII belongs to a word that nobody knows.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "when_words.h"

typedef struct {
    str  from;
    char to;
} fold;

static const fold folds[] = {
    {STR_INIT("\xE2\x80\x90"), '-'},  {STR_INIT("\xE2\x80\x91"), '-'}, {STR_INIT("\xE2\x80\x92"), '-'},
    {STR_INIT("\xE2\x80\x93"), '-'},  {STR_INIT("\xE2\x80\x94"), '-'}, {STR_INIT("\xE2\x88\x92"), '-'},
    {STR_INIT("\xE2\x80\x99"), '\''}, {STR_INIT("\xC2\xA0"), ' '},     {STR_INIT("\xE2\x80\x89"), ' '},
    {STR_INIT("\xE2\x80\xAF"), ' '},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '\'' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';' || c == '\0';
}

/* "a.m." and "p.m", not as a part of a word: how many bytes it has. */
static size_t dotted_half(str rest, bool in_word)
{
    if (in_word || rest.len < 3 || (rest.at[0] != 'a' && rest.at[0] != 'p') || rest.at[1] != '.' ||
        rest.at[2] != 'm')
        return 0;
    return rest.len > 3 && rest.at[3] == '.' ? 4 : 3;
}

static str lower(arena *a, str words)
{
    char *out = arena_alloc(a, words.len + 1);
    if (out == NULL)
        return STR("");
    for (size_t i = 0; i < words.len; i++)
        out[i] = str_lower_char(words.at[i]);
    return (str){out, words.len};
}

/* What it writes is never longer than what it reads. */
static str plain(arena *a, str words)
{
    str    low = lower(a, words);
    char  *out = arena_alloc(a, low.len + 1);
    size_t len = 0;
    if (out == NULL)
        return STR("");
    for (size_t i = 0; i < low.len;) {
        str    rest = str_from(low, i);
        size_t half = dotted_half(rest, len > 0 && is_letter(out[len - 1]));
        size_t took = 0;
        for (size_t k = 0; k < sizeof folds / sizeof *folds && took == 0; k++)
            if (str_starts(rest, folds[k].from)) {
                out[len++] = folds[k].to;
                took = folds[k].from.len;
            }
        if (took == 0 && half > 0) {
            out[len++] = rest.at[0];
            out[len++] = 'm';
            took = half;
        } else if (took == 0) {
            out[len++] = rest.at[0];
            took = 1;
        }
        i += took;
    }
    return (str){out, len};
}

static int number_of(str digits)
{
    int n = 0;
    if (digits.len > 4)
        return -1;
    for (size_t i = 0; i < digits.len; i++)
        n = n * 10 + (digits.at[i] - '0');
    return n;
}

/* *i stands on no blank. */
static when_token next_token(str text, size_t *i)
{
    size_t     from = *i;
    when_token t = {.kind = TOKEN_SIGN, .glued = from > 0 && !is_blank(text.at[from - 1]), .number = -1};
    if (is_digit(text.at[from])) {
        t.kind = TOKEN_NUMBER;
        while (*i < text.len && is_digit(text.at[*i]))
            ++*i;
    } else if (is_letter(text.at[from])) {
        t.kind = TOKEN_WORD;
        while (*i < text.len && is_letter(text.at[*i]))
            ++*i;
    } else {
        ++*i;
    }
    t.text = str_slice(text, from, *i);
    if (t.kind == TOKEN_NUMBER)
        t.number = number_of(t.text);
    return t;
}

const when_token *when_tokens(arena *a, str words)
{
    str         text = plain(a, words);
    when_token *list = arena_array(a, when_token, text.len + TOKENS_AHEAD);
    size_t      len = 0;
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < text.len;) {
        if (is_blank(text.at[i]))
            i++;
        else
            list[len++] = next_token(text, &i);
    }
    return list;
}

bool token_is(const when_token *t, const char *word)
{
    return t->kind != TOKEN_NUMBER && t->kind != TOKEN_END && str_eq(t->text, str_of(word));
}

bool token_in(const when_token *t, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (token_is(t, words[i]))
            return true;
    return false;
}
