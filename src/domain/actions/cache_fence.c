/* cache_fence.c -- see cache_fence.h.
 *
 * Of two that close and open at the same time: who opens forgets first that it had closed, then removes the
 * row only as it was just read. A row that was put again meanwhile has another ETag and stays.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/cache_fence.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"
#include "runtime/background.h"

enum {
    LOOK_MEMORY = 2 * MIB,
    SEEN_MAX = 64,
    ETAG_BYTES = 128,
    RETRY_MS = 100,
    REPLAY_PAUSE_MS = 200,
    REPLAY_KEYS = 100,
    REPLAY_LIMIT_MS = 1000,
    TOUCH_S = 60,
};
static const uint64_t SECOND_US = 1000 * 1000;

/* Somebody's row, and since when we have seen it as it is. */
typedef struct {
    char     row[ENTITY_NAME_MAX + 1], etag[ETAG_BYTES];
    uint64_t since_us;
    bool     still;
} seen;

typedef struct undropped undropped;
struct undropped {
    undropped *next;
    size_t     partition_len, row_len;
    char       text[]; /* partition, then row */
};

static struct {
    /* what others say */
    bool       known, open, watching;
    uint64_t   looked_us; /* when the last look that succeeded began */
    uint64_t   asked_us;
    seen       list[SEEN_MAX];
    /* what we say */
    bool       closed, reopening;
    uint64_t   closed_us, put_us;
    uint64_t   all_until_us; /* too many to remember: closed until all copies have expired */
    undropped *first;
    size_t     count;
    char       row[sizeof FENCE_PREFIX + UUID_TEXT];
} f;

/* ---- looking ---- */

static seen *place_of(str row)
{
    seen *unused = NULL;
    for (size_t i = 0; i < SEEN_MAX; i++) {
        if (f.list[i].row[0] == '\0')
            unused = unused != NULL ? unused : &f.list[i];
        else if (str_eq(str_of(f.list[i].row), row))
            return &f.list[i];
    }
    return unused;
}

static void put_text(char *out, size_t size, str s)
{
    size_t n = s.len < size - 1 ? s.len : size - 1;
    memcpy(out, s.at, n);
    out[n] = '\0';
}

/* True: its owner has not touched it for longer than any copy lives. */
static bool is_abandoned(const entity *e, uint64_t now)
{
    seen *s = place_of(e->row);
    if (s == NULL || e->etag.len >= sizeof s->etag)
        return false;
    if (s->row[0] == '\0' || !str_eq(str_of(s->etag), e->etag)) {
        put_text(s->row, sizeof s->row, e->row);
        put_text(s->etag, sizeof s->etag, e->etag);
        s->since_us = now;
    }
    s->still = true;
    return now - s->since_us > (uint64_t)FENCE_COPY_LIFE_S * SECOND_US;
}

static void forget_gone(void)
{
    for (size_t i = 0; i < SEEN_MAX; i++) {
        if (!f.list[i].still)
            f.list[i].row[0] = '\0';
        f.list[i].still = false;
    }
}

static table_query rows_query(arena *a)
{
    const filter *in = filter_str(a, "PartitionKey", FILTER_EQ, STR(ROW_STATS_PARTITION));
    return (table_query){.where = filter_and(a, in, filter_prefix(a, "RowKey", STR(FENCE_PREFIX)))};
}

static res look_now(task *t, void *ctx)
{
    uint64_t    began = clock_mono_us();
    table_query q = rows_query(t->arena);
    entity_page page = {0};
    size_t      standing = 0;
    (void)ctx;
    res r = tables_query(t, settings_get()->records, &q, &page);
    if (r != RES_OK && r != RES_UNPROVISIONED) /* no table: no record either, and no fence */
        return r;
    for (size_t i = 0; i < page.len; i++) {
        const entity *e = &page.at[i];
        if (!is_abandoned(e, began))
            standing++;
        else if (tables_remove(t, settings_get()->records, e->partition, e->row, e->etag) != RES_OK)
            task_forget(t); /* another one was quicker; else the next look tries again */
    }
    forget_gone();
    f.known = true;
    f.open = standing == 0 && page.token.len == 0;
    f.looked_us = began;
    return RES_OK;
}

static bool is_recent(uint64_t since_us, uint64_t ms)
{
    return clock_mono_us() - since_us < ms * 1000;
}

static void watch_ended(void *ctx)
{
    (void)ctx;
    f.watching = false;
}

static res watch(task *t, void *ctx)
{
    arena_defer(t->arena, watch_ended, NULL);
    while (is_recent(f.asked_us, FENCE_BUSY_MS) && !background_leaving()) {
        TRY(background_pause(t, FENCE_LOOK_MS));
        if (task_scope(t, LOOK_MEMORY, look_now, ctx) != RES_OK)
            task_forget(t); /* no answer: what was known grows old, and is not used any more */
    }
    return RES_OK;
}

static void start_watching(void)
{
    if (f.watching)
        return;
    f.watching = true;
    if (background_start("looks for the cache's fence", LOOK_MEMORY, watch, NULL) != RES_OK)
        f.watching = false; /* each request that finds its knowledge too old looks for itself */
}

bool fence_is_open(task *t)
{
    f.asked_us = clock_mono_us();
    if (f.closed)
        return false;
    start_watching();
    if (f.known && is_recent(f.looked_us, FENCE_VALID_MS))
        return f.open;
    if (task_scope(t, LOOK_MEMORY, look_now, NULL) != RES_OK) {
        if (task_stopped(t) == RES_OK)
            task_forget(t);
        return false;
    }
    return f.open && !f.closed;
}

/* ---- what is to be dropped ---- */

static bool remember_one(const cache_key *k)
{
    undropped *u = f.count < FENCE_UNDROPPED_MAX ? malloc(sizeof *u + k->partition.len + k->row.len) : NULL;
    if (u == NULL)
        return false;
    u->partition_len = k->partition.len;
    u->row_len = k->row.len;
    memcpy(u->text, k->partition.at, k->partition.len);
    memcpy(u->text + k->partition.len, k->row.at, k->row.len);
    u->next = f.first;
    f.first = u;
    f.count++;
    return true;
}

static void remember(const cache_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!remember_one(&keys[i])) {
            f.all_until_us = clock_mono_us() + (uint64_t)FENCE_COPY_LIFE_S * SECOND_US;
            return;
        }
}

static void put_back(undropped *list)
{
    while (list != NULL) {
        undropped *next = list->next;
        list->next = f.first;
        f.first = list;
        f.count++;
        list = next;
    }
}

/* Takes some off the list while they are dropped; they go back if that fails, also when the task is left. */
static undropped *take_some(size_t *ret_count)
{
    undropped *some = f.first, *last = some;
    size_t     n = 1;
    for (; n < REPLAY_KEYS && last->next != NULL; n++)
        last = last->next;
    f.first = last->next;
    last->next = NULL;
    f.count -= n;
    *ret_count = n;
    return some;
}

static void give_back(void *slot)
{
    undropped **some = slot;
    put_back(*some);
    *some = NULL;
}

static res replay_some(task *t, void *ctx)
{
    undropped **slot = arena_one(t->arena, undropped *);
    cache_key  *keys = arena_array(t->arena, cache_key, REPLAY_KEYS);
    size_t      count, i = 0;
    (void)ctx;
    arena_defer(t->arena, give_back, slot);
    *slot = take_some(&count);
    for (const undropped *u = *slot; u != NULL; u = u->next)
        keys[i++] = (cache_key){{u->text, u->partition_len}, {u->text + u->partition_len, u->row_len}};
    TRY(cache_try_drop(t, keys, count, REPLAY_LIMIT_MS));
    while (*slot != NULL) {
        undropped *next = (*slot)->next;
        free(*slot);
        *slot = next;
    }
    return RES_OK;
}

/* ---- closing and opening ---- */

static str own_row(void)
{
    char id[UUID_TEXT + 1];
    if (f.row[0] == '\0') {
        memcpy(f.row, FENCE_PREFIX, sizeof FENCE_PREFIX);
        memcpy(f.row + sizeof FENCE_PREFIX - 1, id_uuid(id).at, sizeof id);
    }
    return str_of(f.row);
}

static res put_row(task *t, void *ctx)
{
    entity e = entity_new(t->arena, STR(ROW_STATS_PARTITION), own_row());
    (void)ctx;
    entity_set_str(&e, "ClosedUtc", iso8601_arena(t->arena, clock_wall_us(), 3));
    TRY(tables_upsert_replace(t, settings_get()->records, &e));
    f.put_us = clock_mono_us();
    return RES_OK;
}

/* The row goes only if nobody here has closed again; see above. */
static res remove_row(task *t, void *ctx)
{
    entity e;
    table  in = settings_get()->records;
    (void)ctx;
    res r = tables_get(t, in, STR(ROW_STATS_PARTITION), own_row(), &e);
    if (r == RES_OK && !f.closed)
        r = tables_remove(t, in, STR(ROW_STATS_PARTITION), own_row(), e.etag);
    return r == RES_NOT_FOUND ? RES_OK : r;
}

static void reopen_ended(void *ctx)
{
    (void)ctx;
    f.reopening = false;
}

static bool is_all_dropped(void)
{
    return f.first == NULL && clock_mono_us() >= f.all_until_us;
}

static res reopen_step(task *t)
{
    if (f.closed && !is_recent(f.put_us, (uint64_t)TOUCH_S * 1000))
        TRY(task_scope(t, LOOK_MEMORY, put_row, NULL));
    while (f.first != NULL)
        TRY(task_scope(t, LOOK_MEMORY, replay_some, NULL));
    if (!is_all_dropped())
        return RES_OK;
    f.known = false; /* the next reader looks for itself, and sees our row until it is gone */
    f.closed = false;
    return task_scope(t, LOOK_MEMORY, remove_row, NULL);
}

/* At shutdown it goes at once: what is left is the row, which others will find abandoned. */
static res reopen(task *t, void *ctx)
{
    (void)ctx;
    arena_defer(t->arena, reopen_ended, NULL);
    for (;;) {
        res r = reopen_step(t);
        if (r == RES_OK && is_all_dropped() && !f.closed)
            break;
        task_forget(t);
        TRY(background_pause(t, REPLAY_PAUSE_MS));
        if (background_leaving())
            return RES_OK;
    }
    log_info("the cache of records is open again");
    return RES_OK;
}

static void start_reopening(void)
{
    if (f.reopening)
        return;
    f.reopening = true;
    if (background_start("opens the cache's fence", LOOK_MEMORY, reopen, NULL) != RES_OK)
        f.reopening = false; /* the next failed drop tries again; until then nobody uses copies */
}

void fence_close(task *t, const cache_key *keys, size_t count)
{
    remember(keys, count);
    start_reopening();
    while (!f.closed && task_stopped(t) == RES_OK) {
        if (task_scope(t, LOOK_MEMORY, put_row, NULL) == RES_OK) {
            log_warn("copies of records could not be dropped from Redis: no instance uses them for now");
            f.closed = true;
            f.closed_us = clock_mono_us();
            start_reopening(); /* the first may have dropped everything, and ended, while the row was put */
        } else if (task_sleep(t, RETRY_MS) == RES_OK) {
            task_forget(t);
        }
    }
    uint64_t now = clock_mono_us(), until = f.closed_us + (uint64_t)FENCE_VALID_MS * 1000;
    if (f.closed && until > now && task_sleep(t, (until - now + 999) / 1000) != RES_OK)
        return; /* stopped: see cache_drop */
}
