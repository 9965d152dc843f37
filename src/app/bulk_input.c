/* bulk_input.c -- see bulk_input.h.
 *
 *     fd -> packed (256 KiB) -> unpacked (256 KiB)          plain: packed is all there is
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/gunzip.h"

enum { PIECE_BYTES = 256 * KIB, MOMENT_MS = 200, HEAD_BYTES = 64 * KIB, MAGIC_BYTES = 2 };

typedef enum { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP } kind;

struct bulk_input {
    const char *path;
    int         fd;
    kind        kind;
    gunzip     *gz;
    bool        at_end; /* of the file */
    uint64_t    taken;
    char       *packed_at, *unpacked_at;
    str         packed; /* read, and not yet unpacked or given out */
    str         again;  /* unpacked, and to be given out before anything else */
    /* what the thread found */
    str         piece;
    res         result;
    int         error;
};

static res system_said(task *t, const char *what, const char *path, int number)
{
    return task_fail(t, RES_UNAVAILABLE, "%s '%s': %s", what, path, strerror(number));
}

static void close_input(void *arg)
{
    bulk_input *in = arg;
    gunzip_free(in->gz);
    if (in->fd > STDERR_FILENO)
        (void)close(in->fd); /* it was only read */
}

res bulk_input_open(task *t, const char *path, bulk_input **ret)
{
    bool        standard = strcmp(path, "-") == 0;
    bulk_input *in = arena_one(t->arena, bulk_input);
    in->path = standard ? "standard input" : path;
    in->packed_at = arena_alloc(t->arena, PIECE_BYTES);
    in->unpacked_at = arena_alloc(t->arena, PIECE_BYTES);
    in->fd = -1;
    (void)arena_defer(t->arena, close_input, in); /* never false in a task */
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat what;
    if (in->fd < 0 || fstat(in->fd, &what) != 0)
        return system_said(t, "cannot read", in->path, errno);
    if (S_ISDIR(what.st_mode))
        return system_said(t, "cannot read", in->path, EISDIR);
    *ret = in;
    return RES_OK;
}

uint64_t bulk_input_taken(const bulk_input *in)
{
    return in->taken;
}

/* ---- in a thread ---- */

/* More bytes behind those that are there; false: none for now, the end, or a failure (in->error). Waits only
 * a moment, since a thread cannot be interrupted. */
static bool read_more(bulk_input *in)
{
    struct pollfd wait = {.fd = in->fd, .events = POLLIN};
    size_t        had = in->packed.len;
    ssize_t       n;
    if (had > 0 && in->packed.at != in->packed_at)
        memmove(in->packed_at, in->packed.at, had);
    in->packed.at = in->packed_at;
    if (in->at_end || poll(&wait, 1, MOMENT_MS) == 0)
        return false;
    do
        n = read(in->fd, in->packed_at + had, PIECE_BYTES - had);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN) {
        in->result = RES_UNAVAILABLE;
        in->error = errno;
    }
    if (n <= 0) {
        in->at_end = n == 0;
        return false;
    }
    in->packed.len += (size_t)n;
    in->taken += (uint64_t)n;
    return true;
}

static void find_kind(bulk_input *in)
{
    if (in->packed.len < MAGIC_BYTES && !in->at_end)
        return;
    in->kind = gunzip_knows(in->packed) ? KIND_GZIP : KIND_PLAIN;
    if (in->kind == KIND_GZIP && (in->gz = gunzip_new()) == NULL)
        in->result = RES_MEMORY;
}

static void unpack(bulk_input *in)
{
    size_t len = 0;
    in->result = gunzip_more(in->gz, &in->packed, in->unpacked_at, PIECE_BYTES, &len);
    in->piece = (str){in->unpacked_at, len};
}

static void fill(void *arg)
{
    bulk_input *in = arg;
    in->piece = (str){0};
    while (in->kind == KIND_UNKNOWN && in->result == RES_OK) {
        bool more = read_more(in);
        find_kind(in);
        if (!more && in->kind == KIND_UNKNOWN)
            return;
    }
    if (in->result != RES_OK)
        return;
    if (in->kind == KIND_PLAIN) {
        if (in->packed.len == 0)
            (void)read_more(in); /* what it found stands in `in` */
        in->piece = in->packed;
        in->packed = (str){0};
        return;
    }
    do {
        if (in->packed.len > 0 || read_more(in))
            unpack(in);
        else
            return;
    } while (in->piece.len == 0 && in->result == RES_OK);
}

/* ---- in the task ---- */

res bulk_input_read(task *t, bulk_input *in, str *ret, bool *ret_end)
{
    if (in->again.len > 0) {
        *ret = in->again;
        *ret_end = false;
        in->again = (str){0};
        return RES_OK;
    }
    TRY(task_offload(t, fill, in));
    if (in->result == RES_UNAVAILABLE)
        return system_said(t, "cannot read", in->path, in->error);
    if (in->result == RES_INVALID)
        return task_fail(t, RES_INVALID, "'%s' is damaged: it begins as gzip, and does not go on so",
                         in->path);
    if (in->result != RES_OK)
        return task_fail(t, in->result, "'%s'", in->path);
    *ret = in->piece;
    *ret_end = in->piece.len == 0 && in->at_end;
    if (*ret_end && in->gz != NULL && !gunzip_may_end(in->gz))
        return task_fail(t, RES_INVALID, "'%s' is cut off: it ends inside of gzip data", in->path);
    return RES_OK;
}

res bulk_input_skip(task *t, bulk_input *in, uint64_t bytes)
{
    str  piece = {0};
    bool end = false;
    while (bytes > 0 && !end) {
        TRY(bulk_input_read(t, in, &piece, &end));
        if (in->kind == KIND_PLAIN && bytes > piece.len &&
            lseek(in->fd, (off_t)(bytes - piece.len), SEEK_CUR) >= 0) {
            in->taken += bytes - piece.len;
            return RES_OK;
        }
        in->again = str_from(piece, bytes); /* nothing, unless the place is in this piece */
        bytes -= piece.len < bytes ? piece.len : bytes;
    }
    return bytes == 0 ? RES_OK : task_fail(t, RES_INVALID, "'%s' is shorter than it was", in->path);
}

res bulk_input_fingerprint(task *t, const char *path, bulk_fingerprint *ret)
{
    bulk_input *in = NULL;
    struct stat what;
    TRY(bulk_input_open(t, path, &in));
    assert(in != NULL);
    if (fstat(in->fd, &what) != 0)
        return system_said(t, "cannot read", path, errno);
    size_t len = 0;
    for (ssize_t n; len < HEAD_BYTES && (n = read(in->fd, in->packed_at + len, HEAD_BYTES - len)) != 0;) {
        if (n < 0)
            return system_said(t, "cannot read", path, errno);
        len += (size_t)n;
    }
    sha256_digest d = hash_sha256((str){in->packed_at, len});
    ret->size = (uint64_t)what.st_size;
    (void)hash_hex(&d, ret->head); /* the text is in ret */
    return RES_OK;
}
