/* blob_rows.c -- see blob_rows.h.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/blob_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "storage/embedded/sql_bind.h"

enum { ETAG_SIZE = 24, TICKS_PER_US = 10 };

/* From year 1, where Azure's ETags count from, to 1970. */
static const int64_t ticks_to_1970 = INT64_C(621355968000000000);

/* ---- in a thread ---- */

res blob_rows_container(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT id FROM containers WHERE name = ?1", out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, name);
    bool there = engine_step(c, s, out);
    if (there)
        *ret_id = sqlite3_column_int64(s, 0);
    if (out->result != RES_OK)
        return out->result;
    if (!there)
        return engine_failed(out, RES_UNPROVISIONED, "there is no container '%.*s'", STR_ARG(name));
    return RES_OK;
}

res blob_rows_find(engine_conn *c, int64_t in, str name, blob_row *ret, buf *about, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "SELECT generation, tick, bytes, append, content_type, metadata"
                                     " FROM blobs WHERE container = ?1 AND name = ?2",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, in);
    bind_text(s, 2, name);
    *ret = (blob_row){.there = engine_step(c, s, out)};
    if (ret->there) {
        ret->generation = sqlite3_column_int64(s, 0);
        ret->tick = sqlite3_column_int64(s, 1);
        ret->bytes = (uint64_t)sqlite3_column_int64(s, 2);
        ret->append = sqlite3_column_int(s, 3) != 0;
    }
    if (ret->there && about != NULL) {
        buf_clear(about);
        (void)buf_add(about, column_str(s, 4));
        (void)buf_add_char(about, '\0');
        (void)buf_add(about, column_str(s, 5));
    }
    if (out->result == RES_OK && about != NULL && about->failed)
        return engine_failed(out, RES_MEMORY, "no memory for what is known of blob '%.*s'", STR_ARG(name));
    return out->result;
}

res blob_rows_missing(engine_outcome *out, str name)
{
    return engine_failed(out, RES_NOT_FOUND, "there is no blob '%.*s'", STR_ARG(name));
}

res blob_rows_run(engine_conn *c, const char *sql, int64_t id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, id);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

/* ---- writing ---- */

res blob_rows_may_put(const blob_row *old, str name, const blob_put *how, engine_outcome *out)
{
    if (how->create_only && old->there)
        return engine_failed(out, RES_CONFLICT, "blob '%.*s' is there already", STR_ARG(name));
    if (how->if_match.len == 0)
        return RES_OK;
    if (old->there && (str_eq(how->if_match, STR("*")) || blob_rows_etag_is(old, how->if_match)))
        return RES_OK;
    return engine_failed(out, RES_PRECONDITION, "blob '%.*s' %s", STR_ARG(name),
                         old->there ? "has another ETag by now" : "is not there, so it has no such ETag");
}

res blob_rows_set(engine_conn *c, int64_t in, const blob_about *about, const blob_row *row,
                  engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "INSERT OR REPLACE INTO blobs (container, name, generation, tick, bytes,"
                                     " append, content_type, metadata)"
                                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, in);
    bind_text(s, 2, about->name);
    bind_int(s, 3, row->generation);
    bind_int(s, 4, row->tick);
    bind_int(s, 5, (int64_t)row->bytes);
    bind_int(s, 6, row->append);
    bind_text(s, 7, about->content_type);
    bind_bytes(s, 8, about->metadata);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

res blob_rows_add_data(engine_conn *c, str bytes, int64_t *ret_id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "INSERT INTO blob_data (bytes) VALUES (?1)", out);
    if (s == NULL)
        return out->result;
    bind_bytes(s, 1, bytes);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    *ret_id = sqlite3_last_insert_rowid(sqlite3_db_handle(s));
    return out->result;
}

static res add_part(engine_conn *c, int64_t generation, uint64_t start, int64_t data, engine_outcome *out)
{
    sqlite3_stmt *s =
        engine_prepare(c, "INSERT INTO blob_parts (generation, start, data) VALUES (?1, ?2, ?3)", out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, generation);
    bind_int(s, 2, (int64_t)start);
    bind_int(s, 3, data);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

res blob_rows_add_parts(engine_conn *c, int64_t generation, uint64_t start, str bytes, engine_outcome *out)
{
    for (size_t at = 0; at < bytes.len; at += BLOB_PART_BYTES) {
        int64_t data = 0;
        TRY(blob_rows_add_data(c, str_slice(bytes, at, at + BLOB_PART_BYTES), &data, out));
        TRY(add_part(c, generation, start + at, data, out));
    }
    return RES_OK;
}

/* ---- ETags ---- */

static str etag_text(int64_t tick, char out[ETAG_SIZE])
{
    int len = snprintf(out, ETAG_SIZE, "\"0x%" PRIX64 "\"", (uint64_t)(tick + ticks_to_1970));
    return (str){out, (size_t)len};
}

bool blob_rows_etag_is(const blob_row *row, str etag)
{
    char text[ETAG_SIZE];
    return str_eq(etag, etag_text(row->tick, text));
}

/* ---- on the loop ---- */

str blob_rows_etag(arena *a, int64_t tick)
{
    char text[ETAG_SIZE];
    return arena_copy(a, etag_text(tick, text));
}

/* name NUL value NUL …: neither can have a NUL. */
static str pack(arena *a, const http_header *metadata, size_t count)
{
    buf packed;
    buf_init(&packed, a, BLOB_ABOUT_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        (void)buf_add(&packed, metadata[i].name);
        (void)buf_add_char(&packed, '\0');
        (void)buf_add(&packed, metadata[i].value);
        (void)buf_add_char(&packed, '\0');
    }
    return buf_str(&packed);
}

static http_header *unpack(arena *a, str packed, size_t *ret_count)
{
    size_t fields = 0;
    for (size_t i = 0; i < packed.len; i++)
        fields += packed.at[i] == '\0';
    http_header *all = arena_array(a, http_header, fields / 2);
    for (size_t i = 0; i < fields / 2; i++) {
        (void)str_next_field(&packed, '\0', &all[i].name);
        (void)str_next_field(&packed, '\0', &all[i].value);
    }
    *ret_count = fields / 2;
    return all;
}

blob_about blob_rows_about(arena *a, str in, str name, const blob_put *how)
{
    str type = how->content_type.len > 0 ? how->content_type : STR("application/octet-stream");
    return (blob_about){.in = in,
                        .name = name,
                        .content_type = arena_copy(a, type),
                        .metadata = pack(a, how->metadata, how->metadata_count)};
}

blob_info blob_rows_info(arena *a, const blob_row *row, str content_type, str metadata)
{
    blob_info info = {.etag = blob_rows_etag(a, row->tick),
                      .content_type = content_type,
                      .bytes = row->bytes,
                      .modified_us = row->tick / TICKS_PER_US,
                      .append = row->append};
    info.metadata = unpack(a, metadata, &info.metadata_count);
    return info;
}

blob_info blob_rows_found(arena *a, const blob_row *row, str about)
{
    str content_type = {0};
    (void)str_next_field(&about, '\0', &content_type);
    return blob_rows_info(a, row, content_type, about);
}
