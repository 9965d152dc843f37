/* fetch.c -- the public call: checks, redirects, one repetition, results and their words.
 *
 * fetch_run is the whole story, for fetch and for fetch_open:
 *
 *     check the request; for each hop { wait for a turn; send; wait; once more if the connection was dead;
 *     follow a redirect }
 *
 * Redirects are ours and not libcurl's, because of one rule: to another scheme, host or port go Accept,
 * User-Agent and Content-Type, and nothing else that the caller gave, also not on the way back.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/fetch.h"

#include <stdio.h>
#include <string.h>

#include "core/metrics.h"
#include "runtime/fetch_internal.h"
#include "runtime/loop_uv.h"

enum { REASON_BYTES = 256, METHOD_MAX = 32 };

/* ---- checks: nothing is sent unless all is well ---- */

/* The framing of the message is fetch's own: two opinions about it are how requests are smuggled. */
static const char *const own_headers[] = {
    "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "TE", "Trailer"};

static res check_header(task *t, const http_header *h)
{
    if (!http_header_name_ok(h->name))
        return task_fail(t, RES_INVALID, "a header to be sent has an invalid name");
    if (!http_header_value_ok(h->value))
        return task_fail(t, RES_INVALID, "the header '%.*s' to be sent has an invalid value",
                         STR_ARG(h->name));
    for (size_t i = 0; i < sizeof own_headers / sizeof *own_headers; i++)
        if (str_eq_nocase(h->name, str_of(own_headers[i])))
            return task_fail(t, RES_INVALID, "the header '%s' is set by fetch itself", own_headers[i]);
    return RES_OK;
}

static res check_request(task *t, const fetch_request *in, fetch_origin *ret)
{
    if (in->method.len == 0 || in->method.len > METHOD_MAX || !http_header_name_ok(in->method))
        return task_fail(t, RES_INVALID, "the request has an invalid method");
    if (in->body.len > 0 && str_eq(in->method, STR("HEAD")))
        return task_fail(t, RES_INVALID, "a HEAD request has no body");
    if (str_eq(in->method, STR("CONNECT")))
        return task_fail(t, RES_INVALID, "fetch makes no tunnels");
    if (in->header_count > FETCH_HEADERS_MAX)
        return task_fail(t, RES_INVALID, "a request has at most %d headers", FETCH_HEADERS_MAX);
    size_t bytes = 0;
    for (size_t i = 0; i < in->header_count; i++) {
        res r = check_header(t, &in->headers[i]);
        if (r != RES_OK)
            return r;
        bytes += in->headers[i].name.len + in->headers[i].value.len;
    }
    if (bytes > FETCH_HEAD_MAX)
        return task_fail(t, RES_INVALID, "the headers of a request have at most %d bytes", FETCH_HEAD_MAX);
    const char *wrong = fetch_url_check(in->url, ret);
    return wrong == NULL ? RES_OK : task_fail(t, RES_INVALID, "%s", wrong);
}

/* ---- results ---- */

static uint64_t now_us(void)
{
    return uv_hrtime() / 1000;
}

/* The words of libcurl about names, connections and certificates are good ones and hold nothing secret; about
 * the rest, its general text is enough. Peers have a hand in both: one line of plain characters is kept. */
static const char *reason(const fetch_transfer *x, bool detailed, char out[REASON_BYTES])
{
    const char *text = detailed && x->error[0] != '\0' ? x->error : curl.easy_strerror(x->code);
    (void)snprintf(out, REASON_BYTES, "%s", text);
    for (char *c = out; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return out;
}

static bool connected(const fetch_transfer *x)
{
    curl_off_t sent_us = 0;
    (void)curl.easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &sent_us); /* else it stays 0 */
    return sent_us > 0;
}

static res explain_fault(task *t, const fetch_stream *s)
{
    switch (s->x->fault) {
    case FETCH_FAULT_BODY:
        return task_fail(t, RES_TOO_LARGE, "%.*s: the answer is longer than %llu bytes", STR_ARG(s->origin),
                         (unsigned long long)s->x->body_max);
    case FETCH_FAULT_HEAD:
        return task_fail(t, RES_UPSTREAM, "%.*s: the head of the answer is over %d KiB or %d headers",
                         STR_ARG(s->origin), FETCH_HEAD_MAX / KIB, FETCH_HEADERS_MAX);
    case FETCH_FAULT_SWITCH:
        return task_fail(t, RES_UPSTREAM, "%.*s: the peer switched protocols, which nobody asked for",
                         STR_ARG(s->origin));
    case FETCH_FAULT_MEMORY:
        return task_fail(t, RES_MEMORY, "%.*s: no memory for the answer", STR_ARG(s->origin));
    case FETCH_FAULT_NONE:
    case FETCH_FAULT_STOPPED:
        break;
    }
    return task_fail(t, RES_INTERNAL, "%.*s: the transfer was stopped", STR_ARG(s->origin));
}

static res explain_timeout(task *t, const fetch_stream *s)
{
    /* Both limits have one code: it was the shorter one for connecting if the other is not reached yet. */
    if (!connected(s->x) && now_us() + 1000 < s->until_us)
        return task_fail(t, RES_UNREACHABLE, "%.*s: no connection within the time for it",
                         STR_ARG(s->origin));
    return task_fail(t, RES_TIMEOUT, "%.*s: no complete answer after %llu ms", STR_ARG(s->origin),
                     (unsigned long long)(now_us() - s->began_us) / 1000);
}

res fetch_explain(task *t, fetch_stream *s)
{
    fetch_transfer *x = s->x;
    char            words[REASON_BYTES];
    bool            answered = x->head_total > 0;

    if (x->fault != FETCH_FAULT_NONE)
        return explain_fault(t, s);
    if (x->dead)
        return task_fail(t, RES_UNREACHABLE, "%.*s: the peer closed the connection before it answered",
                         STR_ARG(s->origin));
    switch (x->code) {
    case CURLE_OK: /* libcurl is content with a head that ends in the middle */
        return x->head_done ? RES_OK
                            : task_fail(t, RES_UPSTREAM, "%.*s: the answer broke off", STR_ARG(s->origin));
    case CURLE_OUT_OF_MEMORY:
        return task_fail(t, RES_MEMORY, "%.*s: no memory for the transfer", STR_ARG(s->origin));
    case CURLE_OPERATION_TIMEDOUT:
        return explain_timeout(t, s);
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
        return task_fail(t, answered ? RES_UPSTREAM : RES_UNREACHABLE, "%.*s: %s", STR_ARG(s->origin),
                         answered ? "the answer broke off" : reason(x, false, words));
    case CURLE_PARTIAL_FILE:
        return task_fail(t, RES_UPSTREAM, "%.*s: the answer broke off", STR_ARG(s->origin));
    case CURLE_URL_MALFORMAT:
        return task_fail(t, RES_INVALID, "%.*s: the URL is malformed", STR_ARG(s->origin));
    default: /* before anything was sent it is the way there that failed; after that, what came is no HTTP */
        return task_fail(t, connected(x) ? RES_UPSTREAM : RES_UNREACHABLE, "%.*s: %s", STR_ARG(s->origin),
                         reason(x, !connected(x), words));
    }
}

/* ---- metrics ---- */

void fetch_count(fetch_stream *s, res result)
{
    static metric *totals[RES_COUNT], *seconds;
    if (s->counted)
        return;
    s->counted = true;
    if (seconds == NULL)
        seconds = metrics_histogram("trestle_fetch_seconds", "", "Time of outgoing requests");
    if (totals[result] == NULL) {
        char labels[64];
        (void)snprintf(labels, sizeof labels, "result=\"%s\"", res_name(result));
        totals[result] = metrics_counter("trestle_fetch_total", labels, "Outgoing requests by result");
    }
    metrics_add(totals[result], 1);
    metrics_observe_us(seconds, now_us() - s->began_us);
}

/* ---- one exchange ---- */

void fetch_drop(void *stream)
{
    fetch_stream *s = stream;
    if (s->x != NULL)
        fetch_transfer_give(s->x);
    s->x = NULL;
    buf_free(&s->piece);
    fetch_turn_give(s);
}

static void stop_transfer(wait *w)
{
    fetch_transfer *x = w->ctx;
    fetch_multi_remove(x);
    fetch_transfer_wake(x);
}

res fetch_wait(task *t, fetch_stream *s, fetch_wake wake)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;
    wait w = WAIT_INIT("fetch");
    w.ctx = s->x;
    s->x->waiting = &w;
    s->x->wake = wake;
    fetch_transfer_wake(s->x); /* what it waits for may be here already */
    return wait_for(t, &w, stop_transfer);
}

/* How long this attempt may take; 0 when there is no time left, UINT64_MAX without a limit. */
static uint64_t left_ms(const task *t, const fetch_stream *s)
{
    uint64_t task_ms = task_left_ms(t), now = now_us();
    if (s->until_us == UINT64_MAX)
        return task_ms;
    uint64_t own_ms = s->until_us > now ? (s->until_us - now + 999) / 1000 : 0;
    return own_ms < task_ms ? own_ms : task_ms;
}

static res send_once(task *t, fetch_stream *s, const fetch_request *in, fetch_options *o)
{
    o->left_ms = left_ms(t, s);
    if (o->left_ms == 0)
        return task_fail(t, RES_TIMEOUT, "%.*s: no time is left", STR_ARG(s->origin));
    if (o->left_ms == UINT64_MAX)
        o->left_ms = 0;

    if (s->x == NULL)
        s->x = fetch_transfer_take();
    if (s->x == NULL || !fetch_transfer_set(s->x, t->arena, in, o) || !fetch_multi_add(s->x))
        return task_fail(t, RES_MEMORY, "%.*s: no memory for a transfer", STR_ARG(s->origin));
    res r = fetch_wait(t, s, o->streams ? FETCH_WAKE_HEAD : FETCH_WAKE_END);
    s->sent = s->sent || s->x->sends > 0;
    return r == RES_OK ? r
                       : task_fail(t, r, "%.*s: stopped while waiting for the answer", STR_ARG(s->origin));
}

/* Kept alive, then closed by the peer, so that nothing of our request was answered. */
static bool died(const fetch_transfer *x)
{
    if (x->dead)
        return true;
    bool cut = x->code == CURLE_SEND_ERROR || x->code == CURLE_RECV_ERROR || x->code == CURLE_GOT_NOTHING;
    return x->ended && cut && x->reused && x->head_total == 0 && x->fault == FETCH_FAULT_NONE;
}

static res take_turn(task *t, fetch_stream *s, bool tls)
{
    res r = fetch_turn_take(t, s, tls, s->until_us);
    switch (r) {
    case RES_OK:
        return r;
    case RES_CONFIG:
        return task_fail(t, r, "%s", fetch_turn_why());
    case RES_UNAVAILABLE:
        return task_fail(t, r, "%.*s: too many requests wait to be sent", STR_ARG(s->origin));
    default:
        return task_fail(t, r, "%.*s: stopped while waiting for its turn", STR_ARG(s->origin));
    }
}

static res exchange(task *t, fetch_stream *s, const fetch_request *in, bool tls, bool streams)
{
    fetch_options o = {.url = arena_cstr(t->arena, in->url), .tls = tls, .streams = streams};
    res           r = take_turn(t, s, tls);
    if (r == RES_OK)
        r = send_once(t, s, in, &o);
    if (r == RES_OK && died(s->x) && s->x->repeatable) {
        s->retries++;
        o.fresh = true;
        r = send_once(t, s, in, &o);
    }
    if (r == RES_OK && s->x->retried)
        s->retries++;
    /* A stream that broke off after its head says so when it is read. */
    if (r == RES_OK && !(streams && s->x->head_done))
        r = fetch_explain(t, s);
    return r;
}

/* ---- the answer ---- */

static res read_headers(task *t, const fetch_stream *s, fetch_answer *ret)
{
    str          rest = arena_copy(t->arena, buf_str(&s->x->head)), line;
    http_header *list = arena_array(t->arena, http_header, s->x->header_count);
    size_t       count = 0;
    while (count < s->x->header_count && str_next_field(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');
        str    name = str_slice(line, 0, colon);
        if (colon == line.len || !http_header_name_ok(name))
            return task_fail(t, RES_UPSTREAM, "%.*s: the answer has a malformed header", STR_ARG(s->origin));
        list[count++] = (http_header){name, str_trim(str_from(line, colon + 1))};
    }
    ret->headers = list;
    ret->header_count = count;
    return RES_OK;
}

static res read_answer(task *t, const fetch_stream *s, bool streams, fetch_answer *ret)
{
    *ret = (fetch_answer){.status = s->x->status, .reused = s->x->reused, .retried = s->retries > 0};
    if (!s->x->ended) { /* a stream whose head is here: still libcurl's, but this much is known */
        long opened = 0;
        (void)curl.easy_getinfo(s->x->easy, CURLINFO_NUM_CONNECTS, &opened); /* else it stays 0 */
        ret->reused = opened == 0;
    }
    res r = read_headers(t, s, ret);
    if (r == RES_OK && !streams)
        ret->body = arena_copy(t->arena, buf_str(&s->x->body));
    ret->took_us = now_us() - s->began_us;
    return r;
}

/* ---- redirects ---- */

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool harmless_elsewhere(str name)
{
    return str_eq_nocase(name, STR("Accept")) || str_eq_nocase(name, STR("User-Agent")) ||
           str_eq_nocase(name, STR("Content-Type"));
}

static void keep_headers(task *t, fetch_request *in, bool elsewhere, bool without_body)
{
    http_header *list = arena_array(t->arena, http_header, in->header_count);
    size_t       count = 0;
    for (size_t i = 0; i < in->header_count; i++) {
        str name = in->headers[i].name;
        if (elsewhere && !harmless_elsewhere(name))
            continue;
        if (without_body && str_starts_nocase(name, STR("Content-")))
            continue;
        list[count++] = in->headers[i];
    }
    in->headers = list;
    in->header_count = count;
}

/* Makes *in the request of the next hop. */
static res follow(task *t, fetch_stream *s, int status, str location, fetch_request *in, fetch_origin *origin)
{
    fetch_origin next;
    str          url;
    if (!fetch_url_resolve(t->arena, in->url, location, &url))
        return task_fail(t, RES_UPSTREAM, "%.*s: redirects to an invalid URL", STR_ARG(s->origin));
    const char *wrong = fetch_url_check(url, &next);
    if (wrong != NULL)
        return task_fail(t, RES_UPSTREAM, "%.*s: redirects: %s", STR_ARG(s->origin), wrong);

    bool post = str_eq(in->method, STR("POST")), head = str_eq(in->method, STR("HEAD"));
    bool to_get = (status == 303 && !head) || ((status == 301 || status == 302) && post);
    keep_headers(t, in, !fetch_url_same_origin(origin, &next), to_get);
    if (to_get) {
        in->method = STR("GET");
        in->body = (str){0};
    }
    in->url = url;
    *origin = next;
    return RES_OK;
}

static str origin_text(arena *a, const fetch_origin *o)
{
    return arena_strf(a, "http%s://%.*s:%u", o->tls ? "s" : "", STR_ARG(o->host), o->port);
}

static res run_hops(task *t, fetch_stream *s, fetch_request in, fetch_origin origin, bool streams,
                    fetch_answer *ret)
{
    for (unsigned hop = 0;; hop++) {
        s->origin = origin_text(t->arena, &origin);
        res r = exchange(t, s, &in, origin.tls, streams);
        if (r == RES_OK)
            r = read_answer(t, s, streams, ret);
        str location = {0};
        if (r == RES_OK && in.redirects_max > 0 && is_redirect(ret->status))
            location = http_header_get(ret->headers, ret->header_count, STR("Location"));
        if (r != RES_OK || location.at == NULL)
            return r;

        if (hop == in.redirects_max)
            return task_fail(t, RES_UPSTREAM, "%.*s: more than %u redirects", STR_ARG(s->origin), hop);
        fetch_drop(s);
        r = follow(t, s, ret->status, location, &in, &origin);
        if (r != RES_OK)
            return r;
    }
}

res fetch_run(task *t, const fetch_request *in, bool streams, fetch_answer *ret, fetch_stream **ret_stream)
{
    fetch_origin  origin = {0};
    fetch_answer  answer;
    fetch_stream *s = arena_one(t->arena, fetch_stream);
    buf_init(&s->piece, NULL, SIZE_MAX);
    arena_defer(t->arena, fetch_drop, s);
    s->began_us = now_us();
    s->until_us = in->timeout_ms != 0 && in->timeout_ms < UINT64_MAX / 2000
                      ? s->began_us + in->timeout_ms * 1000
                      : UINT64_MAX;
    res r = check_request(t, in, &origin);
    if (r == RES_OK)
        r = run_hops(t, s, *in, origin, streams, &answer);
    if (in->sent != NULL)
        *in->sent = s->sent;
    if (r != RES_OK) {
        fetch_count(s, r);
        fetch_drop(s);
        return r;
    }
    *ret = answer;
    *ret_stream = s;
    return RES_OK;
}

res fetch(task *t, const fetch_request *in, fetch_answer *ret)
{
    fetch_stream *s;
    res           r = fetch_run(t, in, false, ret, &s);
    if (r == RES_OK) {
        fetch_count(s, r);
        fetch_drop(s);
    }
    return r;
}

str fetch_library_version(arena *a)
{
    char why[REASON_BYTES] = "";
    if (!curl_load(CURL_LIBRARY, why, sizeof why))
        return arena_strf(a, "%s", why);
    const curl_version_info_data *v = curl.version_info(CURLVERSION_NOW);
    return arena_strf(a, "libcurl/%s %s", v->version,
                      v->ssl_version != NULL ? v->ssl_version : "without TLS");
}

void fetch_shutdown(void)
{
    fetch_turn_shutdown();
}
