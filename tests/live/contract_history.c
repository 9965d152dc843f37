/* contract_history.c -- one key under random concurrent reads and conditional writes is a linearizable
 * register.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/id.h"
#include "live/contract.h"
#include "live/history.h"
#include "live/live.h"

enum { CLIENTS = 6, OPS_EACH = 10, ROUNDS = 8, VALUES_MAX = CLIENTS * OPS_EACH + 1 };

/* ---- the checker itself ---- */

typedef struct {
    const char *what;
    bool        linearizable;
    history_op  ops[4];
    size_t      count;
} known_history;

static const known_history known[] = {
    {"a read sees the insert before it",
     true,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2}, {HISTORY_READ, 1, 0, RES_OK, 3, 4}},
     2},
    {"a read misses the insert before it",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2}, {HISTORY_READ, 0, 0, RES_NOT_FOUND, 3, 4}},
     2},
    {"a read beside the insert may miss it",
     true,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 4}, {HISTORY_READ, 0, 0, RES_NOT_FOUND, 2, 3}},
     2},
    {"two inserts won",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 4}, {HISTORY_INSERT, 2, 0, RES_OK, 2, 3}},
     2},
    {"a lost update",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2},
      {HISTORY_REPLACE, 2, 1, RES_OK, 3, 6},
      {HISTORY_REPLACE, 3, 1, RES_OK, 4, 5}},
     3},
    {"one of two updates lost the race",
     true,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2},
      {HISTORY_REPLACE, 2, 1, RES_OK, 3, 6},
      {HISTORY_REPLACE, 3, 1, RES_PRECONDITION, 4, 5}},
     3},
    {"a refusal for no reason",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2}, {HISTORY_REPLACE, 2, 1, RES_PRECONDITION, 3, 4}},
     2},
    {"new, then old again",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2},
      {HISTORY_UPSERT, 2, 0, RES_OK, 3, 8},
      {HISTORY_READ, 2, 0, RES_OK, 4, 5},
      {HISTORY_READ, 1, 0, RES_OK, 6, 7}},
     4},
    {"removed, then removed again",
     false,
     {{HISTORY_INSERT, 1, 0, RES_OK, 1, 2},
      {HISTORY_REMOVE, 0, 1, RES_OK, 3, 4},
      {HISTORY_REMOVE, 0, 1, RES_OK, 5, 6}},
     3},
};

START_TEST(the_checker_knows_a_register)
{
    const known_history *k = &known[_i];
    ck_assert_msg(history_is_linearizable(k->ops, k->count) == k->linearizable, "%s", k->what);
}
END_TEST

/* ---- random schedules ---- */

typedef struct {
    table      in;
    uint64_t   seed;
    unsigned   clock, values;
    history_op ops[HISTORY_MAX];
    size_t     count;
} round_of;

/* What one client believes to be stored. */
typedef struct {
    str      etag;
    unsigned value;
} belief;

static res write_once(task *t, round_of *r, history_op *op, belief *b)
{
    entity e = entity_new(t->arena, STR("p"), STR("key"));
    op->value = ++r->values;
    entity_set_int32(&e, "v", (int32_t)op->value);
    table_write w = {.e = &e, .kind = op->kind == HISTORY_INSERT ? WRITE_INSERT : WRITE_UPSERT_REPLACE};
    if (op->kind == HISTORY_REPLACE) {
        w.kind = op->value % 2 == 0 ? WRITE_REPLACE : WRITE_MERGE; /* the one property is always named */
        w.etag = b->etag;
        op->expected = b->value;
    }
    res got = tables_write(t, r->in, &w);
    if (got == RES_OK)
        *b = (belief){.etag = e.etag, .value = op->value};
    return got;
}

static res do_one(task *t, round_of *r, history_op *op, belief *b)
{
    entity e;
    if (op->kind == HISTORY_READ) {
        res got = tables_get(t, r->in, STR("p"), STR("key"), &e);
        if (got == RES_OK) {
            op->value = (unsigned)entity_int(&e, "v", 0);
            *b = (belief){.etag = e.etag, .value = op->value};
        }
        return got;
    }
    if (op->kind == HISTORY_REMOVE) {
        op->expected = b->value;
        return tables_remove(t, r->in, STR("p"), STR("key"), b->etag);
    }
    return write_once(t, r, op, b);
}

static history_kind choose(uint64_t random, const belief *b)
{
    static const history_kind kinds[] = {HISTORY_READ,    HISTORY_READ,    HISTORY_READ,   HISTORY_INSERT,
                                         HISTORY_REPLACE, HISTORY_REPLACE, HISTORY_REMOVE, HISTORY_UPSERT};
    history_kind              k = kinds[random % (sizeof kinds / sizeof *kinds)];
    bool                      conditional = k == HISTORY_REPLACE || k == HISTORY_REMOVE;
    return conditional && b->value == 0 ? HISTORY_READ : k; /* it has no ETag yet */
}

static res client(task *t, size_t i, void *ctx)
{
    round_of *r = ctx;
    belief    b = {0};
    uint64_t  random = r->seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (int n = 0; n < OPS_EACH; n++) {
        TRY(task_sleep(t, live_random(&random) % 3));
        history_op *op = &r->ops[r->count++];
        *op = (history_op){.kind = choose(live_random(&random) >> 32, &b), .returned = UINT32_MAX};
        op->called = ++r->clock;
        op->result = do_one(t, r, op, &b);
        op->returned = ++r->clock;
        task_forget(t);
    }
    return RES_OK;
}

LIVE_TEST(one_key_is_a_linearizable_register)
{
    round_of   *r = arena_one(t->arena, round_of);
    const char *fixed = getenv("TRESTLE_HISTORY_SEED"); /* to repeat what a failure printed */
    r->in = live_table();
    id_random(&r->seed, sizeof r->seed);
    r->seed = fixed != NULL ? strtoull(fixed, NULL, 10) : r->seed | 1;
    OK(par_each(t, CLIENTS, CLIENTS, client, r));
    ck_assert_uint_eq(r->count, CLIENTS * OPS_EACH);
    str text = history_text(r->ops, r->count);
    ck_assert_msg(history_is_linearizable(r->ops, r->count), "round %d, TRESTLE_HISTORY_SEED=%llu:\n%.*s", i,
                  (unsigned long long)r->seed, STR_ARG(text));
}

Suite *suite_history(void)
{
    Suite *s = suite_create("history");
    TCase *c = live_case("history");
    tcase_add_loop_test(c, the_checker_knows_a_register, 0, sizeof known / sizeof *known);
    tcase_add_loop_test(c, one_key_is_a_linearizable_register, 0, ROUNDS);
    suite_add_tcase(s, c);
    return s;
}
