/* readme.c -- GET actions/{owner}/{name}/readme: the README of an action's repository, as HTML.
 *
 * A copy is kept in a table of its own, a row for each ref:
 *
 *     <owner>-<name> / <ref>   Content      String, or ContentPacked (long_value.h) when it is long
 *                              CachedAt, RepoUpdatedAt   ISO-8601; the second may be missing
 *                              Owner, Name, Version      as asked for
 *
 * (all keys in lower case, a slash in the ref as a colon). It is good as long as the record says that the
 * repository has not changed since; where either side does not say, for an hour. Whatever goes wrong with the
 * record or the copy costs the copy alone.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/answer.h"
#include "domain/actions/readme_html.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"
#include "runtime/fetch.h"
#include "storage/long_value.h"

enum {
    ANSWER_MAX = 4 * MIB,
    KEPT_MAX = 512 * KIB, /* of one copy: packing more takes too long on the loop */
    PLAIN_MAX = 32000,    /* bytes in one String property */
    GITHUB_MS = 10 * 1000,
    REDIRECTS_MAX = 3, /* of repositories that were renamed */
    NAME_MAX_BYTES = 255,
};

#define CACHE_CONTROL "public, max-age=1800"
#define RAW_ROOT      "https://raw.githubusercontent.com"
static const int64_t HOUR_US = INT64_C(3600) * 1000 * 1000;

typedef struct {
    str owner, name, version, repo;
    str partition, row; /* of the copy */
    str repo_updated;   /* as the record says; empty: it does not */
    str html, dir;      /* as GitHub says */
    int status;         /* of the request for the HTML */

} readme;

/* ---- what is asked for ---- */

static bool is_made_of(str s, const char *others)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.at[i]);
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && str_find_char(str_of(others), c) == str_of(others).len)
            return false;
    }
    return s.len > 0 && s.len <= NAME_MAX_BYTES;
}

static str cleaned_version(arena *a, str version)
{
    char  *out = arena_alloc(a, version.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < version.len; i++)
        if (is_made_of(str_slice(version, i, i + 1), "._/-"))
            out[n++] = version.at[i];
    return n > 0 ? (str){out, n} : STR("main");
}

static str repo_of(str owner, str name)
{
    bool prefixed = str_starts_nocase(name, owner) && name.len > owner.len && name.at[owner.len] == '_';
    str  rest = prefixed ? str_from(name, owner.len + 1) : name;
    return str_slice(rest, 0, str_find_char(rest, '_'));
}

static str lower(arena *a, str s)
{
    char *out = arena_alloc(a, s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        out[i] = s.at[i] == '/' ? ':' : str_lower_char(s.at[i]);
    return (str){out, s.len};
}

/* Dots alone would be taken for a step up in the path of the URL. */
static bool read_request(arena *a, const request *in, readme *r)
{
    *r = (readme){.owner = request_param(in, "owner"), .name = request_param(in, "name")};
    if (!is_made_of(r->owner, "-") || !is_made_of(r->name, "._-"))
        return false;
    r->repo = repo_of(r->owner, r->name);
    r->version = cleaned_version(a, request_query(in, "version"));
    r->partition = lower(a, arena_strf(a, "%.*s-%.*s", STR_ARG(r->owner), STR_ARG(r->name)));
    r->row = lower(a, r->version);
    return r->repo.len > 0 && !str_eq(r->repo, STR(".")) && !str_eq(r->repo, STR(".."));
}

/* ---- the copy ---- */

static void read_repo_updated(task *t, readme *r)
{
    entity          e;
    str             payload;
    const json_val *doc;
    str             partition = record_key(t->arena, r->owner), row = record_key(t->arena, r->name);
    if (tables_get(t, settings_get()->records, partition, row, &e) == RES_OK &&
        row_payload(t->arena, &e, &payload) == RES_OK && json_parse(t->arena, payload, &doc, NULL) == RES_OK)
        r->repo_updated = json_text(json_get(json_get(doc, "repoInfo"), "updated_at"), (str){0});
}

static bool is_good(const readme *r, const entity *e)
{
    int64_t then, now;
    bool    same = str_eq_nocase(entity_str(e, "Owner", (str){0}), r->owner) &&
                str_eq_nocase(entity_str(e, "Name", (str){0}), r->name) &&
                str_eq(entity_str(e, "Version", (str){0}), r->version);
    if (!same) /* other parts may make the same key */
        return false;
    if (iso8601_parse(entity_str(e, "RepoUpdatedAt", (str){0}), &then) &&
        iso8601_parse(r->repo_updated, &now))
        return then >= now;
    return iso8601_parse(entity_str(e, "CachedAt", (str){0}), &then) && clock_wall_us() - then < HOUR_US;
}

static bool read_copy(task *t, readme *r, str *ret)
{
    entity e;
    if (tables_get(t, settings_get()->readmes, r->partition, r->row, &e) != RES_OK || !is_good(r, &e))
        return false;
    *ret = entity_str(&e, "Content", (str){0});
    return ret->len > 0 || long_value_get(t->arena, &e, "ContentPacked", KEPT_MAX, ret) == RES_OK;
}

static res write_copy(task *t, readme *r, str html)
{
    if (html.len > KEPT_MAX)
        return RES_OK;
    entity e = entity_new(t->arena, r->partition, r->row);
    entity_set_str(&e, "CachedAt", iso8601_arena(t->arena, clock_wall_us(), 3));
    if (r->repo_updated.len > 0)
        entity_set_str(&e, "RepoUpdatedAt", r->repo_updated);
    entity_set_str(&e, "Owner", r->owner);
    entity_set_str(&e, "Name", r->name);
    entity_set_str(&e, "Version", r->version);
    if (html.len <= PLAIN_MAX)
        entity_set_str(&e, "Content", html);
    else
        TRY(long_value_set(&e, "ContentPacked", html));
    return tables_upsert_replace(t, settings_get()->readmes, &e);
}

/* ---- GitHub ---- */

static res ask(task *t, const readme *r, str accept, fetch_answer *ret)
{
    const actions_settings *s = settings_get();
    http_header             headers[3] = {{STR("Accept"), accept}, {STR("User-Agent"), STR("trestle")}};
    fetch_request           in = {
                  .method = STR("GET"),
                  .url = arena_strf(t->arena, "%.*s/repos/%.*s/%.*s/readme?ref=%.*s", STR_ARG(s->github_api),
                                    STR_ARG(r->owner), STR_ARG(r->repo), STR_ARG(r->version)),
                  .headers = headers,
                  .header_count = 2,
                  .answer_max = ANSWER_MAX,
                  .timeout_ms = GITHUB_MS,
                  .redirects_max = REDIRECTS_MAX,
    };
    if (s->github_token.len > 0)
        headers[in.header_count++] = (http_header){
            STR("Authorization"), arena_strf(t->arena, "Bearer %.*s", STR_ARG(s->github_token))};
    return fetch(t, &in, ret);
}

/* The file's folder is worth a second request, but not a failure. */
static res ask_one(task *t, size_t i, void *ctx)
{
    readme         *r = ctx;
    fetch_answer    got;
    const json_val *doc;
    if (i == 0) {
        TRY(ask(t, r, STR("application/vnd.github.html+json"), &got));
        r->status = got.status;
        r->html = got.body;
        return RES_OK;
    }
    if (ask(t, r, STR("application/vnd.github+json"), &got) != RES_OK || got.status != 200 ||
        json_parse(t->arena, got.body, &doc, NULL) != RES_OK)
        return RES_OK;
    str    path = json_text(json_get(doc, "path"), (str){0});
    size_t end = path.len;
    while (end > 0 && path.at[end - 1] != '/')
        end--;
    r->dir = str_slice(path, 0, end > 0 ? end - 1 : 0);
    return RES_OK;
}

/* ---- answering ---- */

static res answer_html(const request *in, reply *out, str html, str x_cache)
{
    TRY(reply_bytes(out, 200, "text/html; charset=utf-8", html));
    answer_headers(in, out, CACHE_CONTROL);
    return reply_header(out, "X-Cache", x_cache);
}

static res answer_fresh(task *t, const request *in, reply *out, readme *r)
{
    res got = par_each(t, 2, 2, ask_one, r);
    if (got != RES_OK)
        return answer_failed(t, in, out, got, "Failed to fetch README.");
    if (r->status == 404)
        return answer_error(t, in, out, 404, "README not found.");
    if (r->status != 200)
        return answer_failed(t, in, out, task_fail(t, RES_UPSTREAM, "GitHub answered %d", r->status),
                             "Failed to fetch README.");

    str root = arena_strf(t->arena, RAW_ROOT "/%.*s/%.*s/%.*s/", STR_ARG(r->owner), STR_ARG(r->repo),
                          STR_ARG(r->version));
    str html = readme_html(t->arena, r->html, root, r->dir);
    res kept = write_copy(t, r, html);
    if (kept != RES_OK) {
        str why = task_message(t);
        log_warn("a README was not kept: %s: %.*s", res_name(kept), STR_ARG(why));
        task_forget(t);
    }
    return answer_html(in, out, html, STR("MISS"));
}

res actions_readme(task *t, const request *in, reply *out)
{
    readme r;
    str    html;
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    if (!read_request(t->arena, in, &r))
        return answer_error(t, in, out, 400, "Invalid owner or name.");
    read_repo_updated(t, &r);
    bool hit = read_copy(t, &r, &html);
    TRY(task_stopped(t));
    task_forget(t);
    return hit ? answer_html(in, out, html, STR("HIT")) : answer_fresh(t, in, out, &r);
}
