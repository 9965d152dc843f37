/* fuzz_xml.c -- arbitrary bytes as a document: what the parser says must hold together, and what the escaper
 * writes must be read as the same text.
 *
 * Every event but the last takes at least a byte of input or closes an empty element, so there is an end.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "storage/azure/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void touch(str s)
{
    static volatile unsigned char sum;
    for (size_t i = 0; i < s.len; i++)
        sum = (unsigned char)(sum + (unsigned char)s.at[i]);
}

static void walk(arena *a, str text)
{
    xml       x;
    xml_event event;
    size_t    depth = 0, events = 0;
    xml_init(&x, text);
    while ((event = xml_next(&x, a)) == XML_OPEN || event == XML_CLOSE) {
        demand(event == XML_OPEN || depth > 0);
        depth = event == XML_OPEN ? depth + 1 : depth - 1;
        demand(x.depth == depth && depth <= XML_DEPTH_MAX && x.name.len > 0);
        demand(++events <= text.len);
        demand(str_is_utf8(x.text));
        touch(x.name), touch(x.text), touch(xml_attribute(&x, "Name"));
    }
    demand(event == XML_BAD ? x.why != NULL : depth == 0 && x.had_root);
    demand(xml_next(&x, a) == event);
}

/* References name any character, so this holds for control characters, too. */
static void round_trip(arena *a, str text)
{
    xml x;
    str escaped = xml_escape(a, text);
    str document = arena_strf(a, "<t>%.*s</t>", STR_ARG(escaped));
    demand(document.at != NULL);
    if (!str_is_utf8(text) || document.len != escaped.len + 7) /* a NUL ends what is formatted */
        return;
    xml_init(&x, document);
    demand(xml_next(&x, a) == XML_OPEN);
    demand(xml_next(&x, a) == XML_CLOSE && str_eq(x.text, text));
    demand(xml_next(&x, a) == XML_END && xml_root_is(&x, "t"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str    text = {(const char *)data, size};
    arena *a = arena_new((size_t)256 * MIB);
    demand(a != NULL);
    walk(a, text);
    round_trip(a, text);
    arena_free(a);
    return 0;
}
