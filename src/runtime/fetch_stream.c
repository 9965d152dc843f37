/* fetch_stream.c -- an answer in pieces.
 *
 *     libcurl --on_body--> x->body (to FETCH_STREAM_HIGH, then paused) --swap--> s->piece --> the reader
 *
 * Two buffers, exchanged at each read: while the reader looks at one, libcurl fills the other. So a stream
 * holds about twice FETCH_STREAM_HIGH, however long the answer and however slow the reader.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "runtime/fetch_internal.h"

res fetch_open(task *t, const fetch_request *in, fetch_answer *ret, fetch_stream **ret_stream)
{
    return fetch_run(t, in, true, ret, ret_stream);
}

static res end_with(fetch_stream *s, res result)
{
    fetch_count(s, result);
    s->failed = result;
    fetch_drop(s);
    return result;
}

/* What was held back comes at once, into the buffer that is empty now. */
static void go_on(fetch_transfer *x)
{
    if (!x->paused || x->ended)
        return;
    x->paused = false;
    CURLcode code = curl.easy_pause(x->easy, CURLPAUSE_CONT);
    if (code == CURLE_OK)
        return;
    x->ended = true; /* on_body refused it; libcurl tells us here, and not by a message */
    x->code = code;
    fetch_multi_remove(x);
}

res fetch_read(task *t, fetch_stream *s, str *ret_piece)
{
    assert(!s->closed);
    fetch_transfer *x = s->x;
    if (x == NULL) { /* read to its end, or failed */
        if (s->failed == RES_OK)
            *ret_piece = (str){0};
        return s->failed;
    }
    if (x->body.len == 0) {
        res r = fetch_wait(t, s, FETCH_WAKE_BODY);
        if (r != RES_OK)
            return end_with(s,
                            task_fail(t, r, "%.*s: stopped in the middle of the answer", STR_ARG(s->origin)));
    }
    if (x->body.len == 0) {
        res r = end_with(s, fetch_explain(t, s));
        if (r == RES_OK)
            *ret_piece = (str){0};
        return r;
    }

    buf full = x->body;
    x->body = s->piece;
    x->body.max = full.max;
    buf_clear(&x->body);
    s->piece = full;
    *ret_piece = buf_str(&s->piece);
    go_on(x);
    return RES_OK;
}

void fetch_close(fetch_stream *s)
{
    if (s == NULL || s->closed)
        return;
    fetch_count(s, RES_OK);
    s->closed = true;
    fetch_drop(s);
}
