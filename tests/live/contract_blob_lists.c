/* contract_blob_lists.c -- containers, names, and lists of both.
 *
 * SPDX-License-Identifier: MIT */
#include "live/contract.h"
#include "live/live.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const blob_put as_usual;

static void put_names(task *t, container in, const char *const *names, int count)
{
    for (int n = 0; n < count; n++)
        OK(blobs_put(t, in, str_of(names[n]), str_of(names[n]), &as_usual, NULL));
}

/* ---- containers ---- */

LIVE_TEST(a_container_can_be_created_twice_and_deleted_once)
{
    container in = live_container();
    OK(blobs_create_container(t, in));
    OK(blobs_create_container(t, in));
    OK(blobs_delete_container(t, in));
    EXPECT(RES_NOT_FOUND, blobs_delete_container(t, in));
}

LIVE_TEST(a_deleted_container_has_lost_its_blobs)
{
    container in = live_container();
    blob_info info;
    OK(blobs_put(t, in, STR("b"), STR("x"), &as_usual, NULL));
    OK(blobs_delete_container(t, in));
    EXPECT(RES_NOT_FOUND, blobs_head(t, in, STR("b"), &info));
}

static const char *const bad_containers[] = {
    "",
    "ab",
    "Abc",
    "a_b",
    "-abc",
    "abc-",
    "a--b",
    "a/b",
    "a.b",
    "ab\xc3\xbc",
    "a123456789012345678901234567890123456789012345678901234567890123", /* 64 */
};

LIVE_TEST(a_bad_container_name_is_refused_by_every_call)
{
    container in = {.name = str_of(bad_containers[i])};
    blob_info info;
    blob_page page;
    EXPECT(RES_INVALID, blobs_create_container(t, in));
    EXPECT(RES_INVALID, blobs_delete_container(t, in));
    EXPECT(RES_INVALID, blobs_put(t, in, STR("b"), STR("x"), &as_usual, NULL));
    EXPECT(RES_INVALID, blobs_head(t, in, STR("b"), &info));
    EXPECT(RES_INVALID, blobs_append(t, in, STR("b"), STR("x"), UINT64_MAX, NULL));
    EXPECT(RES_INVALID, blobs_list(t, in, STR(""), '\0', 10, STR(""), &page));
}

LIVE_TEST(containers_are_listed_by_prefix_in_pages)
{
    const char *prefix = live_name("l");
    for (int n = 4; n >= 0; n--)
        OK(blobs_create_container(t, (container){.name = str_of(textf("%s-%d", prefix, n))}));
    str    token = {0}, *names;
    size_t count, all = 0;
    do {
        OK(blobs_list_containers(t, STORE_MAIN, str_of(textf("%s-", prefix)), 2, token, &names, &count,
                                 &token));
        ck_assert_uint_le(count, 2);
        for (size_t k = 0; k < count; k++, all++)
            ck_str_eq(names[k], str_of(textf("%s-%zu", prefix, all)));
    } while (token.len > 0);
    ck_assert_uint_eq(all, 5);
}

/* ---- names ---- */

static const char *const odd_names[] = {
    "dir/b c/\xc3\xbc.txt", "0&<.txt",   "a'b\"c",  "a+b",    "c%d%20", "\xf0\x9f\x98\x80", "q?x=1#y",
    "trailing blank ",      "[x]{y}^`|", "a,b;c=@", "$web:1",
};

/* STORE-37 */
LIVE_TEST(an_odd_name_is_put_listed_got_and_removed)
{
    container in = live_container();
    str       name = str_of(odd_names[i]);
    blob_got  got;
    blob_page page;
    OK(blobs_put(t, in, name, STR("body"), &as_usual, NULL));
    OK(blobs_get(t, in, name, &(blob_get){0}, &got));
    ck_str_eq(got.body, STR("body"));
    OK(blobs_list(t, in, name, '\0', 10, STR(""), &page));
    ck_assert_uint_eq(page.len, 1);
    ck_str_eq(page.at[0].name, name);
    ck_str_eq(page.at[0].etag, got.info.etag);
    OK(blobs_remove(t, in, name, page.at[0].etag));
}

LIVE_TEST(a_name_has_1_to_1024_characters)
{
    container in = live_container();
    blob_info info;
    str       longest = live_repeat(t->arena, STR("n"), 1024);
    OK(blobs_put(t, in, longest, STR("x"), &as_usual, NULL));
    OK(blobs_head(t, in, longest, &info));
    EXPECT(RES_INVALID, blobs_put(t, in, STR(""), STR("x"), &as_usual, NULL));
    res r = blobs_put(t, in, live_repeat(t->arena, STR("n"), 1025), STR("x"), &as_usual, NULL);
    ck_assert(r == RES_INVALID || r == RES_TOO_LARGE);
    task_forget(t);
    EXPECT(RES_INVALID, blobs_put(t, in, STR("bad \xff"), STR("x"), &as_usual, NULL));
}

static const http_header bad_metadata[] = {
    {STR_INIT(""), STR_INIT("x")},       {STR_INIT("1a"), STR_INIT("x")},
    {STR_INIT("a-b"), STR_INIT("x")},    {STR_INIT("a b"), STR_INIT("x")},
    {STR_INIT("a"), STR_INIT("x\r\ny")}, {STR_INIT("a"), STR_INIT("\xc3\xbc")},
};

LIVE_TEST(bad_metadata_is_refused)
{
    container in = live_container();
    blob_info info;
    blob_put  how = {.metadata = &bad_metadata[i], .metadata_count = 1};
    EXPECT(RES_INVALID, blobs_put(t, in, STR("b"), STR("x"), &how, NULL));
    EXPECT(RES_NOT_FOUND, blobs_head(t, in, STR("b"), &info));
}

/* ---- lists ---- */

static const char *const listed[] = {"A", "a", "a/1", "a/2", "a/b/3", "b", "b&c", "\xc3\xbc"};

/* STORE-37 */
LIVE_TEST(blobs_are_listed_by_name_in_pages)
{
    container in = live_container();
    blob_page page = {0};
    size_t    all = 0;
    put_names(t, in, listed, COUNT(listed));
    do {
        OK(blobs_list(t, in, STR(""), '\0', 2, page.token, &page));
        ck_assert_uint_le(page.len, 2);
        for (size_t k = 0; k < page.len; k++, all++) {
            ck_assert_uint_lt(all, COUNT(listed));
            ck_str_eq(page.at[k].name, str_of(listed[all]));
            ck_assert_uint_eq(page.at[k].bytes, page.at[k].name.len);
            ck_str_eq(page.at[k].content_type, STR("application/octet-stream"));
            ck_assert_int_gt(page.at[k].modified_us, 0);
        }
    } while (page.token.len > 0);
    ck_assert_uint_eq(all, COUNT(listed));
}

typedef struct {
    const char *prefix;
    char        delimiter;
    const char *blobs, *prefixes; /* joined by commas */
} list_case;

static const list_case lists[] = {
    {"", '\0', "A,a,a/1,a/2,a/b/3,b,b&c,\xc3\xbc,", ""},
    {"a", '\0', "a,a/1,a/2,a/b/3,", ""},
    {"a/", '\0', "a/1,a/2,a/b/3,", ""},
    {"", '/', "A,a,b,b&c,\xc3\xbc,", "a/,"},
    {"a/", '/', "a/1,a/2,", "a/b/,"},
    {"a", '/', "a,", "a/,"},
    {"b&", '/', "b&c,", ""},
    {"nothing", '/', "", ""},
};

LIVE_TEST(a_list_has_what_begins_so_and_folds_at_the_delimiter)
{
    container        in = live_container();
    const list_case *l = &lists[i];
    blob_page        page;
    str              names = {0}, folders = {0};
    put_names(t, in, listed, COUNT(listed));
    OK(blobs_list(t, in, str_of(l->prefix), l->delimiter, 5000, STR(""), &page));
    for (size_t k = 0; k < page.len; k++)
        names = arena_strf(t->arena, "%.*s%.*s,", STR_ARG(names), STR_ARG(page.at[k].name));
    for (size_t k = 0; k < page.prefix_count; k++)
        folders = arena_strf(t->arena, "%.*s%.*s,", STR_ARG(folders), STR_ARG(page.prefixes[k]));
    ck_str_eq(names, str_of(l->blobs));
    ck_str_eq(folders, str_of(l->prefixes));
    ck_assert_uint_eq(page.token.len, 0);
}

LIVE_TEST(pages_of_a_folded_list_name_each_folder_once)
{
    static const char *const names[] = {"a/1", "a/2", "a/3", "b", "c/1", "c/2", "d"};
    container                in = live_container();
    blob_page                page = {0};
    size_t                   blobs = 0, folders = 0;
    put_names(t, in, names, COUNT(names));
    do {
        OK(blobs_list(t, in, STR(""), '/', 1, page.token, &page));
        ck_assert_uint_le(page.len + page.prefix_count, 1);
        blobs += page.len;
        folders += page.prefix_count;
        ck_assert_uint_le(blobs + folders, 4);
    } while (page.token.len > 0);
    ck_assert_uint_eq(blobs, 2);
    ck_assert_uint_eq(folders, 2);
}

static const char *const bad_tokens[] = {"x", "!!!!", "bm90IG9uZQ", "a b"};

LIVE_TEST(a_token_that_is_none_is_refused)
{
    container in = live_container();
    blob_page page;
    str      *names, token;
    size_t    count;
    OK(blobs_create_container(t, in));
    EXPECT(RES_INVALID, blobs_list(t, in, STR(""), '\0', 10, str_of(bad_tokens[i]), &page));
    EXPECT(RES_INVALID,
           blobs_list_containers(t, STORE_MAIN, STR(""), 10, str_of(bad_tokens[i]), &names, &count, &token));
}

LIVE_TEST(append_blobs_are_listed_as_such)
{
    container in = live_container();
    blob_page page;
    OK(blobs_append(t, in, STR("log"), STR("x"), UINT64_MAX, NULL));
    OK(blobs_put(t, in, STR("plain"), STR("x"), &as_usual, NULL));
    OK(blobs_list(t, in, STR(""), '\0', 10, STR(""), &page));
    ck_assert_uint_eq(page.len, 2);
    ck_assert(page.at[0].append);
    ck_assert(!page.at[1].append);
}

Suite *suite_blob_lists(void)
{
    Suite *s = suite_create("blob_lists");
    TCase *c = live_case("blob_lists");
    tcase_add_test(c, a_container_can_be_created_twice_and_deleted_once);
    tcase_add_test(c, a_deleted_container_has_lost_its_blobs);
    tcase_add_loop_test(c, a_bad_container_name_is_refused_by_every_call, 0, COUNT(bad_containers));
    tcase_add_test(c, containers_are_listed_by_prefix_in_pages);
    tcase_add_loop_test(c, an_odd_name_is_put_listed_got_and_removed, 0, COUNT(odd_names));
    tcase_add_test(c, a_name_has_1_to_1024_characters);
    tcase_add_loop_test(c, bad_metadata_is_refused, 0, COUNT(bad_metadata));
    tcase_add_test(c, blobs_are_listed_by_name_in_pages);
    tcase_add_loop_test(c, a_list_has_what_begins_so_and_folds_at_the_delimiter, 0, COUNT(lists));
    tcase_add_test(c, pages_of_a_folded_list_name_each_folder_once);
    tcase_add_loop_test(c, a_token_that_is_none_is_refused, 0, COUNT(bad_tokens));
    tcase_add_test(c, append_blobs_are_listed_as_such);
    suite_add_tcase(s, c);
    return s;
}
