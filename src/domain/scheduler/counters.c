/* counters.c -- see counters.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/counters.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "domain/scheduler/places.h"
#include "storage/update.h"

enum { DAY = 10, MONTH = 7, ERROR_SHOWN_MAX = 160, COLUMNS_MAX = 5 };

/* ---- one row ---- */

/* Columns of a row, each with what is added to it; those of a new row begin at zero, all of them. */
typedef struct {
    const char *name;
    int64_t     n;
} column;

typedef struct {
    const column *columns;
    size_t        count;
    str           now;
} addition;

static res add_up(task *t, entity *e, bool is_new, void *ctx)
{
    const addition *a = ctx;
    (void)t, (void)is_new;
    for (size_t i = 0; i < a->count; i++) {
        int64_t sum = entity_int(e, a->columns[i].name, 0) + a->columns[i].n;
        entity_set_int32(e, a->columns[i].name, (int32_t)(sum < 0 ? 0 : sum > INT32_MAX ? INT32_MAX : sum));
    }
    entity_set_str(e, "updatedAt", a->now);
    return RES_OK;
}

static void add_to(task *t, place where, str partition, str row, const column *columns, size_t count)
{
    addition a = {.columns = columns, .count = count, .now = call_now(t->arena)};
    res      r = update_entity(t, place_table(where), partition, row, add_up, &a, NULL);
    if (r == RES_OK)
        return;
    str why = task_message(t), name = place_table(where).name;
    log_error("a count is lost, table %.*s: %s (%.*s)", STR_ARG(name), res_name(r), STR_ARG(why));
    task_forget(t);
}

/* ---- by day ---- */

static const char *const kinds[COUNT_KINDS] = {
    [COUNT_NEW_USERS] = "newUsers",
    [COUNT_NEW_GROUPS] = "newGroups",
    [COUNT_NEW_APPOINTMENTS] = "newAppointments",
    [COUNT_INVITES_SENT] = "invitesSent",
    [COUNT_INVITES_ACCEPTED] = "invitesAccepted",
};

void count_daily(task *t, count_kind kind, int n)
{
    column columns[COUNT_KINDS];
    for (size_t i = 0; i < COUNT_KINDS; i++)
        columns[i] = (column){kinds[i], i == kind ? n : 0};
    str now = call_now(t->arena);
    add_to(t, PLACE_DAILY_METRICS, str_slice(now, 0, MONTH), str_slice(now, 0, DAY), columns, COUNT_KINDS);
}

static res add_day(task *t, const entity *e, void *ctx)
{
    month_counts *sum = ctx;
    (void)t;
    for (size_t i = 0; i < COUNT_KINDS; i++)
        sum->of[i] += entity_int(e, kinds[i], 0);
    sum->days++;
    return RES_OK;
}

res month_read(task *t, str month, month_counts *ret)
{
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, month)};
    *ret = (month_counts){0};
    TRY(tables_each(t, place_table(PLACE_DAILY_METRICS), &q, add_day, ret));
    return ret->days > 0 ? RES_OK : RES_NOT_FOUND;
}

/* ---- AI calls ---- */

static int64_t tokens(int64_t n)
{
    return n < 0 ? 0 : n;
}

void usage_record(task *t, const usage *u)
{
    str    now = call_now(t->arena), day = str_slice(now, 0, DAY), month = str_slice(now, 0, MONTH);
    str    model = place_key_text(t->arena, u->model, "unknown-model");
    column of_user[] = {{"openaiCalls", !u->failed},
                        {"openaiTokensIn", tokens(u->tokens_in)},
                        {"openaiTokensOut", tokens(u->tokens_out)},
                        {"openaiErrors", u->failed}};
    column of_model[] = {{"calls", !u->failed},
                         {"tokensIn", tokens(u->tokens_in)},
                         {"tokensOut", tokens(u->tokens_out)},
                         {"errors", u->failed}};
    add_to(t, PLACE_USER_DAILY_USAGE, u->user_key, day, of_user, 4);
    add_to(t, PLACE_USER_DAILY_USAGE_BY_MODEL,
           arena_strf(t->arena, "%.*s|%.*s", STR_ARG(u->user_key), STR_ARG(day)), model, of_model, 4);
    add_to(t, PLACE_DAILY_USAGE_BY_MODEL, month,
           arena_strf(t->arena, "%.*s|%.*s", STR_ARG(day), STR_ARG(model)), of_model, 4);
}

res usage_today_of(task *t, str user_key, usage_counts *ret)
{
    entity row;
    TRY(tables_get(t, place_table(PLACE_USER_DAILY_USAGE), user_key, str_slice(call_now(t->arena), 0, DAY),
                   &row));
    *ret = (usage_counts){
        .calls = entity_int(&row, "openaiCalls", 0),
        .tokens_in = entity_int(&row, "openaiTokensIn", 0),
        .tokens_out = entity_int(&row, "openaiTokensOut", 0),
        .errors = entity_int(&row, "openaiErrors", 0),
    };
    return RES_OK;
}

typedef struct {
    usage_counts sum;
    bool         any;
} usage_sum;

static res add_model(task *t, const entity *e, void *ctx)
{
    usage_sum *s = ctx;
    (void)t;
    s->any = true;
    s->sum.calls += entity_int(e, "calls", 0);
    s->sum.tokens_in += entity_int(e, "tokensIn", 0);
    s->sum.tokens_out += entity_int(e, "tokensOut", 0);
    s->sum.errors += entity_int(e, "errors", 0);
    return RES_OK;
}

res usage_today(task *t, usage_counts *ret)
{
    usage_sum   s = {0};
    str         now = call_now(t->arena);
    str         prefix = arena_strf(t->arena, "%.*s|", DAY, now.at);
    table_query q = {.where = filter_and(
                         t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, str_slice(now, 0, MONTH)),
                         filter_prefix(t->arena, "RowKey", prefix))};
    TRY(tables_each(t, place_table(PLACE_DAILY_USAGE_BY_MODEL), &q, add_model, &s));
    if (!s.any)
        return RES_NOT_FOUND;
    *ret = s.sum;
    return RES_OK;
}

/* ---- the last error ---- */

static char    last_error[ERROR_SHOWN_MAX];
static int64_t last_error_us;

void usage_note_error(str text)
{
    (void)snprintf(last_error, sizeof last_error, "%.*s", STR_ARG(text));
    last_error_us = clock_wall_us();
}

str usage_last_error(int64_t *ret_at_us)
{
    *ret_at_us = last_error_us;
    return str_of(last_error);
}
