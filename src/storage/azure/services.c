/* services.c -- see services.h.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/services.h"

#include "core/iso8601.h"

enum { QUERY_MAX = 64 * KIB, GROW_FIRST = 16, LIST_MS = 35 * 1000 };

res services_call(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret)
{
    azure_answer got;
    TRY(azure_call(t, e, in, &got));
    *ret = got;
    return azure_result(t, in, &got);
}

res services_delete(task *t, azure_endpoint *e, const azure_request *in)
{
    azure_answer got = {0};
    res          r = services_call(t, e, in, &got);
    if (!got.doubtful)
        return r;
    if (r == RES_PRECONDITION) {
        task_forget(t);
        return services_cannot_be_told(t, in);
    }
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    return RES_OK;
}

res services_drop(task *t, azure_endpoint *e, const azure_request *in)
{
    azure_answer got = {0};
    res          r = services_call(t, e, in, &got);
    if (r != RES_UNPROVISIONED && r != RES_NOT_FOUND)
        return r;
    if (!got.doubtful)
        return RES_NOT_FOUND;
    task_forget(t);
    return RES_OK;
}

str services_header(const azure_answer *got, const char *name)
{
    return http_header_get(got->http.headers, got->http.header_count, str_of(name));
}

int64_t services_date_us(str http_date)
{
    int64_t us;
    return http_date_parse(http_date, &us) ? us : 0;
}

void *services_grow(arena *a, void *at, size_t len, size_t *cap, size_t each_bytes)
{
    if (len < *cap)
        return at;
    size_t more = *cap > 0 ? *cap * 2 : GROW_FIRST;
    void  *grown = at == NULL ? arena_alloc(a, more * each_bytes)
                              : arena_regrow(a, at, *cap * each_bytes, more * each_bytes);
    *cap = more;
    return grown;
}

res services_cannot_be_told(task *t, const azure_request *in)
{
    return task_fail(t, RES_UPSTREAM, "%s: a reply was lost, and what became of it cannot be told",
                     in->operation);
}

res services_nonsense(task *t, const azure_request *in, const char *why)
{
    return task_fail(t, RES_UPSTREAM, "%s: the answer is not understood: %s", in->operation, why);
}

/* ---- lists of names ---- */

void services_add_page(buf *query, arena *a, str prefix, unsigned most, str position)
{
    if (prefix.len > 0) {
        buf_add(query, STR("&prefix="));
        buf_add(query, azure_escape(a, prefix, ""));
    }
    buf_addf(query, "&maxresults=%u", most);
    if (position.len > 0) {
        buf_add(query, STR("&marker="));
        buf_add(query, azure_escape(a, position, ""));
    }
}

/* <EnumerationResults><Containers><Container><Name>a</Name>…</Container></Containers><NextMarker/>… */
static res read_names(task *t, const azure_request *in, str body, const char *element, name_page *ret)
{
    name_page page = {0};
    size_t    cap = 0;
    xml       x;
    xml_event event;
    xml_init(&x, body);
    while ((event = xml_next(&x, t->arena)) == XML_OPEN || event == XML_CLOSE) {
        if (event == XML_OPEN)
            continue;
        if (str_eq(x.name, STR("Name")) && xml_is_in(&x, element)) {
            page.names = services_grow(t->arena, page.names, page.count, &cap, sizeof *page.names);
            page.names[page.count++] = x.text;
        } else if (str_eq(x.name, STR("NextMarker")) && x.depth == 1) {
            page.next = x.text;
        }
    }
    if (event == XML_BAD)
        return services_nonsense(t, in, x.why);
    if (!xml_root_is(&x, "EnumerationResults"))
        return services_nonsense(t, in, "it is no list of names");
    *ret = page;
    return RES_OK;
}

res services_list(task *t, azure_endpoint *e, const char *operation, const char *element, str prefix,
                  unsigned most, str position, name_page *ret)
{
    buf query;
    buf_init(&query, t->arena, QUERY_MAX);
    buf_add(&query, STR("comp=list"));
    services_add_page(&query, t->arena, prefix, most, position);
    azure_request in = {.operation = operation,
                        .method = STR("GET"),
                        .path = STR("/"),
                        .query = buf_str(&query),
                        .answer_max = SERVICES_LIST_MAX,
                        .try_ms = LIST_MS};
    azure_answer  got;
    if (query.failed)
        return task_fail(t, RES_INVALID, "%s: the position is too long", operation);
    TRY(services_call(t, e, &in, &got));
    return read_names(t, &in, got.http.body, element, ret);
}
