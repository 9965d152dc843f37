/* ignite_qr.c -- GET /api/ignite/qr: the code on the organiser's screen, by which guests find the table.
 *
 * It is a drawing of an address and knows nothing of the session behind it: whether that is open is decided
 * when a guest joins.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <qrencode.h>

#include "core/buf.h"
#include "domain/scheduler.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/settings.h"

/* MARGIN: the quiet zone that ISO/IEC 18004 asks for, in modules. */
enum { MARGIN = 4, ID_MAX = 128, ADDRESS_MAX = 1024, SVG_MAX = 1 * MIB };

/* What may be in an address as it is. */
static bool is_plain_id(str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char ch = id.at[i];
        bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
        if (!letter && !(ch >= '0' && ch <= '9') && ch != '-' && ch != '_' && ch != '.')
            return false;
    }
    return id.len > 0 && id.len <= ID_MAX;
}

static str without_slashes(str s)
{
    while (s.len > 0 && s.at[s.len - 1] == '/')
        s.len--;
    return s;
}

/* Where the page is. Without WEB_BASE_URL, where the organiser has it from: a proxy in front says its name,
 * and speaks TLS. */
static str page_address(const call *c)
{
    str base = without_slashes(sched_settings_get()->web_base_url);
    if (base.len > 0)
        return base;
    str front = request_header(c->in, "x-forwarded-host"), host = request_host(c->in);
    if (front.len > 0)
        return arena_strf(c->a, "https://%.*s/api/app", STR_ARG(front));
    return arena_strf(c->a, "http://%.*s/api/app", STR_ARG(host));
}

/* One line of modules: each run of dark ones is a rectangle. */
static void draw_line(buf *svg, const QRcode *code, int y)
{
    const unsigned char *line = code->data + (size_t)y * (size_t)code->width;
    int                  from = 0;
    for (int x = 0; x <= code->width; x++) {
        bool dark = x < code->width && (line[x] & 1) != 0;
        if (dark)
            continue;
        if (x > from)
            buf_addf(svg, "M%d %dh%dv1h-%dz", from + MARGIN, y + MARGIN, x - from, x - from);
        from = x + 1;
    }
}

/* Black on white in any colour scheme: few readers take it the other way round. */
static str draw(arena *a, const QRcode *code)
{
    buf svg;
    int side = code->width + 2 * MARGIN;
    buf_init(&svg, a, SVG_MAX);
    buf_addf(&svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/>"
             "<path fill=\"#000\" d=\"",
             side, side, side, side);
    for (int y = 0; y < code->width; y++)
        draw_line(&svg, code, y);
    buf_add(&svg, STR("\"/></svg>\n"));
    return buf_str(&svg); /* the largest code there is stays far below SVG_MAX */
}

static void free_code(void *arg)
{
    QRcode_free(*(QRcode **)arg);
}

static res encode(call *c, str address, str *ret_svg)
{
    if (address.len > ADDRESS_MAX)
        return task_fail(c->t, RES_TOO_LARGE, "an address of %zu bytes is too long for a code", address.len);
    QRcode    **code = arena_one(c->a, QRcode *);
    const char *text = arena_cstr(c->a, address);
    if (!arena_defer(c->a, free_code, (void *)code))
        return RES_MEMORY;
    *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M);
    if (*code == NULL)
        return errno == ENOMEM ? RES_MEMORY : task_fail(c->t, RES_INTERNAL, "no code for the address");
    *ret_svg = draw(c->a, *code);
    return RES_OK;
}

static res answer(call *c, str address, str svg)
{
    TRY(reply_bytes(c->out, 200, "image/svg+xml", svg));
    TRY(reply_header(c->out, "x-join-url", address));
    TRY(reply_header(c->out, "Cache-Control", STR("no-store")));
    TRY(reply_header(c->out, "Content-Security-Policy", STR("default-src 'none'")));
    return reply_header(c->out, "X-Content-Type-Options", STR("nosniff"));
}

res sched_ignite_qr(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    str        svg = {0};
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str group = call_query(&c, "groupId"), session = call_query(&c, "sessionId");
    if (!call_is_uuid4(group))
        return call_refuse(&c, 400, "invalid_group_id", NULL, "groupId must be a UUID");
    if (!is_plain_id(session))
        return call_refuse(&c, 400, "sessionId_required", NULL, "sessionId is required");
    if (!call_full_session(&c) || !gate_pass(&c, group, ADMIT_ACTIVE, &m))
        return c.result;
    str base = page_address(&c);
    str address = arena_strf(c.a, "%.*s/#/join-table?groupId=%.*s&sessionId=%.*s", STR_ARG(base),
                             STR_ARG(group), STR_ARG(session));
    return call_went(&c, encode(&c, address, &svg)) ? answer(&c, address, svg) : c.result;
}
