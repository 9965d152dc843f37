/* file.c -- see file.h.
 *
 * The lock is a file of its own, because SQLite's locks on the database allow several processes, and what we
 * keep in memory (the last tick, who is next) would then be wrong. It is never removed: between the removal
 * and the next open two processes could each hold a lock of that name.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000, PID_BYTES = 24, PATH_BYTES = 1024 };

/* 4 KiB pages: a write of one row costs one page of log, whatever else stands in it. The caches are small,
 * since the kernel has the file in its own. A log that was once long is cut to 8 MiB when it begins anew. */
static const char *const pragmas[] = {
    [FILE_WRITER] = "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                    "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=33554432;"
                    "PRAGMA cache_size=-4096; PRAGMA mmap_size=0;"
                    "PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF;",
    [FILE_READER] = "PRAGMA query_only=ON; PRAGMA cache_size=-4096; PRAGMA mmap_size=0;"
                    "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;",
};

static bool make_dir(char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool make_dirs(const char *dir)
{
    char path[PATH_BYTES];
    if ((size_t)snprintf(path, sizeof path, "%s", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_dir(path))
            return false;
        *slash = '/';
    }
    return make_dir(path);
}

static bool file_path(const char *dir, const char *name, char *out, size_t out_size)
{
    return (size_t)snprintf(out, out_size, "%s/%s", dir, name) < out_size;
}

static res no_dir(const char *dir, char *error, size_t error_size)
{
    (void)snprintf(error, error_size, "data directory '%s': %s", dir, strerror(errno));
    return RES_UNAVAILABLE;
}

static res locked_by_another(const char *dir, int fd, char *error, size_t error_size)
{
    char    pid[PID_BYTES];
    ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
    pid[got > 0 ? got : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    (void)snprintf(error, error_size, "data directory '%s' is in use by another process%s%s%s", dir,
                   pid[0] != '\0' ? " (pid " : "", pid, pid[0] != '\0' ? ")" : "");
    return RES_UNAVAILABLE;
}

res file_lock(const char *dir, int *ret_fd, char *error, size_t error_size)
{
    char path[PATH_BYTES], pid[PID_BYTES];
    if (!make_dirs(dir))
        return no_dir(dir, error, error_size);
    if (!file_path(dir, "trestle.lock", path, sizeof path)) {
        errno = ENAMETOOLONG;
        return no_dir(dir, error, error_size);
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return no_dir(dir, error, error_size);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        res r = errno == EWOULDBLOCK ? locked_by_another(dir, fd, error, error_size)
                                     : no_dir(dir, error, error_size);
        (void)close(fd);
        return r;
    }
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    /* The pid is for the other side's message alone: a full disk is no reason to stop here. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len)
        errno = 0;
    *ret_fd = fd;
    return RES_OK;
}

void file_unlock(int fd)
{
    if (fd < 0)
        return;
    if (ftruncate(fd, 0) != 0)
        errno = 0; /* a stale pid in a lock that nobody holds misleads nobody */
    (void)close(fd);
}

/* No statistics of allocations, whose mutex all threads would share; savepoints keep what they may have to
 * undo in memory. Both only work before SQLite's first use. */
static void configure_once(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
}

res file_connect(const char *dir, file_role role, sqlite3 **ret, char *error, size_t error_size)
{
    char     path[PATH_BYTES];
    sqlite3 *db = NULL;
    int      flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int      code = SQLITE_CANTOPEN;

    configure_once();
    if (file_path(dir, "trestle.db", path, sizeof path))
        code = sqlite3_open_v2(path, &db, flags | (role == FILE_WRITER ? SQLITE_OPEN_CREATE : 0), NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_extended_result_codes(db, 1);
        (void)sqlite3_busy_timeout(db, BUSY_MS);
        code = sqlite3_exec(db, pragmas[role], NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        *ret = db;
        return RES_OK;
    }
    (void)sqlite3_close(db);
    if ((code & 0xff) == SQLITE_NOTADB) {
        (void)snprintf(error, error_size, "'%s/trestle.db' is not a store of Trestle, nor any SQLite file",
                       dir);
        return RES_CONFIG;
    }
    (void)snprintf(error, error_size, "'%s/trestle.db' cannot be opened: %s", dir, file_words(code));
    return RES_UNAVAILABLE;
}

static const struct {
    int         code;
    res         result;
    const char *words;
} meanings[] = {
    {SQLITE_FULL, RES_UNAVAILABLE, "the disk is full"},
    {SQLITE_IOERR, RES_UNAVAILABLE, "the disk does not read or write as it should"},
    {SQLITE_READONLY, RES_UNAVAILABLE, "the file is read-only"},
    {SQLITE_PERM, RES_UNAVAILABLE, "the file may not be used"},
    {SQLITE_AUTH, RES_UNAVAILABLE, "the file may not be used"},
    {SQLITE_CANTOPEN, RES_UNAVAILABLE, "the file cannot be opened"},
    {SQLITE_BUSY, RES_UNAVAILABLE, "the file is busy"},
    {SQLITE_LOCKED, RES_UNAVAILABLE, "the file is locked"},
    {SQLITE_PROTOCOL, RES_UNAVAILABLE, "the file is locked"},
    {SQLITE_NOMEM, RES_UNAVAILABLE, "out of memory"},
    {SQLITE_CORRUPT, RES_UPSTREAM, "the file is damaged"},
    {SQLITE_NOTADB, RES_UPSTREAM, "the file is damaged"},
    {SQLITE_TOOBIG, RES_TOO_LARGE, "too large for the file"},
    {SQLITE_CONSTRAINT, RES_CONFLICT, "it exists already"},
};

res file_result(int sqlite_code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == (sqlite_code & 0xff))
            return meanings[i].result;
    return RES_INTERNAL;
}

const char *file_words(int sqlite_code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == (sqlite_code & 0xff))
            return meanings[i].words;
    return sqlite3_errstr(sqlite_code);
}
