/* route_regex.c -- translates a .NET expression to a POSIX extended one, byte by byte, and counts what it
 * will grow to.
 *
 * Counting matters: regcomp unrolls counted repeats, so that ((a{200}){200}){200} would eat all memory. Each
 * atom counts one, a group the sum of what it holds, a repeat {m,n} its atom n times; above STATES_MAX the
 * expression is refused. Brackets are read into a set of bytes and written anew, because a backslash means
 * nothing inside a POSIX bracket.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/route_regex.h"

#include <string.h>

#include "core/buf.h"
#include "runtime/config_file.h"

enum { STATES_MAX = 2048, DEPTH_MAX = 16, REPEAT_MAX = 255, TRANSLATED_MAX = 64 * KIB };

typedef struct {
    bool has[128];
} byte_set;

typedef struct {
    arena *a;
    str    in;
    size_t at;
    buf    out;
    size_t sums[DEPTH_MAX + 1]; /* states of each open group so far, without the last atom */
    size_t depth;
    size_t atom; /* states of the last atom; 0: a quantifier has nothing to repeat here */
    str   *error;
} translation;

static res refuse(translation *t, const char *why)
{
    return config_error(t->a, t->error, "regex '%.*s': %s", STR_ARG(t->in), why);
}

static res refuse_at(translation *t, size_t from, const char *why)
{
    return config_error(t->a, t->error, "regex '%.*s': '%.*s' %s", STR_ARG(t->in),
                        STR_ARG(str_slice(t->in, from, t->at)), why);
}

static bool more(const translation *t)
{
    return t->at < t->in.len;
}

/* Closes the last atom: nothing can repeat it any more. */
static void settle(translation *t)
{
    t->sums[t->depth] += t->atom;
    t->atom = 0;
}

static void add_atom(translation *t, size_t states)
{
    settle(t);
    t->atom = states;
}

/* A byte that stands for itself. Letters, digits and bytes of UTF-8 must not have a backslash before them. */
static void add_literal(translation *t, char c)
{
    if (strchr(".[]\\()*+?{}|^$", c) != NULL && c != '\0')
        buf_add_char(&t->out, '\\');
    buf_add_char(&t->out, c);
    add_atom(t, 1);
}

/* The bytes of \d, \w and \s; false for any other letter. */
static bool class_of(char letter, byte_set *set)
{
    const char *ranges;
    switch (str_lower_char(letter)) {
    case 'd':
        ranges = "09";
        break;
    case 'w':
        ranges = "09AZaz__";
        break;
    case 's':
        ranges = "\t\r  ";
        break;
    default:
        return false;
    }
    for (; *ranges != '\0'; ranges += 2)
        for (char c = ranges[0]; c <= ranges[1]; c++)
            set->has[(unsigned char)c] = true;
    return true;
}

/* \t and its like; punctuation stands for itself. '\0': not one of these. */
static char plain_escape(char c)
{
    static const char letters[] = "tnrfv", bytes[] = "\t\n\r\f\v";
    const char       *found = c != '\0' ? strchr(letters, c) : NULL;
    if (found != NULL)
        return bytes[found - letters];
    bool word = (c >= '0' && c <= '9') || (str_lower_char(c) >= 'a' && str_lower_char(c) <= 'z');
    return word || c == '_' || (unsigned char)c >= 0x80 ? '\0' : c;
}

static bool is_alnum(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Writes a set as a POSIX bracket: ']' must come first, '-' last, and '[' where no '.', ':' or '=' follows
 * it;
 * '^' must not come first, so a set of nothing else is written as an escape. */
static void write_bracket(translation *t, const byte_set *set, bool negated)
{
    size_t count = 0;
    for (int c = 1; c < 128; c++)
        count += set->has[c];
    if (!negated && count == 1 && set->has['^']) {
        buf_add(&t->out, STR("\\^"));
        return;
    }
    buf_add(&t->out, negated ? STR("[^") : STR("["));
    if (set->has[']'])
        buf_add_char(&t->out, ']');
    for (int c = 1; c < 128; c++) {
        if (!set->has[c] || c == ']' || c == '[' || c == '-' || c == '^')
            continue;
        int last = c;
        while (is_alnum(c) && last + 1 < 128 && is_alnum(last + 1) && set->has[last + 1])
            last++;
        buf_add_char(&t->out, (char)c);
        if (last > c + 1)
            buf_add_char(&t->out, '-');
        if (last > c)
            buf_add_char(&t->out, (char)last);
        c = last;
    }
    for (const char *late = "^[-"; *late != '\0'; late++)
        if (set->has[(int)*late])
            buf_add_char(&t->out, *late);
    buf_add_char(&t->out, ']');
}

/* One member of a bracket: a byte into *ret, or a class such as \d into the set, which leaves *ret at -1. */
static res read_member(translation *t, byte_set *set, int *ret)
{
    size_t from = t->at;
    char   c = t->in.at[t->at++];
    *ret = -1;
    if (c == '\\') {
        if (!more(t))
            return refuse(t, "ends in a backslash");
        char letter = t->in.at[t->at++];
        if (str_lower_char(letter) == letter && class_of(letter, set))
            return RES_OK;
        c = plain_escape(letter);
        if (c == '\0')
            return refuse_at(t, from, "is not supported in brackets");
    }
    if ((unsigned char)c >= 0x80 || c == '\0')
        return refuse(t, "brackets hold ASCII characters only");
    *ret = (unsigned char)c;
    return RES_OK;
}

/* A member and, if a '-' follows, the rest of its range. */
static res read_range(translation *t, byte_set *set)
{
    int first, last;
    if (str_starts(str_from(t->in, t->at), STR("-[")))
        return refuse(t, "subtraction of classes is not supported");
    res  r = read_member(t, set, &first);
    bool range = r == RES_OK && t->at + 1 < t->in.len && t->in.at[t->at] == '-' && t->in.at[t->at + 1] != ']';
    if (r != RES_OK || (!range && first < 0))
        return r;
    last = first;
    if (range) {
        t->at++;
        if (t->in.at[t->at] == '[')
            return refuse(t, "subtraction of classes is not supported");
        r = read_member(t, set, &last);
        if (r != RES_OK)
            return r;
        if (first < 0 || last < first)
            return refuse(t, "a range in brackets is upside down or has no end");
    }
    for (int c = first; c <= last; c++)
        set->has[c] = true;
    return RES_OK;
}

static res read_bracket(translation *t)
{
    byte_set set = {0};
    bool     negated = more(t) && t->in.at[t->at] == '^';
    t->at += negated;
    for (size_t from = t->at; more(t);) {
        if (t->in.at[t->at] == ']' && t->at > from) {
            t->at++;
            write_bracket(t, &set, negated);
            add_atom(t, 1);
            return RES_OK;
        }
        res r = read_range(t, &set);
        if (r != RES_OK)
            return r;
    }
    return refuse(t, "a bracket is not closed");
}

static res read_escape(translation *t)
{
    size_t from = t->at - 1;
    if (!more(t))
        return refuse(t, "ends in a backslash");
    char     c = t->in.at[t->at++];
    byte_set set = {0};
    if (class_of(c, &set)) {
        write_bracket(t, &set, c != str_lower_char(c));
        add_atom(t, 1);
        return RES_OK;
    }
    if (c == 'A' || c == 'z' || c == 'Z') {
        settle(t);
        buf_add_char(&t->out, c == 'A' ? '^' : '$');
        return RES_OK;
    }
    char plain = plain_escape(c);
    if (plain == '\0')
        return refuse_at(t, from, "is not supported");
    add_literal(t, plain);
    return RES_OK;
}

static res open_group(translation *t)
{
    size_t from = t->at - 1;
    settle(t);
    if (t->depth == DEPTH_MAX)
        return refuse(t, "groups are nested too deeply");
    if (more(t) && t->in.at[t->at] == '?') {
        t->at = t->at + 2 < t->in.len ? t->at + 2 : t->in.len;
        if (!str_eq(str_slice(t->in, from, t->at), STR("(?:")))
            return refuse_at(t, from, "is not supported");
    }
    t->sums[++t->depth] = 0;
    buf_add_char(&t->out, '(');
    return RES_OK;
}

static res close_group(translation *t)
{
    if (t->depth == 0)
        return refuse(t, "a ')' has no '('");
    settle(t);
    size_t states = t->sums[t->depth--];
    t->atom = states + 1;
    buf_add_char(&t->out, ')');
    return RES_OK;
}

/* "{2}", "{2,}" or "{2,5}" at the opening brace: gives its bounds and its length; else it is a plain brace,
 * as .NET takes it. A bound above the limit is cut to one above it. */
static bool is_repeat(str s, size_t *ret_least, size_t *ret_most, size_t *ret_len)
{
    size_t bound[2] = {0, 0}, digits[2] = {0, 0}, which = 0, i = 1;
    for (; i < s.len && s.at[i] != '}'; i++) {
        if (s.at[i] == ',' && which == 0) {
            which = 1;
            continue;
        }
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        digits[which]++;
        bound[which] = bound[which] * 10 + (size_t)(s.at[i] - '0');
        if (bound[which] > REPEAT_MAX)
            bound[which] = REPEAT_MAX + 1;
    }
    if (i == s.len || digits[0] == 0)
        return false;
    *ret_least = bound[0];
    *ret_most = which == 0 ? bound[0] : digits[1] == 0 ? bound[0] + 1 : bound[1];
    *ret_len = i + 1;
    return true;
}

/* A quantifier is at in[from]; `text` is all of it. A '?' behind makes it lazy, which changes what is
 * captured but not whether something matches: it is dropped. */
static res quantify(translation *t, str text, size_t least, size_t most)
{
    if (t->atom == 0)
        return refuse(t, "a quantifier has nothing to repeat");
    if (least > REPEAT_MAX || most > REPEAT_MAX + 1)
        return refuse(t, "a repeat is above 255");
    if (least > most)
        return refuse(t, "a repeat is upside down");
    buf_add(&t->out, text);
    t->sums[t->depth] += t->atom * (most > 0 ? most : 1);
    t->atom = 0;
    if (t->sums[t->depth] > STATES_MAX)
        return refuse(t, "is too large");
    if (more(t) && t->in.at[t->at] == '?')
        t->at++;
    return RES_OK;
}

static res read_one(translation *t)
{
    size_t from = t->at, least, most, len;
    char   c = t->in.at[t->at++];
    switch (c) {
    case '\\':
        return read_escape(t);
    case '[':
        return read_bracket(t);
    case '(':
        return open_group(t);
    case ')':
        return close_group(t);
    case '*':
    case '+':
    case '?':
        return quantify(t, str_slice(t->in, from, t->at), 0, 1);
    case '{':
        if (!is_repeat(str_from(t->in, from), &least, &most, &len)) {
            add_literal(t, c);
            return RES_OK;
        }
        t->at = from + len;
        return quantify(t, str_slice(t->in, from, t->at), least, most);
    case '^':
    case '$':
    case '|':
        settle(t);
        buf_add_char(&t->out, c);
        return RES_OK;
    case '.':
        buf_add_char(&t->out, c);
        add_atom(t, 1);
        return RES_OK;
    default:
        add_literal(t, c);
        return RES_OK;
    }
}

static res translate(translation *t)
{
    if (t->in.len == 0)
        return refuse(t, "is empty");
    if (t->in.len > ROUTE_REGEX_MAX)
        return config_error(t->a, t->error, "regex: is longer than %d bytes", ROUTE_REGEX_MAX);
    if (str_find_char(t->in, '\0') < t->in.len)
        return config_error(t->a, t->error, "regex: holds a zero byte");
    while (more(t)) {
        res r = read_one(t);
        if (r != RES_OK)
            return r;
    }
    settle(t);
    if (t->depth > 0)
        return refuse(t, "a '(' is not closed");
    if (t->sums[0] > STATES_MAX)
        return refuse(t, "is too large");
    buf_add_char(&t->out, '\0');
    return t->out.failed ? config_no_memory(t->error) : RES_OK;
}

/* The expression sits behind a flag, because regfree must not see one that regcomp never filled. */
typedef struct {
    regex_t re;
    bool    live;
} regex_slot;

static void drop(void *arg)
{
    regex_slot *slot = arg;
    if (slot->live)
        regfree(&slot->re);
}

res route_regex_compile(arena *a, str pattern, const regex_t **ret, str *ret_error)
{
    translation t = {.a = a, .in = pattern, .error = ret_error};
    buf_init(&t.out, a, TRANSLATED_MAX);
    res r = translate(&t);
    if (r != RES_OK)
        return r;

    regex_slot *slot = arena_one(a, regex_slot);
    if (slot == NULL || !arena_defer(a, drop, slot))
        return config_no_memory(ret_error);
    int code = regcomp(&slot->re, t.out.at, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    slot->live = code == 0;
    if (code == REG_ESPACE)
        return config_no_memory(ret_error);
    if (code != 0)
        return refuse(&t, "is not valid");
    *ret = &slot->re;
    return RES_OK;
}

bool route_regex_matches(const regex_t *re, str subject)
{
    if (subject.len > ROUTE_REGEX_SUBJECT_MAX)
        return false;
    char terminated[ROUTE_REGEX_SUBJECT_MAX + 1];
    if (subject.len > 0)
        memcpy(terminated, subject.at, subject.len);
    terminated[subject.len] = '\0';
    return regexec(re, terminated, 0, NULL, 0) == 0;
}
