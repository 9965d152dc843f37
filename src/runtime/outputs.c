/* outputs.c -- see outputs.h.
 *
 * Queues are all that standalone mode can write. An output of another type, or a queue whose name holds a
 * {binding expression}, is a failure of the run: a message must not vanish because the host is not there.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/outputs.h"

#include "runtime/queue_runner.h"

static res check_queue(task *t, const binding *to)
{
    if (!str_eq_nocase(to->type, STR("queue")))
        return task_fail(t, RES_UNSUPPORTED, "output '%.*s' is of type '%.*s', which only the host can write",
                         STR_ARG(to->name), STR_ARG(to->type));
    if (str_find_char(to->queue, '{') < to->queue.len)
        return task_fail(t, RES_UNSUPPORTED,
                         "output '%.*s' has the queue name '%.*s', an expression that only the host resolves",
                         STR_ARG(to->name), STR_ARG(to->queue));
    return RES_OK;
}

static res send_one(task *t, const dispatcher *d, const reply_item *m)
{
    const queue_source *source = d->o->queues;
    res                 r = check_queue(t, m->to);
    if (r != RES_OK)
        return r;
    if (source == NULL)
        return task_fail(t, RES_CONFIG, "output '%.*s': there are no queues", STR_ARG(m->to->name));
    r = source->put(t, m->to->queue, d->app->host.queue_plain, m->text);
    if (r != RES_OK)
        return task_fail(t, r, "output '%.*s'", STR_ARG(m->to->name));
    queue_runner_wake(d->queues, m->to->queue);
    return RES_OK;
}

/* A failure that is said by a status alone must not pass for success, or a queue's message would be deleted.
 */
static res check_unheard(task *t, const reply *out)
{
    if (out->fn->trigger == TRIGGER_HTTP || out->fn->http_output != NULL || out->status < 400)
        return RES_OK;
    return task_fail(t, RES_INTERNAL, "it replied with status %d, but has no http output to carry it",
                     out->status);
}

res outputs_send(task *t, const dispatcher *d, const reply *out)
{
    res r = check_unheard(t, out);
    for (const reply_item *m = out->messages.first; m != NULL && r == RES_OK; m = m->next)
        r = send_one(t, d, m);
    return r;
}
