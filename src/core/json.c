/* json.c -- JSON over yyjson, with its memory taken from the arena.
 *
 * yyjson reads and writes without recursion, so depth is bounded only for those who walk a document. It keeps
 * the values of one in a flat array, each container knowing where it ends: that is what the walks here use.
 *
 * A tree being built is one yyjson document, shared by the `json` of all its containers. Outside tasks an
 * allocation may fail, and a tree that lacks a member must not be mistaken for a whole one: so a failure
 * sticks to the tree, and printing it gives nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "core/json.h"

#include <math.h>
#include <string.h>
#include <yyjson.h>

#include "canon_number.h"

/* ---- memory ---- */

static void *alc_malloc(void *ctx, size_t size)
{
    return arena_alloc(ctx, size);
}

static void *alc_realloc(void *ctx, void *at, size_t old_size, size_t size)
{
    return arena_regrow(ctx, at, old_size, size);
}

static void alc_free(void *ctx, void *at)
{
    (void)ctx;
    (void)at; /* the arena's, all at once */
}

static yyjson_alc alc_of(arena *a)
{
    return (yyjson_alc){.malloc = alc_malloc, .realloc = alc_realloc, .free = alc_free, .ctx = a};
}

/* ---- reading ---- */

/* yyjson asks for values that it could change, and does not. */
static yyjson_val *plain(const json_val *v)
{
    return (yyjson_val *)(uintptr_t)v;
}

/* RES_INVALID when containers are nested deeper than JSON_DEPTH_MAX. A text with no more containers than that
 * needs no look. */
static res check_depth(arena *a, yyjson_val *root, size_t count)
{
    size_t containers = 0, depth = 0;
    for (size_t i = 0; i < count; i++)
        containers += yyjson_is_ctn(root + i);
    if (containers <= JSON_DEPTH_MAX)
        return RES_OK;

    yyjson_val **ends = arena_alloc(a, JSON_DEPTH_MAX * sizeof *ends); /* of the containers around a value */
    if (ends == NULL)
        return RES_MEMORY;
    for (yyjson_val *v = root; v < root + count; v++) {
        while (depth > 0 && v >= ends[depth - 1])
            depth--;
        if (!yyjson_is_ctn(v))
            continue;
        if (depth == JSON_DEPTH_MAX)
            return RES_INVALID;
        ends[depth++] = unsafe_yyjson_get_next(v);
    }
    return RES_OK;
}

static res refuse(json_error *err, size_t offset, const char *text)
{
    if (err != NULL)
        *err = (json_error){.offset = offset, .text = text};
    return RES_INVALID;
}

res json_parse(arena *a, str text, const json_val **ret, json_error *err)
{
    yyjson_alc      alc = alc_of(a);
    yyjson_read_err problem = {0};
    /* Without YYJSON_READ_INSITU the text is only read. A number too large for a double is JSON all the same.
     */
    char           *at = (char *)(uintptr_t)(text.len > 0 ? text.at : "");

    yyjson_doc *doc = yyjson_read_opts(at, text.len, YYJSON_READ_BIGNUM_AS_RAW, &alc, &problem);
    if (doc == NULL && problem.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return RES_MEMORY;
    if (doc == NULL)
        return refuse(err, problem.pos, problem.msg);

    res r = check_depth(a, yyjson_doc_get_root(doc), yyjson_doc_get_val_count(doc));
    if (r == RES_INVALID)
        return refuse(err, 0, "nested too deeply");
    if (r == RES_OK)
        *ret = yyjson_doc_get_root(doc);
    return r;
}

json_type json_typeof(const json_val *v)
{
    switch (yyjson_get_type(plain(v))) {
    case YYJSON_TYPE_NULL:
        return JSON_NULL;
    case YYJSON_TYPE_BOOL:
        return JSON_BOOL;
    case YYJSON_TYPE_NUM:
    case YYJSON_TYPE_RAW: /* a number that fits no type */
        return JSON_NUMBER;
    case YYJSON_TYPE_STR:
        return JSON_STRING;
    case YYJSON_TYPE_ARR:
        return JSON_ARRAY;
    case YYJSON_TYPE_OBJ:
        return JSON_OBJECT;
    default:
        return JSON_NONE;
    }
}

static const json_val *last_match(const json_val *object, str key, bool (*same)(str, str))
{
    const json_val *found = NULL;
    if (!yyjson_is_obj(plain(object)))
        return NULL;
    for (json_iter it = json_each(object); json_next(&it);)
        if (same(it.key, key))
            found = it.value;
    return found;
}

const json_val *json_get(const json_val *object, const char *key)
{
    return last_match(object, str_of(key), str_eq);
}

const json_val *json_get_str(const json_val *object, str key)
{
    return last_match(object, key, str_eq);
}

const json_val *json_get_nocase(const json_val *object, str key)
{
    return last_match(object, key, str_eq_nocase);
}

str json_text(const json_val *v, str otherwise)
{
    if (!yyjson_is_str(plain(v)))
        return otherwise;
    return (str){yyjson_get_str(plain(v)), yyjson_get_len(plain(v))};
}

bool json_truth(const json_val *v, bool otherwise)
{
    return yyjson_is_bool(plain(v)) ? yyjson_get_bool(plain(v)) : otherwise;
}

/* Both bounds are doubles: -2^63 is the least int64, and 2^63 the first number that is none. */
static int64_t whole(double d, int64_t otherwise)
{
    return d >= -0x1p63 && d < 0x1p63 && d == trunc(d) ? (int64_t)d : otherwise;
}

int64_t json_int(const json_val *v, int64_t otherwise)
{
    if (yyjson_is_sint(plain(v)))
        return yyjson_get_sint(plain(v));
    if (yyjson_is_uint(plain(v)))
        return yyjson_get_uint(plain(v)) <= INT64_MAX ? (int64_t)yyjson_get_uint(plain(v)) : otherwise;
    return yyjson_is_real(plain(v)) ? whole(yyjson_get_real(plain(v)), otherwise) : otherwise;
}

double json_double(const json_val *v, double otherwise)
{
    if (yyjson_is_num(plain(v)))
        return yyjson_get_num(plain(v));
    if (!yyjson_is_raw(plain(v)))
        return otherwise;
    double d = canon_number_parse((str){yyjson_get_raw(plain(v)), yyjson_get_len(plain(v))});
    return isfinite(d) ? d : otherwise;
}

bool json_is_real(const json_val *v)
{
    if (!yyjson_is_raw(plain(v)))
        return yyjson_is_real(plain(v));
    str digits = {yyjson_get_raw(plain(v)), yyjson_get_len(plain(v))};
    return str_find_char(digits, '.') < digits.len || str_find_char(digits, 'e') < digits.len ||
           str_find_char(digits, 'E') < digits.len;
}

size_t json_len(const json_val *v)
{
    return yyjson_is_ctn(plain(v)) ? yyjson_get_len(plain(v)) : 0;
}

const json_val *json_at(const json_val *array, size_t i)
{
    return yyjson_arr_get(plain(array), i);
}

json_iter json_each(const json_val *v)
{
    size_t len = json_len(v);
    return (json_iter){.next = len > 0 ? unsafe_yyjson_get_first(plain(v)) : NULL,
                       .left = len,
                       .members = yyjson_is_obj(plain(v))};
}

bool json_next(json_iter *it)
{
    if (it->left == 0)
        return false;
    it->left--;
    it->value = it->next;
    if (it->members) {
        it->key = json_text(it->next, (str){NULL, 0});
        it->value = it->next + 1;
    }
    it->next = unsafe_yyjson_get_next(plain(it->value));
    return true;
}

str json_print_val(arena *a, const json_val *v)
{
    yyjson_alc alc = alc_of(a);
    size_t     len = 0;
    char      *text = yyjson_val_write_opts(plain(v), YYJSON_WRITE_NOFLAG, &alc, &len, NULL);
    return (str){text, text != NULL ? len : 0};
}

/* ---- building ---- */

typedef struct {
    arena          *a;
    yyjson_mut_doc *doc;
    bool            failed; /* something is missing */
} tree;

struct json {
    tree           *tree;
    yyjson_mut_val *val;
};

/* Length of the well-formed sequence at p, or 0; then *bad is how many bytes make one U+FFFD: as many as
 * might have begun a sequence (Unicode, section 3.9, "maximal subparts"). */
static size_t sequence(const unsigned char *p, size_t left, size_t *bad)
{
    size_t        need = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;

    *bad = 1;
    if ((p[0] >= 0x80 && p[0] < 0xC2) || p[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if (i == left || p[i] < low || p[i] > high)
            return 0;
        *bad = i + 1;
        low = 0x80;
        high = 0xBF;
    }
    return need;
}

/* A copy with U+FFFD for whatever is not UTF-8; at most three times as long. */
static str repaired(arena *a, str s)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    enum { REPLACEMENT_BYTES = sizeof replacement - 1 };
    const unsigned char *in = (const unsigned char *)s.at;
    char                *out = arena_zalloc_array(a, s.len, REPLACEMENT_BYTES);
    size_t               len = 0;
    if (out == NULL)
        return (str){NULL, 0};

    for (size_t i = 0; i < s.len;) {
        size_t bad, good = sequence(in + i, s.len - i, &bad);
        if (good > 0)
            memcpy(out + len, in + i, good);
        else
            memcpy(out + len, replacement, REPLACEMENT_BYTES);
        len += good > 0 ? good : REPLACEMENT_BYTES;
        i += good > 0 ? good : bad;
    }
    return (str){out, len};
}

static yyjson_mut_val *text_val(tree *t, str s)
{
    if (s.len == 0)
        return yyjson_mut_strn(t->doc, "", 0);
    if (str_is_utf8(s))
        return yyjson_mut_strncpy(t->doc, s.at, s.len);
    str clean = repaired(t->a, s);
    return yyjson_mut_strn(t->doc, clean.at, clean.len);
}

/* In place of a member of that name if there is one, else at the end. NULL for either is a failed allocation.
 * Returns the value as it stands in the object, since replacing copies it over the old one. */
static yyjson_mut_val *put(json *object, yyjson_mut_val *key, yyjson_mut_val *val)
{
    if (yyjson_mut_obj_replace(object->val, key, val))
        return yyjson_mut_obj_getn(object->val, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
    if (yyjson_mut_obj_add(object->val, key, val))
        return val;
    object->tree->failed = true;
    return NULL;
}

static yyjson_mut_val *set(json *object, const char *key, yyjson_mut_val *val)
{
    return put(object, yyjson_mut_str(object->tree->doc, key), val);
}

static void push(json *array, yyjson_mut_val *val)
{
    if (!yyjson_mut_arr_append(array->val, val))
        array->tree->failed = true;
}

static json *wrap(tree *t, yyjson_mut_val *val)
{
    json *j = val != NULL ? arena_one(t->a, json) : NULL;
    if (j == NULL) {
        t->failed = true;
        return NULL;
    }
    *j = (json){.tree = t, .val = val};
    return j;
}

static tree *new_tree(arena *a)
{
    yyjson_alc alc = alc_of(a);
    tree      *t = arena_one(a, tree);
    if (t == NULL)
        return NULL;
    *t = (tree){.a = a, .doc = yyjson_mut_doc_new(&alc)};
    return t->doc != NULL ? t : NULL;
}

json *json_object(arena *a)
{
    tree *t = new_tree(a);
    return t != NULL ? wrap(t, yyjson_mut_obj(t->doc)) : NULL;
}

json *json_array(arena *a)
{
    tree *t = new_tree(a);
    return t != NULL ? wrap(t, yyjson_mut_arr(t->doc)) : NULL;
}

void json_set_str(json *object, const char *key, str value)
{
    if (object != NULL)
        set(object, key, text_val(object->tree, value));
}

void json_set_int(json *object, const char *key, int64_t value)
{
    if (object != NULL)
        set(object, key, yyjson_mut_sint(object->tree->doc, value));
}

/* As JavaScript prints it, whatever yyjson's own taste. */
void json_set_double(json *object, const char *key, double value)
{
    char digits[CANON_NUMBER_SIZE];
    if (object == NULL)
        return;
    str text = canon_number(value, digits);
    set(object, key, yyjson_mut_rawncpy(object->tree->doc, text.at, text.len));
}

void json_set_bool(json *object, const char *key, bool value)
{
    if (object != NULL)
        set(object, key, yyjson_mut_bool(object->tree->doc, value));
}

void json_set_null(json *object, const char *key)
{
    if (object != NULL)
        set(object, key, yyjson_mut_null(object->tree->doc));
}

static json *set_container(json *object, const char *key, yyjson_mut_val *val)
{
    return wrap(object->tree, set(object, key, val));
}

static json *push_container(json *array, yyjson_mut_val *val)
{
    push(array, val);
    return wrap(array->tree, val);
}

json *json_set_object(json *object, const char *key)
{
    return object != NULL ? set_container(object, key, yyjson_mut_obj(object->tree->doc)) : NULL;
}

json *json_set_array(json *object, const char *key)
{
    return object != NULL ? set_container(object, key, yyjson_mut_arr(object->tree->doc)) : NULL;
}

void json_set_val(json *object, const char *key, const json_val *value)
{
    if (object != NULL && value != NULL)
        set(object, key, yyjson_val_mut_copy(object->tree->doc, plain(value)));
}

void json_set_json(json *object, const char *key, const json *value)
{
    if (object != NULL && value != NULL)
        set(object, key, yyjson_mut_val_mut_copy(object->tree->doc, value->val));
}

void json_set_str_at(json *object, str key, str value)
{
    if (object != NULL)
        put(object, text_val(object->tree, key), text_val(object->tree, value));
}

void json_push_str(json *array, str value)
{
    if (array != NULL)
        push(array, text_val(array->tree, value));
}

void json_push_int(json *array, int64_t value)
{
    if (array != NULL)
        push(array, yyjson_mut_sint(array->tree->doc, value));
}

void json_push_val(json *array, const json_val *value)
{
    if (array != NULL && value != NULL)
        push(array, yyjson_val_mut_copy(array->tree->doc, plain(value)));
}

json *json_push_object(json *array)
{
    return array != NULL ? push_container(array, yyjson_mut_obj(array->tree->doc)) : NULL;
}

json *json_push_array(json *array)
{
    return array != NULL ? push_container(array, yyjson_mut_arr(array->tree->doc)) : NULL;
}

static str print(arena *a, const json *v, yyjson_write_flag how)
{
    yyjson_alc alc = alc_of(a);
    size_t     len = 0;
    if (v == NULL || v->tree->failed)
        return (str){NULL, 0};
    char *text = yyjson_mut_val_write_opts(v->val, how, &alc, &len, NULL);
    return (str){text, text != NULL ? len : 0};
}

str json_print(arena *a, const json *v)
{
    return print(a, v, YYJSON_WRITE_NOFLAG);
}

str json_print_pretty(arena *a, const json *v)
{
    return print(a, v, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END);
}
