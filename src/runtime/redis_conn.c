/* redis_conn.c -- one connection to Redis: hiredis' asynchronous half on the loop.
 *
 *     resolve ─ connect (one address after another) ─ [TLS] ─ AUTH, SELECT, INFO ─ up ─ … ─ lost
 *
 * The name is resolved by libuv's pool, since hiredis would do it on the loop; it gets numbers alone.
 * hiredis frees its context when it ends, often in the middle of a call into it: `cleanup` tells us, and
 * whatever we want to do about it waits until that call has returned (after_hiredis). The uv_poll goes
 * before the socket is closed, as libuv demands.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include "core/metrics.h"
#include "runtime/loop_uv.h"
#include "runtime/redis_internal.h"

enum { ADDRESSES_MAX = 8, ADDRESS_BYTES = 64, GREETING_MAX = 3 };

typedef struct watch watch;

struct redis_conn {
    const redis_url   *url;
    redis_events       events;
    redisAsyncContext *ac; /* NULL: not made yet, or gone */
    watch             *watch;
    uv_getaddrinfo_t   resolving;
    char               addresses[ADDRESSES_MAX][ADDRESS_BYTES];
    size_t             address_count, next_address;
    redis_reading      reading;
    unsigned           greetings; /* answers to wait for before it is up */
    char               server[REDIS_SERVER_ID_MAX];
    char               why[REDIS_WHY_BYTES];
    bool               resolves, inside, up, broken, closed;
};

struct watch {
    uv_poll_t   uv; /* first */
    redis_conn *c;
    int         events;
};

/* The first reason is the cause; what follows are its consequences. Peers have a hand in the words. */
static void note(redis_conn *c, const char *what, const char *detail)
{
    if (c->why[0] != '\0')
        return;
    (void)snprintf(c->why, sizeof c->why, "%s%s%.100s", what, *detail != '\0' ? ": " : "", detail);
    for (char *p = c->why; *p != '\0'; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

static void break_off(redis_conn *c, const char *what, const char *detail)
{
    note(c, what, detail);
    c->broken = true;
}

static void note_refusal(redis_conn *c)
{
    if (c->reading.unasked)
        note(c, "the server sent an answer that nobody asked for", "");
    if (c->reading.large)
        note(c, "the server sent an answer above the limits", "");
}

/* ---- the poll handle ---- */

static void after_hiredis(redis_conn *c);

static void watch_closed(uv_handle_t *h)
{
    free(h);
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    redis_conn *c = ((watch *)h)->c;
    c->inside = true;
    /* A failure reaches us without an event: hiredis finds its reason when it looks. */
    if (c->ac != NULL && (status < 0 || events & UV_READABLE))
        redisAsyncHandleRead(c->ac);
    if (c->ac != NULL && (status < 0 || events & UV_WRITABLE))
        redisAsyncHandleWrite(c->ac);
    if (status < 0)
        break_off(c, "the connection failed", "");
    c->inside = false;
    after_hiredis(c);
}

static void watch_for(watch *w, int events)
{
    if (events == w->events)
        return;
    w->events = events;
    int r = events != 0 ? uv_poll_start(&w->uv, events, on_ready) : uv_poll_stop(&w->uv);
    if (r != 0)
        break_off(w->c, "the connection cannot be watched", uv_strerror(r));
}

static void add_read(void *ctx)
{
    watch *w = ctx;
    watch_for(w, w->events | UV_READABLE);
}

static void del_read(void *ctx)
{
    watch *w = ctx;
    watch_for(w, w->events & ~UV_READABLE);
}

static void add_write(void *ctx)
{
    watch *w = ctx;
    watch_for(w, w->events | UV_WRITABLE);
}

static void del_write(void *ctx)
{
    watch *w = ctx;
    watch_for(w, w->events & ~UV_WRITABLE);
}

/* hiredis: the context ends now, its socket will be closed next. */
static void cleanup(void *ctx)
{
    watch      *w = ctx;
    redis_conn *c = w->c;
    note_refusal(c); /* hiredis takes it for a lack of memory */
    /* hiredis does not pass on what OpenSSL found wrong. */
    if (c->ac->err != 0 && c->url->tls && !c->up)
        note(c, "no connection by TLS; its certificate must be trusted, and for this host", "");
    if (c->ac->err != 0)
        note(c, "the connection broke", c->ac->errstr);
    c->ac = NULL;
    c->watch = NULL;
    uv_close((uv_handle_t *)&w->uv, watch_closed);
}

static bool attach(redis_conn *c)
{
    watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return false;
    if (uv_poll_init(loop_uv(), &w->uv, c->ac->c.fd) != 0) {
        free(w); /* libuv knows it only once it has succeeded */
        return false;
    }
    /* Whoever waits keeps the loop going by a timer; a connection that merely exists does not. */
    uv_unref((uv_handle_t *)&w->uv);
    w->c = c;
    c->watch = w;
    c->ac->ev.addRead = add_read;
    c->ac->ev.delRead = del_read;
    c->ac->ev.addWrite = add_write;
    c->ac->ev.delWrite = del_write;
    c->ac->ev.cleanup = cleanup;
    c->ac->ev.data = w;
    return true;
}

/* ---- commands ---- */

/* Terminated beyond its length: hiredis looks for the end of a line as in a C string. */
void redis_conn_format(buf *out, const str *args, size_t count)
{
    buf_addf(out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buf_addf(out, "$%zu\r\n", args[i].len);
        buf_add(out, args[i]);
        buf_add(out, STR("\r\n"));
    }
    if (buf_add_char(out, '\0'))
        out->len--;
}

static void on_answer(redisAsyncContext *ac, void *answer, void *sent)
{
    redis_conn *c = ac->data;
    c->reading.waiting--;
    if (answer != NULL)
        redis_answer_keep(answer);
    c->events.answered(sent, answer);
}

static bool send_with(redis_conn *c, redisCallbackFn *fn, str formatted, void *sent)
{
    if (c->ac == NULL || c->broken ||
        redisAsyncFormattedCommand(c->ac, fn, sent, formatted.at, formatted.len) != REDIS_OK)
        return false;
    c->reading.waiting++;
    return true;
}

bool redis_conn_send(redis_conn *c, str formatted, void *sent)
{
    return send_with(c, on_answer, formatted, sent);
}

size_t redis_conn_unsent(const redis_conn *c)
{
    return c->ac != NULL ? sdslen(c->ac->c.obuf) : 0;
}

/* ---- greeting ---- */

static void read_server(redis_conn *c, str info)
{
    str line;
    while (str_next_field(&info, '\n', &line)) {
        line = str_trim(line);
        if (!str_starts(line, STR("run_id:")))
            continue;
        str id = str_from(line, STR("run_id:").len);
        if (id.len < sizeof c->server)
            (void)snprintf(c->server, sizeof c->server, "%.*s", STR_ARG(id));
    }
}

static void on_greeting(redisAsyncContext *ac, void *answer, void *is_info)
{
    redis_conn *c = ac->data;
    str         said;
    c->reading.waiting--;
    if (answer == NULL)
        return;
    bool refused = redis_answer_is_error(answer, &said);
    bool info = is_info != NULL;
    if (refused && !(info && str_starts(said, STR("NOPERM")))) {
        char words[REDIS_WHY_BYTES];
        (void)snprintf(words, sizeof words, "%.*s", STR_ARG(said));
        break_off(c, info ? "the server refuses commands" : "the server refuses the login or the database",
                  words);
        return;
    }
    if (info && !refused)
        read_server(c, redis_answer_text(answer));
    c->greetings--;
    c->up = c->greetings == 0;
    if (c->up)
        c->events.up(c->events.ctx, c->server);
}

static bool greet_with(redis_conn *c, const str *args, size_t count, bool info)
{
    buf b;
    buf_init(&b, NULL, 16 * KIB);
    redis_conn_format(&b, args, count);
    bool ok = !b.failed && send_with(c, on_greeting, buf_str(&b), info ? c : NULL);
    buf_free(&b);
    c->greetings++;
    return ok;
}

static bool greet(redis_conn *c)
{
    const redis_url *u = c->url;
    char             number[16];
    int              len = snprintf(number, sizeof number, "%u", u->db);
    const str        with_user[] = {STR("AUTH"), u->user, u->password};
    const str        without[] = {STR("AUTH"), u->password};
    const str        select[] = {STR("SELECT"), {number, (size_t)len}};
    const str        info[] = {STR("INFO"), STR("server")};
    c->greetings = 0;
    if (u->user.len > 0 && !greet_with(c, with_user, 3, false))
        return false;
    if (u->user.len == 0 && u->password.len > 0 && !greet_with(c, without, 2, false))
        return false;
    if (u->db != 0 && !greet_with(c, select, 2, false))
        return false;
    return greet_with(c, info, 2, true);
}

/* ---- connecting ---- */

static bool begin_tls(redis_conn *c)
{
    char why[REDIS_WHY_BYTES] = "";
    if (!c->url->tls)
        return true;
    char host[REDIS_HOST_MAX + 1];
    (void)snprintf(host, sizeof host, "%.*s", STR_ARG(c->url->host));
    if (redis_tls_begin(&c->ac->c, host, why, sizeof why))
        return true;
    break_off(c, "TLS", why);
    return false;
}

/* hiredis calls it when the connection is made, or cannot be; without it, it would never look. */
static void on_connect(const redisAsyncContext *ac, int status)
{
    static metric *opened;
    redis_conn    *c = ac->data;
    if (status != REDIS_OK)
        return;
    if (opened == NULL)
        opened = metrics_counter("trestle_redis_connections_opened_total", "", "Connections to Redis made");
    metrics_add(opened, 1);
    c->next_address = c->address_count; /* what fails now would fail elsewhere too */
    c->why[0] = '\0';
}

static bool connect_to(redis_conn *c, const char *address)
{
    c->broken = false;
    c->reading = (redis_reading){0};
    c->ac = redisAsyncConnect(address, (int)c->url->port);
    if (c->ac == NULL)
        return false;
    c->ac->data = c;
    if (c->ac->err != 0 || !attach(c)) {
        note(c, "no connection", c->ac->err != 0 ? c->ac->errstr : "out of memory or descriptors");
        redisAsyncFree(c->ac); /* nothing is attached, so cleanup is not called */
        c->ac = NULL;
        return false;
    }
    redis_reply_attach(c->ac->c.reader, &c->reading);
    (void)redisEnableKeepAlive(&c->ac->c); /* a peer that vanished is then found by commands alone */
    (void)redisAsyncSetConnectCallback(c->ac, on_connect); /* fails only when one is set already */
    if (begin_tls(c) && greet(c))
        return true;
    note(c, "no connection", "out of memory");
    redisAsyncFree(c->ac);
    return false;
}

static void lose(redis_conn *c)
{
    redis_events events = c->events;
    char         why[REDIS_WHY_BYTES];
    memcpy(why, c->why, sizeof why);
    free(c);
    events.lost(events.ctx, *why != '\0' ? why : "the connection was closed");
}

static void connect_next(redis_conn *c)
{
    while (c->next_address < c->address_count)
        if (connect_to(c, c->addresses[c->next_address++]))
            return;
    lose(c);
}

static void after_hiredis(redis_conn *c)
{
    if (c->ac != NULL && redis_reply_held(c->ac->c.reader) > REDIS_ANSWER_MAX + 64 * KIB)
        c->reading.large = true;
    note_refusal(c);
    if (c->ac != NULL && (c->broken || c->reading.large)) {
        c->inside = true;
        redisAsyncFree(c->ac);
        c->inside = false;
    }
    if (c->ac == NULL)
        connect_next(c);
}

void redis_conn_read_now(redis_conn *c)
{
    if (c->ac == NULL || c->broken)
        return;
    c->inside = true;
    redisAsyncHandleRead(c->ac);
    c->inside = false;
    after_hiredis(c);
}

/* ---- resolving ---- */

static void keep_addresses(redis_conn *c, const struct addrinfo *found)
{
    for (; found != NULL && c->address_count < ADDRESSES_MAX; found = found->ai_next)
        if (uv_ip_name(found->ai_addr, c->addresses[c->address_count], ADDRESS_BYTES) == 0)
            c->address_count++;
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    redis_conn *c = req->data;
    c->resolves = false;
    if (status == 0 && !c->closed)
        keep_addresses(c, found);
    uv_freeaddrinfo(found); /* accepts NULL */
    if (c->closed) {
        free(c);
        return;
    }
    if (c->address_count == 0)
        note(c, "its name cannot be resolved", status != 0 ? uv_strerror(status) : "no address");
    connect_next(c);
}

/* ---- opening and closing ---- */

redis_conn *redis_conn_open(const redis_url *url, const redis_events *events)
{
    char            host[REDIS_HOST_MAX + 1];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    redis_conn     *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->url = url;
    c->events = *events;
    c->resolving.data = c;
    (void)snprintf(host, sizeof host, "%.*s", STR_ARG(url->host));
    if (uv_getaddrinfo(loop_uv(), &c->resolving, on_resolved, host, NULL, &hints) != 0) {
        free(c);
        return NULL;
    }
    c->resolves = true;
    return c;
}

void redis_conn_close(redis_conn *c)
{
    assert(!c->inside);
    c->closed = true;
    if (c->ac != NULL) {
        c->inside = true;
        redisAsyncFree(c->ac);
        c->inside = false;
    }
    if (c->resolves)
        (void)uv_cancel((uv_req_t *)&c->resolving); /* busy: its callback comes all the same, and frees */
    else
        free(c);
}
