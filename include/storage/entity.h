/* entity.h -- one row of a table: two keys and up to 252 typed properties.
 *
 *     entity e = entity_new(t->arena, STR("hunt-1"), STR("red"));
 *     entity_set_int64(&e, "points", 5);
 *     TRY(tables_insert(t, TABLE_SCORES, &e));
 *     …
 *     int64_t points = entity_int(&e, "points", 0);
 *
 * Setters copy nothing but the property list: names and texts are borrowed and must live as long as the
 * entity. Setting a name again replaces its value, in its place. Getters give `otherwise` when the property
 * is missing or of another type. Limits are those of Azure, whatever is below (entity_check).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_ENTITY_H
#define TRESTLE_STORAGE_ENTITY_H

#include "core/arena.h"
#include "core/res.h"

enum {
    ENTITY_KEY_UNITS_MAX = 512, /* UTF-16 units, of each key */
    ENTITY_PROPS_MAX = 252,
    ENTITY_NAME_MAX = 255,           /* characters */
    ENTITY_STRING_UNITS_MAX = 32768, /* UTF-16 units */
    ENTITY_BINARY_MAX = 65536,       /* bytes */
    ENTITY_BYTES_MAX = 1024 * 1024,  /* by Azure's formula: entity_bytes */
};

typedef enum {
    EDM_STRING,
    EDM_INT32,
    EDM_INT64,
    EDM_DOUBLE,
    EDM_BOOL,
    EDM_DATETIME,
    EDM_GUID,
    EDM_BINARY,
    EDM_COUNT
} edm_type;

/* A point in time with Azure's resolution: ticks of 100 ns since 1970, UTC. Years 1601 to 9999. */
typedef int64_t edm_ticks;

typedef struct {
    str      name;
    edm_type type;
    union {
        str       text;    /* EDM_STRING: UTF-8; EDM_BINARY: bytes; EDM_GUID: 36 characters, lower case */
        int64_t   integer; /* EDM_INT32, EDM_INT64 */
        double    real;
        bool      truth;
        edm_ticks ticks;
    };
} property;

typedef struct {
    str       partition, row;
    str       etag;      /* as last read or written; empty: not known */
    edm_ticks timestamp; /* the server's; 0: not known */
    property *props;
    size_t    count, cap;
    arena    *a;
} entity;

entity entity_new(arena *a, str partition, str row);

void entity_set_str(entity *e, const char *name, str value); /* the name is a literal, or as long-lived */
void entity_set_int32(entity *e, const char *name, int32_t value);
void entity_set_int64(entity *e, const char *name, int64_t value);
void entity_set_double(entity *e, const char *name, double value); /* NaN and infinities are values too */
void entity_set_bool(entity *e, const char *name, bool value);
void entity_set_time_us(entity *e, const char *name, int64_t us); /* microseconds since 1970 */
void entity_set_ticks(entity *e, const char *name, edm_ticks value);
void entity_set_guid(entity *e, const char *name, str value); /* any case; kept in lower case */
void entity_set_binary(entity *e, const char *name, str bytes);
void entity_set(entity *e, const property *p); /* any of them; for code that copies */
void entity_drop(entity *e, const char *name);

const property *entity_find(const entity *e, str name); /* NULL: none; names are case-sensitive */
bool            entity_has(const entity *e, const char *name);
str             entity_str(const entity *e, const char *name, str otherwise);       /* EDM_STRING, EDM_GUID */
int64_t         entity_int(const entity *e, const char *name, int64_t otherwise);   /* EDM_INT32, EDM_INT64 */
double          entity_double(const entity *e, const char *name, double otherwise); /* also of integers */
bool            entity_bool(const entity *e, const char *name, bool otherwise);
int64_t         entity_time_us(const entity *e, const char *name, int64_t otherwise);
str             entity_binary(const entity *e, const char *name, str otherwise);

entity entity_copy(arena *a, const entity *e);        /* deep: nothing of it is borrowed any more */
bool   entity_same(const entity *a, const entity *b); /* keys and properties, in any order; not the ETag */
void   entity_merge(entity *onto, const entity *changes); /* the properties of `changes` win */

/* Azure's formula for the size of a stored entity, in bytes. */
size_t entity_bytes(const entity *e);

/* Everything that Azure would refuse: RES_INVALID (keys, names, types, values) or RES_TOO_LARGE (limits), and
 * *ret_why, one line that names the property and the limit. */
res entity_check(arena *a, const entity *e, str *ret_why) MUST_USE;
/* A key alone: at most 512 units, none of / \ # ? and no control characters; well-formed UTF-8. */
res entity_check_key(arena *a, const char *which, str key, str *ret_why) MUST_USE;

/* Azure orders texts by UTF-16 units, in which U+FFFF comes after emoji: <0, 0, >0. */
int    entity_compare_text(str a, str b);
size_t entity_utf16_units(str s); /* of well-formed UTF-8 */

enum { EDM_TIME_SIZE = 40 };
/* "2026-01-02T03:04:05.1234567Z"; parsing takes 0 to 7 digits and any zone. */
str  edm_time_format(edm_ticks ticks, char out[EDM_TIME_SIZE]);
bool edm_time_parse(str text, edm_ticks *ret) MUST_USE;

const char *edm_name(edm_type type); /* "Edm.Int64" */

#endif
