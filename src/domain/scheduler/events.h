/* events.h -- what happened to an appointment, in chunks of at most 200 events (specification §3.2).
 *
 * (The event store of the app, domain/events.h, is another thing.)
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_EVENTS_H
#define TRESTLE_DOMAIN_SCHEDULER_EVENTS_H

#include "core/json.h"
#include "runtime/task.h"

typedef struct {
    const char *type;  /* "USER_MESSAGE" */
    const char *actor; /* "HUMAN", "SYSTEM", "AGENT" */
    str         email; /* of the actor; may be empty */
    json       *payload;
    str         source, request_id, proposal_id; /* may be empty */
} log_event;

/* All of them or none, in order; ids and times are given here. When the newest chunk has an event of that
 * request_id (of the first), nothing is appended and *ret_repeated says so. *ret (may be NULL): as stored. */
res events_append(task *t, str group, str appointment, const log_event *list, size_t count, json **ret,
                  bool *ret_repeated) MUST_USE;

typedef struct {
    const json_val **at; /* newest first */
    size_t           count;
    unsigned         next_chunk; /* the cursor for what is older; 0: the start of history */
    unsigned         next_index;
} events_page;
/* chunk 0: from the newest. */
res events_read(task *t, str group, str appointment, unsigned chunk, unsigned index, unsigned limit,
                events_page *ret) MUST_USE;

#endif
