/* schema.c -- see schema.h.
 *
 * A file is ours when its application_id is "TRST". One without tables and without an id is new: so a crash
 * before the first commit, which makes everything at once, leaves a file that the next start takes up.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/schema.h"

#include <stdio.h>

#include "storage/embedded/file.h"

enum { APPLICATION_ID = 0x54525354 }; /* "TRST" */

/* The last tick that was given out stands in a table of one row, written with each commit that uses one. */
static const char engine_schema[] =
    "CREATE TABLE ticks (only INTEGER PRIMARY KEY CHECK (only = 1), last INTEGER NOT NULL) STRICT;"
    "INSERT INTO ticks VALUES (1, 0);";

static int read_number(sqlite3 *db, const char *sql, int64_t *ret)
{
    sqlite3_stmt *s = NULL;
    int           code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (code == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        *ret = sqlite3_column_int64(s, 0);
    int last = sqlite3_finalize(s);
    return code != SQLITE_OK ? code : last;
}

static int make_all(sqlite3 *db)
{
    char        marks[100];
    const char *parts[] = {"BEGIN IMMEDIATE", engine_schema, tables_schema, blobs_schema,
                           queues_schema,     marks,         "COMMIT"};
    int         code = SQLITE_OK;
    (void)snprintf(marks, sizeof marks, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID,
                   ENGINE_SCHEMA);
    for (size_t i = 0; code == SQLITE_OK && i < sizeof parts / sizeof *parts; i++)
        code = sqlite3_exec(db, parts[i], NULL, NULL, NULL);
    return code;
}

static res refuse(char *error, size_t error_size, const char *why)
{
    (void)snprintf(error, error_size, "trestle.db %s", why);
    return RES_CONFIG;
}

res schema_apply(sqlite3 *db, int64_t *ret_tick, char *error, size_t error_size)
{
    int64_t id = 0, version = 0, objects = 0;
    char    newer[100];
    int     code = read_number(db, "PRAGMA application_id", &id);
    if (code == SQLITE_OK)
        code = read_number(db, "PRAGMA user_version", &version);
    if (code == SQLITE_OK)
        code = read_number(db, "SELECT count(*) FROM sqlite_schema", &objects);
    if (code == SQLITE_OK) {
        bool is_new = id == 0 && version == 0 && objects == 0;
        if (!is_new && id != APPLICATION_ID)
            return refuse(error, error_size, "belongs to another program: choose another directory");
        if (version > ENGINE_SCHEMA) {
            (void)snprintf(newer, sizeof newer, "is of a newer Trestle (schema %lld, this one knows %d)",
                           (long long)version, ENGINE_SCHEMA);
            return refuse(error, error_size, newer);
        }
        if (is_new)
            code = make_all(db);
    }
    if (code == SQLITE_OK)
        code = read_number(db, "SELECT last FROM ticks", ret_tick);
    if (code == SQLITE_OK)
        return RES_OK;
    (void)snprintf(error, error_size, "trestle.db: %s", file_words(code));
    return RES_UNAVAILABLE;
}
