/* members.h -- who belongs to a group: GroupMembers decides, UserGroups lists (specification §2.2, §2.3,
 * §7.1).
 *
 * Both rows say the same. GroupMembers is written first; a UserGroups row that is missing or differs is
 * rewritten by the next join, decline or invitation. To clear a column the row is replaced, never merged.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_MEMBERS_H
#define TRESTLE_DOMAIN_SCHEDULER_MEMBERS_H

#include "core/json.h"
#include "domain/scheduler/call.h"
#include "domain/scheduler/groups.h"

typedef enum { MEMBER_NONE, MEMBER_ACTIVE, MEMBER_INVITED, MEMBER_REMOVED } member_status;

typedef struct {
    entity        row; /* of GroupMembers, as stored */
    member_status status;
    str           group, user_key, email, member_key;
    str           invited_at, joined_at, removed_at, updated_at, last_seen; /* empty: none */
    bool          guest, verified;
    str           mail_status, mail_attempt_at, mail_reason, mail_said; /* of the invitation */
} member;

const char *member_status_name(member_status s);

res member_read(task *t, str group, str user_key, member *ret) MUST_USE; /* RES_NOT_FOUND */
/* Active and invited ones, by e-mail. */
res members_list(task *t, str group, member **ret, size_t *ret_count) MUST_USE;

enum { USER_GROUPS_PAGE = 200 };
/* One partition query over UserGroups, every page: active and invited ones. */
typedef struct {
    str           group;
    member_status status;
    str           invited_at, joined_at, removed_at, updated_at;
} user_group;
res user_groups_list(task *t, str user_key, user_group **ret, size_t *ret_count) MUST_USE;

/* ---- transitions (§7.1): both rows, counters, profile ---- */

typedef struct {
    str  group, email;
    char user_key[SHA256_HEX + 1];
    str  member_key;   /* empty: auth:<user_key> */
    bool guest;        /* memberKind guest, emailVerified false */
    str  display_name; /* for the profile, if it has none; may be empty */
} member_who;

void member_who_of(arena *a, const auth_user *s, str group, member_who *ret);

typedef enum {
    JOIN_IF_INVITED, /* nobody else: RES_DENIED */
    JOIN_OR_CREATE,  /* who has no row gets one; who was removed: RES_DENIED */
    JOIN_CLAIM       /* likewise, and who is in as a guest is a full member from now on */
} join_rule;
/* Active afterwards; *ret_was (may be NULL) is what it was before. invitesAccepted is counted once. */
res member_join(task *t, const member_who *who, join_rule rule, member *ret, member_status *ret_was) MUST_USE;
/* Invited afterwards, unless active already (nothing is written, *ret_was says so). keep_first: the first
 * invitedAt stays. invitesSent is counted. */
res member_invite(task *t, const member_who *who, bool keep_first, member *ret,
                  member_status *ret_was) MUST_USE;
/* Removed afterwards: leaving, declining, being taken off the roster. RES_NOT_FOUND unless both rows are
 * there. */
res member_remove(task *t, str group, str user_key, member *ret) MUST_USE;
/* What became of the invitation's mail, in both rows; failures are logged. */
void member_note_mail(task *t, str group, str user_key, const char *status, const char *reason, str said);

/* That the member was here now, in both rows; failures are logged. */
void member_note_seen(task *t, const member *m);

/* A new group with this person as its first member; *ignite (NULL: none) is put into its state.json. */
res group_found(task *t, const auth_user *by, str name, const json *ignite, group_row *ret) MUST_USE;

/* ---- the gate ---- */

enum {
    ADMIT_ACTIVE = 1 << MEMBER_ACTIVE,
    ADMIT_INVITED = 1 << MEMBER_INVITED,
    ADMIT_REMOVED = 1 << MEMBER_REMOVED
};

typedef struct {
    group_row g;
    member    m;
} membership;

/* §0's order behind the session: scope (403 AUTH_SESSION_SCOPE_VIOLATION), tables ready, the group (404
 * group_not_found, also when it is deleted), the member's row (403 not_allowed). Two point reads. Notes that
 * the member was seen, at most once a minute; that never fails the call. Blobs decide nothing. */
bool gate_pass(call *c, str group, unsigned admitted, membership *ret);
/* The same for restore and delete: deleted groups are let through. */
bool gate_pass_deleted(call *c, str group, unsigned admitted, membership *ret);

#endif
