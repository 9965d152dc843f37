/* sched_table.c -- see sched_table.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_table.h"

#include <stdarg.h>
#include <string.h>

#include "core/base64.h"
#include "core/buf.h"
#include "domain/scheduler/settings.h"
#include "storage/blobs.h"

enum { LISTED_MAX = 5000, TEXT_MAX = 1024 * 1024 };

evening evening_of(task *t, const char *token_kind)
{
    evening e = {.ann = people_named(t, "ann@example.org")};
    e.group = people_group(t, e.ann, "The table");
    got g = people_post(t, e.ann, "/api/ignite/start", "{\"groupId\":\"%.*s\",\"tokenKind\":\"%s\"}",
                        STR_ARG(e.group), token_kind);
    ck_status(g, 200);
    e.session = rig_text(&g, "sessionId");
    return e;
}

got evening_scan(task *t, const evening *e, str session, const char *email)
{
    if (session.len > 0)
        return people_post(t, session, "/api/ignite/join", "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\"}",
                           STR_ARG(e->group), STR_ARG(e->session));
    return people_post(t, session, "/api/ignite/join",
                       "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"name\":\"%.*s\",\"email\":\"%s\"}",
                       STR_ARG(e->group), STR_ARG(e->session), (int)strcspn(email, "@"), email, email);
}

got evening_meta(task *t, const evening *e, str session)
{
    str target = arena_strf(t->arena, "/api/ignite/meta?groupId=%.*s&sessionId=%.*s", STR_ARG(e->group),
                            STR_ARG(e->session));
    return people_get(t, session, target.at);
}

got evening_send_photo(task *t, const evening *e, str session, const char *mime, str bytes)
{
    str text = base64_encode(t->arena, bytes);
    return people_post(
        t, session, "/api/ignite/photo",
        "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"imageMime\":\"%s\",\"imageBase64\":\"%.*s\"}",
        STR_ARG(e->group), STR_ARG(e->session), mime, STR_ARG(text));
}

str evening_jpeg(void)
{
    return STR("\xff\xd8\xff\xe0 a face");
}

str evening_png(void)
{
    return STR("\x89PNG\r\n\x1a\n another face");
}

/* ---- what is stored ---- */

str state_text(task *t, str group)
{
    blob_got g;
    OK(blobs_get(t, sched_settings_get()->state, place_state_blob(t->arena, group), &(blob_get){0}, &g));
    return g.body;
}

void state_put(task *t, str group, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str text = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    OK(blobs_put(t, sched_settings_get()->state, place_state_blob(t->arena, group), text, &(blob_put){0},
                 NULL));
}

static res note_row(task *t, const entity *e, void *ctx)
{
    (void)t;
    ck_assert(buf_addf(ctx, "%.*s / %.*s %.*s\n", STR_ARG(e->partition), STR_ARG(e->row), STR_ARG(e->etag)));
    return RES_OK;
}

str all_that_is_stored(task *t)
{
    buf       b;
    blob_page page;
    buf_init(&b, scratch(), TEXT_MAX);
    for (place p = 0; p < PLACE_COUNT; p++)
        OK(tables_each(t, place_table(p), &(table_query){0}, note_row, &b));
    OK(blobs_list(t, sched_settings_get()->state, (str){0}, 0, LISTED_MAX, (str){0}, &page));
    for (size_t i = 0; i < page.len; i++)
        ck_assert(buf_addf(&b, "%.*s %.*s\n", STR_ARG(page.at[i].name), STR_ARG(page.at[i].etag)));
    return buf_str(&b);
}

void ck_no_secret(const got *g, str session)
{
    ck_assert_ptr_null(rig_at(g, "sessionId"));
    ck_assert_msg(!str_has(g->body, STR("guest:")), "'%.*s'", live_shown(g->body), g->body.at);
    ck_assert(session.len == 0 || !str_has(g->body, session));
}
