/* get.c -- GET actions/{owner}/{name}: one record.
 *
 * The key is the pair of both names in lower case; records of older writers may be under <owner>_<name>. Each
 * key is looked for in the shared cache first, then in the table, and what was read (or found missing) there
 * is left in the cache under the key that its writers drop. The ETag is the hash of the payload, which alone
 * decides what a reader sees.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions.h"
#include "domain/actions/answer.h"
#include "domain/actions/cache.h"
#include "domain/actions/copy.h"
#include "domain/actions/item.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"

enum { BODY_MAX = 2 * ROW_PAYLOAD_MAX };

#define CACHE_CONTROL "public, max-age=600"

typedef struct {
    str         partition, row;
    entity      e;
    bool        from_table; /* and so worth a copy */
    cache_lease lease;
} found;

/* ---- finding it ---- */

static bool is_key(arena *a, str text)
{
    str why;
    return text.len > 0 && entity_check_key(a, "key", text, &why) == RES_OK;
}

/* RES_NOT_FOUND: there is no such record. */
static res find_at(task *t, found *f)
{
    str         text = {0};
    cache_found there = cache_get(t, f->partition, f->row, &text, &f->lease);
    if (there == CACHE_ABSENT)
        return RES_NOT_FOUND;
    if (there == CACHE_HIT && copy_read(t->arena, f->partition, f->row, text, &f->e))
        return RES_OK;
    if (there == CACHE_HIT)
        f->lease =
            (cache_lease){0}; /* what stands there is none of ours, and stays until its writer drops it */
    res r = tables_get(t, settings_get()->records, f->partition, f->row, &f->e);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        cache_fill_absent(t, f->partition, f->row, &f->lease);
    }
    f->from_table = r == RES_OK;
    return r;
}

static res find(task *t, str owner, str name, found *f)
{
    *f = (found){.partition = owner, .row = name};
    if (!is_key(t->arena, owner) || !is_key(t->arena, name))
        return RES_NOT_FOUND; /* no record can have such a key */
    res r = find_at(t, f);
    if (r != RES_NOT_FOUND)
        return r;
    *f = (found){.partition = owner, .row = arena_strf(t->arena, "%.*s_%.*s", STR_ARG(owner), STR_ARG(name))};
    return is_key(t->arena, f->row) ? find_at(t, f) : RES_NOT_FOUND;
}

/* ---- answering ---- */

/* Empty when the row has no hash, or one that is no header's value. */
static str etag_of(arena *a, const entity *e)
{
    str hash = row_hash(e);
    return hash.len == SHA256_HEX ? arena_strf(a, "\"%.*s\"", STR_ARG(hash)) : (str){0};
}

static void set_etag(reply *out, str etag)
{
    if (etag.len > 0 && reply_header(out, "ETag", etag) != RES_OK)
        return; /* a hash that is no header's value: the answer goes without it, and the log says why */
}

/* For the next reader; also when this one has it already. */
static void leave_copy(task *t, const found *f)
{
    str text = f->from_table ? copy_make(t->arena, &f->e) : (str){0};
    if (text.len > 0)
        cache_fill(t, f->partition, f->row, &f->lease, text);
}

static res answer_item(task *t, const request *in, reply *out, const found *f)
{
    buf body;
    buf_init(&body, t->arena, BODY_MAX);
    res r = item_add(t->arena, &body, &f->e, ITEM_SINGLE);
    if (r != RES_OK || body.failed)
        return answer_failed(t, in, out, r != RES_OK ? r : RES_TOO_LARGE,
                             "Stored action payload is invalid.");
    leave_copy(t, f);
    TRY(reply_bytes(out, 200, "application/json; charset=utf-8", buf_str(&body)));
    answer_headers(in, out, CACHE_CONTROL);
    set_etag(out, etag_of(t->arena, &f->e));
    return RES_OK;
}

static res answer_not_modified(task *t, const request *in, reply *out, const found *f, str etag)
{
    leave_copy(t, f);
    TRY(reply_empty(out, 304));
    answer_headers(in, out, CACHE_CONTROL);
    set_etag(out, etag);
    return RES_OK;
}

/* actions/snapshot/refresh is a route of its own, which has no GET: it is no record of owner `snapshot`. */
static bool is_refresh(const request *in)
{
    return str_eq_nocase(request_param(in, "owner"), STR("snapshot")) &&
           str_eq_nocase(request_param(in, "name"), STR("refresh"));
}

static res refuse_method(task *t, const request *in, reply *out)
{
    TRY(answer_error(t, in, out, 405, "Method not allowed."));
    return reply_header(out, "Allow", STR("POST,OPTIONS"));
}

res actions_get(task *t, const request *in, reply *out)
{
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    if (is_refresh(in))
        return refuse_method(t, in, out);
    str   owner = record_key(t->arena, request_param(in, "owner"));
    str   name = record_key(t->arena, request_param(in, "name"));
    found f;
    if (owner.len == 0 || name.len == 0)
        return answer_error(t, in, out, 400, "Owner and name route parameters are required.");

    res r = find(t, owner, name, &f);
    TRY(task_stopped(t));
    if (r == RES_NOT_FOUND)
        return answer_error(t, in, out, 404, "Action not found.");
    if (r != RES_OK)
        return answer_failed(t, in, out, r, "Failed to retrieve action.");
    str etag = etag_of(t->arena, &f.e);
    if (etag.len > 0 && answer_matches(request_header(in, "if-none-match"), etag))
        return answer_not_modified(t, in, out, &f, etag);
    return answer_item(t, in, out, &f);
}
