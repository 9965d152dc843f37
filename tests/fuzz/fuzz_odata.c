/* fuzz_odata.c -- arbitrary bytes as an entity, a page, and an entity without metadata.
 *
 * Whatever is accepted is touched to its last byte, and what is written of it must be read as the same entity
 * again, if its texts are such that an entity may have them.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "storage/azure/odata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void touch(str s)
{
    static volatile unsigned char sum;
    for (size_t i = 0; i < s.len; i++)
        sum = (unsigned char)(sum + (unsigned char)s.at[i]);
}

static void touch_entity(const entity *e)
{
    touch(e->partition), touch(e->row), touch(e->etag);
    demand(e->count <= e->cap && e->count <= ODATA_MEMBERS_MAX);
    for (size_t i = 0; i < e->count; i++) {
        const property *p = &e->props[i];
        demand(p->type < EDM_COUNT);
        touch(p->name);
        if (p->type == EDM_STRING || p->type == EDM_GUID || p->type == EDM_BINARY)
            touch(p->text);
    }
}

/* No setter makes such an entity, and no service sends one. */
static bool has_twins(const entity *e)
{
    for (size_t i = 0; i < e->count; i++)
        if (entity_find(e, e->props[i].name) != &e->props[i])
            return true;
    return false;
}

/* Names are checked before they are written: one with a quote in it, say, never gets so far. */
static void round_trip(arena *a, const entity *e)
{
    str         why;
    const char *problem;
    entity      back;
    buf         out;
    if (has_twins(e) || entity_check(a, e, &why) != RES_OK)
        return;
    buf_init(&out, a, 64 * MIB);
    odata_write(&out, e);
    demand(!out.failed && out.len >= odata_least_bytes(e));
    for (size_t i = 0; i < out.len; i++)
        demand(out.at[i] != '\n' && out.at[i] != '\r');
    demand(odata_read(a, buf_str(&out), &back, &problem) == RES_OK);
    demand(entity_same(e, &back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const odata_column schema[] = {{"l", EDM_INT64}, {"t", EDM_DATETIME}, {"b", EDM_BINARY}};
    str                       text = {(const char *)data, size};
    const char               *why = NULL;
    arena                    *a = arena_new((size_t)256 * MIB);
    entity                    e, *rows;
    size_t                    count;
    demand(a != NULL);

    if (odata_read(a, text, &e, &why) == RES_OK) {
        touch_entity(&e);
        round_trip(a, &e);
    } else {
        demand(why != NULL);
    }
    if (odata_read_with_schema(a, text, schema, sizeof schema / sizeof *schema, &e, &why) == RES_OK)
        touch_entity(&e);
    if (odata_read_page(a, text, &rows, &count, &why) == RES_OK)
        for (size_t i = 0; i < count; i++)
            touch_entity(&rows[i]);
    arena_free(a);
    return 0;
}
