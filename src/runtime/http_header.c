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

/* ---- conditions ---- */

static str opaque_tag(str tag)
{
    tag = str_trim(tag);
    return str_starts(tag, STR("W/")) ? str_from(tag, 2) : tag;
}

bool http_etag_matches(str if_none_match, str etag)
{
    str one;
    while (str_next_field(&if_none_match, ',', &one))
        if (str_eq(str_trim(one), STR("*")) || (etag.len > 0 && str_eq(opaque_tag(one), opaque_tag(etag))))
            return true;
    return false;
}

/* ---- codings ---- */

/* RFC 9110 §12.4.2: a weight of 0, with up to three more digits of nothing, means "not this one". */
static bool is_refused(str parameters)
{
    str one;
    while (str_next_field(&parameters, ';', &one)) {
        one = str_trim(one);
        if (!str_starts_nocase(one, STR("q=")))
            continue;
        str weight = str_from(one, 2);
        for (size_t i = 0; i < weight.len; i++)
            if (weight.at[i] >= '1' && weight.at[i] <= '9')
                return false;
        return true;
    }
    return false;
}

bool http_accepts(str accept_encoding, str coding)
{
    bool any = false;
    str  one;
    while (str_next_field(&accept_encoding, ',', &one)) {
        size_t end = str_find_char(one, ';');
        str    name = str_trim(str_slice(one, 0, end));
        bool   wanted = !is_refused(str_from(one, end));
        if (str_eq_nocase(name, coding))
            return wanted;
        if (str_eq(name, STR("*")))
            any = wanted;
    }
    return any;
}
