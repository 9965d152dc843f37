/* queues_deliver.c -- messages of the SQLite file on their way out: receive, peek, update, remove.
 *
 * Receiving is a write: in the same transaction the message is hidden, counted and given a new receipt, so of
 * any number of receivers one gets it. A receipt is void as soon as another was given; that its hiding time
 * has run out does not void it, as on Azure.
 *
 * The thread leaves messages in one buffer, each a `record` with its id and body behind it; the views that
 * callers get look into that buffer, which ends with the task's arena.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "storage/embedded/queues.h"
#include "storage/embedded/sql_bind.h"

enum {
    US_PER_S = 1000000,
    DELIVERY_BYTES_MAX = 4 * MIB, /* QUEUES_RECEIVE_MAX of QUEUES_WIRE_MAX, and room */
};

typedef struct {
    int64_t seq, receipt, dequeue_count, inserted_us, expires_us, visible_us;
    size_t  id_len, body_len;
} record;

typedef struct {
    str      queue;
    unsigned most, hide_s;
    buf     *found;
    size_t   count;
} deliver_job;

/* ---- receive and peek ---- */

static void add_record(deliver_job *job, sqlite3_stmt *s)
{
    str    id = column_str(s, 1), body = column_str(s, 6);
    record r = {.seq = sqlite3_column_int64(s, 0),
                .dequeue_count = sqlite3_column_int64(s, 2),
                .inserted_us = sqlite3_column_int64(s, 3),
                .expires_us = sqlite3_column_int64(s, 4),
                .visible_us = sqlite3_column_int64(s, 5),
                .id_len = id.len,
                .body_len = body.len};
    (void)buf_add(job->found, (str){(const char *)&r, sizeof r});
    (void)buf_add(job->found, id);
    (void)buf_add(job->found, body);
    job->count++;
}

static res find_visible(engine_conn *c, deliver_job *job, int64_t queue_id, int64_t now_us,
                        engine_outcome *out)
{
    sqlite3_stmt *s =
        engine_prepare(c,
                       "SELECT seq, id, dequeue_count, inserted_us, expires_us, visible_us, body"
                       " FROM messages INDEXED BY messages_visible"
                       " WHERE queue = ?1 AND visible_us <= ?2 AND expires_us > ?2"
                       " ORDER BY visible_us, seq LIMIT ?3",
                       out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    bind_int(s, 2, now_us);
    bind_int(s, 3, job->most);
    while (engine_step(c, s, out))
        add_record(job, s);
    if (out->result == RES_OK && job->found->failed)
        return engine_failed(out, RES_MEMORY, "no memory for messages of queue '%.*s'", STR_ARG(job->queue));
    return out->result;
}

/* The records lie at any offset: they are copied out and in. */
static size_t record_at(const buf *from, size_t offset, record *ret)
{
    memcpy(ret, from->at + offset, sizeof *ret);
    return offset + sizeof *ret + ret->id_len + ret->body_len;
}

static res hide(engine_conn *c, record *r, int64_t now_us, unsigned hide_s, engine_outcome *out)
{
    r->receipt = engine_tick(c);
    r->visible_us = now_us + (int64_t)hide_s * US_PER_S;
    r->dequeue_count++;
    sqlite3_stmt *s = engine_prepare(
        c, "UPDATE messages SET receipt = ?2, visible_us = ?3, dequeue_count = ?4 WHERE seq = ?1", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, r->seq);
    bind_int(s, 2, r->receipt);
    bind_int(s, 3, r->visible_us);
    bind_int(s, 4, r->dequeue_count);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

static res take_visible(engine_conn *c, void *ctx, engine_outcome *out)
{
    deliver_job *job = ctx;
    int64_t      queue_id = 0, now_us = clock_wall_us();
    TRY(queue_find(c, job->queue, &queue_id, out));
    TRY(queue_expire(c, queue_id, now_us, out));
    TRY(find_visible(c, job, queue_id, now_us, out));
    for (size_t i = 0, offset = 0; i < job->count; i++) {
        record r;
        size_t next = record_at(job->found, offset, &r);
        TRY(hide(c, &r, now_us, job->hide_s, out));
        memcpy(job->found->at + offset, &r, sizeof r);
        offset = next;
    }
    return RES_OK;
}

static res look_at_visible(engine_conn *c, void *ctx, engine_outcome *out)
{
    deliver_job *job = ctx;
    int64_t      queue_id = 0;
    TRY(queue_find(c, job->queue, &queue_id, out));
    return find_visible(c, job, queue_id, clock_wall_us(), out);
}

static void give(arena *a, const deliver_job *job, queue_message **ret, size_t *ret_count)
{
    queue_message *all = arena_array(a, queue_message, job->count);
    for (size_t i = 0, offset = 0; i < job->count; i++) {
        char        receipt[MESSAGE_RECEIPT_SIZE];
        const char *texts = job->found->at + offset + sizeof(record);
        record      r;
        offset = record_at(job->found, offset, &r);
        all[i] = (queue_message){.id = {texts, r.id_len},
                                 .body = {texts + r.id_len, r.body_len},
                                 .dequeue_count = r.dequeue_count,
                                 .inserted_us = r.inserted_us,
                                 .expires_us = r.expires_us,
                                 .next_visible_us = r.visible_us};
        if (r.receipt != 0) /* who only peeks gets none */
            all[i].receipt = arena_copy(a, message_receipt(r.receipt, receipt));
    }
    *ret = all;
    *ret_count = job->count;
}

res queue_receive(void *self, task *t, str in, unsigned most, unsigned hide_s, queue_message **ret,
                  size_t *ret_count)
{
    deliver_job job = {
        .queue = in, .most = most, .hide_s = hide_s, .found = engine_buf(t, DELIVERY_BYTES_MAX)};
    TRY(engine_write(t, self, take_visible, &job));
    give(t->arena, &job, ret, ret_count);
    return RES_OK;
}

res queue_peek(void *self, task *t, str in, unsigned most, queue_message **ret, size_t *ret_count)
{
    deliver_job job = {.queue = in, .most = most, .found = engine_buf(t, DELIVERY_BYTES_MAX)};
    TRY(engine_read(t, self, look_at_visible, &job));
    give(t->arena, &job, ret, ret_count);
    return RES_OK;
}

/* ---- update and remove ---- */

typedef struct {
    str        queue, id, receipt;
    const str *wire; /* NULL: the body stays */
    unsigned   hide_s;
    int64_t    new_receipt, visible_us; /* found out by the writer */
} held_job;

/* The message that the job's receipt is for. */
static res find_held(engine_conn *c, const held_job *job, int64_t now_us, int64_t *ret_seq,
                     engine_outcome *out)
{
    int64_t queue_id = 0;
    TRY(queue_find(c, job->queue, &queue_id, out));
    sqlite3_stmt *s = engine_prepare(
        c, "SELECT seq, receipt FROM messages WHERE queue = ?1 AND id = ?2 AND expires_us > ?3", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    bind_text(s, 2, job->id);
    bind_int(s, 3, now_us);
    char receipt[MESSAGE_RECEIPT_SIZE];
    bool there = engine_step(c, s, out), held = false;
    if (there) {
        *ret_seq = sqlite3_column_int64(s, 0);
        held = str_eq(job->receipt, message_receipt(sqlite3_column_int64(s, 1), receipt));
    }
    if (out->result != RES_OK)
        return out->result;
    if (!there)
        return engine_failed(out, RES_NOT_FOUND, "message '%.*s' of queue '%.*s' is gone", STR_ARG(job->id),
                             STR_ARG(job->queue));
    if (!held)
        return engine_failed(
            out, RES_PRECONDITION,
            "the receipt for message '%.*s' of queue '%.*s' is void: another was given since",
            STR_ARG(job->id), STR_ARG(job->queue));
    return RES_OK;
}

static res update_held(engine_conn *c, void *ctx, engine_outcome *out)
{
    held_job *job = ctx;
    int64_t   seq = 0, now_us = clock_wall_us();
    TRY(find_held(c, job, now_us, &seq, out));
    job->new_receipt = engine_tick(c);
    job->visible_us = now_us + (int64_t)job->hide_s * US_PER_S;
    sqlite3_stmt *s = engine_prepare(c,
                                     "UPDATE messages SET receipt = ?2, visible_us = ?3,"
                                     " body = COALESCE(?4, body) WHERE seq = ?1",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, seq);
    bind_int(s, 2, job->new_receipt);
    bind_int(s, 3, job->visible_us);
    if (job->wire != NULL)
        bind_bytes(s, 4, *job->wire);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

res queue_update(void *self, task *t, str in, queue_message *m, const str *wire, unsigned hide_s)
{
    held_job job = {.queue = in, .id = m->id, .receipt = m->receipt, .wire = wire, .hide_s = hide_s};
    char     receipt[MESSAGE_RECEIPT_SIZE];
    TRY(engine_write(t, self, update_held, &job));
    m->receipt = arena_copy(t->arena, message_receipt(job.new_receipt, receipt));
    m->next_visible_us = job.visible_us;
    return RES_OK;
}

static res delete_held(engine_conn *c, void *ctx, engine_outcome *out)
{
    const held_job *job = ctx;
    int64_t         seq = 0;
    TRY(find_held(c, job, clock_wall_us(), &seq, out));
    sqlite3_stmt *s = engine_prepare(c, "DELETE FROM messages WHERE seq = ?1", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, seq);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

res queue_remove(void *self, task *t, str in, str id, str receipt)
{
    held_job job = {.queue = in, .id = id, .receipt = receipt};
    return engine_write(t, self, delete_held, &job);
}
