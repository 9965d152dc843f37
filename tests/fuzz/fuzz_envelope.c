/* fuzz_envelope.c -- arbitrary bytes as the host's envelope, for an http, a timer and a queue function.
 *
 * Whatever is accepted is read through every accessor, is answered, and the answer must be JSON again. A
 * refusal must say why.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "core/log.h"
#include "unit/runtime/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches every byte, so that a view that reaches too far is seen. */
static void touch(str s)
{
    static volatile unsigned char sum;
    for (size_t i = 0; i < s.len; i++)
        sum = (unsigned char)(sum + (unsigned char)s.at[i]);
}

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void read_fields(const request *in)
{
    size_t             count;
    const http_header *list = request_headers(in, &count);
    for (size_t i = 0; i < count; i++)
        touch(list[i].name), touch(list[i].value);
    list = request_queries(in, &count);
    for (size_t i = 0; i < count; i++)
        touch(list[i].name), touch(list[i].value);

    touch(request_function(in));
    touch(request_invocation(in));
    touch(request_trace(in));
    touch(request_method(in));
    touch(request_path(in));
    touch(request_host(in));
    touch(request_body(in));
    touch(request_param(in, "oid"));
    touch(request_query(in, "name"));
    touch(request_header(in, "content-type"));
}

static void read_inputs(const request *in)
{
    static const char *const names[] = {"req", "msg", "tick", "note", "picture", "none"};
    static const char *const keys[] = {"id", "DequeueCount", "RetryContext", "sys", "none"};
    str                      text;
    for (size_t i = 0; i < SAMPLE_COUNT(names); i++) {
        if (request_input_text(in, names[i], &text)) {
            touch(text);
            demand(str_is_utf8(text));
        }
        if (request_input_bytes(in, names[i], &text))
            touch(text);
        (void)json_typeof(request_input_json(in, names[i]));
    }
    for (size_t i = 0; i < SAMPLE_COUNT(keys); i++) {
        touch(request_meta_text(in, keys[i]));
        (void)json_typeof(request_meta(in, keys[i]));
        (void)request_meta_int(in, keys[i], 0);
    }
    (void)request_is_past_due(in);
}

/* Says back what was read; what the host then gets is JSON, or a refusal. */
static void answer(arena *a, const request *in)
{
    reply           out;
    str             text, error = {0};
    const json_val *root;
    reply_init(&out, a, in->fn, NULL);
    (void)reply_text(&out, 200, request_body(in));
    (void)reply_header(&out, "X-Echo", request_header(in, "content-type"));
    (void)reply_output(&out, "outqueue", request_path(in));
    reply_log(&out, "%.*s", STR_ARG(request_method(in)));
    res r = reply_to_envelope(&out, &text, &error);
    demand(r == RES_OK ? json_parse(a, text, &root, NULL) == RES_OK : r == RES_INTERNAL && error.len > 0);
}

/* A message sent by ourselves arrives as it was, if it was text. */
static void round_trip(arena *a, str text)
{
    queue_message_info m = {.id = STR("1"), .pop_receipt = STR("2"), .text = text};
    request            in;
    str                got, error = {0};
    if (!str_is_utf8(text))
        return;
    demand(request_from_envelope(&in, a, envelope_for_queue(a, &onmsg, &m), &onmsg, &error) == RES_OK);
    demand(request_input_text(&in, "msg", &got) && str_eq(got, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = {(const char *)data, size};
    log_set_level(LOG_OFF);
    for (size_t i = 0; i < SAMPLES; i++) {
        arena  *a = arena_new((size_t)256 * MIB);
        request in;
        str     error = {0};
        demand(a != NULL);
        res r = request_from_envelope(&in, a, text, samples[i], &error);
        if (r == RES_OK) {
            read_fields(&in);
            read_inputs(&in);
            answer(a, &in);
        } else {
            demand(error.len > 0 && str_is_utf8(error));
        }
        if (i == 0)
            round_trip(a, text);
        arena_free(a);
    }
    return 0;
}
