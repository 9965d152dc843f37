/* test_worker.c -- jobs for threads with a queue.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/worker.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

enum { MANY = 200 };

static struct {
    atomic_uint batches, jobs, largest;
    sem_t       hold;
    bool        held; /* the threads wait for `hold` before each batch */
} seen;

typedef struct {
    atomic_bool done;
    res         result;
    worker     *w;
} job;

static void run_jobs(void *ctx, unsigned thread, void *const *jobs, size_t count)
{
    ck_assert_ptr_eq(ctx, &seen);
    ck_assert_uint_lt(thread, 2);
    if (seen.held)
        (void)sem_wait(&seen.hold);
    atomic_fetch_add(&seen.batches, 1);
    atomic_fetch_add(&seen.jobs, (unsigned)count);
    if (count > atomic_load(&seen.largest))
        atomic_store(&seen.largest, (unsigned)count);
    for (size_t i = 0; i < count; i++)
        ((job *)jobs[i])->done = true;
}

static worker *begin(unsigned threads, size_t batch_max, size_t queue_max, bool held)
{
    seen.batches = seen.jobs = seen.largest = 0;
    seen.held = held;
    ck_assert_int_eq(sem_init(&seen.hold, 0, 0), 0);
    ck_assert_int_eq(loop_open(), RES_OK);
    worker_options o = {.name = "test",
                        .threads = threads,
                        .batch_max = batch_max,
                        .queue_max = queue_max,
                        .run = run_jobs,
                        .ctx = &seen};
    worker        *w = worker_new(&o);
    ck_assert_ptr_nonnull(w);
    return w;
}

static void end(worker *w)
{
    loop_run();
    worker_free(w);
    loop_close();
    (void)sem_destroy(&seen.hold);
}

static res give(task *t, void *ctx)
{
    job *j = ctx;
    j->result = worker_do(t, j->w, j);
    return j->result;
}

static void start(job *j, worker *w, uint64_t deadline_ms)
{
    *j = (job){.w = w, .result = RES_COUNT};
    task_spec spec = {.name = "test", .deadline_ms = deadline_ms};
    ck_assert_int_eq(task_start(&spec, give, NULL, j, NULL), RES_OK);
}

static res let_go(task *t, void *ctx)
{
    res r = task_sleep(t, 20);
    for (unsigned i = 0; i < *(unsigned *)ctx; i++)
        (void)sem_post(&seen.hold);
    return r;
}

START_TEST(every_job_is_done_once)
{
    worker *w = begin(2, 8, MANY, false);
    job     all[MANY];
    for (int i = 0; i < MANY; i++)
        start(&all[i], w, 0);
    end(w);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(all[i].result, RES_OK);
        ck_assert(all[i].done);
    }
    ck_assert_uint_eq(seen.jobs, MANY);
    ck_assert_uint_le(seen.largest, 8);
}
END_TEST

START_TEST(jobs_that_wait_together_are_taken_together)
{
    worker  *w = begin(1, WORKER_BATCH_MAX, MANY, true);
    unsigned posts = 2;
    job      all[MANY];
    for (int i = 0; i < MANY; i++)
        start(&all[i], w, 0);
    ck_assert_int_eq(task_start(&(task_spec){.name = "go"}, let_go, NULL, &posts, NULL), RES_OK);
    end(w);
    ck_assert_uint_le(seen.batches, 2); /* the first may have been taken alone */
    ck_assert_uint_eq(seen.jobs, MANY);
}
END_TEST

START_TEST(a_full_queue_refuses)
{
    worker  *w = begin(1, 1, 1, true);
    unsigned posts = 3, refused = 0;
    job      all[3];
    for (int i = 0; i < 3; i++)
        start(&all[i], w, 0);
    ck_assert_int_eq(task_start(&(task_spec){.name = "go"}, let_go, NULL, &posts, NULL), RES_OK);
    end(w);
    for (int i = 0; i < 3; i++)
        refused += all[i].result == RES_UNAVAILABLE && !all[i].done;
    ck_assert_uint_ge(refused, 1); /* one runs, one waits; which was first is the threads' affair */
    ck_assert_uint_eq(seen.jobs, 3 - refused);
}
END_TEST

START_TEST(a_cancelled_job_that_nobody_took_is_not_done)
{
    worker  *w = begin(1, 1, 8, true);
    unsigned posts = 2;
    job      first, second;
    start(&first, w, 0);
    start(&second, w, 5);
    ck_assert_int_eq(task_start(&(task_spec){.name = "go"}, let_go, NULL, &posts, NULL), RES_OK);
    end(w);
    ck_assert_int_eq(first.result, RES_OK);
    ck_assert_int_eq(second.result, RES_TIMEOUT);
    ck_assert(!second.done);
}
END_TEST

START_TEST(a_cancelled_job_that_was_taken_is_waited_for)
{
    worker  *w = begin(1, 1, 8, true);
    unsigned posts = 1;
    job      only;
    start(&only, w, 5);
    ck_assert_int_eq(task_start(&(task_spec){.name = "go"}, let_go, NULL, &posts, NULL), RES_OK);
    end(w);
    ck_assert_int_eq(only.result, RES_TIMEOUT);
    ck_assert(only.done);
}
END_TEST

START_TEST(a_worker_without_jobs_does_not_keep_the_loop)
{
    end(begin(2, 8, 8, false));
    ck_assert_uint_eq(seen.jobs, 0);
}
END_TEST

Suite *suite_worker(void)
{
    Suite *s = suite_create("worker");
    TCase *c = tcase_create("worker");
    tcase_add_test(c, every_job_is_done_once);
    tcase_add_test(c, jobs_that_wait_together_are_taken_together);
    tcase_add_test(c, a_full_queue_refuses);
    tcase_add_test(c, a_cancelled_job_that_nobody_took_is_not_done);
    tcase_add_test(c, a_cancelled_job_that_was_taken_is_waited_for);
    tcase_add_test(c, a_worker_without_jobs_does_not_keep_the_loop);
    suite_add_tcase(s, c);
    return s;
}
