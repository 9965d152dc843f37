/* test_auth.c -- addresses, keys, and signed links: what is taken, and everything that is not.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "core/base64.h"
#include "domain/auth.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;

static void setup(void)
{
    a = arena_new((size_t)4 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void teardown(void)
{
    arena_free(a);
}

/* SCHED-9. */
START_TEST(an_address_has_one_key_however_it_is_written)
{
    char one[SHA256_HEX + 1], other[SHA256_HEX + 1];
    auth_user_key(auth_email(a, STR(" User@Example.COM ")), one);
    auth_user_key(auth_email(a, STR("user@example.com")), other);
    ck_assert_str_eq(one, other);
    ck_assert_str_eq(one, "b4c9a289323b21a01c3e940f150eb9b8c542587f1abfd8f0e1cc1ffc5e475514");
}
END_TEST

static const struct {
    const char *email;
    bool        ok;
} addresses[] = {
    {"a@b.c", true},      {"a.b+c@d.e.f", true},
    {"@b.c", false},      {"ab.c", false},
    {"a@b", false},       {"a@.b", false},
    {"a@b.", false},      {"", false},
    {"a b@c.d", false},   {"a@b.c\r\nBcc: d@e.f", false},
    {"a@b@c.d", true},    {"a\x01@b.c", false},
    {"a@b.c\xff", false},
};

START_TEST(only_a_plausible_address_is_taken)
{
    ck_assert(auth_email_plausible(str_of(addresses[_i].email)) == addresses[_i].ok);
}
END_TEST

/* ---- links ---- */

#define SECRET STR("a secret that nobody knows")
enum { NOW = 1800000000 };

static str make(int64_t issued, int64_t expires)
{
    return auth_token_make(a, SECRET,
                           &(auth_token){.email = STR("ann@example.org"),
                                         .return_to = STR("/g/1"),
                                         .issued_s = issued,
                                         .expires_s = expires});
}

/* SCHED-7. */
START_TEST(a_link_says_who_until_it_expires)
{
    auth_token got;
    str        text = make(NOW, NOW + AUTH_TOKEN_SECONDS);
    ck_assert_int_eq(auth_token_read(a, SECRET, text, NOW, &got), RES_OK);
    ck_assert(str_eq(got.email, STR("ann@example.org")));
    ck_assert(str_eq(got.return_to, STR("/g/1")));
    ck_assert_int_eq(got.expires_s, NOW + 900);
    ck_assert_int_eq(auth_token_read(a, SECRET, text, NOW + 899, &got), RES_OK);
    ck_assert_int_eq(auth_token_read(a, SECRET, text, NOW + 900, &got), RES_TIMEOUT);
    ck_assert_int_eq(auth_token_read(a, STR("another secret"), text, NOW, &got), RES_INVALID);
    ck_assert_int_eq(auth_token_read(a, STR(""), text, NOW, &got), RES_INVALID);
}
END_TEST

START_TEST(a_link_with_any_byte_changed_or_cut_is_refused)
{
    auth_token got;
    str        text = make(NOW, NOW + 900);
    for (size_t i = 0; i < text.len; i++) {
        char *forged = arena_cstr(a, text);
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        ck_assert_int_eq(auth_token_read(a, SECRET, (str){forged, text.len}, NOW, &got), RES_INVALID);
        ck_assert_int_eq(auth_token_read(a, SECRET, str_slice(text, 0, i), NOW, &got), RES_INVALID);
    }
    str longer = arena_strf(a, "%.*s.x", STR_ARG(text));
    ck_assert_int_eq(auth_token_read(a, SECRET, longer, NOW, &got), RES_INVALID);
}
END_TEST

/* Signed by whoever has the secret, and still no login. */
static const char *const payloads[] = {
    "{\"v\":2,\"sub\":\"a@b.c\",\"jti\":\"x\",\"purpose\":\"login\",\"iat\":1,\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"jti\":\"x\",\"purpose\":\"reset\",\"iat\":1,\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"nobody\",\"jti\":\"x\",\"purpose\":\"login\",\"iat\":1,\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"jti\":\" \",\"purpose\":\"login\",\"iat\":1,\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"purpose\":\"login\",\"iat\":1,\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"jti\":\"x\",\"purpose\":\"login\",\"iat\":\"1\",\"exp\":9999999999}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"jti\":\"x\",\"purpose\":\"login\",\"iat\":1,\"exp\":\"9999999999\"}",
    "{\"v\":1,\"sub\":\"a@b.c\",\"jti\":\"x\",\"purpose\":\"login\",\"iat\":1}",
    "[1]",
    "not json",
    "",
};

START_TEST(a_signed_payload_of_another_kind_is_refused)
{
    auth_token    got;
    str           encoded = base64url_encode(a, str_of(payloads[_i]));
    sha256_digest mac = hash_hmac_sha256(SECRET, encoded);
    str           signature = base64url_encode(a, (str){(const char *)mac.at, sizeof mac.at});
    str           text = arena_strf(a, "%.*s.%.*s", STR_ARG(encoded), STR_ARG(signature));
    ck_assert_int_eq(auth_token_read(a, SECRET, text, NOW, &got), RES_INVALID);
}
END_TEST

/* ---- sessions ---- */

START_TEST(a_guest_is_in_scope_of_its_own_groups_alone)
{
    session guest = {.kind = SESSION_GRACE, .scope_group = STR("g1"), .scope_breakout = STR("g2")};
    session nowhere = {.kind = SESSION_GRACE};
    session full = {.kind = SESSION_FULL};
    ck_assert(auth_in_scope(&guest, STR("g1")));  /* SCHED-1. */
    ck_assert(auth_in_scope(&guest, STR("g2")));  /* SCHED-2. */
    ck_assert(!auth_in_scope(&guest, STR("g3"))); /* SCHED-3. */
    ck_assert(!auth_in_scope(&guest, STR("")));
    ck_assert(!auth_in_scope(&nowhere, STR("")));
    ck_assert(auth_in_scope(&full, STR("g3")));
}
END_TEST

START_TEST(a_person_is_named_by_subject_address_or_guest_id)
{
    session s = {.id = STR("s-1"), .kind = SESSION_FULL};
    auth_user_key(STR("a@b.c"), s.user_key);
    str key = auth_member_key(a, &s);
    ck_assert(str_starts(key, STR("auth:")));
    ck_assert(str_eq(str_from(key, 5), str_of(s.user_key)));
    s.sub = STR("oid-7");
    ck_assert(str_eq(auth_member_key(a, &s), STR("auth:oid-7")));
    s.sub = STR("a/b");
    ck_assert(str_eq(auth_member_key(a, &s), key));
    s.kind = SESSION_GRACE;
    ck_assert(str_eq(auth_member_key(a, &s), STR("guest:s-1")));
}
END_TEST

Suite *suite_auth(void)
{
    Suite *s = suite_create("auth");
    TCase *c = tcase_create("auth");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, an_address_has_one_key_however_it_is_written);
    tcase_add_loop_test(c, only_a_plausible_address_is_taken, 0, COUNT(addresses));
    tcase_add_test(c, a_link_says_who_until_it_expires);
    tcase_add_test(c, a_link_with_any_byte_changed_or_cut_is_refused);
    tcase_add_loop_test(c, a_signed_payload_of_another_kind_is_refused, 0, COUNT(payloads));
    tcase_add_test(c, a_guest_is_in_scope_of_its_own_groups_alone);
    tcase_add_test(c, a_person_is_named_by_subject_address_or_guest_id);
    suite_add_tcase(s, c);
    return s;
}
