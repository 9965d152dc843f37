/* test_queue_runner.c -- queue functions over a queue in memory: who is deleted, who comes again, who is
 * poisoned, and how many are under way at once.
 *
 * The queue below counts what is asked of it and does what a store would; each of its calls waits a moment,
 * so that it can be cancelled there.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/queue_runner.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "runtime/loop_uv.h"
#include "runtime/queue_job.h"
#include "runtime/wait.h"
#include "unit/suites.h"

enum { MESSAGES_MAX = 100, LOOK_MS = 1, GIVE_UP_LOOKS = 20000 };

typedef struct {
    char     text[32], receipt[32];
    int64_t  dequeued;
    bool     hidden, removed, poisoned, undecodable;
    int      runs, hides;
    unsigned last_hide_s;
} message;

/* The store, and what the handler of the test does. */
static struct {
    message     all[MESSAGES_MAX];
    size_t      count, puts;
    int         receives, failing_receives;
    bool        put_fails;
    handler_fn *act;
    size_t      running, peak;
    uint64_t    sleep_ms;
} box;

static message *find(str id)
{
    uint64_t i = 0;
    ck_assert(str_to_u64(id, &i) && i < box.count);
    return &box.all[i];
}

static res receive(task *t, str name, bool plain, unsigned most, unsigned hide_s, queue_message_info **ret,
                   size_t *ret_count)
{
    (void)plain;
    res r = task_sleep(t, 0);
    if (r != RES_OK)
        return r;
    ck_assert(str_eq(name, STR("work")) && hide_s == QUEUE_HIDE_S);
    box.receives++;
    if (box.failing_receives > 0) {
        box.failing_receives--;
        return task_fail(t, RES_UNREACHABLE, "nobody is there");
    }
    queue_message_info *list = arena_array(t->arena, queue_message_info, most);
    size_t              n = 0;
    for (size_t i = 0; i < box.count && n < most; i++) {
        message *m = &box.all[i];
        if (m->hidden || m->removed || m->poisoned)
            continue;
        m->hidden = true;
        m->dequeued++;
        (void)snprintf(m->receipt, sizeof m->receipt, "r%lld", (long long)m->dequeued);
        list[n++] = (queue_message_info){.id = arena_strf(t->arena, "%zu", i),
                                         .pop_receipt = str_of(m->receipt),
                                         .text = str_of(m->text),
                                         .dequeue_count = m->dequeued,
                                         .undecodable = m->undecodable};
    }
    *ret = list;
    *ret_count = n;
    return RES_OK;
}

/* One that is hidden for a while comes again at once when that is zero, else never: time is the test's. */
static res hide(task *t, str name, bool plain, queue_message_info *m, unsigned hide_s)
{
    (void)name, (void)plain;
    res r = task_sleep(t, 0);
    if (r != RES_OK)
        return r;
    message *mine = find(m->id);
    if (!str_eq(m->pop_receipt, str_of(mine->receipt)))
        return RES_PRECONDITION;
    mine->hides++;
    mine->last_hide_s = hide_s;
    mine->hidden = hide_s > 0;
    (void)snprintf(mine->receipt, sizeof mine->receipt, "h%d", mine->hides);
    m->pop_receipt = arena_copy(t->arena, str_of(mine->receipt));
    return RES_OK;
}

static res drop(task *t, str name, bool plain, const queue_message_info *m)
{
    (void)name, (void)plain;
    res r = task_sleep(t, 0);
    if (r != RES_OK)
        return r;
    if (!str_eq(m->pop_receipt, str_of(find(m->id)->receipt)))
        return RES_PRECONDITION;
    find(m->id)->removed = true;
    return RES_OK;
}

static res poison(task *t, str name, bool plain, const queue_message_info *m)
{
    (void)name, (void)plain;
    res r = task_sleep(t, 0);
    if (r == RES_OK)
        find(m->id)->poisoned = true;
    return r;
}

static res put(task *t, str name, bool plain, str text)
{
    (void)plain, (void)text;
    res r = task_sleep(t, 0);
    if (r != RES_OK)
        return r;
    if (box.put_fails)
        return task_fail(t, RES_UNREACHABLE, "nobody takes it");
    ck_assert(str_eq(name, STR("out")));
    box.puts++;
    return RES_OK;
}

static const queue_source source = {
    .receive = receive, .hide = hide, .remove = drop, .poison = poison, .put = put};

/* ---- the app ---- */

static res act(task *t, const request *in, reply *out)
{
    str id = request_meta_text(in, "Id");
    find(id)->runs++;
    return box.act(t, in, out);
}

static res succeed(task *t, const request *in, reply *out)
{
    (void)t, (void)in;
    return reply_output(out, "out", STR("made"));
}

static res refuse(task *t, const request *in, reply *out)
{
    (void)in, (void)out;
    return task_fail(t, RES_UPSTREAM, "as the test wants it");
}

static res hog(task *t, const request *in, reply *out)
{
    (void)in, (void)out;
    for (int i = 0; i < 1000; i++)
        *(char *)arena_alloc(t->arena, MIB) = 1;
    return RES_OK;
}

static res wait_a_while(task *t, const request *in, reply *out)
{
    (void)in, (void)out;
    box.running++;
    if (box.running > box.peak)
        box.peak = box.running;
    res r = task_sleep(t, box.sleep_ms);
    box.running--;
    return r;
}

static res reply_failure(task *t, const request *in, reply *out)
{
    (void)t, (void)in;
    return reply_text(out, 500, STR("nobody hears this"));
}

static const handler row = {"onwork", act, 60000, 64 * KIB};
static const binding bindings[] = {
    {.type = STR_INIT("queueTrigger"), .name = STR_INIT("msg"), .queue = STR_INIT("work")},
    {.type = STR_INIT("queue"), .name = STR_INIT("out"), .queue = STR_INIT("out"), .output = true},
};

static function      fn;
static function_app  app;
static serve_options options;
static dispatcher    d;
static uv_timer_t    watch;
static int           looks;
static bool          over; /* it came true, if only for a moment */
static bool (*until)(void);

static void begin(handler_fn *what, size_t messages)
{
    memset(&box, 0, sizeof box);
    box.act = what;
    box.count = messages;
    for (size_t i = 0; i < messages; i++)
        (void)snprintf(box.all[i].text, sizeof box.all[i].text, "text %zu", i);
    fn = (function){.name = STR("onwork"),
                    .row = &row,
                    .trigger = TRIGGER_QUEUE,
                    .bindings = bindings,
                    .binding_count = 2,
                    .trigger_binding = &bindings[0]};
    app = (function_app){.all = &fn, .count = 1};
    app.host = (host_settings){.queue_batch = 16,
                               .queue_new_batch_threshold = 8,
                               .queue_max_dequeue = 5,
                               .queue_max_polling_ms = 100};
    options = (serve_options){.queues = &source};
    d = (dispatcher){.a = arena_new(4 * MIB), .app = &app, .o = &options};
    ck_assert_ptr_nonnull(d.a);
}

static void end(void)
{
    arena_free(d.a);
}

static void look(uv_timer_t *h)
{
    over = over || until() || ++looks > GIVE_UP_LOOKS;
    if (over)
        queue_runner_stop(d.queues);
    if (over && task_count() == 0 && !uv_is_closing((uv_handle_t *)h)) {
        queue_runner_close(d.queues);
        uv_close((uv_handle_t *)h, NULL);
    }
}

/* Runs until it is so, then stops as serve does. */
static void run_until(bool (*so)(void))
{
    str error;
    looks = 0;
    over = false;
    until = so;
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(queue_runner_load(d.a, &d, &d.queues, &error), RES_OK);
    ck_assert_ptr_nonnull(d.queues);
    queue_runner_start(d.queues);
    (void)uv_timer_init(loop_uv(), &watch);
    (void)uv_timer_start(&watch, look, LOOK_MS, LOOK_MS);
    loop_run();
    loop_close();
    ck_assert_msg(looks <= GIVE_UP_LOOKS, "it never came true");
}

static bool all_removed(void)
{
    for (size_t i = 0; i < box.count; i++)
        if (!box.all[i].removed)
            return false;
    return true;
}

static bool first_poisoned(void)
{
    return box.all[0].poisoned;
}

static bool first_hidden_again(void)
{
    return box.all[0].hides > 0;
}

/* ---- tests ---- */

START_TEST(a_message_that_ran_is_deleted_and_its_outputs_are_sent)
{
    begin(succeed, 3);
    run_until(all_removed);
    ck_assert_uint_eq(box.puts, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(box.all[i].runs == 1 && box.all[i].hides == 0 && !box.all[i].poisoned);
    end();
}
END_TEST

static handler_fn *const failures[] = {refuse, hog, reply_failure, succeed /* its output is not taken */};

START_TEST(a_message_that_failed_comes_again_after_the_visibility_time)
{
    begin(failures[_i], 1);
    box.put_fails = true;
    app.host.queue_visibility_ms = 29001;
    run_until(first_hidden_again);
    ck_assert_int_eq(box.all[0].runs, 1);
    ck_assert_uint_eq(box.all[0].last_hide_s, 30);
    ck_assert(!box.all[0].removed && !box.all[0].poisoned);
    end();
}
END_TEST

START_TEST(after_its_last_try_it_is_moved_to_poison)
{
    begin(refuse, 1);
    run_until(first_poisoned);
    ck_assert_int_eq(box.all[0].runs, 5);
    ck_assert_int_eq(box.all[0].hides, 4);
    end();
}
END_TEST

/* Processes may die with a message; then nobody has moved it. */
START_TEST(one_that_had_its_tries_already_is_not_run_again)
{
    begin(succeed, 1);
    box.all[0].dequeued = 5;
    run_until(first_poisoned);
    ck_assert_int_eq(box.all[0].runs, 0);
    end();
}
END_TEST

START_TEST(one_that_is_not_base64_is_poisoned_after_its_tries_without_a_run)
{
    begin(succeed, 1);
    box.all[0].undecodable = true;
    run_until(first_poisoned);
    ck_assert_int_eq(box.all[0].runs, 0);
    ck_assert_int_eq(box.all[0].dequeued, 5);
    end();
}
END_TEST

START_TEST(no_more_than_a_batch_and_the_threshold_are_under_way)
{
    begin(wait_a_while, 100);
    box.sleep_ms = 2;
    app.host.queue_batch = 4;
    app.host.queue_new_batch_threshold = 2;
    run_until(all_removed);
    ck_assert_uint_le(box.peak, 6);
    ck_assert_uint_ge(box.peak, 4);
    end();
}
END_TEST

START_TEST(a_queue_that_cannot_be_read_is_tried_again)
{
    begin(succeed, 1);
    box.failing_receives = 2;
    run_until(all_removed);
    ck_assert_int_ge(box.receives, 3);
    end();
}
END_TEST

static bool first_is_under_way(void)
{
    return box.running == 1;
}

/* What was received is finished; what came later stays. */
START_TEST(after_the_stop_nothing_new_is_received)
{
    begin(wait_a_while, 2);
    box.sleep_ms = 20;
    app.host.queue_batch = 1;
    app.host.queue_new_batch_threshold = 0;
    run_until(first_is_under_way);
    ck_assert(box.all[0].removed);
    ck_assert(!box.all[1].removed && box.all[1].runs == 0);
    end();
}
END_TEST

/* ---- staying hidden ---- */

static queue_jobs jobs;

static void no_more(void *ctx)
{
    (void)ctx;
}

static void pass_five_minutes(uv_timer_t *h)
{
    if (box.running == 1 && box.all[0].hides == 0) {
        clock_set_for_test(0, clock_mono_us() + (uint64_t)QUEUE_RENEW_S * 1000000);
        queue_jobs_tick(&jobs);
    }
    if (jobs.count == 0)
        uv_close((uv_handle_t *)h, NULL);
}

START_TEST(a_message_stays_hidden_while_it_runs_and_is_deleted_by_its_new_receipt)
{
    begin(wait_a_while, 1);
    box.sleep_ms = 30;
    clock_set_for_test(0, 1);
    (void)snprintf(box.all[0].receipt, sizeof box.all[0].receipt, "first");
    jobs = (queue_jobs){.d = &d, .fn = &fn, .ended = no_more};
    ck_assert_int_eq(loop_open(), RES_OK);
    queue_message_info m = {
        .id = STR("0"), .pop_receipt = STR("first"), .text = STR("text"), .dequeue_count = 1};
    ck_assert_int_eq(queue_jobs_start(&jobs, &m), RES_OK);
    (void)uv_timer_init(loop_uv(), &watch);
    (void)uv_timer_start(&watch, pass_five_minutes, LOOK_MS, LOOK_MS);
    loop_run();
    loop_close();
    clock_unset_for_test();
    ck_assert_int_ge(box.all[0].hides, 1);
    ck_assert_uint_eq(box.all[0].last_hide_s, QUEUE_HIDE_S);
    ck_assert(box.all[0].removed);
    end();
}
END_TEST

/* ---- torture ---- */

static bool settled_or_tired(void)
{
    return all_removed() || first_poisoned() || looks > 300;
}

/* Whatever fails: a message is deleted only when it was run and its output is sent. */
static void check_nothing_is_lost(void)
{
    if (box.all[0].removed)
        ck_assert(box.all[0].runs > 0 && box.puts > 0);
    ck_assert(!(box.all[0].removed && box.all[0].poisoned));
}

START_TEST(no_failing_allocation_loses_a_message)
{
    for (long nth = 1; nth < 400; nth++) {
        begin(succeed, 1);
        arena_fail_at(nth + 3); /* the runner's own are made before anything is received */
        run_until(settled_or_tired);
        bool reached = !arena_fail_pending();
        arena_fail_at(0);
        check_nothing_is_lost();
        end();
        if (!reached)
            return;
    }
    ck_abort_msg("there is no end of allocations");
}
END_TEST

START_TEST(no_cancelled_wait_loses_a_message)
{
    for (long nth = 1; nth < 100; nth++) {
        begin(succeed, 1);
        wait_cancel_at(nth, RES_TIMEOUT);
        run_until(settled_or_tired);
        bool reached = !wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        check_nothing_is_lost();
        bool removed = box.all[0].removed;
        end();
        if (removed && !reached)
            return;
    }
    ck_abort_msg("there is no end of waits");
}
END_TEST

Suite *suite_queue_runner(void)
{
    Suite *s = suite_create("queue_runner");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, a_message_that_ran_is_deleted_and_its_outputs_are_sent);
    tcase_add_loop_test(tc, a_message_that_failed_comes_again_after_the_visibility_time, 0, 4);
    tcase_add_test(tc, after_its_last_try_it_is_moved_to_poison);
    tcase_add_test(tc, one_that_had_its_tries_already_is_not_run_again);
    tcase_add_test(tc, one_that_is_not_base64_is_poisoned_after_its_tries_without_a_run);
    tcase_add_test(tc, no_more_than_a_batch_and_the_threshold_are_under_way);
    tcase_add_test(tc, a_queue_that_cannot_be_read_is_tried_again);
    tcase_add_test(tc, after_the_stop_nothing_new_is_received);
    tcase_add_test(tc, a_message_stays_hidden_while_it_runs_and_is_deleted_by_its_new_receipt);
    tcase_add_test(tc, no_failing_allocation_loses_a_message);
    tcase_add_test(tc, no_cancelled_wait_loses_a_message);
    suite_add_tcase(s, tc);
    return s;
}
