/* store.h -- which storage there is: an Azure account (or Azurite) over the wire, or one file on this disk.
 *
 * The process opens its stores once, at start; opening connects to nothing. A table, container or queue is
 * named together with the store it is in. Modules whose storage may be set apart have a store of their own,
 * which is STORE_MAIN unless their setting says otherwise.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_STORE_H
#define TRESTLE_STORAGE_STORE_H

#include "core/arena.h"
#include "runtime/task.h"

typedef enum {
    STORE_MAIN,
    STORE_ACTIONS, /* ACTIONS_TABLE_CONNECTION */
    STORE_EVENTS,  /* ES_STORAGE_CONNECTION */
    STORE_COUNT
} store_id;

typedef enum { STORE_NONE, STORE_AZURE, STORE_EMBEDDED } store_kind;

typedef struct {
    store_kind  kind;
    const char *data_dir; /* embedded */
    /* azure: each a connection string, or the name of an identity-based setting's group (spec 1.2) */
    str         tables, blobs, queues;
    str         actions, events; /* of the modules' own stores; empty: STORE_MAIN */
} store_options;

/* From --storage and --data (NULL: not said) and the environment. Embedded must be asked for by name under
 * the Functions host; a connection that stands only in local.settings.json does not choose azure in
 * standalone mode (`from_file` tells). STORE_NONE under the host without any setting: every call is then
 * RES_CONFIG. RES_CONFIG with one line in *ret_error. */
typedef bool store_from_file_fn(const char *name);
res          store_choose(arena *a, const char *storage, const char *data, bool under_host,
                          store_from_file_fn *from_file, store_options *ret, str *ret_error) MUST_USE;

/* RES_CONFIG or RES_UNAVAILABLE (the file is locked by another process) with one clear line. The loop must be
 * open. `a` lives as long as the process. */
res  store_open(arena *a, const store_options *o, str *ret_error) MUST_USE;
void store_close(void); /* all tasks have ended; what was acknowledged is on disk already */

bool store_is_set_up(store_id id); /* false: every call on it is RES_CONFIG */
str  store_describe(arena *a); /* for the banner: "embedded in .trestle", "azure: https://acct.table…" */
/* Where the tables of a store are: "https://acct.table.core.windows.net"; "embedded:" for those without a
 * URL. For headers and logs; it never holds a key. */
str  store_tables_url(store_id id);

#endif
