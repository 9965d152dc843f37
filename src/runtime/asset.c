/* asset.c -- see asset.h.
 *
 * Hash and gzip are the work of a thread with an arena of its own. Two first requests may do it at the same
 * time; the second to end drops what it made.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/asset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/gzip.h"

enum { PACK_BUDGET_EXTRA = 2 * MIB }; /* zlib's state, and room to double */

typedef struct {
    str          text;
    asset_facts *made; /* NULL: out of memory */
} work;

static void free_facts(asset_facts *facts)
{
    if (facts != NULL)
        free(facts->packed);
    free(facts);
}

static void drop_made(void *arg)
{
    free_facts(((work *)arg)->made);
}

/* False: out of memory. */
static bool pack(asset_facts *facts, str text)
{
    str    packed;
    arena *a = arena_new(2 * text.len + PACK_BUDGET_EXTRA);
    bool   done = a != NULL && gzip_pack(a, text, GZIP_BEST, &packed) == RES_OK;
    if (done && packed.len < text.len) {
        facts->packed = malloc(packed.len);
        facts->packed_bytes = packed.len;
        done = facts->packed != NULL;
        if (done)
            memcpy(facts->packed, packed.at, packed.len);
    }
    arena_free(a);
    return done;
}

static void work_out(void *arg)
{
    work         *w = arg;
    char          hex[SHA256_HEX + 1];
    sha256_digest hash = hash_sha256(w->text);
    asset_facts  *facts = calloc(1, sizeof *facts);
    if (facts == NULL || !pack(facts, w->text)) {
        free_facts(facts);
        return;
    }
    (void)hash_hex(&hash, hex);
    (void)snprintf(facts->tag, sizeof facts->tag, "\"%s\"", hex);
    (void)snprintf(facts->packed_tag, sizeof facts->packed_tag, "\"%s-gzip\"", hex);
    w->made = facts;
}

static res learn(task *t, asset *f)
{
    work *w = arena_one(t->arena, work);
    if (w == NULL || !arena_defer(t->arena, drop_made, w))
        return RES_MEMORY;
    w->text = asset_text(f);
    res r = task_offload(t, work_out, w);
    if (r != RES_OK)
        return r;
    if (w->made == NULL) {
        (void)task_fail(t, RES_MEMORY, "no memory to pack %zu bytes", w->text.len); /* for the message */
        return RES_MEMORY;
    }
    if (f->facts == NULL) { /* nobody else was faster */
        f->facts = w->made;
        w->made = NULL;
    }
    return RES_OK;
}

static res set_headers(reply *out, const asset *f, bool packed, const char *cache)
{
    res r = reply_header(out, "ETag", str_of(packed ? f->facts->packed_tag : f->facts->tag));
    if (r == RES_OK)
        r = reply_header(out, "Cache-Control", str_of(cache));
    if (r == RES_OK)
        r = reply_header(out, "Vary", STR("Accept-Encoding"));
    return r;
}

static res set_body(reply *out, const asset *f, bool packed)
{
    if (!packed)
        return reply_bytes(out, 200, f->type, asset_text(f));
    res r = reply_header(out, "Content-Encoding", STR("gzip"));
    if (r == RES_OK)
        r = reply_bytes(out, 200, f->type, (str){f->facts->packed, f->facts->packed_bytes});
    return r;
}

res reply_asset(task *t, const request *in, reply *out, asset *f, const char *cache)
{
    if (f->facts == NULL) {
        res r = learn(t, f);
        if (r != RES_OK)
            return r;
    }
    str  known = request_header(in, "if-none-match");
    bool packed =
        f->facts->packed != NULL && http_accepts(request_header(in, "accept-encoding"), STR("gzip"));
    bool same = http_etag_matches(known, str_of(f->facts->tag)) ||
                http_etag_matches(known, str_of(f->facts->packed_tag));
    res r = same ? reply_empty(out, 304) : set_body(out, f, packed);
    return r == RES_OK ? set_headers(out, f, packed, cache) : r;
}

void asset_forget(asset *f)
{
    free_facts(f->facts);
    f->facts = NULL;
}
