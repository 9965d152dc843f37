/* test_actions_cache.c -- copies of records in Redis: what two instances see, whatever becomes of Redis.
 *
 * Limits are long here, for machines are busy; those that are about the limit itself set it back.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "domain/actions/cache_fence.h"
#include "domain/actions/settings.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/rig.h"
#include "runtime/background.h"
#include "runtime/redis.h"
#include "support/process.h"
#include "support/redis.h"

enum { PATIENT_MS = 20 * 1000, TRIES_MAX = 200 };

static redis_server *server;

static void use_redis(const char *password)
{
    server = redis_server_start(password);
    ck_assert_int_eq(setenv("ACTIONS_REDIS_URL", redis_server_url(server), 1), 0);
    settings_forget_for_test();
    cache_set_limit_for_test(PATIENT_MS);
}

static void leave_redis(void)
{
    redis_server_stop(server);
}

static str payload_of(const got *g)
{
    return rig_text(g, "v");
}

static got upsert(task *t, const char *value)
{
    return rig_post(t, "/api/ActionsUpsert",
                    str_of(textf("{\"owner\":\"o\",\"name\":\"n\",\"v\":\"%s\"}", value)));
}

static void expect_upserted(task *t, const char *value)
{
    got g = upsert(t, value);
    ck_assert_msg(g.status == 200 || g.status == 201, "%d", g.status);
}

static void expect_value(task *t, const char *value)
{
    got g = rig_get(t, "/api/actions/o/n");
    ck_status(g, 200);
    ck_str_eq(payload_of(&g), str_of(value));
}

/* ---- over the socket ---- */

/* ACT-64. */
RIG_TEST(the_second_get_makes_no_table_read_and_an_upsert_is_seen_by_the_next_get)
{
    use_redis("pass-word/1");
    expect_upserted(t, "one");
    expect_value(t, "one");
    OK(tables_remove(t, settings_get()->records, STR("o"), STR("n"), ETAG_ANY)); /* behind the cache's back */
    expect_value(t, "one");
    expect_upserted(t, "two"); /* reads the table: the row is gone, so it is new */
    expect_value(t, "two");
    leave_redis();
}

/* ACT-64. */
RIG_TEST(a_record_that_was_missing_is_found_right_after_it_was_made)
{
    use_redis(NULL);
    for (int k = 0; k < 2; k++) {
        got g = rig_get(t, "/api/actions/o/n");
        ck_status(g, 404);
    }
    expect_upserted(t, "one");
    expect_value(t, "one");
    leave_redis();
}

/* ACT-64. */
RIG_TEST(an_upsert_reads_the_table_also_when_there_is_a_copy)
{
    use_redis(NULL);
    expect_upserted(t, "one");
    expect_value(t, "one");
    OK(tables_remove(t, settings_get()->records, STR("o"), STR("n"), ETAG_ANY));
    got g = upsert(t, "one");
    ck_status(g, 201);
    leave_redis();
}

/* A writer that was stopped between its write and its drop has left the copy behind; whoever then
 * acknowledges that write must have dropped it. */
RIG_TEST(a_record_that_is_acknowledged_as_unchanged_is_what_the_next_get_sees)
{
    static const char *const bodies[] = {"{\"owner\":\"o\",\"name\":\"n\",\"v\":\"one\"}",
                                         "[{\"owner\":\"o\",\"name\":\"n\",\"v\":\"one\"}]"};
    static const char *const paths[] = {"/api/ActionsUpsert", "/api/ActionsUpsert/batch"};
    entity                   e;
    use_redis(NULL);
    expect_upserted(t, "one");
    OK(tables_get(t, settings_get()->records, STR("o"), STR("n"), &e));
    expect_upserted(t, "two");
    expect_value(t, "two");
    OK(tables_replace(t, settings_get()->records, &e, ETAG_ANY)); /* the stopped writer */
    expect_value(t, "two");                                       /* the copy it has left behind */
    got g = rig_post(t, paths[i], str_of(bodies[i]));
    ck_status(g, 200);
    expect_value(t, "one");
    leave_redis();
}

/* ACT-64. */
RIG_TEST(redis_stopped_or_killed_changes_no_answer)
{
    use_redis(NULL);
    expect_upserted(t, "one");
    expect_value(t, "one");
    cache_set_limit_for_test(0);
    redis_server_freeze(server);
    for (int k = 0; k < 5; k++)
        expect_value(t, "one");
    expect_upserted(t, "two");
    expect_value(t, "two");
    redis_server_kill(server);
    expect_value(t, "two");
    expect_upserted(t, "three");
    expect_value(t, "three");
    leave_redis();
}

/* ACT-64. */
RIG_TEST(copies_from_an_old_dump_are_not_served_after_a_restart)
{
    use_redis(NULL);
    redis *r;
    expect_upserted(t, "one");
    expect_value(t, "one");
    ck_assert_int_eq(redis_open(str_of(redis_server_url(server)), &r), RES_OK);
    const str save[] = {STR("SAVE")};
    OK(redis_call(t, r, save, 1, PATIENT_MS, NULL));
    expect_upserted(t, "two");
    redis_server_kill(server);
    redis_server_launch(server);
    for (int k = 0; k < 20; k++) {
        expect_value(t, "two");
        OK(task_sleep(t, 20));
    }
    leave_redis();
}

/* ---- the lease ---- */

static cache_lease miss(task *t)
{
    cache_lease lease;
    str         text;
    ck_assert_int_eq(cache_get(t, STR("o"), STR("n"), &text, &lease), CACHE_MISS);
    ck_assert_uint_eq(str_of(lease.lease).len, 32);
    return lease;
}

static cache_found look(task *t, str *ret)
{
    cache_lease lease;
    return cache_get(t, STR("o"), STR("n"), ret, &lease);
}

static void drop(task *t)
{
    cache_drop(t, &(cache_key){STR("o"), STR("n")}, 1);
}

RIG_TEST(a_fill_counts_only_while_nothing_was_dropped_since_the_lease)
{
    use_redis(NULL);
    str         text = {0};
    cache_lease early = miss(t);
    drop(t);
    cache_fill(t, STR("o"), STR("n"), &early, STR("old"));
    cache_lease later = miss(t);
    cache_fill(t, STR("o"), STR("n"), &early, STR("old"));
    ck_assert_int_eq(look(t, &text), CACHE_MISS);
    cache_fill(t, STR("o"), STR("n"), &later, STR("new"));
    ck_assert_int_eq(look(t, &text), CACHE_HIT);
    ck_str_eq(text, STR("new"));
    drop(t);
    later = miss(t);
    cache_fill_absent(t, STR("o"), STR("n"), &later);
    ck_assert_int_eq(look(t, &text), CACHE_ABSENT);
    drop(t);
    (void)miss(t);
    leave_redis();
}

RIG_TEST(keys_with_colons_are_not_taken_for_each_other)
{
    use_redis(NULL);
    cache_lease lease;
    str         text;
    ck_assert_int_eq(cache_get(t, STR("a:b"), STR("c"), &text, &lease), CACHE_MISS);
    cache_fill(t, STR("a:b"), STR("c"), &lease, STR("x"));
    ck_assert_int_eq(cache_get(t, STR("a"), STR("b:c"), &text, &lease), CACHE_MISS);
    ck_assert_int_eq(cache_get(t, STR("a:b"), STR("c"), &text, &lease), CACHE_HIT);
    leave_redis();
}

RIG_TEST(documents_live_until_their_time_and_without_redis_there_are_none)
{
    str text;
    ck_assert(!cache_document_get(t, STR("search:x"), &text));
    cache_document_put(t, STR("search:x"), STR("{}"), 300);
    use_redis(NULL);
    ck_assert(!cache_document_get(t, STR("search:x"), &text));
    cache_document_put(t, STR("search:x"), STR("{}"), 300);
    ck_assert(cache_document_get(t, STR("search:x"), &text));
    ck_str_eq(text, STR("{}"));
    leave_redis();
}

/* ---- the fence ---- */

RIG_TEST(a_failed_drop_closes_the_cache_for_all_until_it_was_made_up_for)
{
    use_redis(NULL);
    str         text;
    entity_page page;
    cache_lease lease = miss(t);
    cache_fill(t, STR("o"), STR("n"), &lease, STR("old"));
    ck_assert_int_eq(look(t, &text), CACHE_HIT);

    cache_set_limit_for_test(0);
    redis_server_freeze(server);
    uint64_t began = clock_mono_us();
    drop(t);
    ck_assert_uint_ge(clock_mono_us() - began, (uint64_t)FENCE_VALID_MS * 1000);
    table_query q = {.where = filter_prefix(t->arena, "RowKey", STR(FENCE_PREFIX))};
    OK(tables_query(t, settings_get()->records, &q, &page));
    ck_assert_uint_eq(page.len, 1);
    ck_assert_int_eq(look(t, &text), CACHE_MISS);

    redis_server_thaw(server);
    cache_set_limit_for_test(PATIENT_MS);
    cache_found now = CACHE_MISS;
    for (int k = 0; k < TRIES_MAX && now == CACHE_MISS; k++) { /* it opens, and then a fill counts again */
        now = cache_get(t, STR("o"), STR("n"), &text, &lease);
        ck_assert_int_ne(now, CACHE_HIT);
        cache_fill_absent(t, STR("o"), STR("n"), &lease);
        OK(task_sleep(t, 50));
    }
    ck_assert_int_eq(now, CACHE_ABSENT);
    OK(tables_query(t, settings_get()->records, &q, &page));
    ck_assert_uint_eq(page.len, 0);
    leave_redis();
}

RIG_TEST(a_fence_of_another_instance_closes_this_ones_cache_within_its_second)
{
    use_redis(NULL);
    str         text;
    cache_lease lease = miss(t);
    cache_fill(t, STR("o"), STR("n"), &lease, STR("old"));
    ck_assert_int_eq(look(t, &text), CACHE_HIT);
    entity e = entity_new(t->arena, STR("statsCache"), STR(FENCE_PREFIX "of-another"));
    OK(tables_upsert_replace(t, settings_get()->records, &e));
    OK(task_sleep(t, FENCE_VALID_MS));
    ck_assert_int_eq(look(t, &text), CACHE_MISS);
    OK(tables_remove(t, settings_get()->records, e.partition, e.row, ETAG_ANY));
    OK(task_sleep(t, FENCE_VALID_MS));
    ck_assert_int_eq(look(t, &text), CACHE_HIT);
    leave_redis();
}

/* ---- two instances, as processes over one store ---- */

typedef struct {
    atomic_int acked, stop, hits, writes, older;
} shared_history;

static shared_history *history;

static void write_value(task *t, int n)
{
    entity e = entity_new(t->arena, STR("o"), STR("n"));
    entity_set_int32(&e, "N", n);
    OK(tables_upsert_replace(t, settings_get()->records, &e));
    drop(t);
    atomic_store(&history->acked, n);
    atomic_fetch_add(&history->writes, 1);
}

static res write_on(task *t, void *ctx)
{
    (void)ctx;
    for (int n = 2; !atomic_load(&history->stop); n++) {
        write_value(t, n);
        OK(task_sleep(t, 15));
    }
    background_leave();
    return RES_OK;
}

/* What is read must not be older than what was acknowledged before the read began. */
static void read_once(task *t)
{
    int         before = atomic_load(&history->acked);
    str         text = {0};
    cache_lease lease;
    int64_t     n = -1;
    uint64_t    kept;
    entity      e;
    if (cache_get(t, STR("o"), STR("n"), &text, &lease) == CACHE_HIT) {
        ck_assert(str_to_u64(text, &kept));
        n = (int64_t)kept;
        atomic_fetch_add(&history->hits, 1);
    } else {
        OK(tables_get(t, settings_get()->records, STR("o"), STR("n"), &e));
        n = entity_int(&e, "N", -1);
        cache_fill(t, STR("o"), STR("n"), &lease, arena_strf(t->arena, "%lld", (long long)n));
    }
    if (n < before)
        atomic_fetch_add(&history->older, 1);
}

static res read_in_scope(task *t, void *ctx)
{
    (void)ctx;
    read_once(t);
    return RES_OK;
}

static res read_on(task *t, void *ctx)
{
    while (!atomic_load(&history->stop)) {
        OK(task_scope(t, 4 * MIB, read_in_scope, ctx));
        OK(task_sleep(t, 1));
    }
    background_leave();
    return RES_OK;
}

static pid_t start_instance(const char *url, task_fn *fn)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid != 0)
        return pid;
    ck_assert_int_eq(setenv("ACTIONS_REDIS_URL", url, 1), 0);
    settings_forget_for_test();
    background_reset();
    live_run(fn, NULL, LIVE_DEADLINE_MS);
    _exit(EXIT_SUCCESS);
}

static res write_first(task *t, void *ctx)
{
    (void)ctx;
    write_value(t, 1);
    background_leave();
    return RES_OK;
}

static void join(pid_t pid)
{
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static void pause_ms(unsigned ms)
{
    for (uint64_t until = process_now_ms() + ms; process_now_ms() < until;)
        process_pause();
}

static void trouble_redis(void)
{
    for (int k = 0; k < 2; k++) {
        pause_ms(700);
        redis_server_freeze(server);
        pause_ms(600);
        redis_server_thaw(server);
        pause_ms(1500);
        redis_server_kill(server);
        pause_ms(300);
        redis_server_launch(server);
    }
    pause_ms(2500);
}

static void run_history(bool writer_is_cut_off)
{
    if (live_is() != LIVE_AZURE)
        return; /* a store of one process has no second instance */
    ck_assert_int_eq(setenv("ACTIONS_TABLE_NAME", live_name("A"), 1), 0);
    history = mmap(NULL, sizeof *history, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(history, MAP_FAILED);
    use_redis(NULL);
    cache_set_limit_for_test(0);
    const char *good = redis_server_url(server), *none = "redis://127.0.0.1:1";
    join(start_instance(good, write_first));
    pid_t pids[] = {start_instance(good, read_on), start_instance(good, read_on),
                    start_instance(writer_is_cut_off ? none : good, write_on)};
    if (writer_is_cut_off)
        pause_ms(4000);
    else
        trouble_redis();
    atomic_store(&history->stop, 1);
    for (size_t k = 0; k < sizeof pids / sizeof *pids; k++)
        join(pids[k]);
    leave_redis();
    ck_assert_int_eq(atomic_load(&history->older), 0);
    ck_assert_int_gt(atomic_load(&history->writes), 20);
    if (!writer_is_cut_off)
        ck_assert_int_gt(atomic_load(&history->hits), 0);
}

/* ACT-64. */
START_TEST(no_instance_reads_what_is_older_than_the_last_acknowledged_write_while_redis_fails)
{
    run_history(false);
}
END_TEST

/* ACT-64. */
START_TEST(no_instance_reads_what_is_older_than_a_write_of_one_that_cannot_reach_redis)
{
    run_history(true);
}
END_TEST

Suite *suite_actions_cache(void)
{
    Suite *s = suite_create("actions_cache");
    TCase *c = live_case("actions_cache");
    tcase_add_test(c, the_second_get_makes_no_table_read_and_an_upsert_is_seen_by_the_next_get);
    tcase_add_test(c, a_record_that_was_missing_is_found_right_after_it_was_made);
    tcase_add_test(c, an_upsert_reads_the_table_also_when_there_is_a_copy);
    tcase_add_loop_test(c, a_record_that_is_acknowledged_as_unchanged_is_what_the_next_get_sees, 0, 2);
    tcase_add_test(c, redis_stopped_or_killed_changes_no_answer);
    tcase_add_test(c, copies_from_an_old_dump_are_not_served_after_a_restart);
    tcase_add_test(c, a_fill_counts_only_while_nothing_was_dropped_since_the_lease);
    tcase_add_test(c, keys_with_colons_are_not_taken_for_each_other);
    tcase_add_test(c, documents_live_until_their_time_and_without_redis_there_are_none);
    tcase_add_test(c, a_failed_drop_closes_the_cache_for_all_until_it_was_made_up_for);
    tcase_add_test(c, a_fence_of_another_instance_closes_this_ones_cache_within_its_second);
    tcase_add_test(c, no_instance_reads_what_is_older_than_the_last_acknowledged_write_while_redis_fails);
    tcase_add_test(c, no_instance_reads_what_is_older_than_a_write_of_one_that_cannot_reach_redis);
    suite_add_tcase(s, c);
    return s;
}
