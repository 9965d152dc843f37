/* http_rig.c -- see http_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/runtime/http_rig.h"

#include <arpa/inet.h>
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"

/* ---- the app: one handler per behaviour ---- */

static const http_header text_plain[] = {{STR_INIT("Content-Type"), STR_INIT("text/plain")}};

static rig *rig_of(const http_exchange *x)
{
    return x->route;
}

static void serve_hello(task *t, http_exchange *x)
{
    (void)t;
    rig_of(x)->served++;
    http_respond(x, 200, text_plain, 1, STR("hello"));
}

static void serve_echo(task *t, http_exchange *x)
{
    (void)t;
    http_respond(x, 200, text_plain, 1, x->body);
}

static void serve_query(task *t, http_exchange *x)
{
    (void)t;
    http_respond(x, 200, NULL, 0, x->query);
}

static void serve_length(task *t, http_exchange *x)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < x->body.len; i += 4096)
        sum += (unsigned char)x->body.at[i];
    http_respond(x, 200, NULL, 0, arena_strf(t->arena, "%zu %llu", x->body.len, (unsigned long long)sum));
}

/* /status?404: that status, with a body, two cookies, and a header that would break the line. */
static void serve_status(task *t, http_exchange *x)
{
    static const http_header headers[] = {{STR_INIT("Set-Cookie"), STR_INIT("a=1")},
                                          {STR_INIT("X-Evil"), STR_INIT("a\r\nX-Injected: b")},
                                          {STR_INIT("Set-Cookie"), STR_INIT("b=2")},
                                          {STR_INIT("Location"), STR_INIT("/elsewhere")}};
    uint64_t                 status = 0;
    (void)t;
    if (!str_to_u64(x->query, &status))
        status = 500;
    http_respond(x, (int)status, headers, 4, STR("body"));
}

static void serve_headers(task *t, http_exchange *x)
{
    buf out;
    buf_init(&out, t->arena, (size_t)1 * MIB);
    for (size_t i = 0; i < x->header_count; i++)
        buf_addf(&out, "%.*s=%.*s;", STR_ARG(x->headers[i].name), STR_ARG(x->headers[i].value));
    http_respond(x, 200, NULL, 0, buf_str(&out));
}

static void stop_at_gate(wait *w)
{
    rig *r = w->ctx;
    r->gate = NULL;
    wait_done(w, RES_GONE);
}

static res wait_at_gate(task *t, rig *r)
{
    wait w = WAIT_INIT("gate");
    w.ctx = r;
    r->gate = &w;
    r->ended_with = wait_for(t, &w, stop_at_gate);
    return r->ended_with;
}

static void serve_gate(task *t, http_exchange *x)
{
    rig *r = rig_of(x);
    (void)wait_at_gate(t, r); /* it is in ended_with */
    http_respond(x, 200, NULL, 0, STR("through"));
}

/* /after: answers, and goes on for a while. */
static void serve_after(task *t, http_exchange *x)
{
    http_respond(x, 200, NULL, 0, STR("early"));
    (void)wait_at_gate(t, rig_of(x));
}

static void serve_stream(task *t, http_exchange *x)
{
    http_stream_begin(x, 200, text_plain, 1);
    if (http_stream_write(t, x, STR("one,")) != RES_OK || http_stream_write(t, x, STR("")) != RES_OK ||
        http_stream_write(t, x, STR("two")) != RES_OK)
        return;
    http_stream_end(x);
}

/* /half: one piece, then waits at the gate, then fails. */
static void serve_half(task *t, http_exchange *x)
{
    http_stream_begin(x, 200, NULL, 0);
    if (http_stream_write(t, x, STR("half")) == RES_OK)
        (void)wait_at_gate(t, rig_of(x));
}

static void serve_flood(task *t, http_exchange *x)
{
    char *piece = arena_zalloc(t->arena, (size_t)100 * KIB);
    rig  *r = rig_of(x);
    http_stream_begin(x, 200, NULL, 0);
    do
        r->ended_with = http_stream_write(t, x, (str){piece, (size_t)100 * KIB});
    while (r->ended_with == RES_OK);
}

static void serve_large(task *t, http_exchange *x)
{
    size_t len = (size_t)200 * KIB;
    char  *body = arena_alloc(t->arena, len);
    memset(body, 'L', len);
    http_respond(x, 200, NULL, 0, (str){body, len});
}

static void serve_greedy(task *t, http_exchange *x)
{
    const char *more;
    do
        more = arena_array(t->arena, char, (size_t)100 * KIB);
    while (more != NULL);
    http_respond(x, 200, NULL, 0, STR("never"));
}

static void serve_nothing(task *t, http_exchange *x)
{
    (void)t, (void)x;
}

typedef struct {
    const char    *path;
    http_serve_fn *serve;
    size_t         body_max;
} rig_route;

static const rig_route routes[] = {
    {"/hello", serve_hello, 0},   {"/echo", serve_echo, (size_t)1 * MIB},
    {"/small", serve_echo, 4},    {"/length", serve_length, (size_t)256 * MIB},
    {"/status", serve_status, 0}, {"/headers", serve_headers, 0},
    {"/gate", serve_gate, 0},     {"/after", serve_after, 0},
    {"/stream", serve_stream, 0}, {"/half", serve_half, 0},
    {"/flood", serve_flood, 0},   {"/large", serve_large, 0},
    {"/greedy", serve_greedy, 0}, {"/nothing", serve_nothing, 0},
    {"/query", serve_query, 0},   {"/", serve_hello, 0},
};

static void begin(void *ctx, http_exchange *x)
{
    rig *r = ctx;
    r->begun++;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!str_eq(x->path, str_of(routes[i].path)))
            continue;
        x->serve = routes[i].serve;
        x->body_max = routes[i].body_max;
        x->route = r;
        x->memory_bytes = (size_t)1 * MIB;
        x->urgent = x->path.len == 1;
        x->name = routes[i].path;
        return;
    }
    http_respond(x, 404, text_plain, 1, STR("no such path"));
}

static void refuse(void *ctx, http_exchange *x, int status, const char *message)
{
    rig *r = ctx;
    r->refused++;
    r->begun += x->serve == NULL; /* so that begun counts exchanges, also those that never got to begin */
    str body = arena_strf(x->arena, "refused: %s", message);
    http_respond(x, status, text_plain, 1, body);
}

static void done(void *ctx, http_exchange *x, uint64_t took_us)
{
    rig *r = ctx;
    (void)took_us;
    r->done++;
    r->last_status = x->status;
}

/* ---- the loop's side ---- */

static void on_drained(void *ctx)
{
    rig *r = ctx;
    r->drained = true;
    uv_close((uv_handle_t *)&r->call, NULL);
}

void rig_drain(rig *r, uint64_t ms)
{
    if (r->draining)
        return;
    r->draining = true;
    http_server_drain(r->server, ms, on_drained, r);
}

void rig_open_gate(rig *r)
{
    wait *w = r->gate;
    r->gate = NULL;
    if (w != NULL)
        wait_done(w, RES_OK);
}

void rig_gate_is_reached(rig *r)
{
    r->is_true = r->gate != NULL;
}

static void on_call(uv_async_t *h)
{
    rig    *r = h->data;
    rig_fn *fn = r->calling;
    if (fn != NULL)
        fn(r);
    else
        rig_drain(r, 5000);
    sem_post(&r->called);
}

void rig_do(rig *r, rig_fn *fn)
{
    r->calling = fn;
    uv_async_send(&r->call);
    while (sem_wait(&r->called) != 0)
        continue; /* interrupted by a signal */
}

void rig_until(rig *r, rig_fn *fn)
{
    r->is_true = false;
    for (int i = 0; i < 100000 && !r->is_true; i++)
        rig_do(r, fn);
    WANT(r, r->is_true);
}

static void *run_client(void *arg)
{
    rig *r = arg;
    r->client(r);
    /* A drain that the client asked for closes `call` when it ends, so it may not be called any more. */
    if (!r->draining)
        rig_do(r, NULL);
    return NULL;
}

void rig_init(rig *r)
{
    *r = (rig){.options = http_server_defaults(), .last_status = -1, .ended_with = RES_COUNT};
    buf_init(&r->wrong, NULL, (size_t)64 * KIB);
    log_set_level(LOG_OFF); /* some cases are about what would be logged as an error */
}

void rig_serve(rig *r, rig_fn *client)
{
    http_app  app = {.begin = begin, .refuse = refuse, .done = done, .ctx = r};
    pthread_t thread;
    str       error;

    ck_assert_int_eq(loop_open(), RES_OK);
    loop_close(); /* the first loop of a process leaves the two descriptors of libuv's signal pipe */
    int fds = count_fds();
    r->client = client;
    r->arena = arena_new((size_t)64 * KIB);
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(sem_init(&r->called, 0, 0), 0);
    ck_assert_int_eq(uv_async_init(loop_uv(), &r->call, on_call), 0);
    r->call.data = r;
    res opened = http_server_open(r->arena, &r->options, &app, &r->server, &error);
    ck_assert_int_eq(opened, RES_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_client, r), 0);
    loop_run();
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    loop_close();
    clock_unset_for_test();
    sem_destroy(&r->called);
    arena_free(r->arena);

    ck_assert_msg(r->wrong.len == 0, "%.*s", STR_ARG(buf_str(&r->wrong)));
    buf_free(&r->wrong);
    ck_assert(r->drained);
    ck_assert_uint_eq(r->begun, r->done);
    ck_assert_int_eq(count_fds(), fds);
}

int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int  n = 0;
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

/* ---- the client's side ---- */

peer dial(const rig *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_server_port(r->server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval     patience = {.tv_sec = 20};
    int                yes = 1;
    peer p = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .bytes = malloc(ANSWER_BYTES_MAX)};
    setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(p.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(p.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(p.fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(p.fd);
        p.fd = -1;
    }
    return p;
}

void hang_up(peer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->bytes);
    *p = (peer){.fd = -1};
}

bool say(const peer *p, str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = send(p->fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes = str_from(bytes, (size_t)n);
    }
    return true;
}

static bool read_more(peer *p)
{
    ssize_t n = p->len < ANSWER_BYTES_MAX ? recv(p->fd, p->bytes + p->len, ANSWER_BYTES_MAX - p->len, 0) : 0;
    if (n > 0)
        p->len += (size_t)n;
    return n > 0;
}

str heard_header(const peer *p, str name)
{
    str rest = p->head, line;
    while (str_next_field(&rest, '\n', &line))
        if (line.len > name.len && line.at[name.len] == ':' && str_starts_nocase(line, name))
            return str_trim(str_from(line, name.len + 1));
    return (str){NULL, 0};
}

static size_t hex_at(const char *at, const char *end)
{
    size_t n = 0;
    for (; at < end && isxdigit((unsigned char)*at); at++)
        n = n * 16 + (size_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
    return n;
}

/* Takes chunks off the front of the bytes; the data moves to where the first chunk began. */
static bool hear_chunks(peer *p)
{
    size_t at = p->used, end = p->used;
    for (;;) {
        char  *line_end;
        size_t size;
        while ((line_end = memmem(p->bytes + at, p->len - at, "\r\n", 2)) == NULL)
            if (!read_more(p))
                return false;
        size = hex_at(p->bytes + at, line_end);
        at = (size_t)(line_end - p->bytes) + 2;
        while (p->len < at + size + 2)
            if (!read_more(p))
                return false;
        memmove(p->bytes + end, p->bytes + at, size);
        end += size;
        at += size + 2;
        if (size == 0)
            break;
    }
    p->body = (str){p->bytes + p->used, end - p->used};
    p->used = at;
    return true;
}

static bool hear_length(peer *p, uint64_t length)
{
    while (p->len - p->used < length)
        if (!read_more(p))
            return false;
    p->body = (str){p->bytes + p->used, (size_t)length};
    p->used += (size_t)length;
    return true;
}

static bool hear_until_end(peer *p)
{
    while (read_more(p))
        continue;
    p->body = (str){p->bytes + p->used, p->len - p->used};
    p->used = p->len;
    return true;
}

bool hear(peer *p, bool head_only)
{
    memmove(p->bytes, p->bytes + p->used, p->len - p->used);
    p->len -= p->used;
    p->used = 0;
    p->status = 0;
    char *end;
    while ((end = memmem(p->bytes, p->len, "\r\n\r\n", 4)) == NULL)
        if (!read_more(p))
            return false;
    p->head = (str){p->bytes, (size_t)(end - p->bytes) + 4};
    p->body = STR("");
    p->used = p->head.len;
    uint64_t status = 0, length = 0;
    if (!str_to_u64(str_slice(p->head, 9, 12), &status))
        status = 0;
    p->has_length = str_to_u64(heard_header(p, STR("content-length")), &length);
    p->chunked = str_eq(heard_header(p, STR("transfer-encoding")), STR("chunked"));
    bool no_body = head_only || status == 204 || status == 304 || status < 200;
    bool whole = no_body || (p->chunked      ? hear_chunks(p)
                             : p->has_length ? hear_length(p, length)
                                             : hear_until_end(p));
    p->status = whole ? (int)status : 0;
    return whole;
}

bool is_closed(peer *p)
{
    return p->used == p->len && !read_more(p) && p->fd >= 0;
}

int ask(const rig *r, str request)
{
    peer p = dial(r);
    say(&p, request);
    int status = hear(&p, false) ? p.status : 0;
    hang_up(&p);
    return status;
}
