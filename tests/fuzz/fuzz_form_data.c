/* fuzz_form_data.c -- a Content-Type on the first line, behind it any bytes as a form; and all of them as an
 * image in text.
 *
 * Every part is a view into the body, and names are told apart; an image that is taken is what its bytes say.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/form_data.h"

#include <stdlib.h>

#include "domain/scheduler/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static bool inside(str part, str whole)
{
    return part.len == 0 || (part.at >= whole.at && part.at + part.len <= whole.at + whole.len);
}

static void check_form(const form_data *f, str body)
{
    demand(f->len <= FORM_PARTS_MAX);
    for (size_t i = 0; i < f->len; i++) {
        const form_part *p = &f->at[i];
        demand(p->name.len > 0 && form_data_find(f, p->name) == p);
        demand(inside(p->name, body) && inside(p->filename, body) && inside(p->type, body) &&
               inside(p->body, body));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str       all = {(const char *)data, size}, rest = all, type = {0};
    form_data f;
    image     got;
    arena    *a = arena_new(64 * MIB);
    if (a == NULL)
        return 0;
    (void)str_next_field(&rest, '\n', &type);
    if (form_data_read(type, rest, &f))
        check_form(&f, rest);
    if (image_from_base64(a, all, &got) == IMAGE_OK)
        demand(got.type != IMAGE_NONE && got.type == image_sniff(got.bytes) &&
               got.bytes.len <= IMAGE_BYTES_MAX);
    arena_free(a);
    return 0;
}
