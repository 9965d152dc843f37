/* fault.h -- when the program itself is broken: say where, then die, so that the host restarts it.
 *
 * Prints the frames and then one line with the signal and the task, on stderr. That line is last because the
 * Functions host keeps the last three lines of stderr as the reason of an exit (spec 1.4).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FAULT_H
#define TRESTLE_RUNTIME_FAULT_H

/* For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. Does nothing under AddressSanitizer, which does better. */
void fault_install(void);

#endif
