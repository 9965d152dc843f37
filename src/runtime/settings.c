/* settings.c -- local.settings.json: its Values become the environment, where that has none of the name.
 *
 * Values may be secrets, so no message here holds one. The names that came from the file are remembered for
 * settings_came_from_file, in the arena that outlives them all; should it be freed (in tests), the list is
 * forgotten first.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "runtime/config_file.h"
#include "runtime/functions.h"

enum { SETTINGS_MAX = 4096 };

typedef struct given {
    const char   *name;
    struct given *next;
} given;

static given *all_given;

static void forget(void *unused)
{
    (void)unused;
    all_given = NULL;
}

bool settings_came_from_file(const char *name)
{
    for (const given *g = all_given; g != NULL; g = g->next)
        if (str_eq(str_of(g->name), str_of(name)))
            return true;
    return false;
}

static res refuse(arena *a, str *ret_error, str name, const char *why)
{
    return config_error(a, ret_error, "local.settings.json: the value '%.*s' %s", STR_ARG(name), why);
}

/* Strings as they are, numbers and booleans as JSON writes them. */
static res value_text(arena *a, str name, const json_val *v, str *ret, str *ret_error)
{
    json_type t = json_typeof(v);
    if (t != JSON_STRING && t != JSON_NUMBER && t != JSON_BOOL)
        return refuse(a, ret_error, name,
                      "is a list or an object; only strings, numbers and booleans can be set");
    *ret = t == JSON_STRING ? json_text(v, STR("")) : json_print_val(a, v);
    if (ret->at == NULL && ret->len == 0 && t != JSON_STRING)
        return config_no_memory(ret_error);
    if (str_find_char(*ret, '\0') < ret->len)
        return refuse(a, ret_error, name, "holds a zero byte");
    return RES_OK;
}

static res set_one(arena *a, str name, const json_val *v, str *ret_error)
{
    str text = STR("");
    if (name.len == 0 || str_find_char(name, '=') < name.len || str_find_char(name, '\0') < name.len)
        return refuse(a, ret_error, name, "has a name that the environment cannot hold");
    if (json_typeof(v) == JSON_NULL)
        return RES_OK;
    res code = value_text(a, name, v, &text, ret_error);
    if (code != RES_OK)
        return code;

    char  *key = arena_cstr(a, name);
    char  *value = arena_cstr(a, text);
    given *g = arena_one(a, given);
    if (key == NULL || value == NULL || g == NULL)
        return config_no_memory(ret_error);
    if (getenv(key) != NULL)
        return RES_OK;
    if (setenv(key, value, 1) != 0)
        return config_no_memory(ret_error);
    *g = (given){key, all_given};
    all_given = g;
    return RES_OK;
}

res settings_load(arena *a, const char *root, str *ret_error)
{
    const json_val *doc = NULL;
    res             code = config_file_read(a, root, "local.settings.json", &doc, ret_error);
    if (code == RES_NOT_FOUND)
        return RES_OK;
    if (code != RES_OK)
        return code;
    if (json_truth(json_get_nocase(doc, STR("IsEncrypted")), false))
        return config_error(a, ret_error,
                            "local.settings.json: is encrypted; decrypt it with 'func settings decrypt'");

    const json_val *values = json_get_nocase(doc, STR("Values"));
    json_type       t = json_typeof(values);
    if (t == JSON_NONE || t == JSON_NULL)
        return RES_OK;
    if (t != JSON_OBJECT)
        return config_error(a, ret_error, "local.settings.json: 'Values' is not an object");
    if (json_len(values) > SETTINGS_MAX)
        return config_error(a, ret_error, "local.settings.json: has more than %d values", SETTINGS_MAX);
    if (!arena_defer(a, forget, NULL))
        return config_no_memory(ret_error);
    for (json_iter it = json_each(values); json_next(&it);) {
        code = set_one(a, it.key, it.value, ret_error);
        if (code != RES_OK)
            return code;
    }
    return RES_OK;
}
