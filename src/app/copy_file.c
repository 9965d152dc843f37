/* copy_file.c -- see copy_file.h.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"

enum { NAME_MAX_BYTES = 200, NAME_KEPT = 100 };

static res system_said(task *t, const char *what, const char *path)
{
    int number = errno;
    return task_fail(t, RES_UNAVAILABLE, "%s '%s': %s", what, path, strerror(number));
}

/* ---- one file ---- */

static void close_late(void *arg)
{
    copy_file *f = arg;
    if (f->f != NULL)
        (void)fclose(f->f); /* a failure is being reported already, or the file was only read */
}

static copy_file *new_file(task *t, const char *path)
{
    copy_file *f = arena_one(t->arena, copy_file);
    f->path = path;
    (void)arena_defer(t->arena, close_late, f); /* never false in a task */
    return f;
}

res copy_file_create(task *t, const char *path, uint64_t keep_bytes, copy_file **ret)
{
    copy_file *f = new_file(t, path);
    f->f = fopen(path, keep_bytes > 0 ? "r+e" : "we");
    if (f->f == NULL || ftruncate(fileno(f->f), (off_t)keep_bytes) != 0 ||
        fseeko(f->f, (off_t)keep_bytes, SEEK_SET) != 0)
        return system_said(t, "cannot write", path);
    f->offset = keep_bytes;
    *ret = f;
    return RES_OK;
}

res copy_file_open(task *t, const char *path, uint64_t offset, copy_file **ret)
{
    copy_file *f = new_file(t, path);
    f->f = fopen(path, "re");
    if (f->f == NULL || fseeko(f->f, (off_t)offset, SEEK_SET) != 0)
        return system_said(t, "cannot read", path);
    f->offset = offset;
    *ret = f;
    return RES_OK;
}

res copy_file_write(task *t, copy_file *f, str bytes)
{
    if (bytes.len > 0 && fwrite(bytes.at, 1, bytes.len, f->f) != bytes.len)
        return system_said(t, "cannot write", f->path);
    f->offset += bytes.len;
    return RES_OK;
}

res copy_file_write_line(task *t, copy_file *f, str line)
{
    TRY(copy_file_write(t, f, line));
    return copy_file_write(t, f, STR("\n"));
}

res copy_file_sync(task *t, copy_file *f)
{
    if (fflush(f->f) != 0 || fsync(fileno(f->f)) != 0)
        return system_said(t, "cannot write", f->path);
    return RES_OK;
}

res copy_file_close(task *t, copy_file *f)
{
    FILE *open = f->f;
    f->f = NULL;
    return open == NULL || fclose(open) == 0 ? RES_OK : system_said(t, "cannot write", f->path);
}

res copy_file_read_line(task *t, copy_file *f, buf *line, bool *ret_end)
{
    int c;
    buf_clear(line);
    while ((c = getc_unlocked(f->f)) != EOF && c != '\n')
        if (!buf_add_char(line, (char)c))
            return task_fail(t, RES_INVALID, "'%s' has a line of more than %d bytes at byte %llu", f->path,
                             COPY_LINE_MAX, (unsigned long long)f->offset);
    if (c == EOF && ferror(f->f))
        return system_said(t, "cannot read", f->path);
    *ret_end = c == EOF && line->len == 0;
    f->offset += line->len + (c == '\n');
    return RES_OK;
}

res copy_file_read(task *t, copy_file *f, char *to, size_t most, size_t *ret_len)
{
    size_t len = fread(to, 1, most, f->f);
    if (len < most && ferror(f->f))
        return system_said(t, "cannot read", f->path);
    f->offset += len;
    *ret_len = len;
    return RES_OK;
}

/* ---- folders ---- */

res copy_make_dir(task *t, const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return RES_OK;
    return system_said(t, "cannot make the folder", path);
}

res copy_rename(task *t, const char *from, const char *to)
{
    return rename(from, to) == 0 ? RES_OK : system_said(t, "cannot write", to);
}

bool copy_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *copy_path(task *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str path = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    return path.at;
}

static int by_name(const void *left, const void *right)
{
    const str *a = left, *b = right;
    return str_compare(*a, *b);
}

static void close_dir(void *arg)
{
    DIR **d = arg;
    if (*d != NULL)
        (void)closedir(*d);
}

res copy_list(task *t, const char *dir, const char *suffix, str **ret, size_t *ret_count)
{
    DIR  **d = arena_one(t->arena, DIR *);
    str   *list = NULL;
    size_t count = 0, cap = 0;
    (void)arena_defer(t->arena, close_dir, d); /* never false in a task */
    *d = opendir(dir);
    if (*d == NULL && errno != ENOENT)
        return system_said(t, "cannot read the folder", dir);
    for (struct dirent *e; *d != NULL && (e = readdir(*d)) != NULL;) {
        str name = str_of(e->d_name);
        if (!str_ends(name, str_of(suffix)))
            continue;
        if (count == cap) {
            size_t more = cap > 0 ? 2 * cap : 64;
            list = arena_regrow(t->arena, list, cap * sizeof *list, more * sizeof *list);
            cap = more;
        }
        list[count++] = arena_copy(t->arena, str_slice(name, 0, name.len - strlen(suffix)));
    }
    if (count > 0)
        qsort(list, count, sizeof *list, by_name);
    *ret = list;
    *ret_count = count;
    return RES_OK;
}

/* ---- names ---- */

static bool stays(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || (c == '.' && !first);
}

str copy_safe_name(arena *a, str name)
{
    buf out;
    buf_init(&out, a, 16 * KIB);
    for (size_t i = 0; i < name.len; i++) {
        if (stays(name.at[i], i == 0))
            buf_add_char(&out, name.at[i]);
        else
            buf_addf(&out, "%%%02X", (unsigned char)name.at[i]);
    }
    str safe = buf_str(&out);
    if (safe.len <= NAME_MAX_BYTES && !out.failed)
        return safe;
    char          hex[SHA256_HEX + 1];
    sha256_digest digest = hash_sha256(name);
    /* '~' is in no other name, so the two kinds never meet. */
    return arena_strf(a, "%.*s~%.*s", STR_ARG(str_slice(safe, 0, NAME_KEPT)),
                      STR_ARG(hash_hex(&digest, hex)));
}
