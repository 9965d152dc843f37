/* fuzz_multipart.c -- arbitrary bytes as the answer to a batch: the first line is its Content-Type, the rest
 * its body.
 *
 * Every part lies inside the body and has a status; there are never more than were asked for.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "storage/azure/multipart.h"

enum { PARTS_MAX = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void demand_inside(str part, str whole)
{
    static volatile unsigned char sum;
    demand(part.len == 0 || (part.at >= whole.at && part.at + part.len <= whole.at + whole.len));
    for (size_t i = 0; i < part.len; i++)
        sum = (unsigned char)(sum + (unsigned char)part.at[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str            text = {(const char *)data, size};
    size_t         line = str_find_char(text, '\n');
    str            type = str_slice(text, 0, line), body = str_from(text, line + 1);
    size_t         count = 0;
    multipart_part parts[PARTS_MAX];

    demand_inside(multipart_boundary(type), type);
    demand(multipart_boundary(type).len <= MULTIPART_BOUNDARY_MAX);
    if (multipart_read(type, body, parts, PARTS_MAX, &count) == RES_OK) {
        demand(count > 0 && count <= PARTS_MAX);
        for (size_t i = 0; i < count; i++) {
            demand(parts[i].status >= 100 && parts[i].status <= 599);
            demand_inside(parts[i].etag, body);
            demand_inside(parts[i].body, body);
        }
    }
    str message = text;
    (void)multipart_take_index(&message);
    demand_inside(message, text);
    return 0;
}
