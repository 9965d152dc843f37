/* hash.h -- SHA-256, HMAC-SHA-256, hexadecimal, and comparison in constant time. OpenSSL does the work.
 *
 * The first call loads OpenSSL's provider (about a millisecond): nothing here is called before the server
 * listens.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_HASH_H
#define TRESTLE_CORE_HASH_H

#include "core/arena.h"
#include "core/str.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

typedef struct {
    uint8_t at[SHA256_BYTES];
} sha256_digest;

sha256_digest hash_sha256(str data);
sha256_digest hash_hmac_sha256(str key, str data);

/* In pieces: x = hash_begin(arena); hash_add(x, …); digest = hash_end(x). */
typedef struct hash_state hash_state;
hash_state               *hash_begin(arena *a);
void                      hash_add(hash_state *h, str data);
sha256_digest             hash_end(hash_state *h);

str  hash_hex(const sha256_digest *d, char out[SHA256_HEX + 1]); /* lower case, terminated */
bool hash_equal(str a, str b); /* same bytes; time depends on the lengths alone */

#endif
