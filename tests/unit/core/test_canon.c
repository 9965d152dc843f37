/* test_canon.c -- canonical JSON: the specification's vectors, Node's own answers, refusals, bounds.
 *
 * canon_vectors.txt holds what Node computed (tests/support/canon_vectors.js writes it). Every vector is
 * tried by itself, and again at the end of a text that is long enough to be read in place.
 *
 * SPDX-License-Identifier: MIT */
#include "core/canon.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"
#include "unit/core/canon_cases.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { BUDGET = 512 * MIB, PAGE = 4096, IN_PLACE = 64 * KIB /* texts of that length are not copied */ };

static arena *a;

static void setup(void)
{
    a = arena_new(BUDGET);
    ck_assert_ptr_nonnull(a);
}

static void teardown(void)
{
    arena_fail_at(0);
    arena_free(a);
}

/* A message shows the part where the texts begin to differ: some of them are long. */
static void assert_text(str got, str want)
{
    enum { BEFORE = 40, SHOWN = 200 };
    size_t same = 0;
    while (same < got.len && same < want.len && got.at[same] == want.at[same])
        same++;
    size_t from = same > BEFORE ? same - BEFORE : 0;
    ck_assert_msg(str_eq(got, want), "at %zu: got '%.*s', want '%.*s'", same,
                  STR_ARG(str_slice(got, from, from + SHOWN)), STR_ARG(str_slice(want, from, from + SHOWN)));
}

static str canonical(str text)
{
    canon_error err = {0};
    str         got = {NULL, 0};
    res         r = canon_json(a, text, &got, &err);
    ck_assert_msg(r == RES_OK, "'%.*s' refused at %zu: %s", STR_ARG(text), err.offset, err.text);
    return got;
}

/* The text in memory that ends where its page ends: one byte read beyond it is a fault. */
static str at_page_end(str text)
{
    size_t pages = (text.len + PAGE - 1) / PAGE * PAGE;
    char  *at = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    ck_assert_int_eq(mprotect(at + pages, PAGE, PROT_NONE), 0);
    memcpy(at + pages - text.len, text.at, text.len);
    return (str){at + pages - text.len, text.len};
}

static void unmap(str text)
{
    size_t pages = (text.len + PAGE - 1) / PAGE * PAGE;
    munmap((char *)(uintptr_t)(text.at + text.len - pages), pages + PAGE);
}

/* ["xxx…",TEXT] with so many x. */
static str behind_padding(str text, size_t padding)
{
    char *at = arena_alloc(a, text.len + padding + 5);
    memcpy(at, "[\"", 2);
    memset(at + 2, 'x', padding);
    memcpy(at + 2 + padding, "\",", 2);
    memcpy(at + 4 + padding, text.at, text.len);
    at[4 + padding + text.len] = ']';
    return (str){at, text.len + padding + 5};
}

/* ---- the specification ---- */

static void assert_hash(str text, const char *want)
{
    char          hex[SHA256_HEX + 1];
    sha256_digest digest = hash_sha256(text);
    assert_text(hash_hex(&digest, hex), str_of(want));
}

START_TEST(a_vector_of_the_specification_has_its_text_and_hash)
{
    str got = canonical(str_of(vectors[_i].input));
    assert_text(got, str_of(vectors[_i].want));
    assert_hash(got, vectors[_i].sha256);
}
END_TEST

START_TEST(the_sample_record_has_the_hash_of_the_specification)
{
    str got = canonical(str_of(sample));
    ck_assert_uint_eq(got.len, 1074);
    assert_hash(got, "c6c72ffcd9ed333b8a091f2a497a9491aa154a983a29c9f57246b3b9c86d0c4c");
}
END_TEST

/* ---- Node's answers ---- */

/* Beside this source, seen from where it was compiled; or from the root of the sources. */
static FILE *open_vectors(void)
{
    char        beside[PAGE];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(beside, sizeof beside, "%.*s/canon_vectors.txt", slash != NULL ? (int)(slash - __FILE__) : 0,
             __FILE__);
    FILE *f = fopen(beside, "rb");
    return f != NULL ? f : fopen("tests/unit/core/canon_vectors.txt", "rb");
}

typedef void on_vector(str input, str want, size_t line);

static size_t each_vector(on_vector *use)
{
    FILE   *f = open_vectors();
    char   *line = NULL;
    size_t  cap = 0, n = 0;
    ssize_t len;

    ck_assert_msg(f != NULL, "canon_vectors.txt not found");
    while ((len = getline(&line, &cap, f)) > 0) {
        char *tab = memchr(line, '\t', (size_t)len);
        ck_assert_ptr_nonnull(tab);
        size_t input = (size_t)(tab - line);
        arena_reset(a);
        use((str){line, input}, (str){tab + 1, (size_t)len - input - 2}, n++);
    }
    free(line);
    fclose(f);
    return n;
}

static void same_as_node(str input, str want, size_t line)
{
    (void)line;
    str walled = at_page_end(input);
    assert_text(canonical(walled), want);
    unmap(walled);
}

/* The padding varies, so that the place where the reader changes over falls on everything. */
static void same_at_the_end_of_a_long_text(str input, str want, size_t line)
{
    size_t padding = IN_PLACE + line % 97;
    str    walled = at_page_end(behind_padding(input, padding));
    assert_text(canonical(walled), behind_padding(want, padding));
    unmap(walled);
}

static void is_its_own_canonical_text(str input, str want, size_t line)
{
    (void)input;
    (void)line;
    assert_text(canonical(want), want);
}

START_TEST(every_vector_of_node_comes_out_as_node_has_it)
{
    ck_assert_uint_gt(each_vector(same_as_node), 400);
}
END_TEST

START_TEST(every_vector_comes_out_the_same_at_the_end_of_a_long_text)
{
    ck_assert_uint_gt(each_vector(same_at_the_end_of_a_long_text), 400);
}
END_TEST

START_TEST(canonical_text_is_left_as_it_is)
{
    ck_assert_uint_gt(each_vector(is_its_own_canonical_text), 400);
}
END_TEST

/* ---- small matters that the vectors do not show ---- */

START_TEST(tabs_and_line_feeds_are_blanks_anywhere_between_tokens)
{
    assert_text(canonical(STR("\t\n\r {\t\"b\"\n:\r1 ,\t\"a\" : [ 1\t,\n2 ] }\n")),
                STR("{\"a\":[1,2],\"b\":1}"));
}
END_TEST

START_TEST(numbers_spelled_anew_keep_their_separators)
{
    assert_text(canonical(STR("{\"b\":1.0,\"c\":-0,\"a\":10e0}")), STR("{\"a\":10,\"b\":1,\"c\":0}"));
    assert_text(canonical(STR("[1.0,-0,2.0,-0,-0,3e0]")), STR("[1,0,2,0,0,3]"));
}
END_TEST

START_TEST(what_is_returned_does_not_lie_in_the_input)
{
    char text[] = "{\"a\":1}";
    str  got = canonical(str_of(text));
    memset(text, 'x', sizeof text - 1);
    assert_text(got, STR("{\"a\":1}"));
}
END_TEST

/* ---- refusals ---- */

static void assert_refused(str text, size_t offset)
{
    canon_error err = {.offset = SIZE_MAX};
    str         got = STR("untouched");
    ck_assert_int_eq(canon_json(a, text, &got, &err), RES_INVALID);
    ck_assert_uint_eq(err.offset, offset);
    ck_assert_ptr_nonnull(err.text);
    assert_text(got, STR("untouched"));
    ck_assert_int_eq(canon_json(a, text, &got, NULL), RES_INVALID);
}

START_TEST(what_is_not_json_is_refused_at_its_first_wrong_byte)
{
    str walled = at_page_end(refused[_i].text);
    assert_refused(walled, refused[_i].offset);
    unmap(walled);
}
END_TEST

/* The bracket behind it may be where it goes wrong, if it is a value cut short. */
START_TEST(what_is_not_json_is_refused_there_at_the_end_of_a_long_text_too)
{
    size_t      start = IN_PLACE + (size_t)_i + 4;
    canon_error err;
    str         got, walled = at_page_end(behind_padding(refused[_i].text, start - 4));
    ck_assert_int_eq(canon_json(a, walled, &got, &err), RES_INVALID);
    ck_assert_uint_ge(err.offset, start);
    ck_assert_uint_le(err.offset, start + refused[_i].offset + 1);
    unmap(walled);
}
END_TEST

/* Nothing but its end ends them: a row of digits or blanks, a string. */
START_TEST(a_long_text_without_a_closing_bracket_is_not_read_past_its_end)
{
    size_t len = IN_PLACE + 100, begin = strlen(unended[_i].begin);
    char  *text = arena_alloc(a, len);
    str    got;

    memset(text, unended[_i].fill, len);
    memcpy(text, unended[_i].begin, begin);
    str walled = at_page_end((str){text, len});
    if (unended[_i].want != NULL)
        assert_text(canonical(walled), str_of(unended[_i].want));
    else
        ck_assert_int_eq(canon_json(a, walled, &got, NULL), RES_INVALID);
    unmap(walled);
}
END_TEST

/* At the end of a text, and in each place within the 64 bytes that are looked at together. */
START_TEST(bad_utf8_is_found_wherever_it_stands)
{
    char text[200];
    for (size_t at = 1; at < 150; at++) {
        size_t len = strlen(bad_utf8[_i]);
        memset(text, 'x', sizeof text);
        text[0] = text[sizeof text - 1] = '"';
        memcpy(text + at, bad_utf8[_i], len);
        assert_refused((str){text, sizeof text}, at);
        assert_refused((str){text, at + len}, at);
    }
}
END_TEST

START_TEST(good_utf8_is_accepted_wherever_it_stands)
{
    char text[200];
    for (size_t at = 1; at < 150; at++) {
        memset(text, 'x', sizeof text);
        text[0] = text[sizeof text - 1] = '"';
        memcpy(text + at, good_utf8[_i], strlen(good_utf8[_i]));
        assert_text(canonical((str){text, sizeof text}), (str){text, sizeof text});
    }
}
END_TEST

/* ---- bounds ---- */

static str nested(size_t depth, bool closed)
{
    char *at = arena_alloc(a, 2 * depth);
    memset(at, '[', depth);
    memset(at + depth, ']', depth);
    return (str){at, closed ? 2 * depth : depth};
}

START_TEST(nesting_is_accepted_up_to_its_limit)
{
    str text = nested(CANON_DEPTH_MAX, true);
    assert_text(canonical(text), text);
    assert_refused(nested(CANON_DEPTH_MAX + 1, true), CANON_DEPTH_MAX);
}
END_TEST

START_TEST(ten_thousand_levels_are_refused)
{
    assert_refused(nested(10000, true), CANON_DEPTH_MAX);
    assert_refused(nested(10000, false), CANON_DEPTH_MAX);
}
END_TEST

START_TEST(deep_objects_that_all_change_are_written_in_order)
{
    char  *text = arena_alloc(a, 16 * CANON_DEPTH_MAX), *want = arena_alloc(a, 16 * CANON_DEPTH_MAX);
    size_t text_len = 0, want_len = 0;
    for (int i = 0; i < CANON_DEPTH_MAX; i++) {
        text_len += (size_t)sprintf(text + text_len, "{\"b\":1.0,\"a\":");
        want_len += (size_t)sprintf(want + want_len, "{\"a\":");
    }
    text[text_len++] = want[want_len++] = '0';
    for (int i = 0; i < CANON_DEPTH_MAX; i++) {
        text[text_len++] = '}';
        want_len += (size_t)sprintf(want + want_len, ",\"b\":1}");
    }
    assert_text(canonical((str){text, text_len}), (str){want, want_len});
}
END_TEST

enum { MANY = 100000 };

/* The i-th key of an order that is meant to hurt: falling, rising and falling by turns, or all but equal. */
static unsigned hostile_key(int kind, unsigned i)
{
    switch (kind) {
    case 0:
        return MANY - 1 - i;
    case 1:
        return i % 2 == 0 ? i / 2 : MANY - 1 - i / 2;
    default:
        return (unsigned)((uint64_t)i * 61803 % MANY); /* 61803 and MANY have no common divisor */
    }
}

static double cpu_s(void)
{
    return (double)clock() / (double)CLOCKS_PER_SEC;
}

/* A quadratic sort would take minutes; the limit leaves room for sanitizers and valgrind. */
START_TEST(an_object_of_many_keys_is_sorted_quickly_in_any_order)
{
    enum { EACH = 40 };
    char  *text = arena_alloc(a, MANY * EACH);
    size_t len = 0;
    for (unsigned i = 0; i < MANY; i++)
        len += (size_t)sprintf(text + len, "%c\"a long common prefix %05u\":%u", i == 0 ? '{' : ',',
                               hostile_key(_i, i), i % 10);
    text[len++] = '}';

    double start = cpu_s();
    str    got = canonical((str){text, len});
    ck_assert_double_lt(cpu_s() - start, 10);
    ck_assert_uint_eq(got.len, len);

    const char *p = got.at + 1;
    for (unsigned i = 0; i < MANY; i++, p += 31) {
        char want[EACH];
        sprintf(want, "\"a long common prefix %05u\":", i);
        ck_assert_msg(memcmp(p, want, 29) == 0, "key %u is '%.29s'", i, p);
    }
}
END_TEST

START_TEST(memory_stays_within_a_small_multiple_of_the_input)
{
    const char *unit = dearest[_i];
    bool        object = strchr(unit, ':') != NULL;
    size_t      each = strlen(unit) + 1, n = 200000;
    char       *text = malloc(n * each + 1);

    for (size_t i = 0; i < n; i++) {
        text[i * each] = ',';
        memcpy(text + i * each + 1, unit, each - 1);
    }
    text[0] = object ? '{' : '[';
    text[n * each] = object ? '}' : ']';
    (void)canonical((str){text, n * each + 1});
    ck_assert_uint_lt(arena_used_bytes(a), 64 * n * each);
    free(text);
}
END_TEST

static void fail_each_allocation(str text, str want)
{
    str  got = {NULL, 0};
    long nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res r = canon_json(a, text, &got, NULL);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert_ptr_null(got.at);
    }
    assert_text(got, want);
    ck_assert_int_gt(nth, 6);
}

START_TEST(every_failing_allocation_is_reported)
{
    str text = STR("{\"b\":[1.0,{\"z\":\"\\/\",\"\\u0061\":2}],\"a\":[ ]}"), want = canonical(text);
    str longer = behind_padding(text, IN_PLACE), longer_want = canonical(longer);
    fail_each_allocation(text, want);
    fail_each_allocation(longer, longer_want);
}
END_TEST

/* ---- doubles ---- */

START_TEST(a_double_is_printed_as_javascript_does)
{
    char out[CANON_NUMBER_SIZE];
    assert_text(canon_number(doubles[_i].value, out), str_of(doubles[_i].want));
}
END_TEST

/* How many significant digits a text has. */
static int digits_of(str text)
{
    int n = 0, zeros = 0;
    for (size_t i = 0; i < text.len && text.at[i] != 'e'; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || (text.at[i] == '0' && n == 0))
            continue;
        n++;
        zeros = text.at[i] == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

START_TEST(any_double_reads_back_from_its_text_and_from_no_shorter_one)
{
    uint64_t bits = 88172645463325252u; /* xorshift: the same numbers in every run */
    for (int i = 0; i < 20000; i++) {
        char   out[CANON_NUMBER_SIZE], shorter[CANON_NUMBER_SIZE];
        double d;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d) || d == 0)
            continue;
        str text = canon_number(d, out);
        ck_assert_double_eq(strtod(arena_cstr(a, text), NULL), d);
        int n = digits_of(text);
        snprintf(shorter, sizeof shorter, "%.*e", n > 1 ? n - 2 : 0, d);
        ck_assert_msg(n == 1 || strtod(shorter, NULL) != d, "'%.*s' for '%s'", STR_ARG(text), shorter);
    }
}
END_TEST

Suite *suite_canon(void)
{
    Suite *s = suite_create("canon");
    TCase *c = tcase_create("canon");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_vector_of_the_specification_has_its_text_and_hash, 0, COUNT(vectors));
    tcase_add_test(c, the_sample_record_has_the_hash_of_the_specification);
    tcase_add_test(c, every_vector_of_node_comes_out_as_node_has_it);
    tcase_add_test(c, every_vector_comes_out_the_same_at_the_end_of_a_long_text);
    tcase_add_test(c, canonical_text_is_left_as_it_is);
    tcase_add_test(c, tabs_and_line_feeds_are_blanks_anywhere_between_tokens);
    tcase_add_test(c, numbers_spelled_anew_keep_their_separators);
    tcase_add_test(c, what_is_returned_does_not_lie_in_the_input);
    tcase_add_loop_test(c, what_is_not_json_is_refused_at_its_first_wrong_byte, 0, COUNT(refused));
    tcase_add_loop_test(c, what_is_not_json_is_refused_there_at_the_end_of_a_long_text_too, 2,
                        COUNT(refused));
    tcase_add_loop_test(c, a_long_text_without_a_closing_bracket_is_not_read_past_its_end, 0, COUNT(unended));
    tcase_add_loop_test(c, bad_utf8_is_found_wherever_it_stands, 0, COUNT(bad_utf8));
    tcase_add_loop_test(c, good_utf8_is_accepted_wherever_it_stands, 0, COUNT(good_utf8));
    tcase_add_test(c, nesting_is_accepted_up_to_its_limit);
    tcase_add_test(c, ten_thousand_levels_are_refused);
    tcase_add_test(c, deep_objects_that_all_change_are_written_in_order);
    tcase_add_loop_test(c, an_object_of_many_keys_is_sorted_quickly_in_any_order, 0, 3);
    tcase_add_loop_test(c, memory_stays_within_a_small_multiple_of_the_input, 0, COUNT(dearest));
    tcase_add_test(c, every_failing_allocation_is_reported);
    tcase_add_loop_test(c, a_double_is_printed_as_javascript_does, 0, COUNT(doubles));
    tcase_add_test(c, any_double_reads_back_from_its_text_and_from_no_shorter_one);
    suite_add_tcase(s, c);
    return s;
}
