/* test_store_choose.c -- which back end the command line and the environment ask for.
 *
 * Each case is a list of settings; those whose name begins with '@' stand in local.settings.json, which puts
 * them into the environment too.
 *
 * SPDX-License-Identifier: MIT */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/loop.h"
#include "storage/backend.h"
#include "unit/suites.h"

#define TABLES_NAME "AZURE_TABLES_CONNECTION_STRING"
#define MAIN_NAME   "AZURE_STORAGE_CONNECTION_STRING"
#define JOBS_NAME   "AzureWebJobsStorage"
#define HOST        true
#define STANDALONE  false

enum { SETTINGS_MAX = 5 };

static const char *const known[] = {TABLES_NAME,
                                    MAIN_NAME,
                                    JOBS_NAME,
                                    JOBS_NAME "__accountName",
                                    JOBS_NAME "__tableServiceUri",
                                    JOBS_NAME "__blobServiceUri",
                                    JOBS_NAME "__queueServiceUri",
                                    "ACTIONS_TABLE_CONNECTION",
                                    "ACTIONS_TABLE_CONNECTION__tableServiceUri",
                                    "ES_STORAGE_CONNECTION",
                                    "TRESTLE_STORAGE",
                                    "TRESTLE_DATA_DIR"};

static arena             *a;
static const char *const *in_file; /* of the case that runs */

static void before(void)
{
    a = arena_new(MIB);
    ck_assert_ptr_nonnull(a);
    in_file = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        unsetenv(known[i]);
}

static void after(void)
{
    arena_free(a);
}

static bool from_file(const char *name)
{
    for (size_t i = 0; in_file != NULL && i < SETTINGS_MAX && in_file[i] != NULL; i++)
        if (in_file[i][0] == '@' && strncmp(in_file[i] + 1, name, strlen(name)) == 0 &&
            in_file[i][1 + strlen(name)] == '=')
            return true;
    return false;
}

static void set_all(const char *const settings[SETTINGS_MAX])
{
    in_file = settings;
    for (size_t i = 0; i < SETTINGS_MAX && settings[i] != NULL; i++) {
        const char *name = settings[i] + (settings[i][0] == '@');
        size_t      len = strcspn(name, "=");
        setenv(arena_cstr(a, (str){name, len}), name + len + 1, 1);
    }
}

static const struct {
    const char *settings[SETTINGS_MAX];
    const char *storage;
    bool        under_host;
    store_kind  kind;
    const char *tables, *blobs, *queues;
} cases[] = {
    /* nothing is set */
    {{NULL}, NULL, STANDALONE, STORE_EMBEDDED, "", "", ""},
    {{NULL}, NULL, HOST, STORE_NONE, "", "", ""},
    {{NULL}, "embedded", HOST, STORE_EMBEDDED, "", "", ""},
    {{"TRESTLE_STORAGE=embedded"}, NULL, HOST, STORE_EMBEDDED, "", "", ""},
    {{"TRESTLE_STORAGE="}, NULL, STANDALONE, STORE_EMBEDDED, "", "", ""},
    /* one name serves all */
    {{MAIN_NAME "=m=1"}, NULL, STANDALONE, STORE_AZURE, "m=1", "m=1", "m=1"},
    {{JOBS_NAME "=j=1"}, NULL, HOST, STORE_AZURE, "j=1", "j=1", "j=1"},
    {{TABLES_NAME "=t=1"}, NULL, HOST, STORE_AZURE, "t=1", "t=1", "t=1"},
    {{MAIN_NAME "="}, NULL, STANDALONE, STORE_EMBEDDED, "", "", ""},
    /* the order differs by service */
    {{TABLES_NAME "=t=1", MAIN_NAME "=m=1", JOBS_NAME "=j=1"}, NULL, HOST, STORE_AZURE, "t=1", "m=1", "m=1"},
    {{MAIN_NAME "=m=1", JOBS_NAME "=j=1"}, NULL, HOST, STORE_AZURE, "m=1", "m=1", "m=1"},
    {{TABLES_NAME "=t=1", JOBS_NAME "=j=1"}, NULL, HOST, STORE_AZURE, "t=1", "j=1", "j=1"},
    /* what is said outright wins, and the command line over the environment */
    {{MAIN_NAME "=m=1"}, "embedded", STANDALONE, STORE_EMBEDDED, "", "", ""},
    {{MAIN_NAME "=m=1", "TRESTLE_STORAGE=embedded"}, NULL, HOST, STORE_EMBEDDED, "", "", ""},
    {{MAIN_NAME "=m=1", "TRESTLE_STORAGE=embedded"}, "azure", HOST, STORE_AZURE, "m=1", "m=1", "m=1"},
    {{MAIN_NAME "=m=1", "TRESTLE_STORAGE=azure"}, "embedded", HOST, STORE_EMBEDDED, "", "", ""},
    /* what stands only in local.settings.json */
    {{"@" JOBS_NAME "=j=1"}, NULL, STANDALONE, STORE_EMBEDDED, "", "", ""},
    {{"@" JOBS_NAME "=j=1"}, NULL, HOST, STORE_AZURE, "j=1", "j=1", "j=1"},
    {{"@" JOBS_NAME "=j=1"}, "azure", STANDALONE, STORE_AZURE, "j=1", "j=1", "j=1"},
    {{"@" TABLES_NAME "=t=1", JOBS_NAME "=j=1"}, NULL, STANDALONE, STORE_AZURE, "j=1", "j=1", "j=1"},
    {{"@" JOBS_NAME "__accountName=acct"}, NULL, STANDALONE, STORE_EMBEDDED, "", "", ""},
    /* identities: the name of the group stands for it */
    {{JOBS_NAME "__accountName=acct"}, NULL, HOST, STORE_AZURE, JOBS_NAME, JOBS_NAME, JOBS_NAME},
    {{JOBS_NAME "__tableServiceUri=https://x"}, NULL, HOST, STORE_AZURE, JOBS_NAME, "", ""},
    {{JOBS_NAME "__blobServiceUri=https://x", JOBS_NAME "__queueServiceUri=https://y"},
     NULL,
     HOST,
     STORE_AZURE,
     "",
     JOBS_NAME,
     JOBS_NAME},
    {{JOBS_NAME "__blobServiceUri=https://x", TABLES_NAME "=t=1"},
     NULL,
     HOST,
     STORE_AZURE,
     "t=1",
     JOBS_NAME,
     "t=1"},
};

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void check_text(str got, const char *expected)
{
    ck_assert_msg(str_eq(got, str_of(expected)), "got '%.*s', expected '%s'", STR_ARG(got), expected);
}

START_TEST(the_back_end_is_chosen)
{
    store_options o;
    str           error = STR("");
    set_all(cases[_i].settings);
    ck_assert_int_eq(store_choose(a, cases[_i].storage, NULL, cases[_i].under_host, from_file, &o, &error),
                     RES_OK);
    ck_assert_uint_eq(error.len, 0);
    ck_assert_int_eq(o.kind, cases[_i].kind);
    check_text(o.tables, cases[_i].tables);
    check_text(o.blobs, cases[_i].blobs);
    check_text(o.queues, cases[_i].queues);
    check_text(o.actions, "");
    check_text(o.events, "");
    if (o.kind == STORE_EMBEDDED)
        ck_assert_str_eq(o.data_dir, ".trestle");
}
END_TEST

START_TEST(the_folder_is_said_or_set_or_the_usual_one)
{
    store_options o;
    str           error;
    set_all((const char *const[SETTINGS_MAX]){"TRESTLE_DATA_DIR=from-env"});
    ck_assert_int_eq(store_choose(a, NULL, NULL, false, NULL, &o, &error), RES_OK);
    ck_assert_str_eq(o.data_dir, "from-env");
    ck_assert_int_eq(store_choose(a, NULL, "said", false, NULL, &o, &error), RES_OK);
    ck_assert_str_eq(o.data_dir, "said");
}
END_TEST

START_TEST(modules_may_have_stores_of_their_own)
{
    store_options o;
    str           error;
    set_all((const char *const[SETTINGS_MAX]){MAIN_NAME "=m=1", "ES_STORAGE_CONNECTION=e=1",
                                              "ACTIONS_TABLE_CONNECTION__tableServiceUri=https://x"});
    ck_assert_int_eq(store_choose(a, NULL, NULL, true, from_file, &o, &error), RES_OK);
    check_text(o.tables, "m=1");
    check_text(o.events, "e=1");
    check_text(o.actions, "ACTIONS_TABLE_CONNECTION");
}
END_TEST

/* A module's setting alone does not make the rest azure, nor embedded under the host. */
START_TEST(a_modules_setting_alone_chooses_for_that_module)
{
    store_options o;
    str           error;
    set_all((const char *const[SETTINGS_MAX]){"ES_STORAGE_CONNECTION=e=1"});
    ck_assert_int_eq(store_choose(a, NULL, NULL, true, from_file, &o, &error), RES_OK);
    ck_assert_int_eq(o.kind, STORE_NONE);
    check_text(o.events, "e=1");
    ck_assert_int_eq(store_choose(a, NULL, NULL, false, from_file, &o, &error), RES_OK);
    ck_assert_int_eq(o.kind, STORE_EMBEDDED);
    check_text(o.events, "e=1");
}
END_TEST

START_TEST(an_unknown_back_end_is_refused)
{
    store_options o;
    str           error = STR("");
    ck_assert_int_eq(store_choose(a, "redis", NULL, false, NULL, &o, &error), RES_CONFIG);
    ck_assert(str_has(error, STR("'redis'")) && str_has(error, STR("embedded")));
}
END_TEST

START_TEST(azure_without_a_connection_is_refused_with_the_names_to_set)
{
    store_options o;
    str           error = STR("");
    set_all((const char *const[SETTINGS_MAX]){"ES_STORAGE_CONNECTION=secret-connection"});
    ck_assert_int_eq(store_choose(a, "azure", NULL, false, NULL, &o, &error), RES_CONFIG);
    ck_assert(str_has(error, STR(MAIN_NAME)) && str_has(error, STR(TABLES_NAME)) &&
              str_has(error, STR(JOBS_NAME)));
    ck_assert(!str_has(error, STR("secret")));
}
END_TEST

START_TEST(without_a_store_the_banner_says_so)
{
    store_options o = {.kind = STORE_NONE};
    str           error;
    ck_assert_int_eq(store_open(a, &o, &error), RES_OK);
    check_text(store_describe(a), "none");
    store_close();
}
END_TEST

/* ---- opening ---- */

/* Of two that are to be opened the second is nonsense: then the first is closed again, and so is its lock. */
START_TEST(a_store_that_cannot_be_opened_leaves_none_open)
{
    char dir[] = "/tmp/trestle-store-XXXXXX";
    str  error = STR("");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(loop_open(), RES_OK);

    store_options o = {.kind = STORE_EMBEDDED, .data_dir = dir, .events = STR("nonsense=secret-connection")};
    ck_assert_int_eq(store_open(a, &o, &error), RES_CONFIG);
    ck_assert_uint_gt(error.len, 0);
    ck_assert(!str_has(error, STR("secret")));
    ck_assert_ptr_null(store_backend(STORE_MAIN));
    ck_assert_ptr_null(store_backend(STORE_EVENTS));

    o.events = STR("");
    ck_assert_int_eq(store_open(a, &o, &error), RES_OK);
    ck_assert_ptr_nonnull(store_backend(STORE_MAIN));
    ck_assert_ptr_eq(store_backend(STORE_EVENTS), store_backend(STORE_MAIN));
    check_text(store_describe(a), arena_strf(a, "embedded in %s", dir).at);
    store_close();
    ck_assert_ptr_null(store_backend(STORE_ACTIONS));

    loop_run();
    loop_close();
    ck_assert_int_eq(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
END_TEST

Suite *suite_store_choose(void)
{
    Suite *s = suite_create("store_choose");
    TCase *c = tcase_create("store_choose");
    tcase_add_checked_fixture(c, before, after);
    tcase_add_loop_test(c, the_back_end_is_chosen, 0, sizeof cases / sizeof *cases);
    tcase_add_test(c, the_folder_is_said_or_set_or_the_usual_one);
    tcase_add_test(c, modules_may_have_stores_of_their_own);
    tcase_add_test(c, a_modules_setting_alone_chooses_for_that_module);
    tcase_add_test(c, an_unknown_back_end_is_refused);
    tcase_add_test(c, azure_without_a_connection_is_refused_with_the_names_to_set);
    tcase_add_test(c, without_a_store_the_banner_says_so);
    tcase_add_test(c, a_store_that_cannot_be_opened_leaves_none_open);
    suite_add_tcase(s, c);
    return s;
}
