/* app_http.c -- GET /api/app/{*path}: the page that people use, whose files (web/) are part of the binary.
 *
 * Only names in the table are served, so no path leads anywhere else. The policy lets the page load and call
 * nothing but this server; there is no script and no style in its HTML.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler.h"
#include "domain/scheduler/call.h"
#include "runtime/asset.h"

#define SCRIPT "text/javascript; charset=utf-8"

ASSET(index_html, web_index_html, "text/html; charset=utf-8");
ASSET(app_css, web_app_css, "text/css; charset=utf-8");
ASSET(icon_svg, web_icon_svg, "image/svg+xml");
ASSET(api_js, web_api_js, SCRIPT);
ASSET(app_js, web_app_js, SCRIPT);
ASSET(chart_js, web_chart_js, SCRIPT);
ASSET(dom_js, web_dom_js, SCRIPT);
ASSET(group_js, web_group_js, SCRIPT);
ASSET(home_js, web_home_js, SCRIPT);
ASSET(ignite_js, web_ignite_js, SCRIPT);
ASSET(join_js, web_join_js, SCRIPT);
ASSET(session_js, web_session_js, SCRIPT);
ASSET(signin_js, web_signin_js, SCRIPT);

static const struct {
    const char *path;
    asset      *file;
} files[] = {
    {"", &index_html},           {"index.html", &index_html}, {"app.css", &app_css},
    {"icon.svg", &icon_svg},     {"api.js", &api_js},         {"app.js", &app_js},
    {"chart.js", &chart_js},     {"dom.js", &dom_js},         {"group.js", &group_js},
    {"home.js", &home_js},       {"ignite.js", &ignite_js},   {"join.js", &join_js},
    {"session.js", &session_js}, {"signin.js", &signin_js},
};

static const struct {
    const char *name, *value;
} guards[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
};

static asset *find_file(str path)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (str_eq(path, str_of(files[i].path)))
            return files[i].file;
    return NULL;
}

/* no-cache: asked for again each time and answered by 304, so that a new version is used at once. */
res sched_app(task *t, const request *in, reply *out)
{
    call   c;
    asset *file = find_file(request_param(in, "path"));
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        TRY(reply_header(out, guards[i].name, str_of(guards[i].value)));
    if (file != NULL)
        return reply_asset(t, in, out, file, "no-cache");
    if (!call_begin(&c, t, in, out, TRACE_SERVER, NULL))
        return c.result;
    return call_refuse(&c, 404, "not_found", NULL, "There is no such file");
}
