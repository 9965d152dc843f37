/* test_update.c -- read, change, write; again when somebody else was faster.
 *
 * Below is a back end of one row, whose ETag is a number. What others do between a read and a write is
 * scripted by `meddle`, which is called before each write.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/update_internal.h"

#include <stdio.h>

#include "runtime/wait.h"
#include "storage/backend.h"
#include "unit/storage/storage_rig.h"
#include "unit/suites.h"

enum { LOOPS = 40, TORTURE_MAX = 400 };

#define TABLE ((table){.store = STORE_MAIN, .name = STR("Scores")})

typedef struct shelf shelf;
struct shelf {
    bool     exists;
    int64_t  points;
    unsigned version, reads, writes;
    res      write_answer; /* RES_OK: as the conditions say */
    void (*meddle)(shelf *s);
    bool slow;
};

static str version_text(arena *a, const shelf *s)
{
    return arena_strf(a, "v%u", s->version);
}

static res shelf_get(void *self, task *t, str name, str partition, str row, const char *const *select,
                     entity *ret)
{
    shelf *s = self;
    (void)name, (void)select;
    s->reads++;
    if (s->slow)
        TRY(task_sleep(t, 0));
    if (!s->exists)
        return task_fail(t, RES_NOT_FOUND, "no such entity");
    *ret = entity_new(t->arena, arena_copy(t->arena, partition), arena_copy(t->arena, row));
    entity_set_int64(ret, "points", s->points);
    ret->etag = version_text(t->arena, s);
    return RES_OK;
}

static res shelf_write(void *self, task *t, str name, const table_write *w)
{
    shelf *s = self;
    (void)name;
    s->writes++;
    if (s->slow)
        TRY(task_sleep(t, 0));
    if (s->meddle != NULL)
        s->meddle(s);
    if (s->write_answer != RES_OK)
        return task_fail(t, s->write_answer, "scripted");
    if (w->kind == WRITE_INSERT && s->exists)
        return task_fail(t, RES_CONFLICT, "it exists");
    if (w->kind == WRITE_REPLACE && !s->exists)
        return task_fail(t, RES_NOT_FOUND, "no such entity");
    if (w->kind == WRITE_REPLACE && !str_eq(w->etag, version_text(t->arena, s)))
        return task_fail(t, RES_PRECONDITION, "another ETag");
    s->exists = true;
    s->points = entity_int(w->e, "points", -1);
    s->version++;
    w->e->etag = version_text(t->arena, s);
    return RES_OK;
}

static const tables_ops shelf_ops = {.get = shelf_get, .write = shelf_write};
static shelf            now;
static backend          shelf_backend = {.tables = &shelf_ops, .tables_self = &now};

static void before(void)
{
    now = (shelf){0};
    store_set_for_test(STORE_MAIN, &shelf_backend);
}

static void after(void)
{
    update_set_wait_for_test(500);
    store_set_for_test(STORE_MAIN, NULL);
}

typedef struct {
    unsigned calls, news;
    res      answer;
    entity   stored;
    int64_t  stored_points;
    char     stored_etag[16];
} adding;

static res add_one(task *t, entity *e, bool is_new, void *ctx)
{
    adding *me = ctx;
    me->calls++;
    me->news += is_new;
    ck_assert(is_new == (e->count == 0));
    ck_assert(str_eq(e->partition, STR("p")) && str_eq(e->row, STR("r")));
    if (me->answer != RES_OK)
        return me->answer == UPDATE_NOTHING ? UPDATE_NOTHING : task_fail(t, me->answer, "not so");
    entity_set_int64(e, "points", entity_int(e, "points", 0) + 1);
    return RES_OK;
}

static res add(task *t, void *ctx)
{
    adding *me = ctx;
    TRY(update_entity(t, TABLE, STR("p"), STR("r"), add_one, me, &me->stored));
    ck_assert_uint_eq(task_message(t).len, 0);
    me->stored_points = entity_int(&me->stored, "points", -1);
    snprintf(me->stored_etag, sizeof me->stored_etag, "%.*s", STR_ARG(me->stored.etag));
    return RES_OK;
}

START_TEST(a_new_entity_is_inserted_and_an_old_one_replaced)
{
    adding me = {0};
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_OK);
    ck_assert_int_eq(now.points, 1);
    ck_assert_uint_eq(me.news, 1);
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_OK);
    ck_assert_int_eq(now.points, 2);
    ck_assert_int_eq(me.stored_points, 2);
    ck_assert_str_eq(me.stored_etag, "v2");
    ck_assert_uint_eq(me.news, 1);
    ck_assert_uint_eq(now.writes, 2);
}
END_TEST

START_TEST(nothing_is_written_when_it_is_fine_as_it_is)
{
    adding me = {.answer = UPDATE_NOTHING};
    now = (shelf){.exists = true, .points = 7};
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_OK);
    ck_assert_uint_eq(now.writes, 0);
    ck_assert_int_eq(me.stored_points, 7);
}
END_TEST

START_TEST(what_the_change_answers_ends_the_update)
{
    adding me = {.answer = RES_DENIED};
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_DENIED);
    ck_assert_str_eq(storage_rig_message(), "not so");
    ck_assert_uint_eq(now.writes, 0);
}
END_TEST

static void insert_first(shelf *s)
{
    if (s->writes == 1)
        s->exists = true, s->points = 10, s->version = 5;
}

static void change_thrice(shelf *s)
{
    if (s->writes <= 3)
        s->points += 10, s->version++;
}

static void delete_first(shelf *s)
{
    if (s->writes == 1)
        s->exists = false;
}

static void change_always(shelf *s)
{
    s->version++;
}

static const struct {
    bool exists;
    void (*meddle)(shelf *s);
    int64_t  points;
    unsigned calls;
} overtaken[] = {
    {false, insert_first, 11, 2},
    {true, change_thrice, 31, 4},
    {true, delete_first, 1, 2},
};

START_TEST(whoever_was_overtaken_reads_again)
{
    adding me = {0};
    now = (shelf){.exists = overtaken[_i].exists, .meddle = overtaken[_i].meddle};
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_OK);
    ck_assert_int_eq(now.points, overtaken[_i].points);
    ck_assert_uint_eq(me.calls, overtaken[_i].calls);
    ck_assert_uint_eq(now.reads, overtaken[_i].calls);
}
END_TEST

START_TEST(it_gives_up_after_the_last_try)
{
    adding me = {0};
    now = (shelf){.exists = true, .meddle = change_always};
    update_set_wait_for_test(0);
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_CONFLICT);
    ck_assert_uint_eq(me.calls, UPDATE_TRIES_MAX);
}
END_TEST

START_TEST(it_ends_at_the_deadline)
{
    adding me = {0};
    now = (shelf){.exists = true, .meddle = change_always};
    ck_assert_int_eq(storage_rig_run(add, &me, 60), RES_TIMEOUT);
    ck_assert_uint_lt(me.calls, UPDATE_TRIES_MAX);
}
END_TEST

/* A write that may have been done is not repeated: the change would be there twice. */
START_TEST(a_write_of_unknown_outcome_is_passed_on)
{
    adding me = {0};
    now = (shelf){.exists = true, .write_answer = RES_UPSTREAM};
    ck_assert_int_eq(storage_rig_run(add, &me, 0), RES_UPSTREAM);
    ck_assert_uint_eq(me.calls, 1);
    ck_assert_str_eq(storage_rig_message(), "scripted");
}
END_TEST

/* The loop's half of STORE-18. */
START_TEST(forty_at_once_end_at_forty)
{
    static adding    each[LOOPS];
    storage_rig_task list[LOOPS];
    now.slow = true;
    for (size_t i = 0; i < LOOPS; i++) {
        each[i] = (adding){0};
        list[i] = (storage_rig_task){.fn = add, .ctx = &each[i]};
    }
    storage_rig_run_all(list, LOOPS);
    for (size_t i = 0; i < LOOPS; i++)
        ck_assert_int_eq(list[i].result, RES_OK);
    ck_assert_int_eq(now.points, LOOPS);
    ck_assert_uint_gt(now.reads, LOOPS); /* or they did not meet at all */
}
END_TEST

START_TEST(it_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TORTURE_MAX);
        adding me = {0};
        now = (shelf){.exists = true, .meddle = change_thrice, .slow = true};
        arena_fail_at(nth);
        res  r = storage_rig_run(add, &me, 0);
        bool all = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, all ? RES_OK : RES_MEMORY);
        if (all)
            break;
    }
}
END_TEST

START_TEST(it_survives_being_cancelled_at_every_wait)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TORTURE_MAX);
        adding me = {0};
        now = (shelf){.exists = true, .meddle = change_thrice, .slow = true};
        wait_cancel_at(nth, RES_GONE);
        res  r = storage_rig_run(add, &me, 0);
        bool all = wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        ck_assert_int_eq(r, all ? RES_OK : RES_GONE);
        if (!all)
            ck_assert_int_lt(now.points, 31);
        else
            break;
    }
}
END_TEST

Suite *suite_update(void)
{
    Suite *s = suite_create("update");
    TCase *c = tcase_create("update");
    tcase_add_checked_fixture(c, before, after);
    tcase_add_test(c, a_new_entity_is_inserted_and_an_old_one_replaced);
    tcase_add_test(c, nothing_is_written_when_it_is_fine_as_it_is);
    tcase_add_test(c, what_the_change_answers_ends_the_update);
    tcase_add_loop_test(c, whoever_was_overtaken_reads_again, 0, sizeof overtaken / sizeof *overtaken);
    tcase_add_test(c, it_gives_up_after_the_last_try);
    tcase_add_test(c, it_ends_at_the_deadline);
    tcase_add_test(c, a_write_of_unknown_outcome_is_passed_on);
    tcase_add_test(c, forty_at_once_end_at_forty);
    tcase_add_test(c, it_survives_every_failing_allocation);
    tcase_add_test(c, it_survives_being_cancelled_at_every_wait);
    suite_add_tcase(s, c);
    return s;
}
