/* app_storage.h -- the test app's functions that use the store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_E2E_APP_STORAGE_H
#define TRESTLE_E2E_APP_STORAGE_H

#include "runtime/http.h"

handler_fn enqueue, onwork, ondone, onpoison, rawput; /* queues, by bindings */
handler_fn fill, listing;                             /* something of everything, and what there is */

#endif
