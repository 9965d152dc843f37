/* batch.c -- several writes as one entity group transaction (spec 5).
 *
 * The request is one POST to $batch: a changeset with one HTTP request for each write. All that separates
 * these is boundary lines; the boundaries hold a fresh UUID, and every body is one line of JSON in which line
 * ends are escaped, so no value can look like one. A batch that fails still answers 202: then the one part in
 * it tells the failure and which write it was.
 *
 * When the reply was lost and the batch sent again, the second answer may be an echo of the first, as for
 * single writes (tables.c). All were applied or none, so one entity with an `operation` tells for all. Then
 * its ETag is known, and those of the others are not: they become empty.
 *
 * SPDX-License-Identifier: MIT */
#include "core/id.h"
#include "storage/azure/error.h"
#include "storage/azure/multipart.h"
#include "storage/azure/odata.h"
#include "storage/azure/tables_wire.h"

enum { BATCH_TRY_MS = 35000, BATCH_ANSWER_MAX = 4 * 1024 * 1024 };

/* ---- the request ---- */

static void add_line(buf *out, str line)
{
    buf_add(out, line);
    buf_add(out, STR("\r\n"));
}

static void add_boundary(buf *out, const char *kind, str uuid, const char *end)
{
    buf_addf(out, "--%s_%.*s%s\r\n", kind, STR_ARG(uuid), end);
}

/* METHOD http://host/account/Tab(…) HTTP/1.1, headers, an empty line, and the entity. Inner addresses are
 * absolute (spec 5.1). */
static void add_write(buf *out, const azure_endpoint *e, str name, const table_write *w)
{
    tables_write_form form = tables_form_of(e, w);
    buf_add(out, form.method);
    buf_add_char(out, ' ');
    buf_add(out, azure_endpoint_url(e));
    if (form.into_table) {
        buf_add_char(out, '/');
        buf_add(out, name);
    } else {
        tables_add_entity_path(out, name, w->e->partition, w->e->row);
    }
    add_line(out, STR(" HTTP/1.1"));
    for (size_t i = 0; i < form.header_count; i++) {
        buf_add(out, form.headers[i].name);
        buf_add(out, STR(": "));
        add_line(out, form.headers[i].value);
    }
    add_line(out, STR(""));
    if (!form.has_body)
        return;
    odata_write(out, w->e);
    add_line(out, STR(""));
}

static void add_writes(buf *out, const azure_endpoint *e, str name, const table_write *writes, size_t count,
                       str batch, str changeset)
{
    add_boundary(out, "batch", batch, "");
    buf_addf(out, "Content-Type: multipart/mixed; boundary=changeset_%.*s\r\n\r\n", STR_ARG(changeset));
    for (size_t i = 0; i < count && !out->failed; i++) {
        add_boundary(out, "changeset", changeset, "");
        add_line(out, STR("Content-Type: application/http"));
        add_line(out, STR("Content-Transfer-Encoding: binary"));
        add_line(out, STR(""));
        add_write(out, e, name, &writes[i]);
    }
    add_boundary(out, "changeset", changeset, "--");
    add_boundary(out, "batch", batch, "--");
}

/* In one piece, since a batch may take most of what a request may have. False: the entities alone are too
 * much; then not a byte is written. */
static bool reserve(buf *out, const azure_endpoint *e, const table_write *writes, size_t count)
{
    enum { AROUND_WRITE = 500, PER_KEY_BYTE = 3 };
    size_t least = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        const entity *one = writes[i].e;
        if (writes[i].kind != WRITE_DELETE)
            least += odata_least_bytes(one);
        rest += AROUND_WRITE + azure_endpoint_url(e).len + one->count * TABLES_NUMBER_BYTES +
                (one->partition.len + one->row.len) * PER_KEY_BYTE;
    }
    if (least < out->max && rest > out->max - least)
        rest = out->max - least;
    return buf_reserve(out, least + rest) != NULL;
}

/* An ETag is the caller's, and inside a body nobody else would stop a line end in it. */
static res check_etags(task *t, const table_write *writes, size_t count, size_t *ret_failed)
{
    for (size_t i = 0; i < count; i++) {
        if (http_header_value_ok(writes[i].etag))
            continue;
        *ret_failed = i;
        return task_fail(t, RES_INVALID, "write %zu: its ETag is none", i);
    }
    return RES_OK;
}

/* ---- the answer ---- */

/* By position: what Location says does not always come back as it was sent (spec 5.2). */
static void take_etags(const table_write *writes, size_t count, const multipart_part *parts)
{
    for (size_t i = 0; i < count; i++)
        writes[i].e->etag = writes[i].kind == WRITE_DELETE ? STR("") : parts[i].etag;
}

/* One of several, all or none: the one that can be recognised, or NULL. */
static const table_write *marker_of(const table_write *writes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (writes[i].operation != NULL && writes[i].kind != WRITE_DELETE)
            return &writes[i];
    return NULL;
}

/* The whole batch had been applied before: RES_OK. RES_CONFLICT: it had not. */
static res settle(azure_endpoint *e, task *t, str name, const table_write *writes, size_t count)
{
    const table_write *marker = marker_of(writes, count);
    str                etag;
    TRY(tables_settle(e, t, name, marker != NULL ? marker : &writes[0], &etag));
    for (size_t i = 0; i < count; i++)
        writes[i].e->etag = &writes[i] == marker ? etag : STR("");
    return RES_OK;
}

typedef struct {
    azure_endpoint      *e;
    str                  table;
    const table_write   *writes;
    size_t               count;
    const azure_request *in;
    bool                 doubtful;
} batch;

static res part_failed(task *t, const batch *b, const multipart_part *part, size_t *ret_failed)
{
    azure_answer got = {.http = {.status = part->status, .body = part->body}};
    error_read(t->arena, &got.http, &got.code, &got.message);
    size_t index = multipart_take_index(&got.message);

    if (b->doubtful && tables_may_be_own_echo(part->status, got.code)) {
        res r = settle(b->e, t, b->table, b->writes, b->count);
        if (r != RES_CONFLICT)
            return r;
    }
    *ret_failed = index < b->count ? index : b->count;
    res r = azure_result(t, b->in, &got);
    return task_fail(t, r != RES_OK ? r : RES_UPSTREAM, "write %zu of %zu", index, b->count);
}

static res read_answer(task *t, const batch *b, const azure_answer *got, size_t *ret_failed)
{
    multipart_part *parts = arena_array(t->arena, multipart_part, b->count);
    size_t          found = 0;
    str             type = http_header_get(got->http.headers, got->http.header_count, STR("content-type"));
    if (multipart_read(type, got->http.body, parts, b->count, &found) != RES_OK)
        return task_fail(t, RES_UPSTREAM, "%s: its answer is no batch", b->in->operation);
    for (size_t i = 0; i < found; i++)
        if (parts[i].status >= 300)
            return part_failed(t, b, &parts[i], ret_failed);
    if (found != b->count)
        return task_fail(t, RES_UPSTREAM, "%s: %zu answers to %zu writes", b->in->operation, found, b->count);
    take_etags(b->writes, b->count, parts);
    return RES_OK;
}

/* ---- all of it ---- */

static res commit(azure_endpoint *e, task *t, str name, const table_write *writes, size_t count,
                  size_t *ret_failed)
{
    char         batch_id[UUID_TEXT + 1], changeset_id[UUID_TEXT + 1];
    str          id = id_uuid(batch_id);
    buf          body;
    azure_answer got;
    TRY(check_etags(t, writes, count, ret_failed));
    buf_init(&body, t->arena, TABLES_BATCH_BYTES_MAX);
    if (reserve(&body, e, writes, count))
        add_writes(&body, e, name, writes, count, id, id_uuid(changeset_id));
    if (body.failed)
        return task_fail(t, RES_TOO_LARGE, "the batch is above %d bytes", TABLES_BATCH_BYTES_MAX);

    str           type = arena_strf(t->arena, "multipart/mixed; boundary=batch_%.*s", STR_ARG(id));
    http_header   headers[] = {TABLES_WRITES,
                               TABLES_VERSION,
                               {STR("MaxDataServiceVersion"), STR("3.0;NetFx")},
                               {STR("Content-Type"), type}};
    azure_request in = {.operation = "tables_commit",
                        .method = STR("POST"),
                        .path = STR("/$batch"),
                        .headers = headers,
                        .header_count = sizeof headers / sizeof *headers,
                        .body = buf_str(&body),
                        .answer_max = BATCH_ANSWER_MAX,
                        .try_ms = BATCH_TRY_MS};
    TRY(azure_call(t, e, &in, &got));
    TRY(azure_result(t, &in, &got)); /* what is said of the batch as a whole comes without multipart */
    batch b = {.e = e, .table = name, .writes = writes, .count = count, .in = &in, .doubtful = got.doubtful};
    return read_answer(t, &b, &got, ret_failed);
}

res azure_tables_commit(void *self, task *t, str name, const table_write *writes, size_t count,
                        size_t *ret_failed)
{
    size_t failed = count;
    res    r = commit(self, t, name, writes, count, &failed);
    if (r != RES_OK && ret_failed != NULL)
        *ret_failed = failed;
    return r;
}
