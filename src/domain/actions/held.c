/* held.c -- see held.h.
 *
 * A read that began before this request asked may bring a version that is older than the one it was told of.
 * Then it reads again, itself; READS_MAX times at most, for whoever is overtaken so often has a version that
 * was the newest when the last read began.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/held.h"

#include <stdlib.h>

enum { READS_MAX = 3, ETAG_MAX = 1024 };

/* ---- copies ---- */

static void release(void *arg)
{
    held_copy *c = arg;
    if (c == NULL || --c->users > 0)
        return;
    if (c->worked != NULL)
        c->kind->drop(c->worked);
    buf_free(&c->bytes);
    buf_free(&c->etag);
    free(c);
}

static void release_slot(void *arg)
{
    release(*(held_copy **)arg);
}

/* For as long as the arena lives. The place for it is made before it is taken. */
static void take(arena *a, held_copy *c)
{
    held_copy **slot = arena_one(a, held_copy *);
    arena_defer(a, release_slot, slot);
    c->users++;
    *slot = c;
}

static held_copy *new_copy(arena *a, const held_kind *kind)
{
    held_copy **slot = arena_one(a, held_copy *);
    arena_defer(a, release_slot, slot);
    held_copy *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    *slot = c;
    c->kind = kind;
    c->users = 1;
    buf_init(&c->bytes, NULL, kind->bytes_max);
    buf_init(&c->etag, NULL, ETAG_MAX);
    return c;
}

static void put(held *h, held_copy *c)
{
    held_copy *before = h->now;
    if (c != NULL)
        c->users++;
    h->now = c;
    release(before);
}

void held_forget(held *h)
{
    put(h, NULL);
    provision_forget(&h->read);
}

/* ---- reading ---- */

typedef struct {
    held            *h;
    const held_kind *kind;
    container        in;
    str              blob;
    held_copy       *c;
    res              worked;
} reading;

static res add_piece(task *t, str piece, void *ctx)
{
    reading *r = ctx;
    if (buf_add(&r->c->bytes, piece))
        return RES_OK;
    return task_fail(t, RES_TOO_LARGE, "%s has more than %zu bytes", r->kind->what, r->kind->bytes_max);
}

static void work(void *arg)
{
    reading *r = arg;
    r->worked = r->kind->work(r->c);
}

/* Also as provision_once wants it. */
static res read_blob(task *t, void *ctx)
{
    reading *r = ctx;
    blob_got got;
    blob_get whole = {0};
    r->c = new_copy(t->arena, r->kind);
    if (r->c == NULL)
        return task_fail(t, RES_MEMORY, "no memory for %s", r->kind->what);
    res read = blobs_get_stream(t, r->in, r->blob, &whole, add_piece, r, &got);
    if (read == RES_NOT_FOUND || read == RES_UNPROVISIONED)
        put(r->h, NULL);
    if (read != RES_OK)
        return read;
    if (!buf_add(&r->c->etag, got.info.etag))
        return task_fail(t, RES_UPSTREAM, "the ETag of %s has %zu bytes", r->kind->what, got.info.etag.len);
    TRY(task_offload(t, work, r));
    if (r->worked != RES_OK)
        return task_fail(t, r->worked, "%s is damaged, or memory is short", r->kind->what);
    put(r->h, r->c);
    return RES_OK;
}

/* Joins the read that is under way, or begins one. */
static res read_shared(task *t, reading *r)
{
    if (!r->h->read.busy)
        provision_forget(&r->h->read);
    return provision_once(t, &r->h->read, read_blob, r);
}

/* ---- asking ---- */

static bool is_newest(const held *h, str etag)
{
    return h->now != NULL && str_eq(buf_str(&h->now->etag), etag);
}

/* What the store says is the newest; empty: it could not be asked. */
static res ask(task *t, container in, str blob, str *ret_etag)
{
    blob_info info;
    res       r = blobs_head(t, in, blob, &info);
    *ret_etag = r == RES_OK ? info.etag : (str){0};
    TRY(task_stopped(t));
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED)
        return RES_NOT_FOUND;
    if (r != RES_OK)
        task_forget(t);
    return RES_OK;
}

static res answer_with(task *t, held *h, const held_copy **ret)
{
    take(t->arena, h->now);
    *ret = h->now;
    return RES_OK;
}

res held_take(task *t, held *h, const held_kind *kind, container in, str blob, const held_copy **ret)
{
    str     etag;
    reading r = {.h = h, .kind = kind, .in = in, .blob = blob};
    res     asked = ask(t, in, blob, &etag);
    if (asked == RES_NOT_FOUND)
        put(h, NULL);
    TRY(asked);
    if (is_newest(h, etag))
        return answer_with(t, h, ret);
    for (int reads = 0; reads < READS_MAX; reads++) {
        res read = read_shared(t, &r);
        if (read == RES_UNPROVISIONED)
            read = RES_NOT_FOUND;
        TRY(read);
        if (h->now == NULL)
            return RES_NOT_FOUND; /* gone again, while this task waited for its turn */
        if (etag.len == 0 || is_newest(h, etag))
            break;
    }
    return answer_with(t, h, ret);
}
