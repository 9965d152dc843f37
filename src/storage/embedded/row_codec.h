/* row_codec.h -- how entities lie in the file: properties as bytes, keys that sort, ETags of ticks.
 *
 *     body      01  count  property …
 *     property  type  length name  value
 *     value     String, Guid, Binary: length bytes | Int32, Int64, DateTime: zigzag number |
 *               Double: 8 bytes, the lowest first | Boolean: 00 or 01
 *
 * Numbers and lengths have seven bits a byte, the lowest first. Reading takes any bytes: what is no row is
 * told, never trusted.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_ROW_CODEC_H
#define TRESTLE_STORAGE_EMBEDDED_ROW_CODEC_H

#include "core/buf.h"
#include "storage/entity.h"

void row_put_number(buf *out, uint64_t n);
void row_put_text(buf *out, str s); /* its length first */
bool row_take_number(str *rest, uint64_t *ret) MUST_USE;
bool row_take_text(str *rest, str *ret) MUST_USE; /* borrowed from *rest */

/* Appends a body; look at out->failed. */
void row_encode(const property *props, size_t count, buf *out);
/* How many properties the body says that it has, at most ENTITY_PROPS_MAX. */
bool row_count(str body, size_t *ret) MUST_USE;
/* Into props, which has room for row_count(); names and texts are borrowed from the body. With a select (NULL
 * at its end) only those of these names. */
bool row_decode(str body, const char *const *select, property *props, size_t *ret_count) MUST_USE;

/* Azure orders keys by UTF-16 units, where U+E000 to U+FFFF come after all that needs two. The leading bytes
 * of just these, EE and EF, are stored as FE and FF, which never occur in UTF-8: so memcmp gives that order.
 */
bool row_key_is_plain(str key); /* it is stored as it is */
void row_key_store(str key, char *out);
void row_key_load(char *key, size_t len);

enum { ROW_ETAG_BYTES = 64 };
/* W/"datetime'2026-11-18T05%3A20%3A43.7001453Z'" */
str  row_etag(edm_ticks ticks, char out[ROW_ETAG_BYTES]);
bool row_etag_parse(str etag, edm_ticks *ret) MUST_USE;

#endif
