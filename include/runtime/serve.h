/* serve.h -- runs an app until it is told to stop: the whole of the runtime behind one call.
 *
 * Two modes. Under the Functions host: the host routes, checks keys, runs timers and reads queues, and calls
 * us for each. Standalone: we do that ourselves, so that the app runs by one command and in any container.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_SERVE_H
#define TRESTLE_RUNTIME_SERVE_H

#include "runtime/functions.h"
#include "runtime/queue_source.h"

enum { SERVE_PORT_UNSAID = -1 };

/* What the app keeps open while it serves; the runtime does not know what that is. */
typedef struct {
    /* The loop is open, nothing listens yet: connects to nothing, for the host takes an open port as
     * readiness. *ret_name is for the banner: "embedded in .trestle". Else one line in *ret_error, and the
     * program ends with exit code 1. `a` lives as long as the program serves. */
    res (*open)(void *ctx, arena *a, str *ret_name, str *ret_error);
    void (*started)(void *ctx); /* it listens: for work in the background; NULL: none */
    void (*close)(void *ctx);   /* every call has ended */
    void *ctx;
} serve_store;

typedef struct {
    const char         *root;       /* the folder of host.json */
    const char         *listen;     /* address */
    int                 port;       /* 0: chosen by the kernel */
    bool                under_host; /* else standalone */
    const handler      *rows;
    size_t              row_count;
    const error_shape  *shapes; /* of failures, by path */
    size_t              shape_count;
    const char         *version;
    serve_store         store;
    const queue_source *queues; /* standalone: for queue functions and outputs; NULL: none */
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
