/* fuzz_readme_html.c -- any bytes as a README: nothing is lost, and no picture climbs out of its repository.
 *
 * The first byte is the length of the folder, which follows; the rest is the page.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/actions/readme_html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOT "https://raw.example/o/r/main/"

static void demand(bool holds)
{
    if (!holds)
        abort();
}

/* What stands between two roots taken out of it is shorter than what went in; nothing else was added. */
static size_t roots_in(str s)
{
    size_t n = 0;
    for (size_t at = 0; (at += str_find(str_from(s, at), STR(ROOT))) < s.len; at += STR(ROOT).len)
        n++;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = size > 0 ? arena_new(64 * MIB) : NULL;
    if (a == NULL)
        return 0;
    str    rest = {(const char *)data + 1, size - 1};
    str    dir = str_slice(rest, 0, data[0] % 32), html = str_from(rest, dir.len);
    str    got = readme_html(a, html, STR(ROOT), dir);
    size_t added = roots_in(got) - roots_in(html);
    demand(roots_in(got) >= roots_in(html) || str_has(html, STR(ROOT)));
    demand(got.len <= README_HTML_MAX || got.len == html.len);
    demand(str_has(html, STR(ROOT)) || got.len <= html.len + added * (STR(ROOT).len + dir.len + 2));
    demand(str_find_char(html, '<') < html.len || str_eq(got, html));
    arena_free(a);
    return 0;
}
