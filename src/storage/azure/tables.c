/* tables.c -- one table, one entity: the operations of spec 3.2 and 3.3 over azure_call.
 *
 * A write whose reply was lost is sent again by azure_call, and the second answer may be an echo of the
 * first: 409 for an insert, 412 for a conditional write, 404 for a delete, although the write was carried out
 * (spec 8.4). A delete that finds nothing has done what it should. For the others the entity is read: when
 * the property that `operation` names has this write's value, the write was ours. That takes writers who all
 * set it: one that merges without it leaves our value in place, and would be taken for us. Without
 * `operation` nobody can tell, and the caller is told so.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/odata.h"
#include "storage/azure/tables_wire.h"

/* ---- paths ---- */

enum { ENCODED_BYTES_MAX = 6 }; /* of one byte: a quote is doubled, and both are encoded */

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

static char *put_encoded(char *to, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    *to++ = '%';
    *to++ = digits[(unsigned char)c >> 4];
    *to++ = digits[(unsigned char)c & 15];
    return to;
}

static void add_key(buf *out, str key)
{
    char *to = buf_reserve(out, key.len * ENCODED_BYTES_MAX);
    if (to == NULL)
        return;
    char *begin = to;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];
        if (is_unreserved(c)) {
            *to++ = c;
            continue;
        }
        to = put_encoded(to, c);
        if (c == '\'')
            to = put_encoded(to, c);
    }
    out->len += (size_t)(to - begin);
}

void tables_add_entity_path(buf *out, str name, str partition, str row)
{
    buf_add_char(out, '/');
    buf_add(out, name);
    buf_add(out, STR("(PartitionKey='"));
    add_key(out, partition);
    buf_add(out, STR("',RowKey='"));
    add_key(out, row);
    buf_add(out, STR("')"));
}

/* The first reservation is the only allocation. */
str tables_entity_path(arena *a, str name, str partition, str row)
{
    enum { AROUND = 40 };
    size_t most = name.len + AROUND + (partition.len + row.len) * ENCODED_BYTES_MAX;
    buf    path;
    buf_init(&path, a, most);
    if (buf_reserve(&path, most) != NULL) /* in a task there is memory, or no return */
        tables_add_entity_path(&path, name, partition, row);
    return buf_str(&path);
}

static str table_path(arena *a, str name)
{
    return arena_strf(a, "/%.*s", STR_ARG(name));
}

void tables_add_select(buf *out, const char *const *select)
{
    if (select == NULL)
        return;
    buf_add(out, STR("$select=PartitionKey,RowKey,Timestamp"));
    for (; *select != NULL; select++) {
        buf_add_char(out, ',');
        add_key(out, str_of(*select));
    }
}

static str select_query(arena *a, const char *const *select)
{
    enum { SELECT_BYTES_MAX = 1024 * 1024 };
    buf query;
    buf_init(&query, a, SELECT_BYTES_MAX);
    tables_add_select(&query, select);
    return buf_str(&query);
}

/* ---- reading ---- */

static str etag_of(const azure_answer *got)
{
    return http_header_get(got->http.headers, got->http.header_count, STR("etag"));
}

static res get(void *self, task *t, str name, str partition, str row, const char *const *select, entity *ret)
{
    static const http_header headers[] = {TABLES_READS, TABLES_VERSION};
    azure_request            in = {.operation = "tables_get",
                                   .method = STR("GET"),
                                   .path = tables_entity_path(t->arena, name, partition, row),
                                   .query = select != NULL ? select_query(t->arena, select) : (str){NULL, 0},
                                   .headers = headers,
                                   .header_count = 2,
                                   .answer_max = TABLES_ENTITY_ANSWER_MAX};
    azure_answer             got;
    entity                   e;
    const char              *why;

    TRY(azure_call(t, self, &in, &got));
    TRY(azure_result(t, &in, &got));
    res r = odata_read(t->arena, got.http.body, &e, &why);
    if (r != RES_OK)
        return task_fail(t, r, "%s: %s", in.operation, why);
    if (etag_of(&got).len > 0)
        e.etag = etag_of(&got);
    if (!str_eq(e.partition, partition) || !str_eq(e.row, row)) {
        e.partition = arena_copy(t->arena, partition);
        e.row = arena_copy(t->arena, row);
    }
    *ret = e;
    return RES_OK;
}

/* ---- writing ---- */

/* clang-format off */
static const struct {
    const char *operation;
    const char *method;
    bool        into_table, conditional, has_body;
} kinds[] = {
    /*                        operation                method    table  If-Match body */
    [WRITE_INSERT] =         {"tables_insert",         "POST",   true,  false,   true},
    [WRITE_REPLACE] =        {"tables_replace",        "PUT",    false, true,    true},
    [WRITE_MERGE] =          {"tables_merge",          "PATCH",  false, true,    true},
    [WRITE_UPSERT_REPLACE] = {"tables_upsert_replace", "PUT",    false, false,   true},
    [WRITE_UPSERT_MERGE] =   {"tables_upsert_merge",   "PATCH",  false, false,   true},
    [WRITE_DELETE] =         {"tables_delete_entity",  "DELETE", false, true,    false},
};
/* clang-format on */

static void add_header(tables_write_form *f, http_header h)
{
    f->headers[f->header_count++] = h;
}

tables_write_form tables_form_of(const azure_endpoint *e, const table_write *w)
{
    tables_write_form f = {.operation = kinds[w->kind].operation,
                           .method = str_of(kinds[w->kind].method),
                           .into_table = kinds[w->kind].into_table,
                           .has_body = kinds[w->kind].has_body};
    add_header(&f, (http_header)TABLES_WRITES);
    add_header(&f, (http_header)TABLES_VERSION);
    if (f.has_body)
        add_header(&f, (http_header)TABLES_JSON);
    if (w->kind == WRITE_INSERT)
        add_header(&f, (http_header)TABLES_QUIETLY);
    if (kinds[w->kind].conditional)
        add_header(&f, (http_header){STR("If-Match"), w->etag});
    if (str_eq(f.method, STR("PATCH")) && azure_endpoint_is_cosmos(e)) { /* it knows no PATCH (spec 1.4) */
        f.method = STR("POST");
        add_header(&f, (http_header){STR("X-HTTP-Method"), STR("MERGE")});
    }
    return f;
}

bool tables_may_be_own_echo(int status, str code)
{
    if (str_eq(code, STR("TableNotFound")))
        return false;
    return status == 404 || status == 409 || status == 412;
}

static res cannot_be_told(task *t, const char *operation)
{
    return task_fail(t, RES_UPSTREAM, "%s: the reply was lost, and what became of it cannot be told",
                     operation);
}

res tables_settle(azure_endpoint *e, task *t, str name, const table_write *w, str *ret_etag)
{
    const char *operation = kinds[w->kind].operation;
    entity      stored;
    if (w->operation == NULL || w->kind == WRITE_DELETE)
        return cannot_be_told(t, operation);

    res r = get(e, t, name, w->e->partition, w->e->row, (const char *const[]){w->operation, NULL}, &stored);
    if (r == RES_NOT_FOUND) { /* ours and removed since, or never there */
        task_forget(t);
        return cannot_be_told(t, operation);
    }
    if (r != RES_OK)
        return task_fail(t, r, "%s: the reply was lost", operation);
    str own = entity_str(w->e, w->operation, STR(""));
    if (own.len == 0 || !str_eq(entity_str(&stored, w->operation, STR("")), own))
        return RES_CONFLICT;
    *ret_etag = stored.etag;
    return RES_OK;
}

/* An entity that has passed entity_check has always fitted; but half of one must never be sent. */
static res entity_json(task *t, const entity *e, str *ret)
{
    buf body;
    buf_init(&body, t->arena, TABLES_BATCH_BYTES_MAX);
    if (buf_reserve(&body, odata_least_bytes(e) + e->count * TABLES_NUMBER_BYTES) != NULL)
        odata_write(&body, e);
    if (body.failed)
        return task_fail(t, RES_TOO_LARGE, "the entity is above %d bytes as JSON", TABLES_BATCH_BYTES_MAX);
    *ret = buf_str(&body);
    return RES_OK;
}

/* An answer that may be an echo of this write's own first try. */
static res answer_to_echo(task *t, azure_endpoint *e, str name, const table_write *w, const azure_request *in,
                          const azure_answer *got, str *ret_etag)
{
    if (w->kind == WRITE_DELETE && got->http.status == 404)
        return RES_OK;
    res r = tables_settle(e, t, name, w, ret_etag);
    return r == RES_CONFLICT ? azure_result(t, in, got) : r;
}

static res write_one(void *self, task *t, str name, const table_write *w)
{
    tables_write_form form = tables_form_of(self, w);
    azure_request     in = {.operation = form.operation,
                            .method = form.method,
                            .path = form.into_table
                                        ? table_path(t->arena, name)
                                        : tables_entity_path(t->arena, name, w->e->partition, w->e->row),
                            .headers = form.headers,
                            .header_count = form.header_count};
    azure_answer      got;
    str               etag = STR("");

    if (form.has_body)
        TRY(entity_json(t, w->e, &in.body));
    TRY(azure_call(t, self, &in, &got));
    if (got.doubtful && tables_may_be_own_echo(got.http.status, got.code)) {
        TRY(answer_to_echo(t, self, name, w, &in, &got, &etag));
    } else {
        TRY(azure_result(t, &in, &got));
        etag = etag_of(&got);
    }
    w->e->etag = w->kind == WRITE_DELETE ? STR("") : etag;
    return RES_OK;
}

/* ---- tables ---- */

static res create(void *self, task *t, str name)
{
    static const http_header headers[] = {TABLES_WRITES, TABLES_VERSION, TABLES_JSON, TABLES_QUIETLY};
    azure_request            in = {.operation = "tables_create",
                                   .method = STR("POST"),
                                   .path = STR("/Tables"),
                                   .headers = headers,
                                   .header_count = 4,
                                   .body = arena_strf(t->arena, "{\"TableName\":\"%.*s\"}", STR_ARG(name))};
    azure_answer             got;
    TRY(azure_call(t, self, &in, &got));
    return azure_result(t, &in, &got);
}

static res drop(void *self, task *t, str name)
{
    static const http_header headers[] = {TABLES_WRITES, TABLES_VERSION};
    azure_request            in = {.operation = "tables_delete",
                                   .method = STR("DELETE"),
                                   .path = arena_strf(t->arena, "/Tables('%.*s')", STR_ARG(name)),
                                   .headers = headers,
                                   .header_count = 2};
    azure_answer             got;
    TRY(azure_call(t, self, &in, &got));
    if (got.doubtful && got.http.status == 404)
        return RES_OK;
    return azure_result(t, &in, &got);
}

const tables_ops azure_tables = {.create = create,
                                 .drop = drop,
                                 .list = azure_tables_list,
                                 .get = get,
                                 .write = write_one,
                                 .commit = azure_tables_commit,
                                 .query = azure_tables_query};
