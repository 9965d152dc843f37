/* import_queues.c -- every line to a message of its queue.
 *
 * A message keeps the end of its life, and one whose life is over is left out. It is visible at once, with
 * all of its tries before it. The place is noted after each message, so that a stop repeats one at most.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "core/base64.h"
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "storage/queues.h"

enum { QUEUE_MEMORY = 32 * MIB, MESSAGE_MEMORY = 4 * MIB };

/* A life of more than a hundred years is one without end: stores write that as the year 9999. */
static const int64_t FOREVER_US = INT64_C(100) * 365 * 86400 * 1000000;

typedef struct {
    copy_run  *run;
    queue      to;
    copy_place at;
    copy_file *lines;
    bool       end;
} importing;

static int ttl_of(int64_t expires_us)
{
    int64_t left_us = expires_us - clock_wall_us();
    return left_us > FOREVER_US ? QUEUES_TTL_FOREVER : left_us <= 0 ? 0 : (int)(left_us / 1000000) + 1;
}

static res put_line(task *t, importing *x, str line)
{
    const json_val *v;
    int64_t         expires_us;
    str             body;
    if (json_parse(t->arena, line, &v, NULL) != RES_OK ||
        !iso8601_parse(json_text(json_get(v, "expires"), (str){0}), &expires_us))
        return task_fail(t, RES_INVALID, "it is not a message");
    queue           to = x->to;
    const json_val *text = json_get(v, "text"), *raw = json_get(v, "raw");
    body = json_text(text, json_text(raw, (str){0}));
    to.plain = raw != NULL;
    if (text == NULL && raw == NULL &&
        !base64_decode(t->arena, json_text(json_get(v, "base64"), (str){0}), &body))
        return task_fail(t, RES_INVALID, "it has neither a text nor bytes");
    int ttl_s = ttl_of(expires_us);
    if (ttl_s == 0)
        return RES_OK;
    x->run->progress.messages++;
    return queues_put(t, to, body, 0, ttl_s, NULL);
}

static res copy_message(task *t, void *ctx)
{
    importing *x = ctx;
    buf        line;
    buf_init(&line, t->arena, COPY_LINE_MAX);
    TRY(copy_file_read_line(t, x->lines, &line, &x->end));
    if (x->end)
        return RES_OK;
    res r = put_line(t, x, buf_str(&line));
    if (r != RES_OK)
        return task_fail(t, r, "the line at byte %llu", (unsigned long long)x->at.offset);
    x->run->progress.bytes += x->lines->offset - x->at.offset;
    x->run->progress.done_bytes += x->lines->offset - x->at.offset;
    x->at.offset = x->lines->offset;
    copy_progress_show(&x->run->progress);
    return RES_OK;
}

static res copy_queue(task *t, void *ctx)
{
    importing *x = ctx;
    TRY(queues_create(t, x->to));
    TRY(copy_file_open(t, copy_path(t, "%s/queues/%.*s.jsonl", x->run->o->dir, STR_ARG(x->to.name)),
                       x->at.offset, &x->lines));
    while (!x->end) {
        TRY(task_scope(t, MESSAGE_MEMORY, copy_message, x));
        TRY(copy_state_save(t, x->run, &x->at));
    }
    return copy_file_close(t, x->lines);
}

res import_queues(task *t, copy_run *run)
{
    str   *names;
    size_t count;
    TRY(copy_list(t, copy_path(t, "%s/queues", run->o->dir), ".jsonl", &names, &count));
    for (size_t i = 0; i < count; i++) {
        importing x = {.run = run, .to = {.store = STORE_MAIN, .name = names[i]}};
        if (copy_state_is_behind(run, STR("queues"), names[i]))
            continue;
        copy_state_take(run, STR("queues"), names[i], &x.at);
        res r = task_scope(t, QUEUE_MEMORY, copy_queue, &x);
        if (r != RES_OK)
            return task_fail(t, r, "queue '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}
