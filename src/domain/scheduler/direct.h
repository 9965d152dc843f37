/* direct.h -- one action of POST /api/direct: what it is called with, and how it is answered (specification
 * §6.5).
 *
 * An action is a row of the table in direct_http.c: its name, its members with their types, its function.
 * When the function is called the session, the members and the gate have passed. Its steps say false when
 * they have answered, as those of call.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_DIRECT_H
#define TRESTLE_DOMAIN_SCHEDULER_DIRECT_H

#include "domain/scheduler/appointments.h"
#include "domain/scheduler/events.h"
#include "domain/scheduler/members.h"

typedef struct direct_action direct_action;

typedef struct {
    call                 c; /* first: its `dress` finds the rest */
    membership           me;
    str                  group;
    const json_val      *action;
    const direct_action *row;
    str                  op; /* opId; empty: null */
} direct;

typedef res direct_fn(direct *d);

typedef enum {
    MEMBER_NO_MORE,      /* the end of a row's members */
    MEMBER_TEXT,         /* at least one character, at most `most` */
    MEMBER_TEXT_MAYBE,   /* may be absent or empty */
    MEMBER_DATE,         /* "2026-03-05" */
    MEMBER_TIME_MAYBE,   /* "10:30"; absent or empty: none */
    MEMBER_NUMBER,       /* whole, `least` to `most` */
    MEMBER_NUMBER_MAYBE, /* absent, null or an empty text: none */
    MEMBER_TEXTS,        /* a list of 1 to `most` texts */
    MEMBER_CHOICE        /* one of `choices` */
} member_kind;

typedef struct {
    const char        *name;
    member_kind        kind;
    int                least, most;
    const char *const *choices; /* NULL at the end */
} direct_member;

enum { DIRECT_MEMBERS_MAX = 6, DIRECT_ID_MAX = 200, DIRECT_TEXT_MAX = 4000, DIRECT_LIST_MAX = 100 };

struct direct_action {
    const char   *type;
    direct_fn    *run;
    bool          logs; /* appends events: a conflict is `state_changed` */
    direct_member members[DIRECT_MEMBERS_MAX];
};

/* RES_INVALID with *ret_why, in the words of the answer, for the first member that is not as the row wants.
 */
res direct_check(arena *a, const direct_action *row, const json_val *action, str *ret_why) MUST_USE;

/* ---- what was sent ---- */

str     direct_text(const direct *d, const char *name); /* trimmed; empty: none */
int64_t direct_number(const direct *d, const char *name, int64_t otherwise);
actor   direct_actor(direct *d);
str     direct_email(const direct *d); /* the caller's */
/* By the action's appointmentId; 404 appointment_not_found. */
bool    direct_appointment(direct *d, appointment *ret);
/* By the action's code, live ones alone; rejected with "Not found: X" or "Ambiguous code: X". */
bool    direct_by_code(direct *d, appointment *ret);

/* ---- answers ---- */

res  direct_answer(direct *d, json *body);                             /* 200 */
res  direct_snapshot(direct *d);                                       /* 200 {ok:true,snapshot} */
res  direct_reject(direct *d, const char *fmt, ...) PRINTF_LIKE(2, 3); /* 200 {ok:false,message,snapshot} */
/* As call_went; RES_CONFLICT and RES_PRECONDITION are 409. */
bool direct_went(direct *d, res r);

/* ---- changes of an appointment ---- */

typedef struct {
    appointment_change change;
    json              *more;        /* change.more, to be filled; then set SET_MORE */
    const json_val    *constraints; /* as they will be; NULL: as they are */
} direct_edit;

/* Builds the change from the appointment as it is now; called anew when somebody else was faster. False: it
 * has answered. */
typedef bool direct_change_fn(direct *d, const appointment *now, void *ctx, direct_edit *e);
/* Finds the appointment: direct_appointment, or a function of the caller's. */
typedef bool direct_find_fn(direct *d, appointment *ret);
/* Finds, changes, and keeps `reconciliation` true; *ret_before and *ret (may be NULL) are the appointment
 * before and afterwards. */
bool direct_change(direct *d, direct_find_fn *find, direct_change_fn *fn, void *ctx, appointment *ret_before,
                   appointment *ret);

/* ---- events ---- */

log_event direct_event(const direct *d, const char *type, json *payload); /* by the caller */
log_event direct_said(const direct *d, str text);                         /* SYSTEM_CONFIRMATION */
/* Adds a RECONCILIATION_CHANGED and its confirmation when the two differ there; the new count. */
size_t    direct_reconciled(const direct *d, const appointment *before, const appointment *after,
                            log_event *list, size_t count);
/* *ret: as stored; an empty list when they had been appended before. */
bool      direct_append(direct *d, str id, log_event *list, size_t count, json **ret);
/* Of the calls on one appointment that look at its events before they append, one at a time in this process,
 * until the request ends. */
bool      direct_alone(direct *d, const char *what, str id);
str       direct_new_id(arena *a);
/* nextCursor: {chunkId, index} of the last event of the page; null at the start of history. */
void      direct_set_cursor(json *body, const events_page *page);

/* The time zone of an appointment's document, else the app's. */
const zone *direct_zone_of(const appointment *p);
const zone *direct_app_zone(void);

/* ---- the functions of the table ---- */

/* direct_edit.c */
direct_fn direct_create_blank, direct_list, direct_set_date, direct_set_start_time, direct_set_duration,
    direct_set_location, direct_set_notes, direct_set_desc, direct_reschedule, direct_delete, direct_restore,
    direct_seed_samples;
/* direct_detail.c */
direct_fn direct_detail;
/* direct_message.c */
direct_fn direct_append_message, direct_apply_proposal, direct_edit_proposal, direct_pause_proposal,
    direct_resume_proposal, direct_dismiss_proposal;
/* direct_constraints.c */
direct_fn direct_add_constraint, direct_edit_constraint, direct_remove_constraint;
/* direct_suggestions.c */
direct_fn direct_create_suggestion, direct_dismiss_suggestion, direct_react_suggestion,
    direct_apply_suggestion;
/* direct_notify.c */
direct_fn direct_preview_update, direct_send_update, direct_list_notifications;
/* direct_reminders.c */
direct_fn direct_create_reminder, direct_cancel_reminder;
/* direct_time.c */
direct_fn direct_resolve_time;
/* direct_people.c */
direct_fn direct_create_person, direct_update_person, direct_delete_person, direct_reactivate_person;

#endif
