/* tables.c -- the checks and conveniences over either back end: see tables.h.
 *
 * What is refused here never reaches a back end: names, keys, limits, missing ETags, the rules of batches.
 * Each call goes through made_when_missing, which makes the table if the call finds it missing.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/tables.h"

#include "core/buf.h"
#include "entity_check.h"
#include "facade.h"

enum {
    NAME_MIN = 3,
    NAME_MAX = 63,
    PAGE_MEMORY = 64 * MIB, /* of one page in tables_each: its rows, and what fn makes of them */
    POSITION_MAX = 64 * KIB,
};

/* A call on its way to the back end; the fields behind `table` are those that its kind needs. */
typedef struct {
    const tables_ops  *ops;
    void              *self;
    str                table;
    str                partition, row;
    const char *const *select;
    const table_write *writes;
    size_t             count, failed;
    const table_query *query;
    entity            *ret;
    entity_page       *ret_page;
} call;

/* ---- checks ---- */

static bool is_letter(char c)
{
    char lower = str_lower_char(c);
    return lower >= 'a' && lower <= 'z';
}

static bool is_table_name(str name)
{
    if (name.len < NAME_MIN || name.len > NAME_MAX || !is_letter(name.at[0]))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!is_letter(name.at[i]) && !(name.at[i] >= '0' && name.at[i] <= '9'))
            return false;
    return !str_eq_nocase(name, STR("tables"));
}

static res find_ops(task *t, store_id store, call *ret)
{
    const backend *b = store_backend(store);
    if (b == NULL || b->tables == NULL)
        return facade_no_storage(t);
    ret->ops = b->tables;
    ret->self = b->tables_self;
    return RES_OK;
}

static res begin(task *t, table in, call *ret)
{
    *ret = (call){.table = in.name};
    TRY(find_ops(t, in.store, ret));
    if (!is_table_name(in.name))
        return task_fail(t, RES_INVALID,
                         "table '%.*s': a name has 3 to 63 letters and digits, begins with a letter, %s",
                         STR_ARG(str_slice(in.name, 0, FACADE_SHOWN_MAX)), "and is not 'tables'");
    return RES_OK;
}

static res refuse(task *t, res r, str why)
{
    return r == RES_OK ? RES_OK : task_fail(t, r, "%.*s", STR_ARG(why));
}

static res check_key(task *t, const char *which, str key)
{
    str why = STR("");
    res r = entity_check_key(t->arena, which, key, &why);
    return refuse(t, r, why);
}

static res check_keys(task *t, str partition, str row)
{
    TRY(check_key(t, "PartitionKey", partition));
    return check_key(t, "RowKey", row);
}

static res check_select(task *t, const char *const *select)
{
    str why = STR("");
    for (; select != NULL && *select != NULL; select++) {
        res r = entity_check_name(t->arena, str_of(*select), &why);
        TRY(refuse(t, r, why));
    }
    return RES_OK;
}

static bool is_conditional(write_kind kind)
{
    return kind == WRITE_REPLACE || kind == WRITE_MERGE || kind == WRITE_DELETE;
}

static res check_write(task *t, const table_write *w)
{
    str why = STR("");
    if (is_conditional(w->kind) && w->etag.len == 0)
        return task_fail(t, RES_INVALID, "replace, merge and delete need an ETag, or * for any");
    TRY(facade_check_header(t, "the ETag", w->etag));
    if (w->kind == WRITE_DELETE)
        return check_keys(t, w->e->partition, w->e->row);
    res r = entity_check(t->arena, w->e, &why);
    TRY(refuse(t, r, why));
    const property *operation = w->operation == NULL ? NULL : entity_find(w->e, str_of(w->operation));
    if (w->operation != NULL && (operation == NULL || operation->type != EDM_STRING))
        return task_fail(t, RES_INVALID, "the entity has no String property '%s' that names the operation",
                         w->operation);
    return RES_OK;
}

/* Each write by itself, then all of them together; *ret_failed is the one at fault, or `count`. */
static res check_batch(task *t, const table_write *writes, size_t count, size_t *ret_failed)
{
    size_t bytes = 0;
    *ret_failed = count;
    if (count < 1 || count > TABLES_BATCH_MAX)
        return task_fail(t, RES_INVALID, "a transaction of %zu writes: 1 to %d are allowed", count,
                         TABLES_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        const entity *e = writes[i].e;
        *ret_failed = i;
        TRY(check_write(t, &writes[i]));
        if (!str_eq(e->partition, writes[0].e->partition))
            return task_fail(t, RES_INVALID, "write %zu is of another partition than the first", i);
        for (size_t k = 0; k < i; k++)
            if (str_eq(e->row, writes[k].e->row))
                return task_fail(t, RES_INVALID, "writes %zu and %zu are of the same row", k, i);
        bytes += entity_bytes(e);
    }
    *ret_failed = count;
    if (bytes > TABLES_BATCH_BYTES_MAX)
        return task_fail(t, RES_TOO_LARGE, "the transaction has %zu bytes, at most %d are allowed", bytes,
                         TABLES_BATCH_BYTES_MAX);
    return RES_OK;
}

/* ---- calls of the back end, as made_when_missing wants them ---- */

static res call_get(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->get(c->self, t, c->table, c->partition, c->row, c->select, c->ret);
}

static res call_write(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->write(c->self, t, c->table, c->writes);
}

static res call_commit(task *t, void *ctx)
{
    call *c = ctx;
    c->failed = c->count;
    return c->ops->commit(c->self, t, c->table, c->writes, c->count, &c->failed);
}

static res call_query(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->query(c->self, t, c->table, c->query, c->ret_page);
}

static res made(task *t, call *c, made_op *op)
{
    return made_when_missing(t, c->table, c->ops->create, c->self, op, c);
}

/* ---- tables ---- */

res tables_create(task *t, table in)
{
    call c;
    TRY(begin(t, in, &c));
    return facade_created(t, c.ops->create(c.self, t, c.table));
}

res tables_delete(task *t, table in)
{
    call c;
    TRY(begin(t, in, &c));
    return c.ops->drop(c.self, t, c.table);
}

res tables_list(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                size_t *ret_count, str *ret_token)
{
    call c = {0};
    TRY(find_ops(t, store, &c));
    return facade_list(t, c.ops->list, c.self, prefix, most, token, ret_names, ret_count, ret_token);
}

/* ---- one entity ---- */

res tables_get(task *t, table in, str partition, str row, entity *ret)
{
    return tables_get_some(t, in, partition, row, NULL, ret);
}

res tables_get_some(task *t, table in, str partition, str row, const char *const *select, entity *ret)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(check_keys(t, partition, row));
    TRY(check_select(t, select));
    c.partition = partition;
    c.row = row;
    c.select = select;
    c.ret = ret;
    return made(t, &c, call_get);
}

res tables_write(task *t, table in, const table_write *w)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(check_write(t, w));
    c.writes = w;
    return made(t, &c, call_write);
}

res tables_insert(task *t, table in, entity *e)
{
    return tables_write(t, in, &(table_write){.kind = WRITE_INSERT, .e = e});
}

res tables_replace(task *t, table in, entity *e, str etag)
{
    return tables_write(t, in, &(table_write){.kind = WRITE_REPLACE, .e = e, .etag = etag});
}

res tables_merge(task *t, table in, entity *e, str etag)
{
    return tables_write(t, in, &(table_write){.kind = WRITE_MERGE, .e = e, .etag = etag});
}

res tables_upsert_replace(task *t, table in, entity *e)
{
    return tables_write(t, in, &(table_write){.kind = WRITE_UPSERT_REPLACE, .e = e});
}

res tables_upsert_merge(task *t, table in, entity *e)
{
    return tables_write(t, in, &(table_write){.kind = WRITE_UPSERT_MERGE, .e = e});
}

res tables_remove(task *t, table in, str partition, str row, str etag)
{
    entity e = entity_new(t->arena, partition, row);
    return tables_write(t, in, &(table_write){.kind = WRITE_DELETE, .e = &e, .etag = etag});
}

/* ---- several ---- */

res tables_commit(task *t, table in, const table_write *writes, size_t count, size_t *ret_failed)
{
    call    c;
    size_t  none = count;
    size_t *failed = ret_failed != NULL ? ret_failed : &none;

    *failed = count;
    TRY(begin(t, in, &c));
    TRY(check_batch(t, writes, count, failed));
    c.writes = writes;
    c.count = count;
    res r = made(t, &c, call_commit);
    *failed = r == RES_OK ? count : c.failed;
    return r;
}

/* ---- many ---- */

res tables_query(task *t, table in, const table_query *q, entity_page *ret)
{
    call        c;
    table_query query = *q;
    entity_page page = {0};
    str         why = STR("");

    TRY(begin(t, in, &c));
    query.top = q->top == 0 ? TABLES_PAGE_MAX : q->top;
    TRY(facade_check_most(t, query.top, TABLES_PAGE_MAX));
    TRY(check_select(t, q->select));
    res r = filter_check(t->arena, q->where, &why);
    TRY(refuse(t, r, why));
    TRY(token_decode(t, TOKEN_ROWS, q->token, &query.token));
    c.query = &query;
    c.ret_page = &page;
    TRY(made(t, &c, call_query));
    page.token = token_encode(t->arena, TOKEN_ROWS, page.token);
    *ret = page;
    return RES_OK;
}

typedef struct {
    table           in;
    table_query     query; /* its token looks into `token` */
    tables_each_fn *fn;
    void           *ctx;
    buf             token; /* the only thing that outlives a page */
} walk;

static res walk_page(task *t, void *ctx)
{
    walk       *w = ctx;
    entity_page page;

    TRY(tables_query(t, w->in, &w->query, &page));
    for (size_t i = 0; i < page.len; i++) {
        TRY(task_stopped(t)); /* a page that was found at once has waited for nothing */
        TRY(w->fn(t, &page.at[i], w->ctx));
    }
    buf_clear(&w->token);
    if (!buf_add(&w->token, page.token))
        return task_fail(t, RES_UPSTREAM, "a continuation token of %zu bytes", page.token.len);
    w->query.token = buf_str(&w->token);
    return RES_OK;
}

res tables_each(task *t, table in, const table_query *q, tables_each_fn *fn, void *ctx)
{
    walk w = {.in = in, .query = *q, .fn = fn, .ctx = ctx};
    buf_init(&w.token, t->arena, POSITION_MAX);
    do
        TRY(task_scope(t, PAGE_MEMORY, walk_page, &w));
    while (w.query.token.len > 0);
    return RES_OK;
}
