/* call.c -- one logical call: tries, waits, and the account of both.
 *
 *     ask the breaker; for each try { date, authorize, send, read what failed }; wait, or be content
 *
 * What must stay true: a wait never reaches the task's deadline (the last failure is returned at once
 * instead), each try is signed anew, all tries of a call have one x-ms-client-request-id, and `doubtful` is
 * set whenever an earlier try may have been carried out. No message holds a path, key, signature or token.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "storage/azure/endpoint.h"
#include "storage/azure/error.h"
#include "storage/azure/retry.h"

enum {
    TRY_MS = 10 * 1000,
    STREAM_MS = 10 * 60 * 1000, /* a stream's time is the task's; this ends one that nobody limits */
    CONNECT_MS = 3000,
    IDLE_SHORT_S = 3, /* an emulator closes after 5 s; libcurl counts whole seconds */
    IDLE_LONG_S = 100,
    OWN_HEADERS = 5,
    ERROR_BODY_MAX = 64 * KIB,
    SKEW_US_MIN = 5 * 60 * 1000000,
    FAIR_TRY_US = 1000000, /* a try that had less time than this says nothing about the endpoint */
};

typedef struct {
    azure_endpoint      *e;
    const azure_request *in;
    azure_answer         got;
    fetch_request        http;
    sign_request         sign;
    http_header         *headers;
    size_t               fixed_count; /* those that are the same in each try */
    fetch_stream        *stream;
    bool                 streams;

    bool     authorized; /* of the latest try: it got as far as being sent, */
    bool     sent;       /* … and it was, perhaps in part */
    uint64_t try_began_us;
    unsigned token_version;
    bool     clock_corrected, token_renewed;
    unsigned slow_tries;  /* while a name is being deleted */
    unsigned plain_tries; /* that count against RETRY_TRIES */
} call;

/* ---- metrics ---- */

typedef struct {
    const char *operation;
    metric     *seconds, *retries, *totals[RES_COUNT];
} op_metrics;

/* Operations are literals, so their addresses tell them apart; two of one text share their metrics anyway. */
static op_metrics *metrics_of(const char *operation)
{
    enum { OPS_MAX = 64 };
    static op_metrics ops[OPS_MAX];
    static size_t     count;
    for (size_t i = 0; i < count; i++)
        if (ops[i].operation == operation)
            return &ops[i];

    op_metrics *o = &ops[count < OPS_MAX ? count++ : OPS_MAX - 1];
    char        labels[128];
    (void)snprintf(labels, sizeof labels, "operation=\"%s\"", operation);
    *o = (op_metrics){
        .operation = operation,
        .seconds =
            metrics_histogram("trestle_storage_seconds", labels, "Time of storage calls, with retries"),
        .retries = metrics_counter("trestle_storage_retries_total", labels, "Second and later tries"),
    };
    return o;
}

static void count_call(const call *c, res r, uint64_t began_us)
{
    op_metrics *o = metrics_of(c->in->operation);
    res         means = r == RES_OK ? error_result(c->got.http.status, c->got.code) : r;
    if (o->totals[means] == NULL) {
        char labels[160];
        (void)snprintf(labels, sizeof labels, "operation=\"%s\",result=\"%s\"", c->in->operation,
                       res_name(means));
        o->totals[means] = metrics_counter("trestle_storage_total", labels, "Storage calls by result");
    }
    metrics_add(o->totals[means], 1);
    metrics_observe_us(o->seconds, clock_mono_us() - began_us);
    if (c->got.tries > 1)
        metrics_add(o->retries, c->got.tries - 1);
}

/* ---- the request ---- */

static void add_header(call *c, const char *name, str value)
{
    c->headers[c->fixed_count++] = (http_header){str_of(name), value};
}

static void build_url(task *t, call *c)
{
    const azure_request *in = c->in;
    str                  base = c->e->conn.url, sas = c->e->cred.sas;
    buf                  url;
    buf_init(&url, t->arena, SIZE_MAX);
    if (buf_reserve(&url, base.len + in->path.len + in->query.len + sas.len + 2) == NULL)
        return; /* never in a task */
    (void)buf_add(&url, base);
    (void)buf_add(&url, in->path);
    size_t path_from = base.len - c->e->conn.path.len;
    size_t path_to = url.len;
    if (in->query.len > 0 || sas.len > 0)
        (void)buf_add_char(&url, '?');
    (void)buf_add(&url, in->query);
    if (in->query.len > 0 && sas.len > 0)
        (void)buf_add_char(&url, '&');
    (void)buf_add(&url, sas);
    c->http.url = buf_str(&url);
    c->sign.path = str_slice(c->http.url, path_from, path_to); /* the very bytes that go on the wire */
}

static void build(task *t, call *c)
{
    const azure_request  *in = c->in;
    const azure_endpoint *e = c->e;
    char                 *id = arena_alloc(t->arena, UUID_TEXT + 1);
    uint64_t              try_ms = in->try_ms != 0 ? in->try_ms : c->streams ? STREAM_MS : TRY_MS;

    c->http = (fetch_request){.method = in->method,
                              .body = in->body,
                              .answer_max = in->answer_max,
                              .timeout_ms = try_ms,
                              .connect_ms = CONNECT_MS,
                              .idle_max_s = e->conn.short_idle ? IDLE_SHORT_S : IDLE_LONG_S,
                              .repeatable = !in->once,
                              .sent = &c->sent};
    c->sign = (sign_request){
        .account = e->cred.account, .method = in->method, .query = in->query, .body_bytes = in->body.len};
    build_url(t, c);
    c->headers = arena_array(t->arena, http_header, in->header_count + OWN_HEADERS);
    if (in->header_count > 0)
        memcpy(c->headers, in->headers, in->header_count * sizeof *in->headers);
    c->fixed_count = in->header_count;
    if (http_header_get(in->headers, in->header_count, STR("Accept")).at == NULL)
        add_header(c, "Accept", e->accept);
    add_header(c, "x-ms-version", e->version);
    add_header(c, "x-ms-client-request-id", id_uuid(id));
}

/* ---- one try ---- */

/* Of an answer that is streamed, a failing one is read here, as far as it is of interest. */
static res read_failure(task *t, call *c)
{
    buf body;
    str piece;
    buf_init(&body, t->arena, ERROR_BODY_MAX);
    res r;
    do
        r = fetch_read(t, c->stream, &piece);
    while (r == RES_OK && piece.len > 0 && buf_add(&body, piece));
    fetch_close(c->stream);
    c->stream = NULL;
    c->got.http.body = buf_str(&body);
    return r;
}

static res send(task *t, call *c)
{
    fetch_answer *http = &c->got.http;
    res           r = c->streams ? fetch_open(t, &c->http, http, &c->stream) : fetch(t, &c->http, http);
    if (r != RES_OK)
        return r;
    c->got.doubtful = c->got.doubtful || http->retried;
    if (c->streams && http->status >= 300)
        r = read_failure(t, c);
    if (r == RES_OK && http->status >= 400)
        error_read(t->arena, http, &c->got.code, &c->got.message);
    return r;
}

static res try_once(task *t, call *c)
{
    size_t count = c->fixed_count;
    str    authorization = {0};
    if (c->e->cred.kind != CREDENTIAL_SAS)
        c->headers[count++] =
            (http_header){STR("x-ms-date"), arena_copy(t->arena, azure_endpoint_date(c->e))};
    c->sign.headers = c->headers;
    c->sign.header_count = count;
    c->authorized = false;
    c->sent = false;
    c->got.code = c->got.message = (str){0};
    TRY(credential_authorize(t, &c->e->cred, &c->sign, &authorization, &c->token_version));
    if (authorization.len > 0)
        c->headers[count++] = (http_header){STR("Authorization"), authorization};
    c->authorized = true;
    c->http.headers = c->headers;
    c->http.header_count = count;
    c->try_began_us = clock_mono_us();
    c->got.tries++;
    return send(t, c);
}

/* ---- what next ---- */

/* Our clock is wrong if the service's Date is far from what we said the time is (spec 8.3). */
static bool correct_clock(call *c)
{
    const fetch_answer *http = &c->got.http;
    int64_t             theirs_us, ours_us = clock_wall_us();
    if (c->clock_corrected || c->e->cred.kind == CREDENTIAL_SAS ||
        !http_date_parse(http_header_get(http->headers, http->header_count, STR("Date")), &theirs_us))
        return false;
    int64_t off_us = theirs_us - (ours_us + c->e->clock_offset_us);
    if (off_us < SKEW_US_MIN && off_us > -SKEW_US_MIN)
        return false;
    c->clock_corrected = true;
    c->e->clock_offset_us = theirs_us - ours_us;
    c->e->date_s = INT64_MIN;
    return true;
}

static bool renew_token(call *c)
{
    if (c->token_renewed || !credential_refused(&c->e->cred, c->token_version))
        return false;
    c->token_renewed = true;
    return true;
}

/* A wait is begun only if it ends before the deadline. */
static bool fits(const task *t, uint64_t wait_ms)
{
    return wait_ms < task_left_ms(t);
}

static bool again_slowly(const task *t, call *c, uint64_t *ret_wait_ms)
{
    *ret_wait_ms = RETRY_SLOW_MS;
    if (retry_after_ms(&c->got.http, clock_wall_us(), ret_wait_ms) && *ret_wait_ms > RETRY_AFTER_MAX_MS)
        return false;
    return ++c->slow_tries <= RETRY_SLOW_TRIES && fits(t, *ret_wait_ms);
}

static bool again(const task *t, call *c, bool answered, uint64_t *ret_wait_ms)
{
    uint32_t random;
    if (++c->plain_tries >= RETRY_TRIES || (c->in->once && c->sent))
        return false;
    id_random(&random, sizeof random);
    *ret_wait_ms = retry_delay_ms(c->plain_tries, random);
    if (answered && retry_after_ms(&c->got.http, clock_wall_us(), ret_wait_ms) &&
        *ret_wait_ms > RETRY_AFTER_MAX_MS)
        return false;
    return fits(t, *ret_wait_ms);
}

static bool wants_more(const task *t, call *c, res r, uint64_t *ret_wait_ms)
{
    int status = c->got.http.status;
    *ret_wait_ms = 0;
    if (task_stopped(t) != RES_OK || !c->authorized)
        return false;
    if (r != RES_OK)
        return retry_failure(r) && again(t, c, false, ret_wait_ms);
    if (status == 403)
        return correct_clock(c);
    if (status == 401)
        return renew_token(c);
    if (status == 409 && retry_slowly(c->got.code))
        return again_slowly(t, c, ret_wait_ms);
    return retry_status(status) && again(t, c, true, ret_wait_ms);
}

/* Whether the try that just failed may have been carried out all the same. Refusals were not. */
static bool leaves_doubt(const call *c, res r)
{
    int status = c->got.http.status;
    return r != RES_OK ? c->sent : status == 408 || status >= 500;
}

static res run_tries(task *t, call *c)
{
    for (;;) {
        uint64_t wait_ms;
        res      r = try_once(t, c);
        if (!wants_more(t, c, r, &wait_ms))
            return r;
        c->got.doubtful = c->got.doubtful || leaves_doubt(c, r);
        task_forget(t);
        if (wait_ms > 0) {
            r = task_sleep(t, wait_ms);
            if (r != RES_OK)
                return r;
        }
    }
}

/* ---- the end ---- */

static void tell_breaker(const call *c, res r)
{
    uint64_t now_us = clock_mono_us();
    bool     answered = r == RES_OK || r == RES_TOO_LARGE;
    bool     bad_answer = r == RES_OK && c->got.http.status >= 500;
    if (!c->authorized)
        return;
    if (answered && !bad_answer)
        breaker_succeeded(&c->e->breaker);
    else if (bad_answer || r == RES_UNREACHABLE || r == RES_UPSTREAM ||
             (r == RES_TIMEOUT && now_us - c->try_began_us >= FAIR_TRY_US))
        breaker_failed(&c->e->breaker, now_us);
}

static res conclude(task *t, const call *c, res r)
{
    const azure_answer *got = &c->got;
    if (r == RES_OK && !retry_status(got->http.status))
        return RES_OK;
    char tries[32] = "";
    if (got->tries > 1)
        (void)snprintf(tries, sizeof tries, " (%u tries)", got->tries);
    if (r != RES_OK)
        return task_fail(t, r, "%s%s", c->in->operation, tries);
    task_set_peer(t, got->http.status, got->code, got->message);
    return task_fail(t, error_result(got->http.status, got->code), "%s%s: the service answered %d%s%.*s",
                     c->in->operation, tries, got->http.status, got->code.len > 0 ? " " : "",
                     STR_ARG(got->code));
}

static res run(task *t, call *c)
{
    uint64_t began_us = clock_mono_us();
    if (c->in->header_count > AZURE_HEADERS_MAX)
        return task_fail(t, RES_INVALID, "%s: more than %d headers", c->in->operation, AZURE_HEADERS_MAX);
    if (!breaker_may_pass(&c->e->breaker, began_us)) {
        count_call(c, RES_UNAVAILABLE, began_us);
        return task_fail(t, RES_UNAVAILABLE, "%s: '%.*s' has been failing and is left alone for a while",
                         c->in->operation, STR_ARG(c->e->conn.url));
    }
    build(t, c);
    res r = run_tries(t, c);
    tell_breaker(c, r);
    r = conclude(t, c, r);
    count_call(c, r, began_us);
    return r;
}

res azure_call(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret)
{
    call c = {.e = e, .in = in};
    TRY(run(t, &c));
    *ret = c.got;
    return RES_OK;
}

res azure_call_stream(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret,
                      fetch_stream **ret_stream)
{
    call c = {.e = e, .in = in, .streams = true};
    TRY(run(t, &c));
    *ret = c.got;
    *ret_stream = c.stream;
    return RES_OK;
}
