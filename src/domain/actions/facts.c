/* facts.c -- see facts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/facts.h"

#include <math.h>

#include "domain/actions/row.h"

static str type_of(const json_val *v)
{
    return json_text(json_typeof(v) == JSON_OBJECT ? json_get(v, "actionType") : v, STR(""));
}

bool facts_score(const json_val *payload, double *ret)
{
    static const char *const names[] = {"openssf_score", "ossfScore", "ossf_score"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_val *v = json_get(payload, names[i]);
        if (json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL)
            continue;
        double score = json_double(v, NAN);
        if (!isfinite(score))
            return false;
        *ret = score;
        return true;
    }
    return false;
}

facts facts_of(const json_val *payload)
{
    const json_val *repo = json_get(payload, "repoInfo");
    double          score;
    return (facts){.type = type_of(json_get(payload, "actionType")),
                   .verified = json_truth(json_get(payload, "verified"), false),
                   .archived = json_truth(json_get(repo, "archived"), false),
                   .disabled = json_truth(json_get(repo, "disabled"), false),
                   .with_ossf = json_truth(json_get(payload, "ossf"), false) || facts_score(payload, &score)};
}

res facts_read(arena *a, str payload, facts *ret)
{
    const json_val *v;
    res             r = row_parse(a, payload, &v);
    if (r == RES_OK && json_typeof(v) != JSON_OBJECT)
        r = RES_UPSTREAM;
    if (r != RES_OK)
        return r == RES_UPSTREAM ? RES_INVALID : r;
    *ret = facts_of(v);
    return RES_OK;
}
