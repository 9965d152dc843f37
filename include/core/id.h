/* id.h -- random bytes from the kernel, and UUID version 4.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ID_H
#define TRESTLE_CORE_ID_H

#include "core/str.h"

enum { UUID_TEXT = 36 };

void id_random(void *ret, size_t bytes); /* aborts when the kernel gives none: never weak randomness */
str  id_uuid(char out[UUID_TEXT + 1]);   /* "6a1f0c3e-…", lower case, terminated */
bool id_is_uuid(str s);                  /* 8-4-4-4-12 hexadecimal digits, any case, any version */

#endif
