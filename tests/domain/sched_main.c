/* sched_main.c -- see sched_suites.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_suites.h"

#include "live/live.h"

#define ROW(name) {#name, suite_##name},

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {SCHED_SUITES(ROW)};
    return live_main(suites, sizeof suites / sizeof *suites, argc, argv);
}
