/* test_azure_restart.c -- the service dies under load and comes back.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "live/live.h"

enum {
    CLIENTS = 16,
    CALL_DEADLINE_MS = 2000,
    SLACK_MS = 4000, /* a call may be late by what a busy machine takes to notice */
    UP_MS = 500,
    DOWN_MS = 3000,
    BACK_LIMIT_MS = 60 * 1000,
};

typedef struct {
    table    in;
    bool     stop;
    unsigned running, good, bad, strange, late;
    unsigned good_of[CLIENTS]; /* since the counters were last cleared */
} load;

typedef struct {
    load    *all;
    size_t   n;
    uint64_t began_us;
} client_of;

static void next_call(client_of *c);

static res one_call(task *t, void *ctx)
{
    client_of *c = ctx;
    entity     e = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%zu", c->n));
    TRY(tables_upsert_replace(t, c->all->in, &e));
    return tables_get(t, c->all->in, e.partition, e.row, &e);
}

/* Right after the restart the table is missing, and the row between a write and a read is, too. */
static bool is_clean_failure(res r)
{
    return r == RES_UNREACHABLE || r == RES_TIMEOUT || r == RES_UNAVAILABLE || r == RES_UPSTREAM ||
           r == RES_NOT_FOUND;
}

static void call_ended(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    client_of *c = ctx;
    load      *l = c->all;
    l->late += clock_mono_us() - c->began_us > (CALL_DEADLINE_MS + SLACK_MS) * UINT64_C(1000);
    l->good += result == RES_OK;
    l->good_of[c->n] += result == RES_OK;
    l->bad += result != RES_OK;
    l->strange += result != RES_OK && !is_clean_failure(result);
    l->running--;
    next_call(c);
}

static void next_call(client_of *c)
{
    if (c->all->stop)
        return;
    task_spec spec = {.name = "client", .deadline_ms = CALL_DEADLINE_MS, .memory_bytes = MIB};
    c->began_us = clock_mono_us();
    if (task_start(&spec, one_call, call_ended, c, NULL) == RES_OK)
        c->all->running++;
}

static bool all_good(const load *l)
{
    for (int n = 0; n < CLIENTS; n++)
        if (l->good_of[n] == 0)
            return false;
    return true;
}

static res run_load(task *t, void *ctx)
{
    azurite  *a = ctx;
    load     *l = arena_one(t->arena, load);
    client_of clients[CLIENTS];
    l->in = live_table();
    for (size_t n = 0; n < CLIENTS; n++) {
        clients[n] = (client_of){.all = l, .n = n};
        next_call(&clients[n]);
    }
    OK(task_sleep(t, UP_MS));
    while (!all_good(l)) /* the deadline of this task is the limit */
        OK(task_sleep(t, 20));

    azurite_kill(a);
    OK(task_sleep(t, 200)); /* what was on its way has arrived */
    unsigned good_before = l->good, bad_before = l->bad;
    OK(task_sleep(t, DOWN_MS));
    ck_assert_uint_gt(l->bad, bad_before);
    ck_assert_uint_eq(l->good, good_before);

    azurite_launch(a);
    while (!azurite_listens(a))
        OK(task_sleep(t, 20));
    for (int n = 0; n < CLIENTS; n++)
        l->good_of[n] = 0;
    uint64_t until = clock_mono_us() + BACK_LIMIT_MS * UINT64_C(1000);
    while (!all_good(l)) {
        OK(task_sleep(t, 20));
        ck_assert_msg(clock_mono_us() < until, "not every client has recovered");
    }
    l->stop = true;
    while (l->running > 0)
        OK(task_sleep(t, 20));
    ck_assert_uint_eq(l->strange, 0);
    ck_assert_uint_eq(l->late, 0);
    return RES_OK;
}

/* STORE-44 */
START_TEST(calls_fail_cleanly_while_it_is_down_and_succeed_again_afterwards)
{
    azurite *mine = azurite_start(&(azurite_spec){.tls = false}); /* the shared one is not ours to kill */
    ck_assert_ptr_nonnull(mine);
    live_run_on(live_options_of(mine), run_load, mine, LIVE_DEADLINE_MS);
    azurite_stop(mine);
}
END_TEST

static Suite *suite_azure_restart(void)
{
    Suite *s = suite_create("azure_restart");
    TCase *c = live_case("azure_restart");
    tcase_add_test(c, calls_fail_cleanly_while_it_is_down_and_succeed_again_afterwards);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {{"live_azure_restart", suite_azure_restart}};
    return live_azure_main(&(azurite_spec){.tls = false}, suites, 1, argc, argv);
}
