/* redis_tls.c -- rediss://: TLS by hiredis_ssl, with OpenSSL's checks turned on.
 *
 * hiredis_ssl verifies the chain but not the name in the certificate, so the SSL object is made here and
 * handed over: it demands a chain to the CA file (as fetch.h: TRESTLE_CA_FILE, SSL_CERT_FILE, else the
 * system's) and the host's own name or address. The context is made once; reading a system's bundle takes
 * some 26 ms, once a process and only with rediss://.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/redis_internal.h"

#ifdef TRESTLE_REDIS_TLS

#include <stdio.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <uv.h>

static SSL_CTX *shared;

static bool load_bundle(SSL_CTX *x)
{
    static const char *const settings[] = {"TRESTLE_CA_FILE", "SSL_CERT_FILE"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *path = getenv(settings[i]);
        if (path != NULL && *path != '\0')
            return SSL_CTX_load_verify_locations(x, path, NULL) == 1;
    }
    return SSL_CTX_set_default_verify_paths(x) == 1;
}

static SSL_CTX *context(void)
{
    if (shared != NULL)
        return shared;
    SSL_CTX *x = SSL_CTX_new(TLS_client_method());
    if (x == NULL)
        return NULL;
    SSL_CTX_set_verify(x, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(x, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_set_min_proto_version(x, TLS1_2_VERSION) != 1 || !load_bundle(x)) {
        SSL_CTX_free(x);
        return NULL;
    }
    shared = x;
    return x;
}

static bool is_address(const char *host)
{
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;
    return uv_ip4_addr(host, 0, &v4) == 0 || uv_ip6_addr(host, 0, &v6) == 0;
}

/* An address is looked for among the certificate's addresses, and is no name for SNI. */
static bool demand_name(SSL *ssl, const char *host)
{
    if (is_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

bool redis_tls_built_in(void)
{
    return true;
}

bool redis_tls_begin(struct redisContext *c, const char *host, char *why, size_t why_size)
{
    SSL_CTX *x = context();
    SSL     *ssl = x != NULL ? SSL_new(x) : NULL;
    ERR_clear_error();
    if (ssl == NULL || !demand_name(ssl, host)) {
        (void)snprintf(why, why_size, "%s",
                       x == NULL ? "the CA file cannot be read or holds no certificate" : "out of memory");
        SSL_free(ssl); /* accepts NULL */
        return false;
    }
    if (redisInitiateSSL(c, ssl) == REDIS_OK) /* ssl is the connection's now */
        return true;
    (void)snprintf(why, why_size, "%s", c->errstr);
    SSL_free(ssl);
    return false;
}

void redis_tls_drop(void)
{
    SSL_CTX_free(shared); /* accepts NULL; connections hold references of their own */
    shared = NULL;
}

#else

bool redis_tls_built_in(void)
{
    return false;
}

bool redis_tls_begin(struct redisContext *c, const char *host, char *why, size_t why_size)
{
    (void)c, (void)host, (void)why, (void)why_size;
    return false; /* never called: redis_check refuses the URL */
}

void redis_tls_drop(void)
{
}

#endif
