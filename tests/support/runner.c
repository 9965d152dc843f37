/* runner.c -- see runner.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int noted_passed, noted_failed;

void runner_note(bool ok, const char *what)
{
    if (ok) {
        noted_passed++;
        return;
    }
    noted_failed++;
    fprintf(stderr, "%s\n", what);
}

int runner_run(const runner_suite *s)
{
    noted_passed = noted_failed = 0;
    SRunner *runner = srunner_create(s->make());
    srunner_run_all(runner, CK_ENV);
    int ran = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner) + noted_failed;
    int passed = ran - srunner_ntests_failed(runner) + noted_passed;
    srunner_free(runner);

    printf("%s: %d passed, %d failed\n", s->name, passed, failed);
    (void)fflush(stdout);
    if (ran == 0)
        fprintf(stderr, "%s: the suite holds no test\n", s->name);
    return ran == 0 ? 1 : failed;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

int runner_main(const runner_suite *suites, size_t count, int argc, char **argv)
{
    int failed = 0, ran = 0;
    for (size_t i = 0; i < count; i++) {
        if (!wanted(suites[i].name, argc, argv))
            continue;
        failed += runner_run(&suites[i]);
        ran++;
    }
    if (ran == 0) {
        fprintf(stderr, "no suite of that name; there are:");
        for (size_t i = 0; i < count; i++)
            fprintf(stderr, " %s", suites[i].name);
        fprintf(stderr, "\n");
        return EXIT_FAILURE;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
