/* test_sched_image.c -- what an image is, and how it comes as text.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/image.h"

#include <check.h>

#include "core/base64.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define JPEG         "\xff\xd8\xff\xe0 jpeg"
#define PNG          "\x89PNG\r\n\x1a\n png"
#define WEBP         "RIFF\x10\x00\x00\x00WEBPVP8 "

static const struct {
    str         bytes;
    image_type  type;
    const char *mime, *extension;
} sniffs[] = {
    {STR_INIT(JPEG), IMAGE_JPEG, "image/jpeg", "jpg"},
    {STR_INIT(PNG), IMAGE_PNG, "image/png", "png"},
    {STR_INIT(WEBP), IMAGE_WEBP, "image/webp", "webp"},
    {STR_INIT(""), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("\xff\xd8"), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("\x89PNG\n\x1a\n"), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("RIFF\x10\x00\x00\x00WAVE"), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("RIFF"), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("GIF89a"), IMAGE_NONE, "application/octet-stream", "bin"},
    {STR_INIT("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), IMAGE_NONE, "application/octet-stream", "bin"},
};

START_TEST(the_first_bytes_tell_the_type)
{
    image_type type = image_sniff(sniffs[_i].bytes);
    ck_assert_int_eq(type, sniffs[_i].type);
    ck_assert_str_eq(image_mime(type), sniffs[_i].mime);
    ck_assert_str_eq(image_extension(type), sniffs[_i].extension);
}
END_TEST

START_TEST(types_are_known_by_their_names)
{
    ck_assert_int_eq(image_type_of(STR("image/jpg")), IMAGE_JPEG);
    ck_assert_int_eq(image_type_of(STR(" IMAGE/JPEG ; q=1")), IMAGE_JPEG);
    ck_assert_int_eq(image_type_of(STR("image/png")), IMAGE_PNG);
    ck_assert_int_eq(image_type_of(STR("image/webp")), IMAGE_WEBP);
    ck_assert_int_eq(image_type_of(STR("image/svg+xml")), IMAGE_NONE);
    ck_assert_int_eq(image_type_of(STR("image")), IMAGE_NONE);
    ck_assert_int_eq(image_type_of(STR("application/octet-stream")), IMAGE_NONE);
    ck_assert_int_eq(image_type_of(STR("")), IMAGE_NONE);
}
END_TEST

static str text_of(const char *before, str bytes)
{
    str encoded = base64_encode(scratch(), bytes);
    return arena_strf(scratch(), "%s%.*s", before, STR_ARG(encoded));
}

/* SCHED-81. */
START_TEST(base64_is_taken_raw_and_as_a_data_url)
{
    static const char *const before[] = {"", "  ", "data:image/png;base64,",
                                         "DATA:IMAGE/PNG;charset=x;Base64,", "data:;base64,"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        image got = {0};
        ck_assert_msg(image_from_base64(scratch(), text_of(before[i], STR(PNG)), &got) == IMAGE_OK, "%s",
                      before[i]);
        ck_assert_int_eq(got.type, IMAGE_PNG);
        ck_assert(str_eq(got.bytes, STR(PNG)));
    }
}
END_TEST

static const struct {
    const char   *text;
    image_verdict want;
} refusals[] = {
    {"", IMAGE_BLANK},
    {" \n ", IMAGE_BLANK},
    {"data:image/png;base64,", IMAGE_BLANK},
    {"!!!!", IMAGE_MALFORMED},
    {"iVBORw0KGgo", IMAGE_MALFORMED},
    {"iVBO Rw0KGgo=", IMAGE_MALFORMED},
    {"data:image/png,iVBORw0KGgo=", IMAGE_MALFORMED},
    {"data:image/png;base64;iVBORw0KGgo=", IMAGE_MALFORMED},
    {"data:image/png;base64,iVBORw0KGgo", IMAGE_MALFORMED},
    {"aGVsbG8=", IMAGE_FOREIGN},
    {"data:text/plain;base64,aGVsbG8=", IMAGE_FOREIGN},
    {"data:image/jpeg;base64,iVBORw0KGgo=", IMAGE_LIES},
    {"data:text/html;base64,iVBORw0KGgo=", IMAGE_LIES},
};

/* SCHED-81. */
START_TEST(what_is_malformed_foreign_or_a_lie_is_refused)
{
    image got = {0};
    ck_assert_msg(image_from_base64(scratch(), str_of(refusals[_i].text), &got) == refusals[_i].want, "%s",
                  refusals[_i].text);
    ck_assert_uint_eq(got.bytes.len, 0);
}
END_TEST

START_TEST(three_mib_are_taken_and_one_byte_more_is_not)
{
    image got = {0};
    char *bytes = arena_zalloc(scratch(), IMAGE_BYTES_MAX + 3);
    bytes[0] = (char)0xff, bytes[1] = (char)0xd8, bytes[2] = (char)0xff;
    for (size_t more = 0; more <= 3; more++) {
        str text = text_of("", (str){bytes, IMAGE_BYTES_MAX + more});
        ck_assert_int_eq(image_from_base64(scratch(), text, &got), more == 0 ? IMAGE_OK : IMAGE_TOO_LARGE);
    }
    ck_assert_uint_eq(got.bytes.len, IMAGE_BYTES_MAX);
}
END_TEST

Suite *suite_sched_image(void)
{
    Suite *s = suite_create("sched_image");
    TCase *c = tcase_create("image");
    tcase_add_loop_test(c, the_first_bytes_tell_the_type, 0, COUNT(sniffs));
    tcase_add_test(c, types_are_known_by_their_names);
    tcase_add_test(c, base64_is_taken_raw_and_as_a_data_url);
    tcase_add_loop_test(c, what_is_malformed_foreign_or_a_lie_is_refused, 0, COUNT(refusals));
    tcase_add_test(c, three_mib_are_taken_and_one_byte_more_is_not);
    suite_add_tcase(s, c);
    return s;
}
