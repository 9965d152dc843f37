/* main.c -- runs unit suites: all of them, or those named on the command line.
 *
 * SPDX-License-Identifier: MIT */
#include "support/runner.h"
#include "unit/suites.h"

#define ROW(name) {#name, suite_##name},
static const runner_suite suites[] = {UNIT_SUITES(ROW)};
#undef ROW

int main(int argc, char **argv)
{
    return runner_main(suites, sizeof suites / sizeof *suites, argc, argv);
}
