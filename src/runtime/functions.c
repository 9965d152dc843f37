/* functions.c -- loads the app's functions, keeps them in the host's order, and finds the one for a request.
 *
 * The order is the host's precedence (spec 6.4): the array is sorted once, the numbers in it are the bits of
 * the route index, and the first match from the front is the host's.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/functions.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/config_file.h"
#include "runtime/function_json.h"
#include "runtime/host_json.h"
#include "runtime/route_index.h"

enum { FOLDERS_MAX = 4096, ALLOW_MAX = 64 };

/* ---- order ---- */

static int upper(char c)
{
    return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : (unsigned char)c;
}

int functions_order(str a, str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int order = upper(a.at[i]) - upper(b.at[i]);
        if (order != 0)
            return order;
    }
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

/* Names that differ in case alone: by bytes, so that complaints are the same on every file system. */
static int by_order(const void *left, const void *right)
{
    str a = str_of((*(const struct dirent *const *)left)->d_name);
    str b = str_of((*(const struct dirent *const *)right)->d_name);
    int order = functions_order(a, b);
    return order != 0 ? order : str_compare(a, b);
}

/* ---- folders ---- */

static int may_be_folder(const struct dirent *e)
{
    return e->d_name[0] != '.' && (e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN);
}

/* Adds the function in that folder, if there is one. */
static res load_folder(arena *a, const char *root, const char *folder, function_app *app, str *ret_error)
{
    function fn;
    res      r = function_json_read(a, root, folder, app->host.route_prefix, &fn, ret_error);
    if (r == RES_NOT_FOUND)
        return RES_OK;
    if (r != RES_OK)
        return r;
    if (app->count == FUNCTIONS_MAX)
        return config_error(a, ret_error, "%s: there are more than %d functions", root, FUNCTIONS_MAX);
    if (app->count > 0 && str_eq_nocase(app->all[app->count - 1].name, fn.name))
        return config_error(a, ret_error, "%s/function.json: the name differs from '%.*s' in case alone",
                            folder, STR_ARG(app->all[app->count - 1].name));
    app->all[app->count++] = fn;
    return RES_OK;
}

static res load_folders(arena *a, const char *root, function_app *app, str *ret_error)
{
    struct dirent **list = NULL;
    int             n = scandir(root, &list, may_be_folder, NULL);
    if (n < 0)
        return config_error(a, ret_error, "%s: %s", root, strerror(errno));
    if (n > 0)
        qsort(list, (size_t)n, sizeof *list, by_order);

    res r = RES_OK;
    if (n > FOLDERS_MAX)
        r = config_error(a, ret_error, "%s: holds more than %d folders", root, FOLDERS_MAX);
    app->all = arena_array(a, function, n < FUNCTIONS_MAX ? (size_t)n : FUNCTIONS_MAX);
    if (app->all == NULL)
        r = config_no_memory(ret_error);
    for (int i = 0; i < n; i++) {
        if (r == RES_OK)
            r = load_folder(a, root, list[i]->d_name, app, ret_error);
        free(list[i]);
    }
    free(list);
    return r;
}

/* ---- rows ---- */

/* Not functions_find: a row must spell the folder's name exactly. */
static function *find_exactly(const function_app *app, str name)
{
    function *fn = functions_find(app, name);
    return fn != NULL && str_eq(fn->name, name) ? fn : NULL;
}

/* functionTimeout kills the process (spec 1.5), and with it every other call: a deadline must come first. */
static res check_deadline(arena *a, const function_app *app, const handler *row, str *ret_error)
{
    uint64_t most = app->host.function_timeout_ms;
    if (most > 0 && row->deadline_ms >= most)
        return config_error(a, ret_error,
                            "handlers: the deadline of '%s', %u ms, is not below functionTimeout",
                            row->folder, row->deadline_ms);
    return RES_OK;
}

static res bind_rows(arena *a, function_app *app, const handler *rows, size_t row_count, str *ret_error)
{
    for (size_t i = 0; i < row_count; i++) {
        function *fn = find_exactly(app, str_of(rows[i].folder));
        if (fn == NULL)
            return config_error(a, ret_error, "handlers: '%s' has a row but no folder with a function.json",
                                rows[i].folder);
        if (fn->row != NULL)
            return config_error(a, ret_error, "handlers: '%s' has two rows", rows[i].folder);
        res r = check_deadline(a, app, &rows[i], ret_error);
        if (r != RES_OK)
            return r;
        fn->row = &rows[i];
    }
    for (size_t i = 0; i < app->count; i++)
        if (app->all[i].row == NULL)
            return config_error(a, ret_error,
                                "%.*s/function.json: the function has no row in the table of handlers",
                                STR_ARG(app->all[i].name));
    return RES_OK;
}

/* ---- routes against each other ---- */

static bool takes_method(const function *fn, str method)
{
    for (size_t i = 0; i < fn->method_count; i++)
        if (str_eq_nocase(fn->methods[i], method))
            return true;
    return fn->any_method;
}

static bool share_method(const function *a, const function *b)
{
    if (a->any_method || b->any_method)
        return (a->any_method || a->method_count > 0) && (b->any_method || b->method_count > 0);
    for (size_t i = 0; i < a->method_count; i++)
        if (takes_method(b, a->methods[i]))
            return true;
    return false;
}

static bool is_routed(const function *fn)
{
    return fn->trigger == TRIGGER_HTTP && !fn->disabled && fn->template != NULL;
}

/* The host refuses to load the second of two functions with one template and a common method. */
static res check_same_routes(arena *a, const function_app *app, str *ret_error)
{
    for (size_t i = 0; i < app->count; i++)
        for (size_t k = i + 1; k < app->count; k++) {
            const function *x = &app->all[i], *y = &app->all[k];
            if (is_routed(x) && is_routed(y) && str_eq_nocase(x->route, y->route) && share_method(x, y))
                return config_error(
                    a, ret_error,
                    "%.*s/function.json: route '%.*s' is that of '%.*s' too, with a common method",
                    STR_ARG(y->name), STR_ARG(y->route), STR_ARG(x->name));
        }
    return RES_OK;
}

/* The route as function.json has it. */
static str without_prefix(const function_app *app, const function *fn)
{
    size_t n = app->host.route_prefix.len;
    return n > 0 ? str_from(fn->route, n + 1) : fn->route;
}

static res check_one(arena *a, const function_app *app, size_t i, str *ret_problem)
{
    const function *fn = &app->all[i];
    if (i > 0 && functions_order(app->all[i - 1].name, fn->name) >= 0)
        return config_error(a, ret_problem, "function '%.*s' stands behind '%.*s', out of the host's order",
                            STR_ARG(fn->name), STR_ARG(app->all[i - 1].name));
    if (fn->trigger != TRIGGER_HTTP)
        return RES_OK;
    str route = without_prefix(app, fn);
    if (str_starts_nocase(route, STR("admin")) || str_starts_nocase(route, STR("runtime")))
        return config_error(a, ret_problem, "function '%.*s': route '%.*s' begins with 'admin' or 'runtime'",
                            STR_ARG(fn->name), STR_ARG(route));
    return RES_OK;
}

res functions_check(arena *a, const function_app *app, str *ret_problem)
{
    for (size_t i = 0; i < app->count; i++) {
        const function *x = &app->all[i];
        res             r = check_one(a, app, i, ret_problem);
        if (r != RES_OK)
            return r;
        for (size_t k = i + 1; k < app->count && is_routed(x); k++) {
            const function *y = &app->all[k];
            if (!is_routed(y) || !route_template_overlap(x->template, y->template) || !share_method(x, y) ||
                route_template_compare(x->template, y->template) < 0)
                continue;
            return config_error(
                a, ret_problem,
                "function '%.*s': route '%.*s' gets paths of '%.*s' (function '%.*s'), for the host "
                "takes the first name; rename one folder",
                STR_ARG(x->name), STR_ARG(x->route), STR_ARG(y->route), STR_ARG(y->name));
        }
    }
    return RES_OK;
}

const function *functions_not_forwarded(const function_app *app)
{
    for (size_t i = 0; i < app->count; i++)
        if (app->all[i].trigger == TRIGGER_HTTP && !app->all[i].forwardable)
            return &app->all[i];
    return NULL;
}

/* ---- loading ---- */

static res make_index(arena *a, function_app *app, str *ret_error)
{
    route_template **templates = arena_array(a, route_template *, app->count);
    if (templates == NULL)
        return config_no_memory(ret_error);
    for (size_t i = 0; i < app->count; i++)
        templates[i] = is_routed(&app->all[i]) ? app->all[i].template : NULL;
    app->index = route_index_make(a, templates, app->count);
    return app->index != NULL ? RES_OK : config_no_memory(ret_error);
}

res functions_load(arena *a, const char *root, const handler *rows, size_t row_count, function_app **ret,
                   str *ret_error)
{
    function_app *app = arena_one(a, function_app);
    if (app == NULL)
        return config_no_memory(ret_error);
    res r = host_json_read(a, root, &app->host, ret_error);
    if (r == RES_OK)
        r = load_folders(a, root, app, ret_error);
    if (r == RES_OK)
        r = check_same_routes(a, app, ret_error);
    if (r == RES_OK && rows != NULL)
        r = bind_rows(a, app, rows, row_count, ret_error);
    if (r == RES_OK)
        r = make_index(a, app, ret_error);
    if (r == RES_OK)
        *ret = app;
    return r;
}

/* ---- finding ---- */

/* Names are unique ignoring case: what is found so is also the exact one, if there is an exact one. */
function *functions_find(const function_app *app, str name)
{
    size_t low = 0, high = app->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int    order = functions_order(app->all[middle].name, name);
        if (order == 0)
            return &app->all[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

typedef struct {
    str    methods[ALLOW_MAX];
    size_t count;
} allowed;

static void allow(allowed *all, const function *fn)
{
    for (size_t i = 0; i < fn->method_count; i++) {
        bool known = false;
        for (size_t k = 0; k < all->count; k++)
            known = known || str_eq(all->methods[k], fn->methods[i]);
        if (!known && all->count < ALLOW_MAX)
            all->methods[all->count++] = fn->methods[i];
    }
}

static res refuse_method(arena *a, const allowed *all, str *ret_allow)
{
    if (all->count == 0)
        return RES_NOT_FOUND;
    buf text;
    buf_init(&text, a, 64 * KIB);
    for (size_t i = 0; i < all->count; i++) {
        buf_add(&text, i > 0 ? STR(", ") : STR(""));
        buf_add(&text, all->methods[i]);
    }
    if (text.failed)
        return RES_MEMORY;
    *ret_allow = buf_str(&text);
    return RES_METHOD;
}

static res give(arena *a, function *fn, const http_header *params, size_t count, route_match *ret)
{
    http_header *kept = NULL;
    if (count > 0) {
        kept = arena_alloc(a, count * sizeof *kept);
        if (kept == NULL)
            return RES_MEMORY;
        memcpy(kept, params, count * sizeof *kept);
    }
    *ret = (route_match){.fn = fn, .params = kept, .param_count = count};
    return RES_OK;
}

res functions_route(arena *a, const function_app *app, str method, str path, route_match *ret, str *ret_allow)
{
    route_path  p;
    uint64_t    live[ROUTE_INDEX_WORDS];
    http_header params[ROUTE_PARAMS_MAX];
    size_t      count;
    allowed     others;
    res         r = route_path_cut(a, path, &p);
    if (r != RES_OK)
        return r;

    others.count = 0; /* the rest of it is written before it is read */
    size_t words = route_index_find(app->index, &p, live);
    for (size_t w = 0; w < words; w++)
        for (; live[w] != 0; live[w] &= live[w] - 1) {
            function *fn = &app->all[w * 64 + (size_t)__builtin_ctzll(live[w])];
            if (!route_template_match_cut(fn->template, &p, params, &count))
                continue;
            if (takes_method(fn, method))
                return give(a, fn, params, count, ret);
            allow(&others, fn);
        }
    return refuse_method(a, &others, ret_allow);
}

/* ---- printing ---- */

static void print_trigger(const function *fn, str base_url, buf *out)
{
    if (fn->trigger == TRIGGER_HTTP) {
        buf_add_char(out, '[');
        for (size_t i = 0; i < fn->method_count; i++)
            buf_addf(out, "%s%.*s", i > 0 ? "," : "", STR_ARG(fn->methods[i]));
        buf_addf(out, "%s] %.*s/%.*s", fn->any_method ? "any" : "", STR_ARG(base_url), STR_ARG(fn->route));
        return;
    }
    buf_add(out, fn->trigger_binding->type);
    if (fn->trigger == TRIGGER_TIMER)
        buf_addf(out, " (%.*s)", STR_ARG(fn->schedule));
    if (fn->trigger == TRIGGER_QUEUE)
        buf_addf(out, " (%.*s)", STR_ARG(fn->trigger_binding->queue));
}

void functions_print(const function_app *app, str base_url, buf *out)
{
    size_t widest = 0;
    for (size_t i = 0; i < app->count; i++)
        widest = app->all[i].name.len > widest ? app->all[i].name.len : widest;
    for (size_t i = 0; i < app->count; i++) {
        const function *fn = &app->all[i];
        buf_addf(out, "  %.*s:%*s ", STR_ARG(fn->name), (int)(widest - fn->name.len), "");
        print_trigger(fn, base_url, out);
        buf_add(out, fn->disabled ? STR(" (disabled)\n") : STR("\n"));
    }
}
