/* key_lock.c -- see key_lock.h.
 *
 * Each key that is held has an entry in a hash table, with a queue of those who wait for it. The entry passes
 * from one to the next and goes with the last, so the table is as large as what is under way.
 *
 * A key_lock lives in the arena of the task that asked, and a cleanup of that arena releases it: so it is
 * made, and its cleanup registered, before there is an entry or a place in a queue that could be left behind.
 * Whoever releases hands the entry over at once; the next one owns it before it runs again, and if it is
 * cancelled in between, it releases in turn.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/key_lock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "runtime/wait.h"

enum { BUCKETS_FIRST = 64 };

typedef struct held held;
struct held {
    held     *next; /* in its bucket */
    key_lock *first, *last;
    uint64_t  hash;
    size_t    key_len;
    char      key[];
};

struct key_lock {
    held     *mine;  /* NULL: not, not yet, or no longer */
    held     *queue; /* whose queue it stands in; NULL: none */
    key_lock *prev, *next;
    wait     *w; /* on the stack of the task that waits */
};

/* The table starts in `few`, and goes back to it when nothing is held. */
static held *few[BUCKETS_FIRST];
static struct {
    held   **buckets;
    size_t   size; /* a power of two */
    size_t   count;
    uint64_t seed;
} table = {.buckets = few, .size = BUCKETS_FIRST};

size_t key_lock_count(void)
{
    return table.count;
}

/* ---- the table ---- */

/* FNV-1a, begun at random so that nobody can choose keys that collide, and mixed so that its low bits depend
 * on all. */
static uint64_t hash_of(str key)
{
    if (table.seed == 0)
        id_random(&table.seed, sizeof table.seed);
    uint64_t h = table.seed;
    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (unsigned char)key.at[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static held **bucket_of(uint64_t hash)
{
    return &table.buckets[hash & (table.size - 1)];
}

static held *find(str key, uint64_t hash)
{
    for (held *h = *bucket_of(hash); h != NULL; h = h->next)
        if (h->hash == hash && str_eq((str){h->key, h->key_len}, key))
            return h;
    return NULL;
}

static void use_buckets(held **buckets, size_t size)
{
    held **old = table.buckets;
    size_t old_size = table.size;
    table.buckets = buckets;
    table.size = size;
    for (size_t i = 0; i < old_size; i++) {
        while (old[i] != NULL) {
            held *h = old[i];
            old[i] = h->next;
            h->next = *bucket_of(h->hash);
            *bucket_of(h->hash) = h;
        }
    }
    if (old != few)
        free((void *)old);
}

/* Without memory for more buckets the old ones serve on, with longer chains. */
static void grow(void)
{
    size_t size = table.size * 2;
    held **buckets = (held **)calloc(size, sizeof *buckets);
    if (buckets != NULL)
        use_buckets(buckets, size);
}

static held *add(str key, uint64_t hash)
{
    held *h = malloc(sizeof *h + key.len);
    if (h == NULL)
        return NULL;
    if (table.count == table.size)
        grow();
    *h = (held){.next = *bucket_of(hash), .hash = hash, .key_len = key.len};
    if (key.len > 0)
        memcpy(h->key, key.at, key.len);
    *bucket_of(hash) = h;
    table.count++;
    return h;
}

static void drop(held *gone)
{
    held **at = bucket_of(gone->hash);
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    free(gone);
    table.count--;
    if (table.count == 0 && table.buckets != few)
        use_buckets(few, BUCKETS_FIRST);
}

/* ---- the queue of a key ---- */

static void join_queue(held *h, key_lock *l)
{
    l->queue = h;
    l->prev = h->last;
    *(h->last != NULL ? &h->last->next : &h->first) = l;
    h->last = l;
}

static void leave_queue(key_lock *l)
{
    held *h = l->queue;
    *(l->prev != NULL ? &l->prev->next : &h->first) = l->next;
    *(l->next != NULL ? &l->next->prev : &h->last) = l->prev;
    l->queue = NULL;
    l->prev = l->next = NULL;
}

static void stop_waiting(wait *w)
{
    leave_queue(w->ctx);
    wait_done(w, RES_GONE); /* wait_for returns the reason instead */
}

/* ---- taking and releasing ---- */

void key_lock_release(key_lock *l)
{
    held *h = l->mine;
    if (h == NULL)
        return;
    l->mine = NULL;
    key_lock *next = h->first;
    if (next == NULL) {
        drop(h);
        return;
    }
    leave_queue(next);
    next->mine = h;
    wait_done(next->w, RES_OK);
}

static void release_with_arena(void *l)
{
    key_lock_release(l);
}

static res wait_in_queue(task *t, held *h, key_lock *l)
{
    wait w = WAIT_INIT("key lock");
    w.ctx = l;
    l->w = &w;
    join_queue(h, l);
    res r = wait_for(t, &w, stop_waiting);
    l->w = NULL;
    if (r != RES_OK)
        key_lock_release(l); /* it may have been handed over just before */
    return r;
}

res key_lock_take(task *t, str key, key_lock **ret)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;

    key_lock *l = arena_one(t->arena, key_lock);
    if (l == NULL || !arena_defer(t->arena, release_with_arena, l))
        return RES_MEMORY;
    uint64_t hash = hash_of(key);
    held    *h = find(key, hash);
    if (h != NULL) {
        res r = wait_in_queue(t, h, l);
        if (r != RES_OK)
            return r;
    } else {
        l->mine = add(key, hash);
        if (l->mine == NULL)
            return task_fail(t, RES_MEMORY, "no memory for one more locked key");
    }
    assert(l->mine != NULL);
    *ret = l;
    return RES_OK;
}
