/* gzip.c -- whole buffers through zlib, whose memory comes from the caller's arena.
 *
 * zlib's state therefore needs no deflateEnd or inflateEnd: when a task is left in the middle of a call (its
 * budget is spent, and the allocation does not return), the arena takes all of it back. For the same reason
 * the state is kept small: a text of 2 KB gets a window of 4 KB, which takes 55 KB in place of 260 KB and
 * gives the same bytes or nearly so.
 *
 * What comes out grows by doubling, so a text that shrinks tenfold does not reserve its own size first, and a
 * bomb stops at the limit with no more than about twice the limit in use.
 *
 * SPDX-License-Identifier: MIT */
#include "core/gzip.h"

#include <zlib.h>

#include "core/buf.h"

enum {
    GZIP_FORMAT = 16, /* added to the window's bits: a gzip header and trailer, nothing else */
    WINDOW_MIN_BITS = 9,
    WINDOW_MAX_BITS = 15,
    WINDOW_MARGIN = 262, /* zlib never looks further back than the window less this */
    MEM_MAX_LEVEL = 8,
    PIECE_BYTES = 1 << 30, /* zlib counts in unsigned int */
    OUT_LEAST_BYTES = 256,
};

static voidpf arena_zlib_alloc(voidpf a, uInt items, uInt each_bytes)
{
    return arena_alloc(a, (size_t)items * each_bytes);
}

static void arena_zlib_free(voidpf a, voidpf memory)
{
    (void)a, (void)memory;
}

static z_stream new_stream(arena *a)
{
    return (z_stream){.zalloc = arena_zlib_alloc, .zfree = arena_zlib_free, .opaque = a};
}

static uInt piece_of(size_t bytes)
{
    return bytes < PIECE_BYTES ? (uInt)bytes : (uInt)PIECE_BYTES;
}

/* Points the stream at the input that it has not had yet. */
static void feed(z_stream *z, str data, size_t taken)
{
    z->next_in = taken < data.len ? (z_const Bytef *)data.at + taken : Z_NULL;
    z->avail_in = piece_of(data.len - taken);
}

/* Points the stream at the free end of out, which doubles when it is full. False when it may not grow. */
static bool make_room(z_stream *z, buf *out)
{
    char *to = buf_reserve(out, 1);
    if (to == NULL)
        return false;
    size_t room = out->cap < out->max ? out->cap - out->len : out->max - out->len;
    z->next_out = (Bytef *)to;
    z->avail_out = piece_of(room);
    return true;
}

/* Starts out at a guessed size. A guess above the maximum is no failure. */
static bool reserve_guess(buf *out, size_t guess)
{
    guess += OUT_LEAST_BYTES;
    return buf_reserve(out, guess < out->max ? guess : out->max) != NULL;
}

static int window_bits_for(size_t bytes)
{
    int bits = WINDOW_MIN_BITS;
    while (bits < WINDOW_MAX_BITS && ((size_t)1 << bits) < bytes + WINDOW_MARGIN)
        bits++;
    return bits;
}

static res start_deflate(z_stream *z, size_t bytes, int level)
{
    int bits = window_bits_for(bytes), mem_level = bits - 6;
    if (mem_level > MEM_MAX_LEVEL)
        mem_level = MEM_MAX_LEVEL;
    int r = deflateInit2(z, level, Z_DEFLATED, bits + GZIP_FORMAT, mem_level, Z_DEFAULT_STRATEGY);
    return r == Z_OK ? RES_OK : r == Z_MEM_ERROR ? RES_MEMORY : RES_INTERNAL;
}

res gzip_pack(arena *a, str data, int level, str *ret)
{
    if (level < GZIP_FAST || level > GZIP_BEST)
        return RES_INVALID;
    z_stream z = new_stream(a);
    res      r = start_deflate(&z, data.len, level);
    if (r != RES_OK)
        return r;

    buf    out;
    size_t taken = 0;
    int    state = Z_OK;
    buf_init(&out, a, SIZE_MAX);
    if (!reserve_guess(&out, data.len / 4))
        return RES_MEMORY;
    while (state != Z_STREAM_END) {
        if (!make_room(&z, &out))
            return RES_MEMORY;
        uInt room = z.avail_out;
        feed(&z, data, taken);
        uInt piece = z.avail_in;
        state = deflate(&z, taken + piece == data.len ? Z_FINISH : Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END)
            return RES_INTERNAL;
        taken += piece - z.avail_in;
        out.len += room - z.avail_out;
    }
    *ret = buf_str(&out);
    return RES_OK;
}

/* Inflates until all of packed is taken or a failure is found. At the limit one spare byte is offered: if
 * that gets filled, it is too much; the end of the stream needs no room. */
static res inflate_all(z_stream *z, str packed, buf *out)
{
    size_t taken = 0;
    Bytef  spare = 0;

    for (;;) {
        bool full = out->len == out->max;
        if (full) {
            z->next_out = &spare;
            z->avail_out = 1;
        } else if (!make_room(z, out)) {
            return RES_MEMORY;
        }
        feed(z, packed, taken);
        uInt room = z->avail_out, piece = z->avail_in;
        int  state = inflate(z, Z_NO_FLUSH);
        if (full && z->avail_out == 0)
            return RES_TOO_LARGE;
        taken += piece - z->avail_in;
        out->len += full ? 0 : room - z->avail_out;

        if (state == Z_MEM_ERROR)
            return RES_MEMORY;
        if (state == Z_STREAM_END) {
            if (taken == packed.len)
                return RES_OK;
            if (inflateReset(z) != Z_OK) /* another member must follow, or the next round finds no gzip */
                return RES_INTERNAL;
        } else if (state != Z_OK || (taken == packed.len && z->avail_out > 0)) {
            return RES_INVALID; /* damaged, or it ends too soon */
        }
    }
}

res gzip_unpack(arena *a, str packed, size_t max_bytes, str *ret)
{
    if (packed.len == 0)
        return RES_INVALID;
    z_stream z = new_stream(a);
    int      i = inflateInit2(&z, WINDOW_MAX_BITS + GZIP_FORMAT);
    if (i != Z_OK)
        return i == Z_MEM_ERROR ? RES_MEMORY : RES_INTERNAL;

    buf out;
    buf_init(&out, a, max_bytes);
    if (!reserve_guess(&out, packed.len * 2))
        return RES_MEMORY;
    res r = inflate_all(&z, packed, &out);
    if (r == RES_OK)
        *ret = buf_str(&out);
    return r;
}
