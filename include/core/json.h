/* json.h -- JSON for handlers: read a text, build a text. yyjson does the work; all memory is the arena's.
 *
 * Reading gives json_val, which cannot be changed; every getter accepts NULL, so that chains need no checks:
 *     json_int(json_get(json_get(doc, "RetryContext"), "RetryCount"), 0)
 * Of duplicate keys the last wins, as in JavaScript. Depth is limited to JSON_DEPTH_MAX, so no reader
 * recurses out of its stack. Strings are checked UTF-8; a str from here is a view into the document.
 *
 * Building gives json, changed in place; strings are copied. Each key is set once: it is not looked for. Text
 * that is not UTF-8 is written with U+FFFD for bad bytes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_JSON_H
#define TRESTLE_CORE_JSON_H

#include "core/arena.h"
#include "core/res.h"

enum { JSON_DEPTH_MAX = 512 };

/* ---- reading ---- */

typedef struct yyjson_val json_val;

typedef struct {
    size_t      offset; /* of the byte that is wrong */
    const char *text;   /* "unexpected character", static */
} json_error;

typedef enum { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;

/* RES_INVALID and *err (may be NULL) when it is not one JSON text; a BOM is not accepted. The text may be
 * freed afterwards. */
res json_parse(arena *a, str text, const json_val **ret, json_error *err) MUST_USE;

json_type       json_typeof(const json_val *v); /* NULL: JSON_NONE */
const json_val *json_get(const json_val *object, const char *key);
const json_val *json_get_str(const json_val *object, str key);
const json_val *json_get_nocase(const json_val *object, str key);
str             json_text(const json_val *v, str otherwise); /* strings only */
bool            json_truth(const json_val *v, bool otherwise);
int64_t json_int(const json_val *v, int64_t otherwise); /* integers, and reals that are whole and in range */
double  json_double(const json_val *v, double otherwise); /* otherwise also for what overflows, as 1e400 */
/* A number written with a point or an exponent, as 3.0, which some formats tell apart from 3. */
bool    json_is_real(const json_val *v);
size_t  json_len(const json_val *v); /* elements or members; else 0 */
const json_val *json_at(const json_val *array, size_t i);

/* for (json_iter it = json_each(v); json_next(&it);) use it.key (members only) and it.value */
typedef struct {
    const json_val *value;
    str             key;
    const json_val *next; /* the walk's own */
    size_t          left;
    bool            members;
} json_iter;
json_iter json_each(const json_val *v);
bool      json_next(json_iter *it);

/* The text of a value, compact. Numbers beyond 64 bits, or beyond a double, keep their digits. */
str json_print_val(arena *a, const json_val *v);

/* ---- building ----
 *
 * Setting a key again replaces its value, in its place. All of these accept NULL for the tree and then do
 * nothing: outside tasks, where memory may run out, the failure shows in json_print alone. */

typedef struct json json;

json *json_object(arena *a);
json *json_array(arena *a);
void  json_set_str(json *object, const char *key, str value);
void  json_set_int(json *object, const char *key, int64_t value);
void  json_set_double(json *object, const char *key, double value); /* not finite: null */
void  json_set_bool(json *object, const char *key, bool value);
void  json_set_null(json *object, const char *key);
json *json_set_object(json *object, const char *key); /* a new one inside; returned to be filled */
json *json_set_array(json *object, const char *key);
void  json_set_val(json *object, const char *key, const json_val *value); /* a copy; NULL sets nothing */
void  json_set_json(json *object, const char *key, const json *value);    /* likewise of a built one */
/* The same with a key that is not a literal (copied), and for elements of an array. */
void  json_set_str_at(json *object, str key, str value);
void  json_push_str(json *array, str value);
void  json_push_int(json *array, int64_t value);
void  json_push_val(json *array, const json_val *value);
json *json_push_object(json *array);
json *json_push_array(json *array);

/* Compact. Empty (which JSON never is) when memory ran out while the tree was built or now. */
str json_print(arena *a, const json *v);
/* The same for people: a line for each value, indented by two blanks, and a newline at the end. */
str json_print_pretty(arena *a, const json *v);

#endif
