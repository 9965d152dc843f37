/* test_canonical.c -- the same outcome on the loop and off it, and nothing lost when a task is cut short.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/canonical.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

typedef struct {
    str            json;
    canonical_json got;
    canon_error    err;
    res            result;
    char           text[64];
} job;

static res canonicalise(task *t, void *ctx)
{
    job *j = ctx;
    res  r = canonical_make(t, j->json, &j->got, &j->err);
    if (r == RES_OK) {
        size_t len = j->got.text.len < sizeof j->text - 1 ? j->got.text.len : sizeof j->text - 1;
        memcpy(j->text, j->got.text.at, len); /* the task's arena goes with it */
    }
    return r;
}

static void note_result(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    ((job *)ctx)->result = result;
}

static void run(job *j)
{
    ck_assert_int_eq(loop_open(), RES_OK);
    task_spec spec = {.name = "canonical", .memory_bytes = 64 * MIB};
    ck_assert_int_eq(task_start(&spec, canonicalise, note_result, j, NULL), RES_OK);
    loop_run();
    loop_close();
}

/* {"b":"xxxx…","a":1} of about so many bytes; heap, to be freed with buf_free. */
static buf large_document(size_t bytes)
{
    buf out;
    buf_init(&out, NULL, 2 * bytes);
    ck_assert(buf_add(&out, STR("{\"b\":\"")));
    char *fill = buf_reserve(&out, bytes);
    ck_assert_ptr_nonnull(fill);
    memset(fill, 'x', bytes);
    out.len += bytes;
    ck_assert(buf_add(&out, STR("\",\"a\":1}")));
    return out;
}

START_TEST(a_small_text_is_canonicalised_and_hashed)
{
    job  j = {.json = STR("{\"owner\":\"o\",\"name\":\"n\"}")};
    char hex[SHA256_HEX + 1];
    run(&j);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_str_eq(j.text, "{\"name\":\"n\",\"owner\":\"o\"}");
    (void)hash_hex(&j.got.hash, hex);
    ck_assert_str_eq(hex, "ab998e2d53417e85989c4c850c6901a581fcd34e28308fbd9c3b3d6e4041794e");
}
END_TEST

START_TEST(a_large_text_waits_for_a_thread_and_comes_out_the_same)
{
    buf doc = large_document(CANONICAL_INLINE_MAX + 1);
    job j = {.json = buf_str(&doc)};
    wait_cancel_at(2, RES_GONE); /* one wait there must be, and no second */
    run(&j);
    ck_assert(wait_cancel_pending());
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(j.result, RES_OK);
    ck_assert_int_eq(strncmp(j.text, "{\"a\":1,\"b\":\"xxx", 15), 0);
    ck_assert_uint_eq(j.got.text.len, doc.len);
    buf_free(&doc);
}
END_TEST

START_TEST(a_small_text_does_not_wait)
{
    job j = {.json = STR("[1]")};
    wait_cancel_at(1, RES_GONE);
    run(&j);
    ck_assert(wait_cancel_pending());
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(j.result, RES_OK);
}
END_TEST

START_TEST(what_is_wrong_with_a_text_is_told_from_either_place)
{
    job small = {.json = STR("{\"a\":}")};
    run(&small);
    ck_assert_int_eq(small.result, RES_INVALID);
    ck_assert_uint_eq(small.err.offset, 5);

    buf doc = large_document(CANONICAL_INLINE_MAX + 1);
    doc.at[doc.len - 1] = ']';
    job large = {.json = buf_str(&doc)};
    run(&large);
    ck_assert_int_eq(large.result, RES_INVALID);
    ck_assert_uint_eq(large.err.offset, doc.len - 1);
    ck_assert_ptr_nonnull(large.err.text);
    buf_free(&doc);
}
END_TEST

START_TEST(a_cancelled_task_and_every_failing_allocation_leave_nothing_behind)
{
    buf doc = large_document(CANONICAL_INLINE_MAX + 1);
    job j = {.json = buf_str(&doc)};
    wait_cancel_at(1, RES_GONE);
    run(&j);
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(j.result, RES_GONE);

    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 100);
        arena_fail_at(nth);
        run(&j);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(j.result, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
    buf_free(&doc);
}
END_TEST

Suite *suite_canonical(void)
{
    Suite *s = suite_create("canonical");
    TCase *c = tcase_create("canonical");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_small_text_is_canonicalised_and_hashed);
    tcase_add_test(c, a_large_text_waits_for_a_thread_and_comes_out_the_same);
    tcase_add_test(c, a_small_text_does_not_wait);
    tcase_add_test(c, what_is_wrong_with_a_text_is_told_from_either_place);
    tcase_add_test(c, a_cancelled_task_and_every_failing_allocation_leave_nothing_behind);
    suite_add_tcase(s, c);
    return s;
}
