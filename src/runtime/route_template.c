/* route_template.c -- parses ASP.NET Core's route templates, with its rules of what may stand where.
 *
 * A template is cut at slashes that stand outside braces, each segment into literals and parameters, and each
 * parameter into name, constraints, default and question mark. Doubled braces stand for single ones; they are
 * undone last, so that the cutting never mistakes one for the end.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/route_template.h"

#include <string.h>

#include "runtime/config_file.h"
#include "runtime/route_parts.h"

typedef struct {
    arena         *a;
    str            text;
    str           *error;
    str            names[ROUTE_PARAMS_MAX];
    size_t         name_count;
    route_segment *segments;
    size_t         count;
} parser;

static res refuse(parser *p, const char *why)
{
    return config_error(p->a, p->error, "route '%.*s': %s", STR_ARG(p->text), why);
}

static res refuse_param(parser *p, str name, const char *why)
{
    return config_error(p->a, p->error, "route '%.*s': parameter '%.*s' %s", STR_ARG(p->text), STR_ARG(name),
                        why);
}

/* "{{" and "}}" to "{" and "}"; the copy is made only if there is one. */
static res undouble(parser *p, str s, str *ret)
{
    if (str_find(s, STR("{{")) == s.len && str_find(s, STR("}}")) == s.len) {
        *ret = s;
        return RES_OK;
    }
    char  *to = arena_alloc(p->a, s.len);
    size_t n = 0;
    if (to == NULL)
        return config_no_memory(p->error);
    for (size_t i = 0; i < s.len; i++) {
        to[n++] = s.at[i];
        if ((s.at[i] == '{' || s.at[i] == '}') && i + 1 < s.len && s.at[i + 1] == s.at[i])
            i++;
    }
    *ret = (str){to, n};
    return RES_OK;
}

/* Offset behind the brace that closes the parameter opened at `from`; s.len + 1 when none does. */
static size_t param_end(str s, size_t from)
{
    for (size_t i = from + 1; i < s.len; i++) {
        bool twice = i + 1 < s.len && s.at[i + 1] == s.at[i];
        if (s.at[i] == '}' && !twice)
            return i + 1;
        if ((s.at[i] == '}' || s.at[i] == '{') && twice)
            i++;
        else if (s.at[i] == '{')
            break;
    }
    return s.len + 1;
}

/* Offset of the first single brace, or s.len. */
static size_t find_brace(str s, size_t from)
{
    for (size_t i = from; i < s.len; i++) {
        if (s.at[i] != '{' && s.at[i] != '}')
            continue;
        if (i + 1 < s.len && s.at[i + 1] == s.at[i])
            i++;
        else
            return i;
    }
    return s.len;
}

static res check_name(parser *p, str name)
{
    if (name.len == 0)
        return refuse(p, "a parameter has no name");
    for (size_t i = 0; i < name.len; i++)
        if (strchr("{}/*?", name.at[i]) != NULL)
            return refuse_param(p, name, "has a name with one of { } / * ?");
    for (size_t i = 0; i < p->name_count; i++)
        if (str_eq_nocase(p->names[i], name))
            return refuse_param(p, name, "appears twice");
    if (p->name_count == ROUTE_PARAMS_MAX)
        return refuse(p, "has too many parameters");
    p->names[p->name_count++] = name;
    return RES_OK;
}

/* Length of a constraint at the start of s, which ends before ':' or '=' outside its parentheses. */
static size_t constraint_length(str s, str *ret_name, str *ret_args)
{
    size_t i = 0;
    while (i < s.len && s.at[i] != ':' && s.at[i] != '=' && s.at[i] != '(')
        i++;
    *ret_name = str_slice(s, 0, i);
    *ret_args = (str){NULL, 0};
    if (i == s.len || s.at[i] != '(')
        return i;
    /* A ')' that another constraint, the default or the end follows; regular expressions hold others. */
    for (size_t close = i + 1; close < s.len; close++) {
        bool last = close + 1 == s.len || s.at[close + 1] == ':' || s.at[close + 1] == '=';
        if (s.at[close] == ')' && last) {
            *ret_args = str_slice(s, i + 1, close);
            return close + 1;
        }
    }
    return s.len + 1;
}

/* Constraints from *rest, which begins with ':', up to '=' or the end. */
static res parse_constraints(parser *p, str name, str *rest, route_part *part)
{
    route_constraint list[ROUTE_CONSTRAINTS_MAX];
    size_t           n = 0;
    while (rest->len > 0 && rest->at[0] == ':') {
        str    kind, args, why;
        str    s = str_from(*rest, 1);
        size_t length = constraint_length(s, &kind, &args);
        if (length > s.len)
            return refuse_param(p, name, "has a constraint whose '(' is not closed");
        if (n == ROUTE_CONSTRAINTS_MAX)
            return refuse_param(p, name, "has too many constraints");
        res r = undouble(p, args, &args);
        if (r == RES_OK)
            r = route_constraint_parse(p->a, kind, args, &list[n++], &why);
        else
            return r;
        if (r == RES_MEMORY)
            return config_no_memory(p->error);
        if (r != RES_OK)
            return config_error(p->a, p->error, "route '%.*s': parameter '%.*s': %.*s", STR_ARG(p->text),
                                STR_ARG(name), STR_ARG(why));
        *rest = str_from(s, length);
    }
    route_constraint *kept = arena_array(p->a, route_constraint, n);
    if (kept == NULL)
        return config_no_memory(p->error);
    memcpy(kept, list, n * sizeof *kept);
    part->constraints = kept;
    part->constraint_count = n;
    return RES_OK;
}

/* ASP.NET would load a default that its own constraint refuses, and then never match without a value. */
static res parse_default(parser *p, str name, str rest, route_part *part)
{
    if (rest.len == 0)
        return RES_OK;
    if (part->optional)
        return refuse_param(p, name, "is optional and has a default");
    res r = undouble(p, str_from(rest, 1), &part->otherwise);
    if (r != RES_OK)
        return r;
    part->has_default = true;
    if (!route_constraints_met(part->constraints, part->constraint_count, part->otherwise))
        return refuse_param(p, name, "has a default that its constraint refuses");
    return RES_OK;
}

/* What stands between the braces. */
static res parse_param(parser *p, str s, route_part *part)
{
    *part = (route_part){.is_param = true};
    for (int stars = 0; stars < 2 && s.len > 0 && s.at[0] == '*'; stars++) {
        part->catch_all = true;
        s = str_from(s, 1);
    }
    if (s.len > 0 && s.at[s.len - 1] == '?') {
        part->optional = true;
        s.len--;
    }
    size_t end = 0;
    while (end < s.len && s.at[end] != ':' && s.at[end] != '=')
        end++;
    str name = str_slice(s, 0, end), rest = str_from(s, end);

    res r = check_name(p, name);
    if (r == RES_OK && part->catch_all && part->optional)
        r = refuse_param(p, name, "is a catch-all and optional; a catch-all may always be empty");
    part->text = name;
    if (r == RES_OK)
        r = parse_constraints(p, name, &rest, part);
    if (r == RES_OK)
        r = parse_default(p, name, rest, part);
    return r;
}

static res parse_literal(parser *p, str s, route_part *part)
{
    if (str_find_char(s, '?') < s.len)
        return refuse(p, "a '?' stands outside a parameter");
    *part = (route_part){.is_param = false};
    return undouble(p, s, &part->text);
}

/* What ASP.NET demands of the parts of one segment together. */
static res check_parts(parser *p, const route_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const route_part *x = &parts[i];
        if (!x->is_param)
            continue;
        if (x->catch_all && n > 1)
            return refuse_param(p, x->text, "is a catch-all, and must fill its segment alone");
        if (i > 0 && parts[i - 1].is_param)
            return refuse_param(p, x->text, "follows another one without a literal between them");
        if (!x->optional || n == 1)
            continue;
        if (i + 1 < n)
            return refuse_param(p, x->text, "is optional, and must be the last of its segment");
        if (!str_eq(parts[i - 1].text, STR(".")))
            return refuse_param(p, x->text,
                                "is optional within a segment, where only '.' may stand before it");
    }
    return RES_OK;
}

static res parse_segment(parser *p, str s)
{
    route_part parts[ROUTE_PARTS_MAX] = {0};
    size_t     n = 0;
    for (size_t at = 0; at < s.len;) {
        if (n == ROUTE_PARTS_MAX)
            return refuse(p, "a segment has too many parts");
        size_t brace = find_brace(s, at);
        if (brace < s.len && s.at[brace] == '}')
            return refuse(p, "a '}' has no '{'");
        bool   literal = brace > at;
        size_t end = literal ? brace : param_end(s, at);
        if (end > s.len)
            return refuse(p, "a parameter is not closed");
        res r = literal ? parse_literal(p, str_slice(s, at, end), &parts[n++])
                        : parse_param(p, str_slice(s, at + 1, end - 1), &parts[n++]);
        if (r != RES_OK)
            return r;
        at = end;
    }
    res r = check_parts(p, parts, n);
    if (r != RES_OK)
        return r;

    route_part *kept = arena_array(p->a, route_part, n);
    if (kept == NULL)
        return config_no_memory(p->error);
    memcpy(kept, parts, n * sizeof *kept);
    p->segments[p->count++] = (route_segment){kept, n};
    return RES_OK;
}

/* Offset of the slash that ends the segment, or the length; slashes inside braces belong to a constraint. */
static size_t segment_end(str s)
{
    size_t at = 0;
    while (at < s.len && s.at[at] != '/') {
        bool twice = at + 1 < s.len && s.at[at + 1] == s.at[at];
        if ((s.at[at] == '{' || s.at[at] == '}') && twice)
            at += 2;
        else if (s.at[at] == '{') {
            size_t end = param_end(s, at);
            at = end > s.len ? s.len : end;
        } else
            at++;
    }
    return at;
}

static res parse_segments(parser *p)
{
    for (str rest = p->text; rest.len > 0;) {
        size_t end = segment_end(rest);
        if (end == 0)
            return refuse(p, rest.at == p->text.at ? "begins with a slash" : "has two slashes in a row");
        if (p->count == ROUTE_SEGMENTS_MAX)
            return refuse(p, "has too many segments");
        if (p->count > 0 && p->segments[p->count - 1].parts[0].catch_all)
            return refuse_param(p, p->segments[p->count - 1].parts[0].text,
                                "is a catch-all, and must be the last segment");
        res r = parse_segment(p, str_slice(rest, 0, end));
        if (r != RES_OK)
            return r;
        rest = str_from(rest, end + 1); /* one slash at the very end is allowed */
    }
    return RES_OK;
}

/* A catch-all with a constraint cannot be left out: ASP.NET holds the constraint against nothing, and none is
 * met by nothing. */
static bool may_be_missing(const route_segment *s)
{
    const route_part *x = &s->parts[0];
    return route_segment_is_param(s) &&
           (x->optional || x->has_default || (x->catch_all && x->constraint_count == 0));
}

res route_template_parse(arena *a, str text, route_template **ret, str *ret_error)
{
    parser p = {.a = a, .text = text, .error = ret_error};
    if (text.len > ROUTE_TEXT_MAX)
        return config_error(a, ret_error, "route '%.*s…': is longer than %d bytes",
                            STR_ARG(str_slice(text, 0, 40)), ROUTE_TEXT_MAX);
    if (!str_is_utf8(text) || str_find_char(text, '\0') < text.len)
        return config_error(a, ret_error, "route: is not UTF-8, or holds a zero byte");

    p.text = arena_copy(a, text);
    p.segments = arena_array(a, route_segment, ROUTE_SEGMENTS_MAX);
    route_template *r = arena_one(a, route_template);
    if (p.segments == NULL || r == NULL || (text.len > 0 && p.text.at == NULL))
        return config_no_memory(ret_error);
    res code = parse_segments(&p);
    if (code != RES_OK)
        return code;

    size_t least = p.count;
    while (least > 0 && may_be_missing(&p.segments[least - 1]))
        least--;
    *r = (route_template){.text = p.text, .segments = p.segments, .count = p.count, .least = least};
    r->catch_all = p.count > 0 && p.segments[p.count - 1].parts[0].catch_all;
    *ret = r;
    return RES_OK;
}
