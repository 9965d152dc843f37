/* test_actions_search.c -- which items a query finds, in which order, and which page of them.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/search.h"

#include <check.h>
#include <string.h>

#include "domain/actions/snapshot_index.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define ITEM(owner, name, type, description, verified, archived)                                             \
    "{\"owner\":\"" owner "\",\"name\":\"" name "\",\"actionType\":{\"actionType\":\"" type                  \
    "\"},\"description\":\"" description "\",\"verified\":" verified ",\"repoInfo\":{\"archived\":" archived \
    "}}"

static const char document[] = "{\"version\":1,\"items\":[" ITEM(
    "Acme", "deploy-site", "Node", "Uploads pages to a bucket", "true",
    "false") "," ITEM("Globex", "bucket-sync", "Docker", "Mirrors a folder", "false",
                      "false") "," ITEM("Initech", "lint", "Composite", "Checks pages of Acme", "false",
                                        "true") "," ITEM("acme", "bucket", "Node", "", "false",
                                                         "true") "," ITEM("Caf\xC3\x89", "x", "Node",
                                                                          "\xC3\x84pfel", "false",
                                                                          "false") "]}";

typedef struct {
    snapshot_index index;
    search_found   found;
} run;

static run run_on(const char *text, const search_input *in)
{
    run          r = {0};
    search_query q;
    const char  *wrong = search_read(scratch(), in, &q);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_int_eq(snapshot_index_make(str_of(text), &r.index), RES_OK);
    uint32_t *room = arena_array(scratch(), uint32_t, r.index.count);
    search_run(&q, buf_str(&r.index.haystacks), r.index.items, r.index.count, room, &r.found);
    snapshot_index_free(&r.index);
    return r;
}

static const struct {
    search_input in;
    const char  *want; /* the items' numbers, in order */
} cases[] = {
    /* ACT-65. Without words all are found, newest first: the order of the document. */
    {{.q = STR_INIT("")}, "01234"},
    {{.q = STR_INIT("  \t ")}, "01234"},
    /* Every word must occur, in any case, wherever. */
    {{.q = STR_INIT("pages")}, "02"},
    {{.q = STR_INIT("PAGES uploads")}, "0"},
    {{.q = STR_INIT("pages mirrors")}, ""},
    {{.q = STR_INIT("globex docker folder")}, "1"},
    {{.q = STR_INIT("lint composite")}, "2"},
    {{.q = STR_INIT("nothing-like-it")}, ""},
    {{.q = STR_INIT("age")}, "02"},
    {{.q = STR_INIT("caf\xC3\xA9 \xC3\xA4PFEL")}, "4"},
    {{.q = STR_INIT("caf\xC3\x89\xC2\xA0x")}, "4"},
    /* Flags are words too. */
    {{.q = STR_INIT("verified")}, "0"},
    {{.q = STR_INIT("archived acme")}, "23"},
    /* Owner and name come before description. */
    {{.q = STR_INIT("bucket")}, "130"},
    {{.q = STR_INIT("acme")}, "032"},
    {{.q = STR_INIT("acme bucket")}, "30"},
    {{.q = STR_INIT("bucket bucket acme acme")}, "30"},
    /* A word is not found across two members' ends, nor across two items. */
    {{.q = STR_INIT("acmedeploy")}, ""},
    {{.q = STR_INIT("bucketglobex")}, ""},
    /* Filters. */
    {{.type = STR_INIT("node")}, "034"},
    {{.type = STR_INIT(" Docker ")}, "1"},
    {{.type = STR_INIT("nod")}, ""},
    {{.verified = STR_INIT("true")}, "0"},
    {{.verified = STR_INIT("0")}, "1234"},
    {{.archived = STR_INIT("TRUE")}, "23"},
    {{.archived = STR_INIT("false")}, "014"},
    {{.q = STR_INIT("bucket"), .type = STR_INIT("Node"), .archived = STR_INIT("1")}, "3"},
    /* Pages. */
    {{.limit = STR_INIT("2")}, "01"},
    {{.limit = STR_INIT("2"), .offset = STR_INIT("2")}, "23"},
    {{.limit = STR_INIT("2"), .offset = STR_INIT("4")}, "4"},
    {{.limit = STR_INIT("2"), .offset = STR_INIT("5")}, ""},
    {{.offset = STR_INIT("99999999999999999999999999")}, ""},
    {{.q = STR_INIT("bucket"), .limit = STR_INIT("2"), .offset = STR_INIT("1")}, "30"},
    {{.limit = STR_INIT("3x")}, "012"},
    {{.limit = STR_INIT("0")}, "01234"},
    {{.limit = STR_INIT("-1"), .offset = STR_INIT("-1")}, "01234"},
};

START_TEST(a_query_finds_these_items_in_this_order)
{
    run  r = run_on(document, &cases[_i].in);
    char got[16] = {0};
    for (size_t i = 0; i < r.found.count; i++)
        got[i] = (char)('0' + r.found.page[i]);
    ck_assert_msg(strcmp(got, cases[_i].want) == 0, "'%.*s': %s, not %s", STR_ARG(cases[_i].in.q), got,
                  cases[_i].want);
}
END_TEST

/* ACT-65. */
START_TEST(pages_follow_without_gap_and_the_limit_is_a_hundred)
{
    buf text;
    buf_init(&text, scratch(), 8 * MIB);
    (void)buf_add(&text, STR("{\"items\":["));
    for (int i = 0; i < 250; i++)
        (void)buf_addf(&text, "%s{\"owner\":\"%s\",\"name\":\"n%d\",\"description\":\"word\"}",
                       i > 0 ? "," : "", i % 3 == 0 ? "word" : "o", i);
    (void)buf_add(&text, STR("]}"));
    bool   seen[250] = {false};
    size_t at = 0;
    while (at < 250) {
        search_input in = {.q = STR("word"), .limit = STR("101"), .offset = arena_strf(scratch(), "%zu", at)};
        run          r = run_on(arena_cstr(scratch(), buf_str(&text)), &in);
        ck_assert_uint_eq(r.found.total, 250);
        ck_assert_uint_eq(r.found.count, at < 200 ? 100 : 50);
        for (size_t i = 0; i < r.found.count; i++) {
            ck_assert(!seen[r.found.page[i]]);
            seen[r.found.page[i]] = true;
            ck_assert((r.found.page[i] % 3 == 0) == (at + i < 84)); /* 84 of 250 are in the owner */
        }
        at += r.found.count;
    }
}
END_TEST

static const search_input refused[] = {
    {.verified = STR_INIT("maybe")},
    {.archived = STR_INIT("2")},
    {.q = STR_INIT("a b c d e f g h i j k l m n o p q")},
};

START_TEST(a_query_that_makes_no_sense_is_refused)
{
    search_query q;
    ck_assert_ptr_nonnull(search_read(scratch(), &refused[_i], &q));
}
END_TEST

START_TEST(a_query_of_more_than_512_bytes_is_refused)
{
    char         text[513];
    search_query q;
    memset(text, 'a', sizeof text);
    search_input in = {.q = {text, 512}};
    ck_assert_ptr_null(search_read(scratch(), &in, &q));
    in.q.len = 513;
    ck_assert_ptr_nonnull(search_read(scratch(), &in, &q));
}
END_TEST

START_TEST(the_same_query_has_one_text_and_others_have_others)
{
    static const search_input same[] = {{.q = STR_INIT("b a")}, {.q = STR_INIT(" A  B b")}};
    static const search_input others[] = {
        {.q = STR_INIT("ab")},
        {.q = STR_INIT("a b"), .type = STR_INIT("x")},
        {.q = STR_INIT("a b x")},
        {.q = STR_INIT("a b"), .verified = STR_INIT("1")},
        {.q = STR_INIT("a b"), .archived = STR_INIT("1")},
        {.q = STR_INIT("a b"), .offset = STR_INIT("1")},
        {.q = STR_INIT("a b"), .limit = STR_INIT("1")},
    };
    search_query q;
    ck_assert_ptr_null(search_read(scratch(), &same[0], &q));
    str one = search_text(scratch(), &q);
    ck_assert_ptr_null(search_read(scratch(), &same[1], &q));
    ck_assert(str_eq(one, search_text(scratch(), &q)));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_ptr_null(search_read(scratch(), &others[i], &q));
        ck_assert(!str_eq(one, search_text(scratch(), &q)));
    }
}
END_TEST

START_TEST(a_blob_that_is_no_snapshot_has_no_index)
{
    static const char *const texts[] = {
        "", "x", "[]", "{}", "{\"items\":{}}", "{\"items\":[{]}", "{\"items\":[{}"};
    snapshot_index x;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(snapshot_index_make(str_of(texts[i]), &x) == RES_UPSTREAM, "'%s'", texts[i]);
}
END_TEST

START_TEST(items_that_are_no_objects_are_left_out)
{
    snapshot_index x;
    ck_assert_int_eq(
        snapshot_index_make(STR("{\"items\":[1,null,[],{\"owner\":1},{\"owner\":\"o\",}, \"x\"]}"), &x),
        RES_OK);
    ck_assert_uint_eq(x.count, 1);
    ck_assert(str_eq(x.items[0].json, STR("{\"owner\":1}")));
    snapshot_index_free(&x);
}
END_TEST

Suite *suite_actions_search(void)
{
    Suite *s = suite_create("actions_search");
    TCase *c = tcase_create("search");
    tcase_add_loop_test(c, a_query_finds_these_items_in_this_order, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(c, pages_follow_without_gap_and_the_limit_is_a_hundred);
    tcase_add_loop_test(c, a_query_that_makes_no_sense_is_refused, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(c, a_query_of_more_than_512_bytes_is_refused);
    tcase_add_test(c, the_same_query_has_one_text_and_others_have_others);
    tcase_add_test(c, a_blob_that_is_no_snapshot_has_no_index);
    tcase_add_test(c, items_that_are_no_objects_are_left_out);
    suite_add_tcase(s, c);
    return s;
}
