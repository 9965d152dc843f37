/* fuzz_canon.c -- any bytes: canonicalising does not crash, is idempotent, gives JSON, and refuses what
 * yyjson refuses, but for lone surrogates.
 *
 * Each input is tried as it is, and again at the end of a text that is long enough to be read in place; both
 * ways must agree.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/canon.h"
#include "core/json.h"

enum { BUDGET = 64 * MIB, INPUT_BYTES_MAX = 64 * KIB, PADDING = 64 * KIB };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* JSON.stringify writes a lone surrogate as an escape, which yyjson refuses. */
static bool has_surrogate_escape(str text)
{
    return str_has(text, STR("\\ud"));
}

/* [0,…,TEXT], its blanks being what makes it long; on the heap, so that reading past its end is seen. */
static str long_text(str text)
{
    size_t len = PADDING + text.len + 1;
    char  *at = malloc(len);
    must(at != NULL);
    memset(at, ' ', PADDING);
    memcpy(at, "[0", 2);
    at[PADDING - 1] = ',';
    if (text.len > 0)
        memcpy(at + PADDING, text.at, text.len);
    at[len - 1] = ']';
    return (str){at, len};
}

static void check_long(arena *a, str text, str canonical)
{
    str longer = long_text(text), got;
    must(canon_json(a, longer, &got, NULL) == RES_OK);
    must(got.len == canonical.len + strlen("[0,]"));
    must(str_eq(str_slice(got, 3, got.len - 1), canonical));
    free((char *)(uintptr_t)longer.at);
}

/* A text of CANON_DEPTH_MAX levels is too deep inside a longer one; such inputs are not tried so. */
static bool may_be_too_deep(str text)
{
    size_t open = 0;
    for (size_t i = 0; i < text.len; i++)
        open += text.at[i] == '[' || text.at[i] == '{';
    return open >= CANON_DEPTH_MAX;
}

static void check(arena *a, str text)
{
    const json_val *v;
    canon_error     err = {.offset = SIZE_MAX};
    str             once, twice;

    res r = canon_json(a, text, &once, &err);
    if (r != RES_OK) {
        must(r == RES_INVALID && err.offset <= text.len && err.text != NULL);
        must(json_parse(a, text, &v, NULL) == RES_INVALID);
        return;
    }
    must(canon_json(a, once, &twice, NULL) == RES_OK);
    must(str_eq(once, twice));
    must(json_parse(a, once, &v, NULL) == RES_OK || has_surrogate_escape(once));
    must(json_parse(a, text, &v, NULL) == RES_OK || str_has(text, STR("\\u")));
    if (!may_be_too_deep(text))
        check_long(a, text, once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = {(const char *)data, size};
    if (size > INPUT_BYTES_MAX)
        return 0;
    arena *a = arena_new(BUDGET);
    must(a != NULL);
    check(a, text);
    arena_free(a);
    return 0;
}
