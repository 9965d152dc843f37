/* embedded_blobs_rig.c -- see embedded_blobs_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/embedded_blobs_rig.h"

const str files = STR_INIT("files");

void blobs_rig_make(task *t, engine *e)
{
    ck_assert_int_eq(B.create(e, t, files), RES_OK);
}

blob_info blobs_rig_put(task *t, engine *e, const char *name, str bytes)
{
    blob_info info;
    ck_assert_int_eq(B.put(e, t, files, str_of(name), bytes, &(blob_put){.create_only = false}, &info),
                     RES_OK);
    return info;
}

res blobs_rig_put_if(task *t, engine *e, const char *name, blob_put how, blob_info *ret)
{
    return B.put(e, t, files, str_of(name), STR("conditional"), &how, ret);
}

str blobs_rig_get(task *t, engine *e, const char *name)
{
    blob_got got;
    ck_assert_int_eq(B.get(e, t, files, str_of(name), &(blob_get){.ranged = false}, &got), RES_OK);
    ck_assert_uint_eq(got.info.bytes, got.body.len);
    return got.body;
}

str blobs_rig_bytes(task *t, size_t len, unsigned seed)
{
    char    *at = arena_alloc(t->arena, len + 1);
    uint64_t x = seed + 1;
    for (size_t i = 0; i < len; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        at[i] = (char)(x >> 56);
    }
    return (str){at, len};
}

void blobs_rig_no_leftovers(task *t, engine *e)
{
    embedded_rig_settle(t, e);
    ck_assert_int_eq(embedded_rig_number(t, e,
                                         "SELECT COUNT(*) FROM blob_data WHERE id NOT IN (SELECT data FROM"
                                         " blob_parts UNION ALL SELECT data FROM blob_staged)"),
                     0);
    ck_assert_int_eq(embedded_rig_number(t, e,
                                         "SELECT COUNT(*) FROM blob_parts WHERE generation NOT IN"
                                         " (SELECT generation FROM blobs)"),
                     0);
}
