/* fuzz_session.c -- any bytes as a session's blob, as its id, as an address, and as the token of a magic
 * link.
 *
 * A session that is taken has a plausible address and the key that belongs to it. A token that was not signed
 * is never taken; signed as it stands, it is taken only if it reads back the same after it has been made
 * anew.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "domain/auth/session_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET STR("a secret of the fuzzer alone")

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_session(arena *a, str text)
{
    auth_user s;
    int64_t   expires_us;
    char      key[SHA256_HEX + 1];
    if (!session_decode(a, STR("the-id"), text, &s, &expires_us))
        return;
    demand(auth_email_plausible(s.email) && str_eq(auth_email(a, s.email), s.email));
    auth_user_key(s.email, key);
    demand(strcmp(key, s.user_key) == 0 && s.kind <= SESSION_GRACE);
    str member_key = auth_member_key(a, &s);
    demand(str_starts(member_key, STR("auth:")) || str_eq(member_key, STR("guest:the-id")));
    for (size_t i = 0; i < member_key.len; i++)
        demand(member_key.at[i] >= ' ' && strchr("/\\#?", member_key.at[i]) == NULL);
    demand(s.kind != SESSION_GRACE || !auth_in_scope(&s, STR("")));
}

static void check_id(str id)
{
    if (!session_id_ok(id))
        return;
    demand(id.len > 0 && id.len <= SESSION_ID_MAX);
    demand(str_find_char(id, '/') == id.len && str_find_char(id, '\\') == id.len);
}

static void check_signed(arena *a, str payload)
{
    auth_token    got, again;
    str           encoded = base64url_encode(a, payload);
    sha256_digest mac = hash_hmac_sha256(SECRET, encoded);
    str           signature = base64url_encode(a, (str){(const char *)mac.at, sizeof mac.at});
    str           text = arena_strf(a, "%.*s.%.*s", STR_ARG(encoded), STR_ARG(signature));
    if (auth_token_read(a, SECRET, text, 0, &got) != RES_OK)
        return;
    demand(got.expires_s > 0 && auth_email_plausible(got.email));
    demand(auth_token_read(a, SECRET, text, got.expires_s, &again) == RES_TIMEOUT);
    demand(auth_token_read(a, STR("another secret"), text, 0, &again) == RES_INVALID);
    str made = auth_token_make(a, SECRET, &got);
    if (made.len <= 4096)
        demand(auth_token_read(a, SECRET, made, 0, &again) == RES_OK && str_eq(again.email, got.email) &&
               str_eq(again.return_to, got.return_to) && again.expires_s == got.expires_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auth_token got;
    arena     *a = arena_new(16 * MIB);
    if (a == NULL)
        return 0;
    str text = {(const char *)data, size};
    check_session(a, text);
    check_id(text);
    check_signed(a, text);
    demand(auth_token_read(a, SECRET, text, 0, &got) != RES_OK);
    arena_free(a);
    return 0;
}
