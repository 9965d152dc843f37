/* cursor.c -- see cursor.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/cursor.h"

#include "core/base64.h"
#include "core/json.h"

enum { CURSOR_MAX = 32 * KIB };

str cursor_make(arena *a, str token)
{
    if (token.len == 0)
        return (str){0};
    json *body = json_object(a);
    json_set_str(body, "continuation", token);
    return base64_encode(a, json_print(a, body));
}

bool cursor_read(arena *a, str cursor, str *ret_token)
{
    str             text;
    const json_val *body;
    if (cursor.len == 0 || cursor.len > CURSOR_MAX)
        return false;
    if (!base64_decode(a, cursor, &text) && !base64url_decode(a, cursor, &text))
        return false;
    if (json_parse(a, text, &body, NULL) != RES_OK)
        return false;
    *ret_token = json_text(json_get(body, "continuation"), (str){0});
    return ret_token->len > 0;
}
