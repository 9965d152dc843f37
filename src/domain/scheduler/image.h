/* image.h -- images that people send: told by their first bytes, never by what is said of them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_IMAGE_H
#define TRESTLE_DOMAIN_SCHEDULER_IMAGE_H

#include "core/arena.h"

enum { IMAGE_BYTES_MAX = 3 * MIB };

typedef enum { IMAGE_NONE, IMAGE_JPEG, IMAGE_PNG, IMAGE_WEBP } image_type;

image_type  image_sniff(str bytes);
/* "image/png", "image/jpg" too, with or without parameters, any case; IMAGE_NONE: none that is taken. */
image_type  image_type_of(str mime);
const char *image_mime(image_type type);      /* "image/jpeg" */
const char *image_extension(image_type type); /* "jpg" */

typedef enum {
    IMAGE_OK,
    IMAGE_BLANK,     /* nothing was sent */
    IMAGE_MALFORMED, /* no base64, or no data URL in base64 */
    IMAGE_TOO_LARGE, /* above IMAGE_BYTES_MAX */
    IMAGE_FOREIGN,   /* bytes of no type that is taken */
    IMAGE_LIES       /* the data URL names another type than that of the bytes */
} image_verdict;

typedef struct {
    image_type type;
    str        bytes;
} image;

/* From base64, raw or as a data URL ("data:image/png;base64,…"). What came with it in another member
 * (imageMime) is for the caller to compare: image_type_of(said) == ret->type. */
image_verdict image_from_base64(arena *a, str text, image *ret);
/* The same checks for bytes. */
image_verdict image_from_bytes(str bytes, image *ret);

#endif
