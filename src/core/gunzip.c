/* gunzip.c -- see gunzip.h. zlib's own memory is on the heap: a stream outlives the call that feeds it.
 *
 *     member -> its end -> member …            or zeros until the input ends
 *
 * SPDX-License-Identifier: MIT */
#include "core/gunzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { GZIP_FORMAT = 16, PIECE_BYTES = 1 << 30 };

typedef enum { IN_MEMBER, BEHIND_MEMBER, PADDING } place;

struct gunzip {
    z_stream z;
    place    at;
};

gunzip *gunzip_new(void)
{
    gunzip *g = calloc(1, sizeof *g);
    if (g != NULL && inflateInit2(&g->z, MAX_WBITS + GZIP_FORMAT) != Z_OK) {
        free(g);
        g = NULL;
    }
    return g;
}

void gunzip_free(gunzip *g)
{
    if (g == NULL)
        return;
    (void)inflateEnd(&g->z); /* fails only for what is no stream */
    free(g);
}

bool gunzip_knows(str head)
{
    return head.len >= 2 && head.at[0] == '\x1f' && head.at[1] == '\x8b';
}

/* What follows a member: another one, or zeros and nothing else. */
static res begin_next(gunzip *g, str *in)
{
    if (g->at == BEHIND_MEMBER && in->len > 0 && in->at[0] != '\0') {
        g->at = IN_MEMBER;
        return inflateReset(&g->z) == Z_OK ? RES_OK : RES_INTERNAL;
    }
    size_t zeros = 0;
    while (zeros < in->len && in->at[zeros] == '\0')
        zeros++;
    if (zeros > 0)
        g->at = PADDING;
    *in = str_from(*in, zeros);
    return in->len == 0 ? RES_OK : RES_INVALID;
}

static uInt piece_of(size_t bytes)
{
    return bytes < PIECE_BYTES ? (uInt)bytes : (uInt)PIECE_BYTES;
}

static res inflate_some(gunzip *g, str *in, char *out, size_t out_bytes, size_t *ret_len)
{
    uInt given = piece_of(in->len), room = piece_of(out_bytes);
    g->z.next_in = (z_const Bytef *)in->at;
    g->z.avail_in = given;
    g->z.next_out = (Bytef *)out;
    g->z.avail_out = room;
    int state = inflate(&g->z, Z_NO_FLUSH);
    *in = str_from(*in, given - g->z.avail_in);
    *ret_len = room - g->z.avail_out;
    if (state == Z_STREAM_END)
        g->at = BEHIND_MEMBER;
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR ? RES_OK
           : state == Z_MEM_ERROR                                         ? RES_MEMORY
                                                                          : RES_INVALID;
}

res gunzip_more(gunzip *g, str *in, char *out, size_t out_bytes, size_t *ret_len)
{
    size_t len = 0;
    while (len == 0 && in->len > 0) {
        res r = g->at == IN_MEMBER ? RES_OK : begin_next(g, in);
        if (r == RES_OK && in->len > 0)
            r = inflate_some(g, in, out, out_bytes, &len);
        if (r != RES_OK)
            return r;
    }
    *ret_len = len;
    return RES_OK;
}

bool gunzip_may_end(const gunzip *g)
{
    return g->at != IN_MEMBER;
}
