/* error.h -- what a failing answer says, and what that means to callers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_ERROR_H
#define TRESTLE_STORAGE_AZURE_ERROR_H

#include "storage/azure/azure.h"

/* Code and first line of the message, from JSON, XML or x-ms-error-code, in this order; both may be empty. */
void error_read(arena *a, const fetch_answer *got, str *ret_code, str *ret_message);

/* By the code, and else by the status; RES_OK below 400, and for 304. */
res error_result(int status, str code);

#endif
