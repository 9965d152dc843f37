/* actions_service.c -- see actions_service.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions_service.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 64, TEXT_BYTES = 64 * KIB };

#define NOT_COUNTED                                                                                          \
    "HTTP/1.1 404 X\r\nContent-Type: application/json\r\nContent-Length: 43\r\n\r\n{\"odata.error\":{\"code" \
    "\":\"ResourceNotFound\"}}"

typedef struct {
    const char *const *answers;
    unsigned          *count, next;
} kind;

static struct {
    pthread_mutex_t     lock; /* each connection has a thread */
    const service_plan *plan;
    service_counts      counts;
    kind                look, insert, replace, commit, blob;
    wire               *w;
    char                texts[KEPT][TEXT_BYTES]; /* of answers that were made for the occasion */
    size_t              text;
    char                sent[8 * TEXT_BYTES]; /* the latest write's body */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_kind(kind *k, const char *const *answers, unsigned *count)
{
    *k = (kind){.answers = answers, .count = count};
}

static void start_lists(const service_plan *p)
{
    service.plan = p;
    service.counts = (service_counts){0};
    set_kind(&service.look, p->look, &service.counts.look);
    set_kind(&service.insert, p->insert, &service.counts.insert);
    set_kind(&service.replace, p->replace, &service.counts.replace);
    set_kind(&service.commit, p->commit, &service.counts.commit);
    set_kind(&service.blob, p->blob, &service.counts.blob);
}

static kind *kind_of(str head)
{
    if (str_has(head, STR("/$batch ")))
        return &service.commit;
    if (!str_has(head, STR("DataServiceVersion")))
        return &service.blob;
    if (str_starts(head, STR("GET ")))
        return &service.look;
    return str_starts(head, STR("POST ")) ? &service.insert : &service.replace;
}

static const char *next_of(kind *k)
{
    const char *a = k->answers[k->next];
    if (k->next + 1 < SERVICE_ANSWERS_MAX && k->answers[k->next + 1] != NULL)
        k->next++;
    return a;
}

/* ---- answers for the occasion ---- */

static char *new_text(void)
{
    return service.texts[service.text++ % KEPT];
}

static size_t writes_in(str body)
{
    str    mark = STR("Content-Type: application/http\r\n");
    size_t n = 0;
    for (size_t at; (at = str_find(body, mark)) < body.len; n++)
        body = str_from(body, at + mark.len);
    return n;
}

static const char *done(str body, bool batch)
{
    char *text = new_text();
    if (!batch)
        return "HTTP/1.1 204 No Content\r\nETag: W/\"2\"\r\nContent-Length: 0\r\n\r\n";
    size_t len =
        (size_t)snprintf(text, TEXT_BYTES,
                         "HTTP/1.1 202 Accepted\r\nContent-Type: multipart/mixed; boundary=b\r\n"
                         "Connection: close\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n");
    for (size_t n = writes_in(body); n > 0; n--)
        len += (size_t)snprintf(text + len, TEXT_BYTES - len,
                                "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n"
                                "ETag: W/\"2\"\r\n\r\n\r\n");
    (void)snprintf(text + len, TEXT_BYTES - len, "--c--\r\n--b--\r\n");
    return text;
}

/* The value of a String property behind `from`. */
static str value_of(str from, const char *name)
{
    char mark[64];
    (void)snprintf(mark, sizeof mark, "\"%s\":\"", name);
    str rest = str_from(from, str_find(from, str_of(mark)) + strlen(mark));
    return str_slice(rest, 0, str_find_char(rest, '"'));
}

/* The row that is asked for, from what was last sent. */
static const char *ours(str head)
{
    char mark[600];
    str  key = str_from(head, str_find(head, STR("RowKey='")) + 8);
    key = str_slice(key, 0, str_find_char(key, '\''));
    (void)snprintf(mark, sizeof mark, "\"RowKey\":\"%.*s\"", STR_ARG(key));
    str   sent = str_of(service.sent), row = str_from(sent, str_find(sent, str_of(mark)));
    str   hash = value_of(row, "PayloadHash"), synced = value_of(row, "LastSyncedUtc");
    char *text = new_text();
    (void)snprintf(text, TEXT_BYTES, SERVICE_ROW("%.*s", "%.*s", "W/\"9\""), STR_ARG(hash), STR_ARG(synced));
    return text;
}

static void keep_sent(str body)
{
    (void)snprintf(service.sent, sizeof service.sent, "%.*s", STR_ARG(body));
}

static const char *choose(const wire_request *q)
{
    kind       *k = kind_of(q->head);
    const char *spared = service.plan->spared;
    if (str_has(q->head, STR("statsCache")))
        return NOT_COUNTED; /* the counts over the catalogue are brought up to date whenever there is time */
    ++*k->count;
    if (k != &service.look && q->body.len > 0)
        keep_sent(q->body);
    if (spared != NULL && !str_has(q->head, str_of(spared)) && !str_has(q->body, str_of(spared)))
        return k == &service.look ? SERVICE_MISSING : done(q->body, k == &service.commit);
    const char *a = next_of(k);
    if (a == NULL)
        return SERVICE_FAILS("400", "InvalidInput", "The test expects no such request.");
    if (strcmp(a, SERVICE_DONE) == 0)
        return done(q->body, k == &service.commit);
    return strcmp(a, SERVICE_OURS) == 0 ? ours(q->head) : a;
}

static void serve(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    (void)pthread_mutex_lock(&service.lock);
    const char *a = choose(q);
    *ret = (wire_answer){.bytes = a, .delay_ms = service.plan->delay_ms};
    if (strcmp(a, SERVICE_LOST) == 0)
        *ret = (wire_answer){.then = WIRE_RESET};
    else if (strstr(a, "Content-Length") == NULL)
        ret->then = WIRE_CLOSE;
    (void)pthread_mutex_unlock(&service.lock);
}

/* ---- running ---- */

void service_run(const service_plan *p, rig_fn *body, int i)
{
    start_lists(p);
    service.w = wire_start_fn(serve, NULL, NULL);
    rig_run(rig_wire_store(service.w), body, i);
    wire_stop(service.w);
}

service_counts service_count(void)
{
    (void)pthread_mutex_lock(&service.lock);
    service_counts n = service.counts;
    n.connections = wire_connections(service.w);
    (void)pthread_mutex_unlock(&service.lock);
    return n;
}

void service_again(void)
{
    (void)pthread_mutex_lock(&service.lock);
    start_lists(service.plan);
    (void)pthread_mutex_unlock(&service.lock);
}
