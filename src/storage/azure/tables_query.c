/* tables_query.c -- pages of entities, and of table names (spec 3.2, 3.5).
 *
 * A page may be empty and still have a token, so the headers alone tell whether there is more. The service's
 * two continuation values are opaque and the second may be absent; our position is both:
 *
 *     5:Tmp01+Tmp02        the length of NextPartitionKey, itself, and behind '+' NextRowKey
 *     5:Tmp01-             without NextRowKey
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/odata.h"
#include "storage/azure/tables_wire.h"

enum {
    QUERY_BYTES_MAX = 1024 * 1024,
    PAGE_BYTES_MAX = 64 * 1024 * 1024,
    TRY_MS = 35000, /* the service itself stops after 30 s */
};

static const http_header headers[] = {TABLES_READS, TABLES_VERSION};

/* ---- positions ---- */

typedef struct {
    str partition, row; /* row: NULL when there is none */
} position;

static bool position_read(str text, position *ret)
{
    uint64_t len;
    size_t   colon = str_find_char(text, ':');
    str      rest = str_from(text, colon + 1);
    if (colon == text.len || !str_to_u64(str_slice(text, 0, colon), &len) || len >= rest.len)
        return false;
    ret->partition = str_slice(rest, 0, (size_t)len);
    rest = str_from(rest, (size_t)len);
    ret->row = rest.at[0] == '+' ? str_from(rest, 1) : (str){NULL, 0};
    return rest.at[0] == '+' || str_eq(rest, STR("-"));
}

/* Of the page that was answered; empty: there is no more. Both values empty is the start, not a place to go
 * on from. */
static str position_of(arena *a, const azure_answer *got)
{
    const fetch_answer *http = &got->http;
    str                 partition =
        http_header_get(http->headers, http->header_count, STR("x-ms-continuation-NextPartitionKey"));
    str row = http_header_get(http->headers, http->header_count, STR("x-ms-continuation-NextRowKey"));
    if (partition.len == 0 && row.len == 0)
        return STR("");
    if (row.at == NULL)
        return arena_strf(a, "%zu:%.*s-", partition.len, STR_ARG(partition));
    return arena_strf(a, "%zu:%.*s+%.*s", partition.len, STR_ARG(partition), STR_ARG(row));
}

/* ---- queries ---- */

/* name=value, the value encoded. */
static void add_parameter(buf *out, str name, str value)
{
    if (out->len > 0)
        buf_add_char(out, '&');
    buf_add(out, name);
    buf_add_char(out, '=');
    buf_add(out, azure_escape(out->a, value, ""));
}

static void add_top(buf *out, unsigned top)
{
    buf_add(out, out->len > 0 ? STR("&$top=") : STR("$top="));
    buf_add_u64(out, top);
}

static res too_long(task *t, const char *operation)
{
    return task_fail(t, RES_TOO_LARGE, "%s: filter and selection are above %d bytes", operation,
                     QUERY_BYTES_MAX);
}

static res query_text(task *t, const char *operation, const table_query *q, str *ret)
{
    buf out;
    buf_init(&out, t->arena, QUERY_BYTES_MAX);
    if (q->where != NULL)
        add_parameter(&out, STR("$filter"), filter_text(t->arena, q->where));
    if (q->select != NULL && out.len > 0)
        buf_add_char(&out, '&');
    tables_add_select(&out, q->select);
    add_top(&out, q->top > 0 ? q->top : TABLES_PAGE_MAX);
    if (q->token.len > 0) {
        position at;
        if (!position_read(q->token, &at))
            return task_fail(t, RES_INVALID, "%s: the token is none of ours", operation);
        add_parameter(&out, STR("NextPartitionKey"), at.partition);
        if (at.row.at != NULL)
            add_parameter(&out, STR("NextRowKey"), at.row);
    }
    if (out.failed)
        return too_long(t, operation);
    *ret = buf_str(&out);
    return RES_OK;
}

res azure_tables_query(void *self, task *t, str name, const table_query *q, entity_page *ret)
{
    azure_request in = {.operation = "tables_query",
                        .method = STR("GET"),
                        .path = arena_strf(t->arena, "/%.*s()", STR_ARG(name)),
                        .headers = headers,
                        .header_count = sizeof headers / sizeof *headers,
                        .answer_max = PAGE_BYTES_MAX,
                        .try_ms = TRY_MS};
    azure_answer  got;
    entity_page   page;
    const char   *why;

    TRY(query_text(t, in.operation, q, &in.query));
    TRY(azure_call(t, self, &in, &got));
    TRY(azure_result(t, &in, &got));
    res r = odata_read_page(t->arena, got.http.body, &page.at, &page.len, &why);
    if (r != RES_OK)
        return task_fail(t, r, "%s: %s", in.operation, why);
    page.token = position_of(t->arena, &got);
    *ret = page;
    return RES_OK;
}

/* ---- table names ---- */

static res read_names(task *t, str text, name_page *ret)
{
    const json_val *root;
    if (json_parse(t->arena, text, &root, NULL) != RES_OK)
        return task_fail(t, RES_UPSTREAM, "tables_list: its answer is no JSON");
    const json_val *list = json_get(root, "value");
    name_page       page = {.names = arena_array(t->arena, str, json_len(list))};
    for (json_iter it = json_each(list); json_next(&it);) {
        str name = json_text(json_get(it.value, "TableName"), STR(""));
        if (name.len == 0)
            return task_fail(t, RES_UPSTREAM, "tables_list: a table has no name");
        page.names[page.count++] = name;
    }
    if (json_typeof(list) != JSON_ARRAY)
        return task_fail(t, RES_UPSTREAM, "tables_list: its answer is no list of tables");
    *ret = page;
    return RES_OK;
}

res azure_tables_list(void *self, task *t, str prefix, unsigned most, str from, name_page *ret)
{
    azure_request in = {.operation = "tables_list",
                        .method = STR("GET"),
                        .path = STR("/Tables"),
                        .headers = headers,
                        .header_count = sizeof headers / sizeof *headers,
                        .answer_max = PAGE_BYTES_MAX,
                        .try_ms = TRY_MS};
    azure_answer  got;
    name_page     page;
    buf           query;

    buf_init(&query, t->arena, QUERY_BYTES_MAX);
    if (prefix.len > 0)
        add_parameter(&query, STR("$filter"),
                      filter_text(t->arena, filter_prefix(t->arena, "TableName", prefix)));
    add_top(&query, most);
    if (from.len > 0)
        add_parameter(&query, STR("NextTableName"), from);
    if (query.failed)
        return too_long(t, in.operation);
    in.query = buf_str(&query);

    TRY(azure_call(t, self, &in, &got));
    TRY(azure_result(t, &in, &got));
    TRY(read_names(t, got.http.body, &page));
    page.next =
        http_header_get(got.http.headers, got.http.header_count, STR("x-ms-continuation-NextTableName"));
    *ret = page;
    return RES_OK;
}
