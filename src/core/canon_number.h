/* canon_number.h -- of the canonicaliser: a number's text, from its text. Private to canon*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_NUMBER_H
#define TRESTLE_SRC_CORE_CANON_NUMBER_H

#include "core/canon.h"

/* What JSON.stringify(JSON.parse(text)) would give. `text` must be a number by JSON's grammar. */
str canon_number_rewrite(str text, char out[CANON_NUMBER_SIZE]);

/* The double nearest to such a text; infinite when it overflows. No locale has a say in it. */
double canon_number_parse(str text);

#endif
