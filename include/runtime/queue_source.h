/* queue_source.h -- where messages come from and go to in standalone mode, when there is no host to do it.
 *
 * The runtime knows no storage. The app gives it these functions, each over one queue named by `name`;
 * `plain` means that texts travel as they are, else as base64 (host.json's
 * extensions.queues.messageEncoding).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_QUEUE_SOURCE_H
#define TRESTLE_RUNTIME_QUEUE_SOURCE_H

#include "runtime/task.h"

typedef struct {
    str     id, pop_receipt, text; /* text: decoded from base64 */
    int64_t dequeue_count, inserted_us, expires_us, next_visible_us;
    bool    undecodable; /* text is what came: it was not base64 */
} queue_message_info;

typedef struct {
    /* Up to `most` (1 to 32) messages, hidden from others for hide_s. None: RES_OK and 0. */
    res (*receive)(task *t, str name, bool plain, unsigned most, unsigned hide_s, queue_message_info **ret,
                   size_t *ret_count);
    /* Hidden for hide_s from now on; m gets its new receipt, which lives in the task's arena. */
    res (*hide)(task *t, str name, bool plain, queue_message_info *m, unsigned hide_s);
    res (*remove)(task *t, str name, bool plain, const queue_message_info *m);
    /* Moved to NAME-poison. */
    res (*poison)(task *t, str name, bool plain, const queue_message_info *m);
    res (*put)(task *t, str name, bool plain, str text);
} queue_source;

#endif
