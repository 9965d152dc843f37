/* azurite.c -- see azurite.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/azurite.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/process.h"
#include "support/scratch.h"

enum { START_TRIES = 4, START_LIMIT_MS = 60 * 1000, CERT_VALID_S = 24 * 60 * 60, ARGS_MAX = 24 };

struct azurite {
    azurite_spec spec;
    process     *proc;
    int          ports[AZURITE_SERVICES];
    int          held[AZURITE_SERVICES]; /* sockets that keep the ports ours, also while it is down */
    char         cert_file[64], key_file[64];
};

static const char *const service_names[AZURITE_SERVICES] = {"blob", "queue", "table"};

/* ---- ports ---- */

/* The socket stays bound but never listens: so the kernel gives the port to nobody else, and a listener with
 * SO_REUSEADDR, as node's are, may still have it. */
static bool hold_port(azurite *a, size_t i)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    int                on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a->held[i] = fd;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (struct sockaddr *)&at, len) != 0 || getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        return false;
    a->ports[i] = ntohs(at.sin_port);
    return true;
}

static bool hold_ports(azurite *a)
{
    for (size_t i = 0; i < AZURITE_SERVICES; i++)
        if (!hold_port(a, i))
            return false;
    return true;
}

static void release_ports(azurite *a)
{
    for (size_t i = 0; i < AZURITE_SERVICES; i++) {
        if (a->held[i] >= 0)
            (void)close(a->held[i]);
        a->held[i] = -1;
    }
}

static bool listens(int port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    if (fd >= 0)
        (void)close(fd);
    return yes;
}

bool azurite_listens(const azurite *a)
{
    for (size_t i = 0; i < AZURITE_SERVICES; i++)
        if (!listens(a->ports[i]))
            return false;
    return true;
}

/* ---- certificate ---- */

static FILE *new_file(char *name, size_t size)
{
    (void)snprintf(name, size, "/tmp/trestle-azurite-XXXXXX");
    int fd = mkstemp(name);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static bool add_names(X509 *cert)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *names =
        X509V3_EXT_conf_nid(NULL, &ctx, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
    bool ok = names != NULL && X509_add_ext(cert, names, -1) == 1;
    X509_EXTENSION_free(names);
    return ok;
}

/* Signed by itself: the certificate is its own CA. */
static bool make_certificate(azurite *a)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509     *cert = X509_new();
    FILE     *key_file = new_file(a->key_file, sizeof a->key_file);
    FILE     *cert_file = new_file(a->cert_file, sizeof a->cert_file);
    bool      ok = key != NULL && cert != NULL && key_file != NULL && cert_file != NULL;
    if (ok) {
        X509_set_version(cert, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(cert), getpid());
        X509_gmtime_adj(X509_getm_notBefore(cert), -60);
        X509_gmtime_adj(X509_getm_notAfter(cert), CERT_VALID_S);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                   (const unsigned char *)"trestle test azurite", -1, -1, 0);
        X509_set_issuer_name(cert, X509_get_subject_name(cert));
        X509_set_pubkey(cert, key);
        ok = add_names(cert) && X509_sign(cert, key, EVP_sha256()) > 0 &&
             PEM_write_X509(cert_file, cert) == 1 &&
             PEM_write_PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL) == 1;
    }
    ok = (key_file == NULL || fclose(key_file) == 0) && ok;
    ok = (cert_file == NULL || fclose(cert_file) == 0) && ok;
    X509_free(cert);
    EVP_PKEY_free(key);
    return ok;
}

/* ---- starting ---- */

static const char *program_in(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value != NULL && *value != '\0' ? value : otherwise;
}

static const char *script(void)
{
    return program_in("TRESTLE_AZURITE", "");
}

static const char *find_node(void)
{
    str paths = str_of(program_in("PATH", "/usr/local/bin:/usr/bin:/bin")), dir;
    while (str_next_field(&paths, ':', &dir)) {
        const char *file = textf("%.*s/node", STR_ARG(dir));
        if (access(file, X_OK) == 0)
            return file;
    }
    return NULL;
}

static bool is_installed(void)
{
    const char *why = find_node() == NULL           ? "node is not on the PATH"
                      : access(script(), R_OK) != 0 ? "its npm package is not installed"
                                                    : NULL;
    if (why != NULL)
        fprintf(stderr, "Azurite cannot be started: %s\n", why);
    return why == NULL;
}

void azurite_launch(azurite *a)
{
    const char *args[ARGS_MAX] = {find_node(), script(), "--silent", "--disableTelemetry",
                                  "--inMemoryPersistence"};
    size_t      n = 5;
    for (size_t i = 0; i < AZURITE_SERVICES; i++) {
        args[n++] = textf("--%sPort", service_names[i]);
        args[n++] = textf("%d", a->ports[i]);
    }
    if (a->spec.tls) {
        args[n++] = "--cert";
        args[n++] = a->cert_file;
        args[n++] = "--key";
        args[n++] = a->key_file;
    }
    if (a->spec.oauth) {
        args[n++] = "--oauth";
        args[n++] = "basic";
    }
    a->proc = process_start(&(process_spec){.args = args, .dir = "/tmp"});
}

static bool comes_up(azurite *a)
{
    azurite_launch(a);
    for (uint64_t until = process_now_ms() + START_LIMIT_MS; process_alive(a->proc);) {
        if (azurite_listens(a))
            return true;
        if (process_now_ms() >= until)
            break;
        process_pause();
    }
    str out = process_out(a->proc), err = process_err(a->proc);
    fprintf(stderr, "Azurite did not start: %.*s %.*s\n", STR_ARG(out), STR_ARG(err));
    process_end(a->proc);
    return false;
}

azurite *azurite_start(const azurite_spec *spec)
{
    azurite *a = arena_one(scratch(), azurite);
    a->spec = *spec;
    if (!is_installed())
        return NULL;
    if (spec->tls && !make_certificate(a)) {
        fprintf(stderr, "no certificate could be made for Azurite\n");
        return NULL;
    }
    for (int i = 0; i < START_TRIES; i++) { /* somebody else may have been quicker to a port */
        if (hold_ports(a) && comes_up(a))
            return a;
        release_ports(a);
    }
    return NULL;
}

void azurite_kill(azurite *a)
{
    process_end(a->proc);
}

void azurite_stop(azurite *a)
{
    if (a == NULL)
        return;
    azurite_kill(a);
    release_ports(a);
    if (a->spec.tls) {
        (void)unlink(a->cert_file);
        (void)unlink(a->key_file);
    }
}

int azurite_port(const azurite *a, azurite_service s)
{
    return a->ports[s];
}

const char *azurite_url(const azurite *a, azurite_service s)
{
    return textf("%s://127.0.0.1:%d/" AZURITE_ACCOUNT, a->spec.tls ? "https" : "http", a->ports[s]);
}

const char *azurite_connection(const azurite *a)
{
    return textf("DefaultEndpointsProtocol=%s;AccountName=" AZURITE_ACCOUNT ";AccountKey=" AZURITE_KEY
                 ";BlobEndpoint=%s;QueueEndpoint=%s;TableEndpoint=%s;",
                 a->spec.tls ? "https" : "http", azurite_url(a, AZURITE_BLOBS),
                 azurite_url(a, AZURITE_QUEUES), azurite_url(a, AZURITE_TABLES));
}

const char *azurite_ca_file(const azurite *a)
{
    return a->cert_file;
}
