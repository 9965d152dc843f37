/* test_json_cut.c -- lines and arrays, wherever the pieces end; what breaks, and what goes on behind it.
 *
 * SPDX-License-Identifier: MIT */
#include "core/json_cut.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define BOM          "\xef\xbb\xbf"

enum { TEXT_MAX = 64, SHOWN_MAX = 4096 };

static const struct {
    const char *input;
    const char *want; /* "LINE:TEXT|" of each; "LINE:!WRONG|" of what is wrong; the text in front of '!' */
} cases[] = {
    {"", ""},
    {" \n\r\n\t", ""},
    {BOM, ""},
    {"{\"a\":1}\n{\"b\":2}\n", "1:{\"a\":1}|2:{\"b\":2}|"},
    {"{\"a\":1}\n{\"b\":2}", "1:{\"a\":1}|2:{\"b\":2}|"},
    {"{\"a\":1}\r\n\r\n \t\n{\"b\":2}\r\n", "1:{\"a\":1}|4:{\"b\":2}|"},
    {BOM "{}\n{}", "1:{}|2:{}|"},
    {"\n\n " BOM "{}\n", "3:" BOM "{}|"}, /* no BOM any more */
    {"\xef\xbb{}\n1", "1:\xef\xbb{}|2:1|"},
    {"\xef", "1:\xef|"},
    {"broken {\n[1]\n\"x", "1:broken {|2:[1]|3:\"x|"},
    {"[]", ""},
    {BOM " [ ]\n ", ""},
    {"[1]", "1:1|"},
    {"\n[ {\"a\":1} ,\n{\"b\":[1,{}]}\n,2\n]\n", "2:{\"a\":1}|3:{\"b\":[1,{}]}|4:2|"},
    {"[\"a,]\\\"]\",\"\\\\\",[[],[\"[\"]]]", "1:\"a,]\\\"]\"|1:\"\\\\\"|1:[[],[\"[\"]]|"},
    {"[{\n\n}\n,\n{}]", "1:{\n\n}|5:{}|"},
    {"[1,,2]", "1:1|1:!a comma without an element before it|1:2|"},
    {"[,1]", "1:!a comma without an element before it|1:1|"},
    {"[1,]", "1:1|1:!a comma without an element behind it|"},
    {"[1 2}3]", "1:1 2}3|"},
    {"[{\"a\":1]", "1:{\"a\":1]!the input ends inside the array|"},
    {"[", "1:!the input ends inside the array|"},
    {"[1", "1:1!the input ends inside the array|"},
    {"[1,", "1:1|1:!the input ends inside the array|"},
    {"[1,\"x", "1:1|1:\"x!the input ends inside the array|"},
    {"[1]x", "1:1|1:!something stands behind the end of the array|"},
    {"[1]\n\n [2]", "1:1|3:!something stands behind the end of the array|"},
    {"0123456789012345678901234567890123456789012345678901234567890123\n1",
     "1:0123456789012345678901234567890123456789012345678901234567890123|2:1|"},
    {"01234567890123456789012345678901234567890123456789012345678901234\n1", "1:!longer than the limit|2:1|"},
    {"[\"123456789012345678901234567890123456789012345678901234567890123,]4\",1]",
     "1:!longer than the limit|1:1|"},
    {"[\"12345678901234567890123456789012345678901234567890123456789012345",
     "1:!the input ends inside the array|"},
};

/* Cuts what is fed in pieces of the given sizes (0: the rest), from a place, and writes down what comes out.
 */
typedef struct {
    json_cut       cut;
    buf            shown;
    json_cut_place last;
    size_t         items, stop_at; /* 0: never */
} run;

static void run_begin(run *r, const json_cut_place *from)
{
    *r = (run){0};
    json_cut_init(&r->cut, from, TEXT_MAX);
    buf_init(&r->shown, NULL, SHOWN_MAX);
}

static void run_free(run *r)
{
    json_cut_free(&r->cut);
    buf_free(&r->shown);
}

static void take_all(run *r)
{
    json_cut_item item;
    while ((r->stop_at == 0 || r->items < r->stop_at) && json_cut_next(&r->cut, &item) == JSON_CUT_ITEM) {
        buf_addf(&r->shown, "%d:%.*s%s%s|", (int)item.line, STR_ARG(item.text), item.wrong != NULL ? "!" : "",
                 item.wrong != NULL ? item.wrong : "");
        r->last = item.after;
        r->items++;
    }
}

/* A piece lives on the heap, so that looking back at it or past it is seen. */
static void feed(run *r, str piece)
{
    char *at = malloc(piece.len + 1);
    ck_assert_ptr_nonnull(at);
    memcpy(at, piece.at, piece.len);
    json_cut_feed(&r->cut, (str){at, piece.len});
    take_all(r);
    free(at);
}

static void end(run *r)
{
    json_cut_feed(&r->cut, (str){0});
    json_cut_end(&r->cut);
    take_all(r);
}

static void check_shown(const run *r, const char *want, const char *how, size_t at)
{
    ck_assert_msg(str_eq(buf_str(&r->shown), str_of(want)), "%s %zu: '%.*s', expected '%s'", how, at,
                  STR_ARG(buf_str(&r->shown)), want);
}

START_TEST(every_cut_of_the_input_gives_the_same_texts)
{
    str input = str_of(cases[_i].input);
    for (size_t at = 0; at <= input.len; at++) {
        run r;
        run_begin(&r, &(json_cut_place){0});
        feed(&r, str_slice(input, 0, at));
        feed(&r, str_from(input, at));
        end(&r);
        check_shown(&r, cases[_i].want, "cut at", at);
        run_free(&r);
    }
}
END_TEST

START_TEST(single_bytes_give_the_same_texts)
{
    str input = str_of(cases[_i].input);
    run r;
    run_begin(&r, &(json_cut_place){0});
    for (size_t at = 0; at < input.len; at++)
        feed(&r, str_slice(input, at, at + 1));
    end(&r);
    check_shown(&r, cases[_i].want, "bytes of case", (size_t)_i);
    run_free(&r);
}
END_TEST

START_TEST(the_last_piece_and_the_end_may_come_together)
{
    str input = str_of(cases[_i].input);
    run r;
    run_begin(&r, &(json_cut_place){0});
    json_cut_feed(&r.cut, input);
    json_cut_end(&r.cut);
    take_all(&r);
    check_shown(&r, cases[_i].want, "case", (size_t)_i);
    run_free(&r);
}
END_TEST

/* What a second run finds from the place behind the n-th text is what the first would have found. */
START_TEST(a_cutter_goes_on_from_behind_any_text)
{
    str input = str_of(cases[_i].input);
    for (size_t stop = 1;; stop++) {
        run first, second;
        run_begin(&first, &(json_cut_place){0});
        first.stop_at = stop;
        json_cut_feed(&first.cut, input);
        json_cut_end(&first.cut);
        take_all(&first);
        bool all = first.items < stop;
        if (!all) {
            run_begin(&second, &first.last);
            feed(&second, str_from(input, first.last.offset));
            end(&second);
            buf_add(&first.shown, buf_str(&second.shown));
            if (first.last.offset < input.len)
                check_shown(&first, cases[_i].want, "stopped behind text", stop);
            run_free(&second);
        }
        run_free(&first);
        if (all)
            break;
    }
}
END_TEST

START_TEST(places_count_bytes_and_lines)
{
    run r;
    run_begin(&r, &(json_cut_place){0});
    r.stop_at = 1;
    feed(&r, STR(BOM "\n{}\n{}\n"));
    ck_assert_int_eq(r.last.form, JSON_CUT_LINES);
    ck_assert_uint_eq(r.last.offset, 7);
    ck_assert_uint_eq(r.last.line, 2);
    run_free(&r);
    run_begin(&r, &(json_cut_place){0});
    r.stop_at = 1;
    feed(&r, STR("[\n{} ,{}]"));
    ck_assert_int_eq(r.last.form, JSON_CUT_ARRAY);
    ck_assert_uint_eq(r.last.offset, 5); /* at the comma */
    ck_assert_uint_eq(r.last.line, 1);
    run_free(&r);
}
END_TEST

START_TEST(a_text_of_any_length_takes_bounded_memory)
{
    static const char *const beginnings[] = {"{\"a\":\"", "[{\"a\":\""};
    static char              filling[64 * KIB];
    json_cut                 c;
    json_cut_item            item;
    json_cut_place           start = {0};
    memset(filling, 'x', sizeof filling);
    json_cut_init(&c, &start, 100 * KIB);
    json_cut_feed(&c, str_of(beginnings[_i]));
    ck_assert_int_eq(json_cut_next(&c, &item), JSON_CUT_MORE);
    for (int i = 0; i < 100; i++) {
        json_cut_feed(&c, (str){filling, sizeof filling});
        ck_assert_int_eq(json_cut_next(&c, &item), JSON_CUT_MORE);
        ck_assert_uint_le(c.held.cap, 100 * KIB);
    }
    json_cut_feed(&c, _i == 0 ? STR("\"}\n{}\n") : STR("\"},{}]"));
    ck_assert_int_eq(json_cut_next(&c, &item), JSON_CUT_ITEM);
    ck_assert_str_eq(item.wrong, "longer than the limit");
    ck_assert_int_eq(json_cut_next(&c, &item), JSON_CUT_ITEM);
    ck_assert_ptr_null(item.wrong);
    ck_assert_uint_eq(item.text.len, 2);
    json_cut_free(&c);
}
END_TEST

Suite *suite_json_cut(void)
{
    Suite *s = suite_create("json_cut");
    TCase *tc = tcase_create("json_cut");
    tcase_add_loop_test(tc, every_cut_of_the_input_gives_the_same_texts, 0, COUNT(cases));
    tcase_add_loop_test(tc, single_bytes_give_the_same_texts, 0, COUNT(cases));
    tcase_add_loop_test(tc, the_last_piece_and_the_end_may_come_together, 0, COUNT(cases));
    tcase_add_loop_test(tc, a_cutter_goes_on_from_behind_any_text, 0, COUNT(cases));
    tcase_add_test(tc, places_count_bytes_and_lines);
    tcase_add_loop_test(tc, a_text_of_any_length_takes_bounded_memory, 0, 2);
    suite_add_tcase(s, tc);
    return s;
}
