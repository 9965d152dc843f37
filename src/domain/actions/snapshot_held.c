/* snapshot_held.c -- the snapshot in memory: the blob, the same as gzip, and the index for searches.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/gzip.h"
#include "domain/actions/held.h"
#include "domain/actions/settings.h"
#include "domain/actions/snapshot_index.h"

enum { SNAPSHOT_BYTES_MAX = 128 * MIB };

struct snapshot {
    const held_copy *copy;
    buf              packed;
    bool             indexed;
    snapshot_index   index;
};

static held newest = HELD_INIT;

static res pack(str body, buf *ret)
{
    arena *a = arena_new(2 * (size_t)SNAPSHOT_BYTES_MAX);
    str    packed;
    res    r = a != NULL ? gzip_pack(a, body, GZIP_FAST, &packed) : RES_MEMORY;
    if (r == RES_OK && !buf_add(ret, packed))
        r = RES_MEMORY;
    arena_free(a);
    return r;
}

static void drop(void *worked)
{
    snapshot *s = worked;
    buf_free(&s->packed);
    snapshot_index_free(&s->index);
    free(s);
}

/* A blob that is no snapshot is passed on as it stands all the same; only a search needs to understand it. */
static res work(held_copy *c)
{
    snapshot *s = calloc(1, sizeof *s);
    if (s == NULL)
        return RES_MEMORY;
    s->copy = c;
    buf_init(&s->packed, NULL, SNAPSHOT_BYTES_MAX);
    res r = pack(buf_str(&c->bytes), &s->packed);
    if (r == RES_OK)
        r = snapshot_index_make(buf_str(&c->bytes), &s->index);
    s->indexed = r == RES_OK;
    if (r != RES_OK && r != RES_UPSTREAM) {
        drop(s);
        return r;
    }
    c->worked = s;
    return RES_OK;
}

static const held_kind kind = {
    .what = "the snapshot", .bytes_max = SNAPSHOT_BYTES_MAX, .work = work, .drop = drop};

res snapshot_hold(task *t, const snapshot **ret)
{
    const actions_settings *s = settings_get();
    const held_copy        *copy;
    TRY(held_take(t, &newest, &kind, s->snapshots, s->snapshot_blob, &copy));
    *ret = copy->worked;
    return RES_OK;
}

str snapshot_body(const snapshot *s)
{
    return buf_str(&s->copy->bytes);
}

str snapshot_packed(const snapshot *s)
{
    return buf_str(&s->packed);
}

str snapshot_etag(const snapshot *s)
{
    return buf_str(&s->copy->etag);
}

const snapshot_item *snapshot_items(const snapshot *s, size_t *ret_count)
{
    static const snapshot_item none; /* an empty document has no items, and is one */
    *ret_count = s->index.count;
    if (!s->indexed)
        return NULL;
    return s->index.items != NULL ? s->index.items : &none;
}

str snapshot_haystacks(const snapshot *s)
{
    return buf_str(&s->index.haystacks);
}

void snapshot_forget_for_test(void)
{
    held_forget(&newest);
}
