/* entity_check.c -- what Azure would refuse, found before anything is sent (spec 4.1, 4.3, 4.4).
 *
 * Azurite lets much of this pass, and so would SQLite: without these checks the errors would show in
 * production alone. Sizes count UTF-16 units, because Azure stores texts as UTF-16.
 *
 * SPDX-License-Identifier: MIT */
#include "entity_check.h"

#include <inttypes.h>
#include <string.h>

#include "core/id.h"
#include "entity_name.h"
#include "entity_text.h"

#define TICKS_PER_SECOND INT64_C(10000000)
#define TICKS_MIN        (INT64_C(-11644473600) * TICKS_PER_SECOND)     /* 1601-01-01 */
#define TICKS_MAX        (INT64_C(253402300800) * TICKS_PER_SECOND - 1) /* the end of 9999 */

typedef struct {
    const char *name;
    size_t      bytes; /* of a value of that type, without what it points to */
} edm_info;

static const edm_info edm[EDM_COUNT] = {
    [EDM_STRING] = {"Edm.String", 4},     [EDM_INT32] = {"Edm.Int32", 4},  [EDM_INT64] = {"Edm.Int64", 8},
    [EDM_DOUBLE] = {"Edm.Double", 8},     [EDM_BOOL] = {"Edm.Boolean", 1}, [EDM_GUID] = {"Edm.Guid", 16},
    [EDM_DATETIME] = {"Edm.DateTime", 8}, [EDM_BINARY] = {"Edm.Binary", 4}};

static size_t property_bytes(const property *p)
{
    size_t bytes = 8 + 2 * entity_utf16_units(p->name) + edm[p->type].bytes;
    if (p->type == EDM_STRING)
        return bytes + 2 * entity_utf16_units(p->text);
    return p->type == EDM_BINARY ? bytes + p->text.len : bytes;
}

static bool is_reserved(str name)
{
    return str_eq(name, STR("PartitionKey")) || str_eq(name, STR("RowKey")) || str_eq(name, STR("Timestamp"));
}

static bool key_may_hold(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7F && c <= 0x9F) && c != '/' && c != '\\' && c != '#' && c != '?';
}

res entity_check_name(arena *a, str name, str *ret_why)
{
    if (!str_is_utf8(name)) {
        *ret_why = STR("a property's name is not UTF-8");
        return RES_INVALID;
    }
    if (entity_utf16_units(name) > ENTITY_NAME_MAX) {
        *ret_why = arena_strf(a, "a property's name has %zu characters, at most %d are allowed",
                              entity_utf16_units(name), ENTITY_NAME_MAX);
        return RES_TOO_LARGE;
    }
    if (!entity_name_is_identifier(name)) {
        *ret_why = arena_strf(a, "property '%.*s': a name is a letter or _, then letters, digits and _",
                              STR_ARG(name));
        return RES_INVALID;
    }
    return RES_OK;
}

static res check_text(arena *a, const property *p, str *ret_why)
{
    if (!str_is_utf8(p->text)) {
        *ret_why = arena_strf(a, "property '%.*s' is not UTF-8", STR_ARG(p->name));
        return RES_INVALID;
    }
    size_t units = entity_utf16_units(p->text);
    if (units > ENTITY_STRING_UNITS_MAX) {
        *ret_why = arena_strf(a, "property '%.*s' has %zu UTF-16 units, at most %d are allowed",
                              STR_ARG(p->name), units, ENTITY_STRING_UNITS_MAX);
        return RES_TOO_LARGE;
    }
    return RES_OK;
}

res entity_check_value(arena *a, const property *p, str *ret_why)
{
    switch (p->type) {
    case EDM_STRING:
        return check_text(a, p, ret_why);
    case EDM_BINARY:
        if (p->text.len <= ENTITY_BINARY_MAX)
            return RES_OK;
        *ret_why = arena_strf(a, "property '%.*s' has %zu bytes, at most %d are allowed", STR_ARG(p->name),
                              p->text.len, ENTITY_BINARY_MAX);
        return RES_TOO_LARGE;
    case EDM_GUID:
        if (id_is_uuid(p->text))
            return RES_OK;
        *ret_why = arena_strf(a, "property '%.*s' is no GUID", STR_ARG(p->name));
        return RES_INVALID;
    case EDM_DATETIME:
        if (p->ticks >= TICKS_MIN && p->ticks <= TICKS_MAX)
            return RES_OK;
        *ret_why = arena_strf(a, "property '%.*s' is not within the years 1601 to 9999", STR_ARG(p->name));
        return RES_INVALID;
    case EDM_INT32:
        if (p->integer >= INT32_MIN && p->integer <= INT32_MAX)
            return RES_OK;
        *ret_why = arena_strf(a, "property '%.*s': %" PRId64 " is no Int32", STR_ARG(p->name), p->integer);
        return RES_INVALID;
    default:
        if ((unsigned)p->type < EDM_COUNT)
            return RES_OK;
        *ret_why = arena_strf(a, "property '%.*s' has no known type", STR_ARG(p->name));
        return RES_INVALID;
    }
}

res entity_check_key(arena *a, const char *which, str key, str *ret_why)
{
    if (!str_is_utf8(key)) {
        *ret_why = arena_strf(a, "%s is not UTF-8", which);
        return RES_INVALID;
    }
    size_t units = entity_utf16_units(key);
    if (units > ENTITY_KEY_UNITS_MAX) {
        *ret_why = arena_strf(a, "%s has %zu UTF-16 units, at most %d are allowed", which, units,
                              ENTITY_KEY_UNITS_MAX);
        return RES_TOO_LARGE;
    }
    for (size_t i = 0; i < key.len;) {
        uint32_t c = utf8_take(key, &i);
        if (key_may_hold(c))
            continue;
        *ret_why = arena_strf(a, "%s holds U+%04" PRIX32 ": / \\ # ? and control characters are not allowed",
                              which, c);
        return RES_INVALID;
    }
    return RES_OK;
}

res entity_check(arena *a, const entity *e, str *ret_why)
{
    TRY(entity_check_key(a, "PartitionKey", e->partition, ret_why));
    TRY(entity_check_key(a, "RowKey", e->row, ret_why));
    if (e->count > ENTITY_PROPS_MAX) {
        *ret_why = arena_strf(a, "the entity has %zu properties, at most %d are allowed", e->count,
                              ENTITY_PROPS_MAX);
        return RES_TOO_LARGE;
    }
    for (size_t i = 0; i < e->count; i++) {
        const property *p = &e->props[i];
        TRY(entity_check_name(a, p->name, ret_why));
        if (is_reserved(p->name)) {
            *ret_why = arena_strf(a, "property '%.*s': the name is reserved", STR_ARG(p->name));
            return RES_INVALID;
        }
        TRY(entity_check_value(a, p, ret_why));
    }
    size_t bytes = entity_bytes(e);
    if (bytes > ENTITY_BYTES_MAX) {
        *ret_why = arena_strf(a, "the entity has %zu bytes by Azure's formula, at most %d are allowed", bytes,
                              ENTITY_BYTES_MAX);
        return RES_TOO_LARGE;
    }
    return RES_OK;
}

size_t entity_bytes(const entity *e)
{
    size_t bytes = 4 + 2 * (entity_utf16_units(e->partition) + entity_utf16_units(e->row));
    for (size_t i = 0; i < e->count; i++)
        bytes += property_bytes(&e->props[i]);
    return bytes;
}

/* Every character begins with a byte that continues none; those of four bytes take two units. */
/* Of eight bytes at once: one bit for each that goes on with a character, and for each that begins one of
 * four. A sum of eight such bits gathers in the top byte of a product. */
#define EACH_BYTE UINT64_C(0x0101010101010101)

static size_t units_of_word(uint64_t w)
{
    uint64_t goes_on = (w >> 7 & ~(w >> 6)) & EACH_BYTE,
             of_four = (w >> 7 & w >> 6 & w >> 5 & w >> 4) & EACH_BYTE;
    return sizeof w - (size_t)(goes_on * EACH_BYTE >> 56) + (size_t)(of_four * EACH_BYTE >> 56);
}

size_t entity_utf16_units(str s)
{
    size_t units = 0, i = 0;
    for (; s.len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t w;
        memcpy(&w, s.at + i, sizeof w);
        units += units_of_word(w);
    }
    for (; i < s.len; i++) {
        unsigned char byte = (unsigned char)s.at[i];
        units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
    }
    return units;
}

/* UTF-8 bytes sort by code point. UTF-16 differs in one thing: what lies above U+FFFF is written with
 * surrogates (D800…) and so comes before U+E000 to U+FFFF, whose first bytes are EE and EF. */
int entity_compare_text(str a, str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < len; i++) {
        unsigned char x = (unsigned char)a.at[i], y = (unsigned char)b.at[i];
        if (x == y)
            continue;
        if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0))
            return x >= 0xF0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

const char *edm_name(edm_type type)
{
    return edm[type].name;
}
