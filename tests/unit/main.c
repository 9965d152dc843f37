/* main.c -- runs unit suites: all of them, or those named on the command line.
 *
 * A suite without a single check is a failure: it would be a green light that nobody wired.
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

typedef struct {
    const char *name;
    Suite *(*make)(void);
} named_suite;

#define ROW(name) {#name, suite_##name},
static const named_suite suites[] = {UNIT_SUITES(ROW)};
#undef ROW

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

static int run_suite(const named_suite *s)
{
    SRunner *runner = srunner_create(s->make());
    srunner_run_all(runner, CK_ENV);
    int ran = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);

    printf("%s: %d passed, %d failed\n", s->name, ran - failed, failed);
    if (ran == 0)
        fprintf(stderr, "%s: the suite holds no test\n", s->name);
    return ran == 0 ? 1 : failed;
}

int main(int argc, char **argv)
{
    int failed = 0, ran = 0;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        if (!wanted(suites[i].name, argc, argv))
            continue;
        failed += run_suite(&suites[i]);
        ran++;
    }
    if (ran == 0) {
        fprintf(stderr, "no suite of that name; tests/unit/suites.h lists them\n");
        return EXIT_FAILURE;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
