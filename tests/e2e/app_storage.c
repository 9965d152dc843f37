/* app_storage.c -- the test app's functions that use the store: messages sent and received by bindings, a
 * store filled with something of everything, and a listing of all that is in it, for comparing two stores.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/app_storage.h"

#include <float.h>
#include <math.h>

#include "core/base64.h"
#include "core/buf.h"
#include "core/hash.h"
#include "core/log.h"
#include "storage/blobs.h"
#include "storage/queues.h"
#include "storage/tables.h"

#define ROWS  ((table){STORE_MAIN, STR_INIT("E2eRows")})
#define EMPTY ((table){STORE_MAIN, STR_INIT("E2eEmpty")})
#define BLOBS ((container){STORE_MAIN, STR_INIT("e2e-blobs")})
#define KEPT  ((queue){.store = STORE_MAIN, .name = STR_INIT("e2e-kept")})

/* ---- queues ---- */

res enqueue(task *t, const request *in, reply *out)
{
    (void)t;
    bool elsewhere = !request_is_absent(request_query(in, "elsewhere"));
    TRY(reply_output(out, elsewhere ? "elsewhere" : "work", request_body(in)));
    return reply_text(out, 202, STR("sent\n"));
}

/* "fail…" fails, "status" replies as if somebody heard it, "slow" takes a while; all else goes on to `done`.
 */
res onwork(task *t, const request *in, reply *out)
{
    str text;
    if (!request_input_text(in, "msg", &text))
        return task_fail(t, RES_INVALID, "there is no message");
    log_info("work: '%.*s', try %lld", STR_ARG(text), (long long)request_meta_int(in, "DequeueCount", -1));
    if (str_starts(text, STR("fail")))
        return task_fail(t, RES_UPSTREAM, "as asked");
    if (str_eq(text, STR("status")))
        return reply_text(out, 500, STR("nobody hears this"));
    if (str_eq(text, STR("slow")))
        TRY(task_sleep(t, 1000));
    return reply_output(out, "done", text);
}

res ondone(task *t, const request *in, reply *out)
{
    (void)out;
    str text;
    if (!request_input_text(in, "msg", &text))
        return task_fail(t, RES_INVALID, "there is no message");
    log_info("done: '%.*s'", STR_ARG(text));
    return RES_OK;
}

res onpoison(task *t, const request *in, reply *out)
{
    (void)out;
    str text;
    if (!request_input_text(in, "msg", &text))
        return task_fail(t, RES_INVALID, "there is no message");
    log_info("poison: '%.*s'", STR_ARG(text));
    return RES_OK;
}

/* As it is, without base64: what a foreign client may do to us. */
res rawput(task *t, const request *in, reply *out)
{
    queue to = {.store = STORE_MAIN, .name = request_param(in, "queue"), .plain = true};
    TRY(queues_put(t, to, request_body(in), 0, 0, NULL));
    return reply_text(out, 202, STR("sent\n"));
}

/* ---- something of everything ---- */

static res fill_rows(task *t, uint64_t rows)
{
    static const char bytes[] = {0, 1, (char)0xff, 10, 13};
    for (uint64_t i = 0; i < rows; i++) {
        entity e = entity_new(t->arena, arena_strf(t->arena, "p'\xc3\xa9 %llu", (unsigned long long)i / 3),
                              arena_strf(t->arena, "%08llu", (unsigned long long)i));
        entity_set_str(&e, "Text", STR("a \"text\"\n\xf0\x9f\x98\x80"));
        entity_set_str(&e, "Empty", STR(""));
        entity_set_int32(&e, "Small", -2147483647 - 1);
        entity_set_int64(&e, "Large", INT64_MAX - (int64_t)i);
        entity_set_double(&e, "Real", i % 2 == 0 ? DBL_MIN : 3);
        entity_set_double(&e, "Endless", i % 2 == 0 ? -(double)INFINITY : (double)NAN);
        entity_set_bool(&e, "Truth", i % 2 == 0);
        entity_set_ticks(&e, "When", 17000000000123456 + (int64_t)i);
        entity_set_guid(&e, "Guid", STR("0a1b2c3d-0000-4000-8000-00000000000f"));
        entity_set_binary(&e, "Bytes", (str){bytes, sizeof bytes});
        TRY(tables_upsert_replace(t, ROWS, &e));
    }
    return tables_create(t, EMPTY);
}

static res fill_blobs(task *t)
{
    static const http_header metadata[] = {{STR_INIT("colour"), STR_INIT("blue")},
                                           {STR_INIT("n"), STR_INIT("1")}};
    static const str names[] = {STR_INIT("plain.txt"), STR_INIT("a/b/../c?d#e%2F"), STR_INIT("\xc3\xa9 +&"),
                                STR_INIT("~tilde"), STR_INIT("UPPER/upper")};
    blob_put         how = {.content_type = STR("text/x-mine"), .metadata = metadata, .metadata_count = 2};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TRY(blobs_put(t, BLOBS, names[i], arena_strf(t->arena, "bytes of %zu", i), &how, NULL));
    char *large = arena_alloc(t->arena, 9 * MIB);
    for (size_t i = 0; i < 9 * MIB; i++)
        large[i] = (char)(i * 7 + i / 251);
    TRY(blobs_put(t, BLOBS, STR("large"), (str){large, 9 * MIB}, &(blob_put){0}, NULL));
    TRY(blobs_put(t, BLOBS, STR("empty"), (str){0}, &(blob_put){0}, NULL));
    return blobs_append(t, BLOBS, STR("log"), STR("line 1\nline 2\n"), UINT64_MAX, NULL);
}

static res fill_queues(task *t)
{
    static const char bytes[] = {0, (char)0xff, 1};
    queue             plain = KEPT;
    plain.plain = true;
    TRY(queues_put(t, KEPT, STR("a text \xc3\xa9"), 0, 0, NULL));
    TRY(queues_put(t, KEPT, (str){bytes, sizeof bytes}, 0, QUEUES_TTL_FOREVER, NULL));
    return queues_put(t, plain, STR("not base64!"), 0, 0, NULL);
}

res fill(task *t, const request *in, reply *out)
{
    uint64_t rows;
    if (!str_to_u64(request_param(in, "rows"), &rows))
        return task_fail(t, RES_INVALID, "rows is not a number");
    TRY(fill_rows(t, rows));
    TRY(fill_blobs(t));
    TRY(fill_queues(t));
    return reply_text(out, 200, STR("filled\n"));
}

/* ---- what there is ---- */

static str value_text(arena *a, const property *p)
{
    switch (p->type) {
    case EDM_INT32:
    case EDM_INT64:
        return arena_strf(a, "%lld", (long long)p->integer);
    case EDM_DOUBLE:
        return arena_strf(a, "%a", p->real);
    case EDM_BOOL:
        return p->truth ? STR("true") : STR("false");
    case EDM_DATETIME:
        return arena_strf(a, "%lld", (long long)p->ticks);
    default:
        return base64_encode(a, p->text);
    }
}

static res list_row(task *t, const entity *e, void *ctx)
{
    buf *text = ctx;
    buf_addf(text, "row %.*s|%.*s", STR_ARG(e->partition), STR_ARG(e->row));
    for (size_t i = 0; i < e->count; i++)
        buf_addf(text, " %.*s:%s=%.*s", STR_ARG(e->props[i].name), edm_name(e->props[i].type),
                 STR_ARG(value_text(t->arena, &e->props[i])));
    buf_add_char(text, '\n');
    return RES_OK;
}

static res list_blob(task *t, str name, buf *text)
{
    char     hex[SHA256_HEX + 1];
    blob_got got;
    TRY(blobs_get(t, BLOBS, name, &(blob_get){0}, &got));
    sha256_digest digest = hash_sha256(got.body);
    buf_addf(text, "blob %.*s %s %s %.*s", STR_ARG(name), hash_hex(&digest, hex).at,
             got.info.append ? "append" : "block", STR_ARG(got.info.content_type));
    for (size_t i = 0; i < got.info.metadata_count; i++)
        buf_addf(text, " %.*s=%.*s", STR_ARG(got.info.metadata[i].name), STR_ARG(got.info.metadata[i].value));
    buf_add_char(text, '\n');
    return RES_OK;
}

static res list_blobs(task *t, buf *text)
{
    blob_page page;
    TRY(blobs_list(t, BLOBS, (str){0}, '\0', 1000, (str){0}, &page));
    for (size_t i = 0; i < page.len; i++)
        TRY(list_blob(t, page.at[i].name, text));
    return RES_OK;
}

static res list_messages(task *t, buf *text)
{
    queue_message *list;
    size_t         count;
    TRY(queues_peek(t, KEPT, QUEUES_RECEIVE_MAX, &list, &count));
    for (size_t i = 0; i < count; i++)
        buf_addf(text, "message %.*s%s %lld\n", STR_ARG(base64_encode(t->arena, list[i].body)),
                 list[i].undecodable ? " raw" : "",
                 (long long)(list[i].expires_us / 1000000 / 3600)); /* to the hour: its life goes on */
    return RES_OK;
}

res listing(task *t, const request *in, reply *out)
{
    (void)in;
    str   *names, token;
    size_t count;
    buf   *text = arena_one(t->arena, buf);
    buf_init(text, t->arena, 16 * MIB);
    TRY(tables_list(t, STORE_MAIN, (str){0}, 1000, (str){0}, &names, &count, &token));
    for (size_t i = 0; i < count; i++)
        buf_addf(text, "table %.*s\n", STR_ARG(names[i]));
    TRY(tables_each(t, ROWS, &(table_query){0}, list_row, text));
    TRY(list_blobs(t, text));
    TRY(list_messages(t, text));
    return reply_text(out, 200, buf_str(text));
}
