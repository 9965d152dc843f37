/* json_cut.c -- see json_cut.h.
 *
 *     lines   START -> LINE_BEGIN -> LINE -> LINE_BEGIN …
 *     array   START -> FIRST -> ELEMENT -> AFTER -,-> NEXT -> ELEMENT …   AFTER -]-> TAIL
 *
 * Inside an element only strings and the depth of brackets count. Brackets that do not match make an element
 * that is no JSON, which its reader will say.
 *
 * SPDX-License-Identifier: MIT */
#include "core/json_cut.h"

#include <string.h>

enum { START, LINE_BEGIN, LINE, FIRST, NEXT, ELEMENT, AFTER, TAIL, TRAILING, DONE };

static const char bom_bytes[] = "\xef\xbb\xbf";
enum { BOM_BYTES = 3 };

void json_cut_init(json_cut *c, const json_cut_place *from, size_t text_max)
{
    *c = (json_cut){.at = *from, .text_max = text_max};
    c->state = from->form == JSON_CUT_LINES ? LINE_BEGIN : from->form == JSON_CUT_ARRAY ? AFTER : START;
    buf_init(&c->held, NULL, text_max);
}

void json_cut_free(json_cut *c)
{
    buf_free(&c->held);
}

void json_cut_feed(json_cut *c, str piece)
{
    c->piece = piece;
}

void json_cut_end(json_cut *c)
{
    c->ended = true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Passes over bytes of the piece. */
static void pass(json_cut *c, size_t bytes)
{
    str gone = str_slice(c->piece, 0, bytes);
    for (const char *lf; gone.len > 0 && (lf = memchr(gone.at, '\n', gone.len)) != NULL; c->at.line++)
        gone = str_from(gone, (size_t)(lf - gone.at) + 1);
    c->at.offset += bytes;
    c->piece = str_from(c->piece, bytes);
}

static void pass_blanks(json_cut *c)
{
    size_t n = 0;
    while (n < c->piece.len && is_blank(c->piece.at[n]))
        n++;
    pass(c, n);
}

static void begin(json_cut *c, int state)
{
    c->state = state;
    c->begin_line = c->at.line + 1;
    c->depth = 0;
    c->in_string = c->escaped = c->too_long = false;
    buf_clear(&c->held);
}

/* Keeps bytes of a text that does not end in this piece. */
static void hold(json_cut *c, str bytes)
{
    if (!c->too_long && bytes.len > 0 && !buf_add(&c->held, bytes)) {
        c->too_long = true;
        buf_free(&c->held);
    }
}

/* The text ends `bytes` into the piece; *ret gets all of it, from the piece itself if it began there. */
static void finish(json_cut *c, size_t bytes, json_cut_item *ret)
{
    str last = str_slice(c->piece, 0, bytes), text = last;
    if (c->held.len > 0 || c->too_long || last.len > c->text_max) {
        hold(c, last);
        text = buf_str(&c->held); /* empty when it is too long */
    }
    pass(c, bytes);
    *ret = (json_cut_item){.text = str_trim(text), .line = c->begin_line};
    ret->too_long = c->too_long;
    if (c->too_long)
        ret->wrong = "longer than the limit";
}

static json_cut_found give(const json_cut *c, json_cut_item *ret)
{
    ret->after = c->at;
    return JSON_CUT_ITEM;
}

static json_cut_found need_more(const json_cut *c)
{
    return c->ended ? JSON_CUT_DONE : JSON_CUT_MORE;
}

/* ---- which form ---- */

/* True: decided, or nothing is left to decide by. A BOM that breaks off is the beginning of a line. */
static bool decide(json_cut *c)
{
    while (c->bom < BOM_BYTES && c->at.offset == c->bom && c->piece.len > 0 &&
           c->piece.at[0] == bom_bytes[c->bom]) {
        c->bom++;
        pass(c, 1);
    }
    if (c->bom > 0 && c->bom < BOM_BYTES && (c->piece.len > 0 || c->ended)) {
        begin(c, LINE);
        hold(c, (str){bom_bytes, c->bom});
        c->at.form = JSON_CUT_LINES;
        return true;
    }
    pass_blanks(c);
    if (c->piece.len == 0)
        return false;
    bool array = c->piece.at[0] == '[';
    c->at.form = array ? JSON_CUT_ARRAY : JSON_CUT_LINES;
    if (array)
        pass(c, 1);
    begin(c, array ? FIRST : LINE);
    return true;
}

/* ---- lines ---- */

static json_cut_found next_line(json_cut *c, json_cut_item *ret)
{
    for (;;) {
        if (c->state == LINE_BEGIN)
            begin(c, LINE);
        const char *lf = c->piece.len > 0 ? memchr(c->piece.at, '\n', c->piece.len) : NULL;
        if (lf == NULL && !c->ended) {
            hold(c, c->piece);
            pass(c, c->piece.len);
            return JSON_CUT_MORE;
        }
        finish(c, lf != NULL ? (size_t)(lf - c->piece.at) : c->piece.len, ret);
        if (lf != NULL)
            pass(c, 1);
        c->state = lf != NULL ? LINE_BEGIN : DONE;
        if (ret->text.len > 0 || ret->wrong != NULL)
            return give(c, ret);
        if (c->state == DONE)
            return JSON_CUT_DONE;
    }
}

/* ---- an array ---- */

/* How much of the piece belongs to the element; *ret_whole: it ends there, before a comma or bracket. */
static size_t element_bytes(json_cut *c, bool *ret_whole)
{
    str p = c->piece;
    for (size_t i = 0; i < p.len; i++) {
        char byte = p.at[i];
        if (c->in_string) {
            if (c->escaped)
                c->escaped = false;
            else if (byte == '\\')
                c->escaped = true;
            else if (byte == '"')
                c->in_string = false;
            continue;
        }
        if (c->depth == 0 && (byte == ',' || byte == ']')) {
            *ret_whole = true;
            return i;
        }
        c->in_string = byte == '"';
        if (byte == '{' || byte == '[')
            c->depth++;
        else if ((byte == '}' || byte == ']') && c->depth > 0)
            c->depth--;
    }
    *ret_whole = false;
    return p.len;
}

static json_cut_found end_early(json_cut *c, json_cut_item *ret)
{
    finish(c, 0, ret);
    ret->too_long = false;
    ret->wrong = "the input ends inside the array";
    c->state = DONE;
    return give(c, ret);
}

static json_cut_found next_element(json_cut *c, json_cut_item *ret)
{
    bool   whole;
    size_t bytes = element_bytes(c, &whole);
    if (!whole) {
        hold(c, c->piece);
        pass(c, bytes);
        return c->ended ? end_early(c, ret) : JSON_CUT_MORE;
    }
    finish(c, bytes, ret);
    if (ret->text.len == 0 && ret->wrong == NULL)
        ret->wrong = "a comma without an element before it";
    c->state = AFTER;
    return give(c, ret);
}

/* A bracket ends the array, also where an element is due: then a comma is too many. */
static json_cut_found close_array(json_cut *c, json_cut_item *ret)
{
    bool comma = c->state == NEXT;
    begin(c, TAIL);
    pass(c, 1);
    if (!comma)
        return JSON_CUT_MORE;
    *ret = (json_cut_item){.wrong = "a comma without an element behind it", .line = c->begin_line};
    return give(c, ret);
}

/* Behind the array may be blanks. Anything else is one item, whatever its length. */
static json_cut_found next_behind(json_cut *c, json_cut_item *ret)
{
    if (c->state == TAIL)
        pass_blanks(c);
    if (c->piece.len == 0 && c->state == TAIL)
        return need_more(c);
    if (c->state == TAIL)
        begin(c, TRAILING);
    pass(c, c->piece.len);
    if (!c->ended)
        return JSON_CUT_MORE;
    *ret = (json_cut_item){.wrong = "something stands behind the end of the array", .line = c->begin_line};
    c->state = DONE;
    return give(c, ret);
}

static json_cut_found next_in_array(json_cut *c, json_cut_item *ret)
{
    for (;;) {
        if (c->state == ELEMENT)
            return next_element(c, ret);
        if (c->state == TAIL || c->state == TRAILING)
            return next_behind(c, ret);
        pass_blanks(c);
        if (c->piece.len == 0 && !c->ended)
            return JSON_CUT_MORE;
        if (c->piece.len == 0) {
            begin(c, ELEMENT); /* one that does not come: forgets the text before it */
            return end_early(c, ret);
        }
        char byte = c->piece.at[0];
        if (byte == ']' && close_array(c, ret) == JSON_CUT_ITEM)
            return JSON_CUT_ITEM;
        if (byte == ']')
            continue;
        if (c->state == AFTER && byte == ',') {
            pass(c, 1);
            c->state = NEXT;
            continue;
        }
        begin(c, ELEMENT);
    }
}

json_cut_found json_cut_next(json_cut *c, json_cut_item *ret)
{
    if (c->state == DONE)
        return JSON_CUT_DONE;
    if (c->state == START && !decide(c))
        return need_more(c);
    return c->at.form == JSON_CUT_LINES ? next_line(c, ret) : next_in_array(c, ret);
}
