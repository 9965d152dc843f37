/* wire_tls.c -- a CA and a server certificate, made when a test asks for them: nothing that could expire, and
 * no key in the tree.
 *
 * SPDX-License-Identifier: MIT */
#include "support/wire_tls.h"

#include <check.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALID_S = 24 * 60 * 60, FILE_NAME_BYTES = 64 };

struct wire_tls {
    SSL_CTX *ctx;
    char     ca_file[FILE_NAME_BYTES];
};

static void must(bool ok, const char *what)
{
    if (!ok)
        ck_abort_msg("wire: %s: %s", what, ERR_error_string(ERR_peek_error(), NULL));
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    must(e != NULL && X509_add_ext(cert, e, -1) == 1, "extension");
    X509_EXTENSION_free(e);
}

/* names NULL: a CA, signed by itself. */
static X509 *make_cert(EVP_PKEY *key, const char *subject, const char *names, X509 *issuer,
                       EVP_PKEY *issuer_key)
{
    static long serial;
    X509       *cert = X509_new();
    must(cert != NULL, "certificate");
    issuer = issuer != NULL ? issuer : cert;
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), VALID_S);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)subject, -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer));
    X509_set_pubkey(cert, key);
    add_extension(cert, issuer, NID_basic_constraints,
                  names == NULL ? "critical,CA:TRUE" : "critical,CA:FALSE");
    add_extension(cert, issuer, NID_subject_key_identifier, "hash");
    if (names == NULL)
        add_extension(cert, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    else
        add_extension(cert, issuer, NID_subject_alt_name, names);
    must(X509_sign(cert, issuer_key, EVP_sha256()) > 0, "signature");
    return cert;
}

static void write_ca_file(wire_tls *tls, X509 *ca)
{
    (void)snprintf(tls->ca_file, sizeof tls->ca_file, "/tmp/trestle-test-ca-XXXXXX");
    int   fd = mkstemp(tls->ca_file);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    must(f != NULL && PEM_write_X509(f, ca) == 1 && fclose(f) == 0, "CA file");
}

wire_tls *wire_tls_new(const char *names)
{
    (void)signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
    wire_tls *tls = calloc(1, sizeof *tls);
    must(tls != NULL, "memory");
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    must(ca_key != NULL && key != NULL, "keys");
    /* Each CA has a name of its own: a client must not take one for the other. */
    char subject[64];
    (void)snprintf(subject, sizeof subject, "trestle test CA %p", (void *)tls);
    X509 *ca = make_cert(ca_key, subject, NULL, NULL, ca_key);
    X509 *cert = make_cert(key, "trestle test server", names, ca, ca_key);
    write_ca_file(tls, ca);

    tls->ctx = SSL_CTX_new(TLS_server_method());
    must(tls->ctx != NULL && SSL_CTX_use_certificate(tls->ctx, cert) == 1 &&
             SSL_CTX_use_PrivateKey(tls->ctx, key) == 1,
         "context");
    X509_free(cert);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    return tls;
}

const char *wire_tls_ca_file(const wire_tls *tls)
{
    return tls->ca_file;
}

void wire_tls_free(wire_tls *tls)
{
    if (tls == NULL)
        return;
    (void)unlink(tls->ca_file);
    SSL_CTX_free(tls->ctx);
    free(tls);
}

void *wire_tls_accept(wire_tls *tls, int fd, bool *ret_resumed)
{
    SSL *ssl = SSL_new(tls->ctx);
    must(ssl != NULL && SSL_set_fd(ssl, fd) == 1, "TLS connection");
    if (SSL_accept(ssl) != 1) {
        ERR_clear_error(); /* a client that does not trust us is what some tests are about */
        SSL_free(ssl);
        return NULL;
    }
    *ret_resumed = SSL_session_reused(ssl) == 1;
    return ssl;
}

ssize_t wire_tls_read(void *ssl, char *at, size_t room)
{
    size_t n = 0;
    if (SSL_read_ex(ssl, at, room, &n) == 1)
        return (ssize_t)n;
    ERR_clear_error();
    return 0;
}

ssize_t wire_tls_write(void *ssl, const char *at, size_t len)
{
    size_t n = 0;
    if (SSL_write_ex(ssl, at, len, &n) == 1)
        return (ssize_t)n;
    ERR_clear_error();
    return -1;
}

void wire_tls_bye(void *ssl)
{
    (void)SSL_shutdown(ssl); /* ours is enough: the peer's answer is not waited for */
    ERR_clear_error();
}

void wire_tls_drop(void *ssl)
{
    SSL_free(ssl);
}
