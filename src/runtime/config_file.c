/* config_file.c -- see config_file.h.
 *
 * For use at start only: the arena must have no hook that leaves the stack, or the descriptor would leak.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

res config_no_memory(str *ret_error)
{
    *ret_error = STR("out of memory while the configuration was read");
    return RES_MEMORY;
}

res config_error(arena *a, str *ret_error, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str line = arena_vstrf(a, fmt, args);
    va_end(args);
    if (line.at == NULL)
        return config_no_memory(ret_error);
    *ret_error = line;
    return RES_CONFIG;
}

bool config_bool(str text, bool *ret)
{
    bool yes = str_eq_nocase(text, STR("true")) || str_eq(text, STR("1"));
    if (!yes && !str_eq_nocase(text, STR("false")) && !str_eq(text, STR("0")))
        return false;
    *ret = yes;
    return true;
}

/* Reads `size` bytes, asking for one more: false when the file is not exactly that long any more. */
static bool read_exactly(int fd, char *at, size_t size)
{
    size_t have = 0;
    for (;;) {
        ssize_t n = read(fd, at + have, size + 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        have += (size_t)n;
        if (n == 0 || have >= size)
            return have == size;
    }
}

/* Nothing between open and close but what must be: every function of the app is read so at start. */
static res read_open(arena *a, int fd, const char *name, str *ret, str *ret_error)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return config_error(a, ret_error, "%s: %s", name, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return config_error(a, ret_error, "%s: is not a regular file", name);
    if (st.st_size > CONFIG_FILE_MAX)
        return config_error(a, ret_error, "%s: is larger than %d bytes", name, CONFIG_FILE_MAX);

    size_t size = (size_t)st.st_size;
    char  *at = arena_alloc(a, size + 1);
    if (at == NULL)
        return config_no_memory(ret_error);
    if (!read_exactly(fd, at, size))
        return config_error(a, ret_error, "%s: could not be read, or changed meanwhile", name);
    *ret = (str){at, size};
    return RES_OK;
}

static res read_text(arena *a, const char *path, const char *name, str *ret, str *ret_error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int code = errno;
        res r = config_error(a, ret_error, "%s: %s", name, strerror(code));
        return r == RES_CONFIG && (code == ENOENT || code == ENOTDIR) ? RES_NOT_FOUND : r;
    }
    res r = read_open(a, fd, name, ret, ret_error);
    (void)close(fd); /* nothing was written: there is nothing to lose */
    return r;
}

/* JSON alone is read, although the Functions host would bear comments: they are the likeliest mistake, and
 * get a word of their own. */
static res json_problem(arena *a, const char *name, str text, const json_error *e, str *ret_error)
{
    size_t line = 1, start = 0, at = e->offset < text.len ? e->offset : text.len;
    for (size_t i = 0; i < at; i++)
        if (text.at[i] == '\n') {
            line++;
            start = i + 1;
        }
    str  rest = str_from(text, at);
    bool comment = str_starts(rest, STR("//")) || str_starts(rest, STR("/*"));
    return config_error(a, ret_error, "%s: line %zu, column %zu: %s", name, line, at - start + 1,
                        comment           ? "comments are not supported"
                        : e->text != NULL ? e->text
                                          : "not JSON");
}

res config_file_read(arena *a, const char *root, const char *name, const json_val **ret, str *ret_error)
{
    str path = arena_strf(a, "%s/%s", root, name);
    if (path.at == NULL)
        return config_no_memory(ret_error);

    str text = STR("");
    res r = read_text(a, path.at, name, &text, ret_error);
    if (r != RES_OK)
        return r;
    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_from(text, 3);

    const json_val *doc = NULL;
    json_error      e = {0};
    r = json_parse(a, text, &doc, &e);
    if (r == RES_MEMORY)
        return config_no_memory(ret_error);
    if (r != RES_OK)
        return json_problem(a, name, text, &e, ret_error);
    if (json_typeof(doc) != JSON_OBJECT)
        return config_error(a, ret_error, "%s: is not a JSON object", name);
    *ret = doc;
    return RES_OK;
}
