/* fuzz_actions_text.c -- any bytes as a list's cursor (first byte even) or as a record's copy (odd).
 *
 * What is accepted must come back the same when it is made anew.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/actions/copy.h"
#include "domain/actions/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void try_cursor(arena *a, str text)
{
    str token, again;
    if (!cursor_read(a, text, &token))
        return;
    demand(token.len > 0);
    demand(cursor_read(a, cursor_make(a, token), &again) && str_eq(token, again));
}

static void try_copy(arena *a, str text)
{
    entity e, again;
    if (!copy_read(a, STR("o"), STR("n"), text, &e))
        return;
    str made = copy_make(a, &e);
    demand(copy_read(a, STR("o"), STR("n"), made, &again));
    demand(entity_same(&e, &again) && str_eq(e.etag, again.etag) && e.timestamp == again.timestamp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = size > 0 ? arena_new(16 * MIB) : NULL;
    if (a == NULL)
        return 0;
    str text = {(const char *)data + 1, size - 1};
    if (data[0] % 2 == 0)
        try_cursor(a, text);
    else
        try_copy(a, text);
    arena_free(a);
    return 0;
}
