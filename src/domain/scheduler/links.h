/* links.h -- addresses of the web page, for mails.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_LINKS_H
#define TRESTLE_DOMAIN_SCHEDULER_LINKS_H

#include "runtime/http.h"

/* "https://host", without a slash at the end: WEB_BASE_URL, else where the request came from (Origin), else
 * where it was sent to (X-Forwarded-Host). Empty: nobody says. */
str links_base(arena *a, const request *in);

str links_escape(arena *a, str text); /* as the value of a query's parameter */

#endif
