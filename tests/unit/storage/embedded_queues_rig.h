/* embedded_queues_rig.h -- what the test files of the embedded queues share. Time stands still unless a test
 * moves it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_EMBEDDED_QUEUES_RIG_H
#define TRESTLE_TESTS_EMBEDDED_QUEUES_RIG_H

#include "storage/embedded/schema.h"
#include "unit/storage/embedded_rig.h"

#define Q embedded_queues

enum { NOON_S = 1767355200, DAY_S = 24 * 3600 };

extern const str jobs; /* the queue of most tests */

void queues_rig_set_time(int64_t after_noon_s);
void queues_rig_before(void);
void queues_rig_after(void);

/* All of these must succeed; there must be a message to receive. */
void          queues_rig_make(task *t, engine *e);
queue_message queues_rig_put(task *t, engine *e, const char *body, unsigned delay_s, int ttl_s);
queue_message queues_rig_receive(task *t, engine *e, unsigned hide_s);
uint64_t      queues_rig_count(task *t, engine *e);

TCase *embedded_queues_cases_many(void);

#endif
