/* identity.c -- the three sources of tokens (spec 2.8), each one request and one JSON answer.
 *
 * They differ in three places: how the request is made, which answers are worth another try, and how long to
 * wait before it. So each is a row of `sources`.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "storage/azure/azure.h"
#include "storage/azure/retry.h"

enum {
    TOKEN_MAX = 16 * KIB,
    ANSWER_MAX = 64 * KIB,
    PATIENT_MS = 10 * 1000,
    QUICK_MS = 3000,
    CONNECT_MS = 3000,
    PROBE_MS = 1000, /* IMDS answers at once or is not there at all */
    RETRIES = 3,
    GONE_RETRIES = 7, /* IMDS is being updated: 410 for up to 70 s */
    GONE_WAIT_MS = 10 * 1000,
    WAIT_MS = 1000,
    WAIT_MAX_MS = 4000,
};

typedef struct {
    const char *name; /* for messages */
    res (*build)(task *t, const identity *id, fetch_request *ret);
    bool imds;
} source;

static str env(const char *name)
{
    return str_of(getenv(name));
}

static str escaped(task *t, str s)
{
    return azure_escape(t->arena, s, "");
}

static void set_headers(task *t, fetch_request *q, str name, str value)
{
    http_header *h = arena_array(t->arena, http_header, 2);
    h[0] = (http_header){name, value};
    h[1] = (http_header){STR("Accept"), STR("application/json")};
    q->headers = h;
    q->header_count = 2;
}

/* What says which of several identities is meant; App Service and IMDS name resource ids differently. */
static str user_assigned(task *t, const identity *id, const char *resource_id_name)
{
    if (id->client_id.len > 0)
        return arena_strf(t->arena, "&client_id=%.*s", STR_ARG(escaped(t, id->client_id)));
    if (id->resource_id.len > 0)
        return arena_strf(t->arena, "&%s=%.*s", resource_id_name, STR_ARG(escaped(t, id->resource_id)));
    return (str){0};
}

/* ---- App Service ---- */

static res build_app_service(task *t, const identity *id, fetch_request *ret)
{
    str endpoint = env("IDENTITY_ENDPOINT");
    ret->method = STR("GET");
    ret->url = arena_strf(t->arena, "%.*s?api-version=2019-08-01&resource=%.*s%.*s", STR_ARG(endpoint),
                          STR_ARG(escaped(t, id->resource)), STR_ARG(user_assigned(t, id, "mi_res_id")));
    set_headers(t, ret, STR("X-IDENTITY-HEADER"), env("IDENTITY_HEADER"));
    ret->direct = true;
    return RES_OK;
}

/* ---- IMDS ---- */

static res build_imds(task *t, const identity *id, fetch_request *ret)
{
    str host = env("AZURE_POD_IDENTITY_AUTHORITY_HOST");
    if (host.len == 0)
        host = STR("http://169.254.169.254");
    if (str_ends(host, STR("/")))
        host.len--;
    ret->method = STR("GET");
    ret->url = arena_strf(
        t->arena, "%.*s/metadata/identity/oauth2/token?api-version=2018-02-01&resource=%.*s%.*s",
        STR_ARG(host), STR_ARG(escaped(t, id->resource)), STR_ARG(user_assigned(t, id, "msi_res_id")));
    set_headers(t, ret, STR("Metadata"), STR("true"));
    ret->direct = true;
    ret->connect_ms = PROBE_MS;
    return RES_OK;
}

/* ---- workload identity ---- */

typedef struct {
    const char *path;
    char        text[TOKEN_MAX];
    size_t      len;
    int         error;
} file_read;

static void read_file(void *arg)
{
    file_read *f = arg;
    int        fd = open(f->path, O_RDONLY | O_CLOEXEC);
    ssize_t    got = fd >= 0 ? 1 : -1;
    while (got > 0 && f->len < sizeof f->text) {
        got = read(fd, f->text + f->len, sizeof f->text - f->len);
        f->len += got > 0 ? (size_t)got : 0;
    }
    f->error = got < 0 ? errno : f->len == sizeof f->text ? EFBIG : 0;
    if (fd >= 0)
        (void)close(fd);
}

/* Kubernetes replaces the file every hour or so: it is read anew for each token. */
static res read_assertion(task *t, str *ret)
{
    file_read *f = arena_one(t->arena, file_read);
    f->path = arena_cstr(t->arena, env("AZURE_FEDERATED_TOKEN_FILE"));
    TRY(task_offload(t, read_file, f));
    if (f->error != 0)
        return task_fail(t, RES_CONFIG, "the file that AZURE_FEDERATED_TOKEN_FILE names: %s",
                         strerror(f->error));
    *ret = str_trim((str){f->text, f->len});
    return RES_OK;
}

static res build_workload(task *t, const identity *id, fetch_request *ret)
{
    str assertion = {0}, authority = env("AZURE_AUTHORITY_HOST");
    str client = id->client_id.len > 0 ? id->client_id : env("AZURE_CLIENT_ID");
    TRY(read_assertion(t, &assertion));
    if (authority.len == 0)
        authority = STR("https://login.microsoftonline.com");
    if (str_ends(authority, STR("/")))
        authority.len--;
    ret->method = STR("POST");
    ret->url = arena_strf(t->arena, "%.*s/%.*s/oauth2/v2.0/token", STR_ARG(authority),
                          STR_ARG(escaped(t, env("AZURE_TENANT_ID"))));
    ret->body = arena_strf(
        t->arena,
        "grant_type=client_credentials&client_id=%.*s&scope=%.*s%%2F.default&client_assertion_type="
        "urn%%3Aietf%%3Aparams%%3Aoauth%%3Aclient-assertion-type%%3Ajwt-bearer&client_assertion=%.*s",
        STR_ARG(escaped(t, client)), STR_ARG(escaped(t, id->resource)), STR_ARG(escaped(t, assertion)));
    set_headers(t, ret, STR("Content-Type"), STR("application/x-www-form-urlencoded"));
    ret->repeatable = true;
    return RES_OK;
}

/* ---- which ---- */

static const source workload = {"workload identity", build_workload, false},
                    app_service = {"the managed identity of App Service", build_app_service, false},
                    imds = {"the managed identity of this machine", build_imds, true};

static const source *choose(const identity *id)
{
    bool federated = env("AZURE_FEDERATED_TOKEN_FILE").len > 0 && env("AZURE_TENANT_ID").len > 0 &&
                     (env("AZURE_CLIENT_ID").len > 0 || id->client_id.len > 0);
    if (id->workload && federated)
        return &workload;
    if (!id->managed)
        return NULL;
    return env("IDENTITY_ENDPOINT").len > 0 && env("IDENTITY_HEADER").len > 0 ? &app_service : &imds;
}

/* ---- the answer ---- */

/* Seconds since 1970 as a number or as text, or a date; else the seconds that it lives (spec 2.8). */
static bool read_expiry(const json_val *doc, int64_t *ret_us)
{
    const json_val *on = json_get(doc, "expires_on");
    str             text = json_text(on, (str){0});
    int64_t         seconds = json_int(on, -1), in_s;
    if (seconds < 0 && !str_to_i64(text, &seconds)) {
        if (iso8601_parse(text, ret_us))
            return true;
        const json_val *in = json_get(doc, "expires_in");
        in_s = json_int(in, -1);
        if (in_s < 0 && !str_to_i64(json_text(in, (str){0}), &in_s))
            return false;
        seconds = clock_wall_us() / 1000000 + in_s;
    }
    if (seconds < 0 || seconds > INT64_MAX / 1000000)
        return false;
    *ret_us = seconds * 1000000;
    return true;
}

static res read_token(task *t, const source *from, str body, identity_token *ret)
{
    const json_val *doc = NULL;
    if (json_parse(t->arena, body, &doc, NULL) != RES_OK)
        return task_fail(t, RES_UPSTREAM, "%s: the answer is not JSON", from->name);
    str token = json_text(json_get(doc, "access_token"), (str){0});
    if (token.len == 0 || token.len > TOKEN_MAX || !http_header_value_ok(token))
        return task_fail(t, RES_UPSTREAM, "%s: the answer has no usable access_token", from->name);
    if (!read_expiry(doc, &ret->expires_us))
        return task_fail(t, RES_UPSTREAM, "%s: the answer does not say when the token expires", from->name);
    if (ret->expires_us <= clock_wall_us())
        return task_fail(t, RES_UPSTREAM, "%s: the token has expired already", from->name);
    ret->token = token;
    return RES_OK;
}

/* The "error" of OAuth is a word of the protocol; the description may repeat what we sent, and is left out.
 */
static res explain(task *t, const source *from, const fetch_answer *got)
{
    const json_val *doc = NULL;
    str             word = {0};
    if (json_parse(t->arena, got->body, &doc, NULL) == RES_OK)
        word = json_text(json_get(doc, "error"), (str){0});
    if (word.len > 64 || !http_header_name_ok(word))
        word = (str){0};
    res r = got->status == 429 || got->status == 503 ? RES_THROTTLED
            : got->status >= 500                     ? RES_UPSTREAM
                                                     : RES_CONFIG;
    return task_fail(t, r, "%s: answered %d%s%.*s", from->name, got->status, word.len > 0 ? " " : "",
                     STR_ARG(word));
}

/* ---- tries ---- */

static bool worth_another(const source *from, int status)
{
    if (status == 404 || status == 408 || status == 429 || status == 500 || status == 503 || status == 504)
        return true;
    return from->imds && (status == 410 || (status >= 500 && status <= 599));
}

/* Whether there is another try after this, the `tries`th, and after which wait. */
static bool again(const task *t, const source *from, const fetch_answer *got, unsigned tries,
                  uint64_t *ret_ms)
{
    bool     gone = from->imds && got->status == 410;
    uint64_t asked_ms;
    if (!worth_another(from, got->status) || tries > (gone ? (unsigned)GONE_RETRIES : (unsigned)RETRIES))
        return false;
    *ret_ms = gone ? GONE_WAIT_MS : WAIT_MS;
    for (unsigned i = 1; from->imds && !gone && i < tries && *ret_ms < WAIT_MAX_MS; i++)
        *ret_ms *= 2;
    if (retry_after_ms(got, clock_wall_us(), &asked_ms))
        *ret_ms = asked_ms;
    return *ret_ms <= RETRY_AFTER_MAX_MS && *ret_ms < task_left_ms(t);
}

res identity_fetch(task *t, const identity *id, bool patient, identity_token *ret)
{
    const source *from = choose(id);
    if (from == NULL)
        return task_fail(t, RES_CONFIG,
                         "workload identity: AZURE_FEDERATED_TOKEN_FILE, AZURE_TENANT_ID or "
                         "AZURE_CLIENT_ID is not set");
    for (unsigned tries = 1;; tries++) {
        fetch_request q = {.answer_max = ANSWER_MAX,
                           .timeout_ms = patient ? PATIENT_MS : QUICK_MS,
                           .connect_ms = CONNECT_MS};
        fetch_answer  got = {0};
        uint64_t      wait_ms = WAIT_MS;
        TRY(from->build(t, id, &q));
        res r = fetch(t, &q, &got);
        if (r == RES_OK && got.status == 200)
            return read_token(t, from, got.body, ret);
        bool more = r == RES_OK ? again(t, from, &got, tries, &wait_ms)
                                : retry_failure(r) && !from->imds && tries <= RETRIES &&
                                      task_stopped(t) == RES_OK && wait_ms < task_left_ms(t);
        if (!patient || !more)
            return r == RES_OK ? explain(t, from, &got) : task_fail(t, r, "%s", from->name);
        task_forget(t);
        TRY(task_sleep(t, wait_ms));
    }
}
