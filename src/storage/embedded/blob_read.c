/* blob_read.c -- reading blobs of the SQLite file: whole, a range, or piece by piece.
 *
 * A get is one read transaction. A stream is several, each for at most BLOB_PART_BYTES, all of the generation
 * that the first one found: a blob that is replaced or removed meanwhile ends the stream with
 * RES_PRECONDITION, and never mixes two contents. One that is appended to is read to the end that it had.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/blob_rows.h"
#include "storage/embedded/sql_bind.h"

enum { GET_BYTES_MAX = 32 * MIB };

typedef struct {
    str             in, name;
    const blob_get *how;
    uint64_t        most; /* bytes of this read */
    bool            stream;
    buf            *about, *body; /* body NULL: its bytes are not wanted */
    /* found out by the thread: */
    blob_row        row;
    bool            not_modified;
    uint64_t        from, end; /* what is wanted of the blob, and `from` moves on */
} read_job;

/* Bytes from job->from on into job->body, at most job->most. */
static res read_parts(engine_conn *c, read_job *job, engine_outcome *out)
{
    buf_clear(job->body);
    sqlite3_stmt *s =
        engine_prepare(c,
                       "SELECT p.start, d.bytes FROM blob_parts p JOIN blob_data d ON d.id = p.data"
                       " WHERE p.generation = ?1 AND p.start >= (SELECT MAX(start) FROM blob_parts"
                       " WHERE generation = ?1 AND start <= ?2) AND p.start < ?3 ORDER BY p.start",
                       out);
    if (s == NULL)
        return out->result;
    uint64_t end = job->end - job->from > job->most ? job->from + job->most : job->end;
    bind_int(s, 1, job->row.generation);
    bind_int(s, 2, (int64_t)job->from);
    bind_int(s, 3, (int64_t)end);
    while (job->from < end && engine_step(c, s, out)) {
        uint64_t start = (uint64_t)sqlite3_column_int64(s, 0);
        str      piece = column_str(s, 1);
        if (start > job->from || job->from - start >= piece.len)
            break;
        str wanted = str_slice(piece, (size_t)(job->from - start), (size_t)(end - start));
        if (!buf_add(job->body, wanted))
            return engine_failed(out, RES_MEMORY, "no memory for blob '%.*s'", STR_ARG(job->name));
        job->from += wanted.len;
    }
    if (out->result == RES_OK && job->from < end)
        return engine_failed(out, RES_PRECONDITION, "blob '%.*s' was replaced or removed while it was read",
                             STR_ARG(job->name));
    return out->result;
}

static res choose_range(read_job *job, engine_outcome *out)
{
    const blob_get *how = job->how;
    uint64_t        bytes = job->row.bytes;
    job->from = 0;
    job->end = bytes;
    if (how->ranged) {
        if (how->from >= bytes)
            return engine_failed(out, RES_INVALID, "blob '%.*s' has %llu bytes: none from %llu on",
                                 STR_ARG(job->name), (unsigned long long)bytes,
                                 (unsigned long long)how->from);
        job->from = how->from;
        job->end = how->count < bytes - how->from ? how->from + how->count : bytes;
    }
    if (!job->stream && job->end - job->from > job->most)
        return engine_failed(out, RES_TOO_LARGE, "blob '%.*s': %llu bytes are more than the %llu allowed",
                             STR_ARG(job->name), (unsigned long long)(job->end - job->from),
                             (unsigned long long)job->most);
    return RES_OK;
}

static res begin_read(engine_conn *c, void *ctx, engine_outcome *out)
{
    read_job *job = ctx;
    int64_t   in = 0;
    TRY(blob_rows_container(c, job->in, &in, out));
    TRY(blob_rows_find(c, in, job->name, &job->row, job->about, out));
    if (!job->row.there)
        return blob_rows_missing(out, job->name);
    if (job->body == NULL)
        return RES_OK;
    TRY(blob_rows_may_put(&job->row, job->name, &(blob_put){.if_match = job->how->if_match}, out));
    job->not_modified =
        job->how->if_none_match.len > 0 && blob_rows_etag_is(&job->row, job->how->if_none_match);
    if (job->not_modified)
        return RES_OK;
    TRY(choose_range(job, out));
    return read_parts(c, job, out);
}

static res go_on(engine_conn *c, void *ctx, engine_outcome *out)
{
    return read_parts(c, ctx, out);
}

res blob_read_get(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret)
{
    size_t   most = how->bytes_max > 0 ? how->bytes_max : GET_BYTES_MAX;
    read_job job = {.in = in,
                    .name = name,
                    .how = how,
                    .most = most,
                    .about = engine_buf(t, BLOB_ABOUT_BYTES_MAX),
                    .body = engine_buf(t, most)};
    TRY(engine_read(t, self, begin_read, &job));
    *ret = (blob_got){.info = blob_rows_found(t->arena, &job.row, buf_str(job.about)),
                      .not_modified = job.not_modified,
                      .body = buf_str(job.body)};
    return RES_OK;
}

res blob_read_stream(void *self, task *t, str in, str name, const blob_get *how, blobs_piece_fn *fn,
                     void *ctx, blob_got *ret)
{
    read_job job = {.in = in,
                    .name = name,
                    .how = how,
                    .most = BLOB_PART_BYTES,
                    .stream = true,
                    .about = engine_buf(t, BLOB_ABOUT_BYTES_MAX),
                    .body = engine_buf(t, BLOB_PART_BYTES)};
    TRY(engine_read(t, self, begin_read, &job));
    blob_got got = {.info = blob_rows_found(t->arena, &job.row, buf_str(job.about)),
                    .not_modified = job.not_modified};
    while (job.body->len > 0) {
        TRY(fn(t, buf_str(job.body), ctx));
        buf_clear(job.body);
        if (job.from < job.end)
            TRY(engine_read(t, self, go_on, &job));
    }
    *ret = got;
    return RES_OK;
}

res blob_read_head(void *self, task *t, str in, str name, blob_info *ret)
{
    read_job job = {.in = in, .name = name, .about = engine_buf(t, BLOB_ABOUT_BYTES_MAX)};
    TRY(engine_read(t, self, begin_read, &job));
    *ret = blob_rows_found(t->arena, &job.row, buf_str(job.about));
    return RES_OK;
}
