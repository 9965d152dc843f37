/* store_hooks.c -- see store_hooks.h. The runtime's words for storage, said in storage's.
 *
 * SPDX-License-Identifier: MIT */
#include "app/store_hooks.h"

#include "domain/scheduler.h"
#include "storage/queues.h"

/* ---- open and close ---- */

static res open_store(void *ctx, arena *a, str *ret_name, str *ret_error)
{
    res r = store_open(a, ctx, ret_error);
    if (r == RES_OK)
        *ret_name = store_describe(a);
    return r;
}

static void start_modules(void *ctx)
{
    (void)ctx;
    sched_start();
}

static void close_store(void *ctx)
{
    (void)ctx;
    store_close();
}

serve_store store_hooks(const store_options *o)
{
    /* Hooks carry a plain pointer; open_store gives it back its const. */
    return (serve_store){
        .open = open_store, .started = start_modules, .close = close_store, .ctx = (void *)(uintptr_t)o};
}

/* ---- queues ---- */

static queue queue_named(str name, bool plain)
{
    return (queue){.store = STORE_MAIN, .name = name, .plain = plain};
}

static queue_message_info info_of(const queue_message *m)
{
    return (queue_message_info){.id = m->id,
                                .pop_receipt = m->receipt,
                                .text = m->body,
                                .dequeue_count = m->dequeue_count,
                                .inserted_us = m->inserted_us,
                                .expires_us = m->expires_us,
                                .next_visible_us = m->next_visible_us,
                                .undecodable = m->undecodable};
}

static queue_message message_of(const queue_message_info *m)
{
    return (queue_message){.id = m->id,
                           .receipt = m->pop_receipt,
                           .body = m->text,
                           .dequeue_count = m->dequeue_count,
                           .inserted_us = m->inserted_us,
                           .expires_us = m->expires_us,
                           .next_visible_us = m->next_visible_us,
                           .undecodable = m->undecodable};
}

static res receive(task *t, str name, bool plain, unsigned most, unsigned hide_s, queue_message_info **ret,
                   size_t *ret_count)
{
    queue_message *got;
    size_t         count;
    TRY(queues_receive(t, queue_named(name, plain), most, hide_s, &got, &count));
    queue_message_info *list = arena_array(t->arena, queue_message_info, count);
    for (size_t i = 0; i < count; i++)
        list[i] = info_of(&got[i]);
    *ret = list;
    *ret_count = count;
    return RES_OK;
}

static res hide(task *t, str name, bool plain, queue_message_info *m, unsigned hide_s)
{
    queue_message one = message_of(m);
    TRY(queues_update(t, queue_named(name, plain), &one, (str){0}, hide_s));
    *m = info_of(&one);
    return RES_OK;
}

static res drop(task *t, str name, bool plain, const queue_message_info *m)
{
    return queues_remove(t, queue_named(name, plain), m->id, m->pop_receipt);
}

static res poison(task *t, str name, bool plain, const queue_message_info *m)
{
    queue_message one = message_of(m);
    return queues_poison(t, queue_named(name, plain), &one);
}

static res put(task *t, str name, bool plain, str text)
{
    return queues_put(t, queue_named(name, plain), text, 0, 0, NULL);
}

const queue_source store_queues = {
    .receive = receive, .hide = hide, .remove = drop, .poison = poison, .put = put};
