/* xml.h -- the XML of blob and queue lists: a pull parser without recursion, and an escaper.
 *
 *     xml_init(&x, body);
 *     while ((event = xml_next(&x, a)) == XML_OPEN || event == XML_CLOSE)
 *         if (event == XML_CLOSE && str_eq(x.name, STR("Name")) && xml_is_in(&x, "Blob")) … x.text …
 *     if (event == XML_BAD) … x.why …
 *
 * What services send needs elements, text, CDATA, the five named entities and numeric ones; comments and
 * processing instructions are skipped, attributes are looked up only when asked for. A document type is
 * refused: it is the door to entities that expand without end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_XML_H
#define TRESTLE_STORAGE_AZURE_XML_H

#include "core/arena.h"

enum { XML_DEPTH_MAX = 32 };

typedef enum { XML_OPEN, XML_CLOSE, XML_END, XML_BAD } xml_event;

typedef struct {
    str    name;  /* of the element that was opened or closed */
    str    text;  /* at XML_CLOSE: what stands before it, since the last tag; all of it where nothing nests */
    size_t depth; /* of elements that are open; one that is being closed no longer counts */
    const char *why; /* at XML_BAD; static */

    /* the parser's own */
    str  rest;
    str  attributes; /* of the element that was opened */
    str  open[XML_DEPTH_MAX];
    bool empty_element; /* opened by <name/>: its close comes next */
    bool had_root;
} xml;

void      xml_init(xml *x, str document); /* which must stay; names and plain texts look into it */
/* XML_END and XML_BAD come again for ever. `a` is for texts with entities in them. */
xml_event xml_next(xml *x, arena *a);
bool      xml_is_in(const xml *x, const char *name); /* the innermost open element has this name */
/* At the end: so a page of some proxy is told from an answer that lists nothing. */
bool      xml_root_is(const xml *x, const char *name);
/* Raw, of the element that was opened last; the empty str when there is none. For plain values. */
str       xml_attribute(const xml *x, const char *name);

/* Text for between two tags. CR becomes a reference, since readers take it for LF. */
str xml_escape(arena *a, str text);

#endif
