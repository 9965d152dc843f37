/* http_header.c -- header lines: finding one, and what may stand in them.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/http_header.h"

/* The token characters of RFC 9110 §5.6.2, one bit each: word n holds bytes 32n … 32n+31. */
static const uint32_t token_bits[8] = {
    0x00000000, /* control bytes */
    0x03ff6cfa, /* ! # $ % & ' * + - . and the digits */
    0xc7fffffe, /* A … Z ^ _ */
    0x57ffffff, /* ` a … z | ~ */
};

static bool is_token_char(unsigned char c)
{
    return (token_bits[c >> 5] >> (c & 31) & 1) != 0;
}

str http_header_get(const http_header *list, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].name.len == name.len && str_eq_nocase(list[i].name, name))
            return list[i].value.at != NULL ? list[i].value : STR("");
    return (str){NULL, 0};
}

bool http_header_name_ok(str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_token_char((unsigned char)name.at[i]))
            return false;
    return name.len > 0;
}

bool http_header_value_ok(str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if ((c < ' ' && c != '\t') || c > '~')
            return false;
    }
    return true;
}
