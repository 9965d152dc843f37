/* fetch_trust.c -- whom TLS trusts: a CA bundle, found by its name and parsed once.
 *
 * Parsing a system's bundle takes some 26 ms. libcurl would do it on the loop (with a CApath in force even
 * for every connection), so a thread parses it into one store, with the OpenSSL that libcurl itself brought
 * in, and each connection is given that store. Where libcurl was built on another TLS library, or lacks one
 * of the functions, libcurl reads the file itself, and is asked to keep what it read.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/fetch_internal.h"

/* OpenSSL's types are not ours to see: pointers are all that is passed. */
typedef struct {
    void *(*new_store)(void);
    void (*free_store)(void *store);
    int (*load)(void *store, const char *file, const char *path);
    int (*set_flags)(void *store, unsigned long flags);
    void (*use)(void *ssl_ctx, void *store);
    void (*forget_errors)(void);
} openssl;

enum {
    PATH_BYTES = 4096,
    PARTIAL_CHAIN =
        0x80000, /* X509_V_FLAG_PARTIAL_CHAIN: an intermediate in the bundle is trusted, as with curl */
};

static struct {
    bool    ready;
    char    path[PATH_BYTES];
    void   *store; /* NULL: libcurl reads the file */
    openssl ssl;
} trust;

static const char *const well_known[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Alpine */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, Azure Linux */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",
};

static bool take_path(const char *path, const char *said_by, char *why, size_t why_size)
{
    if (access(path, R_OK) != 0) {
        (void)snprintf(why, why_size, "the CA bundle '%s' (%s) cannot be read: %s", path, said_by,
                       strerror(errno));
        return false;
    }
    int len = snprintf(trust.path, sizeof trust.path, "%s", path);
    if (len >= 0 && (size_t)len < sizeof trust.path)
        return true;
    (void)snprintf(why, why_size, "the name of the CA bundle (%s) is too long", said_by);
    return false;
}

static bool find_bundle(char *why, size_t why_size)
{
    static const char *const settings[] = {"TRESTLE_CA_FILE", "SSL_CERT_FILE"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *path = getenv(settings[i]);
        if (path != NULL && *path != '\0')
            return take_path(path, settings[i], why, why_size);
    }
    for (size_t i = 0; i < sizeof well_known / sizeof *well_known; i++)
        if (access(well_known[i], R_OK) == 0)
            return take_path(well_known[i], "the system's", why, why_size);
    (void)snprintf(why, why_size, "no CA bundle was found; TRESTLE_CA_FILE can name one");
    return false;
}

/* POSIX promises that a function fits into dlsym's void *, ISO C does not: hence the copy. */
static bool resolve(const char *name, void *function)
{
    void *found = curl_load_neighbour(name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_openssl(openssl *ret)
{
    const char *tls = curl.version_info(CURLVERSION_NOW)->ssl_version;
    return tls != NULL && strncmp(tls, "OpenSSL/", sizeof "OpenSSL/" - 1) == 0 &&
           resolve("X509_STORE_new", (void *)&ret->new_store) &&
           resolve("X509_STORE_free", (void *)&ret->free_store) &&
           resolve("X509_STORE_load_locations", (void *)&ret->load) &&
           resolve("X509_STORE_set_flags", (void *)&ret->set_flags) &&
           resolve("SSL_CTX_set1_cert_store", (void *)&ret->use) &&
           resolve("ERR_clear_error", (void *)&ret->forget_errors);
}

bool fetch_trust_load(char *why, size_t why_size)
{
    if (trust.ready)
        return true;
    if (!find_bundle(why, why_size))
        return false;
    if (!find_openssl(&trust.ssl)) {
        trust.ready = true;
        return true;
    }

    void *store = trust.ssl.new_store();
    if (store == NULL || trust.ssl.load(store, trust.path, NULL) != 1) {
        (void)snprintf(why, why_size, "the CA bundle '%s' holds no usable certificate", trust.path);
        trust.ssl.forget_errors();
        trust.ssl.free_store(store); /* accepts NULL */
        return false;
    }
    (void)trust.ssl.set_flags(store, PARTIAL_CHAIN); /* fails for no flag that exists */
    trust.store = store;
    trust.ready = true;
    return true;
}

/* The context takes a reference of its own, so fetch_trust_drop may come before its end. */
static CURLcode give_store(CURL *easy, void *ssl_ctx, void *ctx)
{
    (void)easy, (void)ctx;
    trust.ssl.use(ssl_ctx, trust.store);
    return CURLE_OK;
}

bool fetch_trust_set(CURL *easy)
{
    /* Without a CApath in any case: see above. */
    if (curl.easy_setopt(easy, CURLOPT_CAPATH, NULL) != CURLE_OK)
        return false;
    if (trust.store != NULL)
        return curl.easy_setopt(easy, CURLOPT_CAINFO, NULL) == CURLE_OK &&
               curl.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, give_store) == CURLE_OK;
    (void)curl.easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT,
                           -1L); /* forever; since 7.87, for some TLS libraries */
    return curl.easy_setopt(easy, CURLOPT_CAINFO, trust.path) == CURLE_OK;
}

/* Threads of the pool live on, and OpenSSL keeps a queue of errors for each that has called it. */
void fetch_trust_leave_thread(void)
{
    void (*stop)(void) = NULL;
    if (resolve("OPENSSL_thread_stop", (void *)&stop))
        stop();
}

void fetch_trust_drop(void)
{
    if (trust.store != NULL)
        trust.ssl.free_store(trust.store);
    memset(&trust, 0, sizeof trust);
}
