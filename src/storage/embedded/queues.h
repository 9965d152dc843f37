/* queues.h -- the two halves of the embedded queues: whole queues and puts in queues.c, deliveries in
 * queues_deliver.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_QUEUES_H
#define TRESTLE_STORAGE_EMBEDDED_QUEUES_H

#include "storage/backend.h"
#include "storage/embedded/engine.h"

enum { MESSAGE_RECEIPT_SIZE = 17 };

/* A receipt is the tick of the write that gave it: no two writes have the same. */
str message_receipt(int64_t tick, char out[MESSAGE_RECEIPT_SIZE]);

/* In a thread. RES_UNPROVISIONED: there is none of that name. */
res queue_find(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out) MUST_USE;
/* Removes what has expired by now, some of it: the rest is for the next caller. */
res queue_expire(engine_conn *c, int64_t queue_id, int64_t now_us, engine_outcome *out) MUST_USE;

res queue_receive(void *self, task *t, str in, unsigned most, unsigned hide_s, queue_message **ret,
                  size_t *ret_count) MUST_USE;
res queue_peek(void *self, task *t, str in, unsigned most, queue_message **ret, size_t *ret_count) MUST_USE;
res queue_update(void *self, task *t, str in, queue_message *m, const str *wire, unsigned hide_s) MUST_USE;
res queue_remove(void *self, task *t, str in, str id, str receipt) MUST_USE;

#endif
