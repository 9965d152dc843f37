/* call.c -- calls as the host makes them, and looking into answers; see e2e.h.
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"
#include "e2e/e2e.h"

static str chunks_of(str body, size_t each)
{
    buf out;
    buf_init(&out, scratch(), 256 * MIB);
    for (size_t at = 0; at < body.len; at += each) {
        str piece = str_slice(body, at, at + each);
        buf_addf(&out, "%zx\r\n", piece.len);
        buf_add(&out, piece);
        buf_add(&out, STR("\r\n"));
    }
    buf_add(&out, STR("0\r\n\r\n"));
    ck_assert(!out.failed);
    return buf_str(&out);
}

void invoke_send(client *c, const char *function, str envelope, framing how)
{
    const char *frame =
        how == BY_LENGTH ? textf("Content-Length: %zu", envelope.len) : "Transfer-Encoding: chunked";
    str head = arena_strf(scratch(),
                          "POST /%s HTTP/1.1\r\n"
                          "Host: 127.0.0.1:9999\r\n"
                          "X-Azure-Functions-HostVersion: 4.1037.0.23456\r\n"
                          "X-Azure-Functions-InvocationId: 6a1f0000-0000-4000-8000-00000000abcd\r\n"
                          "User-Agent: Azure-Functions-Host/4.1037.0.23456\r\n"
                          "Content-Type: application/json; charset=utf-8\r\n"
                          "%s\r\n\r\n",
                          function, frame);
    if (how == BY_SINGLE_BYTES) {
        client_send_slowly(c, head);
        client_send_slowly(c, chunks_of(envelope, 1));
        return;
    }
    ck_assert(client_send(c, head));
    (void)client_send(c, how == BY_LENGTH ? envelope : chunks_of(envelope, 16 * KIB)); /* may be refused */
}

answer invoke(int port, const char *function, str envelope, framing how)
{
    client *c = client_open(port);
    invoke_send(c, function, envelope, how);
    answer ret = client_answer(c);
    client_close(c);
    return ret;
}

const json_val *json_of(str text)
{
    const json_val *v;
    json_error      why;
    if (json_parse(scratch(), text, &v, &why) != RES_OK)
        ck_abort_msg("not JSON, %s at byte %zu: '%.*s'", why.text, why.offset, STR_ARG(text));
    return v;
}

const json_val *answer_json(const answer *a)
{
    return json_of(a->body);
}

const json_val *json_path(const json_val *v, const char *path)
{
    str rest = str_of(path), name;
    while (v != NULL && str_next_field(&rest, '/', &name))
        v = json_get_str(v, name);
    return v;
}

str text_at(const json_val *v, const char *path)
{
    const json_val *found = json_path(v, path);
    if (json_typeof(found) != JSON_STRING)
        ck_abort_msg("'%s' is no string in %.*s", path, STR_ARG(json_print_val(scratch(), v)));
    return json_text(found, (str){0});
}

int64_t int_at(const json_val *v, const char *path)
{
    const json_val *found = json_path(v, path);
    if (json_typeof(found) != JSON_NUMBER)
        ck_abort_msg("'%s' is no number in %.*s", path, STR_ARG(json_print_val(scratch(), v)));
    return json_int(found, 0);
}

const json_val *seen_of(const answer *a)
{
    ck_assert_status(*a, 200);
    const json_val *list = json_path(answer_json(a), "Outputs/seen");
    ck_assert_int_eq(json_typeof(list), JSON_ARRAY);
    ck_assert_uint_eq(json_len(list), 1);
    return json_of(json_text(json_at(list, 0), (str){0}));
}
