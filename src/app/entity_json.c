/* entity_json.c -- see entity_json.h.
 *
 * SPDX-License-Identifier: MIT */
#include "app/entity_json.h"

#include <math.h>

#include "core/base64.h"
#include "core/json.h"

static const char TYPE_SUFFIX[] = "@odata.type";

/* ---- writing ---- */

static str double_word(double d)
{
    if (isnan(d))
        return STR("NaN");
    return d > 0 ? STR("Infinity") : STR("-Infinity");
}

static void set_value(arena *a, json *line, const char *name, const property *p)
{
    char text[EDM_TIME_SIZE];
    switch (p->type) {
    case EDM_INT32:
        json_set_int(line, name, p->integer);
        break;
    case EDM_INT64:
        json_set_str(line, name, arena_strf(a, "%lld", (long long)p->integer));
        break;
    case EDM_DOUBLE:
        if (isfinite(p->real))
            json_set_double(line, name, p->real);
        else
            json_set_str(line, name, double_word(p->real));
        break;
    case EDM_BOOL:
        json_set_bool(line, name, p->truth);
        break;
    case EDM_DATETIME:
        json_set_str(line, name, edm_time_format(p->ticks, text));
        break;
    case EDM_BINARY:
        json_set_str(line, name, base64_encode(a, p->text));
        break;
    default: /* EDM_STRING, EDM_GUID */
        json_set_str(line, name, p->text);
        break;
    }
}

static bool speaks_for_itself(edm_type type)
{
    return type == EDM_STRING || type == EDM_INT32 || type == EDM_BOOL;
}

str entity_to_json(arena *a, const entity *e)
{
    json *line = json_object(a);
    json_set_str(line, "PartitionKey", e->partition);
    json_set_str(line, "RowKey", e->row);
    for (size_t i = 0; i < e->count; i++) {
        const property *p = &e->props[i];
        if (!speaks_for_itself(p->type))
            json_set_str_at(line, arena_strf(a, "%.*s%s", STR_ARG(p->name), TYPE_SUFFIX),
                            str_of(edm_name(p->type)));
        set_value(a, line, arena_cstr(a, p->name), p);
    }
    return json_print(a, line);
}

/* ---- reading ---- */

static bool read_type(const json_val *name, const json_val *value, edm_type *ret)
{
    if (name == NULL) {
        json_type t = json_typeof(value);
        *ret = t == JSON_STRING ? EDM_STRING : t == JSON_BOOL ? EDM_BOOL : EDM_INT32;
        return t == JSON_STRING || t == JSON_BOOL || t == JSON_NUMBER;
    }
    for (int type = 0; type < EDM_COUNT; type++)
        if (str_eq(json_text(name, (str){0}), str_of(edm_name((edm_type)type)))) {
            *ret = (edm_type)type;
            return true;
        }
    return false;
}

static bool read_double(const json_val *value, double *ret)
{
    str word = json_text(value, (str){0});
    *ret = str_eq(word, STR("NaN"))         ? (double)NAN
           : str_eq(word, STR("Infinity"))  ? (double)INFINITY
           : str_eq(word, STR("-Infinity")) ? -(double)INFINITY
                                            : json_double(value, 0);
    return json_typeof(value) == JSON_NUMBER || !isfinite(*ret);
}

/* INT64_MIN stands for "no whole number": no Int32 has it. */
static bool read_int32(const json_val *value, int64_t *ret)
{
    *ret = json_int(value, INT64_MIN);
    return *ret >= INT32_MIN && *ret <= INT32_MAX;
}

static bool read_value(arena *a, const json_val *value, property *p)
{
    str text = json_text(value, (str){0});
    switch (p->type) {
    case EDM_INT32:
        return read_int32(value, &p->integer);
    case EDM_INT64:
        return str_to_i64(text, &p->integer);
    case EDM_DOUBLE:
        return read_double(value, &p->real);
    case EDM_BOOL:
        p->truth = json_truth(value, false);
        return json_typeof(value) == JSON_BOOL;
    case EDM_DATETIME:
        return edm_time_parse(text, &p->ticks);
    case EDM_BINARY:
        return json_typeof(value) == JSON_STRING && base64_decode(a, text, &p->text);
    default: /* EDM_STRING, EDM_GUID */
        p->text = text;
        return json_typeof(value) == JSON_STRING;
    }
}

static res read_property(arena *a, const json_val *line, str name, const json_val *value, entity *e,
                         str *ret_why)
{
    const json_val *type = json_get_str(line, arena_strf(a, "%.*s%s", STR_ARG(name), TYPE_SUFFIX));
    property        p = {.name = name};
    if (!read_type(type, value, &p.type)) {
        *ret_why = arena_strf(a, "property '%.*s' has no type that tables have", STR_ARG(name));
        return RES_INVALID;
    }
    if (!read_value(a, value, &p)) {
        *ret_why = arena_strf(a, "property '%.*s' is not of type %s", STR_ARG(name), edm_name(p.type));
        return RES_INVALID;
    }
    entity_set(e, &p);
    return RES_OK;
}

res entity_from_json(arena *a, str line, entity *ret, str *ret_why)
{
    const json_val *v;
    json_error      err;
    if (json_parse(a, line, &v, &err) != RES_OK) {
        *ret_why = arena_strf(a, "not JSON: %s at byte %zu", err.text, err.offset);
        return RES_INVALID;
    }
    const json_val *partition = json_get(v, "PartitionKey"), *row = json_get(v, "RowKey");
    if (json_typeof(partition) != JSON_STRING || json_typeof(row) != JSON_STRING) {
        *ret_why = STR("PartitionKey or RowKey is missing");
        return RES_INVALID;
    }
    entity e = entity_new(a, json_text(partition, (str){0}), json_text(row, (str){0}));
    for (json_iter it = json_each(v); json_next(&it);) {
        if (str_eq(it.key, STR("PartitionKey")) || str_eq(it.key, STR("RowKey")) ||
            str_ends(it.key, STR("@odata.type")))
            continue;
        TRY(read_property(a, v, it.key, it.value, &e, ret_why));
    }
    *ret = e;
    return RES_OK;
}
