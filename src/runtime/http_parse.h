/* http_parse.h -- one HTTP/1.x request out of bytes, however they were cut into pieces. No sockets here.
 *
 *     http_parse_init(&p, x, &limits);
 *     for (each piece) step = http_parse(&p, piece, &used);
 *
 * What must stay true: the outcome depends on the bytes alone, not on where they were cut (the fuzz target
 * holds it to that); a request that two readers could frame in two ways is HTTP_PARSE_BAD.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HTTP_PARSE_H
#define TRESTLE_RUNTIME_HTTP_PARSE_H

#include <llhttp.h>

#include "core/buf.h"
#include "runtime/http_server.h"

enum {
    HTTP_TARGET_MAX = 16 * KIB,
    HTTP_BODY_IN_ARENA = 16 * KIB, /* a longer body is on the heap, and only freed by the arena */
};

typedef enum {
    HTTP_PARSE_MORE, /* all of the piece was used, or a part of it; go on with the rest or the next one */
    HTTP_PARSE_HEAD, /* the head is complete; if `done`, no body follows and so is the request */
    HTTP_PARSE_DONE, /* the body is complete */
    HTTP_PARSE_BAD,  /* status and message say why; nothing after this byte can be trusted */
} http_parse_step;

typedef struct {
    size_t head_bytes_max; /* request line and fields */
    size_t header_count_max;
} http_parse_limits;

typedef struct {
    http_exchange    *x; /* filled in: method, target, path, query, headers, body; body_max is respected */
    http_parse_limits limits;

    /* valid from HTTP_PARSE_HEAD on */
    uint64_t content_length;
    bool     chunked, keep_alive, http10, expects_continue;
    bool     done;

    /* valid with HTTP_PARSE_BAD */
    int         status;
    const char *message;

    bool discard; /* set by the owner: the rest of the body is read, but not kept */

    /* the parser's own */
    llhttp_t ll;
    buf      head; /* the raw head, in the arena; all views of the exchange look into it */
    buf      body; /* on the heap, unless the body came in one piece; the arena frees it */
    size_t   header_cap;
    size_t   target_pos;
    size_t   piece_end; /* offset in `head` where the latest name or value ended */
    bool     in_value, line_done, head_done;
    str      in;               /* the piece being parsed */
    uint64_t in_pos, data_end; /* of the body as sent: where `in` begins, where its latest data ended */
    uint64_t body_bytes;
} http_parser;

void            http_parse_init(http_parser *p, http_exchange *x, const http_parse_limits *limits);
http_parse_step http_parse(http_parser *p, str in, size_t *ret_used) MUST_USE;

#endif
