/* chat_memory.h -- what a conversation is about, in this process alone (specification §6.1).
 *
 * A conversation is a person's session in a group. Many are kept at once, the one that was silent for longest
 * gives way; a restart forgets all of them. Texts that are given are copied.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_CHAT_MEMORY_H
#define TRESTLE_DOMAIN_SCHEDULER_CHAT_MEMORY_H

#include "core/hash.h"
#include "core/json.h"

typedef struct {
    sha256_digest at;
} chat_key;

enum { CHAT_PROPOSAL_MAX = 64 * KIB, CHAT_PROPOSAL_MINUTES = 10 };

chat_key chat_key_of(arena *a, str group, str session);

/* What waits for a yes or a no, as JSON; at most CHAT_PROPOSAL_MAX. False: no memory, or too long. */
bool chat_propose(const chat_key *k, str proposal) MUST_USE;
/* Empty: there is none, or it is older than CHAT_PROPOSAL_MINUTES. */
str  chat_proposal(arena *a, const chat_key *k);
/* The same, and it is gone: of two who confirm, one does. */
str  chat_take_proposal(arena *a, const chat_key *k);

void chat_speak_as(const chat_key *k, str person_id);
str  chat_speaks_as(arena *a, const chat_key *k); /* empty: as themselves */

/* What was said: cut at 2,000 bytes each, the oldest forgotten first. Failures are forgetfulness. */
void  chat_note(const chat_key *k, bool by_person, str text);
/* [{role, text}], oldest first. */
json *chat_history(arena *a, const chat_key *k);

void chat_forget_for_test(void);

#endif
