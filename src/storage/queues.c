/* queues.c -- the checks and conveniences over either back end: see queues.h.
 *
 * Bodies become base64 on their way out and are decoded on their way in, unless the queue is plain. What does
 * not decode is given as it came, and flagged: whoever receives it can only put it aside.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/queues.h"

#include "core/base64.h"
#include "entity_text.h"
#include "facade.h"

#define POISON "-poison"

/* A call on its way to the back end; the fields behind `queue` are those that its kind needs. */
typedef struct {
    const queues_ops *ops;
    void             *self;
    str               queue;
    str               wire, id, receipt;
    bool              has_wire;
    unsigned          delay_s, hide_s, most;
    int               ttl_s;
    queue_message    *message;
    queue_message    *found;
    size_t            found_count;
    uint64_t          total;
} call;

/* ---- checks ---- */

static res find_ops(task *t, store_id store, call *ret)
{
    const backend *b = store_backend(store);
    if (b == NULL || b->queues == NULL)
        return facade_no_storage(t);
    ret->ops = b->queues;
    ret->self = b->queues_self;
    return RES_OK;
}

static res begin(task *t, queue in, call *ret)
{
    *ret = (call){.queue = in.name};
    TRY(find_ops(t, in.store, ret));
    return facade_check_name(t, "queue", in.name);
}

static res check_hide(task *t, unsigned seconds)
{
    if (seconds <= QUEUES_HIDE_MAX_S)
        return RES_OK;
    return task_fail(t, RES_INVALID, "a message cannot be hidden for %u s: %d s at most", seconds,
                     QUEUES_HIDE_MAX_S);
}

/* A plain body travels as XML text, which knows of control characters only tab and line ends. CR would come
 * back as LF. */
static bool is_xml_text(str text)
{
    if (!str_is_utf8(text))
        return false;
    for (size_t i = 0; i < text.len;) {
        uint32_t c = utf8_take(text, &i);
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0xFFFE || c == 0xFFFF)
            return false;
    }
    return true;
}

static res to_wire(task *t, queue in, str body, str *ret)
{
    size_t len = in.plain ? body.len : (body.len + 2) / 3 * 4;
    if (len > QUEUES_WIRE_MAX)
        return task_fail(t, RES_TOO_LARGE, "the message has %zu bytes as it travels, at most %d are allowed",
                         len, QUEUES_WIRE_MAX);
    if (in.plain && !is_xml_text(body))
        return task_fail(t, RES_INVALID, "without base64 a message is UTF-8 without control characters");
    *ret = in.plain ? body : base64_encode(t->arena, body);
    return RES_OK;
}

static void decode(arena *a, queue in, queue_message *list, size_t count)
{
    for (size_t i = 0; i < count && !in.plain; i++) {
        str body;
        list[i].undecodable = !base64_decode(a, list[i].body, &body);
        if (!list[i].undecodable)
            list[i].body = body;
    }
}

/* ---- calls of the back end, as made_when_missing wants them ---- */

static res call_put(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->put(c->self, t, c->queue, c->wire, c->delay_s, c->ttl_s, c->message);
}

static res call_receive(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->receive(c->self, t, c->queue, c->most, c->hide_s, &c->found, &c->found_count);
}

static res call_peek(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->peek(c->self, t, c->queue, c->most, &c->found, &c->found_count);
}

static res call_update(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->update(c->self, t, c->queue, c->message, c->has_wire ? &c->wire : NULL, c->hide_s);
}

static res call_remove(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->remove(c->self, t, c->queue, c->id, c->receipt);
}

static res call_count(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->count(c->self, t, c->queue, &c->total);
}

static res call_clear(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->clear(c->self, t, c->queue);
}

static res made(task *t, call *c, made_op *op)
{
    return made_when_missing(t, c->queue, c->ops->create, c->self, op, c);
}

/* ---- queues ---- */

res queues_create(task *t, queue in)
{
    call c;
    TRY(begin(t, in, &c));
    return facade_created(t, c.ops->create(c.self, t, c.queue));
}

res queues_delete(task *t, queue in)
{
    call c;
    TRY(begin(t, in, &c));
    res r = c.ops->drop(c.self, t, c.queue);
    return r == RES_UNPROVISIONED ? RES_NOT_FOUND : r; /* here it is the queue that was looked for */
}

res queues_list(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                size_t *ret_count, str *ret_token)
{
    call c = {0};
    TRY(find_ops(t, store, &c));
    return facade_list(t, c.ops->list, c.self, prefix, most, token, ret_names, ret_count, ret_token);
}

res queues_count(task *t, queue in, uint64_t *ret)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(made(t, &c, call_count));
    *ret = c.total;
    return RES_OK;
}

res queues_clear(task *t, queue in)
{
    call c;
    TRY(begin(t, in, &c));
    return made(t, &c, call_clear);
}

/* ---- messages ---- */

static res put_wire(task *t, queue in, str wire, unsigned delay_s, int ttl_s, queue_message *ret)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(check_hide(t, delay_s));
    c.ttl_s = ttl_s == 0 ? QUEUES_TTL_DEFAULT_S : ttl_s;
    if (c.ttl_s < QUEUES_TTL_FOREVER)
        return task_fail(t, RES_INVALID, "a message cannot live for %d s", ttl_s);
    if (c.ttl_s != QUEUES_TTL_FOREVER && delay_s >= (unsigned)c.ttl_s)
        return task_fail(t, RES_INVALID, "a message that lives for %d s cannot be hidden for %u s", c.ttl_s,
                         delay_s);
    c.wire = wire;
    c.delay_s = delay_s;
    c.message = ret;
    return made(t, &c, call_put);
}

res queues_put(task *t, queue in, str body, unsigned delay_s, int ttl_s, queue_message *ret)
{
    queue_message put = {0};
    str           wire;

    TRY(to_wire(t, in, body, &wire));
    TRY(put_wire(t, in, wire, delay_s, ttl_s, &put));
    put.body = body;
    if (ret != NULL)
        *ret = put;
    return RES_OK;
}

static res give(task *t, queue in, const call *c, queue_message **ret, size_t *ret_count)
{
    decode(t->arena, in, c->found, c->found_count);
    *ret = c->found;
    *ret_count = c->found_count;
    return RES_OK;
}

res queues_receive(task *t, queue in, unsigned most, unsigned hide_s, queue_message **ret, size_t *ret_count)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(facade_check_most(t, most, QUEUES_RECEIVE_MAX));
    TRY(check_hide(t, hide_s));
    if (hide_s == 0)
        return task_fail(t, RES_INVALID, "a message that is received is hidden for 1 s at least");
    c.most = most;
    c.hide_s = hide_s;
    TRY(made(t, &c, call_receive));
    return give(t, in, &c, ret, ret_count);
}

res queues_peek(task *t, queue in, unsigned most, queue_message **ret, size_t *ret_count)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(facade_check_most(t, most, QUEUES_RECEIVE_MAX));
    c.most = most;
    TRY(made(t, &c, call_peek));
    return give(t, in, &c, ret, ret_count);
}

res queues_update(task *t, queue in, queue_message *m, str body, unsigned hide_s)
{
    call c;
    TRY(begin(t, in, &c));
    TRY(check_hide(t, hide_s));
    c.has_wire = body.at != NULL;
    if (c.has_wire)
        TRY(to_wire(t, in, body, &c.wire));
    c.hide_s = hide_s;
    c.message = m;
    TRY(made(t, &c, call_update));
    if (c.has_wire) {
        m->body = body;
        m->undecodable = false;
    }
    return RES_OK;
}

res queues_remove(task *t, queue in, str id, str receipt)
{
    call c;
    TRY(begin(t, in, &c));
    if (id.len == 0 || receipt.len == 0)
        return task_fail(t, RES_INVALID, "a message is deleted by its id and the receipt of its receive");
    c.id = id;
    c.receipt = receipt;
    return made(t, &c, call_remove);
}

/* What came undecoded goes on as it came. That the original is gone already is what was wanted. */
res queues_poison(task *t, queue in, const queue_message *m)
{
    queue         aside = in;
    queue_message copy = {0};
    str           wire = m->body;

    TRY(facade_check_name(t, "queue", in.name));
    aside.name = arena_strf(t->arena, "%.*s" POISON, STR_ARG(in.name));
    if (!in.plain && !m->undecodable)
        TRY(to_wire(t, in, m->body, &wire));
    TRY(put_wire(t, aside, wire, 0, 0, &copy));
    res r = queues_remove(t, in, m->id, m->receipt);
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    return RES_OK;
}
