/* search_http.c -- GET actions/search?q&type&verified&archived&limit&offset: {"items","total"} (specification
 * §13).
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"
#include "core/hash.h"
#include "domain/actions.h"
#include "domain/actions/answer.h"
#include "domain/actions/cache.h"
#include "domain/actions/search.h"

enum { ANSWER_MAX = 16 * MIB, CACHED_S = 300 };

#define MAX_AGE "public, max-age=300"

typedef struct {
    const search_query  *q;
    const snapshot_item *items;
    size_t               count;
    str                  haystacks;
    uint32_t            *room;
    search_found         found;
} searching;

static void run(void *arg)
{
    searching *s = arg;
    search_run(s->q, s->haystacks, s->items, s->count, s->room, &s->found);
}

/* Items go out as they stand in the document. */
static res write_found(task *t, const searching *s, str *ret)
{
    buf out;
    buf_init(&out, t->arena, ANSWER_MAX);
    (void)buf_add(&out, STR("{\"items\":["));
    for (size_t i = 0; i < s->found.count; i++) {
        if (i > 0)
            (void)buf_add_char(&out, ',');
        (void)buf_add(&out, s->items[s->found.page[i]].json);
    }
    (void)buf_addf(&out, "],\"total\":%zu}", s->found.total);
    if (out.failed)
        return task_fail(t, RES_TOO_LARGE, "more than %d MiB were found", ANSWER_MAX / MIB);
    *ret = buf_str(&out);
    return RES_OK;
}

static res search(task *t, const snapshot *snap, const search_query *q, str *ret)
{
    searching *s = arena_one(t->arena, searching);
    s->q = q;
    s->items = snapshot_items(snap, &s->count);
    if (s->items == NULL)
        return task_fail(t, RES_UPSTREAM, "the snapshot's blob is no snapshot");
    s->haystacks = snapshot_haystacks(snap);
    s->room = arena_array(t->arena, uint32_t, s->count + 1);
    TRY(task_offload(t, run, s));
    return write_found(t, s, ret);
}

/* What the shared cache calls the answer: it changes with the snapshot. */
static str cache_name(arena *a, const snapshot *snap, const search_query *q)
{
    char          hex[SHA256_HEX + 1];
    sha256_digest d = hash_sha256(search_text(a, q));
    str           etag = snapshot_etag(snap), digest = hash_hex(&d, hex);
    return arena_strf(a, "actions:search:%.*s:%.*s", STR_ARG(etag), STR_ARG(digest));
}

static res find(task *t, const snapshot *snap, const search_query *q, str *ret)
{
    str name = cache_name(t->arena, snap, q);
    if (cache_document_get(t, name, ret))
        return RES_OK;
    TRY(search(t, snap, q, ret));
    cache_document_put(t, name, *ret, CACHED_S);
    return RES_OK;
}

static search_input input_of(const request *in)
{
    return (search_input){
        .q = request_query(in, "q"),
        .type = request_query(in, "type"),
        .verified = request_query(in, "verified"),
        .archived = request_query(in, "archived"),
        .limit = request_query(in, "limit"),
        .offset = request_query(in, "offset"),
    };
}

res actions_search(task *t, const request *in, reply *out)
{
    const snapshot *snap;
    str             body;
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    search_input  input = input_of(in);
    search_query *q = arena_one(t->arena, search_query);
    const char   *wrong = search_read(t->arena, &input, q);
    if (wrong != NULL)
        return answer_error(t, in, out, 400, wrong);
    res r = snapshot_hold(t, &snap);
    if (r == RES_NOT_FOUND)
        return snapshot_answer_none(t, in, out);
    if (r == RES_OK)
        r = find(t, snap, q, &body);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, "Failed to search the actions.");
    TRY(reply_bytes(out, 200, "application/json; charset=utf-8", body));
    answer_headers(in, out, MAX_AGE);
    return RES_OK;
}
