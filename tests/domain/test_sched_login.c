/* test_sched_login.c -- signing in by a link: what is mailed, what is taken, and what is told to whom.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/clock.h"
#include "domain/sched_mailbox.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/link_limit.h"
#include "storage/blobs.h"

#define ASK  "/api/auth/request-link"
#define USE  "/api/auth/consume-link"
#define ANN  "ann@example.org"
#define NONE ((str){0})

static got ask(task *t, const char *email)
{
    return people_post(t, NONE, ASK, "{\"email\":\"%s\",\"traceId\":\"trace-1\"}", email);
}

static got ask_from(task *t, const char *email, const char *hops)
{
    http_header headers[] = {{STR("Content-Type"), STR("application/json")},
                             {STR("X-Forwarded-For"), str_of(hops)}};
    str         body = arena_strf(t->arena, "{\"email\":\"%s\"}", email);
    return rig_call(t, "POST", ASK, body, headers, 2);
}

static got use(task *t, str token)
{
    return people_post(t, NONE, USE, "{\"token\":\"%.*s\",\"traceId\":\"trace-2\"}", STR_ARG(token));
}

static size_t sessions(task *t)
{
    blob_page page;
    res       r = blobs_list(t, (container){STORE_MAIN, str_of(getenv("STATE_CONTAINER"))},
                             STR("familyscheduler/sessions/"), '\0', 1000, NONE, &page);
    if (r == RES_UNPROVISIONED) {
        task_forget(t);
        return 0;
    }
    OK(r);
    return page.len;
}

/* ---- asking ---- */

/* SCHED-7: a token that is valid is accepted. SCHED-9. */
RIG_TEST(a_mailed_link_signs_in)
{
    mailbox_open();
    got g = ask(t, " Ann@Example.ORG ");
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"ok\":true,\"traceId\":\"trace-1\"}"));
    ck_str_eq(json_text(json_get(mailbox_mail(0), "to"), NONE), STR(ANN));
    g = use(t, mailbox_link_value(0, "token"));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "email"), STR(ANN));
    ck_str_eq(rig_text(&g, "traceId"), STR("trace-2"));
    ck_assert(rig_bool(&g, "ok"));
    str session = rig_text(&g, "sessionId");
    ck_str_eq(people_user_key(" Ann@Example.ORG "), people_user_key(ANN));
    g = people_get(t, session, "/api/user/profile");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "email"), STR(ANN));
}

/* SCHED-8. */
RIG_TEST(what_is_no_json_is_refused_before_settings_are_looked_at)
{
    got g = rig_post(t, ASK, STR("{\"email\":"));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("bad_request"));
    ck_str_eq(rig_text(&g, "code"), STR("BAD_JSON"));
}

/* SCHED-8. */
RIG_TEST(missing_settings_are_named_in_order)
{
    got g = ask(t, ANN);
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("config_missing"));
    ck_str_eq(rig_text(&g, "code"), STR("CONFIG_MISSING"));
    ck_str_eq(json_print_val(t->arena, rig_at(&g, "missing")),
              STR("[\"AZURE_COMMUNICATION_CONNECTION_STRING\",\"EMAIL_SENDER_ADDRESS\",\"MAGIC_LINK_"
                  "SECRET\"]"));
    g = use(t, STR("a.b"));
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("CONFIG_MISSING"));
    ck_str_eq(json_print_val(t->arena, rig_at(&g, "missing")), STR("[\"MAGIC_LINK_SECRET\"]"));
}

/* SCHED-8: and nothing that is no origin becomes part of a link. */
RIG_TEST(without_an_address_of_the_page_no_link_is_made)
{
    static const char *const not_origins[] = {"null", "javascript:alert(1)", "https://a.example/path",
                                              "https://a.example\" onclick=\""};
    mailbox_open();
    ck_assert_int_eq(unsetenv("WEB_BASE_URL"), 0);
    for (size_t n = 0; n < sizeof not_origins / sizeof *not_origins; n++) {
        http_header headers[] = {{STR("Origin"), str_of(not_origins[n])},
                                 {STR("X-Forwarded-Host"), STR("evil.example/x")}};
        got         g = rig_call(t, "POST", ASK, STR("{\"email\":\"" ANN "\"}"), headers, 2);
        ck_status(g, 500);
        ck_str_eq(json_print_val(t->arena, rig_at(&g, "missing")), STR("[\"WEB_BASE_URL\"]"));
    }
    ck_assert_uint_eq(mailbox_count(), 0);
    http_header origin = {STR("Origin"), STR("https://page.example:8443")};
    got         g = rig_call(t, "POST", ASK, STR("{\"email\":\"" ANN "\"}"), &origin, 1);
    ck_status(g, 200);
    str text = json_text(json_get(mailbox_mail(0), "text"), NONE);
    ck_assert(str_has(text, STR("https://page.example:8443/#/auth/consume?token=")));
}

RIG_TEST(an_address_that_cannot_be_one_is_answered_alike_and_mailed_nothing)
{
    static const char *const odd[] = {"",      "ann",      "@x.org", "ann@",
                                      "ann@x", "ann@.org", "ann@x.", "a b@x.org"};
    mailbox_open();
    for (size_t n = 0; n < sizeof odd / sizeof *odd; n++) {
        got g = ask(t, odd[n]);
        ck_status(g, 200);
        ck_str_eq(g.body, STR("{\"ok\":true,\"traceId\":\"trace-1\"}"));
    }
    ck_assert_uint_eq(mailbox_count(), 0);
}

/* Nothing in status, body or limit tells whether an address is known. */
RIG_TEST(known_and_unknown_addresses_are_answered_alike)
{
    mailbox_open();
    (void)people_named(t, ANN);
    for (int n = 0; n < LIMIT_PER_ADDRESS + 1; n++) {
        got known = ask(t, ANN), unknown = ask(t, "nobody@example.org");
        ck_assert_int_eq(known.status, unknown.status);
        ck_str_eq(known.body, unknown.body);
        ck_status(known, n < LIMIT_PER_ADDRESS ? 200 : 429);
    }
    ck_assert_uint_eq(mailbox_count(), 2 * LIMIT_PER_ADDRESS);
}

RIG_TEST(the_way_back_is_a_path_of_the_page_or_nothing)
{
    static const struct {
        const char *said, *kept;
    } cases[] = {{"/g/1/app", "%2Fg%2F1%2Fapp"}, {"//evil.example", "%2F"}, {"https://evil.example", "%2F"},
                 {"/\\\\evil.example", "%2F"},   {"/a?u=http://x", "%2F"},  {"g", "%2F"}};
    mailbox_open();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        got g = people_post(t, NONE, ASK,
                            "{\"email\":\"a%zu@x.org\",\"returnTo\":\"%s\",\"attemptId\":\"try & 1\"}", n,
                            cases[n].said);
        ck_status(g, 200);
        ck_assert_uint_eq(mailbox_count(), n + 1);
        str link_to = {0};
        for (size_t k = 0; k <= n; k++) /* mails of one millisecond are in no order */
            if (str_has(json_text(json_get(mailbox_mail(k), "to"), NONE), str_of(textf("a%zu@", n)))) {
                link_to = mailbox_link_value(k, "returnTo");
                ck_str_eq(mailbox_link_value(k, "attemptId"), STR("try%20%26%201"));
            }
        ck_str_eq(link_to, str_of(cases[n].kept));
    }
}

RIG_TEST(a_mail_that_cannot_be_sent_is_a_502)
{
    mailbox_open();
    ck_assert_int_eq(setenv("EMAIL_SINK_DIR", "/dev/null/mail", 1), 0);
    rig_log_capture();
    got g = ask(t, ANN);
    ck_status(g, 502);
    ck_assert(str_has(rig_log(), STR("was not sent")) && !str_has(rig_log(), STR(ANN)));
    ck_str_eq(rig_text(&g, "error"), STR("email_send_failed"));
    ck_str_eq(rig_text(&g, "code"), STR("EMAIL_SEND_FAILED"));
    ck_assert(!str_has(g.body, STR("ann")) && !str_has(g.body, STR("null")));
}

/* ---- limits ---- */

RIG_TEST(one_address_gets_few_links_and_is_told_when_to_come_again)
{
    uint64_t seconds;
    mailbox_open();
    for (int n = 0; n < LIMIT_PER_ADDRESS; n++)
        ck_status(ask_from(t, n % 2 == 0 ? ANN : "ANN@example.org", textf("10.0.0.%d:99", n)), 200);
    got g = ask_from(t, ANN, "10.0.1.1");
    ck_status(g, 429);
    ck_str_eq(rig_text(&g, "error"), STR("rate_limited"));
    ck_assert(str_to_u64(rig_header(&g, "Retry-After"), &seconds));
    ck_assert_uint_ge(seconds, 1);
    ck_assert_uint_le(seconds, LIMIT_WINDOW_S);
    ck_status(ask_from(t, "bob@example.org", "10.0.1.1"), 200);
    ck_assert_uint_eq(mailbox_count(), LIMIT_PER_ADDRESS + 1);
}

/* The hop that is last was written by our front end; those before it by anybody. */
RIG_TEST(one_client_gets_a_limit_whatever_it_says_in_front)
{
    mailbox_open();
    for (int n = 0; n < LIMIT_PER_CLIENT; n++)
        ck_status(ask_from(t, textf("a%d@example.org", n), textf("10.0.0.%d, 192.0.2.7:%d", n, 1000 + n)),
                  200);
    got g = ask_from(t, "z@example.org", "1.2.3.4, 192.0.2.7:1");
    ck_status(g, 429);
    ck_status(ask_from(t, "not an address", "1.2.3.4, 192.0.2.7:1"), 429);
    ck_status(ask_from(t, "z@example.org", "192.0.2.7, 192.0.2.8"), 200);
    ck_status(ask_from(t, "z@example.org", "[2001:db8::1]:99"), 200);
}

/* ---- tokens ---- */

static str token_at(task *t, const char *secret, int64_t issued_s)
{
    auth_token token = {.email = STR(ANN), .issued_s = issued_s, .expires_s = issued_s + AUTH_TOKEN_SECONDS};
    return auth_token_make(t->arena, str_of(secret), &token);
}

/* Signed rightly, whatever it says. */
static str signed_text(task *t, const char *payload)
{
    str           first = base64url_encode(t->arena, str_of(payload));
    sha256_digest mac = hash_hmac_sha256(STR(MAILBOX_SECRET), first);
    str           second = base64url_encode(t->arena, (str){(const char *)mac.at, sizeof mac.at});
    return arena_strf(t->arena, "%.*s.%.*s", STR_ARG(first), STR_ARG(second));
}

static void refused(task *t, const char *what, str token, const char *error)
{
    got g = use(t, token);
    ck_assert_msg(g.status == 400, "%s: %d", what, g.status);
    ck_str_eq(g.body, str_of(textf("{\"ok\":false,\"error\":\"%s\",\"traceId\":\"trace-2\"}", error)));
}

/* SCHED-7. */
RIG_TEST(forged_expired_cut_and_resigned_tokens_sign_nobody_in)
{
    mailbox_open();
    int64_t     now_s = clock_wall_us() / 1000000;
    const char *wrong = "invalid_token";
    str         good = token_at(t, MAILBOX_SECRET, now_s);
    size_t      dot = str_find_char(good, '.');
    char       *other = arena_cstr(t->arena, good);
    other[2] = other[2] == 'A' ? 'B' : 'A';
    refused(t, "none", NONE, wrong);
    refused(t, "garbage", STR("garbage"), wrong);
    refused(t, "changed", str_of(other), wrong);
    refused(t, "cut", str_slice(good, 0, good.len - 1), wrong);
    refused(t, "without a signature", str_slice(good, 0, dot + 1), wrong);
    refused(t, "of another secret", token_at(t, "another secret", now_s), wrong);
    refused(t, "three parts", arena_strf(t->arena, "%.*s.x", STR_ARG(good)), wrong);
    refused(t, "long", live_repeat(t->arena, STR("ab"), 4000), wrong);
    refused(t, "expired", token_at(t, MAILBOX_SECRET, now_s - AUTH_TOKEN_SECONDS - 1), "expired_token");
    refused(t, "for another purpose",
            signed_text(t,
                        "{\"v\":1,\"sub\":\"" ANN "\",\"jti\":\"1\",\"purpose\":\"invite\",\"iat\":1,\"exp\":"
                        "99999999999}"),
            wrong);
    refused(t, "of another version",
            signed_text(t,
                        "{\"v\":2,\"sub\":\"" ANN "\",\"jti\":\"1\",\"purpose\":\"login\",\"iat\":1,\"exp\":"
                        "99999999999}"),
            wrong);
    refused(t, "without a subject",
            signed_text(t, "{\"v\":1,\"sub\":\"x\",\"jti\":\"1\",\"purpose\":\"login\",\"iat\":1,\"exp\":"
                           "99999999999}"),
            wrong);
    ck_assert_uint_eq(sessions(t), 0);
    ck_status(use(t, good), 200);
    ck_assert_uint_eq(sessions(t), 1);
}

RIG_TEST(neither_tokens_nor_session_ids_nor_addresses_are_logged)
{
    mailbox_open();
    rig_log_capture();
    ck_status(ask(t, ANN), 200);
    str token = mailbox_link_value(0, "token");
    got g = use(t, token);
    ck_status(g, 200);
    (void)use(t, str_slice(token, 0, token.len - 2));
    str log = rig_log();
    ck_assert(!str_has(log, str_slice(token, 0, 40)));
    ck_assert(!str_has(log, rig_text(&g, "sessionId")));
    ck_assert(!str_has(log, STR(ANN)));
}

/* ---- the first time ---- */

static int64_t new_users(task *t)
{
    month_counts n;
    res          r = month_read(t, str_slice(call_now(t->arena), 0, 7), &n);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return 0;
    }
    OK(r);
    return n.of[COUNT_NEW_USERS];
}

/* SCHED-91: newUsers. SCHED-93. */
RIG_TEST(the_first_link_of_an_address_alone_makes_a_new_user)
{
    mailbox_open();
    int64_t now_s = clock_wall_us() / 1000000;
    ck_status(use(t, token_at(t, MAILBOX_SECRET, now_s)), 200);
    ck_assert_int_eq(new_users(t), 1);
    entity first =
        people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "auth:%.*s", STR_ARG(people_user_key(ANN))),
                   STR("profile"));
    ck_str_eq(entity_str(&first, "email", NONE), STR(ANN));
    ck_assert_uint_gt(entity_str(&first, "createdAt", NONE).len, 0);
    ck_status(use(t, token_at(t, MAILBOX_SECRET, now_s)), 200);
    ck_assert_int_eq(new_users(t), 1);
    entity again = people_row(t, PLACE_USER_PROFILES, first.partition, STR("profile"));
    ck_str_eq(entity_str(&again, "createdAt", NONE), entity_str(&first, "createdAt", NONE));
}

/* ---- a store that fails ---- */

static void only_blobs(void *ctx, const wire_request *asked, wire_answer *ret)
{
    (void)ctx;
    bool blob = str_has(asked->head, STR("x-ms-blob-type")) || str_has(asked->head, STR("restype=container"));
    ret->bytes =
        blob ? "HTTP/1.1 201 Created\r\nETag: \"1\"\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
               "Content-Length: 0\r\n\r\n"
             : "HTTP/1.1 503 Busy\r\nx-ms-error-code: ServerBusy\r\nContent-Length: 0\r\n\r\n";
}

static void signs_in_without_tables(task *t, int i)
{
    (void)i;
    mailbox_open();
    got g = use(t, token_at(t, MAILBOX_SECRET, clock_wall_us() / 1000000));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "email"), STR(ANN));
}

START_TEST(tables_that_fail_do_not_keep_anybody_out)
{
    wire *w = wire_start_fn(only_blobs, NULL, NULL);
    rig_run(rig_wire_store(w), signs_in_without_tables, 0);
    wire_stop(w);
}
END_TEST

/* ---- torture ---- */

static void forget_limits(task *t)
{
    (void)t;
    link_limit_forget_for_test();
}

RIG_TEST(asking_survives_every_failure)
{
    static const int mail_failed[] = {502, 0};
    rig_request      in = {.method = "POST", .target = ASK, .body = STR("{\"email\":\"" ANN "\"}")};
    mailbox_open();
    rig_torture(t, &in, 200, mail_failed, forget_limits);
}

RIG_TEST(using_a_link_survives_every_failure)
{
    mailbox_open();
    str         token = token_at(t, MAILBOX_SECRET, clock_wall_us() / 1000000);
    rig_request in = {.method = "POST",
                      .target = USE,
                      .body = arena_strf(t->arena, "{\"token\":\"%.*s\"}", STR_ARG(token))};
    rig_torture(t, &in, 200, NULL, NULL);
}

Suite *suite_sched_login(void)
{
    Suite *s = suite_create("sched_login");
    TCase *c = live_case("login");
    tcase_add_test(c, a_mailed_link_signs_in);
    tcase_add_test(c, what_is_no_json_is_refused_before_settings_are_looked_at);
    tcase_add_test(c, missing_settings_are_named_in_order);
    tcase_add_test(c, without_an_address_of_the_page_no_link_is_made);
    tcase_add_test(c, an_address_that_cannot_be_one_is_answered_alike_and_mailed_nothing);
    tcase_add_test(c, known_and_unknown_addresses_are_answered_alike);
    tcase_add_test(c, the_way_back_is_a_path_of_the_page_or_nothing);
    tcase_add_test(c, a_mail_that_cannot_be_sent_is_a_502);
    tcase_add_test(c, one_address_gets_few_links_and_is_told_when_to_come_again);
    tcase_add_test(c, one_client_gets_a_limit_whatever_it_says_in_front);
    tcase_add_test(c, forged_expired_cut_and_resigned_tokens_sign_nobody_in);
    tcase_add_test(c, neither_tokens_nor_session_ids_nor_addresses_are_logged);
    tcase_add_test(c, the_first_link_of_an_address_alone_makes_a_new_user);
    tcase_add_test(c, tables_that_fail_do_not_keep_anybody_out);
    tcase_add_test(c, asking_survives_every_failure);
    tcase_add_test(c, using_a_link_survives_every_failure);
    suite_add_tcase(s, c);
    return s;
}
