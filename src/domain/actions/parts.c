/* parts.c -- see parts.h. It does not recurse: inside of a value only the depth of brackets is counted.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/parts.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static str skip_blanks(str s)
{
    size_t i = 0;
    while (i < s.len && is_blank(s.at[i]))
        i++;
    return str_from(s, i);
}

/* The length of the string that begins here, with both quotes; 0: it does not end. */
static size_t string_len(str s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.at[i] == '\\')
            i++;
        else if (s.at[i] == '"')
            return i + 1;
    }
    return 0;
}

static size_t scalar_len(str s)
{
    size_t i = 0;
    while (i < s.len && !is_blank(s.at[i]) && memchr(",]}", s.at[i], 3) == NULL)
        i++;
    return i;
}

static size_t container_len(str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '"') {
            size_t n = string_len(str_from(s, i));
            if (n == 0)
                return 0;
            i += n - 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* 0: there is no value, or it does not end. */
static size_t value_len(str s)
{
    if (s.len == 0)
        return 0;
    if (s.at[0] == '"')
        return string_len(s);
    return s.at[0] == '{' || s.at[0] == '[' ? container_len(s) : scalar_len(s);
}

parts parts_of(str text)
{
    text = skip_blanks(text);
    char opening = text.len > 0 ? text.at[0] : '\0';
    if (opening != '{' && opening != '[')
        return (parts){.damaged = true};
    return (parts){.left = str_from(text, 1), .closing = opening == '{' ? '}' : ']', .first = true};
}

static bool give_up(parts *p)
{
    p->damaged = true;
    return false;
}

/* Past the key and its colon: false when there is none. */
static bool take_key(str *left, part *one)
{
    size_t n = left->len > 0 && left->at[0] == '"' ? string_len(*left) : 0;
    if (n == 0)
        return false;
    one->key = str_slice(*left, 1, n - 1);
    *left = skip_blanks(str_from(*left, n));
    if (left->len == 0 || left->at[0] != ':')
        return false;
    *left = skip_blanks(str_from(*left, 1));
    return true;
}

bool parts_next(parts *p, part *ret)
{
    part one = {0};
    str  left = skip_blanks(p->left);
    if (p->damaged || left.len == 0)
        return give_up(p);
    if (left.at[0] == p->closing) {
        p->left = left; /* stays at its end */
        return false;
    }
    if (!p->first && left.at[0] != ',')
        return give_up(p);
    left = p->first ? left : skip_blanks(str_from(left, 1));
    one.whole = left;
    if (p->closing == '}' && !take_key(&left, &one))
        return give_up(p);
    size_t n = value_len(left);
    if (n == 0)
        return give_up(p);
    one.value = str_slice(left, 0, n);
    one.whole.len = (size_t)(left.at + n - one.whole.at);
    p->left = str_from(left, n);
    p->first = false;
    *ret = one;
    return true;
}

bool parts_member(str object, str key, part *ret)
{
    bool  found = false;
    part  one, last = {0};
    parts p = parts_of(object);
    while (parts_next(&p, &one))
        if (str_eq(one.key, key)) {
            last = one;
            found = true;
        }
    if (p.damaged || p.closing != '}' || !found)
        return false;
    *ret = last;
    return true;
}
