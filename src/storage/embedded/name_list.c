/* name_list.c -- see name_list.h.
 *
 * The thread leaves the names in one buffer, each ended by a NUL, which no name has; the position of the next
 * page is the first name of it, so nothing is skipped when that one is dropped meanwhile.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/name_list.h"

#include "storage/embedded/sql_bind.h"

enum { NAMES_BYTES_MAX = 4 * MIB };

typedef struct {
    const char *sql;
    str         prefix, from;
    unsigned    most;
    buf        *names;
    size_t      count; /* in names, with the one of the next page */
} list_job;

static res find_names(engine_conn *c, void *ctx, engine_outcome *out)
{
    list_job     *job = ctx;
    sqlite3_stmt *s = engine_prepare(c, job->sql, out);
    if (s == NULL)
        return out->result;
    bind_text(s, 1, job->from);
    bind_int(s, 2, (int64_t)job->most + 1);
    while (engine_step(c, s, out)) {
        str name = column_str(s, 0);
        if (!str_starts(name, job->prefix))
            break;
        (void)buf_add(job->names, name);
        (void)buf_add_char(job->names, '\0');
        job->count++;
    }
    if (out->result == RES_OK && job->names->failed)
        return engine_failed(out, RES_MEMORY, "no memory for a list of names");
    return out->result;
}

res name_list_read(task *t, engine *e, const char *sql, str prefix, unsigned most, str position,
                   name_page *ret)
{
    list_job job = {.sql = sql,
                    .prefix = prefix,
                    .from = str_compare(position, prefix) > 0 ? position : prefix,
                    .most = most,
                    .names = engine_buf(t, NAMES_BYTES_MAX)};
    TRY(engine_read(t, e, find_names, &job));

    name_page page = {.count = job.count > most ? most : job.count};
    page.names = arena_array(t->arena, str, page.count);
    str rest = buf_str(job.names);
    for (size_t i = 0; i < page.count; i++)
        (void)str_next_field(&rest, '\0', &page.names[i]);
    if (job.count > most)
        (void)str_next_field(&rest, '\0', &page.next);
    *ret = page;
    return RES_OK;
}
