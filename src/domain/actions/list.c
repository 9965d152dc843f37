/* list.c -- GET actions/list: records in the order of their keys, all of them or a page.
 *
 * Without a limit the body is an array of everything; with one it is {"items":[…],"nextCursor":…}. Either way
 * rows are read page by page and each is turned into text and forgotten, so that memory stays bounded.
 *
 * A body of up to WHOLE_MAX leaves in one piece: then X-Actions-Count tells how many items it has, and any
 * failure of storage is a 500. When it grows beyond that, what is there leaves at once and the rest follows
 * as it is read. The number of items is not known at that moment and no header can be added later, so a
 * streamed answer has no X-Actions-Count (X-Total-Count is there as always); and a failure can only break the
 * connection, which tells the caller that this is not the whole.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/aggregate.h"
#include "domain/actions/answer.h"
#include "domain/actions/cursor.h"
#include "domain/actions/endpoint.h"
#include "domain/actions/item.h"
#include "domain/actions/row.h"

enum {
    WHOLE_MAX = 1 * MIB,    /* a larger body is streamed */
    PIECE_BYTES = 64 * KIB, /* of a stream; an item may be longer */
    BODY_MAX = 40 * MIB,    /* what is held at once: WHOLE_MAX and the largest item */
    PAGE_MEMORY = 64 * MIB,
    ITEM_MEMORY = 256 * MIB, /* the payload of one row, unpacked and understood */
    TOKEN_MAX = 32 * KIB,
    LIMIT_MAX = INT32_MAX,
};

#define CACHE_CONTROL "public, max-age=300"
#define JSON_TYPE     "application/json; charset=utf-8"

typedef struct {
    const request *in;
    reply         *out;
    const filter  *where;
    uint64_t       limit; /* 0: none */
    buf            token; /* where the next page begins; empty: at the start, or nowhere */
    buf            body;  /* what has not left yet */
    size_t         items;
    bool           streaming;
} list;

/* ---- parameters ---- */

/* As JavaScript's parseInt does: blanks, a sign, digits, and then anything. 0: no limit. */
static uint64_t read_limit(str text)
{
    uint64_t n = 0;
    text = str_trim(text);
    if (str_starts(text, STR("+")))
        text = str_from(text, 1);
    for (size_t i = 0; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++) {
        n = n * 10 + (uint64_t)(text.at[i] - '0');
        if (n > LIMIT_MAX)
            return LIMIT_MAX;
    }
    return n;
}

/* NULL: no record can be of such an owner. */
static const filter *rows_of(task *t, str owner)
{
    str why;
    if (owner.len == 0)
        return filter_str(t->arena, "PartitionKey", FILTER_NE, STR(ROW_STATS_PARTITION));
    if (entity_check_key(t->arena, "owner", owner, &why) != RES_OK)
        return NULL;
    return filter_str(t->arena, "PartitionKey", FILTER_EQ, owner);
}

/* ---- sending ---- */

static res begin_stream(task *t, list *l)
{
    answer_headers(l->in, l->out, CACHE_CONTROL);
    TRY(reply_stream(t, l->out, 200, JSON_TYPE));
    l->streaming = true;
    return RES_OK;
}

static res send_what_is_there(task *t, list *l)
{
    TRY(reply_write(t, l->out, buf_str(&l->body)));
    buf_clear(&l->body);
    return RES_OK;
}

static res send_enough(task *t, list *l)
{
    if (!l->streaming && l->body.len > WHOLE_MAX)
        TRY(begin_stream(t, l));
    return l->streaming && l->body.len >= PIECE_BYTES ? send_what_is_there(t, l) : RES_OK;
}

static res no_room(task *t)
{
    return task_fail(t, RES_TOO_LARGE, "one item is above %d bytes", BODY_MAX);
}

static res send_end(task *t, list *l)
{
    if (l->body.failed)
        return no_room(t);
    if (l->streaming)
        return send_what_is_there(t, l);
    str count = arena_strf(t->arena, "%zu", l->items);
    TRY(reply_bytes(l->out, 200, JSON_TYPE, arena_copy(t->arena, buf_str(&l->body))));
    TRY(reply_header(l->out, "X-Actions-Count", count));
    answer_headers(l->in, l->out, CACHE_CONTROL);
    return RES_OK;
}

/* ---- reading ---- */

typedef struct {
    list         *l;
    const entity *e;
} one;

/* A row that is no record is left out. */
static res add_item(task *t, void *ctx)
{
    const one *o = ctx;
    buf       *body = &o->l->body;
    size_t     before = body->len;
    if (o->l->items > 0)
        buf_add_char(body, ',');
    if (item_add(t->arena, body, o->e, ITEM_LISTED) == RES_OK)
        o->l->items++;
    else
        body->len = before;
    return body->failed ? no_room(t) : RES_OK;
}

static unsigned page_size(const list *l)
{
    uint64_t left = l->limit > 0 ? l->limit - l->items : TABLES_PAGE_MAX;
    return left < TABLES_PAGE_MAX ? (unsigned)left : TABLES_PAGE_MAX;
}

/* Notes where the next page begins; nowhere, when nothing came and it is where this one began. */
static res go_on(task *t, list *l, const entity_page *page)
{
    bool stuck = page->len == 0 && str_eq(page->token, buf_str(&l->token));
    buf_clear(&l->token);
    if (!stuck && !buf_add(&l->token, page->token))
        return task_fail(t, RES_UPSTREAM, "a continuation token of %zu bytes", page->token.len);
    return RES_OK;
}

static res add_page(task *t, void *ctx)
{
    list       *l = ctx;
    entity_page page;
    table_query q = {.where = l->where, .top = page_size(l), .token = buf_str(&l->token)};
    TRY(tables_query(t, settings_get()->records, &q, &page));
    for (size_t i = 0; i < page.len; i++) {
        one o = {.l = l, .e = &page.at[i]};
        TRY(task_stopped(t)); /* a page that was found at once has waited for nothing */
        if (str_eq(o.e->partition, STR(ROW_STATS_PARTITION)))
            continue; /* where a store does not do as the filter says */
        TRY(task_scope(t, ITEM_MEMORY, add_item, &o));
        TRY(send_enough(t, l));
    }
    return go_on(t, l, &page);
}

static bool is_full(const list *l)
{
    return l->limit > 0 && l->items >= l->limit;
}

static void add_next_cursor(task *t, list *l)
{
    str cursor = cursor_make(t->arena, buf_str(&l->token));
    buf_add(&l->body, STR("],\"nextCursor\":"));
    if (cursor.len == 0)
        buf_add(&l->body, STR("null}"));
    else
        buf_addf(&l->body, "\"%.*s\"}", STR_ARG(cursor));
}

static res send_list(task *t, list *l)
{
    buf_add(&l->body, l->limit > 0 ? STR("{\"items\":[") : STR("["));
    if (l->where != NULL)
        do
            TRY(task_scope(t, PAGE_MEMORY, add_page, l));
        while (l->token.len > 0 && !is_full(l));
    if (l->limit > 0)
        add_next_cursor(t, l);
    else
        buf_add_char(&l->body, ']');
    return send_end(t, l);
}

/* ---- the handler ---- */

static void drop_body(void *arg)
{
    buf_free(arg);
}

/* The cached one, where it is known; a failure to read it is no reason to fail the list. */
static void total_header(task *t, reply *out)
{
    int64_t total;
    if (aggregate_total(t, &total) == RES_OK)
        (void)reply_header(out, "X-Total-Count", arena_strf(t->arena, "%lld", (long long)total));
    else
        task_forget(t);
}

/* A cursor that the store itself does not take is as wrong as one that is no cursor. */
static res answer_failure(task *t, const list *l, res r, bool has_cursor)
{
    if (l->streaming)
        return r;
    if (r == RES_INVALID && has_cursor)
        return answer_error(t, l->in, l->out, 400, "Invalid cursor parameter.");
    return answer_failed(t, l->in, l->out, r, "Failed to query actions from table storage.");
}

res actions_list(task *t, const request *in, reply *out)
{
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    list *l = arena_one(t->arena, list);
    str   owner = record_key(t->arena, request_query(in, "owner")), token = {0};
    str   cursor = request_query(in, "cursor");
    *l = (list){
        .in = in, .out = out, .where = rows_of(t, owner), .limit = read_limit(request_query(in, "limit"))};
    bool has_cursor = l->limit > 0 && cursor.len > 0;
    if (has_cursor && !cursor_read(t->arena, cursor, &token))
        return answer_error(t, in, out, 400, "Invalid cursor parameter.");

    buf_init(&l->token, t->arena, TOKEN_MAX);
    buf_init(&l->body, NULL, BODY_MAX); /* on the heap, for what an arena grows out of stays in it */
    (void)arena_defer(t->arena, drop_body, &l->body); /* in a task it does not fail */
    buf_add(&l->token, token);
    if (owner.len == 0)
        total_header(t, out);
    endpoint_header(t, out);
    res r = send_list(t, l);
    return r == RES_OK ? RES_OK : answer_failure(t, l, r, has_cursor);
}
