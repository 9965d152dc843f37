/* form_data.c -- see form_data.h.
 *
 *     --boundary CRLF  header lines CRLF  CRLF  body  CRLF --boundary CRLF  …  CRLF --boundary-- [CRLF]
 *
 * Time is linear in the body: each search goes on behind what the one before has found.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/form_data.h"

#include <string.h>

#define CRLF   STR("\r\n")
#define DASHES STR("--")

/* ---- header values ---- */

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_boundary_char(char c)
{
    return is_token_char(c) || (c != '\0' && strchr("(),/:=? ", c) != NULL);
}

static str skip_blanks(str s)
{
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s = str_from(s, 1);
    return s;
}

static str take_token(str *rest)
{
    size_t n = 0;
    while (n < rest->len && is_token_char(rest->at[n]))
        n++;
    str token = str_slice(*rest, 0, n);
    *rest = str_from(*rest, n);
    return token;
}

/* Behind the opening quote; a backslash takes the next character with it. */
static bool take_quoted(str *rest, str *ret)
{
    for (size_t i = 0; i < rest->len; i++) {
        if (rest->at[i] == '\\') {
            i++;
        } else if (rest->at[i] == '"') {
            *ret = str_slice(*rest, 0, i);
            *rest = str_from(*rest, i + 1);
            return true;
        }
    }
    return false;
}

/* "; name=value" or "; name="value"": false at the end, and for what is no parameter (then *ret_bad). */
static bool next_parameter(str *rest, str *ret_name, str *ret_value, bool *ret_bad)
{
    *rest = skip_blanks(*rest);
    if (rest->len == 0)
        return false;
    *ret_bad = true;
    if (rest->at[0] != ';')
        return false;
    *rest = skip_blanks(str_from(*rest, 1));
    *ret_name = take_token(rest);
    if (ret_name->len == 0 || !str_starts(*rest, STR("=")))
        return false;
    *rest = str_from(*rest, 1);
    if (str_starts(*rest, STR("\""))) {
        *rest = str_from(*rest, 1);
        if (!take_quoted(rest, ret_value))
            return false;
    } else {
        *ret_value = take_token(rest);
        if (ret_value->len == 0)
            return false;
    }
    *ret_bad = false;
    return true;
}

static bool read_boundary(str content_type, str *ret)
{
    str    name, value, found = {0};
    bool   bad = false;
    size_t semicolon = str_find_char(content_type, ';');
    str    rest = str_from(content_type, semicolon);
    if (!str_eq_nocase(str_trim(str_slice(content_type, 0, semicolon)), STR("multipart/form-data")))
        return false;
    while (next_parameter(&rest, &name, &value, &bad))
        if (str_eq_nocase(name, STR("boundary"))) {
            if (found.len > 0)
                return false;
            found = value;
        }
    for (size_t i = 0; i < found.len; i++)
        if (!is_boundary_char(found.at[i]))
            return false;
    *ret = found;
    return !bad && found.len > 0 && found.len <= FORM_BOUNDARY_MAX && found.at[found.len - 1] != ' ';
}

/* ---- the lines above a part's body ---- */

static bool read_disposition(str value, form_part *p)
{
    str  name, text;
    bool bad = false;
    if (!str_eq_nocase(take_token(&value), STR("form-data")))
        return false;
    while (next_parameter(&value, &name, &text, &bad)) {
        str *to = str_eq_nocase(name, STR("name"))       ? &p->name
                  : str_eq_nocase(name, STR("filename")) ? &p->filename
                                                         : NULL;
        if (to != NULL && to->at != NULL)
            return false;
        if (to != NULL)
            *to = text;
    }
    return !bad && p->name.len > 0;
}

static bool read_line(str line, form_part *p, bool *has_disposition)
{
    str name = take_token(&line);
    if (name.len == 0 || !str_starts(line, STR(":")))
        return false;
    str value = str_trim(str_from(line, 1));
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.at[i] < ' ' && value.at[i] != '\t')
            return false;
    if (str_eq_nocase(name, STR("Content-Disposition"))) {
        bool again = *has_disposition;
        *has_disposition = true;
        return !again && read_disposition(value, p);
    }
    if (str_eq_nocase(name, STR("Content-Type"))) {
        bool again = p->type.at != NULL;
        p->type = value;
        return !again;
    }
    return !str_eq_nocase(name, STR("Content-Transfer-Encoding")) || str_eq_nocase(value, STR("binary")) ||
           str_eq_nocase(value, STR("8bit")) || str_eq_nocase(value, STR("7bit"));
}

/* Leaves *rest behind the empty line. */
static bool read_lines(str *rest, form_part *p)
{
    bool has_disposition = false;
    for (size_t n = 0; n <= FORM_LINES_MAX; n++) {
        str    window = str_slice(*rest, 0, FORM_LINE_MAX + CRLF.len);
        size_t end = str_find(window, CRLF);
        if (end == window.len)
            return false;
        *rest = str_from(*rest, end + CRLF.len);
        if (end == 0)
            return has_disposition;
        if (!read_line(str_slice(window, 0, end), p, &has_disposition))
            return false;
    }
    return false;
}

/* ---- parts ---- */

typedef enum { MARK_NONE, MARK_NEXT, MARK_LAST } mark;

/* What follows "--boundary"; what only begins like one is content. */
static mark mark_at(str behind)
{
    if (str_starts(behind, CRLF))
        return MARK_NEXT;
    return str_eq(behind, DASHES) || str_eq(behind, STR("--\r\n")) ? MARK_LAST : MARK_NONE;
}

/* Takes the body, and the boundary behind it. */
static mark take_body(str *rest, str boundary, str *ret)
{
    char delimiter[sizeof "\r\n--" + FORM_BOUNDARY_MAX];
    memcpy(delimiter, "\r\n--", 4);
    memcpy(delimiter + 4, boundary.at, boundary.len);
    str    mark_text = {delimiter, boundary.len + 4};
    size_t from = 0;
    for (;;) {
        size_t at = from + str_find(str_from(*rest, from), mark_text);
        if (at >= rest->len)
            return MARK_NONE;
        str  behind = str_from(*rest, at + mark_text.len);
        mark found = mark_at(behind);
        if (found != MARK_NONE) {
            *ret = str_slice(*rest, 0, at);
            *rest = str_from(behind, CRLF.len);
            return found;
        }
        from = at + mark_text.len;
    }
}

const form_part *form_data_find(const form_data *f, str name)
{
    for (size_t i = 0; i < f->len; i++)
        if (str_eq(f->at[i].name, name))
            return &f->at[i];
    return NULL;
}

bool form_data_read(str content_type, str body, form_data *ret)
{
    str       boundary;
    form_data f = {0};
    if (!read_boundary(content_type, &boundary) || !str_starts(body, DASHES) ||
        !str_starts(str_from(body, DASHES.len), boundary))
        return false;
    str  rest = str_from(body, DASHES.len + boundary.len);
    mark m = mark_at(rest);
    rest = str_from(rest, CRLF.len);
    while (m == MARK_NEXT) {
        form_part p = {0};
        if (f.len == FORM_PARTS_MAX || !read_lines(&rest, &p))
            return false;
        m = take_body(&rest, boundary, &p.body);
        if (form_data_find(&f, p.name) != NULL)
            return false;
        f.at[f.len++] = p;
    }
    if (m != MARK_LAST)
        return false;
    *ret = f;
    return true;
}
