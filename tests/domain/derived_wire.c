/* derived_wire.c -- see derived_wire.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/derived_wire.h"

#include <pthread.h>
#include <string.h>

#include "core/buf.h"
#include "domain/actions_rows.h"

static derived_service *service;
static pthread_mutex_t  one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* each connection has a thread */

static const char *failure(derived_service *s, int status)
{
    const char *code = status == 404 ? "BlobNotFound" : status == 503 ? "ServerBusy" : "Refused";
    return arena_strf(s->a, "HTTP/1.1 %d X\r\nx-ms-error-code: %s\r\nContent-Length: 0\r\n\r\n", status, code)
        .at;
}

static void blob(derived_service *s, str method, wire_answer *ret)
{
    if (str_eq(method, STR("PUT"))) {
        atomic_fetch_add(&s->puts, 1);
        ret->bytes =
            s->put != 200
                ? failure(s, s->put)
                : "HTTP/1.1 201 X\r\nETag: \"new\"\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
                  "Content-Length: 0\r\n\r\n";
        return;
    }
    bool head = str_eq(method, STR("HEAD"));
    int  status = head ? s->head : s->get;
    atomic_fetch_add(head ? &s->heads : &s->gets, 1);
    ret->delay_ms = head ? 0 : s->get_delay_ms;
    if (status != 200) {
        ret->bytes = failure(s, status);
        return;
    }
    str top = arena_strf(s->a,
                         "HTTP/1.1 200 OK\r\nETag: \"%s\"\r\nx-ms-blob-type: BlockBlob\r\nLast-Modified: "
                         "Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Length: %zu\r\n\r\n",
                         s->etag, s->body.len);
    buf all;
    buf_init(&all, s->a, 64 * MIB);
    (void)buf_add(&all, top);
    (void)buf_add(&all, head ? STR("") : s->body);
    ret->bytes = all.at;
    ret->len = all.len;
}

static const char *json_answer(arena *a, const char *text)
{
    str s =
        arena_strf(a, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(text), text);
    return s.at;
}

/* The row of aggregates is not there; writing it is answered by `row`. */
static void rows(derived_service *s, str method, const wire_request *request, wire_answer *ret)
{
    if (str_eq(method, STR("GET")) && rows_asks_cache(request)) {
        ret->bytes = "HTTP/1.1 404 X\r\nContent-Type: application/json\r\nContent-Length: 51\r\n\r\n"
                     "{\"odata.error\":{\"code\":\"ResourceNotFound\"}}         ";
    } else if (str_eq(method, STR("GET"))) {
        atomic_fetch_add(&s->queries, 1);
        str page = arena_strf(s->a, "{\"value\":[%s]}", s->rows != NULL ? s->rows : "");
        ret->bytes = s->query == 200 ? json_answer(s->a, page.at) : failure(s, s->query);
    } else {
        ret->bytes = s->row == 200 ? "HTTP/1.1 204 X\r\nETag: W/\"r\"\r\nContent-Length: 0\r\n\r\n"
                                   : failure(s, s->row);
    }
}

static void answer(void *ctx, const wire_request *request, wire_answer *ret)
{
    derived_service *s = ctx;
    str              line = str_slice(request->head, 0, str_find_char(request->head, '\r')), method, target;
    (void)str_next_field(&line, ' ', &method);
    (void)str_next_field(&line, ' ', &target);
    pthread_mutex_lock(&one_at_a_time);
    if (str_has(target, STR("/actions-")))
        blob(s, method, ret);
    else
        rows(s, method, request, ret);
    pthread_mutex_unlock(&one_at_a_time);
}

derived_service *derived(void)
{
    return service;
}

static void fill(int *status)
{
    if (*status == 0)
        *status = 200;
}

void derived_run(derived_service *s, rig_fn *body)
{
    fill(&s->head);
    fill(&s->get);
    fill(&s->put);
    fill(&s->query);
    fill(&s->row);
    s->a = arena_new(SIZE_MAX);
    ck_assert_ptr_nonnull(s->a);
    service = s;
    wire *w = wire_start_fn(answer, s, NULL);
    rig_run(rig_wire_store(w), body, 0);
    wire_stop(w);
    arena_free(s->a);
}

got derived_get(task *t, const char *target, const char *name, str value)
{
    http_header h = {str_of(name), value};
    return rig_call(t, "GET", target, (str){0}, &h, 1);
}
