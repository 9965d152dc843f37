/* test_asset.c -- a file of the binary comes out as it went in, plain or packed, and once it is known, not at
 * all.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/asset.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/gzip.h"
#include "runtime/exchange.h"
#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

ASSET(document, openapi_json, "application/json");

static const char small_bytes[] = "x";
static asset      small = {small_bytes, small_bytes + 1, "text/plain", NULL};

enum { VALUE_MAX = 128, BODY_MAX = 1 * MIB };

typedef struct {
    asset      *file;
    http_header sent[2];
    res         result;
    int         status;
    char        tag[VALUE_MAX], coding[VALUE_MAX], cache[VALUE_MAX], vary[VALUE_MAX], type[VALUE_MAX];
    char       *body; /* heap */
    size_t      body_bytes;
} visit;

static void note_header(const reply *out, const char *name, char value[VALUE_MAX])
{
    str s = http_header_get(out->headers, out->header_count, str_of(name));
    (void)snprintf(value, VALUE_MAX, "%.*s", STR_ARG(s));
}

static res serve(task *t, void *ctx)
{
    visit   *v = ctx;
    function fn = {.name = STR("asset")};
    request  in = {.arena = t->arena, .fn = &fn, .headers = v->sent, .header_count = 2};
    reply    out;
    reply_init(&out, t->arena, &fn, NULL);
    res r = reply_asset(t, &in, &out, v->file, "public, max-age=60");
    if (r != RES_OK)
        return r;
    v->status = out.status;
    note_header(&out, "etag", v->tag);
    note_header(&out, "content-encoding", v->coding);
    note_header(&out, "cache-control", v->cache);
    note_header(&out, "vary", v->vary);
    note_header(&out, "content-type", v->type);
    v->body_bytes = out.body.len;
    if (out.body.len > 0)
        memcpy(v->body, out.body.at, out.body.len);
    return RES_OK;
}

static void note_result(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    ((visit *)ctx)->result = result;
}

static char kept_body[BODY_MAX];

static visit visit_asset(asset *file, str accept_encoding, str if_none_match)
{
    visit v = {.file = file,
               .sent = {{STR("Accept-Encoding"), accept_encoding}, {STR("If-None-Match"), if_none_match}},
               .result = RES_COUNT,
               .body = kept_body};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "asset"}, serve, note_result, &v, NULL), RES_OK);
    loop_run();
    loop_close();
    return v;
}

static visit fetch_asset(asset *file, str accept_encoding, str if_none_match)
{
    visit v = visit_asset(file, accept_encoding, if_none_match);
    ck_assert_int_eq(v.result, RES_OK);
    return v;
}

/* The file as it lies in the source folder. */
static str file_text(char *room, size_t room_bytes)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/openapi.json", getenv("TRESTLE_SOURCE_ROOT"));
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    str text = {room, fread(room, 1, room_bytes, f)};
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

START_TEST(the_bytes_are_those_of_the_file)
{
    static char room[BODY_MAX];
    str         text = file_text(room, sizeof room);
    visit       v = fetch_asset(&document, STR(""), STR(""));
    ck_assert_int_eq(v.status, 200);
    ck_assert(str_eq((str){v.body, v.body_bytes}, text));
    ck_assert_str_eq(v.type, "application/json");
    ck_assert_str_eq(v.cache, "public, max-age=60");
    ck_assert_str_eq(v.vary, "Accept-Encoding");
    ck_assert_str_eq(v.coding, "");
}
END_TEST

START_TEST(the_etag_is_the_sha_256_in_quotes)
{
    visit         v = fetch_asset(&document, STR(""), STR(""));
    sha256_digest hash = hash_sha256(asset_text(&document));
    char          hex[SHA256_HEX + 1], quoted[SHA256_HEX + 3];
    (void)snprintf(quoted, sizeof quoted, "\"%.*s\"", STR_ARG(hash_hex(&hash, hex)));
    ck_assert_str_eq(v.tag, quoted);
}
END_TEST

START_TEST(gzip_is_sent_to_whom_takes_it_and_unpacks_to_the_file)
{
    visit  v = fetch_asset(&document, STR("br, gzip;q=0.5"), STR(""));
    arena *a = arena_new(4 * MIB);
    str    plain;
    ck_assert_str_eq(v.coding, "gzip");
    ck_assert_uint_lt(v.body_bytes, asset_text(&document).len / 4);
    ck_assert_int_eq(gzip_unpack(a, (str){v.body, v.body_bytes}, BODY_MAX, &plain), RES_OK);
    ck_assert(str_eq(plain, asset_text(&document)));
    arena_free(a);
}
END_TEST

START_TEST(the_two_codings_have_two_etags_and_either_one_is_known)
{
    visit plain = fetch_asset(&document, STR("identity"), STR(""));
    visit packed = fetch_asset(&document, STR("gzip"), STR(""));
    ck_assert_str_ne(plain.tag, packed.tag);
    ck_assert_int_eq(fetch_asset(&document, STR("gzip"), str_of(plain.tag)).status, 304);
    ck_assert_int_eq(fetch_asset(&document, STR(""), str_of(packed.tag)).status, 304);
    visit known = fetch_asset(&document, STR(""), str_of(plain.tag));
    ck_assert_int_eq(known.status, 304);
    ck_assert_uint_eq(known.body_bytes, 0);
    ck_assert_str_eq(known.tag, plain.tag);
    ck_assert_str_eq(known.type, "");
    ck_assert_str_eq(known.coding, "");
    ck_assert_int_eq(fetch_asset(&document, STR(""), STR("\"other\"")).status, 200);
}
END_TEST

START_TEST(what_gzip_would_make_larger_stays_plain)
{
    visit v = fetch_asset(&small, STR("gzip"), STR(""));
    ck_assert_str_eq(v.coding, "");
    ck_assert_uint_eq(v.body_bytes, 1);
    asset_forget(&small);
}
END_TEST

START_TEST(a_failing_allocation_is_out_of_memory_and_the_next_request_is_served)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        asset_forget(&document);
        arena_fail_at(nth);
        visit v = visit_asset(&document, STR("gzip"), STR(""));
        bool  pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(v.result, pending ? RES_OK : RES_MEMORY);
        ck_assert_int_eq(fetch_asset(&document, STR("gzip"), STR("")).status, 200);
        if (pending)
            break;
    }
    asset_forget(&document);
}
END_TEST

START_TEST(a_cancelled_wait_is_passed_on_and_the_next_request_is_served)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 100);
        asset_forget(&document);
        wait_cancel_at(nth, RES_GONE);
        visit v = visit_asset(&document, STR("gzip"), STR(""));
        bool  pending = wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        ck_assert_int_eq(v.result, pending ? RES_OK : RES_GONE);
        ck_assert_int_eq(fetch_asset(&document, STR("gzip"), STR("")).status, 200);
        if (pending)
            break;
    }
    asset_forget(&document);
}
END_TEST

Suite *suite_asset(void)
{
    Suite *s = suite_create("asset");
    TCase *c = tcase_create("asset");
    tcase_add_test(c, the_bytes_are_those_of_the_file);
    tcase_add_test(c, the_etag_is_the_sha_256_in_quotes);
    tcase_add_test(c, gzip_is_sent_to_whom_takes_it_and_unpacks_to_the_file);
    tcase_add_test(c, the_two_codings_have_two_etags_and_either_one_is_known);
    tcase_add_test(c, what_gzip_would_make_larger_stays_plain);
    tcase_add_test(c, a_failing_allocation_is_out_of_memory_and_the_next_request_is_served);
    tcase_add_test(c, a_cancelled_wait_is_passed_on_and_the_next_request_is_served);
    suite_add_tcase(s, c);
    return s;
}
