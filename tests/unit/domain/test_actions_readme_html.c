/* test_actions_readme_html.c -- addresses of pictures in HTML.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/readme_html.h"

#include <string.h>

#include "support/scratch.h"
#include "unit/suites.h"

#define R "https://raw.x/o/r/main/"

static const struct {
    const char *dir, *html, *want;
} cases[] = {
    {"", "no tag at all", "no tag at all"},
    {"", "", ""},
    {"", "<img src=\"a.png\">", "<img src=\"" R "a.png\">"},
    {"", "<img src=\"./a.png\">", "<img src=\"" R "a.png\">"},
    {"", "<IMG alt='x' SRC='a b.png' />", "<IMG alt='x' SRC='" R "a b.png' />"},
    {"", "<img src=a.png>", "<img src=" R "a.png>"},
    {"", "<img src = \" a.png \">", "<img src = \"" R "a.png\">"},
    {"", "<img src=\"/a.png\">", "<img src=\"" R "a.png\">"},
    {"docs/en", "<img src=\"/a.png\">", "<img src=\"" R "a.png\">"},
    {"docs/en", "<img src=\"a.png\">", "<img src=\"" R "docs/en/a.png\">"},
    {"docs/en", "<img src=\"../a.png\">", "<img src=\"" R "docs/a.png\">"},
    {"docs/en", "<img src=\"../../../../a.png\">", "<img src=\"" R "a.png\">"},
    {"docs", "<img src=\"x/../y//z/\">", "<img src=\"" R "docs/y/z/\">"},
    {"", "<img src=\"a.png?raw=true#x\">", "<img src=\"" R "a.png?raw=true#x\">"},
    {"", "<img src=\"https://h/a.png\">", "<img src=\"https://h/a.png\">"},
    {"", "<img src=\"//h/a.png\">", "<img src=\"//h/a.png\">"},
    {"", "<img src=\"data:image/png;base64,AA==\">", "<img src=\"data:image/png;base64,AA==\">"},
    {"", "<img src=\"#x\"><img src=\"\"><img src>", "<img src=\"#x\"><img src=\"\"><img src>"},
    {"", "<img data-src=\"a.png\">", "<img data-src=\"a.png\">"},
    {"", "<img alt=\"<img src=\" src=\"a.png\">", "<img alt=\"<img src=\" src=\"" R "a.png\">"},
    {"", "<image src=a><a src=a><video src=a>", "<image src=a><a src=a><video src=a>"},
    {"", "<!-- <img src=a> --><img src=b>", "<!-- <img src=a> --><img src=" R "b>"},
    {"", "<!-- <img src=a>", "<!-- <img src=a>"},
    {"", "<source srcset=\"a.png\">", "<source srcset=\"" R "a.png\">"},
    {"d", "<img srcset=\"a.png 1x, /b.png 2x\">", "<img srcset=\"" R "d/a.png 1x, " R "b.png 2x\">"},
    {"", "<img srcset=\"a.png, b.png\">", "<img srcset=\"" R "a.png, " R "b.png\">"},
    {"", "<img srcset=\"https://h/a,b.png 100w,c.png\">",
     "<img srcset=\"https://h/a,b.png 100w," R "c.png\">"},
    {"", "<img srcset=\" , \">", "<img srcset=\" , \">"},
    {"", "<img src=\"a.png", "<img src=\"" R "a.png"},
    {"", "<img", "<img"},
    {"", "a < b <img\nsrc=a\n>", "a < b <img\nsrc=" R "a\n>"},
    {"", "<img =x / src=a>", "<img =x / src=" R "a>"},
};

/* ACT-51. */
START_TEST(relative_addresses_of_pictures_become_absolute_and_all_else_stays)
{
    str got = readme_html(scratch(), str_of(cases[_i].html), STR(R), str_of(cases[_i].dir));
    ck_assert_msg(str_eq(got, str_of(cases[_i].want)), "'%.*s' is not '%s'", STR_ARG(got), cases[_i].want);
}
END_TEST

START_TEST(a_page_that_would_grow_beyond_the_limit_stays_as_it_is)
{
    size_t count = 500 * 1000;
    char  *text = arena_alloc(scratch(), count * 11);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * 11, "<img src=a>", 11);
    str html = {text, count * 11};
    str got = readme_html(scratch(), html, STR(R), (str){0});
    ck_assert(str_eq(got, html));
}
END_TEST

Suite *suite_actions_readme_html(void)
{
    Suite *s = suite_create("actions_readme_html");
    TCase *c = tcase_create("actions_readme_html");
    tcase_add_loop_test(c, relative_addresses_of_pictures_become_absolute_and_all_else_stays, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_test(c, a_page_that_would_grow_beyond_the_limit_stays_as_it_is);
    suite_add_tcase(s, c);
    return s;
}
