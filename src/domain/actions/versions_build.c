/* versions_build.c -- the catalogue of versions made in one pass over the table.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/gzip.h"
#include "core/iso8601.h"
#include "domain/actions/gather.h"
#include "domain/actions/record.h"
#include "domain/actions/settings.h"
#include "domain/actions/version_row.h"
#include "domain/actions/versions.h"
#include "storage/blobs.h"

enum { TIME_DIGITS = 3, FRAME_BYTES = 1 * KIB };

typedef struct {
    gathered *rows;
    str       generated_at;
    buf      *document, *packed;
    res       result;
} building;

/* By owner, then name, in lower case: neither can hold the byte between them. */
static bool add_record(arena *a, const projection_source *from, buf *out, gathered_item *ret, void *ctx)
{
    size_t before = out->len;
    (void)ctx;
    (void)buf_add(out, record_key(a, projection_owner(from)));
    (void)buf_add_char(out, '\0');
    (void)buf_add(out, record_key(a, version_row_name(from)));
    ret->key_bytes = out->len - before;
    return version_row_add(out, from);
}

static void write_document(building *b)
{
    buf *out = b->document;
    gather_sort(b->rows);
    if (buf_reserve(out, b->rows->text.len + b->rows->count + FRAME_BYTES) == NULL)
        return; /* it has failed, and says so */
    (void)buf_addf(out, "{\"schemaVersion\":%d,\"generatedAt\":\"%.*s\",\"count\":%zu,\"skipped\":%zu,",
                   VERSIONS_SCHEMA, STR_ARG(b->generated_at), b->rows->count, b->rows->skipped);
    (void)buf_add(out, STR("\"fields\":" VERSION_FIELDS ",\"flags\":" VERSION_FLAGS ",\"actions\":["));
    gather_write(b->rows, out);
    (void)buf_add(out, STR("]}"));
}

/* In a thread. */
static void write_packed(void *arg)
{
    building *b = arg;
    str       packed;
    write_document(b);
    arena *a = arena_new(2 * (size_t)GATHER_TEXT_MAX);
    b->result = a == NULL || b->document->failed ? RES_MEMORY
                                                 : gzip_pack(a, buf_str(b->document), GZIP_DEFAULT, &packed);
    if (b->result == RES_OK && !buf_add(b->packed, packed))
        b->result = RES_MEMORY;
    arena_free(a);
}

res versions_build(task *t, versions_built *ret)
{
    const actions_settings *s = settings_get();
    blob_put                how = {.content_type = STR("application/gzip")};
    building                b = {.generated_at = iso8601_arena(t->arena, clock_wall_us(), TIME_DIGITS),
                                 .document = gather_heap(t->arena, GATHER_TEXT_MAX),
                                 .packed = gather_heap(t->arena, GATHER_TEXT_MAX)};
    TRY(gather_all(t, add_record, NULL, &b.rows));
    TRY(task_offload(t, write_packed, &b));
    if (b.result != RES_OK)
        return task_fail(t, b.result, "the versions of %zu records could not be packed", b.rows->count);
    TRY(blobs_put(t, s->snapshots, s->versions_blob, buf_str(b.packed), &how, NULL));
    *ret = (versions_built){.count = b.rows->count, .skipped = b.rows->skipped};
    return RES_OK;
}
