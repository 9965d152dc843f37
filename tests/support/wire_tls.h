/* wire_tls.h -- the TLS side of wire.c: OpenSSL, and certificates made on the spot.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_WIRE_TLS_H
#define TRESTLE_TESTS_WIRE_TLS_H

#include <sys/types.h>

#include "support/wire.h"

void   *wire_tls_accept(wire_tls *tls, int fd, bool *ret_resumed); /* NULL: the handshake failed */
ssize_t wire_tls_read(void *ssl, char *at, size_t room);
ssize_t wire_tls_write(void *ssl, const char *at, size_t len);
void    wire_tls_bye(void *ssl); /* close_notify */
void    wire_tls_drop(void *ssl);

#endif
