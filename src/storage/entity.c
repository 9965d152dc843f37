/* entity.c -- properties of a row: set, found, copied, merged. Its limits are entity_check.c's.
 *
 * The list is short (252 at most), so it is searched from front to back; properties stand in the order in
 * which they were first set. Nothing that only reads allocates: back ends read in threads of theirs.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/entity.h"

#include <math.h>
#include <string.h>

enum { FIRST_CAP = 8, GUID_CHARS = 36 };

static property *find(const entity *e, str name)
{
    for (size_t i = 0; i < e->count; i++)
        if (str_eq(e->props[i].name, name))
            return &e->props[i];
    return NULL;
}

static const property *find_typed(const entity *e, const char *name, edm_type type)
{
    const property *p = find(e, str_of(name));
    return p != NULL && p->type == type ? p : NULL;
}

/* Where the property of that name belongs: its place, or a new one at the end. NULL only outside tasks. */
static property *place_for(entity *e, str name)
{
    property *p = find(e, name);
    if (p != NULL)
        return p;
    if (e->count == e->cap) {
        size_t    cap = e->cap == 0 ? FIRST_CAP : 2 * e->cap;
        property *more = arena_regrow(e->a, e->props, e->cap * sizeof *more, cap * sizeof *more);
        if (more == NULL)
            return NULL;
        e->props = more;
        e->cap = cap;
    }
    return &e->props[e->count++];
}

static bool has_text(edm_type type)
{
    return type == EDM_STRING || type == EDM_BINARY || type == EDM_GUID;
}

static bool same_value(const property *a, const property *b)
{
    if (a->type != b->type)
        return false;
    if (has_text(a->type))
        return str_eq(a->text, b->text);
    switch (a->type) {
    case EDM_DOUBLE:
        return isnan(a->real) ? isnan(b->real) != 0 : a->real == b->real;
    case EDM_BOOL:
        return a->truth == b->truth;
    case EDM_DATETIME:
        return a->ticks == b->ticks;
    default:
        return a->integer == b->integer;
    }
}

static int64_t ticks_of_us(int64_t us)
{
    int64_t ticks;
    if (__builtin_mul_overflow(us, 10, &ticks))
        return us < 0 ? INT64_MIN : INT64_MAX; /* far from any year: entity_check refuses it */
    return ticks;
}

entity entity_new(arena *a, str partition, str row)
{
    return (entity){.partition = partition, .row = row, .a = a};
}

/* ---- setting ---- */

void entity_set(entity *e, const property *p)
{
    property  value = *p; /* p may look into the list that moves when it grows */
    property *at = place_for(e, value.name);
    if (at != NULL)
        *at = value;
}

void entity_set_str(entity *e, const char *name, str value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_STRING, .text = value});
}

void entity_set_int32(entity *e, const char *name, int32_t value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_INT32, .integer = value});
}

void entity_set_int64(entity *e, const char *name, int64_t value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_INT64, .integer = value});
}

void entity_set_double(entity *e, const char *name, double value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_DOUBLE, .real = value});
}

void entity_set_bool(entity *e, const char *name, bool value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_BOOL, .truth = value});
}

void entity_set_time_us(entity *e, const char *name, int64_t us)
{
    entity_set_ticks(e, name, ticks_of_us(us));
}

void entity_set_ticks(entity *e, const char *name, edm_ticks value)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_DATETIME, .ticks = value});
}

void entity_set_guid(entity *e, const char *name, str value)
{
    if (value.len == GUID_CHARS) { /* what is not as long is none, and refused by entity_check */
        char *lower = arena_cstr(e->a, value);
        if (lower == NULL)
            return;
        for (size_t i = 0; i < GUID_CHARS; i++)
            lower[i] = str_lower_char(lower[i]);
        value = (str){lower, GUID_CHARS};
    }
    entity_set(e, &(property){.name = str_of(name), .type = EDM_GUID, .text = value});
}

void entity_set_binary(entity *e, const char *name, str bytes)
{
    entity_set(e, &(property){.name = str_of(name), .type = EDM_BINARY, .text = bytes});
}

void entity_drop(entity *e, const char *name)
{
    property *p = find(e, str_of(name));
    if (p == NULL)
        return;
    size_t after = e->count - (size_t)(p - e->props) - 1;
    memmove(p, p + 1, after * sizeof *p);
    e->count--;
}

/* ---- getting ---- */

const property *entity_find(const entity *e, str name)
{
    return find(e, name);
}

bool entity_has(const entity *e, const char *name)
{
    return find(e, str_of(name)) != NULL;
}

str entity_str(const entity *e, const char *name, str otherwise)
{
    const property *p = find(e, str_of(name));
    return p != NULL && (p->type == EDM_STRING || p->type == EDM_GUID) ? p->text : otherwise;
}

int64_t entity_int(const entity *e, const char *name, int64_t otherwise)
{
    const property *p = find(e, str_of(name));
    return p != NULL && (p->type == EDM_INT32 || p->type == EDM_INT64) ? p->integer : otherwise;
}

double entity_double(const entity *e, const char *name, double otherwise)
{
    const property *p = find(e, str_of(name));
    if (p == NULL)
        return otherwise;
    if (p->type == EDM_INT32 || p->type == EDM_INT64)
        return (double)p->integer;
    return p->type == EDM_DOUBLE ? p->real : otherwise;
}

bool entity_bool(const entity *e, const char *name, bool otherwise)
{
    const property *p = find_typed(e, name, EDM_BOOL);
    return p != NULL ? p->truth : otherwise;
}

/* Rounds down, also before 1970. */
int64_t entity_time_us(const entity *e, const char *name, int64_t otherwise)
{
    const property *p = find_typed(e, name, EDM_DATETIME);
    if (p == NULL)
        return otherwise;
    return p->ticks / 10 - (p->ticks % 10 < 0 ? 1 : 0);
}

str entity_binary(const entity *e, const char *name, str otherwise)
{
    const property *p = find_typed(e, name, EDM_BINARY);
    return p != NULL ? p->text : otherwise;
}

/* ---- whole entities ---- */

entity entity_copy(arena *a, const entity *e)
{
    entity copy = entity_new(a, arena_copy(a, e->partition), arena_copy(a, e->row));
    copy.etag = arena_copy(a, e->etag);
    copy.timestamp = e->timestamp;
    if (e->count == 0)
        return copy;
    copy.props = arena_array(a, property, e->count);
    if (copy.props == NULL)
        return copy;
    copy.cap = e->count;
    for (size_t i = 0; i < e->count; i++) {
        property *p = &copy.props[copy.count++];
        *p = e->props[i];
        p->name = arena_copy(a, p->name);
        if (has_text(p->type))
            p->text = arena_copy(a, p->text);
    }
    return copy;
}

bool entity_same(const entity *a, const entity *b)
{
    if (a->count != b->count || !str_eq(a->partition, b->partition) || !str_eq(a->row, b->row))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const property *other = find(b, a->props[i].name);
        if (other == NULL || !same_value(&a->props[i], other))
            return false;
    }
    return true;
}

void entity_merge(entity *onto, const entity *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        entity_set(onto, &changes->props[i]);
}
