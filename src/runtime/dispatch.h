/* dispatch.h -- from a head of HTTP to the handler that serves it, and from what the handler says to an
 * answer.
 *
 * Three ways in (spec 5.1), told apart by method, path and mode:
 *     GET /                          the host's readiness ping: answered at once, never counted
 *     POST /NAME                     a JSON call: a function that the host does not forward; its payload is
 * an envelope METHOD /prefix/route           forwarded, proxied, or direct: plain HTTP An outside caller can
 * reach POST /NAME only when the route prefix is empty; then a route that matches wins.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_DISPATCH_H
#define TRESTLE_RUNTIME_DISPATCH_H

#include "runtime/exchange.h"
#include "runtime/serve.h"

typedef struct {
    arena               *a; /* lives as long as the app */
    const function_app  *app;
    const serve_options *o;
    struct queue_runner *queues; /* standalone: told of messages that functions send; NULL: none */
} dispatcher;

http_app dispatch_app(dispatcher *d);

/* One line at start for each function that can be taken for another: "…", or the empty str. */
str dispatch_ambiguity(arena *a, const function_app *app);

/* Runs a function, also on a request that did not come over HTTP (a standalone timer or queue message). In
 * standalone mode the messages for its output bindings are sent too, and the run has failed when one is not.
 * A failure is logged here. */
res dispatch_run(task *t, const dispatcher *d, const function *fn, const request *in, reply *out);

/* Counts a run that did not come over HTTP, as one that was answered 200 or 500. */
void dispatch_count(const dispatcher *d, const function *fn, res result, uint64_t took_us);

#endif
