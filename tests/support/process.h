/* process.h -- a program under test: started, watched, and never left behind.
 *
 * What it writes goes into two files in memory, which can be read at any time; so it never blocks on us.
 * Whatever happens to the test, the program ends with it: process_end_all in a teardown, and the kernel kills
 * it when the process that started it dies. Failures to start it end the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_PROCESS_H
#define TRESTLE_TESTS_PROCESS_H

#include <sys/types.h>

#include "core/str.h"

typedef struct process process;

typedef struct {
    const char *const *args; /* the program's path first; NULL at the end */
    /* "NAME=value" lists, NULL at the end, later ones win; the lists may be NULL. Beyond these it gets PATH
     * and the options of the sanitizers alone, so that no variable of the machine is needed or in the way. */
    const char *const *env, *const *more_env;
    const char *dir;      /* NULL: ours */
    const int  *out_file; /* stdout and stderr go to this descriptor instead; NULL: captured */
} process_spec;

process *process_start(const process_spec *spec);
pid_t    process_pid(const process *p);
void     process_signal(const process *p, int signum);

/* True when it has ended within the limit; then *ret_status is as of waitpid. Only for whoever started it. */
bool process_wait(process *p, unsigned limit_ms, int *ret_status) MUST_USE;
bool process_alive(process *p);

str  process_out(const process *p); /* all that it has written so far; in scratch() */
str  process_err(const process *p);
/* Waits until stdout or stderr holds the text. */
bool process_says(const process *p, const char *text, unsigned limit_ms) MUST_USE;

/* Kills and reaps it. Its output stays readable. */
void process_end(process *p);
void process_end_all(void); /* all that this very process has started */

/* Sleeps a moment: for loops that look whether something has come true, always with a limit. */
void     process_pause(void);
uint64_t process_now_ms(void);

#endif
