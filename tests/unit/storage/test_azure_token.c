/* test_azure_token.c -- tokens: how long they are kept, that one attempt serves all who wait, and what
 * becomes of those that are refused. Who gives them is the subject of token_cases_identity.c.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "unit/storage/token_rig.h"
#include "unit/suites.h"

/* ---- how long they are kept ---- */

/* STORE-8 */
START_TEST(a_token_is_renewed_from_two_minutes_before_its_end_on)
{
    static const struct {
        long     lives_s;
        unsigned requests;
    } rows[] = {{150, 1}, {110, 2}};
    vouch((wire_answer[]){{.bytes = token_answer("old", rows[_i].lives_s)},
                          {.bytes = token_answer("new", 3600)}},
          2);
    token_cache *c = new_cache();
    ck_assert_str_eq(ask_token(c).got, "Bearer old");
    ck_assert_str_eq(ask_token(c).got, rows[_i].requests == 2 ? "Bearer new" : "Bearer old");
    ck_assert_str_eq(ask_token(c).got, rows[_i].requests == 2 ? "Bearer new" : "Bearer old");
    ck_assert_uint_eq(wire_requests(vouching), rows[_i].requests);
    stop_vouching();
}
END_TEST

START_TEST(a_renewal_that_fails_is_tried_once_a_while_and_the_old_token_serves)
{
    vouch((wire_answer[]){{.bytes = token_answer("old", 60)},
                          {.bytes = RIG_STATUS("500 x", SOON)},
                          {.bytes = token_answer("new", 3600)}},
          3);
    token_cache *c = new_cache();
    for (int i = 0; i < 4; i++) {
        ask a = ask_token(c);
        ck_assert_int_eq(a.result, RES_OK);
        ck_assert_str_eq(a.got, "Bearer old");
        ck_assert_str_eq(a.message, "");
    }
    ck_assert_uint_eq(wire_requests(vouching), 2); /* one failed attempt, of one try */
    c->failed_us -= (TOKEN_SPACING_S + 1) * 1000000LL;
    ck_assert_str_eq(ask_token(c).got, "Bearer new");
    stop_vouching();
}
END_TEST

START_TEST(without_a_token_failures_are_spaced_too_and_say_why)
{
    vouch((wire_answer[]){{.bytes = RIG_STATUS("400 x", "")}, {.bytes = token_answer("new", 3600)}}, 2);
    token_cache *c = new_cache();
    ck_assert_int_eq(ask_token(c).result, RES_CONFIG);
    ask a = ask_token(c);
    ck_assert_int_eq(a.result, RES_CONFIG);
    ck_assert_ptr_nonnull(strstr(a.message, "answered 400"));
    ck_assert_uint_eq(wire_requests(vouching), 1);
    c->failed_us -= (TOKEN_SPACING_S + 1) * 1000000LL;
    ck_assert_str_eq(ask_token(c).got, "Bearer new");
    stop_vouching();
}
END_TEST

/* ---- many at once ---- */

enum { MANY = 20 };

typedef struct {
    token_cache *c;
    size_t       ok, failed, stopped;
} crowd;

static res ask_among_many(task *t, size_t i, void *ctx)
{
    (void)i;
    crowd   *all = ctx;
    str      value;
    unsigned version;
    res      r = token_get(t, all->c, &value, &version);
    all->ok += r == RES_OK && str_eq(value, STR("Bearer one"));
    all->failed += r == RES_CONFIG && str_has(task_message(t), STR("answered 400"));
    all->stopped += r == RES_GONE;
    task_forget(t);
    return RES_OK; /* par_each would stop the others */
}

static res ask_all(task *t, void *ctx)
{
    return par_each(t, MANY, MANY, ask_among_many, ctx);
}

START_TEST(one_attempt_serves_all_who_wait)
{
    vouch(&(wire_answer){.bytes = token_answer("one", 3600), .delay_ms = 60}, 1);
    crowd all = {.c = new_cache()};
    ck_assert_int_eq(rig_run(ask_all, &all, 0), RES_OK);
    ck_assert_uint_eq(all.ok, MANY);
    ck_assert_uint_eq(wire_requests(vouching), 1);
    stop_vouching();
}
END_TEST

START_TEST(one_failure_is_shared_by_all_who_wait)
{
    vouch(&(wire_answer){.bytes = RIG_STATUS("400 x", ""), .delay_ms = 60}, 1);
    crowd all = {.c = new_cache()};
    ck_assert_int_eq(rig_run(ask_all, &all, 0), RES_OK);
    ck_assert_uint_eq(all.failed, MANY);
    ck_assert_uint_eq(wire_requests(vouching), 1);
    stop_vouching();
}
END_TEST

START_TEST(when_the_one_who_fetches_leaves_another_takes_over)
{
    vouch(&(wire_answer){.bytes = token_answer("one", 3600), .delay_ms = 5}, 1);
    bool taken_over = false;
    for (long nth = 1; nth <= 2 * MANY; nth++) {
        crowd all = {.c = new_cache()};
        wait_cancel_at(nth, RES_GONE);
        res r = rig_run(ask_all, &all, 10000);
        wait_cancel_at(0, RES_OK);
        if (r != RES_OK)
            continue; /* it was the parent, and all of them with it */
        ck_assert_uint_eq(all.ok + all.stopped, MANY);
        ck_assert_uint_le(all.stopped, 1);
        ck_assert(!all.c->busy);
        taken_over = taken_over || (all.stopped == 1 && all.c->attempts == 2);
    }
    ck_assert(taken_over);
    stop_vouching();
}
END_TEST

/* ---- refused tokens ---- */

static void answer_by_token(void *ctx, const wire_request *q, wire_answer *ret)
{
    bool fresh = str_has(q->head, STR("Bearer new"));
    *ret =
        (wire_answer){.bytes = fresh && ctx == NULL ? RIG_OK("", "0")
                                                    : RIG_STATUS("401 x", "WWW-Authenticate: Bearer x\r\n")};
}

START_TEST(a_refused_token_is_replaced_once)
{
    static int hopeless;
    wire      *w = wire_start_fn(answer_by_token, _i == 0 ? NULL : &hopeless, NULL);
    vouch((wire_answer[]){{.bytes = token_answer("old", 3600)}, {.bytes = token_answer("new", 3600)}}, 2);
    setenv("MyStore__blobServiceUri", wire_url(w, "/acct"), 1);
    azure_endpoint *e = azure_rig_connect(AZURE_BLOBS, "MyStore");
    azure_request   in = {
          .operation = "blobs_put", .method = STR("PUT"), .path = STR("/c/b"), .body = STR("x"), .once = true};
    azure_got got = azure_rig_call(e, in, 0);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_int_eq(got.means, _i == 0 ? RES_OK : RES_CONFIG);
    ck_assert(!got.doubtful);
    ck_assert_uint_eq(wire_requests(w), 2);
    ck_assert_uint_eq(wire_requests(vouching), 2);
    ck_assert_str_eq(azure_rig_header(w, 0, "Authorization"), "Bearer old");
    ck_assert_str_eq(azure_rig_header(w, 1, "Authorization"), "Bearer new");
    ck_assert_str_eq(azure_rig_header(w, 0, "x-ms-version"), "2021-12-02");
    wire_stop(w);
    stop_vouching();
}
END_TEST

START_TEST(a_token_that_was_replaced_meanwhile_is_not_dropped)
{
    vouch((wire_answer[]){{.bytes = token_answer("old", 3600)}, {.bytes = token_answer("new", 3600)}}, 2);
    token_cache *c = new_cache();
    ck_assert_int_eq(ask_token(c).result, RES_OK);
    unsigned old = c->version;
    token_refused(c, old);
    ck_assert_str_eq(ask_token(c).got, "Bearer new");
    token_refused(c, old); /* a second caller, who used the old one as well */
    ck_assert_str_eq(ask_token(c).got, "Bearer new");
    ck_assert_uint_eq(wire_requests(vouching), 2);
    stop_vouching();
}
END_TEST

/* ---- memory ---- */

static res get_alone(task *t, void *ctx)
{
    str      value;
    unsigned version;
    return token_get(t, ctx, &value, &version);
}

START_TEST(a_token_survives_every_failing_allocation_of_who_fetches_it)
{
    vouch_one(token_answer("one", 3600));
    token_cache *c = new_cache();
    long         nth = 1;
    for (;; nth++) {
        token_refused(c, c->version);
        c->failed = RES_OK;
        arena_fail_at(nth);
        res  r = rig_run(get_alone, c, 0);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert(!c->busy);
        if (pending)
            break;
        ck_assert_int_eq(r, RES_MEMORY);
    }
    ck_assert_int_gt(nth, 10);
    ck_assert_str_eq(ask_token(c).got, "Bearer one");
    stop_vouching();
}
END_TEST

Suite *suite_azure_token(void)
{
    Suite *s = suite_create("azure_token");
    TCase *c = tcase_create("token");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_token_is_renewed_from_two_minutes_before_its_end_on, 0, 2);
    tcase_add_test(c, a_renewal_that_fails_is_tried_once_a_while_and_the_old_token_serves);
    tcase_add_test(c, without_a_token_failures_are_spaced_too_and_say_why);
    tcase_add_test(c, one_attempt_serves_all_who_wait);
    tcase_add_test(c, one_failure_is_shared_by_all_who_wait);
    tcase_add_test(c, when_the_one_who_fetches_leaves_another_takes_over);
    tcase_add_loop_test(c, a_refused_token_is_replaced_once, 0, 2);
    tcase_add_test(c, a_token_that_was_replaced_meanwhile_is_not_dropped);
    tcase_add_test(c, a_token_survives_every_failing_allocation_of_who_fetches_it);
    suite_add_tcase(s, c);
    suite_add_tcase(s, token_cases_identity());
    return s;
}
