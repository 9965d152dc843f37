/* test_log_text.c -- JSON escapes, repaired UTF-8, hidden secrets, and URLs without what they should not
 * tell.
 *
 * Secrets cannot be taken back: tests use texts that no other test uses, for they may share a process.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static char     room[8192];
static log_text out;

static void clear(void)
{
    out = (log_text){.at = room, .max = sizeof room};
}

static str escaped(str text, bool never_warn)
{
    clear();
    ck_assert(log_text_put(&out, STR("\"")));
    ck_assert(log_text_escape(&out, text, never_warn));
    ck_assert(log_text_put(&out, STR("\"")));
    return (str){out.at, out.len};
}

/* What a reader of the JSON gets. */
static void assert_reads(str text, bool never_warn, str want)
{
    str         json = escaped(text, never_warn);
    yyjson_doc *doc = yyjson_read(json.at, json.len, 0);
    ck_assert_msg(doc != NULL, "not JSON: %.*s", STR_ARG(json));
    yyjson_val *root = yyjson_doc_get_root(doc);
    str         got = {yyjson_get_str(root), yyjson_get_len(root)};
    ck_assert_msg(str_eq(got, want), "'%.*s' is not '%.*s'", STR_ARG(got), STR_ARG(want));
    yyjson_doc_free(doc);
}

static void assert_hides(const char *text, const char *want)
{
    assert_reads(str_of(text), false, str_of(want));
}

START_TEST(every_single_byte_gives_valid_json_without_a_line_feed)
{
    for (int c = 0; c < 256; c++) {
        char text[3] = {'<', (char)c, '>'};
        assert_reads((str){text, 3}, false, c < 0x80 ? (str){text, 3} : STR("<\xef\xbf\xbd>"));
        for (size_t i = 0; i < out.len; i++)
            ck_assert_int_ge((uint8_t)out.at[i], 0x20);
    }
}
END_TEST

static const struct {
    const char *in, *out;
} utf8_cases[] = {
    {"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x8c\x89", "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x8c\x89"},
    {"\xc3", "\xef\xbf\xbd"},                                                 /* cut */
    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* cut */
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
    {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* a surrogate */
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond Unicode */
    {"\xf0\x8f\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    {"\xc3(", "\xef\xbf\xbd("},
    {"line\r\nfeed\ttab \"quote\" back\\slash", "line\r\nfeed\ttab \"quote\" back\\slash"},
};

START_TEST(text_arrives_as_it_was_or_repaired)
{
    assert_reads(str_of(utf8_cases[_i].in), false, str_of(utf8_cases[_i].out));
}
END_TEST

static const char *const warn_texts[] = {"warn",   "WARN",       "a Warning: wArN", "warnwarn",
                                         "wwarn",  "warn\nwarn", "forewarned",      "\"warn\"",
                                         "war\nn", "swarnwARNs", "wawarnrn",        "\xc3warn"};

START_TEST(the_word_warn_is_written_so_that_only_json_readers_see_it)
{
    str text = str_of(warn_texts[_i]), json = escaped(text, true);
    for (size_t i = 0; i < json.len; i++)
        ck_assert_msg(!str_starts_nocase(str_from(json, i), STR("warn")), "%.*s", STR_ARG(json));
    if (str_is_utf8(text))
        assert_reads(text, true, text);
}
END_TEST

START_TEST(the_word_warn_stays_as_it_is_where_it_may)
{
    ck_assert(str_eq(escaped(STR("warn Warn"), false), STR("\"warn Warn\"")));
    ck_assert(str_eq(escaped(STR("war arn wan"), true), STR("\"war arn wan\"")));
}
END_TEST

/* However little room there is, what fits is whole: no half escape and no half character. */
START_TEST(a_text_is_cut_between_characters)
{
    str  text = STR("a\"\n\x01\xe2\x82\xac\xff"
                     "warn\\z");
    str  all = escaped(text, true);
    str  inside = str_slice(all, 1, all.len - 1);
    char whole[128];
    memcpy(whole, inside.at, inside.len);
    inside.at = whole;
    for (size_t max = 0; max <= inside.len; max++) {
        char small[128];
        memset(small, '!', sizeof small);
        log_text to = {.at = small, .max = max};
        ck_assert_int_eq(log_text_escape(&to, text, true), max == inside.len);
        ck_assert_uint_le(to.len, max);
        ck_assert(str_starts(inside, (str){small, to.len}));
        ck_assert(str_is_utf8((str){small, to.len}));
        ck_assert_int_eq(small[max], '!');
        ck_assert_msg(max - to.len < 6, "%zu of %zu used", to.len, max);
    }
}
END_TEST

START_TEST(put_adds_all_or_nothing)
{
    char     small[4] = "....";
    log_text to = {.at = small, .max = 3};
    ck_assert(log_text_put(&to, STR("ab")));
    ck_assert(!log_text_put(&to, STR("cd")));
    ck_assert(log_text_put(&to, STR("c")));
    ck_assert(log_text_put(&to, (str){NULL, 0}));
    ck_assert(!log_text_put(&to, STR("d")));
    ck_assert_mem_eq(small, "abc.", 4);
}
END_TEST

START_TEST(secrets_are_hidden_wherever_they_are)
{
    ck_assert(log_text_hide(STR("text-K3y+of/th=")));
    ck_assert(log_text_hide(STR("with\"quote\n")));
    assert_hides(
        "text-K3y+of/th= b with\"quote\n c text-K3y+of/th=text-K3y+of/th= d TEXT-K3y+of/th= text-K3y+of/th=",
        "*** b *** c ****** d TEXT-K3y+of/th= ***");
}
END_TEST

START_TEST(overlapping_secrets_are_all_hidden)
{
    ck_assert(log_text_hide(STR("abcdefgh12345678")));
    ck_assert(log_text_hide(STR("12345678ijklmnop")));
    ck_assert(log_text_hide(STR("abcdefgh")));
    assert_hides("<abcdefgh12345678ijklmnop> <abcdefghX>", "<***> <***X>");
}
END_TEST

START_TEST(the_beginning_of_a_secret_at_the_end_of_a_text_is_hidden)
{
    ck_assert(log_text_hide(STR("0123456789-cut-by-the-caller")));
    assert_hides("cut: 0123456789-c", "cut: ***");
    assert_hides("cut: 01234567", "cut: ***");
    assert_hides("too short to tell: 0123456", "too short to tell: 0123456");
    assert_hides("not the end: 0123456789-c.", "not the end: 0123456789-c.");
}
END_TEST

START_TEST(texts_too_short_to_be_secrets_are_ignored)
{
    ck_assert(log_text_hide(STR("seven77")));
    ck_assert(log_text_hide((str){NULL, 0}));
    assert_hides("seven77", "seven77");
}
END_TEST

static const struct {
    const char *url, *safe;
} url_cases[] = {
    {"https://x/y?sig=abc&a=1", "https://x/y?sig=***&a=***"},
    {"https://acct.blob.core.windows.net/c/b?sv=2021&se=2026-01-01&sr=b&sig=a%2Bb%3D",
     "https://acct.blob.core.windows.net/c/b?sv=***&se=***&sr=***&sig=***"},
    {"http://user:pass@host:80/p", "http://host:80/p"},
    {"http://user@host/p?q", "http://host/p?***"},
    {"http://us@er:pa@ss@host/p@q", "http://host/p@q"},
    {"http://host/p@q", "http://host/p@q"},
    {"http://127.0.0.1:10002/devstoreaccount1/Tables('x')",
     "http://127.0.0.1:10002/devstoreaccount1/Tables('x')"},
    {"redis://:secret@cache:6380", "redis://cache:6380"},
    {"http://[::1]/p", "http://[::1]/p"},
    {"http://u:p@[::1]:8080/p?a=b", "http://[::1]:8080/p?a=***"},
    {"redis://:abc/def=@cache:6380", "redis://***"}, /* a slash in the password */
    {"https://user:pa?ss@host/", "https://***"},
    {"https://user:pa#ss@host/", "https://***"},
    {"https://x/y?sig=abc#token", "https://x/y?sig=***#***"},
    {"https://x/y#access_token=abc?x=1", "https://x/y#***"},
    {"https://x/y?a=b=c&&d=&e", "https://x/y?a=***&&d=***&***"},
    {"https://x/y?", "https://x/y?"},
    {"https://x?a=1", "https://x?a=***"},
    {"https://x/?u=http://a:b@c/", "https://x/?u=***"},
    {"/relative/p@th?a=1", "/relative/p@th?a=***"},
    {"/a//b@c", "/a//b@c"},
    {"//u:p@host/p", "//host/p"},
    {"user:pass@host/p", "host/p"},
    {"", ""},
    {"?sig=abc", "?sig=***"},
};

START_TEST(a_safe_url_shows_no_password_and_no_value)
{
    char shown[256];
    str  safe = log_safe_url(str_of(url_cases[_i].url), shown, sizeof shown);
    ck_assert_str_eq(shown, url_cases[_i].safe);
    ck_assert(str_eq(safe, str_of(url_cases[_i].safe)));
}
END_TEST

START_TEST(a_safe_url_fits_any_room_and_shows_no_more_than_the_whole)
{
    str  url = STR("https://user:pass@host/path?sig=abc&x=def#tok");
    char whole[128], shown[128];
    str  all = log_safe_url(url, whole, sizeof whole);
    for (size_t size = 0; size <= all.len + 2; size++) {
        memset(shown, '!', sizeof shown);
        str safe = log_safe_url(url, shown, size);
        ck_assert(safe.len < size || (size == 0 && safe.len == 0));
        ck_assert(str_starts(all, safe));
        ck_assert_int_eq(shown[size], '!');
        ck_assert(size == 0 || shown[safe.len] == '\0');
    }
}
END_TEST

Suite *suite_log_text(void)
{
    Suite *s = suite_create("log_text");
    TCase *c = tcase_create("log_text");
    tcase_add_test(c, every_single_byte_gives_valid_json_without_a_line_feed);
    tcase_add_loop_test(c, text_arrives_as_it_was_or_repaired, 0, COUNT(utf8_cases));
    tcase_add_loop_test(c, the_word_warn_is_written_so_that_only_json_readers_see_it, 0, COUNT(warn_texts));
    tcase_add_test(c, the_word_warn_stays_as_it_is_where_it_may);
    tcase_add_test(c, a_text_is_cut_between_characters);
    tcase_add_test(c, put_adds_all_or_nothing);
    tcase_add_test(c, secrets_are_hidden_wherever_they_are);
    tcase_add_test(c, overlapping_secrets_are_all_hidden);
    tcase_add_test(c, the_beginning_of_a_secret_at_the_end_of_a_text_is_hidden);
    tcase_add_test(c, texts_too_short_to_be_secrets_are_ignored);
    tcase_add_loop_test(c, a_safe_url_shows_no_password_and_no_value, 0, COUNT(url_cases));
    tcase_add_test(c, a_safe_url_fits_any_room_and_shows_no_more_than_the_whole);
    suite_add_tcase(s, c);
    return s;
}
