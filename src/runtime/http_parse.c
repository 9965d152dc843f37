/* http_parse.c -- llhttp's callbacks, and all that it lets pass and we do not.
 *
 * The raw head is collected in one block of the arena, so that names and values are views into it and bytes
 * are copied once. When the block has to move, earlier views stay valid, for an arena frees nothing; a name
 * or value that is still growing is contiguous in the new block, so it is found by its end:
 *
 *     head   | GET /x HTTP/1.1\r\nHost: exam | ple.org\r\n\r\n |
 *                                     ^ value so far ^ rest; at = rest - length so far
 *
 * llhttp checks characters and line ends. What frames a message (Content-Length, Transfer-Encoding, Host, the
 * version, the form of the target) is judged again here from the collected fields, so that it does not depend
 * on which of its many leniencies a version of llhttp has on.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/http_parse.h"

#include <assert.h>
#include <string.h>

#if LLHTTP_VERSION_MAJOR < 9
#error "llhttp 9 or later is needed: earlier ones are strict only if they were built so"
#endif

enum {
    HEADERS_AT_FIRST = 16,
    CHUNK_EXTRA_MAX = 8 * KIB, /* bytes between data and data: sizes, extensions, and in the end trailers */
};

static int fail(http_parser *p, int status, const char *message)
{
    p->status = status;
    p->message = message;
    return HPE_USER;
}

static http_parser *parser_of(llhttp_t *ll)
{
    return ll->data;
}

/* ---- collecting the head ---- */

/* Whether this piece goes on where the latest one ended. */
static bool continues(const http_parser *p, const char *at)
{
    return (size_t)(at - p->head.at) == p->piece_end;
}

static void extend(http_parser *p, str *s, const char *at, size_t len)
{
    *s = (str){at - s->len, s->len + len};
    p->piece_end = (size_t)(at - p->head.at) + len;
}

static int on_url(llhttp_t *ll, const char *at, size_t len)
{
    http_parser *p = parser_of(ll);
    extend(p, &p->x->target, at, len);
    p->target_pos = p->piece_end - p->x->target.len;
    return 0;
}

static bool grow_headers(http_parser *p)
{
    http_exchange *x = p->x;
    size_t         cap = p->header_cap != 0 ? 2 * p->header_cap : HEADERS_AT_FIRST;
    http_header *list = arena_regrow(x->arena, x->headers, p->header_cap * sizeof *list, cap * sizeof *list);
    if (list == NULL)
        return false;
    x->headers = list;
    p->header_cap = cap;
    return true;
}

static int on_header_field(llhttp_t *ll, const char *at, size_t len)
{
    http_parser   *p = parser_of(ll);
    http_exchange *x = p->x;
    if (p->head_done)
        return 0; /* a trailer: its size is bounded by CHUNK_EXTRA_MAX, and nobody asked for it */

    if (x->header_count == 0 || p->in_value || !continues(p, at)) {
        if (x->header_count == p->header_cap && !grow_headers(p))
            return fail(p, 503, "no memory for the header fields");
        x->headers[x->header_count++] = (http_header){.name = {at, 0}, .value = STR("")};
        p->in_value = false;
    }
    extend(p, &x->headers[x->header_count - 1].name, at, len);
    return 0;
}

static int on_header_value(llhttp_t *ll, const char *at, size_t len)
{
    http_parser *p = parser_of(ll);
    if (p->head_done)
        return 0;

    /* A value that goes on after a gap was folded over two lines (RFC 9112 §5.2: refuse). */
    if (p->in_value && !continues(p, at))
        return fail(p, 400, "a header field is folded over two lines");
    p->in_value = true;
    extend(p, &p->x->headers[p->x->header_count - 1].value, at, len);
    return 0;
}

/* Counted where a field is complete: a name or value that is cut is reported in parts, one that turns out to
 * be malformed is not reported at all. */
static int on_header_value_complete(llhttp_t *ll)
{
    http_parser *p = parser_of(ll);
    if (!p->head_done && p->x->header_count > p->limits.header_count_max)
        return fail(p, 431, "the request has too many header fields");
    return 0;
}

/* ---- judging the head ---- */

typedef struct {
    unsigned hosts, lengths, codings, expects;
    bool     coding_is_chunked, close, keep_alive;
} framing;

/* METHOD SP target SP HTTP/1.x CRLF, with single blanks: llhttp also takes more blanks, and RTSP. */
static int judge_request_line(http_parser *p)
{
    static const char version[] = " HTTP/1.";
    http_exchange    *x = p->x;
    str               head = buf_str(&p->head);

    x->target.at = head.at + p->target_pos; /* the block may have moved since */
    x->method = str_slice(head, 0, str_find_char(head, ' '));
    if (x->target.len == 0 || p->target_pos != x->method.len + 1)
        return fail(p, 400, "the request line is malformed");
    const char *after = x->target.at + x->target.len;
    if ((size_t)(head.at + head.len - after) < sizeof version + 2)
        return fail(p, 400, "the request line is malformed");
    if (memcmp(after, version, 6) != 0)
        return fail(p, 400, "the request line names no version of HTTP");
    if (memcmp(after, version, 8) != 0 || (after[8] != '0' && after[8] != '1'))
        return fail(p, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    if (after[9] != '\r')
        return fail(p, 400, "the request line is malformed");
    p->http10 = after[8] == '0';
    return 0;
}

static int judge_target(http_parser *p)
{
    http_exchange *x = p->x;
    if (str_eq(x->method, STR("CONNECT")))
        return fail(p, 400, "this is no proxy: CONNECT is refused");
    if (x->target.at[0] != '/')
        return fail(p, 400, "the target must begin with '/'");
    for (size_t i = 0; i < x->target.len; i++) {
        unsigned char c = (unsigned char)x->target.at[i];
        if (c <= ' ' || c > '~' || c == '#')
            return fail(p, 400, "the target has a character that must be escaped");
    }
    size_t mark = str_find_char(x->target, '?');
    x->path = str_slice(x->target, 0, mark);
    x->query = mark < x->target.len ? str_from(x->target, mark + 1) : (str){NULL, 0};
    return 0;
}

/* uri-host [ ":" port ] of RFC 9110 §7.2, by its characters; an empty one is allowed. */
static bool host_ok(str host)
{
    for (size_t i = 0; i < host.len; i++) {
        unsigned char c = (unsigned char)host.at[i];
        if (c <= ' ' || c > '~' || strchr("\"#/<>?@\\^`{|}", c) != NULL)
            return false;
    }
    return true;
}

static bool digits_only(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return s.len > 0;
}

static int note_length(http_parser *p, framing *f, str value)
{
    uint64_t n;
    if (f->lengths++ > 0)
        return fail(p, 400, "there is more than one Content-Length");
    if (!digits_only(value) || !str_to_u64(value, &n))
        return fail(p, 400, "Content-Length is not a number");
    p->content_length = n;
    return 0;
}

static void note_connection(framing *f, str value)
{
    str token;
    while (str_next_field(&value, ',', &token)) {
        token = str_trim(token);
        f->close |= str_eq_nocase(token, STR("close"));
        f->keep_alive |= str_eq_nocase(token, STR("keep-alive"));
    }
}

static int note_header(http_parser *p, framing *f, const http_header *h)
{
    switch (h->name.len) {
    case 4:
        if (!str_eq_nocase(h->name, STR("host")))
            break;
        if (f->hosts++ > 0)
            return fail(p, 400, "there is more than one Host");
        if (!host_ok(h->value))
            return fail(p, 400, "Host has a character that no host has");
        break;
    case 6:
        if (!str_eq_nocase(h->name, STR("expect")))
            break;
        f->expects++;
        if (!str_eq_nocase(h->value, STR("100-continue")))
            return fail(p, 417, "only 100-continue can be expected here");
        break;
    case 10:
        if (str_eq_nocase(h->name, STR("connection")))
            note_connection(f, h->value);
        break;
    case 14:
        if (str_eq_nocase(h->name, STR("content-length")))
            return note_length(p, f, h->value);
        break;
    case 17:
        if (!str_eq_nocase(h->name, STR("transfer-encoding")))
            break;
        if (f->codings++ > 0)
            return fail(p, 400, "there is more than one Transfer-Encoding");
        f->coding_is_chunked = str_eq_nocase(h->value, STR("chunked"));
        break;
    default:
        break;
    }
    return 0;
}

static int judge_framing(http_parser *p, const framing *f)
{
    if (f->hosts == 0 && !p->http10)
        return fail(p, 400, "the Host header is missing");
    if (f->codings > 0 && f->lengths > 0)
        return fail(p, 400, "Content-Length and Transfer-Encoding exclude each other");
    if (f->codings > 0 && p->http10)
        return fail(p, 400, "HTTP/1.0 knows no Transfer-Encoding");
    if (f->codings > 0 && !f->coding_is_chunked)
        return fail(p, 501, "only the transfer coding 'chunked' is spoken here");
    /* Both readings of the same fields must agree, or one of the two readers is wrong. */
    if ((p->ll.flags & F_CHUNKED) != (f->codings > 0 ? F_CHUNKED : 0) ||
        (f->codings == 0 && p->ll.content_length != p->content_length))
        return fail(p, 400, "the length of the body is not clear");

    p->chunked = f->codings > 0;
    p->keep_alive = !f->close && (!p->http10 || f->keep_alive);
    p->expects_continue = f->expects > 0 && !p->http10;
    return 0;
}

static int judge_head(http_parser *p)
{
    http_exchange *x = p->x;
    framing        f = {0};
    int            bad = judge_request_line(p);
    if (bad == 0)
        bad = judge_target(p);
    for (size_t i = 0; i < x->header_count && bad == 0; i++) {
        x->headers[i].value = str_trim(x->headers[i].value);
        bad = note_header(p, &f, &x->headers[i]);
    }
    return bad != 0 ? bad : judge_framing(p, &f);
}

static int on_headers_complete(llhttp_t *ll)
{
    http_parser *p = parser_of(ll);
    int          bad = judge_head(p);
    if (bad != 0)
        return -1;
    ll->upgrade = 0; /* no protocol but this one is spoken: an offered upgrade is ignored (RFC 9110 §7.8) */
    p->head_done = true;
    p->x->head_only = str_eq(p->x->method, STR("HEAD"));
    return p->chunked || p->content_length > 0 ? HPE_PAUSED : 0;
}

static int on_message_complete(llhttp_t *ll)
{
    parser_of(ll)->done = true;
    return HPE_PAUSED;
}

/* ---- the body ---- */

static void drop_body(void *arg)
{
    buf_free(arg);
}

/* A short body that came whole lives in the arena. One that comes in pieces grows on the heap, with what has
 * really come: there a large one grows by remapping, not by copying. */
static bool keep_body(http_parser *p, str piece)
{
    http_exchange *x = p->x;
    if (piece.len == p->content_length && piece.len <= HTTP_BODY_IN_ARENA) {
        x->body = arena_copy(x->arena, piece);
        return x->body.at != NULL;
    }
    if (p->body.at == NULL) {
        buf_init(&p->body, NULL, x->body_max);
        if (!arena_defer(x->arena, drop_body, &p->body))
            return false;
    }
    if (!buf_add(&p->body, piece))
        return false;
    x->body = buf_str(&p->body);
    return true;
}

static int on_body(llhttp_t *ll, const char *at, size_t len)
{
    http_parser *p = parser_of(ll);
    uint64_t     pos = p->in_pos + (uint64_t)(at - p->in.at);
    if (pos - p->data_end > CHUNK_EXTRA_MAX)
        return fail(p, 400, "the chunks carry too much beside their data");
    p->data_end = pos + len;
    if (p->discard || len == 0)
        return 0;

    if (len > p->x->body_max || p->body_bytes > p->x->body_max - len)
        return fail(p, 413, "the body is larger than this function accepts");
    p->body_bytes += len;
    return keep_body(p, (str){at, len}) ? 0 : fail(p, 503, "no memory for the body");
}

/* ---- stepping ---- */

static http_parse_step bad(http_parser *p, int status, const char *message)
{
    (void)fail(p, status, message);
    return HTTP_PARSE_BAD;
}

/* A method that llhttp does not know is 501 if it could be one at all. */
static bool could_be_method(const http_parser *p)
{
    size_t len = (size_t)(llhttp_get_error_pos(&p->ll) - p->head.at) + 1;
    return len <= p->head.len && http_header_name_ok((str){p->head.at, len});
}

/* The head as far as llhttp has understood it. */
static str understood(const http_parser *p, llhttp_errno_t error)
{
    size_t len = error == HPE_OK ? p->head.len : (size_t)(llhttp_get_error_pos(&p->ll) - p->head.at);
    return str_slice(buf_str(&p->head), 0, len);
}

/* What stands between the method and the next blank or line end. on_url cannot tell: of a line that turns out
 * to be malformed it is told nothing, or a part that depends on how the bytes were cut. */
static str raw_target(str line)
{
    size_t at = str_find_char(line, ' ');
    while (at < line.len && line.at[at] == ' ')
        at++;
    str target = str_from(line, at);
    target.len = str_find_char(target, '\n');
    target.len = str_find_char(target, '\r');
    target.len = str_find_char(target, ' ');
    return target;
}

/* A line that ends behind the target is a whole request of HTTP/0.9: no end of a head may be waited for. */
static bool is_http09(str line, str target)
{
    str rest = str_from(line, (size_t)(target.at - line.at) + target.len);
    return target.len > 0 && (str_starts(rest, STR("\n")) || str_starts(rest, STR("\r\n")));
}

/* The faults of a request line that come first, whatever llhttp may have found behind them: with the bytes
 * cut in another way, it would not have been there yet. */
static bool judge_early(http_parser *p, llhttp_errno_t error)
{
    str line = understood(p, error), target = raw_target(line);
    if (target.len > HTTP_TARGET_MAX)
        (void)fail(p, 414, "the target is longer than 16384 bytes");
    else if (is_http09(line, target))
        (void)fail(p, 400, "the request line names no version of HTTP");
    else
        return true;
    return false;
}

static http_parse_step bad_by_llhttp(http_parser *p, llhttp_errno_t error)
{
    if (p->status != 0)
        return HTTP_PARSE_BAD;
    if (error == HPE_INVALID_METHOD && could_be_method(p))
        return bad(p, 501, "the method is not known here");
    if (error == HPE_PAUSED_H2_UPGRADE)
        return bad(p, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    const char *reason = llhttp_get_error_reason(&p->ll);
    return bad(p, 400, reason != NULL && reason[0] != '\0' ? reason : "the request is malformed");
}

/* Up to the empty line that ends the head, if it is in sight: what follows need not be copied. */
static size_t head_len(str in)
{
    const char *end = memmem(in.at, in.len, "\r\n\r\n", 4);
    return end != NULL ? (size_t)(end - in.at) + 4 : in.len;
}

static http_parse_step parse_head(http_parser *p, str in, size_t *ret_used)
{
    if (p->head.len == 0 && (in.at[0] == '\r' || in.at[0] == '\n'))
        return bad(p, 400, "the request begins with an empty line");

    size_t len = head_len(in), room = p->limits.head_bytes_max - p->head.len;
    if (len > room)
        len = room;
    if (!buf_add(&p->head, str_slice(in, 0, len)))
        return bad(p, 503, "no memory for the header fields");

    const char    *at = p->head.at + p->head.len - len;
    llhttp_errno_t error = llhttp_execute(&p->ll, at, len);
    if (!p->line_done && !judge_early(p, error))
        return HTTP_PARSE_BAD;
    if (error == HPE_OK) {
        *ret_used = len;
        if (p->head.len == p->limits.head_bytes_max)
            return bad(p, 431, "the header fields are too large");
        p->line_done |= p->x->header_count > 0;
        return HTTP_PARSE_MORE;
    }
    if (error != HPE_PAUSED || !p->head_done)
        return bad_by_llhttp(p, error);
    *ret_used = (size_t)(llhttp_get_error_pos(&p->ll) - at);
    return HTTP_PARSE_HEAD;
}

static http_parse_step parse_body(http_parser *p, str in, size_t *ret_used)
{
    if (llhttp_get_errno(&p->ll) == HPE_PAUSED)
        llhttp_resume(&p->ll);
    /* Not a byte is looked at behind the one that exceeds the bound, so that no other error can come first.
     */
    if (p->chunked)
        in = str_slice(in, 0, CHUNK_EXTRA_MAX + 1 - (size_t)(p->in_pos - p->data_end));
    p->in = in;
    llhttp_errno_t error = llhttp_execute(&p->ll, in.at, in.len);
    if (error != HPE_OK && (error != HPE_PAUSED || !p->done))
        return bad_by_llhttp(p, error);

    *ret_used = error == HPE_OK ? in.len : (size_t)(llhttp_get_error_pos(&p->ll) - in.at);
    p->in_pos += *ret_used;
    if (p->in_pos - p->data_end > CHUNK_EXTRA_MAX)
        return bad(p, 400, "the chunks carry too much beside their data");
    return p->done ? HTTP_PARSE_DONE : HTTP_PARSE_MORE;
}

void http_parse_init(http_parser *p, http_exchange *x, const http_parse_limits *limits)
{
    static const llhttp_settings_t settings = {
        .on_url = on_url,
        .on_header_field = on_header_field,
        .on_header_value = on_header_value,
        .on_header_value_complete = on_header_value_complete,
        .on_headers_complete = on_headers_complete,
        .on_body = on_body,
        .on_message_complete = on_message_complete,
    };
    *p = (http_parser){.x = x, .limits = *limits};
    x->body = STR("");
    llhttp_init(&p->ll, HTTP_REQUEST, &settings); /* from version 9 on, every leniency is off */
    p->ll.data = p;
    buf_init(&p->head, x->arena, limits->head_bytes_max);
}

http_parse_step http_parse(http_parser *p, str in, size_t *ret_used)
{
    *ret_used = 0;
    assert(!p->done);
    if (p->status != 0)
        return HTTP_PARSE_BAD;
    if (in.len == 0)
        return HTTP_PARSE_MORE;
    return p->head_done ? parse_body(p, in, ret_used) : parse_head(p, in, ret_used);
}
