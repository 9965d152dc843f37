/* blob_list.c -- pages of the blobs of a container, in the order of their names' UTF-8 bytes.
 *
 * With a delimiter, names that share the part up to it are one entry; the walk then seeks behind all of them,
 * so a "folder" costs as much as one blob however many are in it. The position of the next page is the first
 * entry that did not fit, whole: a walk from there gives it again.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "storage/embedded/blob_rows.h"
#include "storage/embedded/sql_bind.h"

enum { LIST_BYTES_MAX = 64 * MIB, NAME_BYTES_MAX = 8 * KIB };

/* In the buffer: an entry, then its name, then its content type. */
typedef struct {
    blob_row row; /* there == false: a prefix, with its name alone */
    size_t   name_len, type_len;
} entry;

typedef struct {
    str      in, prefix, from;
    char     delimiter; /* NUL: none */
    unsigned most;
    buf     *entries, *cursor; /* cursor: where the walk goes on after a prefix */
    size_t   count, prefixes;  /* with the entry that begins the next page */
} list_job;

static bool full(const list_job *job)
{
    return job->count + job->prefixes > job->most;
}

static void add_entry(list_job *job, const entry *e, str name, str type)
{
    (void)buf_add(job->entries, (str){(const char *)e, sizeof *e});
    (void)buf_add(job->entries, name);
    (void)buf_add(job->entries, type);
}

static void add_blob(list_job *job, sqlite3_stmt *s, str name)
{
    str   type = column_str(s, 5);
    entry e = {.row = {.there = true,
                       .tick = sqlite3_column_int64(s, 2),
                       .bytes = (uint64_t)sqlite3_column_int64(s, 3),
                       .append = sqlite3_column_int(s, 4) != 0},
               .name_len = name.len,
               .type_len = type.len};
    add_entry(job, &e, name, type);
    job->count++;
}

/* The first name behind all that begin with it: its last byte, the delimiter's, one higher. */
static void add_prefix(list_job *job, str name)
{
    add_entry(job, &(entry){.name_len = name.len}, name, (str){0});
    job->prefixes++;
    buf_clear(job->cursor);
    (void)buf_add(job->cursor, str_slice(name, 0, name.len - 1));
    (void)buf_add_char(job->cursor, (char)((unsigned char)job->delimiter + 1));
}

/* From `from` to the end of the list, of the page, or of a prefix; that is in *ret_again. */
static res walk(engine_conn *c, list_job *job, int64_t in, str from, bool *ret_again, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "SELECT name, generation, tick, bytes, append, content_type FROM blobs"
                                     " WHERE container = ?1 AND name >= ?2 ORDER BY name",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, in);
    bind_text(s, 2, from);
    *ret_again = false;
    while (!full(job) && !*ret_again && engine_step(c, s, out)) {
        str name = column_str(s, 0);
        if (!str_starts(name, job->prefix))
            break;
        size_t cut = name.len;
        if (job->delimiter != '\0')
            cut = job->prefix.len + str_find_char(str_from(name, job->prefix.len), job->delimiter);
        if (cut == name.len) {
            add_blob(job, s, name);
        } else {
            add_prefix(job, str_slice(name, 0, cut + 1));
            *ret_again = true;
        }
    }
    return out->result;
}

static res find_blobs(engine_conn *c, void *ctx, engine_outcome *out)
{
    list_job *job = ctx;
    int64_t   in = 0;
    TRY(blob_rows_container(c, job->in, &in, out));
    str  from = job->from;
    bool again = true;
    while (again && !full(job)) {
        TRY(walk(c, job, in, from, &again, out));
        from = buf_str(job->cursor);
    }
    if (job->entries->failed || job->cursor->failed)
        return engine_failed(out, RES_MEMORY, "no memory for a list of blobs");
    return RES_OK;
}

static str take(str *rest, size_t len)
{
    str s = str_slice(*rest, 0, len);
    *rest = str_from(*rest, len);
    return s;
}

static void give(arena *a, const list_job *job, blob_page *ret)
{
    blob_page page = {.at = arena_array(a, blob_info, job->count),
                      .prefixes = arena_array(a, str, job->prefixes)};
    str       rest = buf_str(job->entries);
    while (rest.len > 0) {
        entry e;
        memcpy(&e, take(&rest, sizeof e).at, sizeof e);
        str name = take(&rest, e.name_len), type = take(&rest, e.type_len);
        if (page.len + page.prefix_count == job->most) {
            page.token = name;
        } else if (!e.row.there) {
            page.prefixes[page.prefix_count++] = name;
        } else {
            page.at[page.len] = blob_rows_info(a, &e.row, type, (str){0});
            page.at[page.len++].name = name;
        }
    }
    *ret = page;
}

res blob_list_page(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                   blob_page *ret)
{
    list_job job = {.in = in,
                    .prefix = prefix,
                    .from = str_compare(position, prefix) > 0 ? position : prefix,
                    .delimiter = delimiter,
                    .most = most,
                    .entries = engine_buf(t, LIST_BYTES_MAX),
                    .cursor = engine_buf(t, NAME_BYTES_MAX)};
    TRY(engine_read(t, self, find_blobs, &job));
    give(t->arena, &job, ret);
    return RES_OK;
}
