/* test_actions_record.c -- records: the specification's vectors, refusals, keys, points in time, and what
 * must hold of every record.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/record.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/domain/record_cases.h"
#include "unit/suites.h"

enum { BODY_MAX = 8 * MIB, BUDGET = 256 * MIB };

static arena         *a;
static record         got;
static record_problem why;

static void open_arena(void)
{
    a = arena_new(BUDGET);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_free(a);
}

static res read_it(str text, bool timestamps)
{
    got = (record){0};
    why = (record_problem){0};
    return record_read_now(a, text, BODY_MAX, timestamps, &got, &why);
}

static void assert_str(str is, const char *want)
{
    ck_assert_msg(str_eq(is, str_of(want)), "'%.*s' is not '%s'", STR_ARG(is), want);
}

static void assert_read(str text, bool timestamps)
{
    res r = read_it(text, timestamps);
    ck_assert_msg(r == RES_OK, "%s: '%.*s' for '%.200s'", res_name(r), STR_ARG(why.message), text.at);
}

static void assert_canonical(const char *text, const char *want)
{
    assert_read(str_of(text), true);
    assert_str(got.canonical, want);
}

static void assert_refused(const char *text, const char *message, const char *field)
{
    ck_assert_int_eq(read_it(str_of(text), true), RES_INVALID);
    ck_assert_int_eq(why.status, 400);
    ck_assert_msg(str_starts(why.message, str_of(message)), "'%.*s' for '%s'", STR_ARG(why.message), text);
    assert_str(why.field, field);
    ck_assert(why.reason.len > 0 || *field == '\0');
    ck_assert_ptr_null(got.canonical.at);
}

/* ---- vectors ---- */

enum { VECTORS = sizeof vectors / sizeof *vectors };

/* ACT-53. */
START_TEST(a_vector_of_the_specification_has_its_text_and_hash_in_both_modes)
{
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        assert_read(str_of(vectors[_i].input), timestamps != 0);
        assert_str(got.canonical, vectors[_i].want);
        ck_assert_str_eq(got.hash, vectors[_i].sha256);
    }
}
END_TEST

/* ACT-53, ACT-11. */
START_TEST(owner_and_name_are_trimmed_keys_are_lower_case_and_the_hash_is_of_the_canonical_text)
{
    char hex[SHA256_HEX + 1];
    assert_canonical("{\"name\":\" Setup-Thing\\t\",\"owner\":\"  Acme-Labs \"}",
                     "{\"name\":\"Setup-Thing\",\"owner\":\"Acme-Labs\"}");
    assert_str(got.owner, "Acme-Labs");
    assert_str(got.name, "Setup-Thing");
    assert_str(got.partition, "acme-labs");
    assert_str(got.row, "setup-thing");
    ck_assert_str_eq(got.hash, "083299bd63da343183646842ee8d4987376aeae69b21f6c2eab43e9dd98e04da");
    sha256_digest digest = hash_sha256(got.canonical);
    assert_str(hash_hex(&digest, hex), got.hash);
}
END_TEST

/* ACT-53. */
START_TEST(the_sample_has_its_length_and_hash_in_both_modes)
{
    assert_read(str_of(sample), false);
    ck_assert_uint_eq(got.canonical.len, 1074);
    ck_assert_str_eq(got.hash, "c6c72ffcd9ed333b8a091f2a497a9491aa154a983a29c9f57246b3b9c86d0c4c");
    assert_read(str_of(sample), true);
    ck_assert_uint_eq(got.canonical.len, 1061);
    ck_assert_str_eq(got.hash, "2aedfb10e92c9f784947ccf4a750b8ceb9e326535721260d59f9f46b43d0f910");
}
END_TEST

/* ---- what is refused ---- */

START_TEST(a_text_that_is_no_record_is_refused_with_its_reason)
{
    assert_refused(bad_records[_i].text, bad_records[_i].message, bad_records[_i].field);
}
END_TEST

/* ACT-54. */
START_TEST(a_key_with_a_slash_is_told_what_to_send_instead)
{
    ck_assert_int_eq(read_it(STR("{\"owner\":\"o\",\"name\":\"a/b\"}"), true), RES_INVALID);
    ck_assert(str_has(why.message, STR("encode '/' as '_'")));
    assert_str(why.reason, "contains '/'");
}
END_TEST

static str nested(size_t levels, char open, char close)
{
    buf b;
    buf_init(&b, a, MIB);
    ck_assert(buf_add(&b, STR(ON ",\"repoInfo\":")));
    for (size_t i = 1; i < levels; i++)
        ck_assert(buf_add(&b, open == '[' || i + 1 == levels ? (str){&open, 1} : STR("{\"a\":")));
    for (size_t i = 1; i < levels; i++)
        ck_assert(buf_add_char(&b, close));
    ck_assert(buf_add_char(&b, '}'));
    return buf_str(&b);
}

START_TEST(sixty_four_levels_pass_and_one_more_does_not)
{
    const char open[] = "[{", close[] = "]}";
    assert_read(nested(RECORD_DEPTH_MAX, open[_i], close[_i]), true);
    static const size_t deep[] = {RECORD_DEPTH_MAX + 1, 512, 513, 600, 10000};
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        ck_assert_int_eq(read_it(nested(deep[i], open[_i], close[_i]), true), RES_INVALID);
        assert_str(why.message, "Request body must not be nested deeper than 64 levels.");
        assert_str(why.field, "body");
    }
}
END_TEST

START_TEST(ten_thousand_open_brackets_without_an_end_are_too_deep_too)
{
    char *many = arena_alloc(a, 10000);
    memset(many, '[', 10000);
    ck_assert_int_eq(read_it((str){many, 10000}, true), RES_INVALID);
    assert_str(why.message, "Request body must not be nested deeper than 64 levels.");
}
END_TEST

START_TEST(brackets_in_strings_are_no_levels)
{
    char *many = arena_alloc(a, 1000);
    memset(many, '[', 1000);
    assert_read(arena_strf(a, ON ",\"s\":[\"\\\"%.1000s\"]}", many), true);
    ck_assert_int_eq(read_it(arena_strf(a, ON ",\"s\":[\"\\\"%.1000s\",}", many), true), RES_INVALID);
    assert_str(why.message, "Request body must be a JSON object.");
}
END_TEST

START_TEST(a_body_above_the_limit_is_too_large_and_one_at_the_limit_is_not)
{
    str text = STR(ON "}");
    ck_assert_int_eq(record_read_now(a, text, text.len, true, &got, &why), RES_OK);
    ck_assert_int_eq(record_read_now(a, text, text.len - 1, true, &got, &why), RES_TOO_LARGE);
    ck_assert_int_eq(why.status, 413);
    ck_assert_uint_eq(why.max_bytes, text.len - 1);
    ck_assert_uint_eq(why.actual_bytes, text.len);
    assert_str(why.message, "Request body has 24 bytes, at most 23 are allowed.");
}
END_TEST

START_TEST(one_byte_order_mark_is_skipped)
{
    assert_canonical("\xEF\xBB\xBF" ON "}", "{\"name\":\"n\",\"owner\":\"o\"}");
}
END_TEST

/* ---- keys ---- */

static str name_of(const char *unit, size_t count, const char *last)
{
    buf b;
    buf_init(&b, a, MIB);
    ck_assert(buf_add(&b, STR("{\"owner\":\"o\",\"name\":\"")));
    for (size_t i = 0; i < count; i++)
        ck_assert(buf_add(&b, str_of(unit)));
    ck_assert(buf_addf(&b, "%s\"}", last));
    return buf_str(&b);
}

/* ACT-59. */
START_TEST(a_key_of_512_utf16_units_is_accepted_and_one_of_513_is_refused)
{
    assert_read(name_of("x", 512, " "), true);
    ck_assert_uint_eq(got.row.len, 512);
    assert_read(name_of("\xF0\x9F\x98\x80", 256, ""), true);
    ck_assert_int_eq(read_it(name_of("x", 513, ""), true), RES_INVALID);
    assert_str(why.message, "Field name must have at most 512 UTF-16 units, it has 513.");
    assert_str(why.field, "name");
    ck_assert_int_eq(read_it(name_of("\xF0\x9F\x98\x80", 256, "x"), true), RES_INVALID);
}
END_TEST

/* ACT-16. */
START_TEST(a_number_as_owner_or_name_becomes_the_key_as_it_is_spelled)
{
    assert_canonical("{\"owner\":123,\"name\":1.50}", "{\"name\":1.5,\"owner\":123}");
    assert_str(got.partition, "123");
    assert_str(got.owner, "123");
    assert_str(got.row, "1.5");
    assert_canonical("{\"owner\":-0,\"name\":1e21}", "{\"name\":1e+21,\"owner\":0}");
    assert_str(got.partition, "0");
    assert_str(got.row, "1e+21");
}
END_TEST

START_TEST(a_key_is_trimmed_and_lower_case)
{
    str text = str_of(keys[_i].text);
    assert_str(record_key(a, text), keys[_i].key);
    assert_str(record_key(a, str_of(keys[_i].key)), keys[_i].key);
}
END_TEST

START_TEST(trimming_takes_blanks_as_escapes_and_as_they_are_but_nothing_within)
{
    assert_canonical(
        "{\"owner\":\"\\u0009\\u000b\\u3000\\u0020O p\\\"\\r\\n\",\"name\":\"\\ufeff\xE3\x80\x80n\"}",
        "{\"name\":\"n\",\"owner\":\"O p\\\"\"}");
    assert_str(got.owner, "O p\"");
    assert_str(got.partition, "o p\"");
}
END_TEST

START_TEST(no_other_string_is_trimmed)
{
    assert_canonical(
        "{\"owner\":\" o\",\"x\":{\"owner\":\" p \"},\"name\":\"n \",\"description\":\" d \",\"a\":[\" b "
        "\"]}",
        "{\"a\":[\" b \"],\"description\":\" d \",\"name\":\"n\",\"owner\":\"o\",\"x\":{\"owner\":\" p \"}}");
}
END_TEST

START_TEST(the_last_of_duplicate_owners_is_the_one_that_counts)
{
    assert_canonical("{\"owner\":\"bad/one\",\"name\":\"n\",\"owner\":\" o \"}",
                     "{\"name\":\"n\",\"owner\":\"o\"}");
}
END_TEST

START_TEST(unpaired_surrogates_elsewhere_survive)
{
    assert_canonical(ON ",\"\\ud800\":\"\\udc00 x\",\"dAt\":\"\\udfff\"}",
                     "{\"dAt\":\"\\udfff\",\"name\":\"n\",\"owner\":\"o\",\"\\ud800\":\"\\udc00 x\"}");
}
END_TEST

/* ---- points in time ---- */

START_TEST(a_point_in_time_is_spelled_in_utc_and_nothing_else_is_touched)
{
    const char *want = times[_i].want != NULL ? times[_i].want : times[_i].text;
    str         text =
        arena_strf(a, ON ",\"repoInfo\":{\"archived\":false,\"updated_at\":\"%s\",\"z\":1}}", times[_i].text);
    str utc = arena_strf(
        a, "{\"name\":\"n\",\"owner\":\"o\",\"repoInfo\":{\"archived\":false,\"updated_at\":\"%s\",\"z\":1}}",
        want);
    assert_read(text, true);
    assert_str(got.canonical, utc.at);
    assert_read(got.canonical, true);
    assert_str(got.canonical, utc.at);
}
END_TEST

START_TEST(points_in_time_are_looked_for_where_the_specification_says_and_nowhere_else)
{
    str text = arena_strf(a, ON ",%s" LOCAL "%s}", places[_i].before, places[_i].after);
    str plain =
        arena_strf(a, ON ",%s%s%s}", places[_i].before, places[_i].rewritten ? UTC : LOCAL, places[_i].after);
    assert_read(plain, false);
    str want = got.canonical;
    assert_read(text, true);
    assert_str(got.canonical, arena_cstr(a, want));
    assert_read(text, false);
    ck_assert(str_has(got.canonical, STR(LOCAL)));
}
END_TEST

START_TEST(several_changes_in_one_record_all_come_out_in_their_places)
{
    assert_canonical(
        "{\"owner\":\" o \",\"name\":\"\\tn\",\"aAt\":" LOCAL
        ",\"empty\":{},\"repoInfo\":{\"updated_at\":" LOCAL ",\"latest_release_published_at\":" LOCAL
        "},\"dependents\":{},\"vulnerabilityStatus\":{\"lastUpdated\":" LOCAL "},\"zAt\":" LOCAL "}",
        "{\"aAt\":" UTC ",\"dependents\":{},\"empty\":{},\"name\":\"n\",\"owner\":\"o\","
        "\"repoInfo\":{\"latest_release_published_at\":" UTC ",\"updated_at\":" UTC
        "},\"vulnerabilityStatus\":{\"lastUpdated\":" UTC "},\"zAt\":" UTC "}");
}
END_TEST

/* ---- what must hold of every record ---- */

static unsigned next_random(unsigned *seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

/* A record of members in random order, with blanks, escapes, nested values and times. */
static str random_record(unsigned seed)
{
    buf b;
    buf_init(&b, a, MIB);
    ck_assert(buf_add(&b, STR(" { \"owner\":\"Acme\",\"name\":\" n\"")));
    for (int i = 0; i < 12; i++)
        ck_assert(
            buf_addf(&b, " ,\n%s", members[(next_random(&seed) >> 16) % (sizeof members / sizeof *members)]));
    ck_assert(buf_add(&b, STR("} ")));
    return buf_str(&b);
}

START_TEST(the_canonical_form_of_a_canonical_form_is_itself)
{
    for (unsigned seed = 0; seed < 500; seed++) {
        bool   timestamps = seed % 2 == 0;
        record first;
        assert_read(random_record(seed), timestamps);
        first = got;
        assert_read(first.canonical, timestamps);
        ck_assert(str_eq(got.canonical, first.canonical));
        ck_assert_str_eq(got.hash, first.hash);
        ck_assert(str_eq(got.owner, first.owner) && str_eq(got.name, first.name));
        ck_assert(str_eq(got.partition, first.partition) && str_eq(got.row, first.row));
    }
}
END_TEST

START_TEST(a_record_is_read_or_memory_is_said_to_be_missing_whichever_allocation_fails)
{
    static const char *const texts[] = {sample, "{\"owner\":\"a/b\",\"name\":\"n\"}",
                                        "{\"owner\":\" \\\"q\\\" \",\"name\":\"N\"}", "{\"name\":1}", "[[[["};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        res plain = read_it(str_of(texts[i]), true);
        for (long nth = 1;; nth++) {
            ck_assert_int_lt(nth, 1000);
            arena_fail_at(nth);
            res  r = read_it(str_of(texts[i]), true);
            bool pending = arena_fail_pending();
            arena_fail_at(0);
            ck_assert_int_eq(r, pending ? plain : RES_MEMORY);
            if (pending)
                break;
        }
    }
}
END_TEST

/* ---- in a task ---- */

typedef struct {
    str            text;
    record         got;
    record_problem why;
    res            result;
    uint64_t       canonical_len;
} job;

static res read_in_task(task *t, void *ctx)
{
    job *j = ctx;
    res  r = record_read(t, j->text, BODY_MAX, true, &j->got, &j->why);
    if (r == RES_OK)
        j->canonical_len =
            str_eq(str_slice(j->got.canonical, 0, 6), STR("{\"a\":\"")) ? j->got.canonical.len : 0;
    else if (r == RES_INVALID)
        ck_assert(j->why.message.len > 0 && j->why.message.at[0] == 'R');
    return r;
}

static void note_result(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    ((job *)ctx)->result = result;
}

static void run(job *j)
{
    task_spec spec = {.name = "record", .memory_bytes = MIB};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&spec, read_in_task, note_result, j, NULL), RES_OK);
    loop_run();
    loop_close();
}

static str large_record(char last)
{
    enum { BYTES = 300 * KIB };
    char *fill = arena_alloc(a, BYTES);
    memset(fill, 'x', BYTES);
    return arena_strf(a, "{\"owner\":\"O\",\"name\":\"n\",\"a\":\"%.*s\"%c", BYTES, fill, last);
}

START_TEST(a_large_record_is_read_in_a_thread_and_its_faults_are_told_from_there)
{
    job j = {.text = large_record('}')};
    wait_cancel_at(2, RES_GONE); /* one wait there must be, and no second */
    run(&j);
    ck_assert(wait_cancel_pending());
    wait_cancel_at(1, RES_GONE);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_uint_eq(j.canonical_len, j.text.len);
    run(&j);
    ck_assert(!wait_cancel_pending());
    ck_assert_int_eq(j.result, RES_GONE);

    j.text = large_record(']');
    run(&j);
    ck_assert_int_eq(j.result, RES_INVALID);
    ck_assert_int_eq(j.why.status, 400);
}
END_TEST

START_TEST(a_small_record_does_not_wait)
{
    job j = {.text = str_of(sample)};
    wait_cancel_at(1, RES_GONE);
    run(&j);
    ck_assert(wait_cancel_pending());
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(j.result, RES_OK);
}
END_TEST

START_TEST(a_task_survives_every_failing_allocation)
{
    job j = {.text = _i == 0 ? str_of(sample) : large_record('}')};
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        arena_fail_at(nth);
        run(&j);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(j.result, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
}
END_TEST

#define LOOP(c, fn, table) tcase_add_loop_test(c, fn, 0, (int)(sizeof(table) / sizeof *(table)))

Suite *suite_actions_record(void)
{
    Suite *s = suite_create("actions_record");
    TCase *c = tcase_create("record");
    tcase_add_checked_fixture(c, open_arena, close_arena);
    tcase_add_loop_test(c, a_vector_of_the_specification_has_its_text_and_hash_in_both_modes, 0, VECTORS);
    tcase_add_test(c, owner_and_name_are_trimmed_keys_are_lower_case_and_the_hash_is_of_the_canonical_text);
    tcase_add_test(c, the_sample_has_its_length_and_hash_in_both_modes);
    LOOP(c, a_text_that_is_no_record_is_refused_with_its_reason, bad_records);
    tcase_add_test(c, a_key_with_a_slash_is_told_what_to_send_instead);
    tcase_add_loop_test(c, sixty_four_levels_pass_and_one_more_does_not, 0, 2);
    tcase_add_test(c, ten_thousand_open_brackets_without_an_end_are_too_deep_too);
    tcase_add_test(c, brackets_in_strings_are_no_levels);
    tcase_add_test(c, a_body_above_the_limit_is_too_large_and_one_at_the_limit_is_not);
    tcase_add_test(c, one_byte_order_mark_is_skipped);
    tcase_add_test(c, a_key_of_512_utf16_units_is_accepted_and_one_of_513_is_refused);
    tcase_add_test(c, a_number_as_owner_or_name_becomes_the_key_as_it_is_spelled);
    LOOP(c, a_key_is_trimmed_and_lower_case, keys);
    tcase_add_test(c, trimming_takes_blanks_as_escapes_and_as_they_are_but_nothing_within);
    tcase_add_test(c, no_other_string_is_trimmed);
    tcase_add_test(c, the_last_of_duplicate_owners_is_the_one_that_counts);
    tcase_add_test(c, unpaired_surrogates_elsewhere_survive);
    LOOP(c, a_point_in_time_is_spelled_in_utc_and_nothing_else_is_touched, times);
    LOOP(c, points_in_time_are_looked_for_where_the_specification_says_and_nowhere_else, places);
    tcase_add_test(c, several_changes_in_one_record_all_come_out_in_their_places);
    tcase_add_test(c, the_canonical_form_of_a_canonical_form_is_itself);
    tcase_add_test(c, a_record_is_read_or_memory_is_said_to_be_missing_whichever_allocation_fails);
    tcase_add_test(c, a_large_record_is_read_in_a_thread_and_its_faults_are_told_from_there);
    tcase_add_test(c, a_small_record_does_not_wait);
    tcase_add_loop_test(c, a_task_survives_every_failing_allocation, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
