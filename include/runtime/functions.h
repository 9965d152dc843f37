/* functions.h -- the app's functions: which folders there are, what each is triggered by, and which C
 * function serves it.
 *
 * Trigger, methods, route and auth level are read from FOLDER/function.json at start, and from nowhere else.
 * Every folder must have its row in the table of handlers and every row its folder: otherwise the program
 * ends with one clear line.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FUNCTIONS_H
#define TRESTLE_RUNTIME_FUNCTIONS_H

#include "core/buf.h"
#include "runtime/http.h"

/* One row of the app's table. */
typedef struct {
    const char *folder;
    handler_fn *run;
    uint32_t    deadline_ms; /* below host.json's functionTimeout, which kills the process */
    uint32_t    body_max;    /* bytes; 0: a request with a body is refused with 413 */
} handler;

typedef enum { TRIGGER_HTTP, TRIGGER_TIMER, TRIGGER_QUEUE, TRIGGER_OTHER } trigger_kind;
typedef enum { AUTH_ANONYMOUS, AUTH_FUNCTION, AUTH_ADMIN } auth_level;

typedef struct {
    str  type, name;
    bool output; /* direction "out" */
    bool binary; /* dataType "binary" */
    str  queue;  /* queueName, %SETTINGS% resolved */
} binding;

typedef struct route_template route_template;

typedef struct {
    str            name; /* the folder's */
    const handler *row;
    trigger_kind   trigger;
    const binding *bindings;
    size_t         binding_count;
    const binding *trigger_binding;
    const binding *http_output; /* NULL: none */
    bool           forwardable; /* exactly one httpTrigger and one http output (spec 5.1) */
    bool           disabled;    /* "disabled": true in function.json, or AzureWebJobs.NAME.Disabled */
    /* http */
    auth_level     auth;
    bool           any_method; /* "methods" absent */
    const str     *methods;    /* upper case */
    size_t         method_count;
    str            route; /* prefix and route, without the leading slash: "api/orders/{id}" */
    route_template *template;
    /* timer */
    str   schedule; /* NCRONTAB, %SETTINGS% resolved */
    bool  run_on_startup;
    bool  monitored; /* useMonitor, default true */
    void *state;     /* the dispatcher's: metrics, running count */
} function;

/* What host.json and local.settings.json say that concerns us. */
typedef struct {
    str      route_prefix; /* "api" */
    bool     forwarding, proxying;
    bool     forward_by_name;     /* old httpWorker section: forwarded requests come to /NAME (spec 5.2) */
    uint64_t function_timeout_ms; /* 0: unlimited */
    str      cors_origins;        /* local.settings.json Host.CORS: "*" or a comma list; empty: none */
    bool     cors_credentials;
    int      local_port; /* local.settings.json Host.LocalHttpPort; 0: not given */
    /* extensions.queues, with the host's defaults */
    int      queue_batch, queue_new_batch_threshold, queue_max_dequeue;
    uint64_t queue_visibility_ms, queue_max_polling_ms;
    bool     queue_plain; /* messageEncoding "none": texts are not base64 on the wire */
} host_settings;

enum { FUNCTIONS_MAX = 1024 };

struct route_index;

typedef struct {
    function                 *all; /* in the host's order of precedence: functions_order */
    size_t                    count;
    host_settings             host;
    const struct route_index *index; /* of the templates, by the same numbers */
} function_app;

/* Reads root/host.json and every root/FOLDER/function.json, and binds the rows; rows == NULL leaves all
 * functions without one. On failure *ret_error is one clear line, naming file and member: RES_CONFIG. `a`
 * lives as long as the process. */
res functions_load(arena *a, const char *root, const handler *rows, size_t row_count, function_app **ret,
                   str *ret_error) MUST_USE;

/* The host's order of names: ordinal, ignoring case. .NET folds to upper case for it, so '_' sorts after all
 * letters: "orgs" before "org_x". */
int functions_order(str a, str b);

/* HOST-56: the rules that a set of functions must keep for host and handler to serve the same one. Names
 * differ ignoring case and stand in order; no route begins with the letters admin or runtime; where two
 * routes with a common method can match one path, the one that sorts first must be the narrower, for it gets
 * the path. RES_CONFIG with one line. */
res functions_check(arena *a, const function_app *app, str *ret_problem) MUST_USE;

/* The first http function that the host would not forward but call in JSON mode (spec 5.1); NULL: none. */
const function *functions_not_forwarded(const function_app *app);

/* The Values of root/local.settings.json into the environment where unset, as func does. Names of storage
 * connections go there too, but are reported by settings_came_from_file, for they do not choose the back end
 * in standalone mode. A missing file is fine; a malformed one is RES_CONFIG. */
res  settings_load(arena *a, const char *root, str *ret_error) MUST_USE;
bool settings_came_from_file(const char *name);

/* "api/orders/{id:int}" by method and path, first match in order of precedence, as the host routes (spec 6).
 * RES_NOT_FOUND, also for a path with bad escapes, which nothing could have meant; or RES_METHOD with
 * *ret_allow (like "GET, POST") when only the method is wrong. RES_MEMORY only for an arena without a hook.
 */
typedef struct {
    function    *fn;
    http_header *params; /* unescaped */
    size_t       param_count;
} route_match;
res functions_route(arena *a, const function_app *app, str method, str path, route_match *ret,
                    str *ret_allow) MUST_USE;

function *functions_find(const function_app *app, str name); /* exact case first, else ignoring case; NULL */

/* As `func start` prints it, one line each: "  health: [GET] http://127.0.0.1:7071/api/health". */
void functions_print(const function_app *app, str base_url, buf *out);

#endif
