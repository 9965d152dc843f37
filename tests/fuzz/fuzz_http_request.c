/* fuzz_http_request.c -- any bytes as one connection's input: requests, one behind the other.
 *
 * The first byte chooses where the rest is cut. The same bytes are parsed once whole and once in pieces, and
 * everything that a caller could see of the two must be equal: a server whose answer depended on packet
 * boundaries could be made to disagree with itself.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "runtime/http_parse.h"

enum { REQUESTS_MAX = 8, BODY_MAX = 4 * KIB, HEAD_MAX = 20 * KIB, HEADERS_MAX = 32, SEEN_MAX = 4 * MIB };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(buf *seen, const char *what, str s)
{
    (void)buf_addf(seen, "%s %zu ", what, s.len); /* a failure sticks, and is looked at once in the end */
    (void)buf_add(seen, s);
    (void)buf_add_char(seen, '\n');
}

static void note_request(buf *seen, const http_parser *p)
{
    const http_exchange *x = p->x;
    note(seen, "method", x->method);
    note(seen, "target", x->target);
    note(seen, "path", x->path);
    note(seen, "query", x->query);
    for (size_t i = 0; i < x->header_count; i++) {
        note(seen, "name", x->headers[i].name);
        note(seen, "value", x->headers[i].value);
    }
    (void)buf_addf(seen, "length %llu chunked %d keep %d http10 %d continue %d head %d\n",
                   (unsigned long long)p->content_length, p->chunked, p->keep_alive, p->http10,
                   p->expects_continue, x->head_only);
}

/* One request; returns how many bytes it took, and false in *ret_on when the connection is over. */
static size_t parse_one(str in, size_t piece, buf *seen, bool *ret_on)
{
    static const http_parse_limits limits = {.head_bytes_max = HEAD_MAX, .header_count_max = HEADERS_MAX};
    arena                         *a = arena_new((size_t)1 * MIB);
    http_exchange                  x = {.arena = a, .body_max = BODY_MAX};
    http_parser                    p;
    size_t                         at = 0;
    http_parse_step                step = HTTP_PARSE_MORE;

    http_parse_init(&p, &x, &limits);
    while (at < in.len && step != HTTP_PARSE_BAD && !p.done) {
        size_t used;
        step = http_parse(&p, str_slice(in, at, at + piece), &used);
        at += used;
        if (step == HTTP_PARSE_HEAD)
            note_request(seen, &p);
    }
    if (step == HTTP_PARSE_BAD)
        (void)buf_addf(seen, "bad %d %s\n", p.status, p.message);
    else
        note(seen, p.done ? "done" : "unfinished", x.body);
    *ret_on = step != HTTP_PARSE_BAD && p.done && p.keep_alive;
    arena_free(a);
    return at;
}

static void parse_all(str in, size_t piece, buf *seen)
{
    bool on = true;
    for (int n = 0; n < REQUESTS_MAX && on && in.len > 0; n++)
        in = str_from(in, parse_one(in, piece, seen, &on));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t piece = data[0] % 64 + 1u;
    str    in = {(const char *)data + 1, size - 1};
    buf    whole, cut;
    buf_init(&whole, NULL, SEEN_MAX);
    buf_init(&cut, NULL, SEEN_MAX);
    parse_all(in, in.len, &whole);
    parse_all(in, piece, &cut);

    if (!whole.failed && !cut.failed && !str_eq(buf_str(&whole), buf_str(&cut))) {
        fprintf(stderr, "whole:\n%.*s\nin pieces of %zu:\n%.*s\n", STR_ARG(buf_str(&whole)), piece,
                STR_ARG(buf_str(&cut)));
        abort();
    }
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
