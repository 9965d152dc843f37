/* export_queues.c -- every message of every queue to a file of lines, and back into its queue.
 *
 *     {"text":"…","expires":"2026-01-02T03:04:05.000000Z"}      "base64" in place of "text" for bytes
 *     {"raw":"…","expires":…}                                  what is not base64 on the wire
 *
 * No store lets one look through a queue. So messages are received, and hidden for a while thereby; when
 * there are no more, all are made visible again by the receipts, which are kept in NAME.jsonl.held meanwhile.
 * A run that finds such a file, of one that was stopped, gives those messages back and begins the queue anew.
 * Messages count one try more afterwards. A message that is hidden now, because somebody works on it or it
 * was put with a delay, is not seen: the difference is told.
 *
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "core/base64.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "storage/queues.h"

enum {
    QUEUES_AT_ONCE = 1000,
    HIDE_S = 15 * 60,
    GIVEN_BACK_AT_ONCE = 64,
    WIDTH = 8,
    QUEUE_MEMORY = 32 * MIB,
    PART_MEMORY = 64 * MIB,
};

typedef struct {
    copy_run      *run;
    queue          from;
    copy_file     *lines, *held;
    size_t         received; /* by the last turn */
    uint64_t       count;    /* of all that were received */
    queue_message *back;     /* to be made visible again */
    size_t         back_count;
} exporting;

/* ---- out ---- */

static str line_of(arena *a, const queue_message *m)
{
    char  expires[ISO8601_SIZE];
    json *line = json_object(a);
    if (m->undecodable)
        json_set_str(line, "raw", m->body);
    else if (str_is_utf8(m->body))
        json_set_str(line, "text", m->body);
    else
        json_set_str(line, "base64", base64_encode(a, m->body));
    json_set_str(line, "expires", iso8601_format(m->expires_us, 6, expires));
    return json_print(a, line);
}

static str held_line(arena *a, const queue_message *m)
{
    json *line = json_object(a);
    json_set_str(line, "id", m->id);
    json_set_str(line, "receipt", m->receipt);
    return json_print(a, line);
}

/* The receipts go first: a message whose line is missing is exported again later, one whose receipt is
 * missing would stay hidden. */
static res copy_some(task *t, void *ctx)
{
    exporting     *x = ctx;
    queue_message *got;
    uint64_t       before = x->lines->offset;
    TRY(queues_receive(t, x->from, QUEUES_RECEIVE_MAX, HIDE_S, &got, &x->received));
    for (size_t i = 0; i < x->received; i++)
        TRY(copy_file_write_line(t, x->held, held_line(t->arena, &got[i])));
    TRY(copy_file_sync(t, x->held));
    for (size_t i = 0; i < x->received; i++)
        TRY(copy_file_write_line(t, x->lines, line_of(t->arena, &got[i])));
    TRY(copy_file_sync(t, x->lines));
    x->run->progress.messages += x->received;
    x->run->progress.bytes += x->lines->offset - before;
    return RES_OK;
}

/* ---- back ---- */

static res show_again(task *t, size_t i, void *ctx)
{
    exporting *x = ctx;
    res        r = queues_update(t, x->from, &x->back[i], (str){0}, 0);
    if (r != RES_NOT_FOUND && r != RES_PRECONDITION)
        return r;
    task_forget(t); /* its time was over, and somebody else has it */
    return RES_OK;
}

static res give_back_some(task *t, void *ctx)
{
    exporting *x = ctx;
    buf        line;
    bool       end = false;
    buf_init(&line, t->arena, COPY_LINE_MAX);
    x->back = arena_array(t->arena, queue_message, GIVEN_BACK_AT_ONCE);
    x->back_count = 0;
    while (x->back_count < GIVEN_BACK_AT_ONCE) {
        const json_val *v;
        TRY(copy_file_read_line(t, x->held, &line, &end));
        if (end)
            break;
        if (json_parse(t->arena, buf_str(&line), &v, NULL) == RES_OK) /* else cut off by a crash */
            x->back[x->back_count++] =
                (queue_message){.id = json_text(json_get(v, "id"), (str){0}),
                                .receipt = json_text(json_get(v, "receipt"), (str){0})};
    }
    x->count += x->back_count;
    return par_each(t, x->back_count, WIDTH, show_again, x);
}

static res give_back(task *t, exporting *x, const char *held)
{
    TRY(copy_file_open(t, held, 0, &x->held));
    do
        TRY(task_scope(t, PART_MEMORY, give_back_some, x));
    while (x->back_count > 0);
    TRY(copy_file_close(t, x->held));
    (void)unlink(held); /* left behind, it would do no harm: its receipts are void */
    return RES_OK;
}

/* ---- one queue ---- */

static res copy_queue(task *t, void *ctx)
{
    exporting  *x = ctx;
    const char *path = copy_path(t, "%s/queues/%.*s.jsonl", x->run->o->dir, STR_ARG(x->from.name));
    const char *part = copy_path(t, "%s.part", path), *held = copy_path(t, "%s.held", path);
    uint64_t    about = 0;
    if (copy_exists(path))
        return RES_OK;
    TRY(queues_count(t, x->from, &about));
    if (copy_exists(held))
        TRY(give_back(t, x, held));
    x->count = 0;
    TRY(copy_file_create(t, part, 0, &x->lines));
    TRY(copy_file_create(t, held, 0, &x->held));
    do {
        TRY(task_scope(t, PART_MEMORY, copy_some, x));
        copy_progress_show(&x->run->progress);
    } while (x->received > 0);
    TRY(copy_file_close(t, x->lines));
    TRY(copy_file_close(t, x->held));
    TRY(give_back(t, x, held));
    if (about > x->count)
        (void)fprintf(stderr,
                      "queue '%.*s' has about %llu messages that are hidden now: these were not copied\n",
                      STR_ARG(x->from.name), (unsigned long long)(about - x->count));
    return copy_rename(t, part, path);
}

static res copy_queues(task *t, copy_run *run, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exporting x = {.run = run, .from = {.store = STORE_MAIN, .name = names[i]}};
        res       r = task_scope(t, QUEUE_MEMORY, copy_queue, &x);
        if (r != RES_OK)
            return task_fail(t, r, "queue '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}

res export_queues(task *t, copy_run *run)
{
    str   *names, token = {0};
    size_t count;
    TRY(copy_make_dir(t, copy_path(t, "%s/queues", run->o->dir)));
    do {
        TRY(queues_list(t, STORE_MAIN, (str){0}, QUEUES_AT_ONCE, token, &names, &count, &token));
        TRY(copy_queues(t, run, names, count));
    } while (token.len > 0);
    return RES_OK;
}
