/* fuzz_snapshot.c -- any bytes as a stored document: the index of a snapshot and the reading of a catalogue
 * of versions stay inside of them, and what a search finds is an item that holds the word.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "domain/actions/search.h"
#include "domain/actions/snapshot_index.h"
#include "domain/actions/versions.h"

enum { INPUT_BYTES_MAX = 64 * KIB };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool is_inside(str part, str whole)
{
    return part.at >= whole.at && part.at + part.len <= whole.at + whole.len;
}

static void search_it(str text, const snapshot_index *x)
{
    search_query q = {.words = {STR("a")}, .count = 1, .limit = SEARCH_LIMIT_MAX};
    search_found found;
    uint32_t    *room = calloc(x->count + 1, sizeof *room);
    must(room != NULL);
    search_run(&q, buf_str(&x->haystacks), x->items, x->count, room, &found);
    must(found.total <= x->count && found.count <= found.total);
    for (size_t i = 0; i < found.count; i++) {
        const snapshot_item *item = &x->items[found.page[i]];
        must(str_has(item->haystack, STR("a")) && is_inside(item->json, text));
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char           etag[VERSIONS_ETAG_BYTES];
    snapshot_index x;
    versions       v;
    if (size > INPUT_BYTES_MAX)
        return 0;
    str text = {(const char *)data, size};
    res r = snapshot_index_make(text, &x);
    must(r == RES_OK || r == RES_UPSTREAM);
    if (r == RES_OK) {
        search_it(text, &x);
        snapshot_index_free(&x);
    }
    r = versions_read(text, etag, &v);
    must(r == RES_OK || r == RES_UPSTREAM);
    if (r == RES_OK)
        must(v.generated_at.len == 0 || is_inside(v.generated_at, text));
    return 0;
}
