/* cors.h -- cross-origin rules of standalone mode, as `func start` applies local.settings.json's Host.CORS.
 *
 * Under the Functions host the platform does this in front of us, and nothing here is called.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_CORS_H
#define TRESTLE_RUNTIME_CORS_H

#include "runtime/functions.h"
#include "runtime/http_server.h"

/* A preflight is OPTIONS with Origin and Access-Control-Request-Method: answered here, 204, when CORS is
 * configured. */
bool cors_is_preflight(const host_settings *h, const http_exchange *x);
void cors_answer_preflight(const host_settings *h, http_exchange *x);

enum { CORS_HEADERS_MAX = 3 };
/* The headers that an answer gets (0 … 3) for the request's Origin. */
size_t cors_headers(const host_settings *h, const http_exchange *x, http_header out[CORS_HEADERS_MAX]);

#endif
