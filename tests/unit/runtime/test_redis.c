/* test_redis.c -- commands to a real redis-server, and to things that are none.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "runtime/gate.h"
#include "runtime/loop.h"
#include "runtime/wait.h"
#include "support/process.h"
#include "support/redis.h"
#include "support/scratch.h"
#include "unit/suites.h"

enum { ENOUGH_MS = 20 * 1000, SHORT_MS = 50, TASK_MEMORY = 64 * MIB, TRIES_MAX = 400 };

static redis_server *real;
static redis        *r;

/* ---- one task ---- */

static res end_result;

static void on_end(task *t, void *ctx, res result, str message)
{
    (void)t, (void)ctx, (void)message;
    end_result = result;
}

static res run(task_fn *fn, const char *url)
{
    task_spec spec = {.name = "test", .memory_bytes = TASK_MEMORY};
    ck_assert_int_eq(redis_open(str_of(url), &r), RES_OK);
    ck_assert_int_eq(task_start(&spec, fn, on_end, NULL, NULL), RES_OK);
    loop_run();
    return end_result;
}

static void before(void)
{
    ck_assert_int_eq(loop_open(), RES_OK);
}

static void after(void)
{
    redis_shutdown();
    loop_close();
    redis_server_stop(real);
    real = NULL;
}

static res echo(task *t, const char *word, unsigned ms, redis_reply *ret)
{
    const str args[] = {STR("ECHO"), str_of(word)};
    return redis_call(t, r, args, 2, ms, ret);
}

static void expect_echo(task *t, const char *word)
{
    redis_reply got;
    res         result = echo(t, word, ENOUGH_MS, &got);
    str         why = task_message(t);
    ck_assert_msg(result == RES_OK, "%s: %.*s", res_name(result), STR_ARG(why));
    ck_assert_msg(got.kind == REDIS_TEXT && str_eq(got.text, str_of(word)), "'%s' was answered '%.*s'", word,
                  STR_ARG(got.text));
}

/* Until it works again; never longer than a minute. */
static void expect_recovery(task *t)
{
    redis_reply got;
    for (int i = 0; i < TRIES_MAX; i++) {
        if (echo(t, "back", ENOUGH_MS, &got) == RES_OK) {
            ck_assert(str_eq(got.text, STR("back")));
            return;
        }
        task_forget(t);
        ck_assert_int_eq(task_sleep(t, 50), RES_OK);
    }
    ck_abort_msg("it never came back");
}

/* ---- answers ---- */

static res ask_all_kinds(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    const str   set[] = {STR("SET"), STR("k"), {"a\0b\r\n", 5}}, get[] = {STR("GET"), STR("k")};
    const str   none[] = {STR("GET"), STR("nothing")}, incr[] = {STR("INCR"), STR("n")};
    const str   list[] = {STR("EVAL"), STR("return {1, 'two', {3, false}}"), STR("0")};
    ck_assert_int_eq(redis_call(t, r, set, 3, ENOUGH_MS, NULL), RES_OK);
    ck_assert_int_eq(redis_call(t, r, get, 2, ENOUGH_MS, &got), RES_OK);
    ck_assert(got.kind == REDIS_TEXT && str_eq(got.text, (str){"a\0b\r\n", 5}));
    ck_assert_int_eq(redis_call(t, r, none, 2, ENOUGH_MS, &got), RES_OK);
    ck_assert(got.kind == REDIS_NIL);
    ck_assert_int_eq(redis_call(t, r, incr, 2, ENOUGH_MS, &got), RES_OK);
    ck_assert(got.kind == REDIS_NUMBER && got.number == 1);
    ck_assert_int_eq(redis_call(t, r, list, 3, ENOUGH_MS, &got), RES_OK);
    ck_assert(got.kind == REDIS_LIST && got.len == 3 && got.at[0].number == 1);
    ck_assert(str_eq(got.at[1].text, STR("two")) && got.at[2].kind == REDIS_LIST && got.at[2].len == 2);
    ck_assert(got.at[2].at[1].kind == REDIS_NIL);
    ck_assert_uint_eq(redis_run_id(r).len, 40);
    return RES_OK;
}

START_TEST(every_kind_of_answer_arrives_as_it_was_sent)
{
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(ask_all_kinds, redis_server_url(real)), RES_OK);
}
END_TEST

static res ask_wrongly(task *t, void *ctx)
{
    (void)ctx;
    const str wrong[] = {STR("NO-SUCH-COMMAND"), STR("my-key")};
    ck_assert_int_eq(redis_call(t, r, wrong, 2, ENOUGH_MS, NULL), RES_UPSTREAM);
    ck_assert(str_has(task_message(t), STR("ERR")) && !str_has(task_message(t), STR("my-key")));
    expect_echo(t, "still here");

    size_t    bytes = REDIS_COMMAND_MAX;
    char     *large = arena_zalloc(t->arena, bytes);
    const str args[] = {STR("ECHO"), {large, bytes}};
    ck_assert_int_eq(redis_call(t, r, args, 2, ENOUGH_MS, NULL), RES_TOO_LARGE);
    expect_echo(t, "and here");
    return RES_OK;
}

START_TEST(an_error_is_a_result_and_the_connection_goes_on)
{
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(ask_wrongly, redis_server_url(real)), RES_OK);
}
END_TEST

/* ---- many at once ---- */

enum { MANY = 300 };

static res echo_own(task *t, size_t i, void *ctx)
{
    (void)ctx;
    expect_echo(t, arena_cstr(t->arena, arena_strf(t->arena, "word %zu", i)));
    return RES_OK;
}

static res echo_many(task *t, void *ctx)
{
    return par_each(t, MANY, MANY, echo_own, ctx);
}

START_TEST(many_tasks_share_one_connection_and_each_gets_its_own_answer)
{
    metric *opened = metrics_counter("trestle_redis_connections_opened_total", "", "");
    int64_t opened_before = metrics_value(opened);
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(echo_many, redis_server_url(real)), RES_OK);
    ck_assert_int_eq(metrics_value(opened), opened_before + 1);
}
END_TEST

/* ---- credentials ---- */

static res echo_once(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    return echo(t, "hello", ENOUGH_MS, &got);
}

START_TEST(a_password_with_special_characters_opens_the_server)
{
    real = redis_server_start("s3cr:t/@x");
    ck_assert_int_eq(
        run(echo_once, textf("redis://:s3cr%%3At%%2F%%40x@127.0.0.1:%d/3", redis_server_port(real))), RES_OK);
    ck_assert_int_eq(
        run(echo_once, textf("redis://default:s3cr%%3At%%2F%%40x@localhost:%d", redis_server_port(real))),
        RES_OK);
}
END_TEST

static res fail_to_log_in(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    ck_assert_int_eq(echo(t, "hello", ENOUGH_MS, &got), RES_UNREACHABLE);
    ck_assert(!str_has(task_message(t), STR("guessed-wrong")));
    ck_assert(str_has(task_message(t), STR("127.0.0.1")));
    ck_assert_int_eq(echo(t, "hello", ENOUGH_MS, &got),
                     RES_UNAVAILABLE); /* and it is not asked again at once */
    return RES_OK;
}

START_TEST(a_wrong_password_is_a_failure_that_does_not_show_it)
{
    real = redis_server_start("right-one");
    ck_assert_int_eq(
        run(fail_to_log_in, textf("redis://:guessed-wrong@127.0.0.1:%d", redis_server_port(real))), RES_OK);
    ck_assert_int_eq(run(fail_to_log_in, textf("redis://127.0.0.1:%d", redis_server_port(real))), RES_OK);
}
END_TEST

/* ---- slow, stopped, gone ---- */

static res meet_a_frozen_server(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    expect_echo(t, "before");
    redis_server_freeze(real);
    unsigned silent = 0;
    while (echo(t, "late", SHORT_MS, &got) == RES_TIMEOUT && silent < 50)
        silent++;
    ck_assert_uint_eq(silent, 3);

    uint64_t began = clock_mono_us(); /* now it counts as down: the rest costs next to nothing */
    for (int i = 0; i < 10; i++)
        ck_assert_int_ne(echo(t, "refused", ENOUGH_MS, &got), RES_OK);
    ck_assert_uint_lt(clock_mono_us() - began, (uint64_t)ENOUGH_MS * 1000);
    redis_server_thaw(real);
    expect_recovery(t);
    expect_echo(t, "after");
    return RES_OK;
}

START_TEST(a_server_that_says_nothing_costs_three_waits_and_is_used_again_when_it_is_back)
{
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(meet_a_frozen_server, redis_server_url(real)), RES_OK);
}
END_TEST

static res miss_one_answer(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    expect_echo(t, "before");
    redis_server_freeze(real);
    ck_assert_int_eq(echo(t, "late", SHORT_MS, &got), RES_TIMEOUT);
    redis_server_thaw(real);
    expect_echo(t, "after"); /* on the same connection, behind the late one */
    return RES_OK;
}

START_TEST(a_late_answer_is_not_taken_for_the_next_ones)
{
    metric *opened = metrics_counter("trestle_redis_connections_opened_total", "", "");
    int64_t opened_before = metrics_value(opened);
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(miss_one_answer, redis_server_url(real)), RES_OK);
    ck_assert_int_eq(metrics_value(opened), opened_before + 1);
}
END_TEST

static res outlive_the_server(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    expect_echo(t, "before");
    str run_before = arena_copy(t->arena, redis_run_id(r));
    redis_server_kill(real);
    res lost = echo(t, "nobody", ENOUGH_MS, &got);
    ck_assert_msg(lost == RES_UNREACHABLE || lost == RES_UNAVAILABLE, "%s", res_name(lost));
    ck_assert_uint_eq(redis_run_id(r).len, 0);
    redis_server_launch(real);
    expect_recovery(t);
    ck_assert(!str_eq(redis_run_id(r), run_before));
    return RES_OK;
}

START_TEST(a_killed_server_is_a_result_and_a_new_one_is_found_and_known_as_another_run)
{
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(outlive_the_server, redis_server_url(real)), RES_OK);
}
END_TEST

static res lose_an_idle_connection(task *t, void *ctx)
{
    (void)ctx;
    redis *killer;
    ck_assert_int_eq(redis_open(str_of(textf("%s/1", redis_server_url(real))), &killer), RES_OK);
    expect_echo(t, "before");
    const str kill[] = {STR("CLIENT"), STR("KILL"), STR("TYPE"), STR("normal")};
    ck_assert_int_eq(redis_call(t, killer, kill, 4, ENOUGH_MS, NULL), RES_OK);
    ck_assert_int_eq(task_sleep(t, 50), RES_OK);
    expect_echo(t, "at once");
    return RES_OK;
}

START_TEST(an_idle_connection_that_the_server_closed_is_made_anew_without_a_failure)
{
    real = redis_server_start(NULL);
    ck_assert_int_eq(run(lose_an_idle_connection, redis_server_url(real)), RES_OK);
}
END_TEST

static res fail_to_reach(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    res         result = echo(t, "hello", 3000, &got);
    ck_assert_msg(result == RES_UNREACHABLE || result == RES_TIMEOUT, "%s", res_name(result));
    return RES_OK;
}

START_TEST(a_port_without_a_server_and_a_name_without_an_address_are_results)
{
    real = redis_server_start(NULL);
    redis_server_kill(real);
    ck_assert_int_eq(run(fail_to_reach, redis_server_url(real)), RES_OK);
    ck_assert_int_eq(run(fail_to_reach, "redis://no-such-host.invalid"), RES_OK);
}
END_TEST

/* ---- no Redis at all ---- */

#define HELLO REDIS_FAKE_INFO

static const char *const fakes[][3] = {
    {"HTTP/1.1 400 Bad Request\r\n\r\n", NULL, NULL},
    {"", "", ""},
    {HELLO, "hello\r\n", ""},
    {HELLO, "$5\r\nhel", ""},
    {HELLO, "*1000000000\r\n", NULL},
    {HELLO, "*1000000000000000000\r\n", NULL},
    {HELLO, "*2\r\n$1\r\na\r\n", ""},
    {HELLO, "*-2\r\n", NULL},
    {HELLO, "$-7\r\n", NULL},
    {HELLO, "$999999999999999999999\r\n", NULL},
    {HELLO, ":12x\r\n", NULL},
    {HELLO, "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", NULL},
    {HELLO, "-ERR no\r\n", "-ERR no\r\n"},
    {HELLO, ">2\r\n+push\r\n+x\r\n", ""},
    {HELLO, NULL, NULL},
    {"-NOAUTH Authentication required.\r\n", "", ""},
    {"-ERR max number of clients reached\r\n", "", ""},
    {HELLO HELLO HELLO, HELLO, ""},
    {NULL, NULL, NULL},
};

static res meet_nonsense(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    for (int i = 0; i < 5; i++) {
        res result = echo(t, "hello", 300, &got);
        ck_assert_msg(result != RES_OK || got.kind != REDIS_TEXT || !str_eq(got.text, STR("hello")),
                      "an echo?");
        task_forget(t);
        ck_assert_int_eq(task_sleep(t, 30), RES_OK);
    }
    return RES_OK;
}

START_TEST(what_is_no_redis_gives_results_and_never_hangs_or_crashes)
{
    redis_fake *f = redis_fake_start(fakes[_i], 3);
    ck_assert_int_eq(run(meet_nonsense, redis_fake_url(f)), RES_OK);
    redis_shutdown();
    redis_fake_stop(f);
}
END_TEST

static res read_unasked(task *t, void *ctx)
{
    (void)ctx;
    redis_reply got;
    ck_assert_int_eq(echo(t, "one", ENOUGH_MS, &got), RES_OK);
    ck_assert(str_eq(got.text, STR("one")));
    ck_assert_int_eq(task_sleep(t, 20), RES_OK);
    ck_assert_uint_eq(redis_run_id(r).len, 0); /* it is not trusted any further */
    return RES_OK;
}

START_TEST(an_answer_that_nobody_asked_for_ends_the_connection)
{
    static const char *const twice[] = {HELLO, "+one\r\n+two\r\n", ""};
    redis_fake              *f = redis_fake_start(twice, 3);
    ck_assert_int_eq(run(read_unasked, redis_fake_url(f)), RES_OK);
    redis_shutdown();
    redis_fake_stop(f);
}
END_TEST

/* ---- torture ---- */

static long nth;
static bool untouched;

static res echo_with_a_failing_allocation(task *t, void *ctx)
{
    redis_reply got;
    (void)ctx;
    arena_fail_at(nth);
    res result = echo(t, "tortured", ENOUGH_MS, &got);
    untouched = arena_fail_pending();
    arena_fail_at(0);
    return result;
}

static res echo_with_a_cancelled_wait(task *t, void *ctx)
{
    redis_reply got;
    (void)ctx;
    wait_cancel_at(nth, RES_GONE);
    res result = echo(t, "tortured", ENOUGH_MS, &got);
    untouched = wait_cancel_pending();
    wait_cancel_at(0, RES_OK);
    return result;
}

static res echo_twice(task *t, void *ctx)
{
    (void)ctx;
    expect_echo(t, "first");
    expect_echo(t, "second");
    return RES_OK;
}

START_TEST(whatever_allocation_fails_or_wait_is_cancelled_the_next_call_gets_its_own_answer)
{
    static task_fn *const ways[] = {echo_with_a_failing_allocation, echo_with_a_cancelled_wait};
    real = redis_server_start(NULL);
    for (size_t way = 0; way < 2; way++) {
        untouched = false;
        for (nth = 1; !untouched; nth++) {
            ck_assert_int_lt(nth, TRIES_MAX);
            if (nth % 2 == 0)
                redis_shutdown(); /* with a connection to make, and without */
            untouched = false;
            res result = run(ways[way], redis_server_url(real));
            arena_fail_at(0);
            wait_cancel_at(0, RES_OK);
            ck_assert_msg(result == RES_OK || result == RES_MEMORY || result == RES_GONE, "%s",
                          res_name(result));
            ck_assert_int_eq(run(echo_twice, redis_server_url(real)), RES_OK);
        }
    }
}
END_TEST

Suite *suite_redis(void)
{
    Suite *s = suite_create("redis");
    TCase *c = tcase_create("redis");
    tcase_add_checked_fixture(c, before, after);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_kind_of_answer_arrives_as_it_was_sent);
    tcase_add_test(c, an_error_is_a_result_and_the_connection_goes_on);
    tcase_add_test(c, many_tasks_share_one_connection_and_each_gets_its_own_answer);
    tcase_add_test(c, a_password_with_special_characters_opens_the_server);
    tcase_add_test(c, a_wrong_password_is_a_failure_that_does_not_show_it);
    tcase_add_test(c, a_server_that_says_nothing_costs_three_waits_and_is_used_again_when_it_is_back);
    tcase_add_test(c, a_late_answer_is_not_taken_for_the_next_ones);
    tcase_add_test(c, a_killed_server_is_a_result_and_a_new_one_is_found_and_known_as_another_run);
    tcase_add_test(c, an_idle_connection_that_the_server_closed_is_made_anew_without_a_failure);
    tcase_add_test(c, a_port_without_a_server_and_a_name_without_an_address_are_results);
    tcase_add_loop_test(c, what_is_no_redis_gives_results_and_never_hangs_or_crashes, 0,
                        sizeof fakes / sizeof *fakes);
    tcase_add_test(c, an_answer_that_nobody_asked_for_ends_the_connection);
    tcase_add_test(c, whatever_allocation_fails_or_wait_is_cancelled_the_next_call_gets_its_own_answer);
    suite_add_tcase(s, c);
    return s;
}
