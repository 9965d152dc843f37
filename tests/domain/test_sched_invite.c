/* test_sched_invite.c -- asking somebody in, with and without mail.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/iso8601.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"

#define ANN     "ann@example.org"
#define BOB     "bob@example.org"
#define WEB     "https://web.example.org"
#define NOWHERE "/proc/no/such/folder"

enum { LETTER_MAX = 64 * KIB };

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
}

static str text_of(const entity *e, const char *name)
{
    return entity_str(e, name, (str){0});
}

static entity row_of(task *t, str group, const char *email)
{
    return people_row(t, PLACE_GROUP_MEMBERS, group, people_user_key(email));
}

static int64_t sent(task *t)
{
    month_counts n;
    res          r = month_read(t, str_slice(call_now(t->arena), 0, 7), &n);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
    return r == RES_OK ? n.of[COUNT_INVITES_SENT] : 0;
}

static got invite(task *t, str session, str group, const char *email, const char *more)
{
    return people_post(t, session, "/api/group/invite-email",
                       "{\"groupId\":\"%.*s\",\"recipientEmail\":\"%s\"%s}", STR_ARG(group), email, more);
}

static got join_link(task *t, str session, str group, const char *email)
{
    return people_post(t, session, "/api/group/join-link", "{\"groupId\":\"%.*s\",\"email\":\"%s\"}",
                       STR_ARG(group), email);
}

/* The letters of EMAIL_SINK_DIR, one after another. */
static size_t letters(str *ret_last)
{
    DIR   *d = opendir(getenv("EMAIL_SINK_DIR"));
    size_t n = 0;
    *ret_last = (str){0};
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (!str_ends(str_of(e->d_name), STR(".json")))
            continue;
        int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        char   *text = arena_alloc(scratch(), LETTER_MAX);
        ssize_t got_bytes = read(fd, text, LETTER_MAX);
        ck_assert_int_gt(got_bytes, 0);
        (void)close(fd);
        *ret_last = (str){text, (size_t)got_bytes};
        n++;
    }
    if (d != NULL)
        (void)closedir(d);
    return n;
}

static void with_mail(void)
{
    set("WEB_BASE_URL", WEB "/");
    set("EMAIL_SINK_DIR", textf("%s/mail", live_dir()));
}

/* ---- invite-email ---- */

static void check_letter(str group, str token)
{
    str             text;
    const json_val *v;
    ck_assert_uint_eq(letters(&text), 1);
    ck_assert_int_eq(json_parse(scratch(), text, &v, NULL), RES_OK);
    ck_str_eq(json_text(json_get(v, "to"), (str){0}), STR(BOB));
    ck_str_eq(json_text(json_get(v, "replyTo"), (str){0}), STR(ANN));
    ck_str_eq(json_text(json_get(v, "subject"), (str){0}), STR("ann invites you to <b>Mine</b> & yours"));
    str html = json_text(json_get(v, "html"), (str){0}), plain = json_text(json_get(v, "text"), (str){0});
    ck_assert(!str_has(html, STR("<b>")) && str_has(html, STR("&lt;b&gt;Mine&lt;/b&gt; &amp; yours")));
    ck_assert(!str_has(html, STR("<script>")) && str_has(html, STR("&lt;script&gt;")));
    ck_assert(str_has(plain, STR("Do come <script>\"now\"</script>")));
    ck_assert(
        str_has(plain, str_of(textf(WEB "/#/join?groupId=%.*s&token=%.*s", STR_ARG(group), STR_ARG(token)))));
}

RIG_TEST(an_invitation_goes_by_mail_with_all_texts_made_harmless)
{
    with_mail();
    str ann = people_named(t, ANN), group = people_group(t, ann, "<b>Mine</b> & yours");
    got g = invite(t, ann, group, " Bob@Example.ORG ",
                   ",\"recipientName\":\" Uncle  Bob \",\"personalMessage\":\"Do come "
                   "<script>\\\"now\\\"</script>\",\"traceId\":\"x\"");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok") && rig_bool(&g, "emailSent"));
    ck_str_eq(rig_text(&g, "membershipStatus"), STR("invited"));
    ck_str_eq(rig_text(&g, "inviteEmailStatus"), STR("sent"));
    ck_str_eq(rig_text(&g, "traceId"), STR("x"));
    ck_str_eq(rig_text(&g, "received/groupId"), group);
    ck_str_eq(rig_text(&g, "received/recipientEmail"), STR(BOB));
    ck_assert(rig_bool(&g, "received/recipientNamePresent"));
    ck_assert_int_eq(rig_int(&g, "received/personalMessageLen"), 30);
    ck_assert_ptr_null(rig_at(&g, "inviteEmailFailedReason"));

    entity token = people_row(t, PLACE_GROUP_INVITE_TOKENS, group, people_user_key(BOB));
    str    text = text_of(&token, "token");
    ck_assert_uint_eq(text.len, 32);
    ck_str_eq(rig_text(&g, "inviteUrl"),
              arena_strf(t->arena, WEB "/#/join?groupId=%.*s&token=%.*s", STR_ARG(group), STR_ARG(text)));
    check_letter(group, text);
    entity e = row_of(t, group, BOB);
    ck_str_eq(text_of(&e, "status"), STR("invited"));
    ck_str_eq(text_of(&e, "inviteEmailStatus"), STR("sent"));
    ck_assert_uint_eq(text_of(&e, "inviteEmailLastAttemptAtUtc").len, 24);
    ck_assert_int_eq(sent(t), 1);
    e = people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "auth:%.*s", STR_ARG(people_user_key(BOB))),
                   STR("profile"));
    ck_str_eq(text_of(&e, "displayName"), STR("Uncle Bob"));
}

/* §2.11: the columns of the row, and which of them stay. SCHED-89 for this table. */
RIG_TEST(a_second_invitation_keeps_the_first_time_and_the_token)
{
    static const char *const columns[] = {"token",          "groupId",   "recipientEmail", "createdAt",
                                          "createdByEmail", "expiresAt", "updatedAt"};
    with_mail();
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"), key = people_user_key(BOB);
    got g = invite(t, ann, group, BOB, "");
    ck_status(g, 200);
    entity  e = row_of(t, group, BOB), token = people_row(t, PLACE_GROUP_INVITE_TOKENS, group, key);
    int64_t from_us, to_us;
    ck_assert_uint_eq(token.count, sizeof columns / sizeof *columns);
    for (size_t n = 0; n < token.count; n++)
        ck_assert_msg(text_of(&token, columns[n]).len > 0, "%s", columns[n]);
    ck_assert(iso8601_parse(text_of(&token, "updatedAt"), &from_us) &&
              iso8601_parse(text_of(&token, "expiresAt"), &to_us));
    ck_assert_int_le(llabs(to_us - from_us - INT64_C(14) * 86400000000), 60000000);
    g = invite(t, ann, group, BOB, "");
    ck_status(g, 200);
    entity again = row_of(t, group, BOB), token_again = people_row(t, PLACE_GROUP_INVITE_TOKENS, group, key);
    ck_str_eq(text_of(&again, "invitedAt"), text_of(&e, "invitedAt"));
    ck_str_eq(text_of(&token_again, "token"), text_of(&token, "token"));
    ck_str_eq(text_of(&token_again, "createdAt"), text_of(&token, "createdAt"));
    ck_assert_int_gt(str_compare(text_of(&token_again, "expiresAt"), text_of(&token, "expiresAt")), 0);
    ck_assert_int_eq(sent(t), 2);
    g = join_link(t, ann, group, BOB); /* which is a new one */
    ck_status(g, 200);
    entity third = row_of(t, group, BOB);
    ck_assert_int_gt(str_compare(text_of(&third, "invitedAt"), text_of(&e, "invitedAt")), 0);
    ck_assert_int_eq(sent(t), 3);
}

static const struct {
    const char *email, *more, *error;
} bad[] = {
    {"nobody", "", "invalid_email"},
    {"", "", "invalid_email"},
    {"@example.org", "", "invalid_email"},
    {"a b@example.org", "", "invalid_email"},
    {"a@b.c\\r\\nBcc: x@y.z", "", "invalid_email"},
    {BOB, NULL, "invalid_personal_message"},
};

/* SCHED-37. */
RIG_TEST(an_invitation_that_nobody_could_get_is_refused)
{
    const char *more = bad[i].more != NULL ? bad[i].more
                                           : textf(",\"personalMessage\":\"%.*s\"",
                                                   STR_ARG(live_repeat(scratch(), STR("m"), 501)));
    str         ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got         g = invite(t, ann, group, bad[i].email, more);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), str_of(bad[i].error));
    ck_assert_int_eq(sent(t), 0);
    g = people_post(t, ann, "/api/group/invite-email", "{");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("bad_json"));
    g = join_link(t, ann, group, bad[i].more != NULL ? bad[i].email : "x");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_email"));
}

/* SCHED-38. */
RIG_TEST(who_is_a_member_already_is_not_invited)
{
    with_mail();
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"), last;
    people_add(t, group, BOB);
    entity before = row_of(t, group, BOB);
    got    g = invite(t, ann, group, BOB, ",\"recipientName\":\"n\"");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok") && !rig_bool(&g, "emailSent"));
    ck_str_eq(rig_text(&g, "membershipStatus"), STR("active"));
    ck_str_eq(rig_text(&g, "reason"), STR("already_member"));
    ck_str_eq(rig_text(&g, "inviteEmailStatus"), STR("not_sent"));
    ck_str_eq(rig_text(&g, "received/recipientEmail"), STR(BOB));
    g = join_link(t, ann, group, BOB);
    ck_status(g, 409);
    ck_str_eq(rig_text(&g, "error"), STR("already_member"));
    ck_str_eq(row_of(t, group, BOB).etag, before.etag);
    ck_assert_uint_eq(letters(&last), 0);
    ck_assert_int_eq(sent(t), 0);
}

/* SCHED-39. */
RIG_TEST(an_invitation_stands_without_mail)
{
    set("WEB_BASE_URL", WEB);
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got g = invite(t, ann, group, BOB, "");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok") && !rig_bool(&g, "emailSent"));
    ck_str_eq(rig_text(&g, "membershipStatus"), STR("invited"));
    ck_str_eq(rig_text(&g, "inviteEmailStatus"), STR("failed"));
    ck_str_eq(rig_text(&g, "inviteEmailFailedReason"), STR("config_missing"));
    ck_assert_uint_gt(rig_text(&g, "inviteEmailFailedReasonLabel").len, 0);
    ck_assert_uint_gt(rig_text(&g, "inviteUrl").len, 0);
    entity e = row_of(t, group, BOB), copy = people_row(t, PLACE_USER_GROUPS, people_user_key(BOB), group);
    ck_str_eq(text_of(&e, "inviteEmailStatus"), STR("failed"));
    ck_str_eq(text_of(&e, "inviteEmailFailedReason"), STR("config_missing"));
    ck_str_eq(text_of(&copy, "status"), STR("invited"));
    ck_str_eq(text_of(&copy, "inviteEmailFailedReason"), STR("config_missing"));
    ck_assert_int_eq(sent(t), 1);
    g = join_link(t, ann, group, "cy@example.org");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "emailSent"));
    ck_str_eq(rig_text(&g, "reason"), STR("email_not_configured"));
    e = row_of(t, group, "cy@example.org");
    ck_str_eq(text_of(&e, "status"), STR("invited"));
    ck_assert_int_eq(sent(t), 2);
}

/* ---- where the web client is ---- */

static got with_header(task *t, str session, const char *target, str group, const char *name,
                       const char *value)
{
    http_header headers[] = {{STR("x-session-id"), session}, {str_of(name), str_of(value)}};
    str         body =
        arena_strf(t->arena, "{\"groupId\":\"%.*s\",\"email\":\"" BOB "\",\"recipientEmail\":\"" BOB "\"}",
                   STR_ARG(group));
    return rig_call(t, "POST", target, body, headers, 2);
}

RIG_TEST(the_link_leads_to_where_the_caller_came_from)
{
    set("EMAIL_SINK_DIR", textf("%s/mail", live_dir()));
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"), last;
    got g = with_header(t, ann, "/api/group/invite-email", group, "x-nothing", "x");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("config_missing"));
    ck_str_eq(rig_text(&g, "missing/0"), STR("WEB_BASE_URL"));
    entity e;
    EXPECT(RES_NOT_FOUND, tables_get(t, place_table(PLACE_GROUP_MEMBERS), group, people_user_key(BOB), &e));
    task_forget(t);
    g = with_header(t, ann, "/api/group/invite-email", group, "Origin", "javascript:alert(1)");
    ck_status(g, 500);
    g = with_header(t, ann, "/api/group/join-link", group, "Origin", "null");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "reason"), STR("origin_unresolved"));
    ck_assert_uint_eq(letters(&last), 0);
    g = with_header(t, ann, "/api/group/invite-email", group, "Origin", "http://127.0.0.1:8080");
    ck_status(g, 200);
    ck_assert(str_starts(rig_text(&g, "inviteUrl"), STR("http://127.0.0.1:8080/#/join?groupId=")));
    g = with_header(t, ann, "/api/group/invite-email", group, "X-Forwarded-Host", "front.example.org");
    ck_status(g, 200);
    ck_assert(str_starts(rig_text(&g, "inviteUrl"), STR("https://front.example.org/#/join?groupId=")));
}

/* ---- join-link ---- */

RIG_TEST(a_join_link_is_mailed_or_says_why_not)
{
    with_mail();
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"), letter;
    got g = join_link(t, ann, group, BOB);
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok") && rig_bool(&g, "emailSent"));
    ck_str_eq(rig_text(&g, "provider"), STR("acs"));
    ck_assert_uint_eq(letters(&letter), 1);
    ck_assert(str_has(letter, str_of(textf(WEB "/#/join?groupId=%.*s", STR_ARG(group)))));
    g = people_post(t, people_sign_in(t, BOB), "/api/group/join", "{\"groupId\":\"%.*s\"}", STR_ARG(group));
    ck_status(g, 200);
}

RIG_TEST(a_mail_that_fails_leaves_the_invitation)
{
    set("WEB_BASE_URL", WEB);
    set("EMAIL_SINK_DIR", NOWHERE);
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got g = join_link(t, ann, group, BOB);
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("join_failed"));
    entity e = row_of(t, group, BOB);
    ck_str_eq(text_of(&e, "status"), STR("invited"));
    ck_str_eq(text_of(&e, "inviteEmailStatus"), STR("failed"));
    g = invite(t, ann, group, BOB, "");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "inviteEmailStatus"), STR("failed"));
    ck_assert_uint_gt(rig_text(&g, "inviteEmailFailedReason").len, 0);
}

static const char *const tortures[] = {"/api/group/invite-email", "/api/group/join-link"};

RIG_TEST(no_invitation_minds_where_it_is_broken)
{
    set("WEB_BASE_URL", WEB);
    str         ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    const char *body =
        textf("{\"groupId\":\"%.*s\",\"email\":\"" BOB "\",\"recipientEmail\":\"" BOB "\"}", STR_ARG(group));
    rig_request in = people_request(ann, tortures[i], body);
    rig_torture(t, &in, 200, (const int[]){500, 0}, NULL);
}

Suite *suite_sched_invite(void)
{
    Suite *s = suite_create("sched_invite");
    TCase *c = live_case("invite");
    tcase_add_test(c, an_invitation_goes_by_mail_with_all_texts_made_harmless);
    tcase_add_test(c, a_second_invitation_keeps_the_first_time_and_the_token);
    tcase_add_loop_test(c, an_invitation_that_nobody_could_get_is_refused, 0,
                        (int)(sizeof bad / sizeof *bad));
    tcase_add_test(c, who_is_a_member_already_is_not_invited);
    tcase_add_test(c, an_invitation_stands_without_mail);
    tcase_add_test(c, the_link_leads_to_where_the_caller_came_from);
    tcase_add_test(c, a_join_link_is_mailed_or_says_why_not);
    tcase_add_test(c, a_mail_that_fails_leaves_the_invitation);
    tcase_add_loop_test(c, no_invitation_minds_where_it_is_broken, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
