/* test_redis_url.c -- redis:// and rediss:// URLs, good and bad.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/redis_internal.h"
#include "support/scratch.h"
#include "unit/suites.h"

static const struct {
    const char *url, *host, *user, *password;
    unsigned    port, db;
    bool        tls;
} good[] = {
    {"redis://localhost", "localhost", "", "", 6379, 0, false},
    {"redis://localhost/", "localhost", "", "", 6379, 0, false},
    {"REDIS://h:1/15", "h", "", "", 1, 15, false},
    {"rediss://h.example.net:6380", "h.example.net", "", "", 6380, 0, true},
    {"redis://:pw@h", "h", "", "pw", 6379, 0, false},
    {"redis://ann:pw@h:7000/2", "h", "ann", "pw", 7000, 2, false},
    {"redis://:p%40%3a%2F%25@h", "h", "", "p@:/%", 6379, 0, false},
    {"redis://:a@b@h", "h", "", "a@b", 6379, 0, false},
    {"redis://ann:a:b@h", "h", "ann", "a:b", 6379, 0, false},
    {"redis://@h", "h", "", "", 6379, 0, false},
    {"redis://[::1]:6380/1", "::1", "", "", 6380, 1, false},
    {"redis://[::1]", "::1", "", "", 6379, 0, false},
};

START_TEST(a_redis_url_is_taken_apart)
{
    redis_url   u;
    const char *wrong = redis_url_parse(scratch(), str_of(good[_i].url), &u);
    ck_assert_msg(wrong == NULL, "'%s': %s", good[_i].url, wrong);
    ck_assert(str_eq(u.host, str_of(good[_i].host)));
    ck_assert(str_eq(u.user, str_of(good[_i].user)));
    ck_assert_msg(str_eq(u.password, str_of(good[_i].password)), "'%.*s'", STR_ARG(u.password));
    ck_assert_uint_eq(u.port, good[_i].port);
    ck_assert_uint_eq(u.db, good[_i].db);
    ck_assert(u.tls == good[_i].tls);
}
END_TEST

static const char *const bad[] = {
    "",
    "redis",
    "redis:",
    "redis://",
    "http://h",
    "redis://:pw@",
    "redis://h:",
    "redis://h:0",
    "redis://h:65536",
    "redis://h:6379x",
    "redis://h/x",
    "redis://h/-1",
    "redis://h/65536",
    "redis://h/1/2",
    "redis://ann@h",
    "redis://ann:@h",
    "redis://:%4@h",
    "redis://:%zz@h",
    "redis://[::1",
    "redis://[::1]x",
    "redis://h?x=1",
    "redis://h#x",
    "redis://h ost",
    "redis://h\nost",
    "redis://h\"",
    "redis://[]",
    "redis://:secret%@h",
};

START_TEST(a_malformed_redis_url_is_refused_without_a_word_of_it)
{
    str error = {0};
    ck_assert_int_eq(redis_check(scratch(), str_of(bad[_i]), &error), RES_CONFIG);
    ck_assert_uint_gt(error.len, 0);
    ck_assert(!str_has(error, STR("secret")));
    ck_assert(strlen(bad[_i]) < 8 || !str_has(error, str_of(bad[_i])));
    redis *r;
    ck_assert_int_eq(redis_open(str_of(bad[_i]), &r), RES_CONFIG);
}
END_TEST

START_TEST(rediss_without_its_library_is_refused_at_once_and_says_what_is_missing)
{
    str error = {0};
    res got = redis_check(scratch(), STR("rediss://:hidden-word@h"), &error);
    ck_assert_int_eq(got, redis_tls_built_in() ? RES_OK : RES_CONFIG);
    if (got == RES_OK)
        return;
    ck_assert(str_has(error, STR("hiredis 1.0")));
    ck_assert(!str_has(error, STR("hidden-word")));
}
END_TEST

Suite *suite_redis_url(void)
{
    Suite *s = suite_create("redis_url");
    TCase *c = tcase_create("redis_url");
    tcase_add_loop_test(c, a_redis_url_is_taken_apart, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(c, a_malformed_redis_url_is_refused_without_a_word_of_it, 0,
                        sizeof bad / sizeof *bad);
    tcase_add_test(c, rediss_without_its_library_is_refused_at_once_and_says_what_is_missing);
    suite_add_tcase(s, c);
    return s;
}
