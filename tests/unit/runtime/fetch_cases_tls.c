/* fetch_cases_tls.c -- TLS: whom we trust, whom we do not, and that one handshake serves many requests.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/runtime/fetch_rig.h"

#define NAMES "DNS:localhost,IP:127.0.0.1"

static wire_tls *tls;
static wire     *server;

/* A server with a certificate for `names`; its CA is trusted by way of `setting` (NULL: not at all). */
static void serve(const char *names, const char *setting, const char *bytes)
{
    tls = wire_tls_new(names);
    server = wire_start(&(wire_answer){.bytes = bytes}, 1, tls);
    if (setting != NULL)
        setenv(setting, wire_tls_ca_file(tls), 1);
}

static void stop(void)
{
    unsetenv("TRESTLE_CA_FILE");
    unsetenv("SSL_CERT_FILE");
    wire_stop(server);
    wire_tls_free(tls);
}

START_TEST(a_server_whose_ca_is_named_by_a_setting_is_trusted)
{
    static const char *const settings[] = {"TRESTLE_CA_FILE", "SSL_CERT_FILE"};
    serve(NAMES, settings[_i], RIG_OK("safe", "4"));
    rig_got got = rig_get(server, "/");
    ck_assert_msg(got.result == RES_OK, "%s", got.message);
    ck_assert_str_eq(got.body, "safe");
    stop();
}
END_TEST

START_TEST(our_own_setting_beats_the_general_one)
{
    serve(NAMES, "TRESTLE_CA_FILE", RIG_OK("safe", "4"));
    setenv("SSL_CERT_FILE", "/nowhere/at/all.pem", 1);
    ck_assert_int_eq(rig_get(server, "/").result, RES_OK);
    stop();
}
END_TEST

START_TEST(a_server_of_an_unknown_ca_is_refused_before_anything_is_sent)
{
    serve(NAMES, NULL, RIG_OK("", "0"));
    wire_tls *other = wire_tls_new(NAMES);
    setenv("TRESTLE_CA_FILE", wire_tls_ca_file(other), 1);
    rig_got got = rig_get(server, "/secret");
    ck_assert_int_eq(got.result, RES_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(got.message, "certificate"));
    ck_assert_ptr_null(strstr(got.message, "secret"));
    ck_assert_uint_eq(wire_requests(server), 0);
    wire_tls_free(other);
    stop();
}
END_TEST

START_TEST(a_certificate_for_another_name_is_refused_before_anything_is_sent)
{
    serve("DNS:example.org,IP:127.0.0.2", "TRESTLE_CA_FILE", RIG_OK("", "0"));
    const char *hosts[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < 2; i++) {
        rig_got got = rig_fetch(
            (fetch_request){.method = STR("GET"), .url = str_of(wire_url_at(server, hosts[i], "/"))});
        ck_assert_int_eq(got.result, RES_UNREACHABLE);
        ck_assert_ptr_nonnull(strstr(got.message, "certificate"));
    }
    ck_assert_uint_eq(wire_requests(server), 0);
    stop();
}
END_TEST

/* The system's own bundle must not know our test's CA, and must be found without any setting. */
START_TEST(without_a_setting_the_systems_bundle_decides)
{
    serve(NAMES, NULL, RIG_OK("", "0"));
    rig_got got = rig_get(server, "/");
    ck_assert(got.result == RES_UNREACHABLE ||
              got.result == RES_CONFIG); /* RES_CONFIG: a system without one */
    ck_assert_ptr_nonnull(strstr(got.message, got.result == RES_CONFIG ? "CA bundle" : "certificate"));
    ck_assert_uint_eq(wire_requests(server), 0);
    stop();
}
END_TEST

static void with_bundle(const char *path, const char *words)
{
    serve(NAMES, NULL, RIG_OK("", "0"));
    wire *plain = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    setenv("TRESTLE_CA_FILE", path, 1);
    rig_got got = rig_get(server, "/");
    ck_assert_int_eq(got.result, RES_CONFIG);
    ck_assert_msg(strstr(got.message, words) != NULL, "%s", got.message);
    ck_assert_int_eq(rig_get(plain, "/").result, RES_OK); /* who needs no bundle does not miss it */
    wire_stop(plain);
    stop();
}

START_TEST(a_missing_bundle_is_named_and_stops_https_alone)
{
    with_bundle("/nowhere/at/all.pem",
                "the CA bundle '/nowhere/at/all.pem' (TRESTLE_CA_FILE) cannot be read");
}
END_TEST

START_TEST(a_bundle_without_certificates_is_named_and_stops_https_alone)
{
    char path[] = "/tmp/trestle-test-empty-XXXXXX";
    int  fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "not a certificate\n", 18), 18);
    (void)close(fd);
    with_bundle(path, "holds no usable certificate");
    (void)unlink(path);
}
END_TEST

START_TEST(plain_http_to_a_tls_port_and_tls_to_a_plain_one_fail_clearly)
{
    serve(NAMES, "TRESTLE_CA_FILE", RIG_OK("", "0"));
    wire *plain =
        wire_start(&(wire_answer){.bytes = "HTTP/1.1 400 Bad\r\n\r\n", .then = WIRE_CLOSE}, 1, NULL);
    char url[64];
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/", wire_port(plain));
    rig_got got = rig_fetch(
        (fetch_request){.method = STR("GET"), .url = str_of(url), .timeout_ms = 3000, .connect_ms = 300});
    ck_assert_int_eq(got.result, RES_UNREACHABLE);

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", wire_port(server));
    got = rig_fetch((fetch_request){.method = STR("GET"), .url = str_of(url), .timeout_ms = 3000});
    ck_assert_msg(got.result == RES_UPSTREAM || got.result == RES_UNREACHABLE, "%s: %s", res_name(got.result),
                  got.message);
    wire_stop(plain);
    stop();
}
END_TEST

static res fetch_twenty(task *t, void *ctx)
{
    for (int i = 0; i < 20; i++) {
        rig_got got =
            rig_fetch_in(t, &(fetch_request){.method = STR("GET"), .url = str_of(wire_url(ctx, "/"))});
        ck_assert_msg(got.result == RES_OK, "%s", got.message);
    }
    return RES_OK;
}

START_TEST(twenty_requests_in_a_row_shake_hands_once)
{
    serve(NAMES, "TRESTLE_CA_FILE", RIG_OK("a", "1"));
    ck_assert_int_eq(rig_run(fetch_twenty, server, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(server), 1);
    stop();
}
END_TEST

/* Each stream keeps its handle to itself, so the next one has another: the session is the process's. */
static res open_five(task *t, void *ctx)
{
    for (int i = 0; i < 5; i++) {
        fetch_stream *s;
        fetch_answer  a;
        str           piece;
        TRY(fetch_open(t, &(fetch_request){.method = STR("GET"), .url = str_of(wire_url(ctx, "/"))}, &a, &s));
        TRY(fetch_read(t, s, &piece));
        ck_assert(!a.reused);
    }
    return RES_OK;
}

START_TEST(new_connections_resume_the_session_of_an_earlier_one)
{
    serve(NAMES, "TRESTLE_CA_FILE", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\na");
    ck_assert_int_eq(rig_run(open_five, server, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(server), 5);
    ck_assert_uint_eq(wire_resumed(server), 4);
    stop();
}
END_TEST

START_TEST(a_dead_kept_tls_connection_is_replaced)
{
    tls = wire_tls_new(NAMES);
    wire_answer rows[] = {{.bytes = RIG_OK("a", "1")},
                          {.then = _i == 0 ? WIRE_CLOSE : WIRE_RESET},
                          {.bytes = RIG_OK("b", "1")}};
    server = wire_start(rows, 3, tls);
    setenv("TRESTLE_CA_FILE", wire_tls_ca_file(tls), 1);
    ck_assert_int_eq(rig_run(fetch_twenty, server, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(server), 2);
    ck_assert_uint_eq(wire_requests(server), 21);
    stop();
}
END_TEST

static res both_at_once(task *t, size_t i, void *ctx)
{
    wire       **both = ctx;
    fetch_answer a;
    return fetch(t, &(fetch_request){.method = STR("GET"), .url = str_of(wire_url(both[i % 2], "/"))}, &a);
}

static res fetch_plain_and_tls(task *t, void *ctx)
{
    return par_each(t, 20, 20, both_at_once, ctx);
}

/* The first ones need the library, the others the bundle as well; all come while the former is loaded. */
START_TEST(plain_and_tls_requests_may_begin_together)
{
    serve(NAMES, "TRESTLE_CA_FILE", RIG_OK("a", "1"));
    wire *plain = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    wire *both[] = {_i == 0 ? plain : server, _i == 0 ? server : plain};
    ck_assert_int_eq(rig_run(fetch_plain_and_tls, both, 0), RES_OK);
    ck_assert_uint_eq(wire_requests(plain), 10);
    ck_assert_uint_eq(wire_requests(server), 10);
    wire_stop(plain);
    stop();
}
END_TEST

TCase *fetch_cases_tls(void)
{
    TCase *c = tcase_create("tls");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_server_whose_ca_is_named_by_a_setting_is_trusted, 0, 2);
    tcase_add_test(c, our_own_setting_beats_the_general_one);
    tcase_add_test(c, a_server_of_an_unknown_ca_is_refused_before_anything_is_sent);
    tcase_add_test(c, a_certificate_for_another_name_is_refused_before_anything_is_sent);
    tcase_add_test(c, without_a_setting_the_systems_bundle_decides);
    tcase_add_test(c, a_missing_bundle_is_named_and_stops_https_alone);
    tcase_add_test(c, a_bundle_without_certificates_is_named_and_stops_https_alone);
    tcase_add_test(c, plain_http_to_a_tls_port_and_tls_to_a_plain_one_fail_clearly);
    tcase_add_test(c, twenty_requests_in_a_row_shake_hands_once);
    tcase_add_test(c, new_connections_resume_the_session_of_an_earlier_one);
    tcase_add_loop_test(c, a_dead_kept_tls_connection_is_replaced, 0, 2);
    tcase_add_loop_test(c, plain_and_tls_requests_may_begin_together, 0, 2);
    return c;
}
