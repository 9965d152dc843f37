/* conn_string.c -- the forms of spec 1.1 to 1.4: account key, SAS, development account, identity settings.
 *
 *     parts     "Key=Value;Key=Value" is cut into one slot for each known key; the rest is ignored
 *     meaning   development account? key? SAS? and from which parts the URL is made
 *     checks    of everything that ends in a URL or a header, so that a call can fail only for the network
 *
 * Messages name keys, never values: a value may be a secret, or be pasted into the wrong key.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/conn_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"

enum { ACCOUNT_MAX = 63, NAME_MAX_BYTES = 256, URL_MAX = 2048, KEY_BYTES_MAX = 512 };

#define DEV_ACCOUNT "devstoreaccount1"
#define DEV_KEY     "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static const struct {
    const char *label;       /* "acct.table.core.windows.net" */
    const char *endpoint;    /* key of a connection string */
    const char *service_uri; /* member of an identity group */
    unsigned    dev_port;
} services[] = {
    [AZURE_TABLES] = {"table", "TableEndpoint", "tableServiceUri", 10002},
    [AZURE_BLOBS] = {"blob", "BlobEndpoint", "blobServiceUri", 10000},
    [AZURE_QUEUES] = {"queue", "QueueEndpoint", "queueServiceUri", 10001},
};

/* Keys that mean something to us; the endpoint is that of the service in question. */
typedef enum {
    PART_PROTOCOL,
    PART_ACCOUNT,
    PART_KEY,
    PART_SUFFIX,
    PART_ENDPOINT,
    PART_SAS,
    PART_DEV,
    PART_PROXY,
    PART_COUNT
} part;

typedef struct {
    arena        *a;
    azure_service service;
    str           parts[PART_COUNT]; /* .at NULL: not given */
    conn_string  *ret;
    str          *error;
} parse;

static const char *part_name(const parse *p, part which)
{
    static const char *const names[PART_COUNT] = {
        [PART_PROTOCOL] = "DefaultEndpointsProtocol",
        [PART_ACCOUNT] = "AccountName",
        [PART_KEY] = "AccountKey",
        [PART_SUFFIX] = "EndpointSuffix",
        [PART_SAS] = "SharedAccessSignature",
        [PART_DEV] = "UseDevelopmentStorage",
        [PART_PROXY] = "DevelopmentStorageProxyUri",
    };
    return which == PART_ENDPOINT ? services[p->service].endpoint : names[which];
}

static res wrong(const parse *p, const char *name, const char *what)
{
    *p->error = arena_strf(p->a, "the storage connection: '%s' %s", name, what);
    return RES_CONFIG;
}

static bool given(const parse *p, part which)
{
    return p->parts[which].at != NULL;
}

/* ---- parts ---- */

static res take_part(parse *p, str segment, unsigned number)
{
    size_t equals = str_find_char(segment, '=');
    str    name = str_trim(str_slice(segment, 0, equals)), value = str_trim(str_from(segment, equals + 1));
    if (equals == segment.len || name.len == 0) {
        *p->error = arena_strf(p->a, "the storage connection: part %u is not 'Name=value'", number);
        return RES_CONFIG;
    }
    for (part i = 0; i < PART_COUNT; i++) {
        if (!str_eq_nocase(name, str_of(part_name(p, i))))
            continue;
        if (given(p, i))
            return wrong(p, part_name(p, i), "is given twice");
        if (value.len == 0)
            return wrong(p, part_name(p, i), "is empty");
        p->parts[i] = value;
    }
    return RES_OK;
}

static res take_parts(parse *p, str text)
{
    str segment;
    for (unsigned number = 1; str_next_field(&text, ';', &segment); number++) {
        segment = str_trim(segment);
        if (segment.len == 0)
            continue;
        res r = take_part(p, segment, number);
        if (r != RES_OK)
            return r;
    }
    return RES_OK;
}

/* ---- checks ---- */

static bool only(str s, const char *others)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.at[i]);
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return s.len > 0;
}

static bool port_ok(str s)
{
    uint64_t n;
    return str_to_u64(s, &n) && n > 0 && n <= 65535;
}

/* Splits "http[s]://host[:port][/path]"; no user, query or fragment. */
static bool split_url(str url, conn_string *ret)
{
    bool tls = str_starts_nocase(url, STR("https://"));
    if (!tls && !str_starts_nocase(url, STR("http://")))
        return false;
    size_t from = tls ? strlen("https://") : strlen("http://");
    str    rest = str_from(url, from), authority = str_slice(rest, 0, str_find_char(rest, '/'));
    str    path = str_from(rest, authority.len), host, tail;

    if (str_starts(authority, STR("["))) { /* IPv6 */
        size_t end = str_find_char(authority, ']');
        host = str_slice(authority, 0, end + 1);
        if (end == authority.len || !only(str_slice(host, 1, end), ":.%"))
            return false;
    } else {
        host = str_slice(authority, 0, str_find_char(authority, ':'));
        if (!only(host, ".-_"))
            return false;
    }
    tail = str_from(authority, host.len);
    if (tail.len > 0 && (tail.at[0] != ':' || !port_ok(str_from(tail, 1))))
        return false;
    if (path.len > 0 && !only(path, "/-_.~%!$&'()*+,;=:@"))
        return false;
    ret->tls = tls;
    ret->host = host;
    ret->path = path;
    return url.len <= URL_MAX;
}

/* Takes over the URL, whose words (in messages) are those of `name`. */
static res use_url(parse *p, str url, const char *name)
{
    conn_string *c = p->ret;
    if (str_ends(url, STR("/")))
        url.len--;
    if (!split_url(url, c))
        return wrong(p, name, "is not an http or https URL without query");
    c->url = arena_strf(p->a, "%.*s", STR_ARG(url));
    if (c->url.at == NULL)
        return RES_MEMORY;
    (void)split_url(c->url, c); /* the same, in our copy */
    c->cosmos = str_has(c->host, STR(".table.cosmosdb.")) || str_has(c->host, STR(".table.cosmos."));
    c->short_idle = c->path.len > 0;
    return RES_OK;
}

/* ---- meaning ---- */

static res use_account(parse *p, str account, const char *name)
{
    if (account.len > ACCOUNT_MAX || !only(account, "-"))
        return wrong(p, name, "is not the name of an account");
    p->ret->account = arena_copy(p->a, account);
    return p->ret->account.at != NULL ? RES_OK : RES_MEMORY;
}

static res use_key(parse *p, str text)
{
    conn_string *c = p->ret;
    c->kind = CONN_KEY;
    c->key_text = arena_copy(p->a, text);
    if (c->key_text.at == NULL)
        return RES_MEMORY;
    if (!base64_decode(p->a, text, &c->key) || c->key.len == 0 || c->key.len > KEY_BYTES_MAX)
        return wrong(p, part_name(p, PART_KEY), "is not base64");
    return RES_OK;
}

static res use_sas(parse *p, str sas)
{
    if (str_starts(sas, STR("?")))
        sas = str_from(sas, 1);
    if (!only(sas, "-_.~%!$&'()*+,;=:@/?") || !str_has(sas, STR("sig=")))
        return wrong(p, part_name(p, PART_SAS), "is not a shared access signature");
    p->ret->kind = CONN_SAS;
    p->ret->sas = arena_copy(p->a, sas);
    return p->ret->sas.at != NULL ? RES_OK : RES_MEMORY;
}

/* As .NET reads it: scheme and host of the proxy's URI, and the ports of the emulator. */
static res use_development(parse *p)
{
    conn_string proxy = {.tls = false, .host = STR("127.0.0.1")};
    if (!str_eq_nocase(p->parts[PART_DEV], STR("true")))
        return wrong(p, part_name(p, PART_DEV), "is not 'true'");
    str uri = p->parts[PART_PROXY];
    if (str_ends(uri, STR("/")))
        uri.len--;
    if (given(p, PART_PROXY) && !split_url(uri, &proxy))
        return wrong(p, part_name(p, PART_PROXY), "is not an http or https URL without query");
    str url = arena_strf(p->a, "http%s://%.*s:%u/" DEV_ACCOUNT, proxy.tls ? "s" : "", STR_ARG(proxy.host),
                         services[p->service].dev_port);
    if (url.at == NULL)
        return RES_MEMORY;
    TRY(use_url(p, url, part_name(p, PART_PROXY)));
    TRY(use_account(p, STR(DEV_ACCOUNT), part_name(p, PART_DEV)));
    return use_key(p, STR(DEV_KEY));
}

static res derive_url(parse *p)
{
    str proto = given(p, PART_PROTOCOL) ? p->parts[PART_PROTOCOL] : STR("https");
    str suffix = given(p, PART_SUFFIX) ? p->parts[PART_SUFFIX] : STR("core.windows.net");
    if (!str_eq_nocase(proto, STR("https")) && !str_eq_nocase(proto, STR("http")))
        return wrong(p, part_name(p, PART_PROTOCOL), "is neither 'http' nor 'https'");
    if (!only(suffix, ".-:"))
        return wrong(p, part_name(p, PART_SUFFIX), "is not the end of a host name");
    str url = arena_strf(p->a, "http%s://%.*s.%s.%.*s", str_eq_nocase(proto, STR("https")) ? "s" : "",
                         STR_ARG(p->parts[PART_ACCOUNT]), services[p->service].label, STR_ARG(suffix));
    return url.at != NULL ? use_url(p, url, part_name(p, PART_SUFFIX)) : RES_MEMORY;
}

static res read_string(parse *p, str text)
{
    TRY(take_parts(p, text));
    if (given(p, PART_DEV))
        return use_development(p);
    if (!given(p, PART_KEY) && !given(p, PART_SAS))
        return wrong(p, part_name(p, PART_KEY), "is missing, and so is 'SharedAccessSignature'");
    if (!given(p, PART_ACCOUNT) && (given(p, PART_KEY) || !given(p, PART_ENDPOINT)))
        return wrong(p, given(p, PART_KEY) ? part_name(p, PART_ACCOUNT) : part_name(p, PART_ENDPOINT),
                     "is missing");
    if (given(p, PART_ACCOUNT))
        TRY(use_account(p, p->parts[PART_ACCOUNT], part_name(p, PART_ACCOUNT)));
    if (given(p, PART_ENDPOINT))
        TRY(use_url(p, p->parts[PART_ENDPOINT], part_name(p, PART_ENDPOINT)));
    else
        TRY(derive_url(p));
    return given(p, PART_KEY) ? use_key(p, p->parts[PART_KEY]) : use_sas(p, p->parts[PART_SAS]);
}

/* ---- identity groups ---- */

typedef struct {
    parse *p;
    str    name;
} group;

/* The value of NAME__member, and that name, for messages. */
static str member(const group *g, const char *which, char full[NAME_MAX_BYTES])
{
    (void)snprintf(full, NAME_MAX_BYTES, "%.*s__%s", STR_ARG(g->name), which);
    return str_trim(str_of(getenv(full)));
}

static res use_credential(const group *g)
{
    char full[NAME_MAX_BYTES];
    str  how = member(g, "credential", full);
    bool managed = str_eq_nocase(how, STR("managedidentity"));
    bool workload = str_eq_nocase(how, STR("workloadidentity"));
    if (how.len > 0 && !managed && !workload)
        return wrong(g->p, full, "is neither 'managedidentity' nor 'workloadidentity'");
    g->p->ret->managed = !workload;
    g->p->ret->workload = !managed;
    return RES_OK;
}

/* Ids end in the query of a URL, escaped there; here it matters that they are plain text. */
static res use_id(const group *g, const char *which, str *ret)
{
    char full[NAME_MAX_BYTES];
    str  id = member(g, which, full);
    if (id.len == 0)
        return RES_OK;
    if (id.len > URL_MAX || !only(id, "-_./()"))
        return wrong(g->p, full, "has characters that no id has");
    *ret = arena_copy(g->p->a, id);
    return ret->at != NULL ? RES_OK : RES_MEMORY;
}

/* A token is for TLS alone; only this machine itself may be spoken to without. */
static bool is_loopback(str host)
{
    return str_eq(host, STR("127.0.0.1")) || str_eq(host, STR("localhost")) || str_eq(host, STR("[::1]"));
}

static res use_group_url(const group *g)
{
    parse *p = g->p;
    char   uri_name[NAME_MAX_BYTES], account_name[NAME_MAX_BYTES];
    str    uri = member(g, services[p->service].service_uri, uri_name);
    str    account = member(g, "accountName", account_name);
    if (uri.len == 0 && account.len == 0) {
        /* The name is not told: it may be a key that was pasted alone. */
        *p->error =
            arena_strf(p->a,
                       "the storage connection is neither a connection string (it has no '=') nor the "
                       "name of settings such as NAME__%s or NAME__accountName",
                       services[p->service].service_uri);
        return RES_CONFIG;
    }
    if (uri.len > 0)
        TRY(use_url(p, uri, uri_name));
    if (account.len > 0)
        TRY(use_account(p, account, account_name));
    if (uri.len == 0) {
        p->parts[PART_ACCOUNT] = p->ret->account;
        TRY(derive_url(p));
    }
    if (!p->ret->tls && !is_loopback(p->ret->host))
        return wrong(p, uri_name, "is not https, and a token must not travel without");
    return RES_OK;
}

static res read_group(parse *p, str name)
{
    group g = {p, name};
    if (name.len == 0 || name.len > NAME_MAX_BYTES / 2 || !only(name, "_-.:")) {
        *p->error = STR("the storage connection is neither a connection string nor the name of a setting");
        return RES_CONFIG;
    }
    p->ret->kind = CONN_IDENTITY;
    TRY(use_group_url(&g));
    TRY(use_credential(&g));
    TRY(use_id(&g, "clientId", &p->ret->client_id));
    return use_id(&g, "managedIdentityResourceId", &p->ret->resource_id);
}

res conn_string_parse(arena *a, azure_service service, str text, conn_string *ret, str *ret_error)
{
    conn_string out = {0};
    parse       p = {.a = a, .service = service, .ret = &out, .error = ret_error};
    text = str_trim(text);
    res r = str_find_char(text, '=') < text.len ? read_string(&p, text) : read_group(&p, text);
    if (r == RES_MEMORY)
        *ret_error = STR("no memory for the storage connection");
    if (r == RES_OK)
        *ret = out;
    return r;
}
