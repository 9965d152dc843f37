/* embedded_blobs_cases_list.c -- lists of the embedded blobs: order, prefixes, delimiters, pages.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/embedded_blobs_rig.h"

/* Blobs, then prefixes with a + in front, page by page with a | between. */
static const char *listed(task *t, engine *e, const char *prefix, char delimiter, unsigned most)
{
    blob_page page = {.token = STR("")};
    buf       out;
    unsigned  pages = 0;
    buf_init(&out, t->arena, 64 * KIB);
    do {
        ck_assert_uint_lt(pages, 100);
        if (pages++ > 0)
            (void)buf_add(&out, STR("| "));
        ck_assert_int_eq(B.list_blobs(e, t, files, str_of(prefix), delimiter, most, page.token, &page),
                         RES_OK);
        ck_assert_uint_le(page.len + page.prefix_count, most);
        for (size_t i = 0; i < page.len; i++)
            (void)buf_addf(&out, "%.*s ", STR_ARG(page.at[i].name));
        for (size_t i = 0; i < page.prefix_count; i++)
            (void)buf_addf(&out, "+%.*s ", STR_ARG(page.prefixes[i]));
    } while (page.token.len > 0);
    return arena_cstr(t->arena, buf_str(&out));
}

static void put_all(task *t, engine *e, const char *const *names, size_t count)
{
    blobs_rig_make(t, e);
    for (size_t i = 0; i < count; i++)
        (void)blobs_rig_put(t, e, names[i], str_of(names[i]));
}

/* STORE-37, embedded */
STORE_TEST(odd_names_are_put_listed_in_pages_and_got)
{
    static const char *const names[] = {"dir/b c/\xc3\xbc.txt", "0&<.txt", "dir/b c/a", "dir/b c/z%20?#'\"",
                                        "e"};
    put_all(t, e, names, 5);
    ck_assert_str_eq(listed(t, e, "", '\0', 2),
                     "0&<.txt dir/b c/a | dir/b c/z%20?#'\" dir/b c/\xc3\xbc.txt | e ");
    ck_assert_str_eq(listed(t, e, "dir/b c/", '\0', 2),
                     "dir/b c/a dir/b c/z%20?#'\" | dir/b c/\xc3\xbc.txt ");
    for (size_t i = 0; i < 5; i++)
        ck_assert(str_eq(blobs_rig_get(t, e, names[i]), str_of(names[i])));
}

STORE_TEST(the_order_is_that_of_utf8_bytes)
{
    static const char *const names[] = {"a",  "B", "\xf0\x9f\x98\x80", "\xef\xbf\xbd", "\xc3\xa9", "aa",
                                        "a-", "a/"};
    put_all(t, e, names, 8);
    ck_assert_str_eq(listed(t, e, "", '\0', 3), "B a a- | a/ aa \xc3\xa9 | \xef\xbf\xbd \xf0\x9f\x98\x80 ");
}

static const char *const tree[] = {"a",       "a/1",   "a/2",     "a/b/1", "a0",  "b/1",
                                   "b/2/c/d", "b/2/c", "b/2/c/e", "c",     "c//", "c//x"};

static const struct {
    const char *prefix;
    char        delimiter;
    unsigned    most;
    const char *want;
} cases[] = {
    {"", '/', 5000, "a a0 c +a/ +b/ +c/ "},
    {"", '/', 1, "a | +a/ | a0 | +b/ | c | +c/ "},
    {"", '/', 2, "a +a/ | a0 +b/ | c +c/ "},
    {"", '/', 4, "a a0 +a/ +b/ | c +c/ "},
    {"a/", '/', 10, "a/1 a/2 +a/b/ "},
    {"a/", '\0', 10, "a/1 a/2 a/b/1 "},
    {"a", '/', 10, "a a0 +a/ "},
    {"b/2", '/', 10, "+b/2/ "},
    {"b/2/", '/', 1, "b/2/c | +b/2/c/ "},
    {"c/", '/', 10, "+c// "},
    {"c//", '/', 10, "c// c//x "},
    {"zz", '/', 10, ""},
    {"", 'b', 10, "a a/1 a/2 a0 c c// c//x +a/b +b "},
    {"", '\0', 12, "a a/1 a/2 a/b/1 a0 b/1 b/2/c b/2/c/d b/2/c/e c c// c//x "},
};

STORE_TEST(a_list_has_what_its_prefix_and_delimiter_say_in_pages_of_any_size)
{
    const int i = embedded_rig_case;
    put_all(t, e, tree, sizeof tree / sizeof *tree);
    ck_assert_str_eq(listed(t, e, cases[i].prefix, cases[i].delimiter, cases[i].most), cases[i].want);
}

STORE_TEST(an_entry_of_a_list_says_what_head_says_but_for_metadata)
{
    blob_page         page;
    blob_info         head;
    const http_header metadata[] = {{STR("owner"), STR("ann")}};
    blob_put          how = {.content_type = STR("text/x"), .metadata = metadata, .metadata_count = 1};
    blobs_rig_make(t, e);
    ck_assert_int_eq(B.put(e, t, files, STR("b"), STR("12345"), &how, &head), RES_OK);
    ck_assert_int_eq(B.append(e, t, files, STR("a"), STR("123"), UINT64_MAX, NULL), RES_OK);
    ck_assert_int_eq(B.list_blobs(e, t, files, STR(""), '\0', 10, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.len, 2);
    ck_assert(page.at[0].append && !page.at[1].append);
    ck_assert_uint_eq(page.at[0].bytes, 3);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(B.head(e, t, files, page.at[i].name, &head), RES_OK);
        ck_assert(str_eq(page.at[i].etag, head.etag));
        ck_assert(str_eq(page.at[i].content_type, head.content_type));
        ck_assert_uint_eq(page.at[i].bytes, head.bytes);
        ck_assert_int_eq(page.at[i].modified_us, head.modified_us);
        ck_assert_uint_eq(page.at[i].metadata_count, 0);
    }
}

STORE_TEST(a_position_stands_when_its_blob_is_removed_meanwhile)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    blob_page                page;
    put_all(t, e, names, 4);
    ck_assert_int_eq(B.list_blobs(e, t, files, STR(""), '\0', 2, STR(""), &page), RES_OK);
    ck_assert_int_eq(B.remove(e, t, files, STR("c"), STR("")), RES_OK);
    ck_assert_int_eq(B.list_blobs(e, t, files, STR(""), '\0', 2, page.token, &page), RES_OK);
    ck_assert(page.len == 1 && str_eq(page.at[0].name, STR("d")));
}

STORE_TEST(other_containers_are_not_listed)
{
    blob_info info;
    blobs_rig_make(t, e);
    ck_assert_int_eq(B.create(e, t, STR("other")), RES_OK);
    ck_assert_int_eq(B.put(e, t, STR("other"), STR("x"), STR("x"), &(blob_put){.create_only = true}, &info),
                     RES_OK);
    ck_assert_str_eq(listed(t, e, "", '\0', 10), "");
}

TCase *embedded_blobs_cases_list(void)
{
    TCase *c = tcase_create("list");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, odd_names_are_put_listed_in_pages_and_got);
    tcase_add_test(c, the_order_is_that_of_utf8_bytes);
    tcase_add_loop_test(c, a_list_has_what_its_prefix_and_delimiter_say_in_pages_of_any_size, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_test(c, an_entry_of_a_list_says_what_head_says_but_for_metadata);
    tcase_add_test(c, a_position_stands_when_its_blob_is_removed_meanwhile);
    tcase_add_test(c, other_containers_are_not_listed);
    return c;
}
