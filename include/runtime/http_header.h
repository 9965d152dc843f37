/* http_header.h -- a header line, and a list of them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HTTP_HEADER_H
#define TRESTLE_RUNTIME_HTTP_HEADER_H

#include "core/str.h"

typedef struct {
    str name, value;
} http_header;

/* The first of that name, any case; the empty str with a NULL pointer when there is none. */
str http_header_get(const http_header *list, size_t count, str name);

bool http_header_name_ok(str name); /* a token of RFC 9110 */
bool http_header_value_ok(
    str value); /* visible ASCII, blanks and tabs: nothing that could break a line or a peer */

/* Does If-None-Match name this tag? A list, W/ before a tag, or *. etag has its quotes. */
bool http_etag_matches(str if_none_match, str etag);

/* Does Accept-Encoding let a body be sent in this coding? Without the header: no. */
bool http_accepts(str accept_encoding, str coding);

#endif
