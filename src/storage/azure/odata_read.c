/* odata_read.c -- entities from the JSON of a table service.
 *
 * An annotation ("n@odata.type":"Edm.Int64") stands in front of its property (Azurite) or behind it (others);
 * beside it nearly always, and then one walk over the members suffices. One that stands elsewhere is found by
 * a second walk, whose cost ODATA_MEMBERS_MAX bounds. Annotations of other kinds, and types that we do not
 * know, are passed over: the property then has the type of its JSON.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "core/base64.h"
#include "core/id.h"
#include "storage/azure/odata.h"

#define TYPE_SUFFIX STR("@odata.type")

static const char *const why_shape = "its answer is no entity";
static const char *const why_value = "a value is not of the type that it is said to have";

/* ---- values ---- */

static bool read_double(const json_val *v, property *p)
{
    str text = json_text(v, STR(""));
    p->real = json_double(v, 0);
    if (str_eq(text, STR("NaN")))
        p->real = (double)NAN;
    else if (str_eq(text, STR("Infinity")))
        p->real = (double)INFINITY;
    else if (str_eq(text, STR("-Infinity")))
        p->real = (double)-INFINITY;
    else
        return json_typeof(v) == JSON_NUMBER;
    return true;
}

static bool read_int64(const json_val *v, property *p)
{
    if (json_typeof(v) == JSON_STRING)
        return str_to_i64(json_text(v, STR("")), &p->integer);
    p->integer = json_int(v, 0);
    return json_typeof(v) == JSON_NUMBER && (p->integer != 0 || json_int(v, 1) == 0);
}

static bool read_int32(const json_val *v, property *p)
{
    return json_typeof(v) == JSON_NUMBER && read_int64(v, p) && p->integer >= INT32_MIN &&
           p->integer <= INT32_MAX;
}

/* In lower case, as an entity keeps it; Azure sends it so. */
static bool read_guid(arena *a, const json_val *v, property *p)
{
    char lower[UUID_TEXT];
    p->text = json_text(v, STR(""));
    if (!id_is_uuid(p->text))
        return false;
    for (size_t i = 0; i < UUID_TEXT; i++)
        lower[i] = str_lower_char(p->text.at[i]);
    if (memcmp(lower, p->text.at, UUID_TEXT) != 0)
        p->text = arena_copy(a, (str){lower, UUID_TEXT});
    return p->text.at != NULL;
}

static bool read_typed(arena *a, const json_val *v, property *p)
{
    bool is_text = json_typeof(v) == JSON_STRING;
    switch (p->type) {
    case EDM_STRING:
        p->text = json_text(v, STR(""));
        return is_text;
    case EDM_INT32:
        return read_int32(v, p);
    case EDM_INT64:
        return read_int64(v, p);
    case EDM_DOUBLE:
        return read_double(v, p);
    case EDM_BOOL:
        p->truth = json_truth(v, false);
        return json_typeof(v) == JSON_BOOL;
    case EDM_DATETIME:
        return is_text && edm_time_parse(json_text(v, STR("")), &p->ticks);
    case EDM_GUID:
        return is_text && read_guid(a, v, p);
    case EDM_BINARY:
        return is_text && base64_decode(a, json_text(v, STR("")), &p->text);
    default:
        return false;
    }
}

/* By its JSON alone. Azurite keeps integers beyond 32 bits that came without an annotation (spec 4.3). */
static edm_type type_of_json(const json_val *v)
{
    property p;
    switch (json_typeof(v)) {
    case JSON_STRING:
        return EDM_STRING;
    case JSON_BOOL:
        return EDM_BOOL;
    case JSON_NUMBER:
        return json_is_real(v) || !read_int64(v, &p) ? EDM_DOUBLE : read_int32(v, &p) ? EDM_INT32 : EDM_INT64;
    default:
        return EDM_COUNT;
    }
}

/* EDM_COUNT for a type that we do not know. */
static edm_type type_named(str name)
{
    static const str names[EDM_COUNT] = {
        [EDM_STRING] = STR_INIT("Edm.String"), [EDM_INT32] = STR_INIT("Edm.Int32"),
        [EDM_INT64] = STR_INIT("Edm.Int64"),   [EDM_DOUBLE] = STR_INIT("Edm.Double"),
        [EDM_BOOL] = STR_INIT("Edm.Boolean"),  [EDM_DATETIME] = STR_INIT("Edm.DateTime"),
        [EDM_GUID] = STR_INIT("Edm.Guid"),     [EDM_BINARY] = STR_INIT("Edm.Binary"),
    };
    edm_type type = EDM_STRING;
    while (type < EDM_COUNT && !str_eq(names[type], name))
        type++;
    return type;
}

static bool read_value(arena *a, const json_val *v, edm_type type, property *p)
{
    p->type = type != EDM_COUNT ? type : type_of_json(v);
    return read_typed(a, v, p);
}

/* ---- entities ---- */

/* Where the reading of one object is. */
typedef struct {
    arena              *a;
    entity             *e;
    const odata_column *schema;
    size_t              columns;
    const json_val     *latest; /* of the last property in e */
    str                 ahead;  /* of an annotation that is waiting for its property: the name, */
    edm_type            ahead_type;
    bool                scattered; /* one stood in front of another property */
} reading;

static edm_type schema_type(const reading *in, str name)
{
    for (size_t i = 0; i < in->columns; i++)
        if (str_eq(str_of(in->schema[i].name), name))
            return in->schema[i].type;
    return EDM_COUNT;
}

/* What every entity has, and no property is; false: it is a property. */
static bool read_system(reading *in, str key, const json_val *v, bool *ret_ok)
{
    str text = json_text(v, (str){NULL, 0});
    *ret_ok = text.at != NULL;
    if (str_eq(key, STR("PartitionKey")))
        in->e->partition = text;
    else if (str_eq(key, STR("RowKey")))
        in->e->row = text;
    else if (str_eq(key, STR("Timestamp")))
        *ret_ok = *ret_ok && edm_time_parse(text, &in->e->timestamp);
    else
        return false;
    return true;
}

static bool add_property(reading *in, str key, const json_val *v)
{
    bool     ok;
    edm_type type = in->schema != NULL ? schema_type(in, key) : EDM_COUNT;
    if (in->ahead.at != NULL && str_eq(in->ahead, key)) {
        type = in->ahead_type;
        in->ahead = (str){NULL, 0};
    }
    if (json_typeof(v) == JSON_NULL) /* not there (spec 4.3); Azure says so of what was selected in vain */
        return true;
    if (read_system(in, key, v, &ok))
        return ok;

    property *p = &in->e->props[in->e->count];
    p->name = key;
    if (!read_value(in->a, v, type, p))
        return false;
    in->latest = v;
    in->e->count++;
    return true;
}

/* "n@odata.type": of the property read last, or of one to come. */
static bool add_annotation(reading *in, str name, edm_type type)
{
    entity *e = in->e;
    if (e->count > 0 && str_eq(e->props[e->count - 1].name, name))
        return read_value(in->a, in->latest, type, &e->props[e->count - 1]);
    in->scattered = in->scattered || in->ahead.at != NULL;
    in->ahead = name;
    in->ahead_type = type;
    return true;
}

static bool is_type_annotation(str key, str *ret_name)
{
    if (!str_ends(key, TYPE_SUFFIX))
        return false;
    *ret_name = str_slice(key, 0, key.len - TYPE_SUFFIX.len);
    return true;
}

static bool add_member(reading *in, str key, const json_val *v)
{
    str name;
    if (str_eq(key, STR("odata.etag"))) {
        in->e->etag = json_text(v, STR(""));
        return true;
    }
    if (is_type_annotation(key, &name))
        return add_annotation(in, name, type_named(json_text(v, STR(""))));
    if (str_starts(key, STR("odata.")) || str_find_char(key, '@') < key.len)
        return true;
    return add_property(in, key, v);
}

/* Annotations that stood away from their property. */
static bool gather(reading *in, const json_val *object)
{
    str name;
    for (json_iter it = json_each(object); json_next(&it);) {
        if (!is_type_annotation(it.key, &name))
            continue;
        const json_val *v = json_get_str(object, name);
        edm_type        type = type_named(json_text(it.value, STR("")));
        for (size_t i = 0; i < in->e->count; i++)
            if (str_eq(in->e->props[i].name, name) && !read_value(in->a, v, type, &in->e->props[i]))
                return false;
    }
    return true;
}

static res read_object(reading *in, const json_val *object, const char **ret_why)
{
    size_t members = json_len(object);
    *ret_why = why_shape;
    if (json_typeof(object) != JSON_OBJECT || members > ODATA_MEMBERS_MAX)
        return RES_UPSTREAM;
    *in->e = (entity){.a = in->a, .props = arena_array(in->a, property, members), .cap = members};
    if (in->e->props == NULL)
        return RES_MEMORY;

    *ret_why = why_value;
    for (json_iter it = json_each(object); json_next(&it);)
        if (!add_member(in, it.key, it.value))
            return RES_UPSTREAM;
    if (in->ahead.at != NULL || in->scattered)
        return gather(in, object) ? RES_OK : RES_UPSTREAM;
    return RES_OK;
}

static res parse(arena *a, str text, const json_val **ret, const char **ret_why)
{
    res r = json_parse(a, text, ret, NULL);
    *ret_why = "its answer is no JSON";
    return r == RES_INVALID ? RES_UPSTREAM : r;
}

res odata_read(arena *a, str text, entity *ret, const char **ret_why)
{
    return odata_read_with_schema(a, text, NULL, 0, ret, ret_why);
}

res odata_read_with_schema(arena *a, str text, const odata_column *schema, size_t columns, entity *ret,
                           const char **ret_why)
{
    const json_val *root = NULL;
    entity          e;
    reading         in = {.a = a, .e = &e, .schema = schema, .columns = columns};
    TRY(parse(a, text, &root, ret_why));
    TRY(read_object(&in, root, ret_why));
    *ret = e;
    return RES_OK;
}

res odata_read_page(arena *a, str text, entity **ret, size_t *ret_count, const char **ret_why)
{
    const json_val *root = NULL;
    TRY(parse(a, text, &root, ret_why));
    const json_val *list = json_get(root, "value");
    size_t          count = json_len(list), i = 0;
    *ret_why = "its answer is no page of entities";
    if (json_typeof(list) != JSON_ARRAY || count > ODATA_ROWS_MAX)
        return RES_UPSTREAM;

    entity *rows = arena_array(a, entity, count);
    if (rows == NULL)
        return RES_MEMORY;
    for (json_iter it = json_each(list); json_next(&it); i++) {
        reading in = {.a = a, .e = &rows[i]};
        TRY(read_object(&in, it.value, ret_why));
        if (rows[i].partition.at == NULL || rows[i].row.at == NULL) {
            *ret_why = "a row has no keys";
            return RES_UPSTREAM;
        }
    }
    *ret = rows;
    *ret_count = count;
    return RES_OK;
}
