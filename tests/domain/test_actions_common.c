/* test_actions_common.c -- what holds for every path of the catalogue, whichever function serves it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions_suites.h"
#include "domain/rig.h"

RIG_TEST(an_unknown_path_below_actions_has_the_catalogues_error)
{
    got g = rig_get(t, "/api/actions/a/b/c/d");
    ck_status(g, 404);
    ck_assert_uint_gt(rig_text(&g, "error").len, 0);
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
}

Suite *suite_common(void)
{
    Suite *s = suite_create("common");
    TCase *c = live_case("common");
    tcase_add_test(c, an_unknown_path_below_actions_has_the_catalogues_error);
    suite_add_tcase(s, c);
    return s;
}
