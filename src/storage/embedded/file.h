/* file.h -- the directory of the embedded store: its lock, and connections to the file in it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_FILE_H
#define TRESTLE_STORAGE_EMBEDDED_FILE_H

#include <sqlite3.h>

#include "core/res.h"

typedef enum { FILE_WRITER, FILE_READER } file_role;

/* Makes the directory (and those above it) when missing, and takes its lock for as long as *ret_fd is open.
 * RES_UNAVAILABLE: another process has it, or the disk says no. */
res  file_lock(const char *dir, int *ret_fd, char *error, size_t error_size) MUST_USE;
void file_unlock(int fd); /* accepts -1 */

/* A connection for one thread at a time. The first one must be a FILE_WRITER: it makes the file. RES_CONFIG:
 * this is no SQLite file. */
res file_connect(const char *dir, file_role role, sqlite3 **ret, char *error, size_t error_size) MUST_USE;

/* What SQLite's code means to a caller, and in words: "the disk is full". */
res         file_result(int sqlite_code);
const char *file_words(int sqlite_code);

#endif
