/* copy_parts.h -- the six halves of `trestle store`: each part of a store to its files, and back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_COPY_PARTS_H
#define TRESTLE_APP_COPY_PARTS_H

#include "app/copy_state.h"

typedef res copy_part_fn(task *t, copy_run *run);

copy_part_fn export_tables, export_blobs, export_queues;
copy_part_fn import_tables, import_blobs, import_queues;

#endif
