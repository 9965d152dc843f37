/* queues.c -- queues and their messages (spec 7) over azure_call.
 *
 * Bodies are XML with times as HTTP dates. A put whose reply was lost is sent again and may be there twice,
 * which consumers must bear anyway; a delete that then finds nothing has done its work. An update gives out a
 * new receipt: when that reply was lost nobody has the receipt, and the caller is told that it cannot be
 * told.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/azure_ops.h"
#include "storage/azure/services.h"

/* A message of 64 KiB in the worst case of escapes; a receive gives up to QUEUES_RECEIVE_MAX of them. */
enum { MESSAGE_MAX = QUEUES_WIRE_MAX * 6 + 4 * KIB };

static const http_header xml_type = {STR_INIT("Content-Type"), STR_INIT("application/xml")};

static str queue_path(arena *a, str name)
{
    return arena_strf(a, "/%.*s", STR_ARG(name));
}

static str messages_path(arena *a, str name)
{
    return arena_strf(a, "/%.*s/messages", STR_ARG(name));
}

static str message_path(arena *a, str name, str id)
{
    str escaped = azure_escape(a, id, "");
    return arena_strf(a, "/%.*s/messages/%.*s", STR_ARG(name), STR_ARG(escaped));
}

/* ---- queues ---- */

static res create(void *self, task *t, str name)
{
    azure_request in = {
        .operation = "queues_create", .method = STR("PUT"), .path = queue_path(t->arena, name)};
    azure_answer got;
    TRY(services_call(t, self, &in, &got));
    if (got.http.status == 204)
        return task_fail(t, RES_CONFLICT, "queues_create: the queue is there already");
    return RES_OK;
}

static res drop(void *self, task *t, str name)
{
    azure_request in = {
        .operation = "queues_delete", .method = STR("DELETE"), .path = queue_path(t->arena, name)};
    return services_drop(t, self, &in);
}

static res list(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    return services_list(t, self, "queues_list", "Queue", prefix, most, position, ret);
}

static res count(void *self, task *t, str name, uint64_t *ret)
{
    azure_request in = {.operation = "queues_count",
                        .method = STR("GET"),
                        .path = queue_path(t->arena, name),
                        .query = STR("comp=metadata")};
    azure_answer  got;
    uint64_t      messages;
    TRY(services_call(t, self, &in, &got));
    if (!str_to_u64(services_header(&got, "x-ms-approximate-messages-count"), &messages))
        return services_nonsense(t, &in, "there is no count in it");
    *ret = messages;
    return RES_OK;
}

static res clear(void *self, task *t, str name)
{
    azure_request in = {
        .operation = "queues_clear", .method = STR("DELETE"), .path = messages_path(t->arena, name)};
    azure_answer got;
    return services_call(t, self, &in, &got);
}

/* ---- reading messages ---- */

static void read_field(queue_message *m, str name, str text)
{
    if (str_eq(name, STR("MessageId")))
        m->id = text;
    else if (str_eq(name, STR("PopReceipt")))
        m->receipt = text;
    else if (str_eq(name, STR("MessageText")))
        m->body = text;
    else if (str_eq(name, STR("InsertionTime")))
        m->inserted_us = services_date_us(text);
    else if (str_eq(name, STR("ExpirationTime")))
        m->expires_us = services_date_us(text);
    else if (str_eq(name, STR("TimeNextVisible")))
        m->next_visible_us = services_date_us(text);
    else if (str_eq(name, STR("DequeueCount")) && !str_to_i64(text, &m->dequeue_count))
        m->dequeue_count = 0;
}

/* <QueueMessagesList><QueueMessage><MessageId>…</MessageId>…</QueueMessage>…</QueueMessagesList> */
static res read_messages(task *t, const azure_request *in, str body, size_t most, queue_message **ret,
                         size_t *ret_count)
{
    queue_message *all = arena_array(t->arena, queue_message, most);
    size_t         found = 0;
    xml            x;
    xml_event      event;
    xml_init(&x, body);
    while ((event = xml_next(&x, t->arena)) == XML_OPEN || event == XML_CLOSE) {
        bool is_message = str_eq(x.name, STR("QueueMessage")) && xml_is_in(&x, "QueueMessagesList");
        if (event == XML_CLOSE && xml_is_in(&x, "QueueMessage") && found < most)
            read_field(&all[found], x.name, x.text);
        if (event != XML_CLOSE || !is_message)
            continue;
        if (found == most)
            return services_nonsense(t, in, "there are more messages than asked for");
        if (all[found++].id.len == 0)
            return services_nonsense(t, in, "there is a message without an id");
    }
    if (event == XML_BAD)
        return services_nonsense(t, in, x.why);
    if (!xml_root_is(&x, "QueueMessagesList"))
        return services_nonsense(t, in, "it is no list of messages");
    *ret = all;
    *ret_count = found;
    return RES_OK;
}

static res fetch_messages(task *t, azure_endpoint *e, const char *operation, str name, str query,
                          unsigned most, queue_message **ret, size_t *ret_count)
{
    azure_request in = {.operation = operation,
                        .method = STR("GET"),
                        .path = messages_path(t->arena, name),
                        .query = query,
                        .answer_max = (size_t)MESSAGE_MAX * most};
    azure_answer  got;
    TRY(services_call(t, e, &in, &got));
    return read_messages(t, &in, got.http.body, most, ret, ret_count);
}

static res receive(void *self, task *t, str name, unsigned most, unsigned hide_s, queue_message **ret,
                   size_t *ret_count)
{
    str            query = arena_strf(t->arena, "numofmessages=%u&visibilitytimeout=%u", most, hide_s);
    queue_message *all = NULL;
    size_t         found = 0;
    TRY(fetch_messages(t, self, "queues_receive", name, query, most, &all, &found));
    for (size_t i = 0; i < found; i++) /* it could never be deleted, and would come again for ever */
        if (all[i].receipt.len == 0)
            return task_fail(t, RES_UPSTREAM, "queues_receive: a message came without a receipt");
    *ret = all;
    *ret_count = found;
    return RES_OK;
}

static res peek(void *self, task *t, str name, unsigned most, queue_message **ret, size_t *ret_count)
{
    str query = arena_strf(t->arena, "peekonly=true&numofmessages=%u", most);
    return fetch_messages(t, self, "queues_peek", name, query, most, ret, ret_count);
}

/* ---- writing messages ---- */

static str message_xml(arena *a, str wire)
{
    str text = xml_escape(a, wire);
    return arena_strf(a, "<QueueMessage><MessageText>%.*s</MessageText></QueueMessage>", STR_ARG(text));
}

static res put(void *self, task *t, str name, str wire, unsigned delay_s, int ttl_s, queue_message *ret)
{
    azure_request in = {
        .operation = "queues_put",
        .method = STR("POST"),
        .path = messages_path(t->arena, name),
        .query = arena_strf(t->arena, "visibilitytimeout=%u&messagettl=%d", delay_s, ttl_s),
        .headers = &xml_type,
        .header_count = 1,
        .body = message_xml(t->arena, wire),
    };
    azure_answer   got;
    queue_message *all = NULL;
    size_t         found = 0;
    TRY(services_call(t, self, &in, &got));
    TRY(read_messages(t, &in, got.http.body, 1, &all, &found));
    if (found != 1)
        return services_nonsense(t, &in, "there is no message in it");
    *ret = all[0];
    ret->body = wire;
    return RES_OK;
}

static res update(void *self, task *t, str name, queue_message *m, const str *wire, unsigned hide_s)
{
    str           receipt = azure_escape(t->arena, m->receipt, "");
    azure_request in = {
        .operation = "queues_update",
        .method = STR("PUT"),
        .path = message_path(t->arena, name, m->id),
        .query = arena_strf(t->arena, "popreceipt=%.*s&visibilitytimeout=%u", STR_ARG(receipt), hide_s),
    };
    azure_answer got = {0};
    if (wire != NULL) {
        in.headers = &xml_type;
        in.header_count = 1;
        in.body = message_xml(t->arena, *wire);
    }
    res r = services_call(t, self, &in, &got);
    if (got.doubtful && (r == RES_NOT_FOUND || r == RES_PRECONDITION)) {
        task_forget(t);
        return services_cannot_be_told(t, &in);
    }
    TRY(r);
    str fresh = services_header(&got, "x-ms-popreceipt");
    if (fresh.len == 0)
        return services_nonsense(t, &in, "there is no receipt in it");
    m->receipt = fresh;
    m->next_visible_us = services_date_us(services_header(&got, "x-ms-time-next-visible"));
    return RES_OK;
}

static res remove_message(void *self, task *t, str name, str id, str receipt)
{
    str           escaped = azure_escape(t->arena, receipt, "");
    azure_request in = {.operation = "queues_remove",
                        .method = STR("DELETE"),
                        .path = message_path(t->arena, name, id),
                        .query = arena_strf(t->arena, "popreceipt=%.*s", STR_ARG(escaped))};
    return services_delete(t, self, &in);
}

const queues_ops azure_queues = {
    .create = create,
    .drop = drop,
    .list = list,
    .put = put,
    .receive = receive,
    .peek = peek,
    .update = update,
    .remove = remove_message,
    .count = count,
    .clear = clear,
};
