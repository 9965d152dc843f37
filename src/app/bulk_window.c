/* bulk_window.c -- see bulk_window.h.
 *
 *     owners, oldest first   [o1] -> [o2] -> [o3]            found by hash in `slots`
 *     records of each         r1 -> r4   r2    r3
 *     away                    records that a batch holds, by the hash of their key
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, AWAY_SLOTS = 1024, OWNERS_LOOKED_AT = 256 };

typedef struct group group;
struct group {
    group       *prev, *next, *next_in_slot;
    uint64_t     owner;
    bulk_record *first, *last;
    size_t       count;
};

struct bulk_window {
    group       *oldest, *newest, *spare;
    group       *slots[SLOTS];
    bulk_record *away[AWAY_SLOTS];
    size_t       count, bytes;
    group        all[BULK_WINDOW_RECORDS * 2]; /* what comes back may exceed what fits, by what is away */
};

/* ---- records ---- */

bulk_record *bulk_record_new(str text)
{
    bulk_record *r = malloc(sizeof *r + text.len);
    if (r == NULL)
        return NULL;
    *r = (bulk_record){.len = text.len};
    memcpy(r->text, text.at, text.len);
    return r;
}

void bulk_record_free(bulk_record *r)
{
    free(r);
}

str bulk_record_text(const bulk_record *r)
{
    return (str){r->text, r->len};
}

/* FNV-1a, over the lower case of ASCII. */
static uint64_t hash_text(uint64_t h, str s)
{
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)str_lower_char(s.at[i])) * 0x100000001b3u;
    return h;
}

void bulk_record_sort(bulk_record *r, str owner, str name)
{
    r->owner = hash_text(0xcbf29ce484222325u, str_trim(owner));
    r->key = hash_text(hash_text(r->owner, STR("\n")), str_trim(name));
}

/* ---- groups ---- */

static group **slot_of(bulk_window *w, uint64_t owner)
{
    group **at = &w->slots[owner % SLOTS];
    while (*at != NULL && (*at)->owner != owner)
        at = &(*at)->next_in_slot;
    return at;
}

static void link_last(bulk_window *w, group *g)
{
    g->prev = w->newest;
    g->next = NULL;
    *(w->newest != NULL ? &w->newest->next : &w->oldest) = g;
    w->newest = g;
}

static void link_first(bulk_window *w, group *g)
{
    g->prev = NULL;
    g->next = w->oldest;
    *(w->oldest != NULL ? &w->oldest->prev : &w->newest) = g;
    w->oldest = g;
}

static void unlink_group(bulk_window *w, group *g)
{
    *(g->prev != NULL ? &g->prev->next : &w->oldest) = g->next;
    *(g->next != NULL ? &g->next->prev : &w->newest) = g->prev;
}

static group *make_group(bulk_window *w, uint64_t owner)
{
    group *g = w->spare;
    assert(g != NULL); /* as many as there can be records */
    w->spare = g->next;
    *g = (group){.owner = owner, .next_in_slot = w->slots[owner % SLOTS]};
    w->slots[owner % SLOTS] = g;
    return g;
}

static void drop_group(bulk_window *w, group *g)
{
    group **at = slot_of(w, g->owner);
    *at = g->next_in_slot;
    unlink_group(w, g);
    g->next = w->spare;
    w->spare = g;
}

/* ---- the window ---- */

bulk_window *bulk_window_new(void)
{
    bulk_window *w = calloc(1, sizeof *w);
    for (size_t i = 0; w != NULL && i < sizeof w->all / sizeof *w->all; i++) {
        w->all[i].next = w->spare;
        w->spare = &w->all[i];
    }
    return w;
}

void bulk_window_free(bulk_window *w)
{
    if (w == NULL)
        return;
    for (group *g = w->oldest; g != NULL; g = g->next) {
        while (g->first != NULL) {
            bulk_record *r = g->first;
            g->first = r->next;
            bulk_record_free(r);
        }
    }
    free(w);
}

void bulk_window_add(bulk_window *w, bulk_record *r)
{
    group *g = *slot_of(w, r->owner);
    if (g == NULL) {
        g = make_group(w, r->owner);
        link_last(w, g);
    }
    r->next = NULL;
    *(g->first != NULL ? &g->last->next : &g->first) = r;
    g->last = r;
    g->count++;
    w->count++;
    w->bytes += r->len;
}

size_t bulk_window_count(const bulk_window *w)
{
    return w->count;
}

bool bulk_window_is_full(const bulk_window *w)
{
    return w->count >= BULK_WINDOW_RECORDS || w->bytes >= BULK_WINDOW_BYTES;
}

/* ---- under way ---- */

static bool is_away(const bulk_window *w, uint64_t key)
{
    const bulk_record *r = w->away[key % AWAY_SLOTS];
    while (r != NULL && r->key != key)
        r = r->next_away;
    return r != NULL;
}

static void came_back(bulk_window *w, bulk_record *gone)
{
    bulk_record **at = &w->away[gone->key % AWAY_SLOTS];
    while (*at != gone)
        at = &(*at)->next_away;
    *at = gone->next_away;
}

void bulk_window_again(bulk_window *w, bulk_record *r)
{
    came_back(w, r);
    group *g = *slot_of(w, r->owner);
    if (g == NULL) {
        g = make_group(w, r->owner);
        link_first(w, g);
    }
    /* Several come back one by one: in the order in which they were read. */
    bulk_record **at = &g->first;
    while (*at != NULL && (*at)->number < r->number)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    if (r->next == NULL)
        g->last = r;
    g->count++;
    w->count++;
    w->bytes += r->len;
}

void bulk_window_gone(bulk_window *w, bulk_record *r)
{
    came_back(w, r);
    bulk_record_free(r);
}

/* ---- batches ---- */

typedef struct {
    bulk_record **at;
    size_t        len, bytes, most, most_bytes;
} batch;

/* Takes from the front of an owner's records, as many as there is room for. False: no room is left. */
static bool take_from(bulk_window *w, group *g, batch *b)
{
    while (g->first != NULL) {
        bulk_record *r = g->first;
        if (b->len == b->most || (b->len > 0 && b->bytes + r->len > b->most_bytes))
            return false;
        if (is_away(w, r->key))
            return true; /* the next ones of this owner may not overtake it */
        g->first = r->next;
        g->count--;
        w->count--;
        w->bytes -= r->len;
        b->bytes += r->len;
        b->at[b->len++] = r;
    }
    return true;
}

size_t bulk_window_take(bulk_window *w, bulk_record **ret, size_t most, size_t most_bytes)
{
    batch    b = {.at = ret, .most = most, .most_bytes = most_bytes};
    unsigned looked_at = 0;
    bool     room = true;
    for (group *g = w->oldest, *next; g != NULL && room && b.len < most && looked_at < OWNERS_LOOKED_AT;
         g = next) {
        next = g->next;
        looked_at++;
        /* An owner that would fit a batch of its own is not split to fill the rest of this one. */
        if (b.len > 0 && g->count <= most && g->count > most - b.len)
            continue;
        room = take_from(w, g, &b);
        if (g->first == NULL)
            drop_group(w, g);
    }
    for (size_t i = 0; i < b.len; i++) {
        bulk_record **slot = &w->away[ret[i]->key % AWAY_SLOTS];
        ret[i]->next_away = *slot;
        *slot = ret[i];
    }
    return b.len;
}
