/* actions_main.c -- see actions_suites.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions_suites.h"

#include "live/live.h"

#define ROW(name) {#name, suite_##name},

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {ACTIONS_SUITES(ROW)};
    return live_main(suites, sizeof suites / sizeof *suites, argc, argv);
}
