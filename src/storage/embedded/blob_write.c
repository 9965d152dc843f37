/* blob_write.c -- putting, appending to and removing blobs of the SQLite file.
 *
 * Each is one job of the writer: conditions are looked at in the transaction that acts on them, so of several
 * that ask for the same at once one succeeds.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/blob_dead.h"
#include "storage/embedded/blob_rows.h"
#include "storage/embedded/sql_bind.h"

/* ---- put ---- */

typedef struct {
    blob_about      about;
    str             bytes;
    const blob_put *how;
    blob_row        row; /* found out by the writer */
} put_job;

static res put_blob(engine_conn *c, void *ctx, engine_outcome *out)
{
    put_job *job = ctx;
    blob_row old;
    int64_t  in = 0;
    TRY(blob_rows_container(c, job->about.in, &in, out));
    TRY(blob_rows_find(c, in, job->about.name, &old, NULL, out));
    TRY(blob_rows_may_put(&old, job->about.name, job->how, out));
    if (old.there)
        TRY(blob_dead_add(c, old.generation, out));

    int64_t tick = engine_tick(c);
    job->row = (blob_row){.there = true, .generation = tick, .tick = tick, .bytes = job->bytes.len};
    TRY(blob_rows_add_parts(c, job->row.generation, 0, job->bytes, out));
    TRY(blob_rows_set(c, in, &job->about, &job->row, out));
    return blob_dead_collect_for(c, job->bytes.len, out);
}

res blob_write_put(void *self, task *t, str in, str name, str bytes, const blob_put *how, blob_info *ret)
{
    put_job job = {.about = blob_rows_about(t->arena, in, name, how), .bytes = bytes, .how = how};
    TRY(engine_write(t, self, put_blob, &job));
    *ret = blob_rows_info(t->arena, &job.row, job.about.content_type, job.about.metadata);
    return RES_OK;
}

/* ---- append ---- */

typedef struct {
    blob_about about;
    str        bytes;
    uint64_t   at;
    uint64_t   bytes_after; /* found out by the writer */
} append_job;

static res may_append(const append_job *job, const blob_row *old, engine_outcome *out)
{
    if (old->there && !old->append)
        return engine_failed(out, RES_CONFLICT, "blob '%.*s' is not an append blob",
                             STR_ARG(job->about.name));
    if (job->at != UINT64_MAX && job->at != old->bytes)
        return engine_failed(out, RES_PRECONDITION, "blob '%.*s' ends at %llu, not at %llu",
                             STR_ARG(job->about.name), (unsigned long long)old->bytes,
                             (unsigned long long)job->at);
    return RES_OK;
}

static res set_end(engine_conn *c, int64_t in, str name, const blob_row *row, engine_outcome *out)
{
    sqlite3_stmt *s =
        engine_prepare(c, "UPDATE blobs SET tick = ?3, bytes = ?4 WHERE container = ?1 AND name = ?2", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, in);
    bind_text(s, 2, name);
    bind_int(s, 3, row->tick);
    bind_int(s, 4, (int64_t)row->bytes);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

static res append_to_blob(engine_conn *c, void *ctx, engine_outcome *out)
{
    append_job *job = ctx;
    blob_row    old;
    int64_t     in = 0, tick = engine_tick(c);
    TRY(blob_rows_container(c, job->about.in, &in, out));
    TRY(blob_rows_find(c, in, job->about.name, &old, NULL, out));
    TRY(may_append(job, &old, out));

    blob_row row = {.there = true,
                    .generation = old.there ? old.generation : tick,
                    .tick = tick,
                    .bytes = old.bytes + job->bytes.len,
                    .append = true};
    job->bytes_after = row.bytes;
    TRY(blob_rows_add_parts(c, row.generation, old.bytes, job->bytes, out));
    return old.there ? set_end(c, in, job->about.name, &row, out)
                     : blob_rows_set(c, in, &job->about, &row, out);
}

res blob_write_append(void *self, task *t, str in, str name, str bytes, uint64_t at, uint64_t *ret_bytes)
{
    append_job job = {.about = blob_rows_about(t->arena, in, name, &(blob_put){.create_only = false}),
                      .bytes = bytes,
                      .at = at};
    TRY(engine_write(t, self, append_to_blob, &job));
    if (ret_bytes != NULL)
        *ret_bytes = job.bytes_after;
    return RES_OK;
}

/* ---- remove ---- */

typedef struct {
    str in, name, if_match;
} remove_job;

static res remove_blob(engine_conn *c, void *ctx, engine_outcome *out)
{
    const remove_job *job = ctx;
    blob_row          old;
    int64_t           in = 0;
    TRY(blob_rows_container(c, job->in, &in, out));
    TRY(blob_rows_find(c, in, job->name, &old, NULL, out));
    if (!old.there)
        return blob_rows_missing(out, job->name);
    TRY(blob_rows_may_put(&old, job->name, &(blob_put){.if_match = job->if_match}, out));
    TRY(blob_dead_add(c, old.generation, out));

    sqlite3_stmt *s = engine_prepare(c, "DELETE FROM blobs WHERE container = ?1 AND name = ?2", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, in);
    bind_text(s, 2, job->name);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

res blob_write_remove(void *self, task *t, str in, str name, str if_match)
{
    remove_job job = {.in = in, .name = name, .if_match = if_match};
    return engine_write(t, self, remove_blob, &job);
}
