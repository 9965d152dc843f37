/* canon_reader.h -- of the canonicaliser: what its reader knows while it reads. Private to canon*.c.
 *
 * canon.c says how these parts play together.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_READER_H
#define TRESTLE_SRC_CORE_CANON_READER_H

#include "canon_scan.h"
#include "canon_sort.h"
#include "core/canon.h"

typedef struct {
    const char *at;  /* NULL: a node */
    uint32_t    len; /* or the node's number */
} canon_value;

typedef struct {
    const char *key; /* with its quotes, as it will be written; NULL: an element */
    const char *at;  /* the value, as above */
    uint32_t    len;
    uint32_t    key_len; /* 0: a member that is dropped */
} canon_entry;

typedef struct {
    const char *at;   /* NULL: a node */
    uint32_t    len;  /* or the node's number */
    char        glue; /* written before it, unless NUL */
} canon_piece;

typedef struct {
    uint32_t first, end; /* of its pieces */
    uint32_t len;        /* of its text */
    bool     object;
} canon_node;

/* An open container. */
typedef struct {
    const char *start;
    uint64_t    changes;
    uint32_t    first_entry, first_rank;
    bool        object;
    bool        sorted; /* keys so far, strictly */
} canon_frame;

typedef struct {
    arena       *a;
    const char  *text, *end;  /* the source, or the copy of its rest that we have moved to */
    const char  *limit;       /* no step begins here or later: see canon_move */
    size_t       text_offset; /* of `text` in the source */
    uint32_t     source_len;
    uint64_t     changes;
    canon_frame *frames;
    canon_entry *entries;
    canon_rank  *ranks;
    canon_piece *pieces;
    canon_node  *nodes;
    char        *side, *side_end;
    uint32_t     depth, deepest, frames_cap;
    uint32_t     entries_len, entries_cap;
    uint32_t     ranks_len, ranks_cap;
    uint32_t     pieces_len, pieces_cap;
    uint32_t     nodes_len, nodes_cap;
    res          code;
    canon_error  error;
} canon_reader;

/* Every step of the reader returns where it stands then, or NULL: these note why, and return NULL. */
const char *canon_fail(canon_reader *r, const char *at, const char *text);
const char *canon_fail_memory(canon_reader *r);

/* The wide reads would leave the source close to its end. So whoever comes to `limit`, or finds that his
 * token ends behind it, moves: the rest from p on is copied, with NULs behind it, and p's place there is
 * returned. Then there is no limit any more, since a NUL is legal nowhere in JSON and ends every loop. */
const char *canon_move(canon_reader *r, const char *p);

/* Room in the side buffer, to be taken by moving r->side. What is written there never moves. NULL: no memory.
 */
char *canon_side_room(canon_reader *r, size_t bytes);

const char *canon_skip_blanks(canon_reader *r, const char *p);

static inline const char *canon_blanks(canon_reader *r, const char *p)
{
    return (unsigned char)*p <= ' ' ? canon_skip_blanks(r, p) : p;
}

typedef enum { CANON_PLAIN, CANON_ESCAPED /* but canonical */, CANON_REWRITTEN } canon_spelling;

/* From the first backslash, or whatever else is not plain, to the closing quote. May move, and *start with
 * it. */
const char *canon_read_escaped(canon_reader *r, const char **start, const char *p, canon_spelling *how);

/* The closing quote of the string whose opening quote is at *start, which may move. */
static inline const char *canon_read_string(canon_reader *r, const char **start, canon_spelling *how)
{
    const char *p = canon_string_stop(*start + 1, r->limit);
    *how = CANON_PLAIN;
    if (__builtin_expect(p < r->limit && *p == '"', 1))
        return p;
    return canon_read_escaped(r, start, p, how);
}

/* The string anew, with quotes, in the side buffer; `start` is its opening quote, `end` its closing one.
 * False: no memory. */
bool canon_rewrite_string(canon_reader *r, const char *start, const char *end, canon_value *ret);

/* Past the string, number, true, false or null at p. */
const char *canon_read_scalar(canon_reader *r, const char *p, canon_value *ret);

#endif
