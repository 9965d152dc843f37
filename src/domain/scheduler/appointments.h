/* appointments.h -- appointments: the document in a blob, its row in the index, its participants
 * (specification §2.4, §2.9, §3.1).
 *
 * An appointment exists when its index row is live and its document is there; state.json has no say. A write
 * is the document (by ETag) and then the index row; when the time has moved, one transaction moves the row. A
 * crash between the two leaves an older index row, which the next write mends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_APPOINTMENTS_H
#define TRESTLE_DOMAIN_SCHEDULER_APPOINTMENTS_H

#include "domain/scheduler/when.h"
#include "storage/tables.h"

typedef struct {
    entity          index; /* the live row */
    const json_val *doc;   /* as stored */
    str             etag;  /* the document's */
    str             group, id, code, title;
    when            time;
    bool            deleted;
} appointment;

enum { APPOINTMENTS_LISTED_MAX = 5000, TITLE_MAX = 160, LOCATION_MAX = 300, NOTES_MAX = 500 };

/* ---- reading ---- */

/* RES_NOT_FOUND: no live row, or no document. with_deleted: a deleted one is found, too. */
res appointment_read(task *t, str group, str id, bool with_deleted, appointment *ret) MUST_USE;
/* "APPT-3" (any case, "appt 3" too). RES_CONFLICT: more than one has it. */
res appointment_by_code(task *t, str group, str code, bool with_deleted, appointment *ret) MUST_USE;
/* Live ones, newest change first; documents read in parallel, rows without one are skipped with a warning. */
res appointments_list(task *t, str group, appointment **ret, size_t *ret_count, bool *ret_truncated) MUST_USE;

/* ---- writing ---- */

/* The fields that a change sets; those whose `set` bit is missing stay. */
typedef struct {
    unsigned    set; /* SET_… */
    str         title, location, notes, start_zone;
    when        time;
    const str  *people; /* person ids */
    size_t      people_count;
    str         scan_status, scan_key, scan_mime, scan_captured_at;
    const json *more;     /* members of the document that other modules own (constraints, suggestions, …) */
    str         if_match; /* only of this version of the document, else RES_CONFLICT; empty: of any */
} appointment_change;
enum {
    SET_TITLE = 1,
    SET_TIME = 2,
    SET_LOCATION = 4,
    SET_NOTES = 8,
    SET_PEOPLE = 16,
    SET_SCAN = 32,
    SET_MORE = 64
};

typedef struct {
    str user_key, member_key; /* who does it */
} actor;

/* A new one, with the next code of the group (never reused); newAppointments is counted, the creator is its
 * organizer. id: empty for one of the usual form. */
res appointment_create(task *t, str group, str id, const appointment_change *first, const actor *by,
                       appointment *ret) MUST_USE;
/* Document and index, by ETag, up to four times. */
res appointment_update(task *t, str group, str id, const appointment_change *change, const actor *by,
                       appointment *ret) MUST_USE;
/* Soft (§7.2); *ret_was: it was so already. */
res appointment_delete(task *t, str group, str id, const actor *by, bool *ret_was) MUST_USE;
res appointment_restore(task *t, str group, str id, const actor *by, bool *ret_was) MUST_USE;

/* ---- as callers see them ---- */

json *appointment_item(arena *a, const appointment *p, const str *people_names); /* of a snapshot */
/* {appointments, rules, historyCount}: from index, documents and profiles; rules from state.json. */
res   appointments_snapshot(task *t, str group, json **ret) MUST_USE;

/* "YYYYMMDDHHmmssZ|id" */
str appointment_row_key(arena *a, const when *time, str id, int64_t created_us);

typedef struct {
    str member_key, status, role, assigned_at, assigned_by;
} participant;
res participants_read(task *t, str group, str id, participant **ret, size_t *ret_count) MUST_USE;

#endif
