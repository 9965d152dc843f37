/* auth.h -- who is calling: e-mail addresses as keys, sessions in blobs, signed links (specification
 * "scheduler", section 1).
 *
 * A session id is a bearer secret. It is in no log and no error; whoever must name one says its first eight
 * characters (auth_short_id).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_AUTH_H
#define TRESTLE_DOMAIN_AUTH_H

#include "core/hash.h"
#include "runtime/http.h"

/* ---- addresses ---- */

enum { AUTH_EMAIL_MAX = 254 }; /* bytes; RFC 5321 knows no longer one */

str  auth_email(arena *a, str text);  /* trimmed, lower case (ASCII) */
bool auth_email_plausible(str email); /* of a normalised one */
/* The address's stand-in wherever a key is wanted: hexadecimal SHA-256. */
void auth_user_key(str email, char ret[SHA256_HEX + 1]);

/* ---- sessions ---- */

typedef enum {
    SESSION_FULL,
    SESSION_PROVISIONAL, /* still read, no longer made */
    SESSION_GRACE        /* a guest at the table, for one group; the address is not verified */
} session_kind;

typedef struct {
    str          id;
    str          email; /* normalised */
    str          sub;   /* the identity provider's subject, when the blob has one */
    session_kind kind;
    char         user_key[SHA256_HEX + 1];
    str          created_at, expires_at;
    str          scope_group, scope_ignite, scope_breakout; /* SESSION_GRACE; empty: none */
} session;

/* Why nobody is let in, in the words of the wire. code may be NULL. */
typedef struct {
    int         status; /* 401 or 403 */
    const char *error, *code, *message;
} auth_refusal;

/* By the header x-session-id, or by an id from elsewhere. RES_UNAUTHENTICATED with *why; RES_CONFIG; or what
 * storage said. A session that was seen in the last 60 s is taken from memory (of 8,192 at most; not after
 * its expiry). */
res auth_session(task *t, const request *in, session *ret, auth_refusal *why) MUST_USE;
res auth_session_by_id(task *t, str id, session *ret, auth_refusal *why) MUST_USE;

/* Makes one: of *s the e-mail, kind and scopes count; id, times and keys are filled in. */
res auth_session_create(task *t, session *s) MUST_USE;

bool auth_in_scope(const session *s, str group); /* full and provisional ones: always */
/* "auth:…" or "guest:…": the person in UserProfiles and AppointmentParticipants. A guest's holds the session
 * id: it is never shown to anybody else. */
str  auth_member_key(arena *a, const session *s);
str  auth_member_key_of(arena *a, str user_key); /* of somebody who has signed in, or never has yet */
str  auth_short_id(str id);

/* ---- signed links ---- */

enum { AUTH_TOKEN_SECONDS = 900, AUTH_RETURN_TO_MAX = 200 };

typedef struct {
    str     email, return_to; /* return_to may be empty */
    int64_t issued_s, expires_s;
} auth_token;

str auth_token_make(arena *a, str secret, const auth_token *token);
/* RES_INVALID, or RES_TIMEOUT for one that has expired. */
res auth_token_read(arena *a, str secret, str text, int64_t now_s, auth_token *ret) MUST_USE;

void auth_forget_for_test(void); /* sessions in memory, and settings */

#endif
