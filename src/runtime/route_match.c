/* route_match.c -- holds paths against templates, and templates against each other, as ASP.NET Core's matcher
 * does.
 *
 * A path is cut at its slashes while it is still escaped, and each segment is unescaped afterwards: an
 * escaped slash stays inside its segment. Dot segments are literals like any other. A segment of several
 * parts is matched from its end, each literal at its last possible place: {a}.{b} takes "x.y.z" apart as
 * "x.y" and "z". Nothing here recurses or allocates per template.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/route_parts.h"

/* ---- paths ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char low = str_lower_char(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* Unescapes into `to` and notes where segments begin; the number of bytes, or -1 at a bad escape. */
static ptrdiff_t unescape(str path, char *to, route_path *p)
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i == path.len || path.at[i] == '/') {
            if (p->count <= ROUTE_SEGMENTS_MAX)
                p->segments[p->count++] = (str){to + from, n - from};
            if (i < path.len)
                to[n++] = '/';
            from = n;
            continue;
        }
        char c = path.at[i];
        if (c == '%') {
            int high = i + 2 < path.len ? hex_value(path.at[i + 1]) : -1;
            int low = i + 2 < path.len ? hex_value(path.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return -1;
            c = (char)(high * 16 + low);
            i += 2;
        }
        to[n++] = c;
    }
    return (ptrdiff_t)n;
}

/* Without escapes the segments look into the path itself. */
static void cut_plain(str path, route_path *p)
{
    const char *at = path.at, *end = path.at + path.len;
    p->whole = path;
    while (p->count <= ROUTE_SEGMENTS_MAX) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        p->segments[p->count++] = (str){at, (size_t)(stop - at)};
        if (slash == NULL)
            return;
        at = slash + 1;
    }
}

static bool is_plain_ascii(str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.at[i];
    return all < 0x80;
}

res route_path_cut(arena *a, str path, route_path *ret)
{
    if (path.len == 0 || path.at[0] != '/')
        return RES_NOT_FOUND;
    path = str_from(path, 1);
    ret->count = 0;
    ret->whole = path;
    if (path.len == 0)
        return RES_OK;

    if (memchr(path.at, '%', path.len) == NULL) {
        cut_plain(path, ret);
    } else {
        char *to = arena_alloc(a, path.len);
        if (to == NULL)
            return RES_MEMORY;
        ptrdiff_t n = unescape(path, to, ret);
        if (n < 0)
            return RES_NOT_FOUND;
        ret->whole = (str){to, (size_t)n};
    }
    if (!is_plain_ascii(ret->whole) && !str_is_utf8(ret->whole))
        return RES_NOT_FOUND;
    if (memchr(ret->whole.at, '\0', ret->whole.len) != NULL)
        return RES_NOT_FOUND;

    /* One slash at the end is ignored. With more segments than any template has, it does not matter. */
    if (ret->count <= ROUTE_SEGMENTS_MAX && ret->segments[ret->count - 1].len == 0)
        ret->count--;
    return RES_OK;
}

/* ---- one path, one template ---- */

typedef struct {
    http_header *at;
    size_t       count;
} values;

static void take(values *v, const route_part *x, str value)
{
    v->at[v->count++] = (http_header){x->text, value};
}

static bool keep(values *v, const route_part *x, str value)
{
    if (!route_constraints_met(x->constraints, x->constraint_count, value))
        return false;
    take(v, x, value);
    return true;
}

/* Offset of the last occurrence that ends at or before `end`; SIZE_MAX when there is none. */
static size_t find_last(str s, str literal, size_t end)
{
    if (literal.len > end)
        return SIZE_MAX;
    for (size_t at = end - literal.len + 1; at-- > 0;)
        if (str_eq_nocase(str_slice(s, at, at + literal.len), literal))
            return at;
    return SIZE_MAX;
}

/* The first `n` parts against all of the segment, from the right. Values come out last first; their order
 * does not matter. Each parameter takes at least one byte. */
static bool match_parts(const route_part *parts, size_t n, str s, values *v)
{
    size_t            end = s.len; /* what is right of it has found its part */
    const route_part *pending = NULL;
    for (size_t i = n; i-- > 0;) {
        const route_part *x = &parts[i];
        if (x->is_param) {
            pending = x;
            continue;
        }
        size_t room = pending != NULL ? end - 1 : end;
        if (end == 0 || room == 0)
            return false;
        size_t at = find_last(s, x->text, room);
        if (at == SIZE_MAX || (i + 1 == n && at + x->text.len != s.len))
            return false;
        if (pending != NULL)
            take(v, pending, str_slice(s, at + x->text.len, end));
        pending = NULL;
        end = at;
    }
    if (pending == NULL)
        return end == 0;
    if (end == 0)
        return false;
    take(v, pending, str_slice(s, 0, end));
    return true;
}

/* Constraints are held against the values after the segment was taken apart, and never lead to another way of
 * taking it apart. */
static bool parts_allow(const route_segment *g, const http_header *taken, size_t count)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < count; k++)
            if (taken[k].name.at == g->parts[i].text.at &&
                !route_constraints_met(g->parts[i].constraints, g->parts[i].constraint_count, taken[k].value))
                return false;
    return true;
}

/* "{file}.{ext?}": with the extension, or else without it and its dot; but "name." is neither. */
static bool match_segment(const route_segment *g, str s, values *v)
{
    size_t before = v->count;
    if (!match_parts(g->parts, g->count, s, v)) {
        v->count = before;
        const route_part *last = &g->parts[g->count - 1];
        if (!last->is_param || !last->optional || g->count < 3 || str_ends(s, g->parts[g->count - 2].text))
            return false;
        if (!match_parts(g->parts, g->count - 2, s, v))
            return false;
    }
    return parts_allow(g, v->at + before, v->count - before);
}

static bool match_one(const route_segment *g, str s, values *v)
{
    if (s.len == 0)
        return false;
    if (route_segment_is_literal(g))
        return str_eq_nocase(g->parts[0].text, s);
    if (route_segment_is_param(g))
        return keep(v, &g->parts[0], s);
    return match_segment(g, s, v);
}

/* Defaults fill what the path leaves out; optional parameters stay absent, and so does an empty catch-all. */
static void fill_defaults(const route_template *r, size_t from, values *v)
{
    for (size_t i = from; i < r->count; i++) {
        const route_part *x = &r->segments[i].parts[0];
        if (x->has_default)
            v->at[v->count++] = (http_header){x->text, x->otherwise};
    }
}

bool route_template_match_cut(const route_template *r, const route_path *p, http_header ret[ROUTE_PARAMS_MAX],
                              size_t *ret_count)
{
    values v = {.at = ret};
    if (p->count < r->least || (p->count > r->count && !r->catch_all))
        return false;

    size_t i = 0;
    for (; i < p->count && i < r->count; i++) {
        const route_segment *g = &r->segments[i];
        if (!g->parts[0].catch_all) {
            if (!match_one(g, p->segments[i], &v))
                return false;
            continue;
        }
        if (p->segments[i].len == 0)
            return false;
        size_t at = (size_t)(p->segments[i].at - p->whole.at);
        if (!keep(&v, &g->parts[0], str_from(p->whole, at)))
            return false;
        i = r->count;
        break;
    }
    fill_defaults(r, i, &v);
    *ret_count = v.count;
    return true;
}

bool route_template_match(arena *a, const route_template *r, str path, http_header **ret_params,
                          size_t *ret_count)
{
    route_path  p;
    http_header found[ROUTE_PARAMS_MAX];
    size_t      n;
    if (route_path_cut(a, path, &p) != RES_OK || !route_template_match_cut(r, &p, found, &n))
        return false;
    http_header *kept = arena_array(a, http_header, n);
    if (kept == NULL)
        return false;
    memcpy(kept, found, n * sizeof *kept);
    *ret_params = kept;
    *ret_count = n;
    return true;
}

/* ---- two templates ---- */

/* Literals at the same end of two segments: one must begin (or end) with the other. */
static bool ends_agree(const route_part *x, const route_part *y, bool at_end)
{
    if (x->is_param || y->is_param)
        return true;
    str longer = x->text.len >= y->text.len ? x->text : y->text;
    str other = x->text.len >= y->text.len ? y->text : x->text;
    return at_end ? str_ends_nocase(longer, other) : str_starts_nocase(longer, other);
}

/* Can one text match both segments? Unsure means yes. */
static bool segments_overlap(const route_segment *x, const route_segment *y)
{
    http_header scratch[ROUTE_PARAMS_MAX];
    values      v = {.at = scratch};
    if (x->parts[0].catch_all || y->parts[0].catch_all)
        return true;
    if (route_segment_is_literal(x))
        return match_one(y, x->parts[0].text, &v);
    if (route_segment_is_literal(y))
        return match_one(x, y->parts[0].text, &v);
    if (route_segment_is_param(x) && route_segment_is_param(y))
        return !route_constraints_exclude(x->parts[0].constraints, x->parts[0].constraint_count,
                                          y->parts[0].constraints, y->parts[0].constraint_count);
    if (route_segment_is_param(x) || route_segment_is_param(y))
        return true;
    const route_part *x_last = &x->parts[x->count - 1], *y_last = &y->parts[y->count - 1];
    bool              loose = x_last->optional || y_last->optional;
    return ends_agree(&x->parts[0], &y->parts[0], false) && (loose || ends_agree(x_last, y_last, true));
}

/* A path with more segments has to agree in all of those of a shorter one, and in others besides: so the
 * shortest path that both could match decides. */
bool route_template_overlap(const route_template *a, const route_template *b)
{
    size_t n = a->least > b->least ? a->least : b->least;
    if ((n > a->count && !a->catch_all) || (n > b->count && !b->catch_all))
        return false;
    for (size_t i = 0; i < n && i < a->count && i < b->count; i++) {
        const route_segment *x = &a->segments[i], *y = &b->segments[i];
        if (x->parts[0].catch_all || y->parts[0].catch_all)
            return true;
        if (!segments_overlap(x, y))
            return false;
    }
    return true;
}

static int segment_rank(const route_template *r, size_t i)
{
    if (i >= r->count)
        return 0;
    const route_segment *g = &r->segments[i];
    if (route_segment_is_literal(g))
        return 1;
    if (!route_segment_is_param(g))
        return 2;
    if (g->parts[0].catch_all)
        return 5;
    return g->parts[0].constraint_count > 0 ? 3 : 4;
}

int route_template_compare(const route_template *a, const route_template *b)
{
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        int order = segment_rank(a, i) - segment_rank(b, i);
        if (order != 0)
            return order;
    }
    return 0;
}
