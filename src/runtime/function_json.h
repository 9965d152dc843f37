/* function_json.h -- one FOLDER/function.json to one function.
 *
 * What we use is checked strictly, and the complaint names file and member; what we do not know is ignored,
 * for bindings of other extensions have members of their own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FUNCTION_JSON_H
#define TRESTLE_RUNTIME_FUNCTION_JSON_H

#include "runtime/functions.h"

enum { FUNCTION_BINDINGS_MAX = 64, FUNCTION_METHODS_MAX = 32, FUNCTION_NAME_MAX = 128 };

/* RES_NOT_FOUND: the folder holds no function.json, so it is no function. RES_CONFIG: see *ret_error. */
res function_json_read(arena *a, const char *root, const char *folder, str route_prefix, function *ret,
                       str *ret_error) MUST_USE;

#endif
