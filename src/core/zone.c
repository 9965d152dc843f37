/* zone.c -- finds zones by name, and turns moments into local times and back.
 *
 * A zone is read once and kept until the process ends, so that the pointers given out stay good; it is never
 * changed after it was put into the list, and only the list is locked. A file that is none is remembered as
 * well, so that it is complained about once.
 *
 * A local time is looked for by walking the spans of one offset around it, oldest first: the first span in
 * which the clocks show it wins. When a span ends before the clocks would show it, and the next one begins
 * after, the time was skipped.
 *
 * SPDX-License-Identifier: MIT */
#include "core/zone.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "zone_file.h"

enum { ZONES_MAX = 1024, NAME_MAX_BYTES = 64, FOLDER_MAX_BYTES = 1024, AROUND_S = 27 * 3600 };

#define US_PER_SECOND INT64_C(1000000)
#define FIRST_S       INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_S        INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

struct zone {
    zone      *older;
    bool       broken; /* a file of this name is there, and is not a zone */
    zone_table table;
    size_t     name_len;
    char       name[NAME_MAX_BYTES];
};

static const zone utc = {.name_len = 3, .name = "UTC"};

static struct {
    pthread_mutex_t lock;
    zone           *newest;
    const zone     *hidden; /* from here on they are of a folder that a test has left */
    size_t          count;
    bool            warned_missing, warned_full;
    char            folder[FOLDER_MAX_BYTES]; /* empty: not looked up yet */
} zones = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- finding ---- */

/* Names begin with a capital letter: "posix/…", "right/…" (leap seconds) and the tables of the folder do not.
 * Without a point there is neither ".." nor an extension. */
static bool is_name(str name)
{
    bool starts_part = true;
    if (name.len == 0 || name.len > NAME_MAX_BYTES || name.at[0] < 'A' || name.at[0] > 'Z')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (starts_part || (c != '_' && c != '-' && c != '+' && c != '/')))
            return false;
        starts_part = c == '/';
    }
    return !starts_part;
}

static const char *folder(void)
{
    if (zones.folder[0] == '\0') {
        const char *set = getenv("TRESTLE_ZONEINFO");
        bool        given = set != NULL && set[0] != '\0' && strlen(set) < sizeof zones.folder;
        (void)snprintf(zones.folder, sizeof zones.folder, "%s", given ? set : "/usr/share/zoneinfo");
    }
    return zones.folder;
}

static void warn_if_missing(void)
{
    struct stat info;
    if (zones.warned_missing || (stat(folder(), &info) == 0 && S_ISDIR(info.st_mode)))
        return;
    zones.warned_missing = true;
    log_warn("no time zones but UTC: '%s' is not there (the package is called tzdata)", folder());
}

static bool is_folder(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The length of the file, or -1: it is none, or too large. */
static long read_open_file(int fd, char *out)
{
    struct stat info;
    long        len = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > ZONE_FILE_MAX)
        return -1;
    for (;;) {
        ssize_t got = read(fd, out + len, ZONE_FILE_MAX - (size_t)len);
        if (got < 0)
            return -1;
        if (got == 0)
            return len;
        len += got;
    }
}

static bool read_file(int fd, zone_table *ret)
{
    char *bytes = malloc(ZONE_FILE_MAX);
    if (bytes == NULL)
        return false;
    long len = read_open_file(fd, bytes);
    bool good = len >= 0 && zone_file_read((str){bytes, len >= 0 ? (size_t)len : 0}, ret);
    free(bytes);
    return good;
}

/* NULL: there is no such file, or no memory. */
static zone *load(str name)
{
    char path[FOLDER_MAX_BYTES + NAME_MAX_BYTES + 2];
    (void)snprintf(path, sizeof path, "%s/%.*s", folder(), STR_ARG(name));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe of that name must not hold us up */
    if (fd >= 0 && is_folder(fd)) {                         /* "Europe" */
        close(fd);
        return NULL;
    }
    if (fd < 0) {
        warn_if_missing();
        return NULL;
    }
    zone *z = calloc(1, sizeof *z);
    if (z != NULL) {
        memcpy(z->name, name.at, name.len);
        z->name_len = name.len;
        z->broken = !read_file(fd, &z->table);
        if (z->broken)
            log_warn("time zone '%.*s': its file in '%s' is not one that can be used", STR_ARG(name),
                     folder());
    }
    close(fd);
    return z;
}

static const zone *find_or_load(str name)
{
    for (const zone *z = zones.newest; z != zones.hidden; z = z->older)
        if (str_eq(zone_name(z), name))
            return z;
    if (zones.count == ZONES_MAX) {
        if (!zones.warned_full)
            log_warn("time zone '%.*s' is not read: %d are in use", STR_ARG(name), ZONES_MAX);
        zones.warned_full = true;
        return NULL;
    }
    zone *z = load(name);
    if (z != NULL) {
        z->older = zones.newest;
        zones.newest = z;
        zones.count++;
    }
    return z;
}

const zone *zone_find(str name)
{
    if (str_eq(name, STR("UTC")))
        return &utc;
    if (!is_name(name))
        return NULL;
    (void)pthread_mutex_lock(
        &zones.lock); /* an ordinary mutex, never locked twice by a thread: cannot fail */
    const zone *z = find_or_load(name);
    (void)pthread_mutex_unlock(&zones.lock); /* likewise */
    return z == NULL || z->broken ? NULL : z;
}

str zone_name(const zone *z)
{
    return (str){z->name, z->name_len};
}

void zone_set_folder_for_test(const char *path)
{
    (void)pthread_mutex_lock(&zones.lock); /* as in zone_find */
    (void)snprintf(zones.folder, sizeof zones.folder, "%s", path != NULL ? path : "");
    zones.hidden = zones.newest;
    zones.count = 0;
    zones.warned_missing = zones.warned_full = false;
    (void)pthread_mutex_unlock(&zones.lock); /* as in zone_find */
}

/* ---- moments ---- */

static int64_t second_of(int64_t us)
{
    int64_t s = us / US_PER_SECOND - (us % US_PER_SECOND < 0 ? 1 : 0);
    return s < FIRST_S ? FIRST_S : s > LAST_S ? LAST_S : s;
}

/* How many changes are not later than that second. */
static size_t changes_until(const zone_table *t, int64_t at_s)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->changes[middle].at_s <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t offset_at(const zone_table *t, int64_t at_s)
{
    size_t n = changes_until(t, at_s);
    if (n == t->count && t->has_rule)
        return zone_rule_offset_s(&t->rule, at_s);
    return n == 0 ? t->first_offset_s : t->changes[n - 1].offset_s;
}

static bool next_change(const zone_table *t, int64_t after_s, int64_t *ret_s)
{
    size_t n = changes_until(t, after_s);
    if (n < t->count) {
        *ret_s = t->changes[n].at_s;
        return true;
    }
    return t->has_rule && zone_rule_next(&t->rule, after_s, ret_s);
}

int32_t zone_offset_s(const zone *z, int64_t us)
{
    return offset_at(&z->table, second_of(us));
}

void zone_local(const zone *z, int64_t us, civil_time *ret)
{
    int64_t first_us = FIRST_S * US_PER_SECOND, last_us = LAST_S * US_PER_SECOND + US_PER_SECOND - 1;
    us = us < first_us ? first_us : us > last_us ? last_us : us;
    civil_from_us(us + zone_offset_s(z, us) * US_PER_SECOND, ret);
}

/* The second at which clocks show `shown_s`, which is counted as if they were those of UTC. */
static int64_t find_shown(const zone_table *t, int64_t shown_s)
{
    int64_t from_s = shown_s - AROUND_S, to_s;
    int64_t last_s = shown_s + AROUND_S; /* no offset is larger */
    for (;;) {
        int64_t at_s = shown_s - offset_at(t, from_s);
        if (!next_change(t, from_s, &to_s) || to_s > last_s || at_s < to_s)
            return at_s; /* shown before the next change */
        if (shown_s - offset_at(t, to_s) < to_s)
            return at_s; /* the change skips it */
        from_s = to_s;
    }
}

res zone_to_us(const zone *z, const civil_time *local, int64_t *ret_us)
{
    int64_t shown_us;
    if (!civil_to_us(local, &shown_us))
        return RES_INVALID;
    int64_t at_s = find_shown(&z->table, (shown_us - local->microsecond) / US_PER_SECOND);
    if (at_s < FIRST_S || at_s > LAST_S)
        return RES_INVALID;
    *ret_us = at_s * US_PER_SECOND + local->microsecond;
    return RES_OK;
}
