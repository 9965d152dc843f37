/* record_text.h -- the canonical text of a record: found in it what matters, spelled anew what must be
 * (specification §5.1, §5.2). Private to record*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_RECORD_TEXT_H
#define TRESTLE_DOMAIN_ACTIONS_RECORD_TEXT_H

#include "core/arena.h"
#include "core/res.h"

typedef enum { FIELD_ABSENT /* or null */, FIELD_TEXT, FIELD_NUMBER, FIELD_OTHER } field_kind;

typedef struct {
    field_kind kind;
    str        raw; /* of a text: what stands between the quotes, trimmed, with its escapes */
} record_field;

typedef struct {
    str          text; /* the canonical one itself, unless something had to be spelled anew */
    record_field owner, name;
    size_t       depth; /* of the deepest container; the record itself is 1 */
} record_text;

/* canonical: an object, as canon_json gives it. RES_MEMORY only where arena_alloc may return NULL. */
res record_text_read(arena *a, str canonical, bool timestamps, record_text *ret) MUST_USE;

/* How deep a text is nested, which need not be JSON from its beginning to its end. */
size_t record_text_depth(str text);

/* The bytes of the blank (of JavaScript's trim) that begins there, at most `left`; 0: none. */
size_t record_white(const char *p, size_t left);

#endif
