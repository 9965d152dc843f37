/* sql_bind.h -- texts and bytes between a job's views and SQLite, without copies.
 *
 * What is bound must stay where it is until the statement has been stepped: the job's fields do, for their
 * task waits. A column's view lasts until the next step.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_SQL_BIND_H
#define TRESTLE_STORAGE_EMBEDDED_SQL_BIND_H

#include <sqlite3.h>

#include "core/str.h"

/* The result of binding is not looked at: a bad index is a fault that every test of the statement shows, and
 * lengths are below SQLite's limit. NULL would bind an SQL NULL, which is not the empty text. */
static inline void bind_text(sqlite3_stmt *s, int i, str text)
{
    (void)sqlite3_bind_text64(s, i, text.at != NULL ? text.at : "", text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static inline void bind_bytes(sqlite3_stmt *s, int i, str bytes)
{
    (void)sqlite3_bind_blob64(s, i, bytes.at != NULL ? bytes.at : "", bytes.len, SQLITE_STATIC);
}

static inline void bind_int(sqlite3_stmt *s, int i, int64_t n)
{
    (void)sqlite3_bind_int64(s, i, n);
}

/* Of a text or a blob; the pointer is asked for first, as SQLite wants it. */
static inline str column_str(sqlite3_stmt *s, int i)
{
    const char *at = sqlite3_column_blob(s, i);
    return (str){at, (size_t)sqlite3_column_bytes(s, i)};
}

#endif
