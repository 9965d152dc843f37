/* long_value.c -- see long_value.h.
 *
 * Reading believes nothing: the number of parts, each part, and the length must fit together, for a merge or
 * another program may have mixed what was written at different times.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/long_value.h"

#include <string.h>

#include "core/gzip.h"

static const char *part_name(arena *a, const char *name, size_t i)
{
    return arena_strf(a, "%s_%zu", name, i).at;
}

static const char *bytes_name(arena *a, const char *name)
{
    return arena_strf(a, "%s_bytes", name).at;
}

static void drop_parts(entity *e, const char *name)
{
    for (size_t i = 0; i < LONG_VALUE_PARTS_MAX; i++)
        entity_drop(e, part_name(e->a, name, i));
}

res long_value_set(entity *e, const char *name, str value)
{
    str packed = STR("");
    if (value.len > 0)
        TRY(gzip_pack(e->a, value, GZIP_DEFAULT, &packed));
    size_t parts = (packed.len + ENTITY_BINARY_MAX - 1) / ENTITY_BINARY_MAX;
    if (parts > LONG_VALUE_PARTS_MAX)
        return RES_TOO_LARGE;

    drop_parts(e, name);
    entity_set_int32(e, arena_cstr(e->a, str_of(name)), (int32_t)parts);
    entity_set_int64(e, bytes_name(e->a, name), (int64_t)value.len);
    for (size_t i = 0; i < parts; i++)
        entity_set_binary(e, part_name(e->a, name, i),
                          str_slice(packed, i * ENTITY_BINARY_MAX, (i + 1) * ENTITY_BINARY_MAX));
    return RES_OK;
}

/* The parts one after another; false: one is missing or larger than any that we write. */
static bool join_parts(arena *a, const entity *e, const char *name, size_t parts, str *ret)
{
    char  *all = arena_alloc(a, parts * ENTITY_BINARY_MAX);
    size_t len = 0;
    for (size_t i = 0; i < parts; i++) {
        str part = entity_binary(e, part_name(a, name, i), STR(""));
        if (part.len == 0 || part.len > ENTITY_BINARY_MAX)
            return false;
        memcpy(all + len, part.at, part.len);
        len += part.len;
    }
    *ret = (str){all, len};
    return true;
}

res long_value_get(arena *a, const entity *e, const char *name, size_t max_bytes, str *ret)
{
    str packed, value;
    if (!entity_has(e, name))
        return RES_NOT_FOUND;
    int64_t parts = entity_int(e, name, -1), bytes = entity_int(e, bytes_name(a, name), -1);
    if (parts < 0 || parts > LONG_VALUE_PARTS_MAX || bytes < 0 || (parts == 0) != (bytes == 0))
        return RES_UPSTREAM;
    if ((uint64_t)bytes > max_bytes)
        return RES_TOO_LARGE;
    if (parts == 0) {
        *ret = STR("");
        return RES_OK;
    }
    if (!join_parts(a, e, name, (size_t)parts, &packed))
        return RES_UPSTREAM;
    res r = gzip_unpack(a, packed, (size_t)bytes, &value);
    if (r == RES_MEMORY)
        return r;
    if (r != RES_OK || value.len != (size_t)bytes)
        return RES_UPSTREAM;
    *ret = value;
    return RES_OK;
}
