/* json_cut.h -- cuts a stream into JSON texts, in bounded memory: lines (NDJSON), or the elements of one
 * array.
 *
 * It finds where each text begins and ends and looks no closer: whether it is JSON at all is for json_parse.
 * Which of the two it is, is told by the first byte that is neither blank nor part of a BOM: '[' begins an
 * array. Blank lines are left out; lines may end in CR LF.
 *
 *     json_cut_feed(&c, piece);
 *     while (json_cut_next(&c, &item) == JSON_CUT_ITEM) …     after the last piece: json_cut_end, and once
 * more
 *
 * A text that is too long, or a break in the array around the texts, is an item too, with `wrong` saying what
 * it is; what follows it is cut as before. How the stream is split into pieces makes no difference.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_JSON_CUT_H
#define TRESTLE_CORE_JSON_CUT_H

#include "core/buf.h"

typedef enum { JSON_CUT_UNKNOWN, JSON_CUT_LINES, JSON_CUT_ARRAY } json_cut_form;

/* Between two texts: where a cutter can go on later. All zero (line too): the beginning. */
typedef struct {
    json_cut_form form;
    uint64_t      offset; /* of the next byte */
    uint64_t      line;   /* line feeds before it */
} json_cut_place;

typedef struct {
    str            text;     /* without blanks around it; valid until the next call */
    const char    *wrong;    /* static; NULL: nothing is known against it */
    bool           too_long; /* that is what is wrong */
    uint64_t       line;     /* on which it begins; 1 is the first */
    json_cut_place after;
} json_cut_item;

typedef enum { JSON_CUT_ITEM, JSON_CUT_MORE /* feed it, or end it */, JSON_CUT_DONE } json_cut_found;

typedef struct {
    json_cut_place at;
    size_t         text_max;
    str            piece; /* what of it is left */
    buf            held;  /* the beginning of a text that goes on in the next piece; on the heap */
    uint64_t       begin_line;
    int            state;
    unsigned       bom, depth;
    bool           ended, in_string, escaped, too_long;
} json_cut;

void           json_cut_init(json_cut *c, const json_cut_place *from, size_t text_max);
void           json_cut_free(json_cut *c);
/* The piece must live until json_cut_next has said JSON_CUT_MORE. */
void           json_cut_feed(json_cut *c, str piece);
void           json_cut_end(json_cut *c);
json_cut_found json_cut_next(json_cut *c, json_cut_item *ret) MUST_USE;

#endif
