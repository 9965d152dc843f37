/* test_base64.c -- RFC 4648 §10, every length and character, and every way in which a text can be wrong.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"

#include <check.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;

static void make_arena(void)
{
    a = arena_new(64 * MIB);
}

static void free_arena(void)
{
    arena_free(a);
}

static void assert_str(str got, str want)
{
    ck_assert_msg(str_eq(got, want), "got '%.*s', not '%.*s'", STR_ARG(got), STR_ARG(want));
}

static const struct {
    const char *plain, *encoded, *url;
} vectors[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/", "-_-_"},
    {"\xff\xef", "/+8=", "_-8"},
};

START_TEST(the_published_texts_go_both_ways)
{
    str plain = str_of(vectors[_i].plain), encoded = str_of(vectors[_i].encoded),
        url = str_of(vectors[_i].url), back;
    assert_str(base64_encode(a, plain), encoded);
    assert_str(base64url_encode(a, plain), url);
    char here[16];
    ck_assert_uint_eq(base64_len(plain.len), encoded.len);
    base64_encode_to(plain, here);
    assert_str((str){here, encoded.len}, encoded);
    ck_assert(base64_decode(a, encoded, &back));
    assert_str(back, plain);
    ck_assert(base64url_decode(a, url, &back));
    assert_str(back, plain);
}
END_TEST

START_TEST(every_length_comes_back_as_it_went)
{
    enum { LONGEST = 300 };
    char bytes[LONGEST];
    for (size_t i = 0; i < LONGEST; i++)
        bytes[i] = (char)(i * 167 + 13);
    for (size_t len = 0; len <= LONGEST; len++) {
        str plain = {bytes, len}, back = {NULL, 0};
        str padded = base64_encode(a, plain), bare = base64url_encode(a, plain);
        ck_assert_uint_eq(padded.len, (len + 2) / 3 * 4);
        ck_assert_uint_eq(bare.len, (len * 4 + 2) / 3);
        ck_assert(base64_decode(a, padded, &back));
        assert_str(back, plain);
        ck_assert(base64url_decode(a, bare, &back));
        assert_str(back, plain);
    }
}
END_TEST

/* In each place of a group, and in the group's short forms, exactly the alphabet's 64 characters are taken.
 */
START_TEST(only_the_alphabets_characters_are_taken)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int c = 0; c < 256; c++) {
        bool in_plain = c != 0 && strchr(plain, c) != NULL, in_url = c != 0 && strchr(url, c) != NULL;
        for (size_t place = 0; place < 8; place++) {
            char text[8] = {'A', 'A', 'A', 'A', 'A', 'A', 'A', 'A'};
            str  got;
            if (c == '=' && place == 7)
                continue; /* that is padding */
            text[place] = (char)c;
            ck_assert_msg(base64_decode(a, (str){text, 8}, &got) == in_plain, "%#x at %zu", (unsigned)c,
                          place);
            ck_assert_msg(base64url_decode(a, (str){text, 8}, &got) == in_url, "url: %#x at %zu", (unsigned)c,
                          place);
        }
        char short_form[2] = {(char)c, 'A'};
        str  got;
        ck_assert_msg(base64url_decode(a, (str){short_form, 2}, &got) == in_url, "short: %#x", (unsigned)c);
    }
}
END_TEST

static const char *const wrong[] = {
    "Z",        "Zg",       "Zm8",     "Zm9vY",      "Zm9vYg", "Zm9vYmE",  /* padding missing */
    "Zg=",      "Zg===",    "Zm8==",   "Zm9v=",      "Zm9v==", "Zm9v====", /* too little or too much of it */
    "=",        "==",       "===",     "====",       "Z===",   "=Zg=",      "Z=g=",
    "Zg==Zg==", "Zm8=Zm8=", "Zh==",    "Zv==",       "Zm9=",   "Zm/=",      "ZmF=", /* trailing bits set */
    " Zg==",    "Zg== ",    "Zg==\n",  "Zm9v\r\n",   "Zm 9v",  "Zm9v\tZm8", "Zm\n9vYg=", /* blanks */
    "Zm9-",     "Zm9_",     "Zm9\x80", "\xc3\xa9==",                                     /* foreign */
};

START_TEST(a_text_that_is_not_quite_base64_is_refused)
{
    str got = STR("untouched");
    ck_assert_msg(!base64_decode(a, str_of(wrong[_i]), &got), "'%s' was taken", wrong[_i]);
    assert_str(got, STR("untouched"));
}
END_TEST

static const char *const wrong_url[] = {
    "Z",    "Zm9vY", "Zg=", "Zg===", "Zm8==", "Zm9v=",  "=",    "==",   "====",
    "Z===", "Z=g=",  "Zh",  "Zv",    "Zm9",   "Zm_",    "Zh==", "Zm9=", /* trailing bits */
    "Zm9+", "Zm9/",  " Zg", "Zg ",   "Zg\n",  "Zg==Zg",
};

START_TEST(a_text_that_is_not_quite_base64url_is_refused)
{
    str got = STR("untouched");
    ck_assert_msg(!base64url_decode(a, str_of(wrong_url[_i]), &got), "'%s' was taken", wrong_url[_i]);
    assert_str(got, STR("untouched"));
}
END_TEST

/* What lies behind the text would complete it, but is not part of it. */
START_TEST(a_lone_last_character_is_refused_whatever_follows_in_memory)
{
    str got;
    for (size_t len = 1; len < 30; len += 4) {
        str text = {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", len};
        ck_assert(!base64_decode(a, text, &got));
        ck_assert(!base64url_decode(a, text, &got));
    }
}
END_TEST

START_TEST(base64url_may_have_its_padding)
{
    str got;
    ck_assert(base64url_decode(a, STR("Zg=="), &got));
    assert_str(got, STR("f"));
    ck_assert(base64url_decode(a, STR("Zm8="), &got));
    assert_str(got, STR("fo"));
}
END_TEST

START_TEST(a_zero_byte_in_the_text_is_refused)
{
    str got;
    ck_assert(!base64_decode(a, (str){"Zm\0v", 4}, &got));
    ck_assert(!base64url_decode(a, (str){"Zg\0\0", 4}, &got));
}
END_TEST

START_TEST(an_empty_str_without_a_pointer_goes_both_ways)
{
    str got = STR("x");
    str none = {NULL, 0};
    ck_assert_uint_eq(base64_encode(a, none).len, 0);
    ck_assert(base64_decode(a, none, &got));
    ck_assert_uint_eq(got.len, 0);
}
END_TEST

START_TEST(without_memory_nothing_is_given_and_nothing_is_touched)
{
    str got = STR("untouched");
    arena_fail_at(1);
    ck_assert_uint_eq(base64_encode(a, STR("foo")).len, 0);
    arena_fail_at(1);
    ck_assert(!base64_decode(a, STR("Zm9v"), &got));
    arena_fail_at(0);
    assert_str(got, STR("untouched"));
}
END_TEST

Suite *suite_base64(void)
{
    Suite *s = suite_create("base64");
    TCase *c = tcase_create("base64");
    tcase_add_checked_fixture(c, make_arena, free_arena);
    tcase_add_loop_test(c, the_published_texts_go_both_ways, 0, COUNT(vectors));
    tcase_add_test(c, every_length_comes_back_as_it_went);
    tcase_add_test(c, only_the_alphabets_characters_are_taken);
    tcase_add_loop_test(c, a_text_that_is_not_quite_base64_is_refused, 0, COUNT(wrong));
    tcase_add_loop_test(c, a_text_that_is_not_quite_base64url_is_refused, 0, COUNT(wrong_url));
    tcase_add_test(c, a_lone_last_character_is_refused_whatever_follows_in_memory);
    tcase_add_test(c, base64url_may_have_its_padding);
    tcase_add_test(c, a_zero_byte_in_the_text_is_refused);
    tcase_add_test(c, an_empty_str_without_a_pointer_goes_both_ways);
    tcase_add_test(c, without_memory_nothing_is_given_and_nothing_is_touched);
    suite_add_tcase(s, c);
    return s;
}
