/* entity_name.h -- names of properties.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_ENTITY_NAME_H
#define TRESTLE_STORAGE_ENTITY_NAME_H

#include "core/str.h"

bool entity_name_is_identifier(str name); /* of well-formed UTF-8; however long */

#endif
