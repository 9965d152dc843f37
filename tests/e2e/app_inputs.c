/* app_inputs.c -- the test app's functions that the host calls with a JSON envelope: HTTP with a second
 * output, queues, a timer, a blob. What they saw leaves as a message of the output binding `seen`, or as
 * their HTTP answer.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/app_inputs.h"

#include "core/log.h"

static bool asks(const request *in, const char *what)
{
    return !request_is_absent(request_query(in, what));
}

/* One HTTP function with a queue output; the query says what it does beside telling what it saw. */
res order(task *t, const request *in, reply *out)
{
    static const char bytes[] = {0, (char)0xff, (char)0xfe, 1};

    if (asks(in, "fail"))
        return task_fail(t, RES_CONFLICT, "order '%.*s' exists", STR_ARG(request_param(in, "oid")));
    if (asks(in, "text"))
        return reply_text(out, 200, request_query(in, "text"));
    if (asks(in, "redirect")) {
        TRY(reply_header(out, "Location", STR("/elsewhere")));
        return reply_empty(out, 302);
    }
    if (asks(in, "binary"))
        return reply_bytes(out, 200, "image/png", (str){bytes, sizeof bytes});
    if (asks(in, "stream")) {
        TRY(reply_stream(t, out, 200, "text/plain"));
        TRY(reply_write(t, out, STR("one ")));
        TRY(task_sleep(t, 5));
        return reply_write(t, out, STR("two"));
    }
    if (asks(in, "cookies")) {
        TRY(reply_add_header(out, "Set-Cookie", STR("a=1")));
        TRY(reply_add_header(out, "Set-Cookie", STR("b=2")));
    }
    json *seen = seen_request(t->arena, in);
    str   oid = request_param(in, "oid"), note = request_param(in, "note");
    json_set_str(seen, "oid", oid);
    json_set_bool(seen, "has_note", !request_is_absent(note));
    json_set_int(seen, "retry_count", json_int(json_get(request_meta(in, "RetryContext"), "RetryCount"), -1));
    json_set_int(seen, "retry_max",
                 json_int(json_get(request_meta(in, "RetryContext"), "MaxRetryCount"), -1));
    json_set_str(seen, "content_type", request_header(in, "content-type"));

    reply_log(out, "order %.*s came", STR_ARG(oid));
    if (asks(in, "logs"))
        reply_log(out, "two\nlines");
    TRY(reply_output(out, "outqueue", STR("test")));
    TRY(reply_output(out, "outqueue", oid));
    TRY(reply_header(out, "Location", arena_strf(t->arena, "/api/orders/%.*s", STR_ARG(oid))));
    return reply_json(out, 201, seen);
}

res ret(task *t, const request *in, reply *out)
{
    static const char bytes[] = {0, (char)0xff, (char)0xfe, 1};
    if (asks(in, "binary"))
        return reply_bytes(out, 200, "application/octet-stream", (str){bytes, sizeof bytes});
    TRY(reply_header(out, "X-Made-By", STR("ret")));
    return reply_text(out, 202, arena_strf(t->arena, "returned %.*s", STR_ARG(request_body(in))));
}

static res tell(reply *out, arena *a, const json *seen)
{
    return reply_output(out, "seen", json_print(a, seen));
}

/* "fail:NAME" fails, "say:TEXT" puts TEXT out as it is; anything else is told with its metadata. */
res onmsg(task *t, const request *in, reply *out)
{
    str text;
    if (!request_input_text(in, "msg", &text))
        return task_fail(t, RES_INVALID, "there is no message");
    if (str_starts(text, STR("fail:"))) {
        reply_log(out, "about to fail");
        return task_fail(t, RES_UPSTREAM, "message '%.*s'", STR_ARG(text));
    }
    if (str_starts(text, STR("say:")))
        return reply_output(out, "seen", str_from(text, 4));

    json *seen = json_object(t->arena);
    json_set_str(seen, "text", text);
    json_set_str(seen, "invocation", request_invocation(in));
    json_set_str(seen, "trace", request_trace(in));
    json_set_int(seen, "dequeue_count", request_meta_int(in, "DequeueCount", -1));
    json_set_str(seen, "id", request_meta_text(in, "id"));
    json_set_int(seen, "a", request_meta_int(in, "a", -1));
    json_set_int(seen, "retry_count", json_int(json_get(request_meta(in, "RetryContext"), "RetryCount"), -1));
    json_set_int(seen, "retry_max",
                 json_int(json_get(request_meta(in, "RetryContext"), "MaxRetryCount"), -1));
    json_set_str(seen, "method", request_method(in));
    return tell(out, t->arena, seen);
}

res binmsg(task *t, const request *in, reply *out)
{
    str bytes;
    if (!request_input_bytes(in, "msg", &bytes))
        return task_fail(t, RES_INVALID, "there is no message");
    return reply_output(out, "seen", bytes);
}

res blobin(task *t, const request *in, reply *out)
{
    str   text = {0};
    json *seen = json_object(t->arena);
    bool  there = request_input_text(in, "doc", &text);
    json_set_bool(seen, "there", there);
    json_set_str(seen, "text", text);
    return tell(out, t->arena, seen);
}

res quiet(task *t, const request *in, reply *out)
{
    (void)t, (void)in, (void)out;
    return RES_OK;
}

res tick(task *t, const request *in, reply *out)
{
    json *seen = json_object(t->arena);
    json_set_bool(seen, "past_due", request_is_past_due(in));
    json_set_bool(seen, "has_status",
                  json_typeof(json_get(request_input_json(in, "tick"), "ScheduleStatus")) == JSON_OBJECT);
    log_info("tick runs");
    return tell(out, t->arena, seen);
}
