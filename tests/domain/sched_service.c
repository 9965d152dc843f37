/* sched_service.c -- see sched_service.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

enum { THINGS_MAX = 4096, LINES_MAX = 65536, MEMORY = 512 * MIB, TOP = 1000 };

#define ROOT STR("/" AZURITE_ACCOUNT "/")

/* A row or a blob; gone: its text is NULL. */
typedef struct {
    str table, partition, row; /* of a blob: table empty, its path is the row */
    str text;
    int version;
} thing;

static struct {
    pthread_mutex_t lock; /* each connection has a thread */
    arena          *a;
    thing           things[THINGS_MAX];
    size_t          count;
    const char     *lines[LINES_MAX];
    size_t          line_count;
    const char     *fail_line, *fail_answer;
    unsigned        fail_times, page_rows;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- requests ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static str decoded(str s)
{
    char  *out = arena_alloc(service.a, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        bool escaped = s.at[i] == '%' && i + 2 < s.len;
        out[n++] = escaped ? (char)(digit(s.at[i + 1]) * 16 + digit(s.at[i + 2])) : s.at[i];
        i += escaped ? 2 : 0;
    }
    out[n] = '\0';
    return (str){out, n};
}

/* Between `before` and the next `end`; empty when there is none. */
static str behind(str s, const char *before, char end)
{
    size_t at = str_find(s, str_of(before));
    if (at == s.len)
        return (str){0};
    str rest = str_from(s, at + strlen(before));
    return str_slice(rest, 0, str_find_char(rest, end));
}

typedef struct {
    str  method, target, query, body;
    str  table, partition, row;
    bool is_table, is_query;
} ask;

static str without_prefix(str name)
{
    str prefix = str_of(getenv("SCHED_TABLE_PREFIX"));
    return str_starts(name, prefix) ? str_from(name, prefix.len) : name;
}

static void read_keys(ask *q, str path)
{
    size_t open = str_find_char(path, '(');
    q->table = without_prefix(arena_copy(service.a, str_slice(path, 0, open)));
    q->partition = behind(path, "PartitionKey='", '\'');
    q->row = behind(path, "RowKey='", '\'');
    q->is_query = str_starts(str_from(path, open), STR("()"));
    if (q->is_query)
        q->partition = behind(decoded(q->query), "PartitionKey eq '", '\'');
    if (open == path.len) { /* an insert, or a new table */
        q->partition = behind(q->body, "\"PartitionKey\":\"", '"');
        q->row = behind(q->body, "\"RowKey\":\"", '"');
    }
}

static ask read_ask(const wire_request *r)
{
    ask    q = {.method = str_slice(r->head, 0, str_find_char(r->head, ' ')), .body = r->body};
    str    rest = str_from(r->head, q.method.len + 1);
    size_t mark;
    q.target = str_slice(rest, 0, str_find_char(rest, ' '));
    mark = str_find_char(q.target, '?');
    q.query = str_from(q.target, mark + 1);
    str path = decoded(str_from(str_slice(q.target, 0, mark), ROOT.len));
    q.is_table = str_has(r->head, STR("DataServiceVersion"));
    if (q.is_table)
        read_keys(&q, path);
    else
        q.row = path;
    return q;
}

static const char *line_of(const ask *q)
{
    bool get = str_eq(q->method, STR("GET"));
    if (!q->is_table)
        return arena_strf(service.a, "BLOB %.*s", STR_ARG(q->method)).at;
    if (str_eq(q->table, STR("Tables"))) {
        str name = without_prefix(behind(q->body, "\"TableName\":\"", '"'));
        return arena_strf(service.a, "CREATE %.*s", STR_ARG(name)).at;
    }
    const char *verb = get && q->is_query                 ? "QUERY"
                       : get                              ? "GET"
                       : str_eq(q->method, STR("POST"))   ? "INSERT"
                       : str_eq(q->method, STR("DELETE")) ? "DELETE"
                                                          : "REPLACE";
    return arena_strf(service.a, "%s %.*s", verb, STR_ARG(q->table)).at;
}

/* ---- what is kept ---- */

static thing *find(const ask *q)
{
    for (size_t i = 0; i < service.count; i++) {
        thing *h = &service.things[i];
        if (str_eq(h->table, q->table) && str_eq(h->row, q->row) && str_eq(h->partition, q->partition))
            return h;
    }
    return NULL;
}

static const char *put(const ask *q)
{
    static int version;
    thing     *h = find(q);
    if (h == NULL) {
        ck_assert_uint_lt(service.count, THINGS_MAX);
        h = &service.things[service.count++];
        *h = (thing){arena_copy(service.a, q->table), arena_copy(service.a, q->partition),
                     arena_copy(service.a, q->row), .text = {0}};
    }
    h->text = arena_copy(service.a, q->body);
    h->version = ++version;
    return arena_strf(service.a,
                      "HTTP/1.1 %s X\r\nETag: W/\"%d\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
                      "Content-Length: 0\r\n\r\n",
                      q->is_table ? "204" : "201", h->version)
        .at;
}

static int by_keys(const void *left, const void *right)
{
    const thing *a = *(const thing *const *)left, *b = *(const thing *const *)right;
    int          order = str_compare(a->partition, b->partition);
    return order != 0 ? order : str_compare(a->row, b->row);
}

/* The rows of a partition, or of the table when the filter names none. */
static const char *answer_query(const ask *q)
{
    static const thing *list[THINGS_MAX];
    size_t              n = 0, shown = 0;
    uint64_t            top = TOP;
    str                 after = decoded(behind(q->query, "NextRowKey=", '&')), rows = {0}, next = {0};
    if (str_has(q->query, STR("top=")))
        ck_assert(str_to_u64(behind(q->query, "top=", '&'), &top));
    if (service.page_rows > 0 && top > service.page_rows)
        top = service.page_rows;
    for (size_t i = 0; i < service.count; i++) {
        const thing *h = &service.things[i];
        if (h->text.at != NULL && str_eq(h->table, q->table) &&
            (q->partition.len == 0 || str_eq(h->partition, q->partition)))
            list[n++] = h;
    }
    if (n > 1)
        qsort((void *)list, n, sizeof *list, by_keys);
    for (size_t i = 0; i < n; i++) {
        if (after.len > 0 && str_compare(list[i]->row, after) < 0)
            continue;
        if (shown == top) {
            next = arena_strf(service.a,
                              "x-ms-continuation-NextPartitionKey: %.*s\r\n"
                              "x-ms-continuation-NextRowKey: %.*s\r\n",
                              STR_ARG(list[i]->partition), STR_ARG(list[i]->row));
            break;
        }
        rows = arena_strf(service.a, "%.*s%s%.*s", STR_ARG(rows), shown++ > 0 ? "," : "",
                          STR_ARG(list[i]->text));
    }
    return arena_strf(service.a,
                      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%.*sContent-Length: %zu\r\n\r\n"
                      "{\"value\":[%.*s]}",
                      STR_ARG(next), rows.len + 12, STR_ARG(rows))
        .at;
}

static const char *missing(const ask *q)
{
    if (q->is_table)
        return SCHED_SERVICE_FAILS("404", "ResourceNotFound");
    return "HTTP/1.1 404 X\r\nx-ms-error-code: BlobNotFound\r\nContent-Length: 0\r\n\r\n";
}

static const char *act(const ask *q)
{
    thing *h = find(q);
    bool   there = h != NULL && h->text.at != NULL;
    if (q->is_table && str_eq(q->table, STR("Tables")))
        return "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
    if (q->is_query)
        return answer_query(q);
    if (str_eq(q->method, STR("GET"))) {
        if (!there)
            return missing(q);
        return arena_strf(service.a,
                          "HTTP/1.1 200 OK\r\nETag: W/\"%d\"\r\nContent-Type: application/json\r\n"
                          "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nx-ms-blob-type: BlockBlob\r\n"
                          "Content-Length: %zu\r\n\r\n%.*s",
                          h->version, h->text.len, STR_ARG(h->text))
            .at;
    }
    if (q->is_table && str_eq(q->method, STR("POST")) && there)
        return SCHED_SERVICE_FAILS("409", "EntityAlreadyExists");
    if (!str_eq(q->method, STR("DELETE")))
        return put(q);
    if (!there)
        return missing(q);
    h->text = (str){0};
    return "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
}

static void serve(void *ctx, const wire_request *r, wire_answer *ret)
{
    (void)ctx;
    (void)pthread_mutex_lock(&service.lock);
    ask         q = read_ask(r);
    const char *line = line_of(&q);
    service.lines[service.line_count++ % LINES_MAX] = line;
    bool fails = service.fail_times > 0 && str_starts(str_of(line), str_of(service.fail_line));
    if (fails)
        service.fail_times--;
    *ret = (wire_answer){.bytes = fails ? service.fail_answer : act(&q)};
    if (str_has(str_of(ret->bytes), STR("Connection: close")))
        ret->then = WIRE_CLOSE;
    (void)pthread_mutex_unlock(&service.lock);
}

/* ---- for tests ---- */

size_t sched_service_count(const char *line)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&service.lock);
    for (size_t i = 0; i < service.line_count; i++)
        n += str_starts(str_of(service.lines[i]), str_of(line));
    (void)pthread_mutex_unlock(&service.lock);
    return n;
}

void sched_service_forget(void)
{
    (void)pthread_mutex_lock(&service.lock);
    service.line_count = 0;
    (void)pthread_mutex_unlock(&service.lock);
}

void sched_service_fail(const char *line, const char *answer, unsigned times)
{
    (void)pthread_mutex_lock(&service.lock);
    service.fail_line = line;
    service.fail_answer = answer;
    service.fail_times = times;
    (void)pthread_mutex_unlock(&service.lock);
}

void sched_service_page(unsigned rows)
{
    service.page_rows = rows;
}

void sched_service_run(rig_fn *body, int i)
{
    service.a = arena_new(MEMORY);
    ck_assert_ptr_nonnull(service.a);
    log_set_level(LOG_OFF); /* failures are the point; rig_log_capture turns it on again */
    wire *w = wire_start_fn(serve, NULL, NULL);
    rig_run(rig_wire_store(w), body, i);
    wire_stop(w);
    arena_free(service.a);
}
