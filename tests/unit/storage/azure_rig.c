/* azure_rig.c -- see azure_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/azure_rig.h"

#include <uv.h>

static const char *kept(str s)
{
    return textf("%.*s", STR_ARG(s));
}

azure_endpoint *azure_rig_connect(azure_service service, const char *connection)
{
    azure_endpoint *e = NULL;
    str             why = {0};
    res             r = azure_endpoint_new(scratch(), service, str_of(connection), &e, &why);
    ck_assert_msg(r == RES_OK, "%s", kept(why));
    return e;
}

azure_endpoint *azure_rig_endpoint(wire *w, azure_service service)
{
    const char *url = wire_url(w, "/acct");
    return azure_rig_connect(service, textf("AccountName=acct;AccountKey=" RIG_KEY
                                            ";TableEndpoint=%s;BlobEndpoint=%s;QueueEndpoint=%s",
                                            url, url, url));
}

azure_got azure_rig_call_in(task *t, azure_endpoint *e, const azure_request *in)
{
    azure_answer a = {0};
    azure_got    got = {.means = RES_COUNT, .code = "", .text = "", .body = ""};
    uint64_t     began_us = uv_hrtime() / 1000;
    got.result = azure_call(t, e, in, &a);
    got.took_us = uv_hrtime() / 1000 - began_us;
    if (got.result == RES_OK) {
        got.status = a.http.status;
        got.tries = a.tries;
        got.doubtful = a.doubtful;
        got.code = kept(a.code);
        got.text = kept(a.message);
        got.body = kept(a.http.body);
        got.means = azure_result(t, in, &a);
    }
    got.message = kept(task_message(t));
    return got;
}

typedef struct {
    azure_endpoint *e;
    azure_request   in;
    azure_got       got;
} one_call;

static res run_one(task *t, void *ctx)
{
    one_call *one = ctx;
    one->got = azure_rig_call_in(t, one->e, &one->in);
    return RES_OK;
}

azure_got azure_rig_call(azure_endpoint *e, azure_request in, uint64_t deadline_ms)
{
    one_call one = {.e = e, .in = in};
    (void)rig_run(run_one, &one, deadline_ms); /* what counts is in `got` */
    return one.got;
}

const char *azure_rig_header(wire *w, size_t i, const char *name)
{
    str rest = wire_request_at(w, i).head, line;
    while (str_next_field(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');
        if (str_eq_nocase(str_slice(line, 0, colon), str_of(name)))
            return kept(str_trim(str_from(line, colon + 1)));
    }
    return NULL;
}
