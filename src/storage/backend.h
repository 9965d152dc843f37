/* backend.h -- what a back end must be able to do, below the checks and conveniences that both share.
 *
 * The files of this folder (tables.c, blobs.c, queues.c) check names, keys, limits and batch rules, make what
 * is missing, and encode tokens; then they call one of these. A back end gets only what has passed, so it
 * checks nothing twice, and returns the results that the public headers promise. `self` is the back end's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_BACKEND_H
#define TRESTLE_STORAGE_BACKEND_H

#include "storage/blobs.h"
#include "storage/queues.h"
#include "storage/tables.h"

/* A list of names: those that begin with `prefix`, at most `most`, from `position` on (the back end's own
 * words, from an earlier *next; empty: the start). *next empty: the end. */
typedef struct {
    str   *names;
    size_t count;
    str    next;
} name_page;
typedef res backend_list_fn(void *self, task *t, str prefix, unsigned most, str position, name_page *ret);

typedef struct {
    res (*create)(void *self, task *t, str name); /* RES_CONFLICT: it was there */
    res (*drop)(void *self, task *t, str name);   /* RES_NOT_FOUND */
    backend_list_fn *list;
    res (*get)(void *self, task *t, str table, str partition, str row, const char *const *select,
               entity *ret);
    res (*write)(void *self, task *t, str table, const table_write *w);
    res (*commit)(void *self, task *t, str table, const table_write *writes, size_t count,
                  size_t *ret_failed);
    /* q->token is the back end's own position (bytes), and so is ret->token; RES_INVALID: it is none. */
    res (*query)(void *self, task *t, str table, const table_query *q, entity_page *ret);
} tables_ops;

typedef struct {
    res (*create)(void *self, task *t, str name); /* RES_CONFLICT: it was there */
    res (*drop)(void *self, task *t, str name);
    backend_list_fn *list;
    /* Up to BLOBS_SINGLE_MAX. how and ret are never NULL. */
    res (*put)(void *self, task *t, str in, str name, str bytes, const blob_put *how, blob_info *ret);
    /* Larger ones: blocks 0, 1, … in any order, each of at most BLOBS_BLOCK; then the list of them. `upload`
     * is a UUID that tells two uploads of one blob apart. */
    res (*put_block)(void *self, task *t, str in, str name, str upload, uint32_t number, str bytes);
    res (*put_blocks)(void *self, task *t, str in, str name, str upload, uint32_t count, const blob_put *how,
                      blob_info *ret);
    res (*get)(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret);
    res (*get_stream)(void *self, task *t, str in, str name, const blob_get *how, blobs_piece_fn *fn,
                      void *ctx, blob_got *ret);
    res (*head)(void *self, task *t, str in, str name, blob_info *ret);
    res (*remove)(void *self, task *t, str in, str name, str if_match);
    res (*list_blobs)(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                      blob_page *ret);
    res (*append)(void *self, task *t, str in, str name, str bytes, uint64_t at, uint64_t *ret_bytes);
} blobs_ops;

/* Bodies are as on the wire: base64 is done above. */
typedef struct {
    res (*create)(void *self, task *t, str name); /* RES_CONFLICT: it was there */
    res (*drop)(void *self, task *t, str name);
    backend_list_fn *list;
    res (*put)(void *self, task *t, str queue, str wire, unsigned delay_s, int ttl_s, queue_message *ret);
    res (*receive)(void *self, task *t, str queue, unsigned most, unsigned hide_s, queue_message **ret,
                   size_t *ret_count);
    res (*peek)(void *self, task *t, str queue, unsigned most, queue_message **ret, size_t *ret_count);
    /* wire NULL: the body stays. m->receipt and m->next_visible_us are replaced. */
    res (*update)(void *self, task *t, str queue, queue_message *m, const str *wire, unsigned hide_s);
    res (*remove)(void *self, task *t, str queue, str id, str receipt);
    res (*count)(void *self, task *t, str queue, uint64_t *ret);
    res (*clear)(void *self, task *t, str queue);
} queues_ops;

typedef struct {
    const tables_ops *tables;
    const blobs_ops  *blobs;
    const queues_ops *queues;
    void             *tables_self, *blobs_self, *queues_self;
    void (*close)(void *self);
    void *close_self;
    str   describe;   /* for the banner; no secrets */
    str   tables_url; /* what tables are reached by, without secrets; empty: by no URL */
} backend;

/* azure/open.c: a connection string for each service; an empty one leaves that service out (every call is
 * RES_CONFIG). RES_CONFIG with one line. */
res azure_open(arena *a, str tables, str blobs, str queues, backend *ret, str *ret_error) MUST_USE;
/* embedded/open.c: dir/trestle.db, made when missing. RES_CONFIG (foreign or newer file), RES_UNAVAILABLE
 * (locked by another process, or the disk says no) with one line. */
res embedded_open(arena *a, const char *dir, backend *ret, str *ret_error) MUST_USE;

/* store.c: NULL when there is none; then the callers above answer RES_CONFIG with what to set. */
const backend *store_backend(store_id id);
void           store_set_for_test(store_id id, const backend *b); /* tests: takes the place of store_open */

/* made.c: calls op; when it finds its table, container or queue missing, has `create` called (one attempt for
 * all that need the same name at once) and calls op a second time. */
typedef res made_op(task *t, void *ctx);
typedef res made_create(void *self, task *t, str name);
res made_when_missing(task *t, str name, made_create *create, void *self, made_op *op, void *ctx) MUST_USE;

#endif
