/* seen.c -- see seen.h: one place for each hash, so a newer session takes the place of an older one.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/auth/seen.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/hash.h"

/* The id's digest stands for it: secrets are not compared byte by byte, and none is kept twice. */
typedef struct {
    sha256_digest id;
    uint64_t      until_us;
    char         *text; /* NULL: free */
    size_t        len;
} place;

static place places[SEEN_MAX];

static place *place_of(const sha256_digest *d)
{
    uint32_t n;
    memcpy(&n, d->at, sizeof n);
    return &places[n % SEEN_MAX];
}

static bool holds(const place *p, const sha256_digest *id)
{
    return p->text != NULL && p->until_us > clock_mono_us() && memcmp(&p->id, id, sizeof *id) == 0;
}

bool seen_find(arena *a, str id, str *ret_text)
{
    sha256_digest d = hash_sha256(id);
    const place  *p = place_of(&d);
    if (!holds(p, &d))
        return false;
    *ret_text = arena_copy(a, (str){p->text, p->len});
    return true;
}

void seen_keep(str id, str text)
{
    sha256_digest d = hash_sha256(id);
    place        *p = place_of(&d);
    if (holds(p, &d))
        return;
    char *copy = malloc(text.len + 1);
    if (copy == NULL)
        return;
    memcpy(copy, text.at, text.len);
    free(p->text);
    *p = (place){
        .id = d, .until_us = clock_mono_us() + SEEN_FOR_S * UINT64_C(1000000), .text = copy, .len = text.len};
}

void seen_forget(void)
{
    for (size_t i = 0; i < SEEN_MAX; i++) {
        free(places[i].text);
        places[i] = (place){0};
    }
}
