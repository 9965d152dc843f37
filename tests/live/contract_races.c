/* contract_races.c -- many at once: nothing is lost, nothing is done twice, and who leaves leaves nothing
 * behind.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>

#include "live/contract.h"
#include "live/live.h"
#include "storage/update.h"

enum { LOOPS = 40, RIVALS = 20, CROWD = 64 };

/* ---- STORE-18 ---- */

static res add_one(task *t, entity *e, bool is_new, void *ctx)
{
    (void)t, (void)is_new;
    ++*(unsigned *)ctx;
    entity_set_int64(e, "n", entity_int(e, "n", 0) + 1);
    return RES_OK;
}

typedef struct {
    table    in;
    unsigned calls, won, lost;
} race;

static res read_modify_write(task *t, size_t i, void *ctx)
{
    race *r = ctx;
    (void)i;
    return update_entity(t, r->in, STR("p"), STR("counter"), add_one, &r->calls, NULL);
}

LIVE_TEST(forty_concurrent_updates_add_up_to_forty)
{
    race   r = {.in = live_table()};
    entity e;
    OK(par_each(t, LOOPS, LOOPS, read_modify_write, &r));
    OK(tables_get(t, r.in, STR("p"), STR("counter"), &e));
    ck_assert_int_eq(entity_int(&e, "n", 0), LOOPS);
    ck_assert_uint_gt(r.calls, LOOPS); /* else they never met, and nothing was tried */
}

static res insert_the_same(task *t, size_t i, void *ctx)
{
    race  *r = ctx;
    entity e = entity_new(t->arena, STR("p"), STR("r"));
    entity_set_int64(&e, "n", (int64_t)i);
    res got = tables_insert(t, r->in, &e);
    r->won += got == RES_OK;
    r->lost += got == RES_CONFLICT;
    task_forget(t);
    return RES_OK;
}

LIVE_TEST(of_twenty_inserts_of_one_row_one_wins)
{
    race r = {.in = live_table()};
    OK(par_each(t, RIVALS, RIVALS, insert_the_same, &r));
    ck_assert_uint_eq(r.won, 1);
    ck_assert_uint_eq(r.lost, RIVALS - 1);
}

static res replace_with_the_same_etag(task *t, size_t i, void *ctx)
{
    race  *r = ctx;
    entity e = entity_new(t->arena, STR("p"), STR("r"));
    entity_set_int64(&e, "n", (int64_t)i);
    entity *first = arena_one(t->arena, entity);
    res     got = tables_get(t, r->in, STR("p"), STR("r"), first);
    ck_assert_int_eq(got, RES_OK);
    TRY(task_sleep(t, 100)); /* all have read it by then, or lose */
    got = tables_replace(t, r->in, &e, first->etag);
    r->won += got == RES_OK;
    r->lost += got == RES_PRECONDITION;
    task_forget(t);
    return RES_OK;
}

LIVE_TEST(of_twenty_conditional_writes_with_one_etag_one_wins)
{
    race   r = {.in = live_table()};
    entity e = entity_new(t->arena, STR("p"), STR("r"));
    OK(tables_insert(t, r.in, &e));
    OK(par_each(t, RIVALS, RIVALS, replace_with_the_same_etag, &r));
    ck_assert_uint_ge(r.won, 1);
    ck_assert_uint_eq(r.won + r.lost, RIVALS);
}

/* ---- first use by many ---- */

typedef struct {
    table     rows;
    container blobs;
    queue     messages;
} places;

static res use_all_three(task *t, size_t i, void *ctx)
{
    const places *p = ctx;
    str           name = arena_strf(t->arena, "n%zu", i);
    entity        e = entity_new(t->arena, STR("p"), name);
    TRY(tables_insert(t, p->rows, &e));
    TRY(blobs_put(t, p->blobs, name, STR("x"), &(blob_put){0}, NULL));
    return queues_put(t, p->messages, STR("x"), 0, 0, NULL);
}

LIVE_TEST(twenty_first_users_of_what_is_missing_all_succeed)
{
    places      p = {.rows = live_table(), .blobs = live_container(), .messages = live_queue()};
    entity_page page;
    blob_page   list;
    uint64_t    about;
    OK(par_each(t, RIVALS, RIVALS, use_all_three, &p));
    OK(tables_query(t, p.rows, &(table_query){0}, &page));
    OK(blobs_list(t, p.blobs, STR(""), '\0', 100, STR(""), &list));
    OK(queues_count(t, p.messages, &about));
    ck_assert_uint_eq(page.len, RIVALS);
    ck_assert_uint_eq(list.len, RIVALS);
    ck_assert_uint_eq(about, RIVALS);
}

/* ---- messages go to one receiver each ---- */

typedef struct {
    queue    in;
    unsigned seen[CROWD];
} drain;

static res receive_some(task *t, size_t i, void *ctx)
{
    (void)i;
    drain         *d = ctx;
    queue_message *got;
    size_t         count;
    do {
        TRY(queues_receive(t, d->in, 5, 3600, &got, &count));
        for (size_t k = 0; k < count; k++) {
            uint64_t n = CROWD;
            ck_assert(str_to_u64(got[k].body, &n) && n < CROWD);
            d->seen[n]++;
            TRY(queues_remove(t, d->in, got[k].id, got[k].receipt));
        }
    } while (count > 0);
    return RES_OK;
}

static res put_number(task *t, size_t i, void *ctx)
{
    drain *d = ctx;
    return queues_put(t, d->in, arena_strf(t->arena, "%zu", i), 0, 0, NULL);
}

LIVE_TEST(eight_receivers_share_the_messages)
{
    drain d = {.in = live_queue()};
    OK(par_each(t, CROWD, 8, put_number, &d));
    OK(par_each(t, 8, 8, receive_some, &d));
    for (int n = 0; n < CROWD; n++)
        ck_assert_uint_eq(d.seen[n], 1);
}

/* ---- STORE-48 ---- */

typedef struct {
    places   *at;
    size_t    n;
    task     *task;
    res       result;
    unsigned *running;
    bool      tried;
} visitor;

static res visit(task *t, void *ctx)
{
    visitor *v = ctx;
    blob_got got;
    v->tried = true;
    TRY(use_all_three(t, v->n, v->at));
    TRY(blobs_get(t, v->at->blobs, arena_strf(t->arena, "n%zu", v->n), &(blob_get){0}, &got));
    return tables_remove(t, v->at->rows, STR("p"), arena_strf(t->arena, "n%zu", v->n), ETAG_ANY);
}

static void visited(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    visitor *v = ctx;
    v->result = result;
    v->task = NULL;
    --*v->running;
}

static unsigned open_files(void)
{
    unsigned n = 0;
    DIR     *d = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(d);
    while (readdir(d) != NULL)
        n++;
    (void)closedir(d);
    return n;
}

LIVE_TEST(sixty_four_at_once_and_half_of_them_leave)
{
    places   at = {.rows = live_table(), .blobs = live_container(), .messages = live_queue()};
    unsigned running = CROWD, files = open_files();
    visitor *all = arena_array(t->arena, visitor, CROWD);
    for (size_t n = 0; n < CROWD; n++) {
        all[n] = (visitor){.at = &at, .n = n, .running = &running};
        task_spec spec = {.name = "visitor", .memory_bytes = 4 * MIB, .deadline_ms = 60 * 1000};
        OK(task_start(&spec, visit, visited, &all[n], &all[n].task));
    }
    for (size_t n = 1; n < CROWD; n += 2) { /* each in another state of its work */
        OK(task_sleep(t, n % 3));
        if (all[n].task != NULL)
            task_cancel(all[n].task, RES_GONE);
    }
    while (running > 0)
        OK(task_sleep(t, 5));
    ck_assert_uint_eq(task_count(), 1);
    for (size_t n = 0; n < CROWD; n++) {
        ck_assert(all[n].tried || n % 2 == 1);
        ck_assert(all[n].result == RES_OK || (n % 2 == 1 && all[n].result == RES_GONE));
    }
    ck_assert_uint_le(open_files(), files + 3 * CROWD + 8); /* one connection each, to three services */
    entity e = entity_new(t->arena, STR("after"), STR("all"));
    OK(tables_insert(t, at.rows, &e)); /* and everything still works */
}

Suite *suite_races(void)
{
    Suite *s = suite_create("races");
    TCase *c = live_case("races");
    tcase_add_test(c, forty_concurrent_updates_add_up_to_forty);
    tcase_add_test(c, of_twenty_inserts_of_one_row_one_wins);
    tcase_add_test(c, of_twenty_conditional_writes_with_one_etag_one_wins);
    tcase_add_test(c, twenty_first_users_of_what_is_missing_all_succeed);
    tcase_add_test(c, eight_receivers_share_the_messages);
    tcase_add_test(c, sixty_four_at_once_and_half_of_them_leave);
    suite_add_tcase(s, c);
    return s;
}
