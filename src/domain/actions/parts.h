/* parts.h -- where the members of an object, or the elements of an array, stand in a JSON text.
 *
 * For texts that are passed on as they stand, in part: the snapshot's items, the catalogue of versions
 * without its date. It finds boundaries and checks no more than that; what is inside is json_parse's
 * business.
 *
 *     for (parts p = parts_of(text); parts_next(&p, &one);)  …one.key, one.value…
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_PARTS_H
#define TRESTLE_DOMAIN_ACTIONS_PARTS_H

#include "core/str.h"

typedef struct {
    str  left; /* the walk's own: what comes after the last part */
    char closing;
    bool first;
    bool damaged; /* after the walk: the text is cut, or no JSON; what was found so far stands */
} parts;

typedef struct {
    str key;   /* between its quotes, still escaped; of elements: empty */
    str value; /* without blanks around it */
    str whole; /* from the key's quote, if there is one, to the value's end */
} part;

parts parts_of(str text);
bool  parts_next(parts *p, part *ret);

/* The last member of that name. False: none, or the text is no object or damaged. */
bool parts_member(str object, str key, part *ret);

#endif
