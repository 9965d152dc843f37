/* test_sched_ignite_join.c -- somebody scans the QR code.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/sched_suites.h"
#include "domain/sched_table.h"
#include "domain/scheduler/link_limit.h"
#include "domain/scheduler/settings.h"

#define JOIN   "/api/ignite/join"
#define SECRET "a secret for links"

static str status_of(task *t, const evening *e, const char *email)
{
    entity row = people_row(t, PLACE_GROUP_MEMBERS, e->group, people_user_key(email));
    return entity_str(&row, "status", (str){0});
}

static void ck_untouched(task *t, str before)
{
    ck_str_eq(all_that_is_stored(t), before);
}

/* ---- what is sent ---- */

static const struct {
    const char *more, *error;
    bool        with_group, with_session;
} bad[] = {
    {"", "sessionId_required", true, false},
    {"", "sessionId_required", false, false},
    {",\"sessionId\":7", "sessionId_required", false, false},
    {"", "invalid_group_id", false, true},
    /* SCHED-54. */
    {",\"email\":\"bob@example.org\"", "name_required", true, true},
    {",\"name\":\" \\t \",\"email\":\"bob@example.org\"", "name_required", true, true},
    {",\"name\":\"bob\"", "invalid_email", true, true},
    {",\"name\":\"bob\",\"email\":\"bob@example\"", "invalid_email", true, true},
    {",\"name\":\"bob\",\"email\":[\"bob@example.org\"]", "invalid_email", true, true},
    /* SCHED-57. */
    {",\"name\":\"bob\",\"email\":\"bob@example.org\",\"photoBase64\":\"no base64\"", "invalid_photo", true,
     true},
    {",\"name\":\"bob\",\"email\":\"bob@example.org\",\"photoBase64\":\"aGVsbG8=\"", "invalid_photo", true,
     true},
};

RIG_TEST(what_a_guest_must_say_is_looked_at_before_anything_is_written)
{
    evening e = evening_of(t, "breakout");
    str     before = all_that_is_stored(t);
    str     group = bad[i].with_group ? arena_strf(t->arena, "%.*s", STR_ARG(e.group)) : STR("x");
    str     session =
        bad[i].with_session ? arena_strf(t->arena, ",\"sessionId\":\"%.*s\"", STR_ARG(e.session)) : (str){0};
    got g = people_post(t, (str){0}, JOIN, "{\"groupId\":\"%.*s\"%.*s%s}", STR_ARG(group), STR_ARG(session),
                        bad[i].more);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), str_of(bad[i].error));
    ck_untouched(t, before);
}

/* ---- guests ---- */

/* SCHED-53, SCHED-93. */
RIG_TEST(a_guest_gets_a_session_for_this_group_and_a_row_that_says_so)
{
    evening e = evening_of(t, "breakout");
    got     g = evening_scan(t, &e, (str){0}, "Gus@Example.org");
    ck_status(g, 200);
    str     gus = rig_text(&g, "sessionId");
    int64_t until_us = 0;
    ck_assert(iso8601_parse(rig_text(&g, "graceExpiresAtUtc"), &until_us));
    ck_assert_int_gt(until_us, clock_wall_us());
    ck_assert(rig_bool(&g, "requiresVerification") && rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "breakoutGroupId"), e.group);
    ck_str_eq(rig_text(&g, "tokenKind"), STR("breakout"));
    str    key = people_user_key("gus@example.org");
    entity row = people_row(t, PLACE_GROUP_MEMBERS, e.group, key);
    entity copy = people_row(t, PLACE_USER_GROUPS, key, e.group);
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("active"));
    ck_str_eq(entity_str(&row, "memberKind", (str){0}), STR("guest"));
    ck_str_eq(entity_str(&copy, "memberKind", (str){0}), STR("guest"));
    ck_assert(!entity_bool(&row, "emailVerified", true));
    entity named =
        people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "guest:%.*s", STR_ARG(gus)), STR("profile"));
    ck_str_eq(entity_str(&named, "displayName", (str){0}), STR("Gus"));
    auth_user    s;
    auth_refusal why;
    OK(auth_session_by_id(t, gus, &s, &why));
    ck_assert_int_eq(s.kind, SESSION_GRACE);
    ck_str_eq(s.scope_group, e.group);
    ck_str_eq(s.scope_breakout, e.group);
    ck_str_eq(s.scope_ignite, e.session);
    ck_status(evening_meta(t, &e, gus), 200);
}

RIG_TEST(each_scan_of_a_guest_is_a_new_session_and_the_same_person)
{
    evening e = evening_of(t, "breakout");
    got     first = evening_scan(t, &e, (str){0}, "gus@example.org");
    got     second = evening_scan(t, &e, (str){0}, "gus@example.org");
    ck_status(second, 200);
    str gus = rig_text(&second, "sessionId");
    ck_assert(!str_eq(rig_text(&first, "sessionId"), gus));
    /* And by that session, there is nothing new to tell. */
    got third = evening_scan(t, &e, gus, "");
    ck_status(third, 200);
    ck_no_secret(&third, gus);
    got meta = evening_meta(t, &e, gus);
    ck_assert_uint_eq(json_len(rig_at(&meta, "joinedPersonIds")), 1);
    ck_assert_int_eq(rig_int(&meta, "joinedCount"), 2);
    ck_no_secret(&(got){.body = meta.body}, rig_text(&first, "sessionId"));
}

/* SCHED-52. */
RIG_TEST(an_invitation_of_members_is_for_who_has_signed_in)
{
    evening e = evening_of(t, "invite-member");
    str     before, sessions[] = {(str){0}, people_guest(t, "gus@example.org", e.group)};
    before = all_that_is_stored(t);
    for (size_t n = 0; n < 2; n++) {
        got g = evening_scan(t, &e, sessions[n], "gus@example.org");
        ck_status(g, 200);
        ck_assert(!rig_bool(&g, "ok") && rig_bool(&g, "requiresAuth"));
        ck_str_eq(rig_text(&g, "reason"), STR("INVITE_REQUIRES_AUTH"));
        ck_str_eq(rig_text(&g, "tokenKind"), STR("invite-member"));
        ck_no_secret(&g, sessions[n]);
        ck_untouched(t, before);
    }
}

/* The address of somebody who signs in is not for others to say. */
RIG_TEST(nobody_becomes_a_member_by_naming_their_address)
{
    evening e = evening_of(t, "breakout");
    people_invite(t, e.group, "cleo@example.org");
    str before = all_that_is_stored(t);
    for (int n = 0; n < 2; n++) {
        got g = evening_scan(t, &e, (str){0}, n == 0 ? "ANN@example.org" : "cleo@example.org");
        ck_status(g, 200);
        ck_assert(!rig_bool(&g, "ok") && rig_bool(&g, "requiresAuth"));
        ck_str_eq(rig_text(&g, "reason"), STR("EMAIL_REQUIRES_AUTH"));
        ck_no_secret(&g, (str){0});
        ck_untouched(t, before);
    }
    str guest = people_guest(t, "cleo@example.org", e.group);
    got g = evening_scan(t, &e, guest, "");
    ck_str_eq(rig_text(&g, "reason"), STR("EMAIL_REQUIRES_AUTH"));
    ck_str_eq(status_of(t, &e, "cleo@example.org"), STR("invited"));
}

/* A session that is none, has ended, or is for another table: as without. */
RIG_TEST(a_session_that_is_not_valid_here_is_as_good_as_none)
{
    evening e = evening_of(t, "breakout");
    str     sessions[] = {STR("nobody"),
                          people_guest(t, "gus@example.org", STR("6a1f0c3e-0000-4000-8000-000000000000")),
                          people_raw_session(t, "{\"v\":1,\"email\":\"gus@example.org\",\"kind\":\"igniteGrace\","
                                                    "\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}")};
    for (size_t n = 0; n < sizeof sessions / sizeof *sessions; n++) {
        got g = evening_scan(t, &e, sessions[n], "");
        ck_status(g, 400);
        ck_str_eq(rig_text(&g, "error"), STR("name_required"));
    }
}

/* ---- members ---- */

/* SCHED-55, SCHED-45, SCHED-46: state.json has nobody. */
RIG_TEST(who_has_signed_in_joins_as_themselves)
{
    evening e = evening_of(t, "invite-member");
    str     bob = people_named(t, "bob@example.org");
    got     g = evening_scan(t, &e, bob, "");
    ck_status(g, 200);
    ck_no_secret(&g, bob);
    ck_assert_ptr_null(rig_at(&g, "requiresVerification"));
    ck_str_eq(rig_text(&g, "breakoutGroupId"), e.group);
    entity row = people_row(t, PLACE_GROUP_MEMBERS, e.group, people_user_key("bob@example.org"));
    ck_str_eq(entity_str(&row, "memberKind", (str){0}), STR("full"));
    ck_assert(entity_bool(&row, "emailVerified", false));
    str before = all_that_is_stored(t);
    ck_status(evening_scan(t, &e, bob, ""), 200);
    ck_untouched(t, before);
    ck_status(evening_scan(t, &e, e.ann, ""), 200);
    ck_str_eq(status_of(t, &e, "ann@example.org"), STR("active"));
}

/* SCHED-47. */
RIG_TEST(an_invited_member_is_active_after_the_scan_and_counted_once)
{
    evening e = evening_of(t, "breakout");
    str     cleo = people_named(t, "cleo@example.org");
    people_invite(t, e.group, "cleo@example.org");
    for (int n = 0; n < 2; n++)
        ck_status(evening_scan(t, &e, cleo, ""), 200);
    entity row = people_row(t, PLACE_GROUP_MEMBERS, e.group, people_user_key("cleo@example.org"));
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("active"));
    ck_assert(entity_has(&row, "joinedAt") && entity_has(&row, "invitedAt"));
    str    day = str_slice(call_now(t->arena), 0, 10);
    entity counted = people_row(t, PLACE_DAILY_METRICS, str_slice(day, 0, 7), day);
    ck_assert_int_eq(entity_int(&counted, "invitesAccepted", 0), 1);
}

/* SCHED-61, SCHED-48. */
RIG_TEST(who_was_removed_cannot_come_back_by_scanning)
{
    evening e = evening_of(t, "breakout");
    str     emil = people_named(t, "emil@example.org");
    people_add(t, e.group, "emil@example.org");
    got joined = evening_scan(t, &e, (str){0}, "gus@example.org");
    str gus = rig_text(&joined, "sessionId");
    people_drop(t, e.group, "emil@example.org");
    people_drop(t, e.group, "gus@example.org");
    str before = all_that_is_stored(t);
    got tries[] = {evening_scan(t, &e, emil, ""), evening_scan(t, &e, (str){0}, "emil@example.org"),
                   evening_scan(t, &e, gus, ""), evening_scan(t, &e, (str){0}, "gus@example.org")};
    for (size_t n = 0; n < sizeof tries / sizeof *tries; n++) {
        ck_status(tries[n], 403);
        ck_str_eq(rig_text(&tries[n], "error"), STR("not_allowed"));
        ck_no_secret(&tries[n], gus);
    }
    ck_untouched(t, before);
}

/* ---- many at once ---- */

enum { GUESTS = 20 };

typedef struct {
    const evening *e;
    str            sessions[GUESTS];
} crowd;

static res scan_as(task *t, size_t i, void *ctx)
{
    crowd *c = ctx;
    got    g = evening_scan(t, c->e, (str){0}, textf("guest%zu@example.org", i));
    ck_status(g, 200);
    c->sessions[i] = rig_text(&g, "sessionId");
    return RES_OK;
}

RIG_TEST(of_twenty_who_scan_at_once_nobody_is_lost)
{
    evening e = evening_of(t, "breakout");
    crowd   c = {.e = &e};
    OK(par_each(t, GUESTS, GUESTS, scan_as, &c));
    got g = evening_meta(t, &e, e.ann);
    ck_assert_int_eq(rig_int(&g, "joinedCount"), GUESTS + 1);
    ck_assert_uint_eq(json_len(rig_at(&g, "joinedPersonIds")), GUESTS);
    for (size_t n = 0; n < GUESTS; n++) {
        str key = people_user_key(textf("guest%zu@example.org", n));
        ck_str_eq(rig_text(&g, textf("peopleByPersonId/%.*s/name", STR_ARG(key))),
                  str_of(textf("guest%zu", n)));
        ck_status(evening_meta(t, &e, c.sessions[n]), 200);
        ck_assert(!str_has(g.body, c.sessions[n]));
    }
    entity group = people_row(t, PLACE_GROUPS, STR("group"), e.group);
    ck_assert_int_eq(entity_int(&group, "memberCountActive", 0), GUESTS + 1);
}

RIG_TEST(a_table_that_is_full_takes_nobody_more)
{
    evening e = evening_of(t, "breakout");
    buf     b;
    buf_init(&b, t->arena, MIB);
    for (int n = 0; n < 500; n++)
        ck_assert(buf_addf(&b, "%s\"P-%d\"", n > 0 ? "," : "", n));
    state_put(t, e.group,
              "{\"ignite\":{\"sessionId\":\"%.*s\",\"status\":\"OPEN\",\"joinedPersonIds\":[%.*s]}}",
              STR_ARG(e.session), STR_ARG(buf_str(&b)));
    str before = all_that_is_stored(t);
    got g = evening_scan(t, &e, (str){0}, "gus@example.org");
    ck_status(g, 409);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_full"));
    ck_untouched(t, before);
}

/* ---- the link ---- */

static unsigned letters_in(const char *dir, char *ret_path, size_t size)
{
    unsigned n = 0;
    DIR     *d = opendir(dir);
    for (struct dirent *f; d != NULL && (f = readdir(d)) != NULL;) {
        str name = str_of(f->d_name);
        if (!str_ends(name, STR(".json")) || str_starts(name, STR(".")))
            continue;
        (void)snprintf(ret_path, size, "%s/%s", dir, f->d_name);
        n++;
    }
    if (d != NULL)
        (void)closedir(d);
    return n;
}

static const json_val *letter_to(task *t, const char *dir, unsigned wanted)
{
    char            path[4096] = "", text[8192];
    const json_val *v = NULL;
    for (int n = 0; n < 200 && letters_in(dir, path, sizeof path) < wanted; n++)
        OK(task_sleep(t, 10));
    ck_assert_uint_eq(letters_in(dir, path, sizeof path), wanted);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    size_t bytes = fread(text, 1, sizeof text, f);
    (void)fclose(f);
    OK(json_parse(t->arena, (str){text, bytes}, &v, NULL));
    return v;
}

RIG_TEST(a_guest_is_mailed_a_link_that_signs_them_in)
{
    const char *dir = textf("%s/mail", live_dir());
    ck_assert_int_eq(setenv("EMAIL_SINK_DIR", dir, 1), 0);
    ck_assert_int_eq(setenv("MAGIC_LINK_SECRET", SECRET, 1), 0);
    ck_assert_int_eq(setenv("WEB_BASE_URL", "https://family.example/", 1), 0);
    sched_settings_forget_for_test();
    evening e = evening_of(t, "breakout");
    ck_status(evening_scan(t, &e, (str){0}, "gus@example.org"), 200);
    const json_val *letter = letter_to(t, dir, 1);
    str             said = json_text(json_get(letter, "text"), (str){0});
    str             link = str_from(said, str_find(said, STR("https://")));
    ck_str_eq(json_text(json_get(letter, "to"), (str){0}), STR("gus@example.org"));
    ck_assert(str_starts(link, STR("https://family.example/#/auth/consume?token=")));
    link = str_slice(link, 0, str_find_char(link, '\n'));
    str        token = str_from(link, str_find(link, STR("token=")) + strlen("token="));
    auth_token read;
    OK(auth_token_read(t->arena, STR(SECRET), str_slice(token, 0, str_find_char(token, '&')),
                       clock_wall_us() / 1000000, &read));
    ck_str_eq(read.email, STR("gus@example.org"));
    ck_str_eq(read.return_to, arena_strf(t->arena, "/g/%.*s/app", STR_ARG(e.group)));
    ck_assert(str_ends(link, arena_strf(t->arena, "&returnTo=%%2Fg%%2F%.*s%%2Fapp", STR_ARG(e.group))));
    /* Not for who has signed in, and to one address only so often. */
    ck_status(evening_scan(t, &e, e.ann, ""), 200);
    for (int n = 1; n < LIMIT_PER_ADDRESS + 3; n++)
        ck_status(evening_scan(t, &e, (str){0}, "gus@example.org"), 200);
    (void)letter_to(t, dir, LIMIT_PER_ADDRESS);
    ck_status(evening_scan(t, &e, (str){0}, "hal@example.org"), 200);
    (void)letter_to(t, dir, LIMIT_PER_ADDRESS + 1);
}

RIG_TEST(a_name_that_is_too_long_is_cut_and_blanks_are_one)
{
    evening e = evening_of(t, "breakout");
    str     name = live_repeat(t->arena, STR("\xC3\xA9"), 50);
    got     g = people_post(t, (str){0}, JOIN,
                            "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"name\":\" a \\n b%.*s\","
                                "\"email\":\"gus@example.org\"}",
                            STR_ARG(e.group), STR_ARG(e.session), STR_ARG(name));
    ck_status(g, 200);
    g = evening_meta(t, &e, e.ann);
    str key = people_user_key("gus@example.org");
    str shown = rig_text(&g, textf("peopleByPersonId/%.*s/name", STR_ARG(key)));
    ck_str_eq(shown, arena_strf(t->arena, "a b%.*s", STR_ARG(str_slice(name, 0, 37 * 2))));
}

Suite *suite_sched_ignite_join(void)
{
    Suite *s = suite_create("sched_ignite_join");
    TCase *c = live_case("join");
    tcase_add_loop_test(c, what_a_guest_must_say_is_looked_at_before_anything_is_written, 0,
                        sizeof bad / sizeof *bad);
    tcase_add_test(c, a_guest_gets_a_session_for_this_group_and_a_row_that_says_so);
    tcase_add_test(c, each_scan_of_a_guest_is_a_new_session_and_the_same_person);
    tcase_add_test(c, an_invitation_of_members_is_for_who_has_signed_in);
    tcase_add_test(c, nobody_becomes_a_member_by_naming_their_address);
    tcase_add_test(c, a_session_that_is_not_valid_here_is_as_good_as_none);
    tcase_add_test(c, who_has_signed_in_joins_as_themselves);
    tcase_add_test(c, an_invited_member_is_active_after_the_scan_and_counted_once);
    tcase_add_test(c, who_was_removed_cannot_come_back_by_scanning);
    tcase_add_test(c, of_twenty_who_scan_at_once_nobody_is_lost);
    tcase_add_test(c, a_table_that_is_full_takes_nobody_more);
    tcase_add_test(c, a_guest_is_mailed_a_link_that_signs_them_in);
    tcase_add_test(c, a_name_that_is_too_long_is_cut_and_blanks_are_one);
    suite_add_tcase(s, c);
    return s;
}
