/* service.h -- what every instance says of itself: is it up, and what has it counted.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SERVICE_H
#define TRESTLE_DOMAIN_SERVICE_H

#include "runtime/http.h"

handler_fn service_health; /* GET /api/health -> {"ok":true,"time":"…","version":"…"}; touches nothing else */
handler_fn service_metrics; /* GET /api/metrics -> Prometheus text */
handler_fn service_openapi; /* GET /api/openapi.json -> the file of that name */

/* What health calls itself: BUILD_SHA of the environment, else the version of the build. Set once at start.
 */
void service_set_version(const char *version);

#endif
