/* xml.c -- see xml.h.
 *
 * The parser walks over `rest` and keeps the names of open elements in an array of fixed size: no depth of
 * input makes it use more stack. Text is a view into the document as long as it is one piece without
 * references and CR; else it is put together in the arena.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/xml.h"

#include "core/buf.h"

/* ---- characters ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name_end(char c)
{
    return is_blank(c) || c == '/' || c == '>' || c == '=' || c == '<';
}

static str take_name(str *rest)
{
    size_t len = 0;
    while (len < rest->len && !is_name_end(rest->at[len]))
        len++;
    str name = str_slice(*rest, 0, len);
    *rest = str_from(*rest, len);
    return name;
}

static void skip_blanks(str *rest)
{
    while (rest->len > 0 && is_blank(rest->at[0]))
        *rest = str_from(*rest, 1);
}

/* What stands before `end`, which is taken off too; false when there is none. */
static bool take_until(str *rest, str end, str *ret)
{
    size_t at = str_find(*rest, end);
    if (at == rest->len)
        return false;
    *ret = str_slice(*rest, 0, at);
    *rest = str_from(*rest, at + end.len);
    return true;
}

/* The end must not share bytes with the beginning: <!--> opens a comment and does not close it. */
static bool skip_between(str *rest, str begin, str end)
{
    str skipped;
    *rest = str_from(*rest, begin.len);
    return take_until(rest, end, &skipped);
}

/* ---- text ---- */

static void add_utf8(buf *out, uint32_t c)
{
    if (c >= 0x10000)
        buf_add_char(out, (char)(0xF0 | c >> 18));
    if (c >= 0x800)
        buf_add_char(out, (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3F) : 0xE0 | c >> 12));
    if (c >= 0x80)
        buf_add_char(out, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6));
    buf_add_char(out, (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c));
}

static int digit_value(char c, uint32_t base)
{
    c = str_lower_char(c);
    if (c >= '0' && c <= '9')
        return c - '0';
    return base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "#38" or "#x26", without & and ;. Any character but NUL: services write what XML 1.0 forbids, too. */
static bool numeric_reference(str name, uint32_t *ret)
{
    bool     hex = name.len > 1 && name.at[1] == 'x';
    uint32_t base = hex ? 16 : 10, c = 0;
    str      digits = str_from(name, hex ? 2 : 1);
    for (size_t i = 0; i < digits.len; i++) {
        int value = digit_value(digits.at[i], base);
        if (value < 0)
            return false;
        c = c * base + (uint32_t)value;
        if (c > 0x10FFFF)
            return false;
    }
    *ret = c;
    return c != 0 && !(c >= 0xD800 && c <= 0xDFFF);
}

static bool reference(str name, uint32_t *ret)
{
    static const struct {
        const char *name;
        char        means;
    } named[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    if (str_starts(name, STR("#")))
        return numeric_reference(name, ret);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (str_eq(name, str_of(named[i].name))) {
            *ret = (unsigned char)named[i].means;
            return true;
        }
    }
    return false;
}

/* Adds raw text, with its references resolved if asked (CDATA has none) and CR LF and CR as LF. */
static bool add_text(buf *out, str raw, bool references)
{
    while (raw.len > 0) {
        size_t plain = 0;
        while (plain < raw.len && raw.at[plain] != '\r' && !(references && raw.at[plain] == '&'))
            plain++;
        buf_add(out, str_slice(raw, 0, plain));
        raw = str_from(raw, plain);
        if (raw.len == 0)
            break;
        uint32_t c;
        str      name;
        bool     is_cr = raw.at[0] == '\r';
        raw = str_from(raw, 1);
        if (is_cr) {
            if (!str_starts(raw, STR("\n")))
                buf_add_char(out, '\n');
        } else if (take_until(&raw, STR(";"), &name) && reference(name, &c)) {
            add_utf8(out, c);
        } else {
            return false;
        }
    }
    return true;
}

/* What was read since the last tag: a view as long as possible. */
typedef struct {
    str  view;
    buf  joined;
    bool is_joined;
} content;

static bool add_piece(content *c, arena *a, str raw, bool references)
{
    bool plain = str_find_char(raw, '\r') == raw.len && !(references && str_find_char(raw, '&') < raw.len);
    if (raw.len == 0)
        return true;
    if (plain && !c->is_joined && c->view.len == 0) {
        c->view = raw;
        return true;
    }
    if (!c->is_joined) {
        buf_init(&c->joined, a, SIZE_MAX);
        buf_add(&c->joined, c->view);
        c->is_joined = true;
    }
    return add_text(&c->joined, raw, references) && !c->joined.failed;
}

/* ---- tags ---- */

static xml_event bad(xml *x, const char *why)
{
    x->why = why;
    x->rest = (str){0};
    return XML_BAD;
}

static xml_event close_element(xml *x, str name)
{
    if (x->depth == 0 || !str_eq(x->open[x->depth - 1], name))
        return bad(x, "an element is closed that was not the last one opened");
    x->depth--;
    x->name = name;
    return XML_CLOSE;
}

static xml_event read_close(xml *x)
{
    str name = take_name(&x->rest);
    skip_blanks(&x->rest);
    if (!str_starts(x->rest, STR(">")))
        return bad(x, "a closing tag has no end");
    x->rest = str_from(x->rest, 1);
    return close_element(x, name);
}

/* Takes the attributes off, up to > or />. A '>' within quotes is a part of the value. */
static bool skip_attributes(str *rest)
{
    char quote = '\0';
    for (size_t i = 0; i < rest->len; i++) {
        char c = rest->at[i];
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '<') {
            return false;
        } else if (c == '>') {
            *rest = str_from(*rest, i > 0 && rest->at[i - 1] == '/' ? i - 1 : i);
            return true;
        }
    }
    return false;
}

static xml_event read_open(xml *x)
{
    str name = take_name(&x->rest), begin = x->rest;
    if (name.len == 0)
        return bad(x, "an element has no name");
    if (x->depth == 0 && x->had_root)
        return bad(x, "there is a second root element");
    if (x->depth == XML_DEPTH_MAX)
        return bad(x, "elements are nested too deep");
    if (!skip_attributes(&x->rest))
        return bad(x, "an opening tag has no end");
    x->attributes = str_slice(begin, 0, begin.len - x->rest.len);
    x->empty_element = x->rest.at[0] == '/';
    x->rest = str_from(x->rest, x->empty_element ? 2 : 1);
    x->open[x->depth++] = name;
    x->had_root = true;
    x->name = name;
    return XML_OPEN;
}

/* ---- exported ---- */

void xml_init(xml *x, str document)
{
    *x = (xml){.rest = document};
    if (str_starts(document, STR("\xEF\xBB\xBF")))
        x->rest = str_from(document, 3);
    if (!str_is_utf8(document))
        (void)bad(x, "the text is not UTF-8");
}

static xml_event at_end(xml *x)
{
    if (x->depth > 0)
        return bad(x, "the document breaks off");
    return x->had_root ? XML_END : bad(x, "there is no element");
}

/* Takes one comment, instruction or CDATA off, if there is one. False: it has no end, or is refused. */
static bool take_aside(xml *x, arena *a, content *c, bool *ret_was_one)
{
    str raw;
    *ret_was_one = true;
    if (str_starts(x->rest, STR("<!--")))
        return skip_between(&x->rest, STR("<!--"), STR("-->"));
    if (str_starts(x->rest, STR("<?")))
        return skip_between(&x->rest, STR("<?"), STR("?>"));
    if (str_starts(x->rest, STR("<![CDATA[")) && x->depth > 0) {
        x->rest = str_from(x->rest, sizeof "<![CDATA[" - 1);
        return take_until(&x->rest, STR("]]>"), &raw) && add_piece(c, a, raw, false);
    }
    *ret_was_one = false;
    return !str_starts(x->rest, STR("<!"));
}

static bool take_text(xml *x, arena *a, content *c)
{
    str raw = str_slice(x->rest, 0, str_find_char(x->rest, '<'));
    x->rest = str_from(x->rest, raw.len);
    return x->depth > 0 ? add_piece(c, a, raw, true) : str_trim(raw).len == 0;
}

xml_event xml_next(xml *x, arena *a)
{
    content c = {0};
    bool    was_aside = true;
    if (x->why != NULL)
        return XML_BAD;
    x->text = (str){0};
    if (x->empty_element) {
        x->empty_element = false;
        return close_element(x, x->name);
    }
    x->attributes = (str){0};
    while (was_aside) {
        if (!take_text(x, a, &c))
            return bad(x, "a text is not well-formed");
        if (x->rest.len == 0)
            return at_end(x);
        if (!take_aside(x, a, &c, &was_aside))
            return bad(x, "a declaration or comment is refused or has no end");
    }
    x->rest = str_from(x->rest, 1);
    if (!str_starts(x->rest, STR("/")))
        return read_open(x);
    x->rest = str_from(x->rest, 1);
    x->text = c.is_joined ? buf_str(&c.joined) : c.view;
    return read_close(x);
}

bool xml_is_in(const xml *x, const char *name)
{
    return x->depth > 0 && str_eq(x->open[x->depth - 1], str_of(name));
}

bool xml_root_is(const xml *x, const char *name)
{
    return x->had_root && str_eq(x->open[0], str_of(name)); /* there is one root, so nothing took its place */
}

str xml_attribute(const xml *x, const char *name)
{
    str rest = x->attributes, value;
    for (;;) {
        skip_blanks(&rest);
        str found = take_name(&rest);
        skip_blanks(&rest);
        if (!str_starts(rest, STR("=")))
            return (str){0};
        rest = str_from(rest, 1);
        skip_blanks(&rest);
        str quote = str_slice(rest, 0, 1);
        rest = str_from(rest, 1);
        if (quote.len == 0 || (quote.at[0] != '"' && quote.at[0] != '\'') ||
            !take_until(&rest, quote, &value))
            return (str){0};
        if (str_eq(found, str_of(name)))
            return value;
    }
}

str xml_escape(arena *a, str text)
{
    buf out;
    buf_init(&out, a, SIZE_MAX);
    for (size_t i = 0; i < text.len; i++) {
        size_t from = i;
        while (i < text.len && text.at[i] != '&' && text.at[i] != '<' && text.at[i] != '>' &&
               text.at[i] != '\r')
            i++;
        buf_add(&out, str_slice(text, from, i));
        if (i == text.len)
            break;
        buf_add(&out, text.at[i] == '&'   ? STR("&amp;")
                      : text.at[i] == '<' ? STR("&lt;")
                      : text.at[i] == '>' ? STR("&gt;")
                                          : STR("&#13;"));
    }
    return buf_str(&out);
}
