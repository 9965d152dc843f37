/* batch_scan.c -- see batch_scan.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/batch_scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static str skip_blanks(str s)
{
    size_t n = 0;
    while (n < s.len && is_blank(s.at[n]))
        n++;
    return str_from(s, n);
}

static bool take_char(str *rest, char c)
{
    *rest = skip_blanks(*rest);
    if (rest->len == 0 || rest->at[0] != c)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

/* The offset behind the string that begins at `from`; 0: it does not end. */
static size_t end_of_string(str s, size_t from)
{
    size_t i = from + 1;
    while (i < s.len) {
        const char *quote = memchr(s.at + i, '"', s.len - i);
        if (quote == NULL)
            return 0;
        size_t at = (size_t)(quote - s.at), escapes = 0;
        while (at - escapes > from + 1 && s.at[at - escapes - 1] == '\\')
            escapes++;
        if (escapes % 2 == 0)
            return at + 1;
        i = at + 1;
    }
    return 0;
}

/* Brackets are counted, whatever their kind; a pair that does not match is no JSON, and is found as such by
 * who reads the element. */
static size_t end_of_container(str s, size_t *ret_deepest)
{
    size_t depth = 0, deepest = 0, i = 0;
    while (i < s.len) {
        char c = s.at[i];
        if (c == '"') {
            i = end_of_string(s, i);
            if (i == 0)
                return 0;
            continue;
        }
        i++;
        if (c == '{' || c == '[') {
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            *ret_deepest = deepest;
            return i;
        }
    }
    return 0;
}

static size_t end_of_scalar(str s)
{
    size_t i = 0;
    while (i < s.len && !is_blank(s.at[i]) && s.at[i] != ',' && s.at[i] != ']' && s.at[i] != '}')
        i++;
    return i;
}

bool batch_scan_value(str *rest, batch_element *ret)
{
    str    s = skip_blanks(*rest);
    size_t depth = 0, end;
    if (s.len == 0)
        return false;
    if (s.at[0] == '{' || s.at[0] == '[')
        end = end_of_container(s, &depth);
    else
        end = s.at[0] == '"' ? end_of_string(s, 0) : end_of_scalar(s);
    if (end == 0)
        return false;
    *ret = (batch_element){.text = str_slice(s, 0, end), .depth = depth};
    *rest = str_from(s, end);
    return true;
}

/* Behind the opening bracket. */
static bool scan_elements(str *rest, batch_element *elements, size_t most, size_t *ret_count)
{
    batch_element one;
    *ret_count = 0;
    if (take_char(rest, ']'))
        return true;
    do {
        if (!batch_scan_value(rest, &one))
            return false;
        if (*ret_count < most)
            elements[*ret_count] = one;
        ++*ret_count;
    } while (take_char(rest, ','));
    return take_char(rest, ']');
}

/* The key as it is written: nobody has a reason to escape letters in it. */
static bool is_records(str key)
{
    return str_eq(key, STR("\"records\""));
}

typedef struct {
    batch_element    *elements;
    size_t            most, *ret_count;
    batch_skipped_fn *skipped;
    void             *ctx;
    bool              found; /* the last member of that name counts, as in any JSON here */
} object_scan;

static bool scan_member(str *rest, object_scan *o)
{
    batch_element key, value;
    *rest = skip_blanks(*rest);
    if (rest->len == 0 || rest->at[0] != '"' || !batch_scan_value(rest, &key) || !take_char(rest, ':'))
        return false;
    *rest = skip_blanks(*rest);
    if (!o->skipped(key.text, 0, o->ctx))
        return false;
    if (is_records(key.text)) {
        str array = *rest;
        o->found = take_char(&array, '[');
        if (o->found) {
            *rest = array;
            return scan_elements(rest, o->elements, o->most, o->ret_count);
        }
    }
    return batch_scan_value(rest, &value) && o->skipped(value.text, value.depth, o->ctx);
}

static bool scan_object(str *rest, object_scan *o)
{
    if (take_char(rest, '}'))
        return true;
    do
        if (!scan_member(rest, o))
            return false;
    while (take_char(rest, ','));
    return take_char(rest, '}');
}

batch_scan_end batch_scan(str body, batch_element *elements, size_t most, size_t *ret_count,
                          batch_skipped_fn *skipped, void *ctx)
{
    object_scan o = {
        .elements = elements, .most = most, .ret_count = ret_count, .skipped = skipped, .ctx = ctx};
    batch_element other;
    str           rest = body;
    bool          whole;
    *ret_count = 0;
    if (take_char(&rest, '[')) {
        o.found = true;
        whole = scan_elements(&rest, elements, most, ret_count);
    } else if (take_char(&rest, '{')) {
        whole = scan_object(&rest, &o);
    } else {
        whole = batch_scan_value(&rest, &other) && skipped(other.text, other.depth, ctx);
    }
    if (!whole || skip_blanks(rest).len > 0)
        return BATCH_SCAN_BROKEN;
    return o.found ? BATCH_SCAN_OK : BATCH_SCAN_OTHER;
}
