/* queues.h -- messages that are delivered at least once, in no certain order.
 *
 * A message that was received is hidden for a while; whoever has dealt with it deletes it by the receipt of
 * that very receive. RES_NOT_FOUND: it is gone; RES_PRECONDITION: the receipt is void, somebody else has it
 * now; RES_UNPROVISIONED: no such queue. Queues are made on first use. Names as containers'.
 *
 * Texts are base64 on the wire, as the Functions host reads and writes them by default.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_QUEUES_H
#define TRESTLE_STORAGE_QUEUES_H

#include "storage/store.h"

typedef struct {
    store_id store;
    str      name;
    bool     plain; /* no base64: host.json's messageEncoding "none" */
} queue;

enum {
    QUEUES_WIRE_MAX = 65536, /* bytes of a message as it travels: 48 KiB of payload in base64 */
    QUEUES_RECEIVE_MAX = 32,
    QUEUES_HIDE_MAX_S = 7 * 24 * 3600,
    QUEUES_TTL_DEFAULT_S = 7 * 24 * 3600,
    QUEUES_TTL_FOREVER = -1,
};

typedef struct {
    str     id, receipt;
    str     body;          /* decoded */
    int64_t dequeue_count; /* this receive included */
    int64_t inserted_us, expires_us, next_visible_us;
    bool    undecodable; /* body is what came: it was not base64 */
} queue_message;

res queues_create(task *t, queue in) MUST_USE; /* also when it is there already */
res queues_delete(task *t, queue in) MUST_USE; /* RES_NOT_FOUND */
res queues_list(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                size_t *ret_count, str *ret_token) MUST_USE;

/* delay_s: hidden at first; ttl_s 0: QUEUES_TTL_DEFAULT_S. *ret (may be NULL): id, receipt and times. */
res queues_put(task *t, queue in, str body, unsigned delay_s, int ttl_s, queue_message *ret) MUST_USE;
/* Up to most (1 to QUEUES_RECEIVE_MAX), hidden for hide_s (1 to QUEUES_HIDE_MAX_S). None: RES_OK, 0. */
res queues_receive(task *t, queue in, unsigned most, unsigned hide_s, queue_message **ret,
                   size_t *ret_count) MUST_USE;
res queues_peek(task *t, queue in, unsigned most, queue_message **ret, size_t *ret_count) MUST_USE;
/* Hidden for hide_s from now (0: visible at once), with another body unless that is the empty str with a NULL
 * pointer. m gets the new receipt and time. */
res queues_update(task *t, queue in, queue_message *m, str body, unsigned hide_s) MUST_USE;
res queues_remove(task *t, queue in, str id, str receipt) MUST_USE;
res queues_count(task *t, queue in, uint64_t *ret) MUST_USE; /* about */
res queues_clear(task *t, queue in) MUST_USE;

/* The host's convention: copied to NAME-poison, then deleted. A crash between the two leaves both. */
res queues_poison(task *t, queue in, const queue_message *m) MUST_USE;

#endif
