/* name_list.h -- pages of names: the containers, or the queues, that begin with a prefix.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_NAME_LIST_H
#define TRESTLE_STORAGE_EMBEDDED_NAME_LIST_H

#include "storage/backend.h"
#include "storage/embedded/engine.h"

/* `sql` is a literal that selects names >= ?1, in their order, at most ?2. */
res name_list_read(task *t, engine *e, const char *sql, str prefix, unsigned most, str position,
                   name_page *ret) MUST_USE;

#endif
