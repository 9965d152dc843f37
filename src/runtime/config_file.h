/* config_file.h -- reads one small JSON file of the app's root, and says clearly what is wrong with it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_CONFIG_FILE_H
#define TRESTLE_RUNTIME_CONFIG_FILE_H

#include "core/arena.h"
#include "core/json.h"
#include "core/res.h"

enum { CONFIG_FILE_MAX = 1 * MIB };

/* root/name must be one JSON object; a byte-order mark is skipped, as editors on Windows write it.
 * RES_NOT_FOUND, with *ret_error too, when there is no such file; RES_CONFIG: "host.json: line 3, column 5:
 * …". */
res config_file_read(arena *a, const char *root, const char *name, const json_val **ret,
                     str *ret_error) MUST_USE;

/* Sets *ret_error to one line, and returns RES_CONFIG; or RES_MEMORY, when there is no room for the line. */
res config_error(arena *a, str *ret_error, const char *fmt, ...) PRINTF_LIKE(3, 4) MUST_USE;
res config_no_memory(str *ret_error) MUST_USE;

/* "true" and "1", "false" and "0", in any case. */
bool config_bool(str text, bool *ret) MUST_USE;

#endif
