/* task_scope.c -- a task's arena within its arena: see task_scope in task.h.
 *
 * The frame that remembers the outer arena lives in the inner one, not on the stack: a task's stack may be
 * left at any allocation, and whoever ends the task then still finds, and frees, what it had opened.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/task_impl.h"

struct task_scope_frame {
    arena                   *inner, *outer;
    struct task_scope_frame *below;
};

static void close_scope(task_impl *t)
{
    struct task_scope_frame *frame = t->scope;
    t->pub.arena = frame->outer;
    t->scope = frame->below;
    arena_free(frame->inner);
}

void task_scope_unwind(task_impl *t)
{
    while (t->scope != NULL)
        close_scope(t);
}

res task_scope(task *t, size_t memory_bytes, task_scope_fn *fn, void *ctx)
{
    task_impl *me = task_impl_of(t);
    arena     *inner = arena_new(memory_bytes);
    if (inner == NULL)
        return task_fail(t, RES_MEMORY, "no memory for a part of the work");
    struct task_scope_frame *frame = arena_one(inner, struct task_scope_frame);
    if (frame == NULL) {
        arena_free(inner);
        return task_fail(t, RES_MEMORY, "no memory for a part of the work");
    }
    *frame = (struct task_scope_frame){.inner = inner, .outer = t->arena, .below = me->scope};
    me->scope = frame;
    t->arena = inner;
    task_guard_memory(inner);

    const char *before = me->message.at;
    res         r = fn(t, ctx);
    t->arena = frame->outer;
    if (me->message.at != before) /* it was said inside, and is to be read outside */
        me->message = arena_copy(t->arena, me->message);
    close_scope(me);
    return r;
}
