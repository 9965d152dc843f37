/* test_sched_mail.c -- messages by Azure Communication Services, which is scripted here, and into a folder.
 *
 * The scripted service believes no signature: it computes its own.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base64.h"
#include "core/hash.h"
#include "domain/rig.h"
#include "domain/sched_mailbox.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/mail.h"

#define TO   "bob@example.org"
#define KEY  "a key of the account, in bytes"
#define NONE ((str){0})

enum { STEPS_MAX = 6 };

/* What the service answers to the n-th request; the last repeats. */
typedef struct {
    const char *steps[STEPS_MAX];
    unsigned    delay_ms;
    wire_then   then;
    unsigned    requests, badly_signed;
    arena      *a;
    wire       *w;
} service;

#define ANSWER(status, headers, body) \
    "HTTP/1.1 " status " X\r\nContent-Type: application/json\r\nConnection: close\r\n" headers "\r\n" body
#define ACCEPTED         ANSWER("202", "Retry-After: 0\r\n", "{\"status\":\"Running\"}")
#define RUNNING          ANSWER("200", "Retry-After: 0\r\n", "{\"status\":\"Running\"}")
#define SUCCEEDED        ANSWER("200", "", "{\"status\":\"Succeeded\"}")
#define FAILED(error)    ANSWER("200", "", "{\"status\":\"Failed\",\"error\":" error "}")
#define REFUSED(n, h, e) ANSWER(n, h, "{\"error\":" e "}")

static str line_of(str head, const char *name)
{
    str rest = head, line;
    while (str_next_field(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');
        if (str_eq_nocase(str_slice(line, 0, colon), str_of(name)))
            return str_trim(str_from(line, colon + 1));
    }
    return NONE;
}

static str digest_text(arena *a, sha256_digest d)
{
    return base64_encode(a, (str){(const char *)d.at, sizeof d.at});
}

static bool is_signed(arena *a, const wire_request *asked)
{
    str rest = str_slice(asked->head, 0, str_find_char(asked->head, '\r')), method, target;
    (void)str_next_field(&rest, ' ', &method);
    (void)str_next_field(&rest, ' ', &target);
    str date = line_of(asked->head, "x-ms-date"), digest = line_of(asked->head, "x-ms-content-sha256");
    str text = arena_strf(a, "%.*s\n%.*s\n%.*s;%.*s;%.*s", STR_ARG(method), STR_ARG(target), STR_ARG(date),
                          STR_ARG(line_of(asked->head, "Host")), STR_ARG(digest));
    str want = arena_strf(a, "HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=%.*s",
                          STR_ARG(digest_text(a, hash_hmac_sha256(STR(KEY), text))));
    return str_eq(want, line_of(asked->head, "Authorization")) &&
           str_eq(digest, digest_text(a, hash_sha256(asked->body)));
}

/* Requests come one after another. */
static void answer(void *ctx, const wire_request *asked, wire_answer *ret)
{
    service *s = ctx;
    unsigned n = s->requests++;
    while (n > 0 && (n >= STEPS_MAX || s->steps[n] == NULL))
        n--;
    if (!is_signed(s->a, asked))
        s->badly_signed++;
    *ret = (wire_answer){.bytes = s->steps[n], .delay_ms = s->delay_ms, .then = s->then};
}

static void open_service(service *s)
{
    s->a = arena_new(16 * MIB);
    s->then = s->then == WIRE_KEEP ? WIRE_CLOSE : s->then;
    s->w = wire_start_fn(answer, s, NULL);
    str         key = base64_encode(s->a, STR(KEY));
    const char *connection = textf("endpoint=%s/;accesskey=%.*s", wire_url(s->w, ""), STR_ARG(key));
    ck_assert_int_eq(setenv("AZURE_COMMUNICATION_CONNECTION_STRING", connection, 1), 0);
    ck_assert_int_eq(setenv("EMAIL_SENDER_ADDRESS", "family@example.com", 1), 0);
}

static void close_service(service *s)
{
    wire_stop(s->w);
    arena_free(s->a);
}

static mail_result send_to(task *t, const char *to, str *said)
{
    mail m = {.to = str_of(to),
              .subject = STR("Hello \"Bob\""),
              .text = STR("a text"),
              .html = STR("<p>a text</p>"),
              .reply_to = STR("ann@example.org")};
    return mail_send(t, &m, said);
}

/* ---- the service ---- */

RIG_TEST(a_message_is_signed_sent_and_followed_until_it_is_gone)
{
    service         s = {.steps = {ACCEPTED, RUNNING, SUCCEEDED}};
    const json_val *v;
    str             said;
    open_service(&s);
    ck_assert(mail_configured());
    ck_assert_int_eq(send_to(t, TO, &said), MAIL_SENT);
    ck_assert_uint_eq(s.requests, 3);
    ck_assert_uint_eq(s.badly_signed, 0);
    wire_request first = wire_request_at(s.w, 0), second = wire_request_at(s.w, 1);
    ck_assert(str_starts(first.head, STR("POST /emails:send?api-version=2023-03-31 ")));
    str id = line_of(first.head, "Operation-Id");
    ck_assert(
        str_starts(second.head,
                   arena_strf(t->arena, "GET /emails/operations/%.*s?api-version=2023-03-31 ", STR_ARG(id))));
    OK(json_parse(t->arena, first.body, &v, NULL));
    got as = {.json = v};
    ck_str_eq(rig_text(&as, "senderAddress"), STR("family@example.com"));
    ck_str_eq(rig_text(&as, "recipients/to/0/address"), STR(TO));
    ck_str_eq(rig_text(&as, "content/subject"), STR("Hello \"Bob\""));
    ck_str_eq(rig_text(&as, "content/plainText"), STR("a text"));
    ck_str_eq(rig_text(&as, "content/html"), STR("<p>a text</p>"));
    ck_str_eq(rig_text(&as, "replyTo/0/address"), STR("ann@example.org"));
    close_service(&s);
}

/* Operation-Location of another host is not asked: what is signed would go there. */
RIG_TEST(an_operation_is_followed_at_the_account_alone)
{
    service s = {
        .steps = {ANSWER("202", "Retry-After: 0\r\nOperation-Location: http://127.0.0.1:1/elsewhere\r\n", ""),
                  SUCCEEDED}};
    open_service(&s);
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_SENT);
    ck_assert_uint_eq(s.requests, 2);
    close_service(&s);
}

RIG_TEST(an_operation_is_followed_where_the_service_says)
{
    service s = {.steps = {"", SUCCEEDED}};
    open_service(&s);
    s.steps[0] = textf(ANSWER("202", "Retry-After: 0\r\nOperation-Location: %s\r\n", ""),
                       wire_url(s.w, "/emails/operations/theirs?api-version=x"));
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_SENT);
    ck_assert(str_starts(wire_request_at(s.w, 1).head, STR("GET /emails/operations/theirs?api-version=x ")));
    ck_assert_uint_eq(s.badly_signed, 0);
    close_service(&s);
}

/* Row by row: what the service says, and what is made of it. */
static const struct {
    const char *what;
    const char *steps[STEPS_MAX];
    mail_result want;
    unsigned    requests;
    const char *said; /* NULL: whatever */
} outcomes[] = {
    {"suppressed",
     {ACCEPTED, FAILED("{\"code\":\"EmailDroppedAllRecipientsSuppressed\",\"message\":\"Dropped " TO ".\"}")},
     MAIL_SUPPRESSED,
     2,
     "EmailDroppedAllRecipientsSuppressed: Dropped ***."},
    {"failed for no reason",
     {ACCEPTED, FAILED("{\"code\":\"Odd\",\"message\":\"m\"}")},
     MAIL_PROVIDER_REJECTED,
     2,
     "Odd: m"},
    {"cancelled",
     {ACCEPTED, ANSWER("200", "", "{\"status\":\"Canceled\"}")},
     MAIL_PROVIDER_REJECTED,
     2,
     NULL},
    {"a bad address",
     {REFUSED("400", "", "{\"code\":\"InvalidRecipient\",\"message\":\"BOB@example.org is none\"}")},
     MAIL_INVALID_ADDRESS,
     1,
     "InvalidRecipient: *** is none"},
    {"a bad request",
     {REFUSED("400", "", "{\"code\":\"BadRequest\",\"message\":\"no subject\"}")},
     MAIL_PROVIDER_REJECTED,
     1,
     "BadRequest: no subject"},
    {"401",
     {REFUSED("401", "", "{\"code\":\"Denied\",\"message\":\"wrong key\"}")},
     MAIL_PROVIDER_REJECTED,
     1,
     "Denied: wrong key"},
    {"401 without a word", {ANSWER("401", "", "")}, MAIL_PROVIDER_REJECTED, 1, "HTTP 401"},
    {"429 that passes", {REFUSED("429", "Retry-After: 1\r\n", "{}"), ACCEPTED, SUCCEEDED}, MAIL_SENT, 3, ""},
    {"429 for long",
     {REFUSED("429", "Retry-After: 3600\r\n", "{\"code\":\"TooManyRequests\"}")},
     MAIL_RATE_LIMITED,
     1,
     NULL},
    {"503 that passes", {REFUSED("503", "", "{}"), ACCEPTED, SUCCEEDED}, MAIL_SENT, 3, ""},
    {"503 again and again", {REFUSED("503", "", "{}")}, MAIL_TRANSIENT, 3, NULL},
    {"500 while it is followed",
     {ACCEPTED, ANSWER("500", "Retry-After: 0\r\n", "x"), SUCCEEDED},
     MAIL_SENT,
     3,
     NULL},
    {"garbage while it is followed", {ACCEPTED, ANSWER("200", "", "<html>")}, MAIL_UNKNOWN, 2, NULL},
    {"a state that is none", {ACCEPTED, ANSWER("200", "", "{\"status\":[1]}")}, MAIL_UNKNOWN, 2, NULL},
    {"200 instead of 202", {SUCCEEDED}, MAIL_UNKNOWN, 1, NULL},
    {"no HTTP at all", {"hello\r\n\r\n"}, MAIL_TRANSIENT, 0, NULL},
};

RIG_TEST(what_the_service_says_is_put_into_one_of_our_words)
{
    str     said;
    service s = {0};
    memcpy(s.steps, outcomes[i].steps, sizeof s.steps);
    open_service(&s);
    mail_result r = send_to(t, TO, &said);
    ck_assert_msg(r == outcomes[i].want, "%s: %s ('%.*s')", outcomes[i].what, mail_reason(r), STR_ARG(said));
    ck_assert_msg(outcomes[i].requests == 0 || s.requests == outcomes[i].requests, "%s: %u requests",
                  outcomes[i].what, s.requests);
    ck_assert_uint_eq(s.badly_signed, 0);
    if (outcomes[i].said != NULL)
        ck_str_eq(said, str_of(outcomes[i].said));
    ck_assert(!str_has(said, STR("bob@")) && !str_has(said, STR("BOB@")));
    close_service(&s);
}

RIG_TEST(one_request_keeps_its_operation_however_often_it_is_sent)
{
    service s = {.steps = {REFUSED("503", "", "{}"), REFUSED("503", "", "{}"), ACCEPTED, SUCCEEDED}};
    open_service(&s);
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_SENT);
    wire_request first = wire_request_at(s.w, 0), third = wire_request_at(s.w, 2);
    ck_str_eq(line_of(first.head, "Operation-Id"), line_of(third.head, "Operation-Id"));
    close_service(&s);
}

RIG_TEST(a_service_that_is_slow_is_waited_for)
{
    service s = {.steps = {ACCEPTED, RUNNING, SUCCEEDED}, .delay_ms = 400};
    open_service(&s);
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_SENT);
    close_service(&s);
}

RIG_TEST(a_service_that_never_answers_is_left_within_the_bound)
{
    service s = {.steps = {"HTTP/1.1 202 X\r\n"}, .then = WIRE_HANG};
    open_service(&s);
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_TRANSIENT);
    close_service(&s);
}

RIG_TEST(what_is_said_at_length_is_cut_between_characters)
{
    str     said;
    service s = {0};
    s.steps[0] = arena_strf(t->arena, REFUSED("400", "", "{\"code\":\"c\",\"message\":\"%.*s\"}"),
                            STR_ARG(live_repeat(t->arena, STR("\xc3\xa4"), 5000)))
                     .at;
    open_service(&s);
    ck_assert_int_eq(send_to(t, TO, &said), MAIL_PROVIDER_REJECTED);
    ck_assert(str_is_utf8(said));
    ck_assert_uint_eq(said.len, STR("c: ").len + 197 * 2);
    close_service(&s);
}

/* ---- before anything is sent ---- */

RIG_TEST(an_address_that_cannot_be_one_is_not_sent_to)
{
    service s = {.steps = {ACCEPTED, SUCCEEDED}};
    open_service(&s);
    ck_assert_int_eq(send_to(t, "bob", NULL), MAIL_INVALID_ADDRESS);
    ck_assert_int_eq(send_to(t, "bob@example.org\r\nBcc: x@y.z", NULL), MAIL_INVALID_ADDRESS);
    ck_assert_int_eq(send_to(t, "", NULL), MAIL_INVALID_ADDRESS);
    ck_assert_uint_eq(s.requests, 0);
    close_service(&s);
}

RIG_TEST(without_settings_mail_is_not_configured)
{
    ck_assert(!mail_configured());
    ck_assert_int_eq(send_to(t, TO, NULL), MAIL_CONFIG_MISSING);
    ck_str_eq(str_of(mail_reason(MAIL_CONFIG_MISSING)), STR("config_missing"));
}

static const char *const broken_settings[] = {
    "endpoint=https://x.example/",     "accesskey=QUJD",
    "endpoint=ftp://x;accesskey=QUJD", "endpoint=https://x/path;accesskey=QUJD",
    "endpoint=https://x;accesskey=?!", "endpoint=https://;accesskey=QUJD",
    ";;==;endpoint;accesskey",
};

RIG_TEST(a_broken_connection_string_is_told_without_its_key)
{
    str said;
    ck_assert_int_eq(setenv("AZURE_COMMUNICATION_CONNECTION_STRING", broken_settings[i], 1), 0);
    ck_assert_int_eq(setenv("EMAIL_SENDER_ADDRESS", "family@example.com", 1), 0);
    ck_assert_int_eq(send_to(t, TO, &said), MAIL_CONFIG_MISSING);
    ck_assert(str_has(said, STR("AZURE_COMMUNICATION_CONNECTION_STRING")) && !str_has(said, STR("QUJD")));
}

/* ---- the folder ---- */

RIG_TEST(a_folder_takes_one_private_file_a_message)
{
    struct stat st;
    mailbox_open();
    ck_assert(mail_configured());
    for (size_t n = 0; n < 3; n++)
        ck_assert_int_eq(send_to(t, TO, NULL), MAIL_SENT);
    ck_assert_uint_eq(mailbox_count(), 3);
    for (size_t n = 0; n < 3; n++) {
        ck_assert_int_eq(stat(mailbox_path(n), &st), 0);
        ck_assert_uint_eq(st.st_mode & 0777, 0600);
        got as = {.json = mailbox_mail(n)};
        ck_str_eq(rig_text(&as, "to"), STR(TO));
        ck_str_eq(rig_text(&as, "subject"), STR("Hello \"Bob\""));
        ck_str_eq(rig_text(&as, "html"), STR("<p>a text</p>"));
        ck_str_eq(rig_text(&as, "replyTo"), STR("ann@example.org"));
    }
}

RIG_TEST(texts_are_made_safe_for_html)
{
    ck_str_eq(mail_escape_html(t->arena, STR("<a href=\"x\">'&'</a>")),
              STR("&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;"));
}

Suite *suite_sched_mail(void)
{
    Suite *s = suite_create("sched_mail");
    TCase *c = live_case("mail");
    tcase_add_test(c, a_message_is_signed_sent_and_followed_until_it_is_gone);
    tcase_add_test(c, an_operation_is_followed_at_the_account_alone);
    tcase_add_test(c, an_operation_is_followed_where_the_service_says);
    tcase_add_loop_test(c, what_the_service_says_is_put_into_one_of_our_words, 0,
                        (int)(sizeof outcomes / sizeof *outcomes));
    tcase_add_test(c, one_request_keeps_its_operation_however_often_it_is_sent);
    tcase_add_test(c, a_service_that_is_slow_is_waited_for);
    tcase_add_test(c, a_service_that_never_answers_is_left_within_the_bound);
    tcase_add_test(c, what_is_said_at_length_is_cut_between_characters);
    tcase_add_test(c, an_address_that_cannot_be_one_is_not_sent_to);
    tcase_add_test(c, without_settings_mail_is_not_configured);
    tcase_add_loop_test(c, a_broken_connection_string_is_told_without_its_key, 0,
                        (int)(sizeof broken_settings / sizeof *broken_settings));
    tcase_add_test(c, a_folder_takes_one_private_file_a_message);
    tcase_add_test(c, texts_are_made_safe_for_html);
    suite_add_tcase(s, c);
    return s;
}
