/* search.c -- see search.h.
 *
 * All haystacks are one text, so that the longest word is looked for in all items at once; only where it
 * occurs are the others, and the filters, looked at. No word holds a line end, so none is found across two
 * items.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/search.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "domain/actions/record.h"

enum { OFFSET_MAX = 1000 * 1000 * 1000 };

/* ---- reading a query ---- */

static size_t blank_bytes(str s)
{
    /* record_trim knows what is blank: what it takes off the front of one character, or does not. */
    static const size_t lens[] = {1, 2, 3};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++)
        if (lens[i] <= s.len && record_trim(str_slice(s, 0, lens[i])).len == 0)
            return lens[i];
    return 0;
}

static bool add_word(search_query *q, str word)
{
    for (size_t i = 0; i < q->count; i++)
        if (str_eq(q->words[i], word))
            return true;
    if (q->count == SEARCH_WORDS_MAX)
        return false;
    q->words[q->count++] = word;
    return true;
}

static bool split(str text, search_query *q)
{
    size_t from = 0, i = 0;
    while (i <= text.len) {
        size_t blank = i < text.len ? blank_bytes(str_from(text, i)) : 0;
        if (i < text.len && blank == 0) {
            i++;
            continue;
        }
        if (i > from && !add_word(q, str_slice(text, from, i)))
            return false;
        i += blank > 0 ? blank : 1;
        from = i;
    }
    return true;
}

/* Longest first, for it is the rarest; equals by their bytes, so that search_text does not depend on the
 * order in which they were written. */
static int by_length(const void *left, const void *right)
{
    const str *a = left, *b = right;
    if (a->len != b->len)
        return a->len > b->len ? -1 : 1;
    return str_compare(*a, *b);
}

static bool read_choice(str text, search_choice *ret)
{
    bool yes = str_eq_nocase(text, STR("true")) || str_eq(text, STR("1"));
    bool no = str_eq_nocase(text, STR("false")) || str_eq(text, STR("0"));
    *ret = yes ? SEARCH_YES : no ? SEARCH_NO : SEARCH_ANY;
    return yes || no || text.len == 0;
}

/* The whole number that the text begins with, as JavaScript's parseInt reads it. */
static size_t leading_number(str text, size_t most, size_t otherwise)
{
    size_t n = 0, i = 0;
    text = record_trim(text);
    while (i < text.len && text.at[i] >= '0' && text.at[i] <= '9') {
        n = n * 10 + (size_t)(text.at[i++] - '0');
        n = n < most ? n : most;
    }
    return i > 0 ? n : otherwise;
}

const char *search_read(arena *a, const search_input *in, search_query *ret)
{
    search_query q = {.type = record_key(a, in->type)};
    if (in->q.len > SEARCH_BYTES_MAX)
        return "Parameter q has more than 512 bytes.";
    if (!split(record_key(a, in->q), &q))
        return "Parameter q has more than 16 different words.";
    if (!read_choice(in->verified, &q.verified))
        return "Parameter verified must be true or false.";
    if (!read_choice(in->archived, &q.archived))
        return "Parameter archived must be true or false.";
    q.limit = leading_number(in->limit, SEARCH_LIMIT_MAX, SEARCH_LIMIT_DEFAULT);
    q.limit = q.limit > 0 ? q.limit : SEARCH_LIMIT_DEFAULT;
    q.offset = leading_number(in->offset, OFFSET_MAX, 0);
    qsort(q.words, q.count, sizeof *q.words, by_length);
    *ret = q;
    return NULL;
}

str search_text(arena *a, const search_query *q)
{
    buf out;
    buf_init(&out, a, 8 * SEARCH_BYTES_MAX + q->type.len);
    for (size_t i = 0; i < q->count; i++) {
        (void)buf_add(&out, q->words[i]);
        (void)buf_add_char(&out, '\n');
    }
    (void)buf_addf(&out, "\n%d %d %zu %zu ", (int)q->verified, (int)q->archived, q->limit, q->offset);
    (void)buf_add(&out, q->type);
    return buf_str(&out);
}

/* ---- running it ---- */

static bool passes(const search_query *q, const snapshot_item *item)
{
    if (q->verified != SEARCH_ANY && item->verified != (q->verified == SEARCH_YES))
        return false;
    if (q->archived != SEARCH_ANY && item->archived != (q->archived == SEARCH_YES))
        return false;
    return q->type.len == 0 || str_eq(item->type, q->type);
}

static bool has_all(const search_query *q, str text)
{
    for (size_t i = 0; i < q->count; i++)
        if (memmem(text.at, text.len, q->words[i].at, q->words[i].len) == NULL)
            return false;
    return true;
}

/* Hits in owner and name fill the room from its front, the others from its end, downwards. */
typedef struct {
    uint32_t *room;
    size_t    titles, others, size;
} hits;

static void look_at(const search_query *q, const snapshot_item *items, size_t i, hits *h)
{
    const snapshot_item *item = &items[i];
    if (!passes(q, item) || !has_all(q, item->haystack))
        return;
    if (has_all(q, str_slice(item->haystack, 0, item->title_bytes)))
        h->room[h->titles++] = (uint32_t)i;
    else
        h->room[h->size - ++h->others] = (uint32_t)i;
}

/* From one occurrence of the longest word to the next that is in another item. */
static void leap(const search_query *q, str haystacks, const snapshot_item *items, size_t count, hits *h)
{
    size_t i = 0, at = 0;
    while (at < haystacks.len) {
        const char *hit = memmem(haystacks.at + at, haystacks.len - at, q->words[0].at, q->words[0].len);
        if (hit == NULL)
            return;
        while (i < count && items[i].haystack.at + items[i].haystack.len < hit)
            i++;
        if (i == count)
            return;
        look_at(q, items, i, h);
        at = (size_t)(items[i].haystack.at - haystacks.at) + items[i].haystack.len;
        i++;
    }
}

void search_run(const search_query *q, str haystacks, const snapshot_item *items, size_t count,
                uint32_t *room, search_found *ret)
{
    hits h = {.room = room, .size = count};
    if (q->count > 0)
        leap(q, haystacks, items, count, &h);
    for (size_t i = 0; q->count == 0 && i < count; i++)
        look_at(q, items, i, &h);
    ret->total = h.titles + h.others;
    ret->count = 0;
    for (size_t i = q->offset; i < ret->total && ret->count < q->limit; i++)
        ret->page[ret->count++] = i < h.titles ? room[i] : room[count - 1 - (i - h.titles)];
}
