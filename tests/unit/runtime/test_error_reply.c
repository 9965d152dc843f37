/* test_error_reply.c -- which shape the failures of a path have.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/error_reply.h"

#include "unit/suites.h"

static void shape(arena *a, const error_facts *f, error_answer *ret)
{
    (void)a, (void)f, (void)ret;
}

static const error_shape rows[] = {{"ActionsUpsert", shape}, {"actions", shape}};

static const struct {
    const char *prefix, *path;
    int         row; /* -1: the common shape */
} paths[] = {
    {"api", "/api/ActionsUpsert", 0},
    {"api", "/api/ActionsUpsert/batch", 0},
    {"api", "/API/actionsupsert", 0},
    {"api", "/api/actions/list", 1},
    {"api", "/api/actions", 1},
    {"api", "/api/actionsx/list", -1},
    {"api", "/apiactions/list", -1},
    {"api", "/actions/list", -1},
    {"api", "/api", -1},
    {"api", "/api/", -1},
    {"api", "", -1},
    {"", "/actions/list", 1},
    {"", "/api/actions/list", -1},
    {"a/b", "/a/b/actions/x", 1},
};

START_TEST(a_failure_has_the_shape_of_the_first_segment_behind_the_prefix)
{
    const error_shape *got =
        error_shape_of(rows, sizeof rows / sizeof *rows, str_of(paths[_i].prefix), str_of(paths[_i].path));
    ck_assert_msg(got == (paths[_i].row < 0 ? NULL : &rows[paths[_i].row]), "%s", paths[_i].path);
}
END_TEST

Suite *suite_error_reply(void)
{
    Suite *s = suite_create("error_reply");
    TCase *c = tcase_create("shapes");
    tcase_add_loop_test(c, a_failure_has_the_shape_of_the_first_segment_behind_the_prefix, 0,
                        (int)(sizeof paths / sizeof *paths));
    suite_add_tcase(s, c);
    return s;
}
