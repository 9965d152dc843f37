/* blobs.c -- containers and blobs in the SQLite file: their tables, and the containers themselves.
 *
 *     containers    id, name
 *     blobs         container, name -> generation, tick, bytes, append, content type, metadata
 *     blob_parts    generation, start -> data       which bytes of the blob begin at `start`
 *     blob_staged   upload, number, start -> data   blocks that no blob has yet
 *     blob_data     id -> up to 256 KiB
 *     blob_dead     generations that no blob has any more; containers_dead likewise (blob_dead.c)
 *
 * Bytes are apart from what says whose they are, so that committing blocks moves small rows only. A put makes
 * a new generation, and the parts of the old one are removed then or later: who reads a blob in several
 * transactions by its generation gets that very content, or finds that it is gone. An append keeps the
 * generation, for what was there stays as it was.
 *
 * Names compare by their UTF-8 bytes (SQLite's BINARY), which is the order of lists.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/blob_dead.h"
#include "storage/embedded/blob_rows.h"
#include "storage/embedded/name_list.h"
#include "storage/embedded/schema.h"
#include "storage/embedded/sql_bind.h"

const char blobs_schema[] =
    "CREATE TABLE containers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE blobs ("
    "  container INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  generation INTEGER NOT NULL,"
    "  tick INTEGER NOT NULL,"
    "  bytes INTEGER NOT NULL,"
    "  append INTEGER NOT NULL,"
    "  content_type TEXT NOT NULL,"
    "  metadata BLOB NOT NULL,"
    "  PRIMARY KEY (container, name)) WITHOUT ROWID, STRICT;"
    "CREATE TABLE blob_parts ("
    "  generation INTEGER NOT NULL,"
    "  start INTEGER NOT NULL,"
    "  data INTEGER NOT NULL,"
    "  PRIMARY KEY (generation, start)) WITHOUT ROWID, STRICT;"
    "CREATE TABLE blob_staged ("
    "  upload TEXT NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  start INTEGER NOT NULL,"
    "  container INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL,"
    "  staged_us INTEGER NOT NULL,"
    "  data INTEGER NOT NULL,"
    "  PRIMARY KEY (upload, number, start)) WITHOUT ROWID, STRICT;"
    "CREATE INDEX blob_staged_when ON blob_staged (staged_us);"
    "CREATE TABLE blob_dead (generation INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE containers_dead (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE blob_data (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";

static res insert_container(engine_conn *c, void *ctx, engine_outcome *out)
{
    const str    *name = ctx;
    sqlite3_stmt *s = engine_prepare(c, "INSERT OR IGNORE INTO containers (name) VALUES (?1)", out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, *name);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    if (out->result == RES_OK && sqlite3_changes(sqlite3_db_handle(s)) == 0)
        return engine_failed(out, RES_CONFLICT, "container '%.*s' is there already", STR_ARG(*name));
    return out->result;
}

static res create_container(void *self, task *t, str name)
{
    return engine_write(t, self, insert_container, &name);
}

/* Its number is never given again, so nobody can find what it had; that goes bit by bit. */
static res delete_container(engine_conn *c, void *ctx, engine_outcome *out)
{
    const str *name = ctx;
    int64_t    in = 0;
    TRY(blob_rows_container(c, *name, &in, out));
    TRY(blob_rows_run(c, "DELETE FROM containers WHERE id = ?1", in, out));
    return blob_dead_add_container(c, in, out);
}

static res drop_container(void *self, task *t, str name)
{
    return engine_write(t, self, delete_container, &name);
}

static res list_containers(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    return name_list_read(t, self, "SELECT name FROM containers WHERE name >= ?1 ORDER BY name LIMIT ?2",
                          prefix, most, position, ret);
}

const blobs_ops embedded_blobs = {.create = create_container,
                                  .drop = drop_container,
                                  .list = list_containers,
                                  .put = blob_write_put,
                                  .put_block = blob_stage_block,
                                  .put_blocks = blob_stage_commit,
                                  .get = blob_read_get,
                                  .get_stream = blob_read_stream,
                                  .head = blob_read_head,
                                  .remove = blob_write_remove,
                                  .list_blobs = blob_list_page,
                                  .append = blob_write_append};
