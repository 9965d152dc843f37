/* token_rig.c -- see token_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/token_rig.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

wire *vouching;

const char *json_answer(const char *body)
{
    return textf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
}

const char *token_answer(const char *token, long lives_s)
{
    long long end_s = clock_wall_us() / 1000000 + lives_s;
    return json_answer(
        textf("{\"access_token\":\"%s\",\"expires_on\":\"%lld\",\"token_type\":\"Bearer\"}", token, end_s));
}

void vouch(const wire_answer *rows, size_t count)
{
    vouching = wire_start(rows, count, NULL);
    setenv("IDENTITY_ENDPOINT", wire_url(vouching, "/msi/token"), 1);
    setenv("IDENTITY_HEADER", "hunter2header", 1);
}

void vouch_one(const char *bytes)
{
    vouch(&(wire_answer){.bytes = bytes}, 1);
}

void stop_vouching(void)
{
    static const char *const settings[] = {
        "IDENTITY_ENDPOINT",          "IDENTITY_HEADER", "AZURE_POD_IDENTITY_AUTHORITY_HOST",
        "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID", "AZURE_CLIENT_ID",
        "AZURE_AUTHORITY_HOST"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        unsetenv(settings[i]);
    wire_stop(vouching);
    vouching = NULL;
}

token_cache *new_cache(void)
{
    token_cache *c = arena_one(scratch(), token_cache);
    identity     id = {.resource = STR("https://storage.azure.com"), .workload = true, .managed = true};
    ck_assert(token_init(c, scratch(), &id));
    return c;
}

static res ask_in(task *t, void *ctx)
{
    ask     *a = ctx;
    str      value = {0};
    unsigned version;
    a->result = token_get(t, a->c, &value, &version);
    a->got = textf("%.*s", STR_ARG(value));
    a->message = textf("%.*s", STR_ARG(task_message(t)));
    return a->result;
}

ask ask_token(token_cache *c)
{
    ask a = {.c = c};
    (void)rig_run(ask_in, &a, 0); /* what counts is in `a` */
    return a;
}
