/* app_inputs.h -- the test app's functions that the host calls with a JSON envelope.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_E2E_APP_INPUTS_H
#define TRESTLE_E2E_APP_INPUTS_H

#include "runtime/http.h"

handler_fn order, ret, onmsg, binmsg, blobin, quiet, tick;

json *seen_request(arena *a, const request *in); /* all that a handler can see of an HTTP request */

#endif
