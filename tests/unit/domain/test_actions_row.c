/* test_actions_row.c -- records as rows: what is stored, small and large, and what is read back.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/row.h"

#include <check.h>
#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/gzip.h"
#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

enum { BUDGET = 64 * MIB, BODY_MAX = 8 * MIB };

static arena *a; /* outlives the tasks */

static void open_arena(void)
{
    a = arena_new(4 * BUDGET);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_free(a);
}

/* A record whose text has so many bytes more than the least; noise does not shrink. */
static record record_of(size_t extra, bool noise)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    record            r;
    record_problem    why;
    unsigned          seed = 1;
    char             *fill = arena_alloc(a, extra + 1);
    for (size_t i = 0; i < extra; i++) {
        seed = seed * 1664525u + 1013904223u;
        fill[i] = noise ? digits[seed >> 26] : 'x';
    }
    fill[extra] = '\0';
    str text = arena_strf(a, "{\"d\":\"%s\",\"name\":\" N\",\"owner\":\"O\"}", fill);
    ck_assert_int_eq(record_read_now(a, text, BODY_MAX, true, &r, &why), RES_OK);
    return r;
}

typedef struct {
    record r;
    entity made;
    size_t bytes;
    res    result;
    size_t budget;
    bool   dropped; /* what is made is not looked at */
} job;

static res make(task *t, void *ctx)
{
    job   *j = ctx;
    entity e;
    res    r = row_make(t, &j->r, STR("2026-01-02T03:04:05.678Z"), &e, &j->bytes);
    if (r == RES_OK && !j->dropped)
        j->made = entity_copy(a, &e);
    return r;
}

static void note(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    ((job *)ctx)->result = result;
}

static void run(job *j)
{
    task_spec spec = {.name = "row", .memory_bytes = j->budget != 0 ? j->budget : MIB};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&spec, make, note, j, NULL), RES_OK);
    loop_run();
    loop_close();
}

static str payload_of(const entity *e)
{
    str text;
    ck_assert_int_eq(row_payload(a, e, &text), RES_OK);
    return text;
}

/* ACT-12. */
START_TEST(a_small_record_takes_five_columns_and_two_keys)
{
    job j = {.r = record_of(10, false)};
    run(&j);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_uint_eq(j.made.count, 5);
    ck_assert(str_eq(j.made.partition, STR("o")) && str_eq(j.made.row, STR("n")));
    ck_assert(str_eq(entity_str(&j.made, "PayloadJson", STR("")), j.r.canonical));
    ck_assert(str_eq(entity_str(&j.made, "PayloadHash", STR("")), str_of(j.r.hash)));
    ck_assert(str_eq(entity_str(&j.made, "LastSyncedUtc", STR("")), STR("2026-01-02T03:04:05.678Z")));
    ck_assert(str_eq(entity_str(&j.made, "Owner", STR("")), STR("O")));
    ck_assert(str_eq(entity_str(&j.made, "Name", STR("")), STR("N")));
    ck_assert(str_eq(row_hash(&j.made), str_of(j.r.hash)));
    ck_assert(str_eq(row_synced(&j.made), STR("2026-01-02T03:04:05.678Z")));
}
END_TEST

/* ACT-12. */
START_TEST(the_stamp_is_iso_with_milliseconds)
{
    clock_set_for_test(INT64_C(1767323045678999), 1);
    str now = row_now(a);
    ck_assert_msg(str_eq(now, STR("2026-01-02T03:04:05.678Z")), "%.*s", STR_ARG(now));
    clock_unset_for_test();
}
END_TEST

static size_t units_without_fill(void)
{
    return record_of(0, false).canonical.len;
}

START_TEST(a_text_of_32000_units_is_stored_as_it_is_and_one_more_is_packed)
{
    job j = {.r = record_of(ROW_RAW_UNITS_MAX - units_without_fill(), false)};
    run(&j);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_uint_eq(entity_str(&j.made, "PayloadJson", STR("")).len, ROW_RAW_UNITS_MAX);
    ck_assert(!entity_has(&j.made, "PayloadEncoding"));

    job k = {.r = record_of(ROW_RAW_UNITS_MAX + 1 - units_without_fill(), false)};
    run(&k);
    ck_assert_int_eq(k.result, RES_OK);
    ck_assert_ptr_null(entity_str(&k.made, "PayloadJson", (str){0}).at);
    ck_assert(str_eq(entity_str(&k.made, "PayloadEncoding", STR("")), STR("gzip")));
    ck_assert_int_eq(entity_int(&k.made, "PayloadSize", 0), ROW_RAW_UNITS_MAX + 1);
}
END_TEST

/* ACT-55. */
START_TEST(a_large_payload_is_packed_and_read_back_identical_with_the_same_hash)
{
    static const size_t sizes[] = {33000, 70000, 200000, 1200000};
    job                 j = {.r = record_of(sizes[_i], true)};
    str                 why;
    run(&j);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_int_eq(entity_check(a, &j.made, &why), RES_OK);
    str text = payload_of(&j.made);
    ck_assert(str_eq(text, j.r.canonical));
    sha256_digest digest = hash_sha256(text);
    char          hex[SHA256_HEX + 1];
    ck_assert(str_eq(hash_hex(&digest, hex), row_hash(&j.made)));
    ck_assert_int_eq(entity_has(&j.made, "PayloadJson1"), sizes[_i] >= 200000);
    ck_assert(!entity_has(&j.made, "PayloadJson15"));

    job again = {.r = j.r};
    run(&again);
    ck_assert(entity_same(&again.made, &j.made)); /* the same bytes each time */
}
END_TEST

START_TEST(a_text_is_measured_in_utf16_units_and_not_in_bytes)
{
    record         r;
    record_problem why;
    buf            b;
    buf_init(&b, a, MIB);
    ck_assert(buf_add(&b, STR("{\"name\":\"n\",\"owner\":\"o\",\"x\":\"")));
    for (int i = 0; i < 31000; i++)
        ck_assert(buf_add(&b, STR("\xE2\x82\xAC")));
    ck_assert(buf_add(&b, STR("\"}")));
    ck_assert_int_eq(record_read_now(a, buf_str(&b), BODY_MAX, true, &r, &why), RES_OK);
    job j = {.r = r};
    run(&j);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert(str_eq(entity_str(&j.made, "PayloadJson", STR("")), r.canonical));
}
END_TEST

START_TEST(what_fits_into_no_row_is_too_large_and_its_size_is_told)
{
    job j = {.r = record_of(3 * MIB, true), .budget = 8 * MIB};
    run(&j);
    ck_assert_int_eq(j.result, RES_TOO_LARGE);
    ck_assert_uint_gt(j.bytes, ROW_PIECES_MAX * ENTITY_BINARY_MAX);
    ck_assert_uint_lt(j.bytes, 3 * MIB);
}
END_TEST

START_TEST(packing_a_large_text_waits_for_a_thread_and_a_cancelled_task_leaves_nothing_behind)
{
    job j = {.r = record_of(100000, true)};
    wait_cancel_at(1, RES_GONE);
    run(&j);
    ck_assert(!wait_cancel_pending());
    ck_assert_int_eq(j.result, RES_GONE);
    wait_cancel_at(1, RES_GONE);
    j.r = record_of(33000, true);
    run(&j);
    ck_assert(wait_cancel_pending());
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(j.result, RES_OK);
}
END_TEST

START_TEST(a_row_is_made_or_memory_is_said_to_be_missing)
{
    static const size_t sizes[] = {10, 33000, 100000};
    job                 j = {.r = record_of(sizes[_i], true), .dropped = true};
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 300);
        arena_fail_at(nth);
        run(&j);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(j.result, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
    ck_assert_int_eq(j.result, RES_OK);
}
END_TEST

/* ---- rows that somebody else has written ---- */

static entity packed_row(str text)
{
    str    packed;
    entity e = entity_new(a, STR("o"), STR("n"));
    ck_assert_int_eq(gzip_pack(a, text, GZIP_FAST, &packed), RES_OK);
    size_t half = packed.len / 2;
    entity_set_binary(&e, "PayloadJson1", str_from(packed, half));
    entity_set_binary(&e, "PayloadJson", str_slice(packed, 0, half));
    entity_set_str(&e, "PayloadEncoding", STR("gzip"));
    entity_set_int64(&e, "PayloadSize", (int64_t)text.len);
    return e;
}

static res payload_result(const entity *e)
{
    str text = {0};
    res r = row_payload(a, e, &text);
    ck_assert(r == RES_OK || text.at == NULL);
    return r;
}

START_TEST(pieces_of_any_size_are_joined_by_their_numbers)
{
    str    text = STR("{\"name\":\"n\",\"owner\":\"o\",\"x\":\"some text of some length\"}");
    entity e = packed_row(text);
    ck_assert(str_eq(payload_of(&e), text));
}
END_TEST

START_TEST(a_damaged_row_is_found_out)
{
    str    text = STR("{\"name\":\"n\",\"owner\":\"o\",\"x\":\"some text of some length\"}");
    entity e = entity_new(a, STR("o"), STR("n"));
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    e = packed_row(text);
    entity_drop(&e, "PayloadJson1");
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    e = packed_row(text);
    entity_set_binary(&e, "PayloadJson2", STR("more"));
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    e = packed_row(text);
    entity_drop(&e, "PayloadEncoding");
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    e = packed_row(text);
    entity_set_str(&e, "PayloadEncoding", STR("br"));
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    static const int64_t sizes[] = {-1, 0, 10, 1000, ROW_PAYLOAD_MAX + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        e = packed_row(text);
        entity_set_int64(&e, "PayloadSize", sizes[i]);
        ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    }
    e = packed_row(text);
    entity_drop(&e, "PayloadSize");
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
}
END_TEST

START_TEST(a_text_that_was_merged_over_a_packed_payload_counts)
{
    entity e = packed_row(STR("{\"old\":1}"));
    entity_set_str(&e, "PayloadJson", STR("{\"new\":1}"));
    ck_assert(str_eq(payload_of(&e), STR("{\"new\":1}")));
}
END_TEST

START_TEST(a_bomb_stops_at_the_size_that_it_claims)
{
    char *zeros = arena_alloc(a, 20 * MIB);
    memset(zeros, '0', 20 * MIB);
    entity e = packed_row((str){zeros, 20 * MIB});
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    entity_set_int64(&e, "PayloadSize", 100);
    size_t before = arena_used_bytes(a);
    ck_assert_int_eq(payload_result(&e), RES_UPSTREAM);
    ck_assert_uint_lt(arena_used_bytes(a) - before, MIB);
}
END_TEST

static const struct {
    const char *text, *value; /* of "a"; NULL: no JSON */
} parsed[] = {
    {"{\"a\":\"x\"}", "x"},
    {"{\"a\":\"\\ud800\"}", "\xEF\xBF\xBD"},
    {"{\"a\":\"\\uDC00x\\ud800\\ud83d\\uDE00\"}", "\xEF\xBF\xBDx\xEF\xBF\xBD\xF0\x9F\x98\x80"},
    {"{\"a\":\"\\\\ud800\\ud800\"}", "\\ud800\xEF\xBF\xBD"},
    {"{\"\\udfff\":1,\"a\":\"\\ud7ff\\ue000\"}", "\xED\x9F\xBF\xEE\x80\x80"},
    {"{\"a\":\"\\ud800", NULL},
    {"{\"a\":\"\\ud8\"}", NULL},
    {"\\ud800", NULL},
    {"\\", NULL},
    {"", NULL},
};

START_TEST(a_payload_is_parsed_with_unpaired_surrogates_replaced)
{
    const json_val *v = NULL;
    res             r = row_parse(a, str_of(parsed[_i].text), &v);
    ck_assert_int_eq(r, parsed[_i].value != NULL ? RES_OK : RES_UPSTREAM);
    if (r == RES_OK)
        ck_assert(str_eq(json_text(json_get(v, "a"), STR("?")), str_of(parsed[_i].value)));
}
END_TEST

Suite *suite_actions_row(void)
{
    Suite *s = suite_create("actions_row");
    TCase *c = tcase_create("row");
    tcase_add_checked_fixture(c, open_arena, close_arena);
    tcase_add_test(c, a_small_record_takes_five_columns_and_two_keys);
    tcase_add_test(c, the_stamp_is_iso_with_milliseconds);
    tcase_add_test(c, a_text_of_32000_units_is_stored_as_it_is_and_one_more_is_packed);
    tcase_add_loop_test(c, a_large_payload_is_packed_and_read_back_identical_with_the_same_hash, 0, 4);
    tcase_add_test(c, a_text_is_measured_in_utf16_units_and_not_in_bytes);
    tcase_add_test(c, what_fits_into_no_row_is_too_large_and_its_size_is_told);
    tcase_add_test(c, packing_a_large_text_waits_for_a_thread_and_a_cancelled_task_leaves_nothing_behind);
    tcase_add_loop_test(c, a_row_is_made_or_memory_is_said_to_be_missing, 0, 3);
    tcase_add_test(c, pieces_of_any_size_are_joined_by_their_numbers);
    tcase_add_test(c, a_damaged_row_is_found_out);
    tcase_add_test(c, a_text_that_was_merged_over_a_packed_payload_counts);
    tcase_add_test(c, a_bomb_stops_at_the_size_that_it_claims);
    tcase_add_loop_test(c, a_payload_is_parsed_with_unpaired_surrogates_replaced, 0,
                        sizeof parsed / sizeof *parsed);
    suite_add_tcase(s, c);
    return s;
}
