/* config.h -- the command line, the environment and local.settings.json, read once into options.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_CONFIG_H
#define TRESTLE_APP_CONFIG_H

#include "app/bulk_import.h"
#include "app/store_copy.h"
#include "runtime/serve.h"
#include "storage/store.h"

typedef enum {
    COMMAND_SERVE,
    COMMAND_ROUTES,
    COMMAND_STORE,
    COMMAND_IMPORT,
    COMMAND_HELP,
    COMMAND_VERSION
} command;

typedef struct {
    command            command;
    serve_options      serve;
    store_options      store; /* serve, store */
    store_copy_options copy;  /* store */
    bulk_options       bulk;  /* import */
} config;

/* `a` lives as long as the process. RES_INVALID (command line, environment) or RES_CONFIG (a file) with one
 * line in `error` that says what is wrong and what would be right. */
res config_read(arena *a, int argc, char **argv, config *ret, char *error, size_t error_size);

#endif
