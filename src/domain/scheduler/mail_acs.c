/* mail_acs.c -- messages by Azure Communication Services' REST interface.
 *
 *     POST {endpoint}/emails:send?api-version=…       202, and an operation that is looked at until it ends:
 *     GET  {endpoint}/emails/operations/{id}?…        {status: Running | Succeeded | Failed | Canceled,
 * error?}
 *
 * Each request is signed with the access key over method, path, date, host and the body's digest. The
 * operation's id is ours, so that a request whose answer was lost may be sent again without a second mail.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "core/log.h"
#include "domain/scheduler/mail_ways.h"
#include "domain/scheduler/settings.h"
#include "runtime/fetch.h"

#define API_VERSION "api-version=2023-03-31"

enum {
    BOUND_MS = 20000, /* for all of it */
    FETCH_MS = 8000,
    ANSWER_MAX = 64 * KIB,
    SENDS_MAX = 3,
    POLL_FIRST_MS = 200,
    POLL_MOST_MS = 3000,
    RETRY_FIRST_MS = 300,
    HTTP_ACCEPTED = 202,
    HTTP_THROTTLED = 429
};

typedef struct {
    str endpoint; /* "https://host[:port]", without a slash at the end */
    str host;     /* host[:port] */
    str key;      /* decoded */
} account;

typedef struct {
    task    *t;
    arena   *a;
    account  at;
    char     operation[UUID_TEXT + 1];
    uint64_t until_us; /* by the monotonic clock */
    str     *ret_said;
} sending;

/* ---- the connection string ---- */

static bool read_account(arena *a, str text, account *ret)
{
    str part, endpoint = {0}, key = {0};
    while (str_next_field(&text, ';', &part)) {
        size_t equals = str_find_char(part, '=');
        str    name = str_trim(str_slice(part, 0, equals)), value = str_trim(str_from(part, equals + 1));
        if (str_eq_nocase(name, STR("endpoint")))
            endpoint = value;
        else if (str_eq_nocase(name, STR("accesskey")))
            key = value;
    }
    log_add_secret(key);
    while (str_ends(endpoint, STR("/")))
        endpoint.len--;
    size_t slashes = str_find(endpoint, STR("://"));
    ret->endpoint = endpoint;
    ret->host = str_from(endpoint, slashes + STR("://").len);
    return (str_starts_nocase(endpoint, STR("https://")) || str_starts_nocase(endpoint, STR("http://"))) &&
           ret->host.len > 0 && str_find_char(ret->host, '/') == ret->host.len && key.len > 0 &&
           base64_decode(a, key, &ret->key) && ret->key.len > 0;
}

/* ---- one signed request ---- */

static str base64_of(arena *a, const sha256_digest *d)
{
    return base64_encode(a, (str){(const char *)d->at, sizeof d->at});
}

static str authorization(const sending *s, str method, str target, str date, str digest)
{
    str text = arena_strf(s->a, "%.*s\n%.*s\n%.*s;%.*s;%.*s", STR_ARG(method), STR_ARG(target), STR_ARG(date),
                          STR_ARG(s->at.host), STR_ARG(digest));
    sha256_digest mac = hash_hmac_sha256(s->at.key, text);
    str           signature = base64_of(s->a, &mac);
    return arena_strf(s->a, "HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=%.*s",
                      STR_ARG(signature));
}

static uint64_t left_ms(const sending *s)
{
    uint64_t now_us = clock_mono_us();
    return now_us < s->until_us ? (s->until_us - now_us) / 1000 : 0;
}

static res exchange(const sending *s, str method, str target, str body, fetch_answer *ret)
{
    char          date_text[HTTP_DATE_SIZE];
    sha256_digest sum = hash_sha256(body);
    str           digest = base64_of(s->a, &sum);
    str           date = arena_copy(s->a, http_date_format(clock_wall_us(), date_text));
    http_header   headers[] = {
          {STR("x-ms-date"), date},
          {STR("x-ms-content-sha256"), digest},
          {STR("Authorization"), authorization(s, method, target, date, digest)},
          {STR("Content-Type"), STR("application/json")},
          {STR("Operation-Id"), str_of(s->operation)},
    };
    uint64_t left = left_ms(s);
    if (left == 0)
        return RES_TIMEOUT;
    fetch_request in = {
        .method = method,
        .url = arena_strf(s->a, "%.*s%.*s", STR_ARG(s->at.endpoint), STR_ARG(target)),
        .headers = headers,
        .header_count = sizeof headers / sizeof *headers,
        .body = body,
        .answer_max = ANSWER_MAX,
        .timeout_ms = left < FETCH_MS ? left : FETCH_MS,
        .repeatable = true,
    };
    res r = fetch(s->t, &in, ret);
    if (r != RES_OK) {
        *s->ret_said = arena_copy(s->a, task_message(s->t));
        task_forget(s->t);
    }
    return r;
}

/* ---- what the answers mean ---- */

/* The service's codes are many and change; what they are about is in their names. */
static mail_result kind_of_error(arena *a, const json_val *error, int status, str *ret_said)
{
    str code = json_text(json_get(error, "code"), (str){0});
    str message = json_text(json_get(error, "message"), (str){0});
    if (code.len + message.len > 0)
        *ret_said = arena_strf(a, "%.*s: %.*s", STR_ARG(code), STR_ARG(message));
    else if (status != 0)
        *ret_said = arena_strf(a, "HTTP %d", status);
    if (str_has(code, STR("Suppress")))
        return MAIL_SUPPRESSED;
    if (status == HTTP_THROTTLED || str_has(code, STR("TooManyRequests")))
        return MAIL_RATE_LIMITED;
    if (str_has(code, STR("Recipient")) || str_has(code, STR("EmailAddress")) ||
        (status == 400 && (str_has(message, STR("recipient")) || str_has(message, STR("email address")))))
        return MAIL_INVALID_ADDRESS;
    if (status >= 500)
        return MAIL_TRANSIENT;
    return status >= 400 || status == 0 ? MAIL_PROVIDER_REJECTED : MAIL_UNKNOWN;
}

static mail_result refused(const sending *s, const fetch_answer *got)
{
    const json_val *doc = NULL;
    if (json_parse(s->a, got->body, &doc, NULL) != RES_OK)
        doc = NULL;
    return kind_of_error(s->a, json_get(doc, "error"), got->status, s->ret_said);
}

static bool worth_waiting(const fetch_answer *got)
{
    return got->status == HTTP_THROTTLED || got->status >= 500;
}

/* Of a Retry-After that would take longer than what is left, nothing is waited for: false. */
static bool wait_before_next(const sending *s, const fetch_answer *got, uint64_t otherwise_ms)
{
    uint64_t seconds, ms = otherwise_ms;
    str said = got != NULL ? http_header_get(got->headers, got->header_count, STR("Retry-After")) : (str){0};
    if (str_to_u64(said, &seconds))
        ms = seconds > BOUND_MS / 1000 ? BOUND_MS : seconds * 1000;
    if (got != NULL && got->status < 400 && ms > POLL_MOST_MS)
        ms = POLL_MOST_MS; /* a hint for the patient; here somebody waits */
    if (ms >= left_ms(s))
        return false;
    return task_sleep(s->t, ms) == RES_OK;
}

/* ---- sending, and looking after it ---- */

static str body_of(arena *a, const mail *m)
{
    const sched_settings *set = sched_settings_get();
    json                 *v = json_object(a);
    json_set_str(v, "senderAddress", set->mail_sender);
    json_set_str(json_push_object(json_set_array(json_set_object(v, "recipients"), "to")), "address", m->to);
    json *content = json_set_object(v, "content");
    json_set_str(content, "subject", m->subject);
    json_set_str(content, "plainText", m->text);
    json_set_str(content, "html", m->html);
    if (m->reply_to.len > 0)
        json_set_str(json_push_object(json_set_array(v, "replyTo")), "address", m->reply_to);
    if (!set->mail_plain_headers)
        json_set_str(json_set_object(v, "headers"), "Auto-Submitted", STR("auto-generated"));
    return json_print(a, v);
}

/* Where the service says it tells of the operation; or, if that is nowhere of its own, by our id: what is
 * signed goes to the account and to nobody else. */
static str operation_at(const sending *s, const fetch_answer *got)
{
    str url = http_header_get(got->headers, got->header_count, STR("Operation-Location"));
    str target = str_starts_nocase(url, s->at.endpoint) ? str_from(url, s->at.endpoint.len) : (str){0};
    if (str_starts(target, STR("/")))
        return target;
    return arena_strf(s->a, "/emails/operations/%s?" API_VERSION, s->operation);
}

/* MAIL_SENT: it was accepted, and is under way. */
static mail_result submit(const sending *s, str body, str *ret_operation)
{
    fetch_answer got;
    for (int n = 1;; n++) {
        res  r = exchange(s, STR("POST"), STR("/emails:send?" API_VERSION), body, &got);
        bool answered = r == RES_OK;
        if (answered && got.status == HTTP_ACCEPTED) {
            *ret_operation = operation_at(s, &got);
            return MAIL_SENT;
        }
        mail_result why = answered          ? refused(s, &got)
                          : r == RES_CONFIG ? MAIL_CONFIG_MISSING
                                            : MAIL_TRANSIENT;
        bool        again = answered ? worth_waiting(&got) : r == RES_UNREACHABLE || r == RES_UPSTREAM;
        if (!again || n == SENDS_MAX ||
            !wait_before_next(s, answered ? &got : NULL, (uint64_t)RETRY_FIRST_MS * (uint64_t)n))
            return why;
    }
}

typedef enum { UNDER_WAY, ENDED } progress;

static progress look(const sending *s, str target, fetch_answer *got, bool *ret_answered, mail_result *ret)
{
    const json_val *doc;
    *ret = MAIL_TRANSIENT;
    *ret_answered = exchange(s, STR("GET"), target, (str){0}, got) == RES_OK;
    if (!*ret_answered || worth_waiting(got))
        return UNDER_WAY;
    if (got->status != 200) {
        *ret = refused(s, got);
        return ENDED;
    }
    *ret = MAIL_UNKNOWN;
    if (json_parse(s->a, got->body, &doc, NULL) != RES_OK) {
        *s->ret_said = STR("the state of the operation is no JSON");
        return ENDED;
    }
    str status = json_text(json_get(doc, "status"), (str){0});
    if (str_eq(status, STR("Running")) || str_eq(status, STR("NotStarted"))) {
        *s->ret_said = STR("accepted, and not sent within the time that was given");
        *ret = MAIL_TRANSIENT;
        return UNDER_WAY;
    }
    if (str_eq(status, STR("Succeeded")))
        *ret = MAIL_SENT;
    else if (str_eq(status, STR("Failed")) || str_eq(status, STR("Canceled")))
        *ret = kind_of_error(s->a, json_get(doc, "error"), 0, s->ret_said);
    return ENDED;
}

static mail_result follow(const sending *s, str target)
{
    for (uint64_t pause = POLL_FIRST_MS;; pause = pause < POLL_MOST_MS / 2 ? pause * 2 : POLL_MOST_MS) {
        fetch_answer got;
        bool         answered;
        mail_result  r;
        if (look(s, target, &got, &answered, &r) == ENDED)
            return r;
        if (!wait_before_next(s, answered ? &got : NULL, pause))
            return r;
    }
}

mail_result mail_by_acs(task *t, const mail *m, str *ret_said)
{
    sending s = {.t = t, .a = t->arena, .until_us = clock_mono_us() + BOUND_MS * UINT64_C(1000)};
    s.ret_said = ret_said;
    (void)id_uuid(s.operation);
    if (!read_account(s.a, sched_settings_get()->mail_connection, &s.at)) {
        *ret_said = STR("AZURE_COMMUNICATION_CONNECTION_STRING wants endpoint=https://…;accesskey=…");
        return MAIL_CONFIG_MISSING;
    }
    str         operation = {0};
    mail_result r = submit(&s, body_of(s.a, m), &operation);
    return r == MAIL_SENT ? follow(&s, operation) : r;
}
