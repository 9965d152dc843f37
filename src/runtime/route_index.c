/* route_index.c -- see route_index.h.
 *
 * Literals are kept folded to lower case in a table with open addressing that is at most half full, so that a
 * search ends after a step or two; the segment is folded while it is hashed.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/route_index.h"

#include <assert.h>

enum { INDEXED_SEGMENTS = 8 };

typedef struct {
    str       literal;  /* NULL pointer: a free place */
    size_t    position; /* of the segment */
    uint64_t *bits;
} entry;

struct route_index {
    size_t    words;
    entry    *table;
    size_t    mask;
    uint64_t *any;      /* [position][word]: not a literal there */
    uint64_t *of_count; /* [segments of the path][word] */
};

/* FNV-1a over the folded bytes. */
static size_t hash(str s, size_t position)
{
    uint64_t h = 14695981039346656037ULL ^ position;
    for (size_t i = 0; i < s.len; i++) {
        h ^= (unsigned char)str_lower_char(s.at[i]);
        h *= 1099511628211ULL;
    }
    return (size_t)(h ^ (h >> 29));
}

/* The place of that literal, or the free one where it would go. */
static entry *find(const route_index *x, str literal, size_t position)
{
    for (size_t i = hash(literal, position) & x->mask;; i = (i + 1) & x->mask) {
        entry *e = &x->table[i];
        if (e->literal.at == NULL || (e->position == position && str_eq_nocase(e->literal, literal)))
            return e;
    }
}

static void set_bit(uint64_t *bits, size_t n)
{
    bits[n / 64] |= 1ULL << (n % 64);
}

/* False: out of memory. */
static bool add(arena *a, route_index *x, const route_template *r, size_t n)
{
    for (size_t len = r->least; len <= ROUTE_SEGMENTS_MAX + 1 && (len <= r->count || r->catch_all); len++)
        set_bit(x->of_count + len * x->words, n);

    for (size_t i = 0; i < INDEXED_SEGMENTS; i++) {
        if (i >= r->count || !route_segment_is_literal(&r->segments[i])) {
            set_bit(x->any + i * x->words, n);
            continue;
        }
        str    literal = r->segments[i].parts[0].text;
        entry *e = find(x, literal, i);
        if (e->literal.at == NULL) {
            uint64_t *bits = arena_array(a, uint64_t, x->words);
            if (bits == NULL)
                return false;
            *e = (entry){literal, i, bits};
        }
        set_bit(e->bits, n);
    }
    return true;
}

route_index *route_index_make(arena *a, route_template *const *templates, size_t count)
{
    assert(count <= ROUTE_INDEX_MAX);
    size_t places = 64;
    while (places < 2 * count * INDEXED_SEGMENTS)
        places *= 2;

    route_index *x = arena_one(a, route_index);
    if (x == NULL)
        return NULL;
    x->words = (count + 63) / 64;
    x->mask = places - 1;
    x->table = arena_array(a, entry, places);
    x->any = arena_array(a, uint64_t, INDEXED_SEGMENTS * x->words);
    x->of_count = arena_array(a, uint64_t, (ROUTE_SEGMENTS_MAX + 2) * x->words);
    if (x->table == NULL || x->any == NULL || x->of_count == NULL)
        return NULL;

    for (size_t i = 0; i < count; i++)
        if (templates[i] != NULL && !add(a, x, templates[i], i))
            return NULL;
    return x;
}

size_t route_index_find(const route_index *x, const route_path *p, uint64_t ret[ROUTE_INDEX_WORDS])
{
    const uint64_t *of_count = x->of_count + p->count * x->words;
    for (size_t w = 0; w < x->words; w++)
        ret[w] = of_count[w];

    for (size_t i = 0; i < p->count && i < INDEXED_SEGMENTS; i++) {
        const entry    *e = find(x, p->segments[i], i);
        const uint64_t *any = x->any + i * x->words;
        for (size_t w = 0; w < x->words; w++)
            ret[w] &= any[w] | (e->literal.at != NULL ? e->bits[w] : 0);
    }
    return x->words;
}
