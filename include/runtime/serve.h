/* serve.h -- runs an app until it is told to stop: the whole of the runtime behind one call.
 *
 * Two modes. Under the Functions host: the host routes, checks keys, runs timers and reads queues, and calls
 * us for each. Standalone: we do that ourselves, so that the app runs by one command and in any container.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_SERVE_H
#define TRESTLE_RUNTIME_SERVE_H

#include "runtime/functions.h"

enum { SERVE_PORT_UNSAID = -1 };

typedef struct {
    const char    *root;       /* the folder of host.json */
    const char    *listen;     /* address */
    int            port;       /* 0: chosen by the kernel */
    bool           under_host; /* else standalone */
    const handler *rows;
    size_t         row_count;
    const char    *version;
    const char    *storage; /* for the banner: "embedded in .trestle" */
    str  function_key; /* standalone: opens functions of level function and admin; empty: they are open to all
                        */
    bool access_log;   /* one line a request */
    size_t   tasks_max, connections_max; /* 0: the defaults */
    uint64_t head_ms;                    /* time for a request's head; 0: the default */
    uint64_t drain_ms;                   /* how long calls under way may take after SIGTERM */
} serve_options;

int serve_port(const serve_options *o, const function_app *functions); /* the one that it will listen on */

/* Returns the exit code: 0 only after SIGTERM or SIGINT, for the host takes 0 as "the app is done" and never
 * restarts it. */
int serve(const serve_options *o);

#endif
