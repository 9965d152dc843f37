/* test_sched_ignite_faults.c -- ignite with failures inside, and beside writers of other processes.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "domain/sched_suites.h"
#include "domain/sched_table.h"

/* ---- every allocation fails, every wait is cancelled ---- */

/* A storage call that is cut short is an answer of its own, and what was half done is mended by a repeat. */
static const int tolerated[] = {500, 0};

static rig_request a_call(task *t, const char *method, const char *target, str session, str body)
{
    http_header *h = arena_one(t->arena, http_header);
    *h = (http_header){STR("x-session-id"), session};
    return (rig_request){.method = method,
                         .target = target,
                         .body = body,
                         .headers = h,
                         .header_count = session.len > 0 ? 1 : 0};
}

static str both(task *t, const evening *e, const char *more)
{
    return arena_strf(t->arena, "{\"groupId\":\"%.*s\",\"sourceGroupId\":\"%.*s\",\"sessionId\":\"%.*s\"%s}",
                      STR_ARG(e->group), STR_ARG(e->group), STR_ARG(e->session), more);
}

static void break_it(task *t, const char *method, const char *target, str session, str body, int status)
{
    rig_request in = a_call(t, method, target, session, body);
    rig_torture(t, &in, status, tolerated, NULL);
}

RIG_TEST(start_and_close_survive_every_failure)
{
    evening e = evening_of(t, "breakout");
    break_it(t, "POST", "/api/ignite/close", e.ann, both(t, &e, ""), 200);
    break_it(t, "POST", "/api/ignite/start", e.ann, both(t, &e, ""), 200);
}

RIG_TEST(meta_survives_every_failure)
{
    evening e = evening_of(t, "breakout");
    ck_status(evening_scan(t, &e, (str){0}, "gus@example.org"), 200);
    break_it(t, "POST", "/api/ignite/meta", e.ann, both(t, &e, ""), 200);
}

RIG_TEST(photos_survive_every_failure)
{
    evening e = evening_of(t, "breakout");
    str     target =
        arena_strf(t->arena, "/api/ignite/photo?groupId=%.*s&sessionId=%.*s&personId=%.*s", STR_ARG(e.group),
                   STR_ARG(e.session), STR_ARG(people_user_key("ann@example.org")));
    break_it(t, "POST", "/api/ignite/photo", e.ann,
             both(t, &e, ",\"imageMime\":\"image/png\",\"imageBase64\":\"iVBORw0KGgo=\""), 200);
    break_it(t, "GET", target.at, e.ann, (str){0}, 200);
}

RIG_TEST(joining_survives_every_failure)
{
    evening e = evening_of(t, "breakout");
    break_it(t, "POST", "/api/ignite/join", (str){0},
             both(t, &e, ",\"name\":\"gus\",\"email\":\"gus@example.org\",\"photoBase64\":\"iVBORw0KGgo=\""),
             200);
    break_it(t, "POST", "/api/ignite/join", people_named(t, "bob@example.org"), both(t, &e, ""), 200);
    got g = evening_meta(t, &e, e.ann);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 3);
}

RIG_TEST(a_spinoff_survives_every_failure)
{
    evening e = evening_of(t, "breakout");
    break_it(t, "POST", "/api/ignite/spinoff", e.ann, both(t, &e, ""), 200);
}

Suite *suite_sched_ignite_faults(void)
{
    Suite *s = suite_create("sched_ignite_faults");
    TCase *c = live_case("ignite faults");
    tcase_add_test(c, start_and_close_survive_every_failure);
    tcase_add_test(c, meta_survives_every_failure);
    tcase_add_test(c, photos_survive_every_failure);
    tcase_add_test(c, joining_survives_every_failure);
    tcase_add_test(c, a_spinoff_survives_every_failure);
    suite_add_tcase(s, c);
    return s;
}
