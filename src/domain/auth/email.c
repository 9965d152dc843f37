/* email.c -- addresses, and the keys that stand for them.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/auth.h"

str auth_email(arena *a, str text)
{
    text = str_trim(text);
    char *lower = arena_alloc(a, text.len + 1);
    if (lower == NULL)
        return (str){0};
    for (size_t i = 0; i < text.len; i++)
        lower[i] = str_lower_char(text.at[i]);
    lower[text.len] = '\0';
    return (str){lower, text.len};
}

/* A control character or a blank would let an address say more than one thing in a mail's header. */
static bool is_printable(str email)
{
    for (size_t i = 0; i < email.len; i++)
        if ((unsigned char)email.at[i] <= ' ' || email.at[i] == 0x7f)
            return false;
    return true;
}

bool auth_email_plausible(str email)
{
    size_t at = str_find_char(email, '@');
    if (at == 0 || at >= email.len || email.len > AUTH_EMAIL_MAX || !is_printable(email) ||
        !str_is_utf8(email))
        return false;
    str    host = str_from(email, at + 1);
    size_t dot = str_find_char(host, '.');
    return dot > 0 && dot < host.len && host.at[host.len - 1] != '.' && host.at[0] != '.';
}

void auth_user_key(str email, char ret[SHA256_HEX + 1])
{
    sha256_digest d = hash_sha256(email);
    (void)hash_hex(&d, ret);
}

str auth_member_key_of(arena *a, str user_key)
{
    return arena_strf(a, "auth:%.*s", STR_ARG(user_key));
}

str auth_short_id(str id)
{
    return str_slice(id, 0, 8);
}
