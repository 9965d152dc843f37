/* config.h -- the command line and the environment, read once into serve_options.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_CONFIG_H
#define TRESTLE_APP_CONFIG_H

#include "runtime/serve.h"

typedef enum { COMMAND_SERVE, COMMAND_ROUTES, COMMAND_HELP, COMMAND_VERSION } command;

typedef struct {
    command       command;
    serve_options serve;
    const char   *storage; /* --storage: "embedded", "azure"; NULL: not said */
    const char   *data;    /* --data */
} config;

/* False with one line in `error` that says what is wrong and what would be right. */
bool config_read(int argc, char **argv, config *ret, char *error, size_t error_size);

#endif
