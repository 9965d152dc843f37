/* ignite.h -- the session behind a QR code at the table: open, joined by many, closed (specification §5).
 *
 * It is the member `ignite` of a group's state.json, one a group. It says who has scanned, never who belongs
 * to the group. What others have written into it stays.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_IGNITE_H
#define TRESTLE_DOMAIN_SCHEDULER_IGNITE_H

#include "domain/scheduler/call.h"
#include "domain/scheduler/image.h"
#include "domain/scheduler/state.h"

typedef enum { IGNITE_OPEN, IGNITE_CLOSING, IGNITE_CLOSED } ignite_status;

enum { IGNITE_JOINED_MAX = 500 };

typedef struct {
    const json_val *doc; /* NULL: there is none */
    str             session;
    bool            invites; /* tokenKind invite-member; else breakout */
    ignite_status   status;  /* now: one that was closing may be closed since */
    int64_t         grace_s;
    str             created_by, close_requested_at; /* may be empty */
    const str      *joined;                         /* person ids, each once */
    size_t          joined_count;
} ignite;

res ignite_read(task *t, str group, ignite *ret) MUST_USE;

bool        ignite_is(const ignite *i, str session); /* there is one, with that id */
bool        ignite_takes_photos(const ignite *i);    /* open, or still closing */
const char *ignite_status_name(ignite_status s);     /* "OPEN" */
const char *ignite_token_kind(const ignite *i);      /* "breakout" also when there is none */

void ignite_photo_times(const ignite *i, json *times); /* who sent a photo: when */

/* An open one with nobody in it, for state.json. */
json *ignite_new(arena *a, str created_by, bool invites, str *ret_session);

/* ---- changes: under the group's queue and the blob's ETag; RES_CONFLICT after four tries ---- */

typedef enum {
    IGNITE_DONE,
    IGNITE_OVER, /* no such session, or it takes none any more */
    IGNITE_FULL  /* IGNITE_JOINED_MAX have joined */
} ignite_outcome;

res ignite_start(task *t, str group, str created_by, bool invites, str *ret_session) MUST_USE;
res ignite_close(task *t, str group, str session, ignite_outcome *ret) MUST_USE;

/* Somebody has joined, or sent a photo, or both. */
typedef struct {
    str  session, person;
    bool joins, photo;
    str  now; /* the photo's time */
} ignite_note;
res ignite_add(task *t, str group, const ignite_note *n, ignite_outcome *ret) MUST_USE;

/* ---- what the handlers share ---- */

/* As call_went, but 409 state_changed for RES_CONFLICT. */
bool ignite_went(call *c, res r);

/* Judges what was sent as a photo; 400 invalid_photo, 413 ignite_photo_too_large. said_mime: empty, or the
 * type that was sent with it. */
bool ignite_photo_read(call *c, str base64, str said_mime, image *ret);
res  ignite_photo_put(task *t, str group, str session, str person, const image *photo) MUST_USE;

/* Mails a guest the link by which the address is verified, if mail is set up and the address has not had too
 * many: in the background, for no table waits for a mail service, and failures are but logged. */
void ignite_mail_link(str email, str group);

/* The first so many characters. */
str ignite_cut(str text, size_t characters);

#endif
