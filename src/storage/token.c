/* token.c -- continuation tokens: a back end's position as text that is fit for a URL.
 *
 *     base64url of:  version | kind | hash of all that follows, 4 bytes | position
 *
 * The hash is no signature: it tells tokens from accidents (cut, mistyped, of another list), so that these
 * are refused here and do not become strange answers of a service. Whoever forges one sees what any query
 * could show him.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base64.h"
#include "facade.h"

enum { VERSION = 1, HEAD_BYTES = 6, TOKEN_MAX = 16 * KIB };

/* FNV-1a, of 32 bits. */
static uint32_t hash(token_kind kind, str position)
{
    uint32_t h = (2166136261u ^ (unsigned)kind) * 16777619u;
    for (size_t i = 0; i < position.len; i++)
        h = (h ^ (unsigned char)position.at[i]) * 16777619u;
    return h;
}

static void write_head(token_kind kind, str position, char head[HEAD_BYTES])
{
    uint32_t h = hash(kind, position);
    head[0] = VERSION;
    head[1] = (char)kind;
    for (unsigned i = 0; i < 4; i++)
        head[2 + i] = (char)(h >> (8 * i));
}

str token_encode(arena *a, token_kind kind, str position)
{
    if (position.len == 0)
        return STR("");
    char *bytes = arena_alloc(a, HEAD_BYTES + position.len);
    write_head(kind, position, bytes);
    memcpy(bytes + HEAD_BYTES, position.at, position.len);
    return base64url_encode(a, (str){bytes, HEAD_BYTES + position.len});
}

res token_decode(task *t, token_kind kind, str token, str *ret_position)
{
    str  bytes;
    char head[HEAD_BYTES];

    if (token.len == 0) {
        *ret_position = STR("");
        return RES_OK;
    }
    if (token.len > TOKEN_MAX || !base64url_decode(t->arena, token, &bytes) || bytes.len <= HEAD_BYTES)
        return task_fail(t, RES_INVALID, "the continuation token is none");
    str position = str_from(bytes, HEAD_BYTES);
    write_head(kind, position, head);
    if (memcmp(head, bytes.at, HEAD_BYTES) != 0)
        return task_fail(t, RES_INVALID, "the continuation token is none");
    *ret_position = position;
    return RES_OK;
}
