/* import_rig.h -- what the programs that test `trestle import` share: inputs in a folder, runs in it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_E2E_IMPORT_RIG_H
#define TRESTLE_E2E_IMPORT_RIG_H

#include "e2e/catalogue.h"
#include "e2e/e2e.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

extern const char *import_dir; /* where the program runs */

/* Fixture of each test. The test itself starts the catalogue, or a real server. */
void import_open(void);
void import_close(void);

void import_write(const char *name, str bytes);
void import_write_text(const char *name, const char *text);
str  import_text(const char *name); /* empty: there is no such file */
bool import_exists(const char *name);
/* So many records of so many owners, in an order that mixes them. */
str  import_many(int records, int owners);

/* `trestle import FILE --to URL MORE VALUE`; both may be NULL. */
process *import_start(const char *file, const char *more, const char *value);
outcome  import_run_to(const char *url, const char *file, const char *more, const char *value);
outcome  import_run(const char *file, const char *more, const char *value); /* to the catalogue */
/* It ended so, and said that. */
void     import_check(const outcome *o, int status, const char *part);
void     import_check_dump(const char *want);

#endif
