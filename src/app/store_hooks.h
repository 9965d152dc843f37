/* store_hooks.h -- the storage as the runtime sees it: something to open and close, and queues.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_STORE_HOOKS_H
#define TRESTLE_APP_STORE_HOOKS_H

#include "runtime/serve.h"
#include "storage/store.h"

serve_store               store_hooks(const store_options *o); /* o outlives it */
extern const queue_source store_queues;                        /* those of STORE_MAIN */

#endif
