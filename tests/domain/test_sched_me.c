/* test_sched_me.c -- what a person sees first.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_people.h"
#include "domain/sched_suites.h"

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

Suite *suite_sched_me(void)
{
    Suite *s = suite_create("sched_me");
    TCase *c = live_case("me");
    tcase_add_test(c, without_a_session_nobody_sees_groups);
    tcase_add_test(c, groups_are_listed_active_first_and_then_by_name);
    suite_add_tcase(s, c);
    return s;
}
