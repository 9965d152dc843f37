/* test_sched_ignite_faults.c -- ignite with failures inside, and beside writers of other processes.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* So that reading them is broken, too. */
static void forget_sessions(task *t)
{
    (void)t;
    auth_forget_for_test();
}

static void break_it(task *t, const char *method, const char *target, str session, str body, int status)
{
    rig_request in = a_call(t, method, target, session, body);
    rig_torture(t, &in, status, tolerated, forget_sessions);
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

/* With mails on their way beside it. */
RIG_TEST(joining_survives_every_failure)
{
    ck_assert_int_eq(setenv("EMAIL_SINK_DIR", textf("%s/mail", live_dir()), 1), 0);
    ck_assert_int_eq(setenv("MAGIC_LINK_SECRET", "s", 1), 0);
    ck_assert_int_eq(setenv("WEB_BASE_URL", "https://family.example", 1), 0);
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

/* ---- a store that loses races, and its mind ---- */

enum { TRIES = 4 };

#define GROUP   "6a1f0c3e-0000-4000-8000-000000000000"
#define STATE   "{\"ignite\":{\"sessionId\":\"s1\",\"status\":\"OPEN\",\"joinedPersonIds\":[]}}"
#define SESSION "{\"v\":1,\"email\":\"ann@example.org\",\"expiresAt\":\"2999-01-01T00:00:00.000Z\"}"
#define LATER   "2999-01-01T00:00:00.000Z"

/* What is done to state.json and to new sessions; all else is well: the group is there, Ann a member. */
typedef struct {
    const char *what, *call, *session, *state;
    int         put[TRIES]; /* of state.json, one after the other; 0: it goes through */
    int         get, session_put;
    int         status;
    const char *error;
    unsigned    puts, member_writes;
} script;

static const char start_it[] = "start", join_it[] = "join", add_photo[] = "photo";

static const script scripts[] = {
    {"lost thrice", start_it, "ann", STATE, {412, 409, 412}, .status = 200, .puts = 4},
    {"lost each time", start_it, "ann", STATE, {412, 412, 412, 412}, 0, 0, 409, "state_changed", 4, 0},
    {"a scan, lost thrice", join_it, "ann", STATE, {412, 412, 412}, .status = 200, .puts = 4},
    {"a scan, lost each time", join_it, "", STATE, {412, 412, 412, 412}, 0, 0, 409, "state_changed", 4, 0},
    {"a photo, lost each time",
     add_photo,
     "ann",
     STATE,
     {412, 412, 412, 412},
     0,
     0,
     409,
     "state_changed",
     4,
     0},
    {"it may not be written", start_it, "ann", STATE, {403}, 0, 0, 500, "INTERNAL_ERROR", 1, 0},
    {"it may not be read", join_it, "", STATE, {0}, 403, 0, 500, "INTERNAL_ERROR", 0, 0},
    {"no guest's session", join_it, "", STATE, {0}, 0, 403, 500, "ignite_grace_session_create_failed", 1, 0},
    {"a guest", join_it, "", STATE, .status = 200, .puts = 1, .member_writes = 1},
    {"damaged", start_it, "ann", "{\"ignite\":", .status = 500, .error = "INTERNAL_ERROR"},
    {"a list", join_it, "", "[1]", .status = 500, .error = "INTERNAL_ERROR"},
    {"another form", join_it, "", "{\"ignite\":[\"s1\"]}", .status = 403, .error = "IGNITE_CLOSED"},
};

static struct {
    const script *plan;
    char          ann[SHA256_HEX + 1];
    atomic_uint   puts, member_writes;
} service;

static void say(wire_answer *ret, int status, const char *body)
{
    static _Thread_local char text[4096]; /* a connection has a thread, and one answer at a time */
    (void)snprintf(text, sizeof text,
                   "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nETag: \"1\"\r\n"
                   "x-ms-blob-type: BlockBlob\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   status, strlen(body), body);
    ret->bytes = text;
}

static void state_blob(bool reads, wire_answer *ret)
{
    const script *p = service.plan;
    if (reads) {
        say(ret, p->get != 0 ? p->get : 200, p->get != 0 ? "" : p->state);
        return;
    }
    unsigned n = atomic_fetch_add(&service.puts, 1);
    int      status = n < TRIES ? p->put[n] : 0;
    say(ret, status != 0 ? status : 201, "");
}

static void some_row(str target, wire_answer *ret)
{
    if (str_has(target, STR("GroupMembers(")) && !str_has(target, str_of(service.ann)))
        say(ret, 404, "{\"odata.error\":{\"code\":\"ResourceNotFound\"}}");
    else
        say(ret, 200,
            "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"status\":\"active\",\"groupName\":\"g\","
            "\"email\":\"ann@example.org\",\"lastSeenAtUtc\":\"" LATER "\",\"displayName\":\"d\"}");
}

static void serve(void *ctx, const wire_request *q, wire_answer *ret)
{
    str line = str_slice(q->head, 0, str_find_char(q->head, '\r')), method, target;
    (void)ctx;
    (void)str_next_field(&line, ' ', &method);
    (void)str_next_field(&line, ' ', &target);
    bool reads = str_eq(method, STR("GET"));
    if (str_has(target, STR("state.json")))
        state_blob(reads, ret);
    else if (str_has(target, STR("/sessions/")))
        say(ret,
            reads                            ? 200
            : service.plan->session_put != 0 ? service.plan->session_put
                                             : 201,
            reads ? SESSION : "");
    else if (reads)
        some_row(target, ret);
    else {
        if (str_has(target, STR("GroupMembers")))
            atomic_fetch_add(&service.member_writes, 1);
        say(ret, str_has(target, STR("/Tables")) ? 409 : str_has(target, STR("/photos/")) ? 201 : 204, "");
    }
}

static void run_script(task *t, int i)
{
    const script *p = &scripts[i];
    evening       e = {.group = STR(GROUP), .session = STR("s1")};
    str           body = both(t, &e,
                              ",\"name\":\"gus\",\"email\":\"gus@example.org\",\"imageMime\":\"image/png\","
                                        "\"imageBase64\":\"iVBORw0KGgo=\"");
    got g = people_post(t, str_of(p->session), textf("/api/ignite/%s", p->call), "%.*s", STR_ARG(body));
    ck_assert_msg(g.status == p->status, "%s: %d %.*s", p->what, g.status, STR_ARG(g.body));
    if (p->error != NULL)
        ck_str_eq(rig_text(&g, "error"), str_of(p->error));
    ck_assert_msg(atomic_load(&service.puts) == p->puts, "%s: %u", p->what, atomic_load(&service.puts));
    ck_assert_msg(atomic_load(&service.member_writes) == p->member_writes, "%s: %u", p->what,
                  atomic_load(&service.member_writes));
}

START_TEST(the_state_is_tried_four_times_and_what_fails_is_answered)
{
    service.plan = &scripts[_i];
    auth_user_key(STR("ann@example.org"), service.ann);
    wire *w = wire_start_fn(serve, NULL, NULL);
    rig_run(rig_wire_store(w), run_script, _i);
    wire_stop(w);
}
END_TEST

Suite *suite_sched_ignite_faults(void)
{
    Suite *s = suite_create("sched_ignite_faults");
    TCase *c = live_case("ignite faults");
    tcase_add_test(c, start_and_close_survive_every_failure);
    tcase_add_test(c, meta_survives_every_failure);
    tcase_add_test(c, photos_survive_every_failure);
    tcase_add_test(c, joining_survives_every_failure);
    tcase_add_test(c, a_spinoff_survives_every_failure);
    tcase_add_loop_test(c, the_state_is_tried_four_times_and_what_fails_is_answered, 0,
                        sizeof scripts / sizeof *scripts);
    suite_add_tcase(s, c);
    return s;
}
