/* host_json.h -- host.json, the settings of the environment that override it, and the Host section of
 * local.settings.json, to host_settings.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HOST_JSON_H
#define TRESTLE_RUNTIME_HOST_JSON_H

#include "runtime/functions.h"

/* RES_CONFIG with *ret_error: "host.json: 'functionTimeout' is not a TimeSpan". */
res host_json_read(arena *a, const char *root, host_settings *ret, str *ret_error) MUST_USE;

#endif
