/* test_route_template.c -- templates, the paths they match, and what they share with each other.
 *
 * The expectations are ASP.NET Core's behaviour (spec 6.2).
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "core/buf.h"
#include "runtime/route_parts.h"
#include "runtime/route_template.h"
#include "unit/suites.h"

static arena *a;

static void begin(void)
{
    a = arena_new(16 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void end(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static route_template *parsed(const char *text)
{
    route_template *r = NULL;
    str             why = STR("");
    ck_assert_msg(route_template_parse(a, str_of(text), &r, &why) == RES_OK, "%.*s", STR_ARG(why));
    return r;
}

/* The parameters as "a=1 b=2", in the template's order for simple segments; "-" for no match. */
static const char *match(const char *template, str path)
{
    http_header *params;
    size_t       n;
    if (!route_template_match(a, parsed(template), path, &params, &n))
        return "-";
    buf out;
    buf_init(&out, a, 1 * MIB);
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(params[i].name), STR_ARG(params[i].value));
    buf_add_char(&out, '\0');
    return out.at;
}

/* ---- matching ---- */

static const struct {
    const char *template, *path, *params;
} matches[] = {
    /* literals, case, slashes (HOST-42) */
    {"api/hello", "/api/hello", ""},
    {"api/hello", "/API/Hello", ""},
    {"api/hello", "/api/HELLO/", ""},
    {"api/hello", "/api/hello//", "-"},
    {"api/hello", "//api/hello", "-"},
    {"api/hello", "/api//hello", "-"},
    {"api/hello", "/api/hello/x", "-"},
    {"api/hello", "/api", "-"},
    {"api/hello", "api/hello", "-"},
    {"api/hello", "", "-"},
    {"api/hello", "/api/./hello", "-"},
    {"api/hello", "/api/x/../hello", "-"},
    {"api/hello", "/api/hell%6F", ""},
    {"api/a b", "/api/a%20b", ""},
    {"api/hello/", "/api/hello", ""},
    {"", "/", ""},
    {"", "/x", "-"},
    {"a{{b}}", "/A%7bb%7D", ""},
    /* parameters */
    {"orders/{id}", "/orders/42", "id=42"},
    {"orders/{id}", "/orders/42/", "id=42"},
    {"orders/{id}", "/orders/", "-"},
    {"orders/{id}", "/orders//", "-"},
    {"orders/{id}", "/orders//42", "-"},
    {"orders/{id}", "/orders/..", "id=.."},
    {"{a}/{b}", "/x/y", "a=x b=y"},
    {"{a}/{b}", "/x", "-"},
    {"{a}/x/{b}", "/1/X/2", "a=1 b=2"},
    /* escapes: cut first, then unescaped */
    {"{a}/{b}", "/x%2Fy/z", "a=x/y b=z"},
    {"{a}", "/x%2Fy", "a=x/y"},
    {"{a}", "/%e2%82%ac", "a=\xE2\x82\xAC"},
    {"{a}", "/%zz", "-"},
    {"{a}", "/x%", "-"},
    {"{a}", "/x%4", "-"},
    {"{a}", "/%00", "-"},
    {"{a}", "/%ff", "-"},
    {"{a}", "/\xff", "-"},
    {"{a}", "/%25zz", "a=%zz"},
    {"{a}", "/a+b", "a=a+b"},
    {"{*a}", "/x/%zz", "-"},
    /* optional and default */
    {"x/{a?}", "/x", ""},
    {"x/{a?}", "/x/", ""},
    {"x/{a?}", "/x/1", "a=1"},
    {"x/{a?}", "/x/1/2", "-"},
    {"x/{a?}", "/x//", "-"},
    {"x/{a?}/{b?}", "/x/1", "a=1"},
    {"x/{a?}/y", "/x/1/y", "a=1"},
    {"x/{a?}/y", "/x/y", "-"},
    {"x/{page=1}", "/x", "page=1"},
    {"x/{page=1}", "/x/7", "page=7"},
    {"x/{a=b/c}", "/x", "a=b/c"},
    {"x/{a=}", "/x", "a="},
    {"x/{a:int=5}/{b?}", "/x", "a=5"},
    {"x/{a=1}/{b=2}", "/x/9", "a=9 b=2"},
    /* catch-all */
    {"files/{*rest}", "/files/a/b/c", "rest=a/b/c"},
    {"files/{*rest}", "/files/a/b/", "rest=a/b/"},
    {"files/{*rest}", "/files", ""},
    {"files/{*rest}", "/files/", ""},
    {"files/{*rest}", "/files//a", "-"},
    {"files/{*rest}", "/files/a//b", "rest=a//b"},
    {"files/{**rest}", "/files/a%2fb/c", "rest=a/b/c"},
    {"files/{*rest=index}", "/files", "rest=index"},
    {"{*all}", "/", ""},
    {"{*all}",
     "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33/34/35",
     "all=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33/34/35"},
    {"files/{*n:int}", "/files", "-"},
    {"files/{*n:int}", "/files/5", "n=5"},
    /* segments of several parts, matched from the right */
    {"v{version}", "/v12", "version=12"},
    {"v{version}", "/V12", "version=12"},
    {"v{version}", "/v", "-"},
    {"v{version}", "/12", "-"},
    {"v{version:int}", "/vx", "-"},
    {"{file}.{ext}", "/a.b.c", "ext=c file=a.b"},
    {"{file}.{ext}", "/.b", "-"},
    {"{file}.{ext}", "/a.", "-"},
    {"{file}.{ext?}", "/a.b", "ext=b file=a"},
    {"{file}.{ext?}", "/a", "file=a"},
    {"{file}.{ext?}", "/a.", "-"},
    {"{file}.{ext?}", "/.b", "file=.b"},
    {"{file}.{ext?}", "/a..b", "ext=b file=a."},
    {"{file}.{ext:int?}", "/a.b", "-"},
    {"{file}.{ext:int?}", "/a.5", "ext=5 file=a"},
    {"{file}.{ext:int?}", "/a", "file=a"},
    {"{a}-{b}-c", "/x-y-c", "b=y a=x"},
    {"{a}-{b}-c", "/x-y-d", "-"},
    {"{a}-{b}-c", "/-y-c", "-"},
    {"{a}ab{b}", "/ababab", "b=ab a=ab"},
    {"a{x}a", "/aa", "-"},
    {"a{x}a", "/aaa", "x=a"},
    {"({n})", "/(7)", "n=7"},
    {"{a}.{b}", "/x%2ey", "b=y a=x"},
};

START_TEST(a_path_matches_as_listed)
{
    const char *got = match(matches[_i].template, str_of(matches[_i].path));
    ck_assert_msg(strcmp(got, matches[_i].params) == 0, "'%s' with '%s' gives '%s', not '%s'",
                  matches[_i].template, matches[_i].path, got, matches[_i].params);
}
END_TEST

/* ---- constraints ---- */

static const struct {
    const char *constraint, *good, *bad; /* values, blanks between them; escaped where a path must be */
} constraints[] = {
    {"int", "0 -5 +7 2147483647 -2147483648 %2042%20", "x 1.5 2147483648 -2147483649 - + +-5 1e3 0x1 12a"},
    {"long", "9223372036854775807 -9223372036854775808", "9223372036854775808 1.0 a"},
    {"bool", "true FALSE %20True", "yes 1 truee"},
    {"decimal", "49.99 -1,000.01 5- .5 5. 79228162514264337593543950335 000000000000000000000000000000001",
     "1e5 1.2.3 -5- , . x 79228162514264337593543950336 799999999999999999999999999999"},
    {"double", "1.5 -1,001.01e8 1e-5 NaN -Infinity 1e999", "1e 1e+ x 1.2.3 e5 infinit"},
    {"float", "1.5", "abc"},
    {"guid",
     "0f8fad5b-d9cb-469f-a165-70867728950e 0F8FAD5BD9CB469FA16570867728950E "
     "%7B0f8fad5b-d9cb-469f-a165-70867728950e%7D (0f8fad5b-d9cb-469f-a165-70867728950e)",
     "0f8fad5b 0f8fad5b-d9cb-469f-a165-70867728950 0f8fad5bd9cb469fa16570867728950g "
     "(0f8fad5b-d9cb-469f-a165-70867728950e%7D"},
    {"alpha", "abc ABC x", "a1 a-b %c3%a9"},
    {"datetime",
     "2016-12-31 2016-12-31%207:32pm 12/31/2016 2024-02-29 2016-12-31T23:59:59Z "
     "2016-12-31T23:59:59.1234567+02:00 "
     "2016/1/2",
     "2016-13-01 2023-02-29 31/12/2016 x 2016-12-31T25:00 2016-12-31%2013:00pm 2016-12-31x 2016-1 16-1-1 "
     "2016-12-31T10:00:00+99:00 2016-12-31T"},
    {"length(3)", "abc %e2%82%ac%e2%82%acx", "ab abcd"},
    {"length(2,4)", "ab abcd", "a abcde"},
    {"length(2)", "%f0%9f%98%80", "a"},
    {"minlength(2)", "ab abc", "a"},
    {"maxlength(2)", "a ab", "abc"},
    {"min(18)", "18 99999999999", "17 x"},
    {"max(-1)", "-1 -5", "0 x"},
    {"range(1,10)", "1 10 +5", "0 11 x"},
    {"required", "x", ""},
    {"file", "a.txt .profile", "a a. "},
    {"nonfile", "a a.", "a.txt"},
    {"INT", "5", "x"},
    {"int:min(5):max(7)", "5 6 7", "4 8 x"},
    {"regex(^\\d{{3}}-\\d{{4}}$)", "555-1234", "555-123 5555-1234 abc-defg"},
    {"regex(^[a-z]{{2}}$)", "de DE", "d deu d1"},
    {"regex(b)", "abc B", "ac"},
    {"regex(^(?:a|b)+?$)", "ab a", "c abc"},
    {"regex(^\\w+\\s\\W\\D\\S$)", "ab_1%20-xy", "ab-xy ab%20x1y"},
    {"regex(^[\\w.-]+$)", "a.b-c_9", "a!b a%20b"},
    {"regex(^[^\\]\\d]+$)", "abc", "a%5d 1"},
    {"regex(^[][^-]+$)", "%5b%5d%5e-", "a"},
    {"regex(^[\\^]$)", "%5e", "a"},
    {"regex(^[.:=[]+$)", "%5b:%5b.%5b=", "a"},
    {"regex(\\Aa\\tb\\z)", "a%09b", "atb"},
    {"regex(^a\\.b\\{{2$)", "a.b%7b2", "axb%7b2 a.bb"},
    {"regex(^x{{,2$)", "x%7b,2", "xx"},
    {"regex(^(ab){{1,2}}$)", "ab abab", "ababab"},
    {"regex(:=)", "a:=b", "a"},
    {"regex(^\\d+$):length(3)", "123", "12 abc"},
    {"regex(^a/b$)", "a%2Fb", "ab"},
};

static void check_values(const char *constraint, const char *values, bool wanted)
{
    const char *template = arena_strf(a, "x/{v:%s}", constraint).at;
    str value;
    for (str rest = str_of(values); str_next_field(&rest, ' ', &value);) {
        if (value.len == 0)
            continue;
        /* Slashes would cut the path. */
        buf path;
        buf_init(&path, a, 4 * KIB);
        buf_add(&path, STR("/x/"));
        for (size_t i = 0; i < value.len; i++)
            buf_add(&path, value.at[i] == '/' ? STR("%2F") : str_slice(value, i, i + 1));
        bool got = strcmp(match(template, buf_str(&path)), "-") != 0;
        ck_assert_msg(got == wanted, "%s %s '%.*s'", constraint, got ? "accepts" : "refuses", STR_ARG(value));
    }
}

START_TEST(a_constraint_accepts_and_refuses_as_listed)
{
    check_values(constraints[_i].constraint, constraints[_i].good, true);
    check_values(constraints[_i].constraint, constraints[_i].bad, false);
}
END_TEST

START_TEST(a_regex_is_not_tried_on_more_than_256_bytes)
{
    char path[300];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    ck_assert_str_ne(match("{v:regex(a)}", (str){path, 257}), "-");
    ck_assert_str_eq(match("{v:regex(a)}", (str){path, 258}), "-");
    ck_assert_str_ne(match("{v}", (str){path, 258}), "-");
}
END_TEST

/* ---- parsing ---- */

static const struct {
    const char *template, *why;
} refusals[] = {
    {"a/{b", "route 'a/{b': a parameter is not closed"},
    {"a/{b{c}", "not closed"},
    {"a/b}", "a '}' has no '{'"},
    {"a/}{b}", "a '}' has no '{'"},
    {"a//b", "two slashes in a row"},
    {"/a", "begins with a slash"},
    {"{}", "a parameter has no name"},
    {"{?}", "a parameter has no name"},
    {"{:int}", "a parameter has no name"},
    {"{*}", "a parameter has no name"},
    {"{a*}", "has a name with one of"},
    {"{***a}", "has a name with one of"},
    {"{a?b}", "has a name with one of"},
    {"{a}/{A}", "parameter 'A' appears twice"},
    {"{*a}/b", "parameter 'a' is a catch-all, and must be the last segment"},
    {"x{*a}", "must fill its segment alone"},
    {"{*a?}", "a catch-all may always be empty"},
    {"{a=1?}", "is optional and has a default"},
    {"{a}{b}", "follows another one without a literal"},
    {"{a?}.b", "must be the last of its segment"},
    {"{a}-{b?}", "only '.' may stand before it"},
    {"a?", "a '?' stands outside a parameter"},
    {"{a:itn}", "route '{a:itn}': parameter 'a': constraint 'itn' is unknown"},
    {"{a:}", "constraint '' is unknown"},
    {"{a:int()}", "takes nothing in parentheses"},
    {"{a:min}", "wants something in parentheses"},
    {"{a:min(x)}", "constraint 'min' wants one whole number"},
    {"{a:min(1,2)}", "wants one whole number"},
    {"{a:range(1)}", "wants two whole numbers"},
    {"{a:range(5,1)}", "the least is above the most"},
    {"{a:length(1,2,3)}", "wants one whole number or two"},
    {"{a:length(-1)}", "a length is not within"},
    {"{a:length(5,1)}", "the least is above the most"},
    {"{a:min(1}", "whose '(' is not closed"},
    {"{a:int=x}", "has a default that its constraint refuses"},
    {"{a:int:int:int:int:int:int:int:int:int}", "too many constraints"},
    {"{a:regex()}", "is empty"},
    {"{a:regex(\\b)}", "'\\b' is not supported"},
    {"{a:regex(\\1)}", "'\\1' is not supported"},
    {"{a:regex(\\p{{L}})}", "'\\p' is not supported"},
    {"{a:regex((?=x))}", "'(?=' is not supported"},
    {"{a:regex((?<n>x))}", "'(?<' is not supported"},
    {"{a:regex((?i)x)}", "'(?i' is not supported"},
    {"{a:regex((x)}", "a '(' is not closed"},
    {"{a:regex(x\\)))}", "a ')' has no '('"},
    {"{a:regex([a)}", "a bracket is not closed"},
    {"{a:regex([])}", "a bracket is not closed"},
    {"{a:regex([z-a])}", "upside down"},
    {"{a:regex([\\d-z])}", "upside down or has no end"},
    {"{a:regex([a-z-[aeiou]])}", "subtraction of classes"},
    {"{a:regex([\\D])}", "'\\D' is not supported in brackets"},
    {"{a:regex([\xC3\xA9])}", "ASCII characters only"},
    {"{a:regex(*a)}", "nothing to repeat"},
    {"{a:regex(a**)}", "nothing to repeat"},
    {"{a:regex(^+)}", "nothing to repeat"},
    {"{a:regex(a{{300}})}", "above 255"},
    {"{a:regex(a{{5,2}})}", "upside down"},
    {"{a:regex(((a{{200}}){{200}}){{200}})}", "is too large"},
    {"{a:regex(a\\)}", "ends in a backslash"},
    {"{a:regex((((((((((((((((((a))))))))))))))))))}", "nested too deeply"},
    {"{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}-{i}-{j}", "a segment has too many parts"},
    {"1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33",
     "too many segments"},
    {"\xff", "not UTF-8"},
};

START_TEST(a_wrong_template_is_refused_with_its_reason)
{
    route_template *r;
    str             why = STR("");
    ck_assert_msg(route_template_parse(a, str_of(refusals[_i].template), &r, &why) == RES_CONFIG,
                  "'%s' was accepted", refusals[_i].template);
    ck_assert_msg(str_has(why, str_of(refusals[_i].why)), "'%s' says: %.*s", refusals[_i].template,
                  STR_ARG(why));
}
END_TEST

START_TEST(a_template_of_1025_bytes_is_refused)
{
    char            text[1025];
    route_template *r;
    str             why;
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(route_template_parse(a, (str){text, 1024}, &r, &why), RES_OK);
    ck_assert_int_eq(route_template_parse(a, (str){text, 1025}, &r, &why), RES_CONFIG);
}
END_TEST

/* ---- two templates ---- */

static const struct {
    const char *one, *other;
    bool        overlap;
    int         narrower; /* -1: one; 1: other; 0: neither */
} pairs[] = {
    {"a/b", "a/b", true, 0},
    {"a/b", "A/B", true, 0},
    {"a/b", "a/c", false, 0},
    {"a/b", "a", false, 1},
    {"items/{id}", "items/recent", true, 1},
    {"items/recent", "items/{id}", true, -1},
    {"items/{id:int}", "items/list", false, 1},
    {"items/{id:int}", "items/5", true, 1},
    {"items/{id:int}", "items/{name:alpha}", false, 0},
    {"items/{id:int}", "items/{name}", true, -1},
    {"items/{id:bool}", "items/{n:long}", false, 0},
    {"items/{id:min(5)}", "items/{n:max(4)}", false, 0},
    {"items/{id:min(5)}", "items/{n:max(5)}", true, 0},
    {"x/{a:length(2)}", "x/{b:minlength(3)}", false, 0},
    {"x/{a:alpha}", "x/{b:double}", true, 0}, /* NaN */
    {"x/{a:guid}", "x/{b:alpha}", true, 0},
    {"actions/snapshot/refresh", "actions/{owner}/{name}", true, -1},
    {"actions/{owner}/{name}", "actions/{owner}/{name}/readme", false, -1},
    {"a/{x}/c", "a/b/{y}", true, 1},
    {"x", "x/{a?}", true, -1},
    {"x/{a?}", "x/y", true, 1},
    {"x/{a?}", "x/y/z", false, 1},
    {"x/{a}", "x", false, 1},
    {"x/{*rest}", "x", true, 1},
    {"x/{*rest}", "x/y/z", true, 1},
    {"x/{*rest:int}", "x", false, 1},
    {"{*rest}", "anything/at/all", true, 1},
    {"{*rest}", "", true, 1},
    {"y/{*rest}", "x/{*rest}", false, 0},
    {"v{n}", "w{n}", false, 0},
    {"v{n}", "version-{n}", true, 0},
    {"{n}.json", "{n}.xml", false, 0},
    {"{n}.json", "{m}json", true, 0},
    {"{n}.json", "{n}.{ext?}", true, 0},
    {"v{n:int}", "v12", true, 1},
    {"v{n:int}", "vx", false, 1},
    {"v{n}", "{any}", true, -1},
};

START_TEST(two_templates_overlap_as_listed)
{
    const route_template *x = parsed(pairs[_i].one), *y = parsed(pairs[_i].other);
    ck_assert_msg(route_template_overlap(x, y) == pairs[_i].overlap, "'%s' and '%s'", pairs[_i].one,
                  pairs[_i].other);
    ck_assert_msg(route_template_overlap(y, x) == pairs[_i].overlap, "'%s' and '%s', turned round",
                  pairs[_i].one, pairs[_i].other);
    int order = route_template_compare(x, y);
    ck_assert_msg((order > 0) - (order < 0) == pairs[_i].narrower, "'%s' and '%s': %d", pairs[_i].one,
                  pairs[_i].other, order);
    ck_assert_int_eq(route_template_compare(y, x), -order);
}
END_TEST

/* ---- no memory ---- */

START_TEST(parsing_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        arena          *b = arena_new(1 * MIB);
        route_template *r;
        str             why;
        arena_fail_at(nth);
        res  code = route_template_parse(b, STR("a{{/{id:int:regex(^\\d{{2}}$)}/v{n}.{e?}/{p=1{{}/{*rest}"),
                                         &r, &why);
        bool done = arena_fail_pending();
        arena_fail_at(0);
        arena_free(b);
        if (done) {
            ck_assert_int_eq(code, RES_OK);
            ck_assert_int_gt(nth, 5);
            break;
        }
        ck_assert_int_eq(code, RES_MEMORY);
    }
}
END_TEST

START_TEST(matching_without_memory_is_no_match)
{
    route_template *r = parsed("x/{a}");
    http_header    *params;
    size_t          n;
    for (long nth = 1; nth <= 2; nth++) {
        arena_fail_at(nth);
        ck_assert(!route_template_match(a, r, STR("/x/%41"), &params, &n));
        ck_assert(!arena_fail_pending());
    }
    ck_assert(route_template_match(a, r, STR("/x/%41"), &params, &n));
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

Suite *suite_route_template(void)
{
    Suite *s = suite_create("route_template");
    TCase *t = tcase_create("route_template");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, a_path_matches_as_listed, 0, COUNT(matches));
    tcase_add_loop_test(t, a_constraint_accepts_and_refuses_as_listed, 0, COUNT(constraints));
    tcase_add_test(t, a_regex_is_not_tried_on_more_than_256_bytes);
    tcase_add_loop_test(t, a_wrong_template_is_refused_with_its_reason, 0, COUNT(refusals));
    tcase_add_test(t, a_template_of_1025_bytes_is_refused);
    tcase_add_loop_test(t, two_templates_overlap_as_listed, 0, COUNT(pairs));
    tcase_add_test(t, parsing_survives_every_failing_allocation);
    tcase_add_test(t, matching_without_memory_is_no_match);
    suite_add_tcase(s, t);
    return s;
}
