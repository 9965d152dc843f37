/* host_json.c -- see host_json.h.
 *
 * Every member that we read is a row of one table: where it stands, what it must be, where it goes. Each can
 * be overridden by AzureFunctionsJobHost__SECTION__MEMBER (also with ':', any case), as .NET's configuration
 * does it; then its value is a text, and so texts are accepted in the file too.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/host_json.h"

#include <unistd.h>

#include "runtime/config_file.h"
#include "runtime/cron.h"

#define HOUR_MS (3600 * INT64_C(1000))

typedef enum { KIND_TEXT, KIND_BOOL, KIND_INT, KIND_SPAN, KIND_TIMEOUT, KIND_ENCODING } member_kind;

typedef struct {
    const char *path; /* from the root of host.json */
    member_kind kind;
    size_t      offset;      /* into host_settings */
    int64_t     least, most; /* of numbers, and of spans in milliseconds */
} member;

static const char PREFIX[] = "AzureFunctionsJobHost";

#define AT(field) offsetof(host_settings, field)
static const member members[] = {
    {"customHandler:enableForwardingHttpRequest", KIND_BOOL, AT(forwarding), 0, 0},
    {"customHandler:enableProxyingHttpRequest", KIND_BOOL, AT(proxying), 0, 0},
    {"extensions:http:routePrefix", KIND_TEXT, AT(route_prefix), 0, 0},
    {"functionTimeout", KIND_TIMEOUT, AT(function_timeout_ms), 1000, INT64_MAX},
    {"extensions:queues:batchSize", KIND_INT, AT(queue_batch), 1, 32},
    {"extensions:queues:newBatchThreshold", KIND_INT, AT(queue_new_batch_threshold), 0, 1000},
    {"extensions:queues:maxDequeueCount", KIND_INT, AT(queue_max_dequeue), 1, 1000000},
    {"extensions:queues:visibilityTimeout", KIND_SPAN, AT(queue_visibility_ms), 0, 7 * 24 * HOUR_MS},
    {"extensions:queues:maxPollingInterval", KIND_SPAN, AT(queue_max_polling_ms), 100, 24 * HOUR_MS},
    {"extensions:queues:messageEncoding", KIND_ENCODING, AT(queue_plain), 0, 0},
};
#undef AT

typedef struct {
    arena          *a;
    const json_val *doc;
    host_settings  *host;
    str            *error;
} reader;

/* ---- the environment ---- */

/* Does NAME=… spell AzureFunctionsJobHost:path, with "__" for ':'? Then its value. */
static bool env_spells(const char *pair, const char *path, str *ret)
{
    const char *want[2] = {PREFIX, path};
    size_t      at = 0;
    for (size_t i = 0; i < 2; i++) {
        for (const char *w = want[i]; *w != '\0'; w++) {
            if (*w == ':' && pair[at] == '_' && pair[at + 1] == '_')
                at += 2;
            else if (str_lower_char(*w) == str_lower_char(pair[at]))
                at++;
            else
                return false;
        }
        if (i == 0 && pair[at] == ':')
            at++;
        else if (i == 0 && pair[at] == '_' && pair[at + 1] == '_')
            at += 2;
        else if (i == 0)
            return false;
    }
    if (pair[at] != '=')
        return false;
    *ret = str_of(pair + at + 1);
    return true;
}

static bool find_env(const char *path, str *ret)
{
    for (char **pair = environ; pair != NULL && *pair != NULL; pair++)
        if (env_spells(*pair, path, ret))
            return true;
    return false;
}

/* ---- the file ---- */

/* The value at "a:b:c"; NULL when one of them is missing. RES_CONFIG when a section is not an object. */
static res find_json(const reader *r, const char *path, const json_val **ret)
{
    const json_val *v = r->doc;
    str             part = {NULL, 0}, rest = str_of(path);
    while (v != NULL && str_next_field(&rest, ':', &part)) {
        v = json_get_nocase(v, part);
        if (json_typeof(v) == JSON_NULL)
            v = NULL;
        if (v != NULL && rest.len > 0 && json_typeof(v) != JSON_OBJECT)
            return config_error(r->a, r->error, "host.json: '%.*s' is not an object", STR_ARG(part));
    }
    *ret = v;
    return RES_OK;
}

/* What a text or a plain value says, as text; false for lists and objects. */
static bool value_text(arena *a, const json_val *v, str *ret)
{
    json_type t = json_typeof(v);
    if (t == JSON_STRING)
        *ret = json_text(v, STR(""));
    else if (t == JSON_BOOL)
        *ret = json_truth(v, false) ? STR("true") : STR("false");
    else if (t == JSON_NUMBER)
        *ret = json_print_val(a, v);
    else
        return false;
    return true;
}

/* ---- one member ---- */

typedef struct {
    const char *where; /* "host.json" or "environment" */
    str         text;
} source;

static res refuse(const reader *r, const member *m, const source *s, const char *why)
{
    return config_error(r->a, r->error, "%s: '%s' %s", s->where, m->path, why);
}

static res refuse_range(const reader *r, const member *m, const source *s)
{
    return config_error(r->a, r->error, "%s: '%s' is not within %lld and %lld%s", s->where, m->path,
                        (long long)m->least, (long long)m->most, m->kind == KIND_INT ? "" : " milliseconds");
}

static res set_number(const reader *r, const member *m, const source *s)
{
    int64_t n;
    if (!str_to_i64(s->text, &n))
        return refuse(r, m, s, "is not a whole number");
    if (n < m->least || n > m->most)
        return refuse_range(r, m, s);
    *(int *)((char *)r->host + m->offset) = (int)n;
    return RES_OK;
}

static res set_span(const reader *r, const member *m, const source *s)
{
    uint64_t *to = (uint64_t *)((char *)r->host + m->offset);
    int64_t   us;
    if (m->kind == KIND_TIMEOUT && str_eq(s->text, STR("-1"))) {
        *to = 0;
        return RES_OK;
    }
    if (!cron_timespan(s->text, &us))
        return refuse(r, m, s,
                      m->kind == KIND_TIMEOUT ? "is neither a TimeSpan hh:mm:ss nor -1"
                                              : "is not a TimeSpan hh:mm:ss");
    if (us / 1000 < m->least || us / 1000 > m->most)
        return m->kind == KIND_TIMEOUT ? refuse(r, m, s, "is below one second") : refuse_range(r, m, s);
    *to = (uint64_t)(us / 1000);
    return RES_OK;
}

static res set_encoding(const reader *r, const member *m, const source *s)
{
    bool plain = str_eq_nocase(s->text, STR("none"));
    if (!plain && !str_eq_nocase(s->text, STR("base64")))
        return refuse(r, m, s, "is neither base64 nor none");
    *(bool *)((char *)r->host + m->offset) = plain;
    return RES_OK;
}

static res set_member(const reader *r, const member *m, const source *s)
{
    char *to = (char *)r->host + m->offset;
    switch (m->kind) {
    case KIND_TEXT:
        *(str *)to = arena_copy(r->a, s->text);
        return ((str *)to)->at == NULL ? config_no_memory(r->error) : RES_OK;
    case KIND_BOOL:
        return config_bool(s->text, (bool *)to) ? RES_OK : refuse(r, m, s, "is neither true nor false");
    case KIND_INT:
        return set_number(r, m, s);
    case KIND_ENCODING:
        return set_encoding(r, m, s);
    default:
        return set_span(r, m, s);
    }
}

/* The environment wins over the file; the file is looked at even so, for a mistake in it would come up on the
 * day the setting goes. */
static res read_member(const reader *r, const member *m)
{
    const json_val *v = NULL;
    source          s = {.where = "host.json"};
    res             code = find_json(r, m->path, &v);
    if (code == RES_OK && v != NULL) {
        if (!value_text(r->a, v, &s.text))
            return refuse(r, m, &s, "is a list or an object");
        if (s.text.at == NULL)
            return config_no_memory(r->error);
        code = set_member(r, m, &s);
    }
    if (code == RES_OK && find_env(m->path, &s.text)) {
        s.where = "environment AzureFunctionsJobHost";
        code = set_member(r, m, &s);
    }
    return code;
}

/* ---- what is not a plain member ---- */

static res check_version(const reader *r)
{
    if (!str_eq(json_text(json_get_nocase(r->doc, STR("version")), STR("")), STR("2.0")))
        return config_error(r->a, r->error, "host.json: 'version' is not \"2.0\"");
    return RES_OK;
}

/* The old section means forwarding to /NAME; customHandler wins when there are both (spec 1.1). */
static res read_old_section(const reader *r)
{
    const json_val *now = NULL, *old = NULL;
    res             code = find_json(r, "customHandler", &now);
    if (code == RES_OK)
        code = find_json(r, "httpWorker", &old);
    if (code != RES_OK)
        return code;
    if (now != NULL && json_typeof(now) != JSON_OBJECT)
        return config_error(r->a, r->error, "host.json: 'customHandler' is not an object");
    if (old != NULL && json_typeof(old) != JSON_OBJECT)
        return config_error(r->a, r->error, "host.json: 'httpWorker' is not an object");
    r->host->forward_by_name = r->host->forwarding = old != NULL && now == NULL;
    return RES_OK;
}

static res check_prefix(const reader *r)
{
    str p = r->host->route_prefix;
    if (p.len > 0 && (p.at[0] == '/' || p.at[p.len - 1] == '/'))
        return config_error(r->a, r->error,
                            "host.json: 'extensions:http:routePrefix' '%.*s' has a slash at its %s",
                            STR_ARG(p), p.at[0] == '/' ? "beginning" : "end");
    return RES_OK;
}

/* ---- local.settings.json ---- */

static res local_problem(arena *a, str *ret_error, const char *name, const char *why)
{
    return config_error(a, ret_error, "local.settings.json: 'Host.%s' %s", name, why);
}

static res read_local(arena *a, const char *root, host_settings *ret, str *ret_error)
{
    const json_val *doc = NULL;
    res             code = config_file_read(a, root, "local.settings.json", &doc, ret_error);
    if (code == RES_NOT_FOUND)
        return RES_OK;
    if (code != RES_OK)
        return code;

    const json_val *host = json_get_nocase(doc, STR("Host")), *v;
    v = json_get_nocase(host, STR("CORS"));
    if (v != NULL && json_typeof(v) != JSON_STRING)
        return local_problem(a, ret_error, "CORS", "is not a string");
    ret->cors_origins = json_text(v, STR(""));

    bool yes = false;
    str  text = STR("");
    v = json_get_nocase(host, STR("CORSCredentials"));
    if (v != NULL && (!value_text(a, v, &text) || !config_bool(text, &yes)))
        return local_problem(a, ret_error, "CORSCredentials", "is neither true nor false");
    ret->cors_credentials = yes;

    uint64_t port = 0;
    v = json_get_nocase(host, STR("LocalHttpPort"));
    bool plain = v == NULL || value_text(a, v, &text);
    if (text.at == NULL)
        return config_no_memory(ret_error);
    if (!plain || (v != NULL && (!str_to_u64(text, &port) || port == 0 || port > 65535)))
        return local_problem(a, ret_error, "LocalHttpPort", "is not a port");
    ret->local_port = (int)port;
    return RES_OK;
}

res host_json_read(arena *a, const char *root, host_settings *ret, str *ret_error)
{
    host_settings host = {
        .route_prefix = STR("api"),
        .function_timeout_ms = 30 * 60 * 1000, /* the host's, outside the Consumption plan */
        .queue_batch = 16,
        .queue_new_batch_threshold = -1, /* half of the batch, unless it is given */
        .queue_max_dequeue = 5,
        .queue_max_polling_ms = 60 * 1000,
    };
    reader r = {.a = a, .host = &host, .error = ret_error};
    res    code = config_file_read(a, root, "host.json", &r.doc, ret_error);
    if (code == RES_NOT_FOUND)
        return config_error(a, ret_error, "host.json: not found in '%s', which must be the app's root", root);
    if (code == RES_OK)
        code = check_version(&r);
    if (code == RES_OK)
        code = read_old_section(&r);
    for (size_t i = 0; code == RES_OK && i < sizeof members / sizeof *members; i++)
        code = read_member(&r, &members[i]);
    if (code == RES_OK)
        code = check_prefix(&r);
    if (code == RES_OK)
        code = read_local(a, root, &host, ret_error);
    if (code != RES_OK)
        return code;

    if (host.queue_new_batch_threshold < 0)
        host.queue_new_batch_threshold = host.queue_batch / 2;
    *ret = host;
    return RES_OK;
}
