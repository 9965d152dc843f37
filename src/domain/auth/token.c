/* token.c -- what a magic link carries: a payload, a dot, and a signature over the payload as it is written
 * (specification §1.3).
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "core/id.h"
#include "core/json.h"
#include "domain/auth.h"

enum { TOKEN_MAX = 4096, TOKEN_VERSION = 1 };

static str sign(arena *a, str secret, str payload)
{
    sha256_digest mac = hash_hmac_sha256(secret, payload);
    return base64url_encode(a, (str){(const char *)mac.at, sizeof mac.at});
}

str auth_token_make(arena *a, str secret, const auth_token *token)
{
    char  jti[UUID_TEXT + 1];
    json *v = json_object(a);
    json_set_int(v, "v", TOKEN_VERSION);
    json_set_str(v, "sub", token->email);
    json_set_str(v, "jti", id_uuid(jti));
    json_set_str(v, "purpose", STR("login"));
    json_set_int(v, "iat", token->issued_s);
    json_set_int(v, "exp", token->expires_s);
    if (token->return_to.len > 0)
        json_set_str(v, "returnTo", token->return_to);
    str payload = base64url_encode(a, json_print(a, v)), mac = sign(a, secret, payload);
    return arena_strf(a, "%.*s.%.*s", STR_ARG(payload), STR_ARG(mac));
}

/* Everything but the time. */
static bool is_sound(const json_val *v, auth_token *ret)
{
    const json_val *issued = json_get(v, "iat"), *expires = json_get(v, "exp");
    str             jti = json_text(json_get(v, "jti"), (str){0});
    ret->email = json_text(json_get(v, "sub"), (str){0});
    ret->return_to = json_text(json_get(v, "returnTo"), (str){0});
    ret->issued_s = json_int(issued, 0);
    ret->expires_s = json_int(expires, 0);
    return json_int(json_get(v, "v"), 0) == TOKEN_VERSION &&
           str_eq(json_text(json_get(v, "purpose"), (str){0}), STR("login")) &&
           auth_email_plausible(ret->email) && str_trim(jti).len > 0 && json_typeof(issued) == JSON_NUMBER &&
           json_typeof(expires) == JSON_NUMBER;
}

res auth_token_read(arena *a, str secret, str text, int64_t now_s, auth_token *ret)
{
    size_t          dot = str_find_char(text, '.');
    str             payload = str_slice(text, 0, dot), mac = str_from(text, dot + 1), decoded;
    const json_val *v;
    auth_token      token;
    if (text.len > TOKEN_MAX || payload.len == 0 || mac.len == 0 || secret.len == 0)
        return RES_INVALID;
    if (!hash_equal(mac, sign(a, secret, payload)))
        return RES_INVALID;
    if (!base64url_decode(a, payload, &decoded) || json_parse(a, decoded, &v, NULL) != RES_OK ||
        json_typeof(v) != JSON_OBJECT || !is_sound(v, &token))
        return RES_INVALID;
    if (token.expires_s <= now_s)
        return RES_TIMEOUT;
    *ret = token;
    return RES_OK;
}
