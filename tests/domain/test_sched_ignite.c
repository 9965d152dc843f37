/* test_sched_ignite.c -- a session is started, looked at, closed, and spun off; and who is let near it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_suites.h"
#include "domain/sched_table.h"
#include "domain/scheduler/groups.h"
#include "storage/update.h"

#define START "/api/ignite/start"
#define CLOSE "/api/ignite/close"

static got start(task *t, str session, str group)
{
    return people_post(t, session, START, "{\"groupId\":\"%.*s\"}", STR_ARG(group));
}

static got close_session(task *t, str session, const evening *e)
{
    return people_post(t, session, CLOSE, "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\"}", STR_ARG(e->group),
                       STR_ARG(e->session));
}

/* ---- the life of a session ---- */

/* SCHED-50. */
RIG_TEST(a_second_start_ends_the_first_session)
{
    evening e = evening_of(t, "breakout");
    got     g = start(t, e.ann, e.group);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "status"), STR("OPEN"));
    ck_assert(!str_eq(rig_text(&g, "sessionId"), e.session));
    g = evening_meta(t, &e, e.ann);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_not_found"));
    g = evening_scan(t, &e, (str){0}, "bob@example.org");
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("IGNITE_CLOSED"));
}

/* SCHED-51. */
RIG_TEST(a_closed_session_stays_closed_and_takes_nobody)
{
    evening e = evening_of(t, "invite-member");
    for (int n = 0; n < 2; n++) {
        got g = close_session(t, e.ann, &e);
        ck_status(g, 200);
        ck_str_eq(rig_text(&g, "status"), STR("CLOSED"));
    }
    str before = all_that_is_stored(t);
    ck_status(close_session(t, e.ann, &e), 200);
    ck_str_eq(all_that_is_stored(t), before);
    got g = evening_scan(t, &e, (str){0}, "bob@example.org");
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("IGNITE_CLOSED"));
    ck_str_eq(rig_text(&g, "tokenKind"), STR("invite-member"));
    ck_str_eq(all_that_is_stored(t), before);
    g = evening_meta(t, &e, e.ann);
    ck_str_eq(rig_text(&g, "status"), STR("CLOSED"));
}

/* SCHED-51. */
RIG_TEST(another_session_or_none_cannot_be_closed)
{
    str     ann = people_named(t, "ann@example.org");
    evening none = {.ann = ann, .group = people_group(t, ann, "Quiet"), .session = STR("s")};
    got     g = close_session(t, ann, &none);
    ck_status(g, 410);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_closed"));
    ck_str_eq(rig_text(&g, "message"), STR("Session closed"));
    evening e = evening_of(t, "breakout");
    str     before = all_that_is_stored(t);
    evening other = {.group = e.group, .session = STR("other")};
    ck_status(close_session(t, e.ann, &other), 410);
    other.session = (str){0};
    ck_status(close_session(t, e.ann, &other), 410);
    ck_str_eq(all_that_is_stored(t), before);
    g = evening_meta(t, &e, e.ann);
    ck_str_eq(rig_text(&g, "status"), STR("OPEN"));
}

RIG_TEST(state_json_is_readable_and_keeps_what_others_wrote)
{
    evening e = evening_of(t, "breakout");
    str     text = state_text(t, e.group);
    ck_assert(str_starts(text, STR("{\n  \"")) && str_ends(text, STR("\n}\n")));
    state_put(t, e.group,
              "{\"schemaVersion\":3,\"rules\":[{\"code\":\"RULE-1\"}],\"odd\":1.50,\"ignite\":{\"sessionId\":"
              "\"s1\",\"status\":\"OPEN\",\"theme\":\"dark\",\"joinedPersonIds\":[\"P-1\",7,\"P-1\"]}}");
    e.session = STR("s1");
    ck_status(evening_scan(t, &e, e.ann, ""), 200);
    text = state_text(t, e.group);
    ck_assert(str_has(text, STR("RULE-1")) && str_has(text, STR("\"odd\": 1.5")) &&
              str_has(text, STR("\"theme\": \"dark\"")));
    got g = evening_meta(t, &e, e.ann);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 2);
    ck_str_eq(rig_text(&g, "joinedPersonIds/0"), STR("P-1"));
    ck_str_eq(rig_text(&g, "peopleByPersonId/P-1/name"), STR("P-1"));
}

/* Members of the wrong type count as absent, and are mended when somebody joins. */
RIG_TEST(a_state_of_odd_types_is_read_as_far_as_it_makes_sense)
{
    evening e = evening_of(t, "breakout");
    state_put(t, e.group,
              "{\"ignite\":{\"sessionId\":\"%.*s\",\"status\":\"OPEN\",\"joinedPersonIds\":{\"a\":\"b\"},"
              "\"photoUpdatedAtByPersonId\":[1,\"x\"],\"graceSeconds\":\"x\",\"createdByPersonId\":5,"
              "\"closeRequestedAt\":[],\"tokenKind\":null}}",
              STR_ARG(e.session));
    got g = evening_meta(t, &e, e.ann);
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 0);
    ck_assert_int_eq(rig_int(&g, "graceSeconds"), 60);
    ck_assert_uint_eq(json_len(rig_at(&g, "photoUpdatedAtByPersonId")), 0);
    ck_assert_ptr_null(rig_at(&g, "closeRequestedAt"));
    ck_status(evening_send_photo(t, &e, e.ann, "image/png", evening_png()), 200);
    ck_status(evening_scan(t, &e, (str){0}, "gus@example.org"), 200);
    g = evening_meta(t, &e, e.ann);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 1);
    ck_assert_uint_eq(json_len(rig_at(&g, "photoUpdatedAtByPersonId")), 1);
}

/* ---- closing ---- */

static const struct {
    const char *status, *since, *shown;
    int         photo;
} closing[] = {
    {"CLOSING", "2999-01-01T00:00:00.000Z", "CLOSING", 200},
    {"CLOSING", "2020-01-01T00:00:00.000Z", "CLOSED", 410},
    {"CLOSING", "soon", "CLOSED", 410},
    {"OPEN", "2020-01-01T00:00:00.000Z", "OPEN", 200},
    {"ajar", "2999-01-01T00:00:00.000Z", "CLOSED", 410},
};

RIG_TEST(a_session_that_is_closing_takes_photos_until_its_time_is_up)
{
    evening e = evening_of(t, "breakout");
    state_put(t, e.group,
              "{\"ignite\":{\"sessionId\":\"%.*s\",\"status\":\"%s\",\"closeRequestedAt\":\"%s\","
              "\"graceSeconds\":60}}",
              STR_ARG(e.session), closing[i].status, closing[i].since);
    got g = evening_meta(t, &e, e.ann);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "status"), str_of(closing[i].shown));
    ck_str_eq(rig_text(&g, "closeRequestedAt"), str_of(closing[i].since));
    ck_status(evening_send_photo(t, &e, e.ann, "image/png", evening_png()), closing[i].photo);
    ck_status(evening_scan(t, &e, e.ann, ""), str_eq(str_of(closing[i].shown), STR("OPEN")) ? 200 : 403);
}

/* ---- meta ---- */

/* SCHED-58, SCHED-94. */
RIG_TEST(meta_counts_the_organiser_once_and_names_people_from_the_tables)
{
    evening e = evening_of(t, "breakout");
    got     g = evening_meta(t, &e, (str){0});
    ck_status(g, 401);
    g = evening_meta(t, &e, e.ann);
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 1);
    ck_status(evening_scan(t, &e, e.ann, ""), 200);
    got bob = evening_scan(t, &e, (str){0}, "bob@example.org");
    ck_status(bob, 200);
    g = evening_meta(t, &e, e.ann);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), 2);
    ck_assert_int_eq(rig_int(&g, "graceSeconds"), 60);
    str ann_key = people_user_key("ann@example.org"), bob_key = people_user_key("bob@example.org");
    ck_str_eq(rig_text(&g, "createdByPersonId"), ann_key);
    ck_str_eq(rig_text(&g, "joinedPersonIds/0"), ann_key);
    ck_str_eq(rig_text(&g, "joinedPersonIds/1"), bob_key);
    ck_str_eq(rig_text(&g, textf("peopleByPersonId/%.*s/name", STR_ARG(ann_key))), STR("ann"));
    ck_str_eq(rig_text(&g, textf("peopleByPersonId/%.*s/name", STR_ARG(bob_key))), STR("bob"));
    ck_no_secret(&(got){.body = g.body, .json = NULL}, rig_text(&bob, "sessionId"));
}

/* SCHED-59. */
RIG_TEST(meta_is_the_same_by_get_and_by_post)
{
    evening e = evening_of(t, "breakout");
    got     by_get = evening_meta(t, &e, e.ann);
    str     before = all_that_is_stored(t);
    got     by_post = people_post(t, e.ann, "/api/ignite/meta",
                                  "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"traceId\":\"t1\"}",
                                  STR_ARG(e.group), STR_ARG(e.session));
    str     target = arena_strf(t->arena, "/api/ignite/meta?groupId=%.*s&sessionId=%.*s&traceId=t2",
                                STR_ARG(e.group), STR_ARG(e.session));
    got     mixed = people_post(t, e.ann, target.at, "{}");
    ck_status(by_post, 200);
    ck_status(mixed, 200);
    ck_str_eq(all_that_is_stored(t), before);
    ck_str_eq(rig_text(&by_post, "traceId"), STR("t1"));
    ck_str_eq(rig_text(&mixed, "traceId"), STR("t2"));
    ck_assert_uint_eq(json_len(by_get.json), json_len(by_post.json));
    for (json_iter it = json_each(by_get.json); json_next(&it);)
        if (!str_eq(it.key, STR("traceId")) && !str_eq(it.key, STR("serverTime"))) {
            str left = json_print_val(t->arena, it.value);
            ck_str_eq(json_print_val(t->arena, json_get_str(by_post.json, it.key)), left);
            ck_str_eq(json_print_val(t->arena, json_get_str(mixed.json, it.key)), left);
        }
}

static const struct {
    const char *query, *error;
} bad_meta[] = {
    {"", "invalid_group_id"},
    {"groupId=x&sessionId=s", "invalid_group_id"},
    {"groupId=6a1f0c3e-0000-1000-8000-000000000000&sessionId=s", "invalid_group_id"}, /* version 1 */
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000", "sessionId_required"},
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000&sessionId=%20", "sessionId_required"},
};

RIG_TEST(meta_is_asked_for_with_a_group_and_a_session)
{
    got g = people_get(t, (str){0}, textf("/api/ignite/meta?%s", bad_meta[i].query));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), str_of(bad_meta[i].error));
}

/* ---- spinoff ---- */

static str new_group(task *t, const evening *e, const char *name, got *ret)
{
    *ret = people_post(t, e->ann, "/api/ignite/spinoff", "{\"sourceGroupId\":\"%.*s\",\"groupName\":\"%s\"}",
                       STR_ARG(e->group), name);
    ck_status(*ret, 200);
    return rig_text(ret, "newGroupId");
}

/* SCHED-60. */
RIG_TEST(a_spinoff_has_its_organiser_and_leaves_the_source_alone)
{
    evening e = evening_of(t, "invite-member");
    got     g;
    str     state = state_text(t, e.group), made = new_group(t, &e, "  Late \\t night ", &g);
    entity  source = people_row(t, PLACE_GROUPS, STR("group"), e.group);
    ck_str_eq(rig_text(&g, "groupName"), STR("Late night"));
    ck_str_eq(rig_text(&g, "linkPath"), arena_strf(t->arena, "/#/g/%.*s/ignite", STR_ARG(made)));
    ck_no_secret(&g, e.ann);
    ck_str_eq(state_text(t, e.group), state);
    ck_assert_int_eq(entity_int(&source, "memberCountActive", 0), 1);
    str    ann = people_user_key("ann@example.org");
    entity row = people_row(t, PLACE_GROUP_MEMBERS, made, ann);
    entity listed = people_row(t, PLACE_USER_GROUPS, ann, made);
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("active"));
    ck_str_eq(entity_str(&listed, "status", (str){0}), STR("active"));
    str opened = state_text(t, made);
    ck_assert(str_has(opened, STR("\"status\": \"OPEN\"")) && str_has(opened, STR("breakout")));
    str    day = str_slice(call_now(t->arena), 0, 10);
    entity counted = people_row(t, PLACE_DAILY_METRICS, str_slice(day, 0, 7), day);
    ck_assert_int_eq(entity_int(&counted, "newGroups", 0), 2);
}

RIG_TEST(the_name_of_a_spinoff_is_cut_or_made_up)
{
    evening e = evening_of(t, "breakout");
    got     g;
    (void)new_group(t, &e, " \\n ", &g);
    ck_str_eq(rig_text(&g, "groupName"), STR("Breakout"));
    str long_name = live_repeat(t->arena, STR("\xC3\xA9"), 61);
    (void)new_group(t, &e, arena_cstr(t->arena, long_name), &g);
    ck_str_eq(rig_text(&g, "groupName"), str_slice(long_name, 0, 120));
    g = people_post(t, e.ann, "/api/ignite/spinoff", "{\"sourceGroupId\":\"x\"}");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_group_id"));
}

/* ---- who is let in: each call that the gate guards ---- */

typedef struct {
    const char *method, *target, *body; /* with group and session for two %s */
    bool        organisers;
} guarded_call;

static const guarded_call guarded[] = {
    {"POST", START, "{\"groupId\":\"%s\",\"x\":\"%s\"}", true},
    {"POST", CLOSE, "{\"groupId\":\"%s\",\"sessionId\":\"%s\"}", true},
    {"POST", "/api/ignite/meta", "{\"groupId\":\"%s\",\"sessionId\":\"%s\"}", false},
    {"GET", "/api/ignite/meta?groupId=%s&sessionId=%s", NULL, false},
    {"POST", "/api/ignite/photo",
     "{\"groupId\":\"%s\",\"sessionId\":\"%s\",\"imageMime\":\"image/png\",\"imageBase64\":\"iVBORw0KGgo=\"}",
     false},
    {"GET", "/api/ignite/photo?groupId=%s&sessionId=%s&personId=P-1", NULL, false},
    {"POST", "/api/ignite/spinoff", "{\"sourceGroupId\":\"%s\",\"x\":\"%s\"}", true},
};

enum { GUARDED = sizeof guarded / sizeof *guarded };

static got try_call(task *t, str session, const guarded_call *c, const evening *e)
{
    /* Both %s, as in the rows above. */
    str pattern = str_of(c->body != NULL ? c->body : c->target), out = {0};
    str values[2] = {e->group, e->session};
    for (size_t n = 0; n < 2; n++) {
        size_t at = str_find(pattern, STR("%s"));
        str    before = str_slice(pattern, 0, at);
        out = arena_strf(t->arena, "%.*s%.*s%.*s", STR_ARG(out), STR_ARG(before), STR_ARG(values[n]));
        pattern = str_from(pattern, at + 2);
    }
    out = arena_strf(t->arena, "%.*s%.*s", STR_ARG(out), STR_ARG(pattern));
    return c->body != NULL ? people_post(t, session, c->target, "%.*s", STR_ARG(out))
                           : people_get(t, session, out.at);
}

static void ck_refused(task *t, str session, const guarded_call *c, const evening *e, int status,
                       const char *error, const char *code)
{
    str before = all_that_is_stored(t);
    got g = try_call(t, session, c, e);
    ck_assert_msg(g.status == status, "%s %s answered %d: %.*s", c->method, c->target, g.status,
                  STR_ARG(g.body));
    ck_str_eq(rig_text(&g, "error"), str_of(error));
    if (code != NULL)
        ck_str_eq(rig_text(&g, "code"), str_of(code));
    ck_assert(rig_text(&g, "traceId").len > 0);
    ck_no_secret(&g, session);
    ck_str_eq(all_that_is_stored(t), before);
}

/* SCHED-45, SCHED-46, SCHED-47, SCHED-48: state.json names only dora, who has no row. */
RIG_TEST(the_tables_decide_who_is_let_in)
{
    const guarded_call *c = &guarded[i];
    evening             e = evening_of(t, "breakout");
    str                 bob = people_named(t, "bob@example.org"), cleo = people_named(t, "cleo@example.org");
    str dora = people_named(t, "dora@example.org"), emil = people_named(t, "emil@example.org");
    people_add(t, e.group, "bob@example.org");
    people_invite(t, e.group, "cleo@example.org");
    people_add(t, e.group, "emil@example.org");
    people_drop(t, e.group, "emil@example.org");
    state_put(t, e.group,
              "{\"people\":[{\"personId\":\"P-1\",\"email\":\"dora@example.org\",\"status\":\"active\"}],"
              "\"members\":[{\"email\":\"dora@example.org\"}],\"ignite\":{\"sessionId\":\"%.*s\",\"status\":"
              "\"OPEN\",\"joinedPersonIds\":[\"%.*s\"]}}",
              STR_ARG(e.session), STR_ARG(people_user_key("dora@example.org")));
    ck_refused(t, cleo, c, &e, 403, "not_allowed", NULL);
    ck_refused(t, dora, c, &e, 403, "not_allowed", NULL);
    ck_refused(t, emil, c, &e, 403, "not_allowed", NULL);
    got  g = try_call(t, bob, c, &e);
    bool no_photo = g.status == 404 && str_eq(rig_text(&g, "error"), STR("photo_not_found"));
    ck_assert_msg(g.status == 200 || no_photo, "%s answered %d: %.*s", c->target, g.status, STR_ARG(g.body));
}

static res mark_deleted(task *t, entity *row, bool is_new, void *ctx)
{
    (void)t, (void)is_new, (void)ctx;
    entity_set_bool(row, "isDeleted", true);
    return RES_OK;
}

/* SCHED-49. */
RIG_TEST(a_deleted_group_is_not_found_by_any_call)
{
    evening   e = evening_of(t, "breakout");
    group_row g;
    OK(group_change(t, e.group, mark_deleted, NULL, &g));
    for (size_t n = 0; n < GUARDED; n++)
        ck_refused(t, e.ann, &guarded[n], &e, 404, "group_not_found", NULL);
    static const guarded_call join = {"POST", "/api/ignite/join", "{\"groupId\":\"%s\",\"sessionId\":\"%s\"}",
                                      false};
    ck_refused(t, e.ann, &join, &e, 404, "group_not_found", NULL);
    e.group = STR("6a1f0c3e-0000-4000-8000-000000000000");
    for (size_t n = 0; n < GUARDED; n++)
        ck_refused(t, e.ann, &guarded[n], &e, 404, "group_not_found", NULL);
    ck_refused(t, e.ann, &join, &e, 404, "group_not_found", NULL);
}

/* SCHED-1, SCHED-2, SCHED-3, SCHED-4, SCHED-6. */
RIG_TEST(a_guest_sees_their_own_table_and_organises_nothing)
{
    evening e = evening_of(t, "breakout");
    got     joined = evening_scan(t, &e, (str){0}, "gus@example.org");
    str     gus = rig_text(&joined, "sessionId");
    str     elsewhere = people_guest(t, "gus@example.org", STR("6a1f0c3e-0000-4000-8000-000000000000"));
    str     expired = people_raw_session(
            t, arena_strf(t->arena,
                          "{\"v\":1,\"email\":\"gus@example.org\",\"kind\":\"igniteGrace\",\"createdAt\":"
                              "\"2020-01-01T00:00:00.000Z\",\"expiresAt\":\"2020-01-01T00:30:00.000Z\","
                              "\"scopeGroupId\":\"%.*s\"}",
                          STR_ARG(e.group))
                   .at);
    (void)evening_meta(t, &e, gus); /* was seen */
    for (size_t n = 0; n < GUARDED; n++) {
        const guarded_call *c = &guarded[n];
        ck_refused(t, expired, c, &e, 401, "unauthorized", "AUTH_IGNITE_GRACE_EXPIRED");
        ck_refused(t, STR("nobody"), c, &e, 401, "unauthorized", NULL);
        ck_refused(t, (str){0}, c, &e, 401, "unauthorized", NULL);
        ck_refused(t, elsewhere, c, &e, 403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION");
        if (c->organisers) {
            ck_refused(t, gus, c, &e, 403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION");
            continue;
        }
        got g = try_call(t, gus, c, &e);
        ck_assert(g.status == 200 || g.status == 404);
    }
}

Suite *suite_sched_ignite(void)
{
    Suite *s = suite_create("sched_ignite");
    TCase *c = live_case("ignite");
    tcase_add_test(c, a_second_start_ends_the_first_session);
    tcase_add_test(c, a_closed_session_stays_closed_and_takes_nobody);
    tcase_add_test(c, another_session_or_none_cannot_be_closed);
    tcase_add_test(c, state_json_is_readable_and_keeps_what_others_wrote);
    tcase_add_test(c, a_state_of_odd_types_is_read_as_far_as_it_makes_sense);
    tcase_add_loop_test(c, a_session_that_is_closing_takes_photos_until_its_time_is_up, 0,
                        sizeof closing / sizeof *closing);
    tcase_add_test(c, meta_counts_the_organiser_once_and_names_people_from_the_tables);
    tcase_add_test(c, meta_is_the_same_by_get_and_by_post);
    tcase_add_loop_test(c, meta_is_asked_for_with_a_group_and_a_session, 0,
                        sizeof bad_meta / sizeof *bad_meta);
    tcase_add_test(c, a_spinoff_has_its_organiser_and_leaves_the_source_alone);
    tcase_add_test(c, the_name_of_a_spinoff_is_cut_or_made_up);
    tcase_add_loop_test(c, the_tables_decide_who_is_let_in, 0, GUARDED);
    tcase_add_test(c, a_deleted_group_is_not_found_by_any_call);
    tcase_add_test(c, a_guest_sees_their_own_table_and_organises_nothing);
    suite_add_tcase(s, c);
    return s;
}
