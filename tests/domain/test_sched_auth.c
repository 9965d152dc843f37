/* test_sched_auth.c -- sessions: whose are taken, whose are not, and what is said to them.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define ANN          "ann@example.org"
#define LATER        "2099-01-01T00:00:00.000Z"
#define OTHER_GROUP  "11111111-1111-4111-8111-111111111111"

static got meta(task *t, str session, str group)
{
    return people_get(t, session, arena_strf(t->arena, "/api/group/meta?groupId=%.*s", STR_ARG(group)).at);
}

static str guest_of(task *t, str scope, str breakout)
{
    return people_raw_session(t,
                              arena_strf(t->arena,
                                         "{\"v\":1,\"email\":\"gus@example.org\",\"kind\":\"igniteGrace\","
                                         "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"expiresAt\":\"" LATER
                                         "\",\"scopeGroupId\":\"%.*s\",\"scopeBreakoutGroupId\":\"%.*s\"}",
                                         STR_ARG(scope), STR_ARG(breakout))
                                  .at);
}

/* SCHED-1, SCHED-2, SCHED-3. */
RIG_TEST(a_guest_gets_into_the_groups_of_its_scope_alone)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Table"),
        other = people_group(t, ann, "Other");
    people_add(t, group, "gus@example.org");
    people_add(t, other, "gus@example.org");
    got g = meta(t, guest_of(t, group, STR(OTHER_GROUP)), group);
    ck_status(g, 200);
    g = meta(t, guest_of(t, STR(OTHER_GROUP), group), group);
    ck_status(g, 200);
    g = meta(t, guest_of(t, group, group), other);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("forbidden"));
    ck_str_eq(rig_text(&g, "code"), STR("AUTH_SESSION_SCOPE_VIOLATION"));
    ck_assert_uint_gt(rig_text(&g, "traceId").len, 0);
    g = meta(t, guest_of(t, STR(""), STR("")), group);
    ck_status(g, 403);
}

static const struct {
    const char *text, *code;
} refused[] = {
    {"", NULL},
    {"not json", NULL},
    {"[1]", NULL},
    {"{\"v\":2,\"email\":\"" ANN "\",\"expiresAt\":\"" LATER "\"}", NULL},
    {"{\"email\":\"" ANN "\",\"expiresAt\":\"" LATER "\"}", NULL},
    {"{\"v\":1,\"email\":\"nobody\",\"expiresAt\":\"" LATER "\"}", NULL},
    {"{\"v\":1,\"email\":7,\"expiresAt\":\"" LATER "\"}", NULL},
    {"{\"v\":1,\"email\":\"" ANN "\"}", NULL},
    {"{\"v\":1,\"email\":\"" ANN "\",\"expiresAt\":\"soon\"}", NULL},
    {"{\"v\":1,\"email\":\"" ANN "\",\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}", NULL},
    {"{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"full\",\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}", NULL},
    {"{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"igniteGrace\",\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}",
     "AUTH_IGNITE_GRACE_EXPIRED"},
    {"{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"provisional\",\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}",
     "AUTH_PROVISIONAL_EXPIRED"},
};

/* SCHED-6. */
RIG_TEST(a_session_that_is_over_or_damaged_is_none)
{
    got g = people_get(t, people_raw_session(t, refused[i].text), "/api/me/groups");
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "error"), STR("unauthorized"));
    if (refused[i].code != NULL)
        ck_str_eq(rig_text(&g, "code"), str_of(refused[i].code));
    else
        ck_str_eq(rig_text(&g, "message"), STR("Invalid session"));
    ck_assert((rig_at(&g, "code") != NULL) == (refused[i].code != NULL));
}

static const char *const taken[] = {
    "{\"v\":1,\"email\":\" Ann@Example.ORG \",\"expiresAt\":\"" LATER "\"}",
    "{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"of the future\",\"expiresAt\":\"" LATER "\"}",
    "{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"provisional\",\"expiresAt\":\"" LATER "\"}",
    "{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"full\",\"expiresAt\":\"" LATER "\",\"more\":[{}]}",
};

RIG_TEST(a_session_of_any_kind_but_a_guests_is_the_persons)
{
    str group = people_group(t, people_named(t, ANN), "Mine");
    got g = meta(t, people_raw_session(t, taken[i]), group);
    ck_status(g, 200);
}

/* SCHED-4. */
RIG_TEST(an_id_that_is_no_session_is_refused_whatever_it_looks_like)
{
    str ids[] = {STR("6a1f0c3e-0000-4000-8000-000000000000"),
                 STR("../../state.json"),
                 STR("a/b"),
                 STR("a%2fb"),
                 STR("a b"),
                 STR("\xc3\xa9"),
                 live_repeat(t->arena, STR("x"), 10000)};
    for (size_t n = 0; n < sizeof ids / sizeof *ids; n++) {
        rig_request in = people_request(ids[n], "/api/me/groups", NULL);
        got         g = rig_direct(t, &in);
        ck_status(g, 401);
        ck_str_eq(rig_text(&g, "error"), STR("unauthorized"));
        ck_str_eq(rig_text(&g, "message"), STR("Invalid session"));
    }
    got g = people_get(t, STR("  "), "/api/me/groups");
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "message"), STR("Missing session"));
}

/* SCHED-5. */
RIG_TEST(without_a_session_nothing_of_a_group_is_served)
{
    static const char *const posts[] = {"create", "join",   "join-link", "invite-email", "decline",
                                        "rename", "delete", "restore",   "claim"};
    const char *body = "{\"groupId\":\"" OTHER_GROUP "\",\"groupName\":\"n\",\"email\":\"a@b.c\","
                       "\"recipientEmail\":\"a@b.c\",\"graceSessionId\":\"g\"}";
    for (size_t n = 0; n < sizeof posts / sizeof *posts; n++) {
        got g = people_post(t, (str){0}, arena_strf(t->arena, "/api/group/%s", posts[n]).at, "%s", body);
        ck_status(g, 401);
        ck_str_eq(rig_text(&g, "message"), STR("Missing session"));
    }
    got g = people_get(t, (str){0}, "/api/group/members?groupId=" OTHER_GROUP);
    ck_status(g, 401);
    g = people_put(t, (str){0}, "/api/group/member-profile",
                   "{\"groupId\":\"" OTHER_GROUP "\",\"displayName\":\"n\",\"userKey\":\"%.*s\"}",
                   STR_ARG(people_user_key(ANN)));
    ck_status(g, 401);
    g = people_get(t, (str){0}, "/api/me/dashboard");
    ck_status(g, 401);
}

/* An organiser's calls are not a guest's, in whatever group (specification §1.2). */
RIG_TEST(a_guest_organises_nothing)
{
    str                      ann = people_named(t, ANN), group = people_group(t, ann, "Table");
    str                      guest = people_guest(t, "gus@example.org", group);
    static const char *const calls[] = {"create", "rename", "delete", "restore", "join-link", "invite-email"};
    people_add(t, group, "gus@example.org");
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        got g = people_post(t, guest, arena_strf(t->arena, "/api/group/%s", calls[n]).at,
                            "{\"groupId\":\"%.*s\",\"groupName\":\"n\",\"email\":\"a@b.c\","
                            "\"recipientEmail\":\"a@b.c\"}",
                            STR_ARG(group));
        ck_status(g, 403);
        ck_str_eq(rig_text(&g, "code"), STR("AUTH_SESSION_SCOPE_VIOLATION"));
    }
    got g = meta(t, ann, group);
    ck_str_eq(rig_text(&g, "groupName"), STR("Table"));
}

RIG_TEST(no_line_of_the_log_holds_a_session_or_an_address)
{
    rig_log_capture();
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"),
        guest = people_guest(t, "gus@example.org", group);
    got g = meta(t, ann, group);
    ck_status(g, 200);
    g = meta(t, guest, group);
    ck_status(g, 403);
    g = people_get(t, people_raw_session(t, "broken"), "/api/me/groups");
    ck_status(g, 401);
    ck_assert(!str_has(rig_log(), ann));
    ck_assert(!str_has(rig_log(), guest));
    ck_assert(!str_has(rig_log(), STR("@example.org")));
}

RIG_TEST(a_session_ends_on_time_though_it_was_seen_a_moment_ago)
{
    str ann = people_named(t, ANN);
    got g = people_get(t, ann, "/api/me/groups");
    ck_status(g, 200);
    clock_set_for_test(clock_wall_us() + INT64_C(604801) * 1000000, clock_mono_us());
    g = people_get(t, ann, "/api/me/groups");
    clock_unset_for_test();
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "message"), STR("Invalid session"));
}

Suite *suite_sched_auth(void)
{
    Suite *s = suite_create("sched_auth");
    TCase *c = live_case("sessions");
    tcase_add_test(c, a_guest_gets_into_the_groups_of_its_scope_alone);
    tcase_add_loop_test(c, a_session_that_is_over_or_damaged_is_none, 0, COUNT(refused));
    tcase_add_loop_test(c, a_session_of_any_kind_but_a_guests_is_the_persons, 0, COUNT(taken));
    tcase_add_test(c, an_id_that_is_no_session_is_refused_whatever_it_looks_like);
    tcase_add_test(c, without_a_session_nothing_of_a_group_is_served);
    tcase_add_test(c, a_guest_organises_nothing);
    tcase_add_test(c, a_session_ends_on_time_though_it_was_seen_a_moment_ago);
    tcase_add_test(c, no_line_of_the_log_holds_a_session_or_an_address);
    suite_add_tcase(s, c);
    return s;
}
