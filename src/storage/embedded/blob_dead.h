/* blob_dead.h -- contents that no blob has any more, removed bit by bit.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_BLOB_DEAD_H
#define TRESTLE_STORAGE_EMBEDDED_BLOB_DEAD_H

#include "storage/embedded/engine.h"

/* All in the writer. The parts of a generation, or all blobs of a container that lost its name, may go. */
res blob_dead_add(engine_conn *c, int64_t generation, engine_outcome *out) MUST_USE;
res blob_dead_add_container(engine_conn *c, int64_t id, engine_outcome *out) MUST_USE;

/* Whoever stores bytes removes twice as many dead ones, and one part at least: the dead never pile up. */
res blob_dead_collect_for(engine_conn *c, size_t stored_bytes, engine_outcome *out) MUST_USE;

#endif
