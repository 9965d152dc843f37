/* held.h -- the newest version of a blob, worked up once and kept in memory for all who ask for it.
 *
 * Each request asks the store which version is the newest (HEAD); when that is the one in memory, nothing is
 * read. Requests that need another one share one read. A copy is counted: it stays as long as somebody sends
 * it, though a newer one has taken its place; so there are as many as answers under way need, mostly one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_HELD_H
#define TRESTLE_DOMAIN_ACTIONS_HELD_H

#include "core/buf.h"
#include "storage/blobs.h"
#include "storage/provision.h"

typedef struct held_kind held_kind;

/* One version. All of it is on the heap, and does not change any more once others can see it. */
typedef struct {
    const held_kind *kind;
    unsigned         users;
    buf              bytes;  /* the blob */
    buf              etag;   /* the blob's, with its quotes */
    void            *worked; /* what `work` made of it; NULL: nothing */
} held_copy;

struct held_kind {
    const char *what; /* for messages: "the snapshot" */
    size_t      bytes_max;
    /* In a thread: makes `worked`, on the heap. A failure is that of all who share the read. */
    res (*work)(held_copy *c);
    void (*drop)(void *worked);
};

/* Where a copy is kept: one for each blob, static. */
typedef struct {
    held_copy *now; /* NULL: none */
    provision  read;
} held;

#define HELD_INIT ((held){0})

/* RES_NOT_FOUND: there is no such blob. A failing HEAD is made up for by a whole read; when that fails too,
 * so does this. The copy lives as long as t's arena. */
res held_take(task *t, held *h, const held_kind *kind, container in, str blob,
              const held_copy **ret) MUST_USE;

void held_forget(held *h); /* for tests */

#endif
