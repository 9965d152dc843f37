/* test_sched_members.c -- coming in, leaving, and who is there.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/profiles.h"

#define ANN     "ann@example.org"
#define BOB     "bob@example.org"
#define GUS     "gus@example.org"
#define UNKNOWN "6a1f0c3e-0000-4000-8000-000000000000"

enum { MINUTE_US = 60 * 1000000 };

static got post_group(task *t, str session, const char *what, str group)
{
    return people_post(t, session, arena_strf(t->arena, "/api/group/%s", what).at, "{\"groupId\":\"%.*s\"}",
                       STR_ARG(group));
}

static got get_members(task *t, str session, str group)
{
    return people_get(t, session, arena_strf(t->arena, "/api/group/members?groupId=%.*s", STR_ARG(group)).at);
}

static entity row_of(task *t, str group, const char *email)
{
    return people_row(t, PLACE_GROUP_MEMBERS, group, people_user_key(email));
}

static entity copy_of(task *t, str group, const char *email)
{
    return people_row(t, PLACE_USER_GROUPS, people_user_key(email), group);
}

static str text_of(const entity *e, const char *name)
{
    return entity_str(e, name, (str){0});
}

static int64_t accepted(task *t)
{
    month_counts n;
    res          r = month_read(t, str_slice(call_now(t->arena), 0, 7), &n);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    return r == RES_OK ? n.of[COUNT_INVITES_ACCEPTED] : 0;
}

/* Status and times are the same in both rows. */
static void check_both(task *t, str group, const char *email, const char *status)
{
    static const char *const same[] = {"status",    "invitedAt",  "joinedAt",      "removedAt",
                                       "updatedAt", "memberKind", "lastSeenAtUtc", "inviteEmailStatus"};
    entity                   e = row_of(t, group, email), copy = copy_of(t, group, email);
    ck_str_eq(text_of(&e, "status"), str_of(status));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        ck_str_eq(text_of(&copy, same[i]), text_of(&e, same[i]));
    ck_assert(entity_bool(&e, "emailVerified", true) == entity_bool(&copy, "emailVerified", true));
}

/* ---- joining ---- */

/* SCHED-28. */
RIG_TEST(an_invited_person_joins_once)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB), group = people_group(t, ann, "Mine");
    people_invite(t, group, BOB);
    entity invited = row_of(t, group, BOB);
    got    g = post_group(t, bob, "join", group);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groupId"), group);
    ck_str_eq(rig_text(&g, "groupName"), STR("Mine"));
    ck_assert_uint_eq(rig_text(&g, "updatedAt").len, 24);
    ck_assert_ptr_null(rig_at(&g, "sessionId"));
    check_both(t, group, BOB, "active");
    entity e = row_of(t, group, BOB);
    ck_assert_uint_eq(text_of(&e, "joinedAt").len, 24);
    ck_str_eq(text_of(&e, "invitedAt"), text_of(&invited, "invitedAt"));
    ck_assert_int_eq(accepted(t), 1);
    entity profile_row =
        people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "auth:%.*s", STR_ARG(people_user_key(BOB))),
                   STR("profile"));
    ck_str_eq(text_of(&profile_row, "email"), STR(BOB));
    g = post_group(t, bob, "join", group);
    ck_status(g, 200);
    entity again = row_of(t, group, BOB);
    ck_str_eq(again.etag, e.etag);
    ck_assert_int_eq(accepted(t), 1);
}

/* SCHED-26, SCHED-27. */
RIG_TEST(whoever_was_not_invited_does_not_join)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB), group = people_group(t, ann, "Mine");
    got g = post_group(t, ann, "join", group);
    ck_status(g, 200);
    ck_assert_ptr_null(rig_at(&g, "sessionId"));
    g = post_group(t, bob, "join", STR(UNKNOWN));
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("group_not_found"));
    g = people_post(t, bob, "/api/group/join", "{\"groupId\":\"%.*s\",\"email\":\"" ANN "\"}",
                    STR_ARG(group));
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("not_allowed"));
    entity e;
    EXPECT(RES_NOT_FOUND, tables_get(t, place_table(PLACE_GROUP_MEMBERS), group, people_user_key(BOB), &e));
    task_forget(t);
    people_add(t, group, BOB);
    people_drop(t, group, BOB);
    g = post_group(t, bob, "join", group);
    ck_status(g, 403);
    check_both(t, group, BOB, "removed");
    g = post_group(t, people_guest(t, BOB, group), "join", group); /* not by the back door either */
    ck_status(g, 403);
    g = post_group(t, ann, "delete", group);
    ck_status(g, 200);
    g = post_group(t, ann, "join", group);
    ck_status(g, 404);
}

static str    joined_group, joiners[8];
static size_t joined;

static res join_one(task *t, size_t i, void *ctx)
{
    (void)ctx;
    got g = post_group(t, joiners[i % 8], "join", joined_group);
    ck_status(g, 200);
    joined++;
    return RES_OK;
}

RIG_TEST(who_joins_many_times_at_once_is_counted_once)
{
    str ann = people_named(t, ANN);
    joined_group = people_group(t, ann, "Mine");
    for (int n = 0; n < 8; n++) {
        const char *email = textf("p%d@example.org", n);
        people_invite(t, joined_group, email);
        joiners[n] = people_sign_in(t, email);
    }
    OK(par_each(t, 24, 24, join_one, NULL));
    ck_assert_uint_eq(joined, 24);
    ck_assert_int_eq(accepted(t), 8);
    group_row row;
    OK(group_read(t, joined_group, &row));
    ck_assert_int_eq(row.active, 9);
    ck_assert_int_eq(row.invited, 0);
}

/* SCHED-44. */
RIG_TEST(a_guest_is_told_from_a_member)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Table"),
        guest = people_guest(t, GUS, group);
    got g = post_group(t, guest, "join", group);
    ck_status(g, 200);
    check_both(t, group, GUS, "active");
    g = get_members(t, ann, group);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "members/1/memberKind"), STR("guest"));
    ck_assert(!rig_bool(&g, "members/1/emailVerified"));
    ck_assert(!str_has(g.body, guest)); /* which is the key to the session */
    entity e = row_of(t, group, GUS);
    ck_str_eq(text_of(&e, "memberKey"), arena_strf(t->arena, "guest:%.*s", STR_ARG(guest)));
    entity_drop(&e, "memberKind"); /* as an older program wrote it */
    entity_drop(&e, "emailVerified");
    entity_drop(&e, "memberKey");
    OK(tables_replace(t, place_table(PLACE_GROUP_MEMBERS), &e, ETAG_ANY));
    g = get_members(t, ann, group);
    ck_str_eq(rig_text(&g, "members/1/memberKind"), STR("full"));
    ck_assert(rig_bool(&g, "members/1/emailVerified"));
}

/* ---- leaving ---- */

/* SCHED-40, SCHED-41. */
RIG_TEST(who_declines_is_removed_and_may_be_invited_again)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB), group = people_group(t, ann, "Mine");
    people_invite(t, group, BOB);
    got g = post_group(t, bob, "decline", group);
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    check_both(t, group, BOB, "removed");
    entity e = row_of(t, group, BOB);
    ck_assert_uint_eq(text_of(&e, "removedAt").len, 24);
    g = post_group(t, bob, "decline", group);
    ck_status(g, 200);
    ck_str_eq(row_of(t, group, BOB).etag, e.etag);
    g = people_get(t, bob, "/api/me/groups");
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 0);
    people_invite(t, group, BOB);
    check_both(t, group, BOB, "invited");
    e = row_of(t, group, BOB);
    ck_assert(!entity_has(&e, "removedAt") && !entity_has(&e, "joinedAt"));
    g = post_group(t, bob, "join", group);
    ck_status(g, 200);
    g = post_group(t, bob, "decline", group); /* which is also how one leaves */
    ck_status(g, 200);
    check_both(t, group, BOB, "removed");
    g = post_group(t, people_sign_in(t, GUS), "decline", group);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("not_found"));
    ck_str_eq(rig_text(&g, "message"), STR("Membership not found"));
}

/* The repair rule: what UserGroups has lost is written by the next transition. */
RIG_TEST(a_lost_copy_of_a_membership_is_written_again)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    OK(tables_remove(t, place_table(PLACE_USER_GROUPS), people_user_key(ANN), group, ETAG_ANY));
    got g = people_get(t, ann, "/api/me/groups");
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 0);
    g = post_group(t, ann, "decline", group);
    ck_status(g, 404);
    g = post_group(t, ann, "join", group);
    ck_status(g, 200);
    check_both(t, group, ANN, "active");
    g = people_get(t, ann, "/api/me/groups");
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 1);
}

/* ---- claiming ---- */

static got claim(task *t, str session, str group, str grace)
{
    return people_post(t, session, "/api/group/claim", "{\"groupId\":\"%.*s\",\"graceSessionId\":\"%.*s\"}",
                       STR_ARG(group), STR_ARG(grace));
}

RIG_TEST(a_guest_who_signs_in_becomes_a_member)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Table"),
        guest = people_guest(t, GUS, group);
    profile called = {.display_name = STR("Gus at the table")};
    got     g = post_group(t, guest, "join", group);
    ck_status(g, 200);
    OK(profile_write(t, arena_strf(t->arena, "guest:%.*s", STR_ARG(guest)), &called, NULL));
    g = claim(t, people_sign_in(t, GUS), group, guest);
    ck_status(g, 200);
    check_both(t, group, GUS, "active");
    g = get_members(t, ann, group);
    ck_assert_uint_eq(json_len(rig_at(&g, "members")), 2);
    ck_str_eq(rig_text(&g, "members/1/memberKind"), STR("full"));
    ck_assert(rig_bool(&g, "members/1/emailVerified"));
    ck_str_eq(rig_text(&g, "members/1/displayName"), STR("Gus at the table"));
    g = claim(t, people_sign_in(t, BOB), group, guest); /* under another address: a member of their own */
    ck_status(g, 200);
    check_both(t, group, BOB, "active");
    people_drop(t, group, BOB);
    g = claim(t, people_sign_in(t, BOB), group, guest);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("not_allowed"));
}

/* SCHED-42. */
RIG_TEST(a_claim_with_another_session_is_refused_and_writes_nothing)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Table"),
        other = people_group(t, ann, "Other");
    str    bob = people_sign_in(t, BOB), guest = people_guest(t, GUS, other);
    entity e;
    got    g = claim(t, bob, group, guest);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("grace_session_scope_mismatch"));
    g = claim(t, bob, group, ann);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("grace_session_kind_invalid"));
    g = claim(t, bob, group, STR("../x"));
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_grace_session"));
    g = claim(t, bob, group, STR(""));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_grace_session_id"));
    g = claim(t, bob, STR("x"), guest);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_group_id"));
    g = claim(t, guest, other, guest);
    ck_status(g, 403);
    EXPECT(RES_NOT_FOUND, tables_get(t, place_table(PLACE_GROUP_MEMBERS), group, people_user_key(BOB), &e));
    task_forget(t);
    g = post_group(t, ann, "delete", other);
    ck_status(g, 200);
    g = claim(t, bob, other, guest);
    ck_status(g, 404);
}

/* ---- who is there ---- */

/* SCHED-35, SCHED-94. */
RIG_TEST(members_are_listed_by_address_with_all_that_is_known)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    people_add(t, group, GUS);
    people_drop(t, group, GUS);
    people_invite(t, group, BOB);
    people_add(t, group, "aa@example.org");
    member_note_mail(t, group, people_user_key(BOB), "failed", "transient", STR("busy"));
    got g = get_members(t, ann, group);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groupId"), group);
    ck_assert_uint_eq(json_len(rig_at(&g, "members")), 3);
    ck_str_eq(rig_text(&g, "members/0/email"), STR("aa@example.org"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "members/0/lastSeenAtUtc")), JSON_NULL);
    ck_assert_ptr_null(rig_at(&g, "members/0/displayName"));
    ck_str_eq(rig_text(&g, "members/0/inviteEmailStatus"), STR("not_sent"));
    ck_str_eq(rig_text(&g, "members/1/userKey"), people_user_key(ANN));
    ck_str_eq(rig_text(&g, "members/1/displayName"), STR("ann"));
    ck_str_eq(rig_text(&g, "members/1/status"), STR("active"));
    ck_assert_uint_eq(rig_text(&g, "members/1/lastSeenAtUtc").len, 24);
    ck_str_eq(rig_text(&g, "members/2/email"), STR(BOB));
    ck_str_eq(rig_text(&g, "members/2/status"), STR("invited"));
    ck_str_eq(rig_text(&g, "members/2/inviteEmailStatus"), STR("failed"));
    ck_str_eq(rig_text(&g, "members/2/inviteEmailFailedReason"), STR("transient"));
    ck_str_eq(rig_text(&g, "members/2/inviteEmailProviderMessage"), STR("busy"));
    ck_assert_uint_eq(rig_text(&g, "members/2/inviteEmailLastAttemptAtUtc").len, 24);
    ck_assert_uint_eq(rig_text(&g, "members/2/invitedAt").len, 24);
    ck_assert_ptr_null(rig_at(&g, "members/2/memberKey"));
    check_both(t, group, BOB, "invited");
}

RIG_TEST(a_thousand_members_are_all_listed)
{
    str      ann = people_named(t, ANN), group = people_group(t, ann, "Crowd");
    uint64_t done = 0;
    for (unsigned from = 0; from < 1000; from += 100) {
        entity      rows[100];
        table_write writes[100];
        for (unsigned n = 0; n < 100; n++) {
            const char *email = textf("m%04u@example.org", from + n);
            rows[n] = entity_new(t->arena, group, people_user_key(email));
            entity_set_str(&rows[n], "userKey", rows[n].row);
            entity_set_str(&rows[n], "email", str_of(email));
            entity_set_str(&rows[n], "status", STR("active"));
            entity_set_str(&rows[n], "updatedAt", STR("2026-01-01T00:00:00.000Z"));
            writes[n] = (table_write){.kind = WRITE_INSERT, .e = &rows[n]};
        }
        OK(tables_commit(t, place_table(PLACE_GROUP_MEMBERS), writes, 100, NULL));
        done += 100;
    }
    got g = get_members(t, ann, group);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "members")), done + 1);
    ck_str_eq(rig_text(&g, "members/0/email"), STR(ANN));
    ck_str_eq(rig_text(&g, "members/1/email"), STR("m0000@example.org"));
    ck_str_eq(rig_text(&g, "members/1000/email"), STR("m0999@example.org"));
}

static got put_name(task *t, str session, str group, str key, const char *name)
{
    return people_put(t, session, "/api/group/member-profile",
                      "{\"groupId\":\"%.*s\",\"userKey\":\"%.*s\",\"displayName\":\"%s\"}", STR_ARG(group),
                      STR_ARG(key), name);
}

/* SCHED-36. */
RIG_TEST(a_member_names_another_one)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB), group = people_group(t, ann, "Mine");
    people_invite(t, group, GUS);
    got g = put_name(t, ann, group, people_user_key(GUS), "  Uncle \\t Gus ");
    ck_status(g, 200);
    g = get_members(t, ann, group);
    ck_str_eq(rig_text(&g, "members/1/displayName"), STR("Uncle Gus"));
    g = put_name(t, bob, group, people_user_key(GUS), "n");
    ck_status(g, 403);
    g = put_name(t, ann, group, people_user_key(BOB), "n");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("member_not_found"));
    people_drop(t, group, GUS);
    g = put_name(t, ann, group, people_user_key(GUS), "n");
    ck_status(g, 404);
    g = put_name(t, ann, STR("x"), people_user_key(GUS), "n");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_group_id"));
    g = put_name(t, ann, group, STR("../x"), "n");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_user_key"));
    g = put_name(t, ann, group, people_user_key(GUS), " ");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_display_name"));
    g = put_name(t, ann, group, people_user_key(GUS), "01234567890123456789012345678901234567890");
    ck_status(g, 400);
    g = people_put(t, ann, "/api/group/member-profile", "not json");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_body"));
}

/* ---- last seen ---- */

/* SCHED-43. */
RIG_TEST(a_member_is_seen_at_most_once_a_minute)
{
    str    ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    entity e = row_of(t, group, ANN);
    ck_assert(!entity_has(&e, "lastSeenAtUtc"));
    got g = get_members(t, ann, group);
    ck_status(g, 200);
    check_both(t, group, ANN, "active");
    e = row_of(t, group, ANN);
    str first = text_of(&e, "lastSeenAtUtc");
    ck_assert_uint_eq(first.len, 24);
    ck_str_eq(text_of(&e, "updatedAt"), first);
    g = get_members(t, ann, group);
    ck_status(g, 200);
    ck_str_eq(row_of(t, group, ANN).etag, e.etag);

    str before = iso8601_arena(t->arena, clock_wall_us() - MINUTE_US - 1000, 3);
    entity_set_str(&e, "lastSeenAtUtc", before);
    entity_set_str(&e, "updatedAt", before);
    OK(tables_replace(t, place_table(PLACE_GROUP_MEMBERS), &e, ETAG_ANY));
    g = get_members(t, ann, group);
    ck_status(g, 200);
    e = row_of(t, group, ANN);
    ck_assert_int_gt(str_compare(text_of(&e, "lastSeenAtUtc"), before), 0);
    check_both(t, group, ANN, "active");
}

/* ---- failures inside ---- */

static str broken_group;

static const struct {
    const char *target, *email, *invite;
} tortures[] = {
    {"/api/group/join", BOB, "invite"}, {"/api/group/decline", BOB, "invite"},
    {"/api/group/claim", BOB, NULL},    {"/api/group/members", ANN, NULL},
    {"/api/me/groups", ANN, NULL},      {"/api/me/dashboard", ANN, NULL},
};
static int tortured;

static void remove_row(task *t, place where, str partition, str row)
{
    res r = tables_remove(t, place_table(where), partition, row, ETAG_ANY);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
}

static void put_back(task *t)
{
    if (tortures[tortured].invite == NULL)
        return;
    remove_row(t, PLACE_GROUP_MEMBERS, broken_group, people_user_key(BOB));
    remove_row(t, PLACE_USER_GROUPS, people_user_key(BOB), broken_group);
    people_invite(t, broken_group, BOB);
}

RIG_TEST(no_call_about_members_minds_where_it_is_broken)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB);
    tortured = i;
    broken_group = people_group(t, ann, "Mine");
    bool        posts = str_starts(str_of(tortures[i].target), STR("/api/group/")) && i < 3;
    str         guest = people_guest(t, GUS, broken_group);
    const char *body =
        textf("{\"groupId\":\"%.*s\",\"graceSessionId\":\"%.*s\"}", STR_ARG(broken_group), STR_ARG(guest));
    const char *target = textf("%s?groupId=%.*s", tortures[i].target, STR_ARG(broken_group));
    rig_request in =
        people_request(str_eq(str_of(tortures[i].email), STR(ANN)) ? ann : bob, target, posts ? body : NULL);
    rig_torture(t, &in, 200, (const int[]){500, 0}, put_back);
}

Suite *suite_sched_members(void)
{
    Suite *s = suite_create("sched_members");
    TCase *c = live_case("members");
    tcase_add_test(c, an_invited_person_joins_once);
    tcase_add_test(c, whoever_was_not_invited_does_not_join);
    tcase_add_test(c, who_joins_many_times_at_once_is_counted_once);
    tcase_add_test(c, a_guest_is_told_from_a_member);
    tcase_add_test(c, who_declines_is_removed_and_may_be_invited_again);
    tcase_add_test(c, a_lost_copy_of_a_membership_is_written_again);
    tcase_add_test(c, a_guest_who_signs_in_becomes_a_member);
    tcase_add_test(c, a_claim_with_another_session_is_refused_and_writes_nothing);
    tcase_add_test(c, members_are_listed_by_address_with_all_that_is_known);
    tcase_add_test(c, a_thousand_members_are_all_listed);
    tcase_add_test(c, a_member_names_another_one);
    tcase_add_test(c, a_member_is_seen_at_most_once_a_minute);
    tcase_add_loop_test(c, no_call_about_members_minds_where_it_is_broken, 0,
                        (int)(sizeof tortures / sizeof *tortures));
    suite_add_tcase(s, c);
    return s;
}
