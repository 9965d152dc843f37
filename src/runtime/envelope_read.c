/* envelope_read.c -- the host's JSON envelope (spec 3) becomes a request.
 *
 *     {"Data": {"<binding>": value, …}, "Metadata": {"<key>": value, …}}
 *
 * The trigger of an http function is an object with Url, Method, Query, Headers, Params, Identities and Body;
 * it is spread over the fields that plain HTTP fills too. Everything else stays JSON, and is decoded when a
 * handler asks for it. Identities are not looked at: they come in several shapes, and no accessor needs them.
 *
 * What must stay true: nothing of the caller's is believed before its type was looked at, and a request that
 * cannot be understood is refused with the member's name, never half read.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "core/id.h"
#include "runtime/exchange.h"

typedef struct {
    arena *arena;
    str   *error;
} reader;

static res refuse(const reader *r, res code, const char *member, const char *problem)
{
    str text = arena_strf(r->arena, "envelope: '%s' %s", member, problem);
    *r->error = text.at != NULL ? text : STR("envelope: out of memory");
    return code;
}

/* ---- single values ---- */

const json_val *envelope_value(arena *a, const json_val *v)
{
    const json_val *inner;
    if (json_typeof(v) != JSON_STRING)
        return v;
    res r = json_parse(a, json_text(v, (str){0}), &inner, NULL);
    return r == RES_OK ? inner : r == RES_MEMORY ? NULL : v;
}

/* Only a text that begins with a quote can be a JSON string: most are not parsed at all. */
bool envelope_text(arena *a, const json_val *v, str *ret)
{
    const json_val *inner;
    if (json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL)
        return false;

    str text = json_typeof(v) == JSON_STRING ? json_text(v, (str){0}) : json_print_val(a, v);
    if (json_typeof(v) == JSON_STRING && str_starts(str_trim(text), STR("\""))) {
        res r = json_parse(a, text, &inner, NULL);
        if (r == RES_MEMORY)
            return false;
        text = r == RES_OK ? json_text(inner, text) : text;
    }
    if (text.at == NULL)
        return false;
    *ret = text;
    return true;
}

/* A member that is text: absent and null leave *ret as it is. */
static res read_text(const reader *r, const json_val *http, const char *member, str *ret)
{
    const json_val *v = json_get_nocase(http, str_of(member));
    json_type       type = json_typeof(v);
    if (type == JSON_STRING)
        *ret = json_text(v, (str){0});
    else if (type != JSON_NONE && type != JSON_NULL)
        return refuse(r, RES_INVALID, member, "is not a string");
    return RES_OK;
}

/* ---- lists of name and value ---- */

/* How many pairs an object gives at most: an array counts each element, and an empty one counts too, so that
 * the limit also holds for members. */
static size_t count_values(const json_val *object)
{
    size_t count = 0;
    for (json_iter it = json_each(object); json_next(&it);) {
        size_t elements = json_typeof(it.value) == JSON_ARRAY ? json_len(it.value) : 1;
        count += elements > 0 ? elements : 1;
    }
    return count;
}

/* One pair. Null is a value that was not given (an optional parameter of the route); numbers and the like are
 * taken as text. Of two members with the same name the last one wins, as everywhere in the envelope. */
static res add_value(const reader *r, str name, const json_val *v, http_header *list, size_t *count)
{
    str value = json_text(v, (str){0});
    if (json_typeof(v) == JSON_NULL)
        return RES_OK;
    if (json_typeof(v) != JSON_STRING)
        value = json_print_val(r->arena, v);
    if (value.at == NULL)
        return RES_MEMORY;
    list[(*count)++] = (http_header){name, value};
    return RES_OK;
}

static res spread_object(const reader *r, const json_val *object, http_header *list, size_t *count)
{
    res result = RES_OK;
    for (json_iter it = json_each(object); json_next(&it) && result == RES_OK;) {
        if (json_get_str(object, it.key) != it.value)
            continue; /* a later member of the same name wins */
        if (json_typeof(it.value) != JSON_ARRAY) {
            result = add_value(r, it.key, it.value, list, count);
            continue;
        }
        for (json_iter each = json_each(it.value); json_next(&each) && result == RES_OK;)
            result = add_value(r, it.key, each.value, list, count);
    }
    return result;
}

/* Query, Headers, Params: an object, or (older docs) a string with the text of one, or nothing. */
static res read_pairs(const reader *r, const json_val *http, const char *member, http_header **ret,
                      size_t *ret_count)
{
    const json_val *raw = json_get_nocase(http, str_of(member)), *object = envelope_value(r->arena, raw);
    if (raw != NULL && object == NULL)
        return refuse(r, RES_MEMORY, member, "does not fit into memory");
    if (json_typeof(object) == JSON_NONE || json_typeof(object) == JSON_NULL ||
        (json_typeof(object) == JSON_STRING && json_text(object, STR("?")).len == 0))
        return RES_OK;
    if (json_typeof(object) != JSON_OBJECT)
        return refuse(r, RES_INVALID, member, "is not an object");

    size_t most = count_values(object), count = 0;
    if (most > ENVELOPE_VALUES_MAX)
        return refuse(r, RES_INVALID, member, "has too many values");
    if (most == 0)
        return RES_OK;
    http_header *list = arena_array(r->arena, http_header, most);
    if (list == NULL || spread_object(r, object, list, &count) != RES_OK)
        return refuse(r, RES_MEMORY, member, "does not fit into memory");
    *ret = list;
    *ret_count = count;
    return RES_OK;
}

/* ---- the http trigger ---- */

/* https://app.example/api/orders/42?name=Bob#part: the authority, the path and the query, any of which may be
 * missing. */
static void split_url(str url, str *ret_host, str *ret_path, str *ret_query)
{
    size_t scheme = str_find(url, STR("://"));
    str    rest = str_slice(url, 0, str_find_char(url, '#'));

    if (scheme < str_find_char(url, '/')) {
        rest = str_from(rest, scheme + 3);
        size_t slash = str_find_char(rest, '/'), mark = str_find_char(rest, '?');
        *ret_host = str_slice(rest, 0, slash < mark ? slash : mark);
        rest = str_from(rest, ret_host->len);
    }
    size_t mark = str_find_char(rest, '?');
    *ret_path = str_slice(rest, 0, mark);
    *ret_query = str_from(rest, mark + 1);
}

/* The host does not say how it wrote the body; its rule is repeated here (spec 3.3 a). */
static bool body_is_base64(str content_type)
{
    str media = str_trim(str_slice(content_type, 0, str_find_char(content_type, ';')));
    if (str_eq_nocase(media, STR("application/octet-stream")))
        return true;
    for (size_t i = 0; i < media.len; i++)
        if (str_starts_nocase(str_from(media, i), STR("multipart/")))
            return true;
    return false;
}

/* A body that is no string is not the host's way; its JSON text is what the caller must have sent. */
static res read_body(const reader *r, const json_val *http, request *ret)
{
    const json_val *v = json_get_nocase(http, STR("Body"));
    str             type = http_header_get(ret->headers, ret->header_count, STR("content-type"));
    if (json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL)
        return RES_OK;

    str body = json_typeof(v) == JSON_STRING ? json_text(v, (str){0}) : json_print_val(r->arena, v);
    if (body.at == NULL)
        return refuse(r, RES_MEMORY, "Body", "does not fit into memory");
    if (body_is_base64(type) && !base64_decode(r->arena, body, &body))
        return refuse(r, RES_INVALID, "Body", "is not base64, as its media type demands");
    ret->body = body;
    return RES_OK;
}

static res read_http(const reader *r, request *ret)
{
    str             name = ret->fn->trigger_binding->name, url = {0}, authority = {0}, query = {0};
    const json_val *http = envelope_value(r->arena, json_get_str(ret->data, name));
    if (json_typeof(http) != JSON_OBJECT) {
        const char *member = arena_cstr(r->arena, name);
        return refuse(r, RES_INVALID, member != NULL ? member : "Data", "is not an object");
    }
    res result = read_text(r, http, "Method", &ret->method);
    if (result == RES_OK && ret->method.len == 0)
        result = refuse(r, RES_INVALID, "Method", "is missing");
    if (result == RES_OK)
        result = read_text(r, http, "Url", &url);
    if (result == RES_OK)
        result = read_pairs(r, http, "Headers", &ret->headers, &ret->header_count);
    if (result == RES_OK)
        result = read_pairs(r, http, "Query", &ret->queries, &ret->query_count);
    if (result == RES_OK)
        result = read_pairs(r, http, "Params", &ret->params, &ret->param_count);
    if (result == RES_OK)
        result = read_body(r, http, ret);
    if (result != RES_OK)
        return result;

    split_url(url, &authority, &ret->path, &query);
    ret->host = http_header_get(ret->headers, ret->header_count, STR("host"));
    if (ret->host.len == 0)
        ret->host = authority;
    if (json_typeof(json_get_nocase(http, STR("Query"))) == JSON_NONE)
        request_parse_query(r->arena, query, &ret->queries, &ret->query_count);
    return RES_OK;
}

/* ---- the whole ---- */

/* No host sends a byte order mark, but tools that replay saved payloads do: it is skipped. */
static str without_bom(str text)
{
    return str_starts(text, STR("\xEF\xBB\xBF")) ? str_from(text, 3) : text;
}

static res parse_root(const reader *r, str text, const json_val **ret)
{
    json_error err = {0, "out of memory"};
    if (str_trim(text).len == 0) {
        *r->error = STR("envelope: the body is empty");
        return RES_INVALID;
    }
    res result = json_parse(r->arena, text, ret, &err);
    if (result != RES_OK) {
        str why = arena_strf(r->arena, "envelope: not JSON at byte %zu: %s", err.offset, err.text);
        *r->error = why.at != NULL ? why : STR("envelope: not JSON");
        return result;
    }
    if (json_typeof(*ret) != JSON_OBJECT) {
        *r->error = STR("envelope: the body is not an object");
        return RES_INVALID;
    }
    return RES_OK;
}

res request_from_envelope(request *ret, arena *a, str text, const function *fn, str *ret_error)
{
    reader          r = {a, ret_error};
    char            id[UUID_TEXT + 1];
    const json_val *root;
    res             result = parse_root(&r, without_bom(text), &root);
    if (result != RES_OK)
        return result;

    request made = {.arena = a,
                    .fn = fn,
                    .invocation = arena_copy(a, id_uuid(id)),
                    .data = json_get_nocase(root, STR("Data")),
                    .metadata = json_get_nocase(root, STR("Metadata"))};
    if (made.invocation.at == NULL)
        return refuse(&r, RES_MEMORY, "Data", "does not fit into memory");
    if (json_typeof(made.data) != JSON_OBJECT)
        return refuse(&r, RES_INVALID, "Data", "is not an object");
    if (json_typeof(made.metadata) == JSON_NULL) /* a replayed payload without metadata is served */
        made.metadata = NULL;
    if (made.metadata != NULL && json_typeof(made.metadata) != JSON_OBJECT)
        return refuse(&r, RES_INVALID, "Metadata", "is not an object");

    if (fn->trigger == TRIGGER_HTTP) {
        result = read_http(&r, &made);
        if (result != RES_OK)
            return result;
    }
    *ret = made;
    return RES_OK;
}
