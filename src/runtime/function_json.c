/* function_json.c -- see function_json.h.
 *
 * Member names are found in any case, as the host's JSON reader does. %NAME% in schedule, queueName and route
 * stands for a setting; when that is missing the host leaves the function out with an error in its log. So
 * does a timer's here: it counts as disabled, and a line says so. For a route or a queue the load ends with
 * that error, for callers would meet another function or none. A disabled function is excused: nothing will
 * ask for its setting.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/function_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "runtime/config_file.h"
#include "runtime/cron.h"
#include "runtime/route_template.h"

enum { SETTING_NAME_MAX = 255 };

typedef struct {
    arena      *a;
    const char *folder;
    str         prefix;
    function   *fn;
    str        *error;
} reader;

static res refuse(const reader *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

static res refuse(const reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str why = arena_vstrf(r->a, fmt, args);
    va_end(args);
    if (why.at == NULL)
        return config_no_memory(r->error);
    return config_error(r->a, r->error, "%s/function.json: %.*s", r->folder, STR_ARG(why));
}

/* ---- members of a binding ---- */

/* A string; *ret stays as it was when the member is absent or null. */
static res text_member(const reader *r, const json_val *b, size_t i, const char *name, str *ret)
{
    const json_val *v = json_get_nocase(b, str_of(name));
    json_type       t = json_typeof(v);
    if (t == JSON_NONE || t == JSON_NULL)
        return RES_OK;
    if (t != JSON_STRING)
        return refuse(r, "binding %zu: '%s' is not a string", i, name);
    str s = json_text(v, STR(""));
    if (str_find_char(s, '\0') < s.len)
        return refuse(r, "binding %zu: '%s' holds a zero byte", i, name);
    *ret = s;
    return RES_OK;
}

static res bool_member(const reader *r, const json_val *b, size_t i, const char *name, bool *ret)
{
    const json_val *v = json_get_nocase(b, str_of(name));
    json_type       t = json_typeof(v);
    if (t != JSON_NONE && t != JSON_NULL && t != JSON_BOOL)
        return refuse(r, "binding %zu: '%s' is neither true nor false", i, name);
    *ret = json_truth(v, *ret);
    return RES_OK;
}

static res needed_member(const reader *r, const json_val *b, size_t i, const char *name, str *ret)
{
    str s = {NULL, 0};
    res code = text_member(r, b, i, name, &s);
    if (code != RES_OK)
        return code;
    if (s.len == 0)
        return refuse(r, "binding %zu has no '%s'", i, name);
    *ret = s;
    return RES_OK;
}

/* The setting of that name from the environment; NULL when it is not there. */
static const char *setting(str name)
{
    char terminated[SETTING_NAME_MAX + 1];
    if (name.len > SETTING_NAME_MAX)
        return NULL;
    (void)snprintf(terminated, sizeof terminated, "%.*s", STR_ARG(name)); /* it fits */
    return getenv(terminated);
}

/* Replaces each %NAME% by its setting, once: what a setting holds is not looked through again. */
static res resolve(const reader *r, const char *member, str s, str *ret)
{
    buf out;
    buf_init(&out, r->a, 64 * KIB);
    while (s.len > 0) {
        size_t open = str_find_char(s, '%');
        str    after = str_from(s, open + 1);
        size_t close = str_find_char(after, '%');
        buf_add(&out, str_slice(s, 0, open));
        if (open == s.len)
            break;
        str name = str_slice(after, 0, close);
        if (close == after.len || name.len == 0)
            return refuse(r, "'%s' holds a '%%' that encloses no name of a setting", member);
        const char *value = setting(name);
        if (value == NULL)
            return refuse(r, "'%s' needs the setting '%.*s', which is missing", member, STR_ARG(name));
        buf_add(&out, str_of(value));
        s = str_from(after, close + 1);
    }
    if (out.failed)
        return config_no_memory(r->error);
    *ret = out.len > 0 ? buf_str(&out) : STR("");
    return RES_OK;
}

static res resolved_member(const reader *r, const char *member, str *s)
{
    if (r->fn->disabled || str_find_char(*s, '%') == s->len)
        return RES_OK;
    return resolve(r, member, *s, s);
}

/* ---- http ---- */

static res read_auth(const reader *r, const json_val *b, size_t i)
{
    static const struct {
        str        name;
        auth_level level;
    } levels[] = {{STR_INIT("anonymous"), AUTH_ANONYMOUS},
                  {STR_INIT("function"), AUTH_FUNCTION},
                  {STR_INIT("admin"), AUTH_ADMIN}};

    str text = STR("function"); /* the host's default */
    res code = text_member(r, b, i, "authLevel", &text);
    if (code != RES_OK)
        return code;
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
        if (str_eq_nocase(text, levels[k].name)) {
            r->fn->auth = levels[k].level;
            return RES_OK;
        }
    return refuse(r, "binding %zu: 'authLevel' '%.*s' is none of anonymous, function, admin", i,
                  STR_ARG(text));
}

static bool has_method(const function *fn, str method)
{
    for (size_t i = 0; i < fn->method_count; i++)
        if (str_eq_nocase(fn->methods[i], method))
            return true;
    return false;
}

static res add_method(const reader *r, size_t i, const json_val *v, str *methods)
{
    str s = json_text(v, STR(""));
    if (!http_header_name_ok(s))
        return refuse(r, "binding %zu: 'methods' holds something that is not the name of a method", i);
    if (has_method(r->fn, s))
        return RES_OK;
    char *upper = arena_cstr(r->a, s);
    if (upper == NULL)
        return config_no_memory(r->error);
    for (size_t k = 0; k < s.len; k++)
        if (upper[k] >= 'a' && upper[k] <= 'z')
            upper[k] = (char)(upper[k] - ('a' - 'A'));
    methods[r->fn->method_count++] = (str){upper, s.len};
    return RES_OK;
}

/* Absent: all. An empty list is what it says: no method, never a match (spec 6.3). */
static res read_methods(const reader *r, const json_val *b, size_t i)
{
    const json_val *list = json_get_nocase(b, STR("methods"));
    json_type       t = json_typeof(list);
    r->fn->any_method = t == JSON_NONE || t == JSON_NULL;
    if (r->fn->any_method)
        return RES_OK;
    if (t != JSON_ARRAY)
        return refuse(r, "binding %zu: 'methods' is not a list", i);
    if (json_len(list) > FUNCTION_METHODS_MAX)
        return refuse(r, "binding %zu: 'methods' has more than %d entries", i, FUNCTION_METHODS_MAX);

    str *methods = arena_array(r->a, str, json_len(list));
    if (methods == NULL)
        return config_no_memory(r->error);
    r->fn->methods = methods;
    for (json_iter it = json_each(list); json_next(&it);) {
        res code = add_method(r, i, it.value, methods);
        if (code != RES_OK)
            return code;
    }
    return RES_OK;
}

static res read_route(const reader *r, const json_val *b, size_t i)
{
    str route = STR("");
    res code = text_member(r, b, i, "route", &route);
    if (code == RES_OK)
        code = resolved_member(r, "route", &route);
    if (code != RES_OK)
        return code;
    if (str_trim(route).len == 0)
        route = r->fn->name;
    if (str_starts(route, STR("/")) && r->prefix.len > 0)
        return refuse(r, "binding %zu: 'route' begins with a slash", i);
    if (str_starts(route, STR("/")))
        route = str_from(route, 1);
    if (str_starts_nocase(route, STR("admin")) || str_starts_nocase(route, STR("runtime")))
        return refuse(r, "binding %zu: 'route' begins with 'admin' or 'runtime', which the host keeps", i);

    str text =
        arena_strf(r->a, "%.*s%s%.*s", STR_ARG(r->prefix), r->prefix.len > 0 ? "/" : "", STR_ARG(route));
    str why = STR("");
    if (text.at == NULL)
        return config_no_memory(r->error);
    r->fn->route = text;
    code = route_template_parse(r->a, text, &r->fn->template, &why);
    if (code == RES_MEMORY)
        return config_no_memory(r->error);
    return code == RES_OK ? RES_OK : refuse(r, "binding %zu: %.*s", i, STR_ARG(why));
}

static res read_http(const reader *r, const json_val *b, size_t i)
{
    res code = read_auth(r, b, i);
    if (code == RES_OK)
        code = read_methods(r, b, i);
    if (code == RES_OK)
        code = read_route(r, b, i);
    return code;
}

/* ---- timers and queues ---- */

/* The setting that a schedule waits for, when it is not set; else the empty str. A schedule is nothing but
 * its setting, or has none. */
static str missing_setting(str schedule)
{
    size_t len = schedule.len;
    if (len < 3 || schedule.at[0] != '%' || schedule.at[len - 1] != '%')
        return (str){0};
    str name = str_slice(schedule, 1, len - 1);
    return str_find_char(name, '%') == name.len && setting(name) == NULL ? name : (str){0};
}

static res read_timer(const reader *r, const json_val *b, size_t i)
{
    function *fn = r->fn;
    fn->monitored = true;
    res code = needed_member(r, b, i, "schedule", &fn->schedule);
    if (code == RES_OK)
        code = bool_member(r, b, i, "runOnStartup", &fn->run_on_startup);
    if (code == RES_OK)
        code = bool_member(r, b, i, "useMonitor", &fn->monitored);
    str missing = code == RES_OK && !fn->disabled ? missing_setting(fn->schedule) : (str){0};
    if (missing.len > 0) {
        log_warn("timer '%.*s' does not run: the setting %.*s of its schedule is missing", STR_ARG(fn->name),
                 STR_ARG(missing));
        fn->disabled = true;
    }
    if (code == RES_OK)
        code = resolved_member(r, "schedule", &fn->schedule);
    if (code != RES_OK || fn->disabled)
        return code;

    cron unused;
    str  why = STR("");
    code = cron_parse(r->a, fn->schedule, &unused, &why);
    if (code == RES_MEMORY)
        return config_no_memory(r->error);
    return code == RES_OK ? RES_OK : refuse(r, "binding %zu: %.*s", i, STR_ARG(why));
}

/* The storage service's rule: 3 to 63 of a-z, 0-9 and -, no - at either end or twice. */
static bool is_queue_name(str s)
{
    if (s.len < 3 || s.len > 63 || s.at[0] == '-' || s.at[s.len - 1] == '-' || str_has(s, STR("--")))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!((s.at[i] >= 'a' && s.at[i] <= 'z') || (s.at[i] >= '0' && s.at[i] <= '9') || s.at[i] == '-'))
            return false;
    return true;
}

/* The host folds names of queues to lower case. An output's name may hold {expressions}, and is then not ours
 * to judge. */
static res read_queue(const reader *r, const json_val *b, size_t i, binding *ret)
{
    str  name = STR("");
    res  code = needed_member(r, b, i, "queueName", &name);
    bool mine = str_eq_nocase(ret->type, STR("queueTrigger"));
    if (code == RES_OK)
        code = resolved_member(r, "queueName", &name);
    if (code != RES_OK)
        return code;
    char *folded = arena_cstr(r->a, name);
    if (folded == NULL)
        return config_no_memory(r->error);
    for (size_t k = 0; k < name.len; k++)
        folded[k] = str_lower_char(folded[k]);
    ret->queue = (str){folded, name.len};
    bool open = !mine && str_find_char(name, '{') < name.len;
    if (!r->fn->disabled && !open && !is_queue_name(ret->queue))
        return refuse(r, "binding %zu: '%.*s' cannot be the name of a queue", i, STR_ARG(name));
    return RES_OK;
}

/* ---- bindings ---- */

static res read_direction(const reader *r, const json_val *b, size_t i, binding *ret, bool *ret_both)
{
    str text = STR("in"); /* the host's default */
    res code = text_member(r, b, i, "direction", &text);
    if (code != RES_OK)
        return code;
    *ret_both = str_eq_nocase(text, STR("inout"));
    ret->output = str_eq_nocase(text, STR("out"));
    if (!*ret_both && !ret->output && !str_eq_nocase(text, STR("in")))
        return refuse(r, "binding %zu: 'direction' '%.*s' is none of in, out, inout", i, STR_ARG(text));
    return RES_OK;
}

static res read_common(const reader *r, const json_val *b, size_t i, binding *ret)
{
    bool both;
    str  data_type = STR("");
    if (json_typeof(b) != JSON_OBJECT)
        return refuse(r, "binding %zu is not an object", i);
    res code = needed_member(r, b, i, "type", &ret->type);
    if (code == RES_OK)
        code = needed_member(r, b, i, "name", &ret->name);
    if (code == RES_OK)
        code = read_direction(r, b, i, ret, &both);
    if (code == RES_OK)
        code = text_member(r, b, i, "dataType", &data_type);
    if (code != RES_OK)
        return code;
    ret->binary = str_eq_nocase(data_type, STR("binary"));
    if (both)
        r->fn->forwardable = false;
    for (size_t k = 0; k < i; k++)
        if (str_eq_nocase(r->fn->bindings[k].name, ret->name))
            return refuse(r, "bindings %zu and %zu are both named '%.*s'", k, i, STR_ARG(ret->name));
    return RES_OK;
}

static res read_trigger(const reader *r, const json_val *b, size_t i, const binding *x)
{
    function *fn = r->fn;
    if (x->output)
        return refuse(r, "binding %zu is a trigger with the direction out", i);
    if (fn->trigger_binding != NULL)
        return refuse(r, "has two triggers, '%.*s' and '%.*s'", STR_ARG(fn->trigger_binding->name),
                      STR_ARG(x->name));
    fn->trigger_binding = x;
    if (str_eq_nocase(x->type, STR("httpTrigger"))) {
        fn->trigger = TRIGGER_HTTP;
        return read_http(r, b, i);
    }
    if (str_eq_nocase(x->type, STR("timerTrigger"))) {
        fn->trigger = TRIGGER_TIMER;
        return read_timer(r, b, i);
    }
    fn->trigger = str_eq_nocase(x->type, STR("queueTrigger")) ? TRIGGER_QUEUE : TRIGGER_OTHER;
    return RES_OK;
}

static res read_binding(const reader *r, const json_val *b, size_t i, binding *x)
{
    res code = read_common(r, b, i, x);
    if (code == RES_OK &&
        (str_eq_nocase(x->type, STR("queueTrigger")) || str_eq_nocase(x->type, STR("queue"))))
        code = read_queue(r, b, i, x);
    if (code == RES_OK && str_ends_nocase(x->type, STR("Trigger")))
        code = read_trigger(r, b, i, x);
    if (code == RES_OK && x->output && str_eq_nocase(x->type, STR("http")) && r->fn->http_output == NULL)
        r->fn->http_output = x;
    return code;
}

static res read_bindings(const reader *r, const json_val *doc)
{
    function       *fn = r->fn;
    const json_val *list = json_get_nocase(doc, STR("bindings"));
    if (json_typeof(list) != JSON_ARRAY)
        return refuse(r, "'bindings' is missing or not a list");
    size_t n = json_len(list);
    if (n > FUNCTION_BINDINGS_MAX)
        return refuse(r, "has more than %d bindings", FUNCTION_BINDINGS_MAX);

    binding *all = arena_array(r->a, binding, n);
    if (all == NULL)
        return config_no_memory(r->error);
    fn->bindings = all;
    fn->forwardable = true; /* until something says otherwise */
    size_t outputs = 0;
    for (json_iter it = json_each(list); json_next(&it);) {
        res code = read_binding(r, it.value, fn->binding_count, &all[fn->binding_count]);
        if (code != RES_OK)
            return code;
        outputs += all[fn->binding_count++].output;
    }
    if (fn->trigger_binding == NULL)
        return refuse(r, "has no binding whose type ends in 'Trigger'");
    fn->forwardable =
        fn->forwardable && fn->trigger == TRIGGER_HTTP && n == 2 && outputs == 1 && fn->http_output != NULL;
    return RES_OK;
}

/* ---- the file ---- */

/* "disabled" is true, or names a setting that says so; or AzureWebJobs.NAME.Disabled does, with underscores
 * where dots are not allowed. */
static res read_disabled(const reader *r, const json_val *doc)
{
    const json_val *v = json_get_nocase(doc, STR("disabled"));
    json_type       t = json_typeof(v);
    bool            off = json_truth(v, false);
    if (t == JSON_STRING) {
        str name = json_text(v, STR(""));
        if (name.len > 2 && name.at[0] == '%' && name.at[name.len - 1] == '%')
            name = str_slice(name, 1, name.len - 1);
        const char *value = setting(name);
        off = value != NULL && config_bool(str_of(value), &off) && off;
    } else if (t != JSON_NONE && t != JSON_NULL && t != JSON_BOOL)
        return refuse(r, "'disabled' is neither true, false nor the name of a setting");

    for (const char *dots = "._"; *dots != '\0'; dots++) {
        char        name[FUNCTION_NAME_MAX + 32];
        char        dot = *dots;
        int         n = snprintf(name, sizeof name, "AzureWebJobs%c%s%cDisabled", dot, r->folder, dot);
        const char *value = n > 0 && (size_t)n < sizeof name ? getenv(name) : NULL;
        bool        yes;
        if (value != NULL && config_bool(str_of(value), &yes))
            off = off || yes;
    }
    r->fn->disabled = off;
    return RES_OK;
}

static bool is_name(str s)
{
    bool letter = s.len > 0 && str_lower_char(s.at[0]) >= 'a' && str_lower_char(s.at[0]) <= 'z';
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.at[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return letter && s.len <= FUNCTION_NAME_MAX && !str_eq_nocase(s, STR("host"));
}

res function_json_read(arena *a, const char *root, const char *folder, str route_prefix, function *ret,
                       str *ret_error)
{
    function        fn = {0};
    reader          r = {.a = a, .folder = folder, .prefix = route_prefix, .fn = &fn, .error = ret_error};
    const json_val *doc = NULL;
    str             file = arena_strf(a, "%s/function.json", folder);
    if (file.at == NULL)
        return config_no_memory(ret_error);
    res code = config_file_read(a, root, file.at, &doc, ret_error);
    if (code != RES_OK)
        return code;
    if (!is_name(str_of(folder)))
        return refuse(
            &r, "the folder's name is not a letter and up to 127 letters, digits, _ and -, or is 'host'");

    fn.name = arena_copy(a, str_of(folder));
    if (fn.name.at == NULL)
        return config_no_memory(ret_error);
    code = read_disabled(&r, doc);
    if (code == RES_OK)
        code = read_bindings(&r, doc);
    if (code == RES_OK)
        *ret = fn;
    return code;
}
