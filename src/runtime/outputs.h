/* outputs.h -- standalone mode: what a handler gave to its output bindings goes where the host would put it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_OUTPUTS_H
#define TRESTLE_RUNTIME_OUTPUTS_H

#include "runtime/dispatch.h"

/* All messages of the reply, in order; the first failure ends it, and is the run's. Messages that left before
 * stay: who tries again may send them twice, as under the host. */
res outputs_send(task *t, const dispatcher *d, const reply *out) MUST_USE;

#endif
