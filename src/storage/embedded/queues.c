/* queues.c -- queues in the SQLite file: what they are, and what goes into them. See queues_deliver.c for
 * what comes out.
 *
 * A message is one row. It is deliverable while visible_us <= now < expires_us; the index by visible_us gives
 * the one that has been visible longest without reading the others. Time is that of the writer thread, and so
 * of the commit order.
 *
 * Expired messages are removed in passing, at most 256 by each put and receive, so that no single caller pays
 * for a queue that nobody emptied. Nothing but removal ever sees them.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/queues.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/clock.h"
#include "core/id.h"
#include "storage/embedded/name_list.h"
#include "storage/embedded/schema.h"
#include "storage/embedded/sql_bind.h"

enum { US_PER_S = 1000000 };

static const int64_t never_us = INT64_C(253402300799000000); /* 9999-12-31T23:59:59Z, as Azure says it */

/* Ids of dropped queues are not given again (AUTOINCREMENT), nor are those of messages: seq breaks ties of
 * visible_us in the order of arrival. */
const char queues_schema[] =
    "CREATE TABLE queues (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE queues_dead (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE messages ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  queue INTEGER NOT NULL,"
    "  id TEXT NOT NULL,"
    "  receipt INTEGER NOT NULL,"
    "  dequeue_count INTEGER NOT NULL,"
    "  inserted_us INTEGER NOT NULL,"
    "  expires_us INTEGER NOT NULL,"
    "  visible_us INTEGER NOT NULL,"
    "  body BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX messages_id ON messages (queue, id);"
    "CREATE INDEX messages_visible ON messages (queue, visible_us, seq);"
    "CREATE INDEX messages_expires ON messages (queue, expires_us);";

str message_receipt(int64_t tick, char out[MESSAGE_RECEIPT_SIZE])
{
    int len = snprintf(out, MESSAGE_RECEIPT_SIZE, "%016" PRIx64, (uint64_t)tick);
    return (str){out, (size_t)len};
}

res queue_find(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT id FROM queues WHERE name = ?1", out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, name);
    bool there = engine_step(c, s, out);
    if (there)
        *ret_id = sqlite3_column_int64(s, 0);
    if (out->result != RES_OK)
        return out->result;
    return there ? RES_OK : engine_failed(out, RES_UNPROVISIONED, "there is no queue '%.*s'", STR_ARG(name));
}

res queue_expire(engine_conn *c, int64_t queue_id, int64_t now_us, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "DELETE FROM messages WHERE seq IN (SELECT seq FROM messages"
                                     " WHERE queue = ?1 AND expires_us <= ?2 ORDER BY expires_us LIMIT 256)",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    bind_int(s, 2, now_us);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

/* ---- whole queues ---- */

static res insert_queue(engine_conn *c, void *ctx, engine_outcome *out)
{
    const str    *name = ctx;
    sqlite3_stmt *s = engine_prepare(c, "INSERT OR IGNORE INTO queues (name) VALUES (?1)", out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, *name);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    if (out->result == RES_OK && sqlite3_changes(sqlite3_db_handle(s)) == 0)
        return engine_failed(out, RES_CONFLICT, "queue '%.*s' is there already", STR_ARG(*name));
    return out->result;
}

static res create_queue(void *self, task *t, str name)
{
    return engine_write(t, self, insert_queue, &name);
}

/* One statement with the queue's id as its only parameter. */
static res run_for_queue(engine_conn *c, const char *sql, int64_t queue_id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

/* The name goes at once; the messages, which nobody can find without its number, go as a chore. */
static res delete_queue(engine_conn *c, void *ctx, engine_outcome *out)
{
    const str *name = ctx;
    int64_t    queue_id = 0;
    TRY(queue_find(c, *name, &queue_id, out));
    TRY(run_for_queue(c, "DELETE FROM queues WHERE id = ?1", queue_id, out));
    engine_wake_chores(c);
    return run_for_queue(c, "INSERT INTO queues_dead (id) VALUES (?1)", queue_id, out);
}

bool queues_chore(engine_conn *c, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT id FROM queues_dead ORDER BY id LIMIT 1", out);
    if (s == NULL || !engine_step(c, s, out))
        return out->result != RES_OK;
    int64_t queue_id = sqlite3_column_int64(s, 0);
    if (run_for_queue(c,
                      "DELETE FROM messages WHERE seq IN"
                      " (SELECT seq FROM messages WHERE queue = ?1 LIMIT 64)",
                      queue_id, out) == RES_OK)
        (void)run_for_queue(c,
                            "DELETE FROM queues_dead WHERE id = ?1"
                            " AND NOT EXISTS (SELECT 1 FROM messages WHERE queue = ?1)",
                            queue_id, out); /* failures are in *out */
    return true;
}

static res drop_queue(void *self, task *t, str name)
{
    return engine_write(t, self, delete_queue, &name);
}

static res list_queues(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    return name_list_read(t, self, "SELECT name FROM queues WHERE name >= ?1 ORDER BY name LIMIT ?2", prefix,
                          most, position, ret);
}

/* A new queue of the same name. */
static res empty_queue(engine_conn *c, void *ctx, engine_outcome *out)
{
    TRY(delete_queue(c, ctx, out));
    return insert_queue(c, ctx, out);
}

static res clear_queue(void *self, task *t, str in)
{
    return engine_write(t, self, empty_queue, &in);
}

typedef struct {
    str      queue;
    uint64_t count;
} count_job;

static res count_messages(engine_conn *c, void *ctx, engine_outcome *out)
{
    count_job *job = ctx;
    int64_t    queue_id = 0;
    TRY(queue_find(c, job->queue, &queue_id, out));
    sqlite3_stmt *s =
        engine_prepare(c, "SELECT COUNT(*) FROM messages WHERE queue = ?1 AND expires_us > ?2", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    bind_int(s, 2, clock_wall_us());
    if (engine_step(c, s, out))
        job->count = (uint64_t)sqlite3_column_int64(s, 0);
    return out->result;
}

static res count_queue(void *self, task *t, str in, uint64_t *ret)
{
    count_job job = {.queue = in};
    TRY(engine_read(t, self, count_messages, &job));
    *ret = job.count;
    return RES_OK;
}

/* ---- put ---- */

typedef struct {
    str      queue, wire;
    unsigned delay_s;
    int      ttl_s;
    char     id[UUID_TEXT + 1];
    int64_t  receipt, inserted_us, expires_us, visible_us; /* found out by the writer */
} put_job;

static int64_t expiry_us(int64_t now_us, int ttl_s)
{
    if (ttl_s == QUEUES_TTL_FOREVER)
        return never_us;
    return now_us + (int64_t)(ttl_s == 0 ? QUEUES_TTL_DEFAULT_S : ttl_s) * US_PER_S;
}

static res insert_message(engine_conn *c, void *ctx, engine_outcome *out)
{
    put_job *job = ctx;
    int64_t  queue_id = 0;
    TRY(queue_find(c, job->queue, &queue_id, out));
    job->inserted_us = clock_wall_us();
    job->expires_us = expiry_us(job->inserted_us, job->ttl_s);
    job->visible_us = job->inserted_us + (int64_t)job->delay_s * US_PER_S;
    job->receipt = engine_tick(c);
    TRY(queue_expire(c, queue_id, job->inserted_us, out));

    sqlite3_stmt *s = engine_prepare(c,
                                     "INSERT INTO messages (queue, id, receipt, dequeue_count, inserted_us,"
                                     " expires_us, visible_us, body) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7)",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, queue_id);
    bind_text(s, 2, str_of(job->id));
    bind_int(s, 3, job->receipt);
    bind_int(s, 4, job->inserted_us);
    bind_int(s, 5, job->expires_us);
    bind_int(s, 6, job->visible_us);
    bind_bytes(s, 7, job->wire);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

static res put_message(void *self, task *t, str in, str wire, unsigned delay_s, int ttl_s, queue_message *ret)
{
    put_job job = {.queue = in, .wire = wire, .delay_s = delay_s, .ttl_s = ttl_s};
    char    receipt[MESSAGE_RECEIPT_SIZE];
    (void)id_uuid(job.id);
    TRY(engine_write(t, self, insert_message, &job));
    *ret = (queue_message){.id = arena_copy(t->arena, str_of(job.id)),
                           .receipt = arena_copy(t->arena, message_receipt(job.receipt, receipt)),
                           .body = wire,
                           .inserted_us = job.inserted_us,
                           .expires_us = job.expires_us,
                           .next_visible_us = job.visible_us};
    return RES_OK;
}

const queues_ops embedded_queues = {.create = create_queue,
                                    .drop = drop_queue,
                                    .list = list_queues,
                                    .put = put_message,
                                    .receive = queue_receive,
                                    .peek = queue_peek,
                                    .update = queue_update,
                                    .remove = queue_remove,
                                    .count = count_queue,
                                    .clear = clear_queue};
