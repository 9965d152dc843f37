/* hash.c -- SHA-256 and HMAC over OpenSSL's EVP, arranged so that a small hash costs little but the digest.
 *
 * Two things are expensive in OpenSSL 3 and are done once: looking an algorithm up by name (500 ns each time,
 * hidden in SHA256() and HMAC()), once for the process; and making a context, once for each thread. HMAC is
 * the two nested digests of RFC 2104 written out: for 100 bytes 0.5 µs,
 * where EVP_MAC with a new key takes 0.9 µs and HMAC() 2.5 µs.
 *
 * None of these calls can fail but for lack of memory or a broken OpenSSL, and a wrong digest would be worse
 * than no process: so a failure ends the program.
 *
 * SPDX-License-Identifier: MIT */
#include "core/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 }; /* SHA-256 works on blocks of this size; HMAC pads its key to one */

struct hash_state {
    EVP_MD_CTX *ctx; /* NULL once hash_end has taken the digest */
};

static pthread_once_t       once = PTHREAD_ONCE_INIT;
static pthread_key_t        ctx_key; /* frees a thread's context when the thread ends */
static EVP_MD              *sha256;
static __thread EVP_MD_CTX *thread_ctx;

static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "hash: OpenSSL failed: %s\n", what);
    abort();
}

static void free_thread_ctx(void *ctx)
{
    EVP_MD_CTX_free(ctx);
    thread_ctx = NULL;
}

/* Without openssl.cnf the first hash takes 1.0 ms instead of 1.7 ms, and a file of the machine has no say in
 * what we compute. Whatever shares this libcrypto (libcurl) does not read it either. OpenSSL's clean-up at
 * exit is turned off because a thread may still be hashing then. */
static void start(void)
{
    must(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) == 1, "init");
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    must(sha256 != NULL, "no SHA-256");
    must(pthread_key_create(&ctx_key, free_thread_ctx) == 0, "no thread key");
}

static EVP_MD_CTX *new_ctx(void)
{
    pthread_once(&once, start);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    must(ctx != NULL, "no context");
    return ctx;
}

/* This thread's context, at the start of a new digest. */
static EVP_MD_CTX *begin(void)
{
    if (thread_ctx == NULL) {
        thread_ctx = new_ctx();
        must(pthread_setspecific(ctx_key, thread_ctx) == 0, "no thread slot");
    }
    must(EVP_DigestInit_ex(thread_ctx, sha256, NULL) == 1, "begin");
    return thread_ctx;
}

static void add(EVP_MD_CTX *ctx, const void *data, size_t bytes)
{
    must(EVP_DigestUpdate(ctx, data, bytes) == 1, "update");
}

static sha256_digest end(EVP_MD_CTX *ctx)
{
    sha256_digest d;
    must(EVP_DigestFinal_ex(ctx, d.at, NULL) == 1, "final");
    return d;
}

sha256_digest hash_sha256(str data)
{
    EVP_MD_CTX *ctx = begin();
    add(ctx, data.at, data.len);
    return end(ctx);
}

/* H((key ^ opad) || H((key ^ ipad) || data)); a key longer than a block is hashed first (RFC 2104 §2). */
sha256_digest hash_hmac_sha256(str key, str data)
{
    uint8_t       inner[BLOCK_BYTES] = {0}, outer[BLOCK_BYTES];
    sha256_digest d;

    if (key.len > BLOCK_BYTES) {
        d = hash_sha256(key);
        memcpy(inner, d.at, sizeof d.at);
    } else if (key.len > 0) {
        memcpy(inner, key.at, key.len);
    }
    for (size_t i = 0; i < BLOCK_BYTES; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] = inner[i] ^ 0x36;
    }

    EVP_MD_CTX *ctx = begin();
    add(ctx, inner, sizeof inner);
    add(ctx, data.at, data.len);
    d = end(ctx);

    ctx = begin();
    add(ctx, outer, sizeof outer);
    add(ctx, d.at, sizeof d.at);
    d = end(ctx);

    OPENSSL_cleanse(inner, sizeof inner);
    OPENSSL_cleanse(outer, sizeof outer);
    return d;
}

static void drop_state(void *arg)
{
    hash_state *h = arg;
    EVP_MD_CTX_free(h->ctx);
    h->ctx = NULL;
}

/* A context of its own, because other hashes may run between two hash_add. NULL only where arena_alloc may
 * give NULL: outside tasks. */
hash_state *hash_begin(arena *a)
{
    hash_state *h = arena_one(a, hash_state);
    if (h == NULL || !arena_defer(a, drop_state, h))
        return NULL;
    h->ctx = new_ctx();
    must(EVP_DigestInit_ex(h->ctx, sha256, NULL) == 1, "begin");
    return h;
}

void hash_add(hash_state *h, str data)
{
    must(h->ctx != NULL, "hash_add after hash_end");
    add(h->ctx, data.at, data.len);
}

sha256_digest hash_end(hash_state *h)
{
    must(h->ctx != NULL, "hash_end twice");
    sha256_digest d = end(h->ctx);
    drop_state(h);
    return d;
}

str hash_hex(const sha256_digest *d, char out[SHA256_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[d->at[i] >> 4];
        out[2 * i + 1] = digits[d->at[i] & 15];
    }
    out[SHA256_HEX] = '\0';
    return (str){out, SHA256_HEX};
}

bool hash_equal(str a, str b)
{
    return a.len == b.len && (a.len == 0 || CRYPTO_memcmp(a.at, b.at, a.len) == 0);
}
