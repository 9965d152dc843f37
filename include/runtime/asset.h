/* asset.h -- a file that is part of the binary, and how it is served.
 *
 *     ASSET(document, openapi_json, "application/json; charset=utf-8");      (at file scope)
 *     …
 *     return reply_asset(t, in, out, &document, "public, max-age=300");
 *
 * `openapi_json` is the file's name in meson.build's list of assets, with every mark made '_'. The bytes are
 * the file's own: the assembler puts them between asset_openapi_json and asset_openapi_json_end (asset.S).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ASSET_H
#define TRESTLE_RUNTIME_ASSET_H

#include "core/hash.h"
#include "runtime/http.h"

/* What is worked out at the first request, for nothing may be hashed before the server listens. */
typedef struct {
    char   tag[SHA256_HEX + 3];        /* SHA-256 of the file, in quotes: its ETag */
    char   packed_tag[SHA256_HEX + 8]; /* another representation, so another tag */
    char  *packed;                     /* gzip; NULL: it would not be smaller */
    size_t packed_bytes;
} asset_facts;

typedef struct {
    const char  *from, *to; /* first byte, and the one behind the last */
    const char  *type;      /* Content-Type */
    asset_facts *facts;     /* NULL: not asked for yet */
} asset;

#define ASSET(variable, file, content_type)                 \
    extern const char asset_##file[], asset_##file##_end[]; \
    static asset      variable = {asset_##file, asset_##file##_end, content_type, NULL}

static inline str asset_text(const asset *f)
{
    return (str){f->from, (size_t)(f->to - f->from)};
}

/* 200 with the file, as gzip where Accept-Encoding allows, or 304 where If-None-Match has its ETag. The first
 * call waits: a thread hashes and packs the file. cache: the value of Cache-Control. */
res reply_asset(task *t, const request *in, reply *out, asset *f, const char *cache) MUST_USE;

void asset_forget(asset *f); /* frees the facts; the next reply works them out anew */

#endif
