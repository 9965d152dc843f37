/* redis.c -- see redis.h: who waits for what, and when the server counts as down.
 *
 *     idle ──first command──▶ connecting ──up──▶ ready ──lost while nobody waited──▶ idle
 *                                 │                └──lost, or three silences──▶ down
 *                                 └──lost, or too late──▶ down ──command after a while──▶ connecting
 *
 * Two owners of a command. hiredis keeps a pointer to it until its answer comes, which may be long after the
 * task has left; so it lives on the heap and is freed when both have let go. The task's half is registered
 * with its arena before the command is sent. Tasks wait through an object on their own stack, in one list
 * with one timer.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/redis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/metrics.h"
#include "runtime/loop_uv.h"
#include "runtime/redis_internal.h"
#include "runtime/wait.h"

enum {
    URL_MEMORY = 16 * KIB,
    CONNECT_MS = 2000, /* from resolving its name to the last answer of the greeting */
    SILENCES_MAX = 3,
    DOWN_MS_FIRST = 100,
    DOWN_MS_MAX = 5000,
};

typedef enum { IDLE, CONNECTING, READY, DOWN } state;

typedef struct sent   sent;
typedef struct waiter waiter;

struct redis {
    redis      *next;
    arena      *a; /* of the URL */
    str         whole;
    redis_url   url;
    state       is;
    redis_conn *conn;
    uv_timer_t *timer;
    waiter     *first, *last; /* in the order in which they came */
    size_t      under_way;    /* commands without an answer, also those that nobody waits for any more */
    unsigned    failures, silences;
    bool        broke; /* with commands under way */
    uint64_t    connect_until_ms, down_until_ms;
    char        server[REDIS_SERVER_ID_MAX];
    char        why[REDIS_WHY_BYTES];
};

/* One that a task on its stack waits by. */
struct waiter {
    wait     w;
    redis   *r;
    sent    *what; /* NULL: it waits for the connection */
    uint64_t due_ms;
    bool     listed;
    waiter  *prev, *next;
};

struct sent {
    redis        *r;
    waiter       *who; /* NULL: nobody waits */
    redis_answer *answer;
    bool          held, under_way; /* by the task; by hiredis */
};

static redis *all;

/* ---- waiters ---- */

static void arm(redis *r);

static uint64_t now_ms(void)
{
    uv_update_time(loop_uv());
    return uv_now(loop_uv());
}

static void list_waiter(redis *r, waiter *me)
{
    me->listed = true;
    me->prev = r->last;
    if (r->last != NULL)
        r->last->next = me;
    else
        r->first = me;
    r->last = me;
    if (me->what != NULL)
        me->what->who = me;
}

static void wake(waiter *me, res result)
{
    redis *r = me->r;
    if (!me->listed)
        return;
    me->listed = false;
    if (me->prev != NULL)
        me->prev->next = me->next;
    else
        r->first = me->next;
    if (me->next != NULL)
        me->next->prev = me->prev;
    else
        r->last = me->prev;
    if (me->what != NULL)
        me->what->who = NULL;
    if (r->first == NULL)
        uv_unref((uv_handle_t *)r->timer); /* nobody waits: it keeps the loop no longer */
    wait_done(&me->w, result);
}

static void leave(wait *w)
{
    waiter *me = w->ctx;
    redis  *r = me->r;
    wake(me, RES_GONE); /* wait_for returns the reason instead */
    arm(r);
}

static void wake_connecting(redis *r, res result)
{
    for (waiter *one = r->first, *next; one != NULL; one = next) {
        next = one->next;
        if (one->what == NULL)
            wake(one, result);
    }
}

static res wait_until(task *t, redis *r, sent *what, uint64_t due_ms)
{
    waiter me = {.w = WAIT_INIT("redis"), .r = r, .what = what, .due_ms = due_ms};
    me.w.ctx = &me;
    list_waiter(r, &me);
    arm(r);
    return wait_for(t, &me.w, leave);
}

/* ---- commands ---- */

static void let_go(sent *s)
{
    if (s->held || s->under_way)
        return;
    redis_answer_free(s->answer);
    free(s);
}

static void on_answered(void *what, redis_answer *answer)
{
    sent  *s = what;
    redis *r = s->r;
    r->under_way--;
    s->under_way = false;
    s->answer = answer;
    if (answer != NULL) {
        r->silences = 0;
        r->failures = 0;
    } else {
        r->broke = true;
    }
    if (s->who != NULL)
        wake(s->who, answer != NULL ? RES_OK : RES_UNREACHABLE);
    let_go(s);
}

/* ---- the connection ---- */

static void forget_connection(redis *r)
{
    r->conn = NULL;
    r->server[0] = '\0';
    r->silences = 0;
    r->broke = false;
}

static void go_down(redis *r, const char *why)
{
    unsigned doublings = r->failures < 8 ? r->failures : 8;
    uint64_t ms = (uint64_t)DOWN_MS_FIRST << doublings;
    if (r->failures == 0 || strcmp(r->why, why) != 0)
        log_warn("redis %.*s:%u counts as down: %s", STR_ARG(r->url.host), r->url.port, why);
    r->failures++;
    r->is = DOWN;
    r->down_until_ms = now_ms() + (ms < DOWN_MS_MAX ? ms : DOWN_MS_MAX);
    if (why != r->why)
        (void)snprintf(r->why, sizeof r->why, "%s", why);
    wake_connecting(r, RES_UNREACHABLE);
}

static void on_up(void *ctx, const char *server)
{
    redis *r = ctx;
    r->is = READY;
    (void)snprintf(r->server, sizeof r->server, "%s", server);
    if (*server == '\0')
        log_warn("redis %.*s:%u does not tell its run_id (INFO server)", STR_ARG(r->url.host), r->url.port);
    wake_connecting(r, RES_OK);
}

static void on_lost(void *ctx, const char *why)
{
    redis *r = ctx;
    bool   idle = r->is == READY && !r->broke;
    forget_connection(r);
    if (idle)
        r->is = IDLE;
    else
        go_down(r, why);
    arm(r);
}

static void cut(redis *r, const char *why)
{
    redis_conn *c = r->conn;
    forget_connection(r);
    go_down(r, why);
    redis_conn_close(c);
}

static bool begin_connecting(redis *r)
{
    redis_events events = {.up = on_up, .lost = on_lost, .answered = on_answered, .ctx = r};
    if (r->timer == NULL) {
        r->timer = malloc(sizeof *r->timer);
        if (r->timer == NULL)
            return false;
        (void)uv_timer_init(loop_uv(), r->timer); /* always 0 */
        r->timer->data = r;
    }
    r->conn = redis_conn_open(&r->url, &events);
    if (r->conn == NULL)
        return false;
    r->is = CONNECTING;
    r->broke = false;
    r->connect_until_ms = now_ms() + CONNECT_MS;
    return true;
}

/* ---- time ---- */

static void expire(redis *r, uint64_t now)
{
    for (waiter *one = r->first, *next; one != NULL; one = next) {
        next = one->next;
        if (one->due_ms > now)
            continue;
        r->silences += one->what != NULL;
        wake(one, RES_TIMEOUT);
    }
    if (r->is == READY && r->silences >= SILENCES_MAX)
        cut(r, "it does not answer in time");
    if (r->is == CONNECTING && r->connect_until_ms <= now)
        cut(r, "no connection within two seconds");
}

static bool any_due(const redis *r, uint64_t now)
{
    for (const waiter *one = r->first; one != NULL; one = one->next)
        if (one->due_ms <= now)
            return true;
    return false;
}

static void on_timer(uv_timer_t *h)
{
    redis *r = h->data;
    /* Timers go first when the loop was held up: the answer may have been here for long. */
    if (r->is == READY && any_due(r, now_ms()))
        redis_conn_read_now(r->conn);
    expire(r, now_ms());
    arm(r);
}

/* The timer keeps the loop going while somebody waits, and only then. */
static void arm(redis *r)
{
    uint64_t due = r->is == CONNECTING ? r->connect_until_ms : UINT64_MAX, now = now_ms();
    if (r->timer == NULL)
        return;
    for (const waiter *one = r->first; one != NULL; one = one->next)
        due = one->due_ms < due ? one->due_ms : due;
    if (due == UINT64_MAX) {
        (void)uv_timer_stop(r->timer); /* always 0 */
        return;
    }
    (void)uv_timer_start(r->timer, on_timer, due > now ? due - now : 0,
                         0); /* fails only without a callback */
    if (r->first != NULL)
        uv_ref((uv_handle_t *)r->timer);
    else
        uv_unref((uv_handle_t *)r->timer);
}

/* ---- the public calls ---- */

static res fail(task *t, const redis *r, res code, const char *what)
{
    return task_fail(t, code, "redis %.*s:%u: %s", STR_ARG(r->url.host), r->url.port, what);
}

static res explain(task *t, const redis *r, res code)
{
    switch (code) {
    case RES_TIMEOUT:
        return fail(t, r, code, "no answer in time");
    case RES_UNREACHABLE:
        return fail(t, r, code, r->why[0] != '\0' ? r->why : "the connection was closed");
    default:
        return fail(t, r, code, "stopped while waiting");
    }
}

static res ready_until(task *t, redis *r, uint64_t due_ms)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;
    if (r->is == READY)
        return RES_OK;
    if (r->is == DOWN && now_ms() < r->down_until_ms)
        return fail(t, r, RES_UNAVAILABLE, r->why);
    if (r->is == CONNECTING && r->failures > 0)
        return fail(t, r, RES_UNAVAILABLE, r->why); /* one tries, the others need not wait with it */
    if (r->is != CONNECTING && !begin_connecting(r))
        return fail(t, r, RES_MEMORY, "no memory for a connection");
    res got = wait_until(t, r, NULL, due_ms);
    if (got == RES_OK && r->is != READY) /* it was up, and is gone before we could run */
        got = RES_UNREACHABLE;
    return got == RES_OK ? got : explain(t, r, got);
}

res redis_ready(task *t, redis *r, unsigned timeout_ms)
{
    return ready_until(t, r, now_ms() + timeout_ms);
}

str redis_run_id(const redis *r)
{
    return r->is == READY ? str_of(r->server) : (str){0};
}

static void task_left(void *slot)
{
    sent *s = *(sent **)slot;
    if (s == NULL)
        return;
    s->held = false;
    let_go(s);
}

static res send_and_wait(task *t, redis *r, str formatted, uint64_t due_ms, sent **slot)
{
    if (r->under_way >= REDIS_WAITING_MAX || redis_conn_unsent(r->conn) + formatted.len > REDIS_UNSENT_MAX)
        return fail(t, r, RES_UNAVAILABLE, "too many commands wait for their answers");
    sent *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail(t, r, RES_MEMORY, "no memory for a command");
    *slot = s;
    s->r = r;
    s->held = true;
    s->under_way = redis_conn_send(r->conn, formatted, s);
    if (!s->under_way)
        return fail(t, r, RES_UNREACHABLE, "the connection is breaking");
    r->under_way++;
    res got = wait_until(t, r, s, due_ms);
    return got == RES_OK ? got : explain(t, r, got);
}

static res call(task *t, redis *r, const str *args, size_t count, unsigned timeout_ms, redis_reply *ret)
{
    uint64_t due_ms = now_ms() + timeout_ms;
    sent   **slot = arena_one(t->arena, sent *);
    buf      text;
    str      said;
    arena_defer(t->arena, task_left, slot);
    buf_init(&text, t->arena, REDIS_COMMAND_MAX);
    redis_conn_format(&text, args, count);
    if (text.failed)
        return fail(t, r, RES_TOO_LARGE, "the command is above 8 MiB");

    res got = ready_until(t, r, due_ms);
    if (got == RES_OK)
        got = send_and_wait(t, r, buf_str(&text), due_ms, slot);
    if (got == RES_OK && redis_answer_is_error((*slot)->answer, &said)) {
        char word[32]; /* the first word of an error is its kind; the rest may quote keys */
        (void)snprintf(word, sizeof word, "%.*s", (int)str_find_char(said, ' '), said.at);
        got = task_fail(t, RES_UPSTREAM, "redis %.*s:%u: it answered %s", STR_ARG(r->url.host), r->url.port,
                        word);
    }
    if (got == RES_OK && ret != NULL)
        *ret = redis_answer_copy(t->arena, (*slot)->answer);
    task_left(slot);
    *slot = NULL;
    return got;
}

res redis_call(task *t, redis *r, const str *args, size_t count, unsigned timeout_ms, redis_reply *ret)
{
    static metric *totals[RES_COUNT];
    res            got = call(t, r, args, count, timeout_ms, ret);
    if (totals[got] == NULL) {
        char labels[64];
        (void)snprintf(labels, sizeof labels, "result=\"%s\"", res_name(got));
        totals[got] = metrics_counter("trestle_redis_calls_total", labels, "Commands to Redis by result");
    }
    metrics_add(totals[got], 1);
    return got;
}

/* ---- opening and closing ---- */

static const char *refusal(arena *a, str url, redis_url *ret)
{
    const char *wrong = redis_url_parse(a, url, ret);
    if (wrong != NULL)
        return wrong;
    return ret->tls && !redis_tls_built_in()
               ? "rediss:// needs hiredis 1.0 or later with its TLS part (libhiredis_ssl), which this build "
                 "has not: Debian 13 and Ubuntu 24.04 have it, Debian 12 has not"
               : NULL;
}

res redis_check(arena *a, str url, str *ret_error)
{
    redis_url   u;
    const char *wrong = refusal(a, url, &u);
    if (wrong == NULL)
        return RES_OK;
    *ret_error = arena_strf(a, "the Redis URL is of no use: %s", wrong);
    return RES_CONFIG;
}

static void redis_free(redis *r)
{
    if (r == NULL)
        return;
    arena_free(r->a);
    free(r);
}

res redis_open(str url, redis **ret)
{
    for (redis *r = all; r != NULL; r = r->next)
        if (str_eq(r->whole, url)) {
            *ret = r;
            return RES_OK;
        }
    redis *r = calloc(1, sizeof *r);
    arena *a = r != NULL ? arena_new(URL_MEMORY) : NULL;
    if (a == NULL) {
        redis_free(r);
        return RES_MEMORY;
    }
    r->a = a;
    r->whole = arena_copy(a, url);
    if (r->whole.at == NULL || refusal(a, r->whole, &r->url) != NULL) {
        redis_free(r);
        return RES_CONFIG;
    }
    log_add_secret(r->url.password);
    r->next = all;
    all = r;
    *ret = r;
    return RES_OK;
}

static void timer_closed(uv_handle_t *h)
{
    free(h);
}

void redis_shutdown(void)
{
    while (all != NULL) {
        redis *r = all;
        all = r->next;
        assert(r->first == NULL);
        if (r->conn != NULL)
            redis_conn_close(r->conn);
        if (r->timer != NULL)
            uv_close((uv_handle_t *)r->timer, timer_closed);
        redis_free(r);
    }
    redis_tls_drop();
}
