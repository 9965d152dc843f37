/* zone_file.c -- reads zoneinfo files: bytes from a disk, so nothing in them is believed.
 *
 *   "TZif" version reserved[15] counts[6]      the header
 *   times[timecnt] kinds[timecnt]              when clocks change, and to what
 *   (offset, summer?, name)[typecnt]           the kinds of local time
 *   names  leap seconds  indicators            not used here
 *
 * Version 1 has 4 bytes for a time. Later versions repeat all of it with 8 bytes a time, and end with
 * "\n<rule>\n": how it goes on after the last change.
 *
 * SPDX-License-Identifier: MIT */
#include "zone_file.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION_AT = 4,
    COUNTS_AT = 20,
    HEADER_BYTES = 44,
    TYPE_BYTES = 6,
    TYPES_MAX = 256, /* an index is one byte */
    OFFSET_MAX_S = 26 * 3600,
};

typedef struct {
    uint64_t universals, standards, leaps, times, types, names;
    size_t   time_bytes;
} counts;

static uint32_t read_u32(const char *at)
{
    const uint8_t *b = (const uint8_t *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t read_time(const char *at, size_t bytes)
{
    if (bytes == 4)
        return (int32_t)read_u32(at);
    return (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4));
}

static bool read_header(str bytes, char *ret_version, counts *ret)
{
    if (bytes.len < HEADER_BYTES || !str_starts(bytes, STR("TZif")))
        return false;
    const char *at = bytes.at + COUNTS_AT;
    *ret_version = bytes.at[VERSION_AT];
    *ret = (counts){.universals = read_u32(at),
                    .standards = read_u32(at + 4),
                    .leaps = read_u32(at + 8),
                    .times = read_u32(at + 12),
                    .types = read_u32(at + 16),
                    .names = read_u32(at + 20),
                    .time_bytes = 4};
    return true;
}

/* Bytes after the header. Each count is below 2^32, so the sum cannot overflow. */
static uint64_t block_bytes(const counts *c)
{
    return c->times * (c->time_bytes + 1) + c->types * TYPE_BYTES + c->names +
           c->leaps * (c->time_bytes + 4) + c->standards + c->universals;
}

/* `block` is as long as the counts say. Times that count leap seconds would be off by half a minute. */
static bool read_block(str block, const counts *c, zone_table *ret)
{
    int32_t     offsets[TYPES_MAX];
    const char *kinds = block.at + c->times * c->time_bytes;
    const char *types = kinds + c->times;

    if (c->types == 0 || c->types > TYPES_MAX || c->leaps > 0)
        return false;
    for (size_t i = 0; i < c->types; i++) {
        offsets[i] = (int32_t)read_u32(types + i * TYPE_BYTES);
        if (offsets[i] < -OFFSET_MAX_S || offsets[i] > OFFSET_MAX_S)
            return false;
    }
    ret->first_offset_s = offsets[0];
    ret->count = (size_t)c->times;
    if (ret->count == 0)
        return true;

    ret->changes = calloc(ret->count, sizeof *ret->changes);
    if (ret->changes == NULL)
        return false;
    for (size_t i = 0; i < ret->count; i++) {
        uint8_t kind = (uint8_t)kinds[i];
        int64_t at_s = read_time(block.at + i * c->time_bytes, c->time_bytes);
        if (kind >= c->types || (i > 0 && at_s <= ret->changes[i - 1].at_s))
            return false;
        ret->changes[i] = (zone_change){.at_s = at_s, .offset_s = offsets[kind]};
    }
    return true;
}

/* "\n\n" is an empty rule: nobody knows how it goes on, so the last offset stays. */
static bool read_footer(str rest, zone_table *ret)
{
    if (!str_starts(rest, STR("\n")))
        return false;
    rest = str_from(rest, 1);
    size_t len = str_find_char(rest, '\n');
    if (len == rest.len)
        return false;
    ret->has_rule = len > 0;
    return !ret->has_rule || zone_rule_parse(str_slice(rest, 0, len), &ret->rule);
}

static bool read_whole(str bytes, zone_table *ret)
{
    counts c;
    char   version, again;

    if (!read_header(bytes, &version, &c) || block_bytes(&c) > bytes.len - HEADER_BYTES)
        return false;
    if (version == '\0')
        return read_block(str_from(bytes, HEADER_BYTES), &c, ret);

    str second = str_from(bytes, HEADER_BYTES + (size_t)block_bytes(&c));
    if (version < '2' || !read_header(second, &again, &c) || again != version)
        return false;
    c.time_bytes = 8;
    if (block_bytes(&c) > second.len - HEADER_BYTES)
        return false;
    return read_block(str_from(second, HEADER_BYTES), &c, ret) &&
           read_footer(str_from(second, HEADER_BYTES + (size_t)block_bytes(&c)), ret);
}

bool zone_file_read(str bytes, zone_table *ret)
{
    zone_table table = {0};
    if (bytes.len > ZONE_FILE_MAX || !read_whole(bytes, &table)) {
        free(table.changes);
        return false;
    }
    *ret = table;
    return true;
}
