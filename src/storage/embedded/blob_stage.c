/* blob_stage.c -- large blobs of the SQLite file, block by block.
 *
 * A block's bytes are stored when it comes, under its upload and number; committing gives the pieces, in the
 * order of their numbers, to a new generation of the blob, and copies none of them. A block that comes again
 * replaces the earlier one. What nobody committed within a week is removed in passing, a few pieces with each
 * block that comes.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "storage/embedded/blob_dead.h"
#include "storage/embedded/blob_rows.h"
#include "storage/embedded/sql_bind.h"

static const int64_t stale_us = INT64_C(7) * 24 * 3600 * 1000000;

/* ---- blocks ---- */

typedef struct {
    str      in, name, upload;
    uint32_t number;
    str      bytes;
} block_job;

/* Twice as many as a block of BLOBS_BLOCK has, so that staging never falls behind. */
static res drop_stale(engine_conn *c, int64_t now_us, engine_outcome *out)
{
    TRY(blob_rows_run(c,
                      "DELETE FROM blob_data WHERE id IN (SELECT data FROM blob_staged"
                      " WHERE staged_us <= ?1 ORDER BY staged_us, upload, number, start LIMIT 64)",
                      now_us - stale_us, out));
    return blob_rows_run(c,
                         "DELETE FROM blob_staged WHERE (upload, number, start) IN"
                         " (SELECT upload, number, start FROM blob_staged"
                         " WHERE staged_us <= ?1 ORDER BY staged_us, upload, number, start LIMIT 64)",
                         now_us - stale_us, out);
}

static res run_for_block(engine_conn *c, const char *sql, const block_job *job, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, job->upload);
    bind_int(s, 2, job->number);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

static res drop_block(engine_conn *c, const block_job *job, engine_outcome *out)
{
    TRY(run_for_block(
        c,
        "DELETE FROM blob_data WHERE id IN (SELECT data FROM blob_staged WHERE upload = ?1 AND number = ?2)",
        job, out));
    return run_for_block(c, "DELETE FROM blob_staged WHERE upload = ?1 AND number = ?2", job, out);
}

static res stage_piece(engine_conn *c, const block_job *job, int64_t in, size_t start, int64_t now_us,
                       engine_outcome *out)
{
    str     piece = str_slice(job->bytes, start, start + BLOB_PART_BYTES);
    int64_t data = 0;
    TRY(blob_rows_add_data(c, piece, &data, out));
    sqlite3_stmt *s = engine_prepare(c,
                                     "INSERT INTO blob_staged (upload, number, start, container, name, bytes,"
                                     " staged_us, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                                     out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, job->upload);
    bind_int(s, 2, job->number);
    bind_int(s, 3, (int64_t)start);
    bind_int(s, 4, in);
    bind_text(s, 5, job->name);
    bind_int(s, 6, (int64_t)piece.len);
    bind_int(s, 7, now_us);
    bind_int(s, 8, data);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

/* Blocks make block blobs, which an append blob does not become (409 InvalidBlobType on Azure). */
static res find_for_blocks(engine_conn *c, int64_t in, str name, blob_row *ret, engine_outcome *out)
{
    TRY(blob_rows_find(c, in, name, ret, NULL, out));
    if (ret->there && ret->append)
        return engine_failed(out, RES_CONFLICT, "blob '%.*s' is an append blob", STR_ARG(name));
    return RES_OK;
}

static res stage_block(engine_conn *c, void *ctx, engine_outcome *out)
{
    const block_job *job = ctx;
    blob_row         old;
    int64_t          in = 0, now_us = clock_wall_us();
    TRY(blob_rows_container(c, job->in, &in, out));
    TRY(find_for_blocks(c, in, job->name, &old, out));
    TRY(drop_stale(c, now_us, out));
    TRY(drop_block(c, job, out));
    size_t start = 0;
    do { /* an empty block is a piece too, or the commit would miss it */
        TRY(stage_piece(c, job, in, start, now_us, out));
        start += BLOB_PART_BYTES;
    } while (start < job->bytes.len);
    return blob_dead_collect_for(c, job->bytes.len, out);
}

res blob_stage_block(void *self, task *t, str in, str name, str upload, uint32_t number, str bytes)
{
    block_job job = {.in = in, .name = name, .upload = upload, .number = number, .bytes = bytes};
    return engine_write(t, self, stage_block, &job);
}

/* ---- the commit ---- */

typedef struct {
    blob_about      about;
    str             upload;
    uint32_t        count;
    const blob_put *how;
    blob_row        row; /* found out by the writer */
} commit_job;

static res measure(engine_conn *c, const commit_job *job, int64_t in, uint64_t *ret_bytes,
                   engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "SELECT COUNT(DISTINCT number), COALESCE(SUM(bytes), 0) FROM blob_staged"
                                     " WHERE upload = ?1 AND number < ?2 AND container = ?3 AND name = ?4",
                                     out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, job->upload);
    bind_int(s, 2, job->count);
    bind_int(s, 3, in);
    bind_text(s, 4, job->about.name);
    if (!engine_step(c, s, out)) /* always a row, unless it failed */
        return out->result;
    int64_t found = sqlite3_column_int64(s, 0);
    *ret_bytes = (uint64_t)sqlite3_column_int64(s, 1);
    if (found != job->count)
        return engine_failed(out, RES_INVALID, "of %u blocks for blob '%.*s' only %lld are there",
                             (unsigned)job->count, STR_ARG(job->about.name), (long long)found);
    return RES_OK;
}

static res run_for_upload(engine_conn *c, const char *sql, const commit_job *job, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, job->upload);
    bind_int(s, 2, job->count);
    bind_int(s, 3, job->row.generation); /* ignored where the statement has no such parameter */
    (void)engine_step(c, s, out);        /* never a row; failures are in *out */
    return out->result;
}

static res move_pieces(engine_conn *c, const commit_job *job, engine_outcome *out)
{
    TRY(run_for_upload(c,
                       "INSERT INTO blob_parts (generation, start, data)"
                       " SELECT ?3, SUM(bytes) OVER (ORDER BY number, start) - bytes, data FROM blob_staged"
                       " WHERE upload = ?1 AND number < ?2 AND bytes > 0",
                       job, out));
    /* What was not asked for goes, as do the data of empty blocks. */
    TRY(run_for_upload(c,
                       "DELETE FROM blob_data WHERE id IN (SELECT data FROM blob_staged"
                       " WHERE upload = ?1 AND (number >= ?2 OR bytes = 0))",
                       job, out));
    return run_for_upload(c, "DELETE FROM blob_staged WHERE upload = ?1", job, out);
}

static res commit_blocks(engine_conn *c, void *ctx, engine_outcome *out)
{
    commit_job *job = ctx;
    blob_row    old;
    int64_t     in = 0, tick = engine_tick(c);
    TRY(blob_rows_container(c, job->about.in, &in, out));
    TRY(find_for_blocks(c, in, job->about.name, &old, out));
    TRY(blob_rows_may_put(&old, job->about.name, job->how, out));
    job->row = (blob_row){.there = true, .generation = tick, .tick = tick};
    TRY(measure(c, job, in, &job->row.bytes, out));
    if (old.there)
        TRY(blob_dead_add(c, old.generation, out));
    TRY(move_pieces(c, job, out));
    return blob_rows_set(c, in, &job->about, &job->row, out);
}

res blob_stage_commit(void *self, task *t, str in, str name, str upload, uint32_t count, const blob_put *how,
                      blob_info *ret)
{
    commit_job job = {
        .about = blob_rows_about(t->arena, in, name, how), .upload = upload, .count = count, .how = how};
    TRY(engine_write(t, self, commit_blocks, &job));
    *ret = blob_rows_info(t->arena, &job.row, job.about.content_type, job.about.metadata);
    return RES_OK;
}
