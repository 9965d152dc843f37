/* readme_html.c -- see readme_html.h.
 *
 * Not a parser of HTML: tags are found as browsers find them, quotes around values are respected, comments
 * are passed over. What GitHub sends is its own serialisation, so that is enough; and whatever else comes, at
 * worst a value stays as it was.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/readme_html.h"

#include "core/buf.h"

typedef struct {
    buf out;
    str root, dir;
} job;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static size_t skip_blanks(str s, size_t i)
{
    while (i < s.len && is_blank(s.at[i]))
        i++;
    return i;
}

/* ---- URLs ---- */

static bool has_scheme(str url)
{
    for (size_t i = 0; i < url.len; i++) {
        char c = str_lower_char(url.at[i]);
        if (c == ':')
            return i > 0;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'))
            return false;
    }
    return false;
}

static bool is_relative(str url)
{
    return url.len > 0 && url.at[0] != '#' && !str_starts(url, STR("//")) && !has_scheme(url);
}

/* Takes back what stands behind `floor`, down to the slash before its last segment. */
static void drop_segment(buf *out, size_t floor)
{
    while (out->len > floor && out->at[out->len - 1] == '/')
        out->len--;
    while (out->len > floor && out->at[out->len - 1] != '/')
        out->len--;
}

static void add_path(buf *out, size_t floor, str path)
{
    bool trailing = str_ends(path, STR("/"));
    str  segment;
    while (str_next_field(&path, '/', &segment)) {
        if (segment.len == 0 || str_eq(segment, STR(".")))
            continue;
        if (str_eq(segment, STR(".."))) {
            drop_segment(out, floor);
            continue;
        }
        buf_add(out, segment);
        if (path.at != NULL && path.len > 0)
            buf_add_char(out, '/');
    }
    if (trailing && out->len > floor && out->at[out->len - 1] != '/')
        buf_add_char(out, '/');
}

static void add_url(job *j, str url)
{
    if (!is_relative(url)) {
        buf_add(&j->out, url);
        return;
    }
    size_t end = 0;
    while (end < url.len && url.at[end] != '?' && url.at[end] != '#')
        end++;
    buf_add(&j->out, j->root);
    size_t floor = j->out.len;
    if (url.at[0] != '/' && j->dir.len > 0) {
        add_path(&j->out, floor, j->dir);
        buf_add_char(&j->out, '/');
    }
    add_path(&j->out, floor, str_slice(url, 0, end));
    buf_add(&j->out, str_from(url, end));
}

/* "a.png 1x, b.png 2x": a URL, then perhaps a descriptor, up to a comma. */
static void add_srcset(job *j, str value)
{
    size_t i = 0;
    while (i < value.len) {
        size_t from = i;
        while (i < value.len && (is_blank(value.at[i]) || value.at[i] == ','))
            i++;
        buf_add(&j->out, str_slice(value, from, i));
        from = i;
        while (i < value.len && !is_blank(value.at[i]))
            i++;
        size_t end = i; /* a comma right behind a URL ends its candidate */
        while (end > from && value.at[end - 1] == ',')
            end--;
        if (end > from)
            add_url(j, str_slice(value, from, end));
        bool closed = end < i;
        from = end;
        while (!closed && i < value.len && value.at[i] != ',')
            i++;
        buf_add(&j->out, str_slice(value, from, i));
    }
}

/* ---- tags ---- */

static void add_value(job *j, str name, str value)
{
    size_t from = skip_blanks(value, 0);
    if (str_eq_nocase(name, STR("srcset"))) {
        add_srcset(j, value);
        return;
    }
    if (!str_eq_nocase(name, STR("src"))) {
        buf_add(&j->out, value);
        return;
    }
    size_t end = value.len;
    while (end > from && is_blank(value.at[end - 1]))
        end--;
    add_url(j, str_slice(value, from, end));
}

static size_t end_of_name(str s, size_t i)
{
    while (i < s.len && !is_blank(s.at[i]) && s.at[i] != '=' && s.at[i] != '>' && s.at[i] != '/')
        i++;
    return i;
}

/* A name with perhaps a value, at i, which is neither a blank nor > nor a slash. */
static size_t add_attribute(job *j, str s, size_t i)
{
    size_t name_end = end_of_name(s, i);
    name_end = name_end > i ? name_end : i + 1; /* a stray = is a name */
    str    name = str_slice(s, i, name_end);
    size_t at = skip_blanks(s, name_end);
    if (at >= s.len || s.at[at] != '=') {
        buf_add(&j->out, name);
        return name_end;
    }
    at = skip_blanks(s, at + 1);
    char quote = at < s.len && (s.at[at] == '"' || s.at[at] == '\'') ? s.at[at] : '\0';
    at += quote != '\0';
    size_t end = at;
    while (end < s.len && (quote != '\0' ? s.at[end] != quote : !is_blank(s.at[end]) && s.at[end] != '>'))
        end++;
    buf_add(&j->out, str_slice(s, i, at));
    add_value(j, name, str_slice(s, at, end));
    return end;
}

/* From behind the tag's name to its >, or to the end. */
static size_t add_tag(job *j, str s, size_t i)
{
    while (i < s.len && s.at[i] != '>') {
        if (is_blank(s.at[i]) || s.at[i] == '/' || s.at[i] == '"' || s.at[i] == '\'')
            buf_add_char(&j->out, s.at[i++]);
        else
            i = add_attribute(j, s, i);
    }
    return i;
}

/* The length of the name when it is one of ours, else 0. */
static size_t our_tag(str s, size_t i)
{
    static const str tags[] = {STR_INIT("img"), STR_INIT("source")};
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
        size_t end = i + tags[k].len;
        if (end < s.len && str_eq_nocase(str_slice(s, i, end), tags[k]) &&
            (is_blank(s.at[end]) || s.at[end] == '/' || s.at[end] == '>'))
            return tags[k].len;
    }
    return 0;
}

static size_t end_of_comment(str s, size_t i)
{
    return i + str_find(str_from(s, i), STR("-->"));
}

str readme_html(arena *a, str html, str root, str dir)
{
    job    j = {.root = root, .dir = dir};
    size_t i = 0;
    buf_init(&j.out, a, README_HTML_MAX);
    while (i < html.len && !j.out.failed) {
        size_t open = i + str_find_char(str_from(html, i), '<');
        size_t next = open < html.len ? open + 1 : open;
        if (str_starts(str_from(html, next), STR("!--")))
            next = end_of_comment(html, next);
        size_t name = our_tag(html, next);
        buf_add(&j.out, str_slice(html, i, next + name));
        i = name > 0 ? add_tag(&j, html, next + name) : next;
    }
    return j.out.failed ? html : buf_str(&j.out);
}
