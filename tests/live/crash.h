/* crash.h -- what the program that is killed writes, and how the test that kills it reads its words.
 *
 * Each of CRASH_WRITERS writers makes one write after another, alternately of one row and of three rows in
 * one transaction, and prints a line when it is acknowledged:
 *
 *     WRITER COUNT\n           all rows of that write hold COUNT from then on, or a larger one
 *
 * Rows: partition "wWRITER", row "single" for odd counts; rows "a", "b", "c" for even ones. Writes go on from
 * what is stored, so that a new life of the program continues the one before.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_CRASH_H
#define TRESTLE_TESTS_CRASH_H

enum { CRASH_WRITERS = 64, CRASH_ROWS = 4 };

#define CRASH_TABLE "Crash"

static const char *const crash_rows[CRASH_ROWS] = {"single", "a", "b", "c"};

#endif
