/* wire.h -- a scripted HTTP server on loopback, for what real services never do when a test needs it.
 *
 *     wire *w = wire_start((wire_answer[]){{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
 *                                          {.bytes = "HTTP/1.1 20", .then = WIRE_RESET}}, 2, NULL);
 *     … wire_url(w, "/path") …
 *     ck_assert_uint_eq(wire_connections(w), 1);
 *     wire_stop(w);
 *
 * The n-th request that arrives, on whatever connection, gets the n-th answer; the last one repeats. Or a
 * function chooses the answer to each. Everything that came in is recorded. The server has threads of its own
 * (one that accepts, one a connection), so it serves while the test's thread runs the loop. Failures to set
 * it up end the test by ck_abort.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_WIRE_H
#define TRESTLE_TESTS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

typedef struct wire     wire;
typedef struct wire_tls wire_tls;

typedef enum {
    WIRE_KEEP,  /* reads the next request */
    WIRE_CLOSE, /* closes in order: FIN, and over TLS close_notify */
    WIRE_RESET, /* RST */
    WIRE_HANG,  /* says nothing more and reads nothing more, until the peer or wire_stop ends it */
} wire_then;

typedef struct {
    const char *bytes;      /* sent as they are; NULL: none */
    size_t      len;        /* 0: up to the terminator */
    unsigned    delay_ms;   /* before the first byte */
    size_t      drip_bytes; /* at most so many bytes in one write; 0: all at once */
    unsigned    drip_ms;    /* between two writes */
    unsigned    fill_ms;    /* then such a pause, */
    uint64_t    fill_bytes; /* and so many 'x' */
    wire_then   then;
    unsigned    then_ms; /* before that; a reset may overtake bytes that the peer has not read */
} wire_answer;

/* One request as it came. Valid until wire_stop. */
typedef struct {
    str      head;       /* with the request line, through the empty line */
    str      body;       /* by its Content-Length */
    unsigned connection; /* 1 is the first */
} wire_request;

typedef void wire_fn(void *ctx, const wire_request *request,
                     wire_answer *ret); /* in a thread of the server */

/* A copy of the rows is made, not of their bytes. tls NULL: plain. */
wire *wire_start(const wire_answer *answers, size_t count, wire_tls *tls);
wire *wire_start_fn(wire_fn *answer, void *ctx, wire_tls *tls);
void  wire_stop(wire *w); /* ends all connections and frees everything; accepts NULL */

unsigned    wire_port(const wire *w);
const char *wire_url(wire *w, const char *path); /* http(s)://127.0.0.1:PORT/path; valid until wire_stop */
const char *wire_url_at(wire *w, const char *host, const char *path);

unsigned     wire_connections(wire *w); /* accepted so far */
unsigned     wire_open(wire *w);        /* … and not ended yet */
unsigned     wire_resumed(wire *w);     /* TLS handshakes that resumed a session */
uint64_t     wire_sent_bytes(wire *w);  /* bytes of answers that the kernel took */
size_t       wire_requests(wire *w);
wire_request wire_request_at(wire *w, size_t i);                   /* 0 is the first; it must have come */
bool         wire_has_header(wire *w, size_t i, const char *line); /* "Name: value", as sent */
bool         wire_wait_open(wire *w, unsigned open, unsigned limit_ms); /* until so many are open */

/* A certificate for `names` ("DNS:localhost,IP:127.0.0.1"), made now and signed by a CA of its own, whose
 * certificate is in the file wire_tls_ca_file until wire_tls_free. */
wire_tls   *wire_tls_new(const char *names);
const char *wire_tls_ca_file(const wire_tls *tls);
void        wire_tls_free(wire_tls *tls); /* after wire_stop */

#endif
