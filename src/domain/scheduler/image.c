/* image.c -- see image.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/image.h"

#include <assert.h>

#include "core/base64.h"

/* By type. WebP's signature has the file's length in its middle. */
static const struct {
    str         begin, at_eight;
    const char *mime, *extension;
} types[] = {
    [IMAGE_NONE] = {.mime = "application/octet-stream", .extension = "bin"},
    [IMAGE_JPEG] = {.begin = STR_INIT("\xff\xd8\xff"), .mime = "image/jpeg", .extension = "jpg"},
    [IMAGE_PNG] = {.begin = STR_INIT("\x89PNG\r\n\x1a\n"), .mime = "image/png", .extension = "png"},
    [IMAGE_WEBP] = {.begin = STR_INIT("RIFF"),
                    .at_eight = STR_INIT("WEBP"),
                    .mime = "image/webp",
                    .extension = "webp"},
};

enum { TYPES = sizeof types / sizeof *types, EIGHT = 8 };

image_type image_sniff(str bytes)
{
    for (size_t i = IMAGE_NONE + 1; i < TYPES; i++)
        if (str_starts(bytes, types[i].begin) && str_starts(str_from(bytes, EIGHT), types[i].at_eight))
            return (image_type)i;
    return IMAGE_NONE;
}

image_type image_type_of(str mime)
{
    str bare = str_trim(str_slice(mime, 0, str_find_char(mime, ';')));
    if (str_eq_nocase(bare, STR("image/jpg")))
        return IMAGE_JPEG;
    for (size_t i = IMAGE_NONE + 1; i < TYPES; i++)
        if (str_eq_nocase(bare, str_of(types[i].mime)))
            return (image_type)i;
    return IMAGE_NONE;
}

const char *image_mime(image_type type)
{
    assert((size_t)type < TYPES);
    return types[type].mime;
}

const char *image_extension(image_type type)
{
    assert((size_t)type < TYPES);
    return types[type].extension;
}

image_verdict image_from_bytes(str bytes, image *ret)
{
    image_type type = image_sniff(bytes);
    if (bytes.len == 0)
        return IMAGE_BLANK;
    if (bytes.len > IMAGE_BYTES_MAX)
        return IMAGE_TOO_LARGE;
    if (type == IMAGE_NONE)
        return IMAGE_FOREIGN;
    *ret = (image){type, bytes};
    return IMAGE_OK;
}

/* "data:image/png;base64,iVBOR…": false when it begins so and goes on otherwise. */
static bool strip_data_url(str *text, str *ret_mime)
{
    if (!str_starts_nocase(*text, STR("data:")))
        return true;
    size_t comma = str_find_char(*text, ',');
    str    head = str_slice(*text, STR("data:").len, comma);
    if (comma == text->len || !str_ends_nocase(head, STR(";base64")))
        return false;
    *ret_mime = str_slice(head, 0, head.len - STR(";base64").len);
    *text = str_from(*text, comma + 1);
    return true;
}

image_verdict image_from_base64(arena *a, str text, image *ret)
{
    str   mime = {0}, bytes;
    image found;
    text = str_trim(text);
    if (text.len == 0)
        return IMAGE_BLANK;
    if (!strip_data_url(&text, &mime))
        return IMAGE_MALFORMED;
    if (text.len > base64_len(IMAGE_BYTES_MAX)) /* told without decoding it */
        return IMAGE_TOO_LARGE;
    if (!base64_decode(a, text, &bytes))
        return IMAGE_MALFORMED;
    image_verdict v = image_from_bytes(bytes, &found);
    if (v != IMAGE_OK)
        return v;
    if (mime.len > 0 && image_type_of(mime) != found.type)
        return IMAGE_LIES;
    *ret = found;
    return IMAGE_OK;
}
