/* zone_files.h -- makes small zoneinfo files, right ones that tests then damage.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ZONE_FILES_H
#define TRESTLE_TESTS_ZONE_FILES_H

#include <check.h>
#include <string.h>

#include "core/zone_file.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { FILE_MAX = 2000 };

typedef struct {
    size_t len;
    char   at[FILE_MAX];
} file_bytes;

static inline void put_bytes(file_bytes *f, const void *bytes, size_t len)
{
    ck_assert_uint_le(f->len + len, sizeof f->at);
    memcpy(f->at + f->len, bytes, len);
    f->len += len;
}

static inline void put_number(file_bytes *f, int64_t n, int width)
{
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
        char byte = (char)(uint8_t)((uint64_t)n >> shift);
        put_bytes(f, &byte, 1);
    }
}

/* Two changes, at 1,000,000 and 2,000,000: to +2 h and back to +1 h; before them +1 h. */
static inline void put_block(file_bytes *f, char version, int width)
{
    put_bytes(f, "TZif", 4);
    put_bytes(f, &version, 1);
    put_bytes(f, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    static const int counts[] = {0, 0, 0, 2, 2, 8};
    for (int i = 0; i < COUNT(counts); i++)
        put_number(f, counts[i], 4);
    put_number(f, 1000000, width);
    put_number(f, 2000000, width);
    put_bytes(f, "\1\0", 2);
    put_number(f, 3600, 4);
    put_bytes(f, "\0\0", 2);
    put_number(f, 7200, 4);
    put_bytes(f, "\1\4", 2);
    put_bytes(f, "CET\0CES\0", 8);
}

/* version '\0', '2', '3' or '4'; the first has no footer. */
static inline void make_file(file_bytes *f, char version, const char *footer)
{
    f->len = 0;
    put_block(f, version, 4);
    if (version == '\0')
        return;
    put_block(f, version, 8);
    put_bytes(f, footer, strlen(footer));
}

#endif
