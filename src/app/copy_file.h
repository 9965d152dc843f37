/* copy_file.h -- files of `trestle store`: opened by a task, written and read by lines.
 *
 * They block, which a command that does nothing else may do. A file ends with the arena of the moment it was
 * opened in, or earlier, by copy_file_close.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_COPY_FILE_H
#define TRESTLE_APP_COPY_FILE_H

#include <stdio.h>

#include "core/buf.h"
#include "runtime/task.h"

enum { COPY_LINE_MAX = 16 * MIB };

typedef struct {
    FILE       *f; /* NULL: closed */
    const char *path;
    uint64_t    offset; /* behind the last line read or written */
} copy_file;

/* Failures are RES_UNAVAILABLE, with the path and the system's reason. */
res copy_file_create(task *t, const char *path, uint64_t keep_bytes,
                     copy_file **ret) MUST_USE; /* cut there */
res copy_file_open(task *t, const char *path, uint64_t offset, copy_file **ret) MUST_USE;
res copy_file_write(task *t, copy_file *f, str bytes) MUST_USE;
res copy_file_write_line(task *t, copy_file *f, str line) MUST_USE;
res copy_file_sync(task *t, copy_file *f) MUST_USE; /* on disk when it returns */
res copy_file_close(task *t, copy_file *f) MUST_USE;
/* The next line without its end, valid until the next call; *ret_end: there is none. RES_INVALID: longer than
 * COPY_LINE_MAX. `line` is the caller's, and is used again. */
res copy_file_read_line(task *t, copy_file *f, buf *line, bool *ret_end) MUST_USE;
res copy_file_read(task *t, copy_file *f, char *to, size_t most, size_t *ret_len) MUST_USE;

res         copy_make_dir(task *t, const char *path) MUST_USE; /* also when it is there */
res         copy_rename(task *t, const char *from, const char *to) MUST_USE;
bool        copy_exists(const char *path);
const char *copy_path(task *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The names in dir that end so, without that end, in order; none when there is no dir. */
res copy_list(task *t, const char *dir, const char *suffix, str **ret, size_t *ret_count) MUST_USE;

/* A file's name for any name of a blob: different names, different files. Letters, digits, '-', '_' and inner
 * dots stay; all else is %XX; what would be too long for a file system ends in a hash. */
str copy_safe_name(arena *a, str name);

#endif
