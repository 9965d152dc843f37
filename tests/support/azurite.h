/* azurite.h -- the storage emulator as a program under test's other half, on ports that the kernel chose.
 *
 * It is the one that tests/support/package.json pins, started with node; whatever happens to the test, it
 * ends with the process that started it (process.h). A test program has one, which all of its tests share, so
 * each test uses names of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_AZURITE_H
#define TRESTLE_TESTS_AZURITE_H

#include "core/str.h"

#define AZURITE_ACCOUNT "devstoreaccount1"
/* Public and the same everywhere: Azurite has no other. */
#define AZURITE_KEY "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

typedef enum { AZURITE_BLOBS, AZURITE_QUEUES, AZURITE_TABLES, AZURITE_SERVICES } azurite_service;

typedef struct azurite azurite;

typedef struct {
    bool tls;   /* with a certificate made now; azurite_ca_file must be trusted */
    bool oauth; /* also takes bearer tokens; needs tls */
} azurite_spec;

/* NULL: it could not be started, and stderr says why. Waits until all three services listen. */
azurite *azurite_start(const azurite_spec *spec);
void     azurite_stop(azurite *a); /* kills it and forgets what it stored; accepts NULL */

/* kill -9; and a new one on the same ports, as empty as the first, which listens some time later. */
void azurite_kill(azurite *a);
void azurite_launch(azurite *a);
bool azurite_listens(const azurite *a);

int         azurite_port(const azurite *a, azurite_service s);
const char *azurite_url(const azurite *a, azurite_service s); /* "http://127.0.0.1:PORT/devstoreaccount1" */
const char *azurite_connection(const azurite *a);             /* with account key and three endpoints */
const char *azurite_ca_file(const azurite *a);

#endif
