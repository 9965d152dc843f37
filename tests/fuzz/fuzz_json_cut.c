/* fuzz_json_cut.c -- any bytes, in pieces of any size: the same texts come out, none beyond the limit, and
 * one array's worth of them is what a JSON reader finds.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/json_cut.h"

enum { BUDGET = 64 * MIB, INPUT_BYTES_MAX = 16 * KIB, TEXT_MAX = 1 * KIB };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

typedef struct {
    json_cut cut;
    buf      texts;
    size_t   items, wrong;
    uint64_t offset;
} run;

static void take_all(run *r, size_t input_bytes)
{
    json_cut_item item;
    while (json_cut_next(&r->cut, &item) == JSON_CUT_ITEM) {
        must(item.text.len <= TEXT_MAX && item.line > 0);
        must(item.after.offset >= r->offset && item.after.offset <= input_bytes);
        r->offset = item.after.offset;
        r->items++;
        r->wrong += item.wrong != NULL;
        buf_addf(&r->texts, "%llu %llu %s ", (unsigned long long)item.line,
                 (unsigned long long)item.after.offset, item.wrong != NULL ? item.wrong : "");
        buf_add(&r->texts, item.text);
        buf_add_char(&r->texts, '|');
    }
}

static void cut(run *r, arena *a, str input, size_t step)
{
    json_cut_place start = {0};
    *r = (run){0};
    json_cut_init(&r->cut, &start, TEXT_MAX);
    buf_init(&r->texts, a, BUDGET);
    for (size_t at = 0; at < input.len; at += step) {
        json_cut_feed(&r->cut, str_slice(input, at, at + step));
        take_all(r, input.len);
    }
    json_cut_feed(&r->cut, (str){0});
    json_cut_end(&r->cut);
    take_all(r, input.len);
    json_cut_free(&r->cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_BYTES_MAX)
        return 0;
    arena *a = arena_new(BUDGET);
    must(a != NULL);
    str             input = {(const char *)data + 1, size - 1};
    run             whole, pieces;
    const json_val *v;
    cut(&whole, a, input, input.len + 1);
    cut(&pieces, a, input, (size_t)data[0] + 1);
    must(str_eq(buf_str(&whole.texts), buf_str(&pieces.texts)));
    if (whole.wrong == 0 && json_parse(a, input, &v, NULL) == RES_OK && json_typeof(v) == JSON_ARRAY)
        must(whole.items == json_len(v));
    arena_free(a);
    return 0;
}
