/* test_sched_form_data.c -- multipart/form-data, read strictly.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/form_data.h"

#include <check.h>

#include "core/buf.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define TYPE         "multipart/form-data; boundary=b"
#define LINE(name)   "Content-Disposition: form-data; name=\"" name "\"\r\n"

static bool reads(const char *type, str body, form_data *ret)
{
    return form_data_read(str_of(type), body, ret);
}

static void same(str got, const char *want)
{
    ck_assert_msg(str_eq(got, str_of(want)), "'%.*s' is not '%s'", STR_ARG(got), want);
}

START_TEST(a_part_is_found_by_its_name_with_type_and_bytes)
{
    form_data f;
    ck_assert(reads("Multipart/Form-Data; charset=x; boundary=\"a b\"",
                    STR("--a b\r\nContent-Disposition: form-data; name=\"one\"\r\n\r\n1\r\n--a b\r\n"
                        "content-type: image/png\r\nX-Other: z\r\nCONTENT-DISPOSITION:form-data;name=two; "
                        "filename=\"a\\\"b.png\"\r\n\r\n\r\n--a bc\r\n--a b--\r\n"),
                    &f));
    ck_assert_uint_eq(f.len, 2);
    same(form_data_find(&f, STR("one"))->body, "1");
    ck_assert_ptr_null(form_data_find(&f, STR("one"))->filename.at);
    const form_part *two = form_data_find(&f, STR("two"));
    same(two->type, "image/png");
    same(two->filename, "a\\\"b.png");
    same(two->body, "\r\n--a bc");
    ck_assert_ptr_null(form_data_find(&f, STR("three")));
}
END_TEST

START_TEST(bytes_are_given_as_they_are)
{
    form_data f;
    ck_assert(reads(TYPE, STR("--b\r\n" LINE("f") "\r\n\0\r\n-\r\n--\r\n--a\xff\r\n--b--"), &f));
    ck_assert(str_eq(f.at[0].body, STR("\0\r\n-\r\n--\r\n--a\xff")));
    ck_assert(reads(TYPE, STR("--b\r\n" LINE("f") "\r\n\r\n--b--"), &f));
    ck_assert_uint_eq(f.at[0].body.len, 0);
}
END_TEST

START_TEST(a_form_may_have_no_part)
{
    form_data f;
    ck_assert(reads(TYPE, STR("--b--\r\n"), &f));
    ck_assert_uint_eq(f.len, 0);
}
END_TEST

static const char *const bad_types[] = {
    "",
    "application/json",
    "multipart/mixed; boundary=b",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=\"\"",
    "multipart/form-data; boundary=\"b",
    "multipart/form-data; boundary=\"b \"",
    "multipart/form-data; boundary=b; boundary=b",
    "multipart/form-data; boundary=b x",
    "multipart/form-data, boundary=b",
    "multipart/form-data; boundary=\"b\x01\"",
};

START_TEST(a_type_that_is_no_form_is_refused)
{
    form_data f;
    ck_assert_msg(!reads(bad_types[_i], STR("--b\r\n" LINE("f") "\r\nx\r\n--b--"), &f), "%s", bad_types[_i]);
}
END_TEST

static const str bad_bodies[] = {
    STR_INIT(""),
    STR_INIT("--b"),
    STR_INIT("--b\r\n"),
    STR_INIT("preamble\r\n--b\r\n" LINE("f") "\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "\r\nx\r\n--b"),
    STR_INIT("--b\r\n" LINE("f") "\r\nx\r\n--b--epilogue"),
    STR_INIT("--b\r\n" LINE("f") "\r\nx--b--"),
    STR_INIT("--b\r\n" LINE("f") "x\r\n--b--"),
    STR_INIT("--b\n" LINE("f") "\nx\n--b--"),
    STR_INIT("--b\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: attachment; name=\"f\"\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: form-data; name=\"f\"; name=\"g\"\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: form-data; name=\"f\\\"\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\nContent-Disposition: form-data; name=\"f\" x\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") LINE("f") "\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "Content-Type: a/b\r\nContent-Type: c/d\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") " folded\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "X: a\nb\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "Content-Transfer-Encoding: base64\r\n\r\nx\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "\r\nx\r\n--b\r\n" LINE("f") "\r\ny\r\n--b--"),
    STR_INIT("--b\r\n" LINE("f") "\r\nx\r\n--b\r\n--b--"),
};

START_TEST(a_body_that_is_odd_is_refused)
{
    form_data f;
    ck_assert_msg(!reads(TYPE, bad_bodies[_i], &f), "%.*s", STR_ARG(bad_bodies[_i]));
}
END_TEST

static str parts(int count)
{
    buf b;
    buf_init(&b, scratch(), MIB);
    for (int i = 0; i < count; i++)
        (void)buf_addf(&b, "--b\r\nContent-Disposition: form-data; name=\"f%d\"\r\n\r\nx\r\n", i);
    (void)buf_add(&b, STR("--b--\r\n"));
    return buf_str(&b);
}

static str lines(int count, size_t length)
{
    buf b;
    buf_init(&b, scratch(), MIB);
    (void)buf_add(&b, STR("--b\r\n" LINE("f")));
    for (int i = 0; i < count; i++) {
        (void)buf_add(&b, STR("X:"));
        for (size_t n = 2; n < length; n++)
            (void)buf_add_char(&b, 'y');
        (void)buf_add(&b, STR("\r\n"));
    }
    (void)buf_add(&b, STR("\r\nx\r\n--b--\r\n"));
    return buf_str(&b);
}

/* With a boundary of so many characters. */
static bool reads_boundary(int length)
{
    form_data f;
    str       line = arena_strf(scratch(), "--%0*d", length, 0);
    str       type = arena_strf(scratch(), "multipart/form-data; boundary=%.*s", STR_ARG(str_from(line, 2)));
    str body = arena_strf(scratch(), "%.*s\r\n" LINE("f") "\r\nx\r\n%.*s--", STR_ARG(line), STR_ARG(line));
    return form_data_read(type, body, &f);
}

START_TEST(there_are_limits_to_parts_lines_and_their_length)
{
    form_data f;
    ck_assert(reads_boundary(1) && reads_boundary(FORM_BOUNDARY_MAX));
    ck_assert(!reads_boundary(FORM_BOUNDARY_MAX + 1));
    ck_assert(reads(TYPE, parts(FORM_PARTS_MAX), &f));
    ck_assert_uint_eq(f.len, FORM_PARTS_MAX);
    ck_assert(!reads(TYPE, parts(FORM_PARTS_MAX + 1), &f));
    ck_assert(reads(TYPE, lines(FORM_LINES_MAX - 1, 10), &f));
    ck_assert(!reads(TYPE, lines(FORM_LINES_MAX, 10), &f));
    ck_assert(reads(TYPE, lines(1, FORM_LINE_MAX), &f));
    ck_assert(!reads(TYPE, lines(1, FORM_LINE_MAX + 1), &f));
}
END_TEST

Suite *suite_sched_form_data(void)
{
    Suite *s = suite_create("sched_form_data");
    TCase *c = tcase_create("form_data");
    tcase_add_test(c, a_part_is_found_by_its_name_with_type_and_bytes);
    tcase_add_test(c, bytes_are_given_as_they_are);
    tcase_add_test(c, a_form_may_have_no_part);
    tcase_add_loop_test(c, a_type_that_is_no_form_is_refused, 0, COUNT(bad_types));
    tcase_add_loop_test(c, a_body_that_is_odd_is_refused, 0, COUNT(bad_bodies));
    tcase_add_test(c, there_are_limits_to_parts_lines_and_their_length);
    suite_add_tcase(s, c);
    return s;
}
