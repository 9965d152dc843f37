/* facts.h -- the few things about a record that aggregates and derived documents count (specification §11).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_FACTS_H
#define TRESTLE_DOMAIN_ACTIONS_FACTS_H

#include "core/json.h"

typedef struct {
    str  type;     /* actionType.actionType, or actionType itself when it is a string; empty: none */
    bool verified; /* true, and nothing that merely looks like it */
    bool archived, disabled; /* of repoInfo, likewise */
    bool with_ossf;          /* ossf is true, or there is a score */
} facts;

facts facts_of(const json_val *payload);
/* RES_INVALID: not a JSON object. */
res   facts_read(arena *a, str payload, facts *ret) MUST_USE;

/* §3: openssf_score, else ossfScore, else ossf_score: the first that is neither absent nor null; as a number.
 * False: none, or not a finite number. */
bool facts_score(const json_val *payload, double *ret);

#endif
