/* row.c -- see row.h.
 *
 * Packing leaves a quarter of a megabyte of zlib's state behind, so it happens in a scope of its own, and
 * only its outcome is copied: a batch of large records must fit into one request's memory.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/row.h"

#include <string.h>

#include "core/clock.h"
#include "core/gzip.h"
#include "core/iso8601.h"
#include "domain/actions/thread_arena.h"

enum {
    ENTITY_MAX = 1000000,        /* of Azure's 1 MiB */
    PACK_INLINE_MAX = 64 * KIB,  /* above, it would hold the loop for milliseconds */
    PACK_MEMORY_EXTRA = 1 * MIB, /* zlib's state */
    PACK_MEMORY_FACTOR = 4,      /* what comes out may be as large as what goes in, and is grown twice */
    MILLISECONDS = 3,            /* digits */
};

static const char *const piece_names[ROW_PIECES_MAX] = {
    "PayloadJson",   "PayloadJson1",  "PayloadJson2",  "PayloadJson3",  "PayloadJson4",
    "PayloadJson5",  "PayloadJson6",  "PayloadJson7",  "PayloadJson8",  "PayloadJson9",
    "PayloadJson10", "PayloadJson11", "PayloadJson12", "PayloadJson13", "PayloadJson14"};

/* ---- making ---- */

typedef struct {
    arena *a, *outer;
    str    text, packed;
    res    result;
} packing;

static void pack_now(void *arg)
{
    packing *p = arg;
    p->result = gzip_pack(p->a, p->text, GZIP_DEFAULT, &p->packed);
}

static res pack_in_scope(task *t, void *ctx)
{
    packing *p = ctx;
    p->a = t->arena;
    if (p->text.len <= PACK_INLINE_MAX) {
        pack_now(p);
    } else {
        p->a = thread_arena(t->arena, p->text.len * PACK_MEMORY_FACTOR + PACK_MEMORY_EXTRA);
        if (p->a == NULL)
            return task_fail(t, RES_MEMORY, "no memory to pack %zu bytes", p->text.len);
        TRY(task_offload(t, pack_now, p));
    }
    if (p->result == RES_OK)
        p->packed = arena_copy(p->outer, p->packed);
    return p->result;
}

res row_pack(task *t, str text, str *ret)
{
    packing p = {.outer = t->arena, .text = text};
    TRY(task_scope(t, text.len * PACK_MEMORY_FACTOR + PACK_MEMORY_EXTRA, pack_in_scope, &p));
    *ret = p.packed;
    return RES_OK;
}

static size_t pieces_of(str packed)
{
    return (packed.len + ENTITY_BINARY_MAX - 1) / ENTITY_BINARY_MAX;
}

static void set_pieces(entity *e, str packed, size_t raw_bytes)
{
    for (size_t i = 0; i < pieces_of(packed); i++)
        entity_set_binary(e, piece_names[i],
                          str_slice(packed, i * ENTITY_BINARY_MAX, (i + 1) * ENTITY_BINARY_MAX));
    entity_set_str(e, "PayloadEncoding", STR("gzip"));
    entity_set_int64(e, "PayloadSize", (int64_t)raw_bytes);
}

static res too_large(task *t, const record *r, size_t bytes, size_t *ret_bytes)
{
    if (ret_bytes != NULL)
        *ret_bytes = bytes;
    return task_fail(t, RES_TOO_LARGE, "the row of '%.*s' would take %zu bytes, at most %d are allowed",
                     STR_ARG(r->row), bytes, ENTITY_MAX);
}

res row_make(task *t, const record *r, str synced, entity *ret, size_t *ret_bytes)
{
    entity e = entity_new(t->arena, r->partition, r->row);
    entity_set_str(&e, "PayloadHash", arena_copy(t->arena, (str){r->hash, SHA256_HEX}));
    entity_set_str(&e, "LastSyncedUtc", synced);
    entity_set_str(&e, "Owner", r->owner);
    entity_set_str(&e, "Name", r->name);
    if (entity_utf16_units(r->canonical) <= ROW_RAW_UNITS_MAX) {
        entity_set_str(&e, piece_names[0], r->canonical);
    } else {
        str packed;
        TRY(row_pack(t, r->canonical, &packed));
        if (pieces_of(packed) > ROW_PIECES_MAX)
            return too_large(t, r, entity_bytes(&e) + packed.len, ret_bytes);
        set_pieces(&e, packed, r->canonical.len);
    }
    size_t bytes = entity_bytes(&e);
    if (bytes > ENTITY_MAX)
        return too_large(t, r, bytes, ret_bytes);
    *ret = e;
    return RES_OK;
}

/* ---- reading ---- */

static size_t packed_bytes(const entity *e)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ROW_PIECES_MAX; i++)
        bytes += entity_binary(e, piece_names[i], STR("")).len;
    return bytes;
}

/* Up to the first piece that is missing: one behind it cannot belong to what stands before. */
static res join_pieces(arena *a, const entity *e, str *ret)
{
    char  *all = arena_alloc(a, packed_bytes(e));
    size_t len = 0;
    if (all == NULL)
        return RES_MEMORY;
    for (size_t i = 0; i < ROW_PIECES_MAX; i++) {
        str piece = entity_binary(e, piece_names[i], STR(""));
        if (piece.len == 0)
            break;
        memcpy(all + len, piece.at, piece.len);
        len += piece.len;
    }
    *ret = (str){all, len};
    return RES_OK;
}

static res unpack(arena *a, const entity *e, str *ret)
{
    str     packed, text;
    int64_t size = entity_int(e, "PayloadSize", -1);
    if (size < 0 || size > ROW_PAYLOAD_MAX)
        return RES_UPSTREAM;
    res r = join_pieces(a, e, &packed);
    if (r == RES_OK)
        r = gzip_unpack(a, packed, (size_t)size, &text);
    if (r != RES_OK)
        return r == RES_MEMORY ? r : RES_UPSTREAM;
    if (text.len != (size_t)size)
        return RES_UPSTREAM;
    *ret = text;
    return RES_OK;
}

/* A writer that merges leaves PayloadEncoding of an earlier, packed payload in place; but what it wrote is a
 * String, and what is packed never is. */
res row_payload(arena *a, const entity *e, str *ret)
{
    const property *p = entity_find(e, str_of(piece_names[0]));
    if (p != NULL && p->type == EDM_STRING) {
        *ret = p->text;
        return RES_OK;
    }
    if (p == NULL || !str_eq(entity_str(e, "PayloadEncoding", STR("")), STR("gzip")))
        return RES_UPSTREAM;
    return unpack(a, e, ret);
}

/* ---- parsing ---- */

static bool is_hex4(str s)
{
    for (size_t i = 0; i < 4; i++)
        if (i >= s.len || strchr("0123456789abcdefABCDEF", s.at[i]) == NULL || s.at[i] == '\0')
            return false;
    return true;
}

/* 'h' and 'l': the escape that s begins with is a high or low surrogate; 0: it is something else. */
static char surrogate_at(str s)
{
    if (s.len < 6 || s.at[0] != '\\' || s.at[1] != 'u' || !is_hex4(str_from(s, 2)))
        return 0;
    if (str_lower_char(s.at[2]) != 'd' || s.at[3] < '8')
        return 0;
    return s.at[3] <= '9' || (str_lower_char(s.at[3]) >= 'a' && str_lower_char(s.at[3]) <= 'b') ? 'h' : 'l';
}

/* A copy in which escapes of unpaired surrogates, which are six bytes, are those of U+FFFD. */
static str without_surrogates(arena *a, str text)
{
    char *copy = arena_alloc(a, text.len);
    if (copy == NULL)
        return (str){0};
    memcpy(copy, text.at, text.len);
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.at[i] != '\\')
            continue;
        char half = surrogate_at(str_from(text, i));
        if (half == 'h' && surrogate_at(str_from(text, i + 6)) == 'l') {
            i += 11;
        } else if (half != 0) {
            memcpy(copy + i, "\\ufffd", 6);
            i += 5;
        } else {
            i++; /* what is escaped, which may be a backslash */
        }
    }
    return (str){copy, text.len};
}

res row_parse(arena *a, str payload, const json_val **ret)
{
    res r = json_parse(a, payload, ret, NULL);
    if (r == RES_INVALID && (str_has(payload, STR("\\ud")) || str_has(payload, STR("\\uD")))) {
        str readable = without_surrogates(a, payload);
        r = readable.at != NULL ? json_parse(a, readable, ret, NULL) : RES_MEMORY;
    }
    return r == RES_INVALID || r == RES_TOO_LARGE ? RES_UPSTREAM : r;
}

/* ---- columns ---- */

str row_hash(const entity *e)
{
    return entity_str(e, "PayloadHash", STR(""));
}

str row_synced(const entity *e)
{
    return entity_str(e, "LastSyncedUtc", STR(""));
}

str row_now(arena *a)
{
    return iso8601_arena(a, clock_wall_us(), MILLISECONDS);
}
