/* test_sched_me.c -- what a person sees first.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"

#define ANN "ann@example.org"

/* SCHED-5, SCHED-20. */
RIG_TEST(without_a_session_nobody_sees_groups)
{
    got g = people_get(t, (str){0}, "/api/me/groups");
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "error"), STR("unauthorized"));
    ck_str_eq(rig_text(&g, "message"), STR("Missing session"));
}

/* SCHED-17, SCHED-19, SCHED-22. */
RIG_TEST(groups_are_listed_active_first_and_then_by_name)
{
    str ann = people_named(t, "ann@example.org"), bob = people_named(t, "bob@example.org");
    str zoo = people_group(t, ann, "Zoo"), ant = people_group(t, ann, "Ant"),
        pub = people_group(t, bob, "Pub");
    people_invite(t, pub, "ann@example.org");
    got g = people_get(t, ann, "/api/me/groups");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groups/0/groupId"), ant);
    ck_str_eq(rig_text(&g, "groups/1/groupId"), zoo);
    ck_str_eq(rig_text(&g, "groups/2/groupId"), pub);
    ck_str_eq(rig_text(&g, "groups/2/myStatus"), STR("invited"));
    people_drop(t, pub, "ann@example.org");
    g = people_get(t, ann, "/api/me/groups");
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 2);
}

/* SCHED-18. */
RIG_TEST(a_group_that_is_not_there_any_more_is_not_listed)
{
    str ann = people_named(t, ANN), gone = people_group(t, ann, "Gone"), kept = people_group(t, ann, "Kept");
    OK(tables_remove(t, place_table(PLACE_GROUPS), STR("group"), gone, ETAG_ANY));
    got g = people_get(t, ann, "/api/me/groups?traceId=mine");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 1);
    ck_str_eq(rig_text(&g, "groups/0/groupId"), kept);
    ck_str_eq(rig_text(&g, "traceId"), STR("mine"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "groups/0/invitedAt")), JSON_NULL);
    ck_assert_int_eq(json_typeof(rig_at(&g, "groups/0/removedAt")), JSON_NULL);
    ck_assert_uint_eq(rig_text(&g, "groups/0/joinedAt").len, 24);
}

RIG_TEST(who_is_in_no_group_gets_an_empty_list)
{
    got g = people_get(t, people_sign_in(t, ANN), "/api/me/groups");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 0);
    ck_assert_int_eq(json_typeof(rig_at(&g, "groups")), JSON_ARRAY);
}

/* SCHED-21. The address that a guest gives may be anybody's. */
RIG_TEST(a_guest_sees_the_groups_of_its_scope_alone)
{
    str   ann = people_named(t, ANN), here = people_group(t, ann, "Table");
    usage n = {.user_key = people_user_key(ANN), .model = STR("m"), .tokens_in = 11, .tokens_out = 7};
    (void)people_group(t, ann, "Private");
    usage_record(t, &n);
    str guest = people_guest(t, ANN, here);
    got g = people_get(t, guest, "/api/me/groups");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 1);
    ck_str_eq(rig_text(&g, "groups/0/groupId"), here);
    g = people_get(t, guest, "/api/me/dashboard");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 1);
    ck_assert(!str_has(g.body, STR("Private")));
    ck_assert_int_eq(json_typeof(rig_at(&g, "usageToday")), JSON_NULL);
}

/* ---- the dashboard ---- */

RIG_TEST(the_dashboard_shows_groups_invitations_and_figures)
{
    str   ann = people_named(t, ANN), bob = people_named(t, "bob@example.org");
    str   mine = people_group(t, ann, "Mine"), other = people_group(t, bob, "Other");
    usage n = {.user_key = people_user_key(ANN), .model = STR("m"), .tokens_in = 11, .tokens_out = 7};
    for (int k = 0; k < 3; k++)
        (void)people_group(t, ann, textf("More %d", k));
    people_invite(t, other, ANN);
    people_invite(t, mine, "cy@example.org");
    usage_record(t, &n);
    got g = people_get(t, ann, "/api/me/dashboard");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 5);
    ck_str_eq(rig_text(&g, "groups/0/groupId"), mine);
    ck_assert_int_eq(rig_int(&g, "groups/0/memberCountActive"), 1);
    ck_assert_int_eq(rig_int(&g, "groups/0/memberCountInvited"), 1);
    ck_assert_int_eq(rig_int(&g, "groups/0/appointmentCountUpcoming"), 0);
    ck_assert_uint_eq(json_len(rig_at(&g, "recent")), 3);
    ck_str_eq(rig_text(&g, "recent/0/type"), STR("invite"));
    ck_str_eq(rig_text(&g, "recent/0/groupId"), other);
    ck_str_eq(rig_text(&g, "recent/0/label"), STR("Other"));
    ck_str_eq(rig_text(&g, "recent/0/actions/0"), STR("accept"));
    ck_str_eq(rig_text(&g, "recent/0/actions/1"), STR("decline"));
    ck_str_eq(rig_text(&g, "recent/1/type"), STR("group"));
    ck_assert(str_starts(rig_text(&g, "recent/1/label"), STR("More "))); /* not the oldest one */
    ck_str_eq(rig_text(&g, "recent/1/actions/0"), STR("resume"));
    ck_assert_int_eq(rig_int(&g, "usageToday/openaiCalls"), 1);
    ck_assert_int_eq(rig_int(&g, "usageToday/tokensIn"), 11);
    ck_assert_int_eq(rig_int(&g, "usageToday/tokensOut"), 7);
    ck_assert_int_eq(rig_int(&g, "monthSummary/newGroups"), 5);
    ck_assert_int_eq(rig_int(&g, "monthSummary/invitesSent"), 2);
    ck_assert(rig_bool(&g, "health/ok"));
    ck_assert_uint_gt(rig_text(&g, "traceId").len, 0);
}

RIG_TEST(the_dashboard_of_nobody_yet_is_empty)
{
    got g = people_get(t, people_sign_in(t, ANN), "/api/me/dashboard");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 0);
    ck_assert_uint_eq(json_len(rig_at(&g, "recent")), 0);
    ck_assert_int_eq(json_typeof(rig_at(&g, "usageToday")), JSON_NULL);
    ck_assert_int_eq(json_typeof(rig_at(&g, "monthSummary")), JSON_NULL);
}

Suite *suite_sched_me(void)
{
    Suite *s = suite_create("sched_me");
    TCase *c = live_case("me");
    tcase_add_test(c, without_a_session_nobody_sees_groups);
    tcase_add_test(c, groups_are_listed_active_first_and_then_by_name);
    tcase_add_test(c, a_group_that_is_not_there_any_more_is_not_listed);
    tcase_add_test(c, who_is_in_no_group_gets_an_empty_list);
    tcase_add_test(c, a_guest_sees_the_groups_of_its_scope_alone);
    tcase_add_test(c, the_dashboard_shows_groups_invitations_and_figures);
    tcase_add_test(c, the_dashboard_of_nobody_yet_is_empty);
    suite_add_tcase(s, c);
    return s;
}
