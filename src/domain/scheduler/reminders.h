/* reminders.h -- which reminders fall due in a minute: one blob each (specification §3, §6.6).
 *
 *     {prefix}/2026-03-05T1030.json   [{reminderId, groupId, appointmentId, dueAtIso}]
 *
 * The event log says whether a reminder still holds; what stands here alone is never sent.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_REMINDERS_H
#define TRESTLE_DOMAIN_SCHEDULER_REMINDERS_H

#include "core/json.h"
#include "runtime/task.h"

typedef struct {
    str id, group, appointment, due_at;
} reminder_entry;

res reminders_due(task *t, int64_t minute_us, reminder_entry **ret, size_t *ret_count) MUST_USE;
/* Both by ETag, again when others were faster; RES_CONFLICT in the end. */
res reminders_put(task *t, int64_t minute_us, const reminder_entry *e) MUST_USE;
res reminders_drop(task *t, int64_t minute_us, str id) MUST_USE; /* also when it is not there */

int64_t reminders_minute(int64_t us); /* the start of that minute */

#endif
