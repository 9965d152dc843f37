/* bulk_run.h -- what the parts of `trestle import` share: one task reads, several send.
 *
 * Whoever waits looks at the run again afterwards. A run that is to stop (`stop` is set) takes no new batch;
 * those under way end, and their records are settled.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_RUN_H
#define TRESTLE_APP_BULK_RUN_H

#include <signal.h>
#include <stdio.h>

#include "app/bulk_import.h"
#include "app/bulk_input.h"
#include "app/bulk_ledger.h"
#include "app/bulk_pace.h"
#include "app/bulk_window.h"
#include "core/json.h"
#include "runtime/gate.h"

enum {
    BULK_RECORD_MAX = 4 * MIB,
    BULK_BODY_MAX = 1 * MIB,       /* of a batch of more than one record */
    BULK_AWAY_MAX = 32 * MIB,      /* of records under way, all batches together */
    BULK_SCOPE_MEMORY = 128 * MIB, /* of one exchange: most of it is never taken */
    BULK_TRIES_MAX = 5,            /* of a record that the server says may be sent again */
};

typedef enum {
    BULK_CREATED,
    BULK_UPDATED,
    BULK_UNCHANGED,
    BULK_SUPERSEDED,
    BULK_FAILED,
    BULK_KINDS
} bulk_kind;

/* ---- bulk_progress.c: how far it is, on stderr ---- */

typedef struct {
    uint64_t counts[BULK_KINDS];
    uint64_t total_bytes, done_bytes, began_bytes; /* total 0: not known, then there is no bar */
    uint64_t began_us, shown_us;
    unsigned told; /* failures that got a line of their own */
    bool     terminal, dry_run;
} bulk_progress;

void bulk_progress_begin(bulk_progress *p, uint64_t total_bytes, bool dry_run);
void bulk_progress_show(bulk_progress *p); /* call as often as you like */
void bulk_progress_say(bulk_progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* a line of its own */
void bulk_progress_end(bulk_progress *p);

/* ---- the run ---- */

typedef struct {
    const char *path;
    FILE       *f;    /* NULL: nothing has failed yet */
    bool        more; /* lines of an earlier run stay */
} bulk_failed;

typedef struct {
    const bulk_options     *o;
    str                     base;       /* "http://host:7071/api" */
    const char             *state_path; /* NULL: standard input is among the inputs */
    const bulk_fingerprint *prints;
    bulk_window            *window;
    bulk_ledger            *ledger;
    bulk_pace               pace;
    bulk_progress           progress;
    bulk_failed             failed;
    gate                    room;                   /* for the reader: the window has taken something out */
    gate                    work;                   /* for senders: there may be a batch */
    size_t                  away, away_bytes;       /* records under way */
    bool                    read_all, hurry;        /* do not wait for full batches */
    bool                    reader_waits, answered; /* the server, once at least */
    uint64_t                saved_us;
    bool                    save_failed, unreadable; /* unreadable: an input, before its end */
    res                     stop;                    /* RES_OK: go on */
    char                    why[512];
} bulk_run;

extern volatile sig_atomic_t bulk_signal; /* SIGINT or SIGTERM, once it has come */

/* Should no new batch be begun? */
bool bulk_stopping(const bulk_run *run);
/* Notes why it is given up; the first reason stays. */
void bulk_stop(bulk_run *run, res why, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Sleeps, unless the run is to stop. */
res  bulk_sleep(task *t, const bulk_run *run, uint64_t ms) MUST_USE;
/* What became of a record that is not in the window any more, or never was. */
void bulk_settled(bulk_run *run, uint64_t number, bulk_kind kind);

/* ---- bulk_failed.c: the file of failed records ---- */

typedef struct {
    const char *input;
    uint64_t    number, line;
    str         text;
    bool        is_json;
} bulk_victim;

/* Before the first one: an old file goes, or loses what a run that goes on will say again. */
res   bulk_failed_begin(task *t, bulk_run *run, uint64_t records) MUST_USE;
/* error: {errorCode, message, …}. Works in t's arena; its failure stops the run. */
res   bulk_failed_add(task *t, bulk_run *run, const bulk_victim *v, const json *error) MUST_USE;
json *bulk_failed_error(arena *a, const char *code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- bulk_state.c: where to go on ---- */

/* RES_NOT_FOUND: from the start; *ret_why is what to say about that, or NULL. */
res  bulk_state_load(task *t, bulk_run *run, bulk_place *ret, const char **ret_why) MUST_USE;
void bulk_state_save(task *t, bulk_run *run, bool now); /* else only when it has been a while */
void bulk_state_remove(const bulk_run *run);

/* ---- the tasks ---- */

res bulk_read_all(task *t, bulk_run *run, const bulk_place *from) MUST_USE; /* bulk_read.c */

/* A batch under way; what is settled or given back is NULL in `records`. */
typedef struct {
    bulk_run     *run;
    bulk_record **records;
    size_t        len;
} bulk_batch;

/* In bulk_send.c and bulk_diff.c. Both settle records as answers come; what they leave was not answered. */
res bulk_send(task *t, bulk_batch *b) MUST_USE;
res bulk_diff(task *t, bulk_batch *b) MUST_USE;

/* ---- bulk_exchange.c: one request, tried again while that makes sense ---- */

typedef struct {
    str    method, url, body;
    size_t answer_max;
} bulk_request;

typedef struct {
    int             status;
    const json_val *json; /* NULL: the body is not JSON */
} bulk_answer;

/* RES_OK: an answer worth reading. RES_GONE: the run stops, for this or another reason. */
res bulk_exchange(task *t, bulk_run *run, const bulk_request *in, bulk_answer *ret) MUST_USE;

/* For one record of a batch: it is done with, or goes back into the window. */
void bulk_batch_done(bulk_batch *b, size_t i, bulk_kind kind);
void bulk_batch_again(bulk_batch *b, size_t i);
res  bulk_batch_failed(task *t, bulk_batch *b, size_t i, const json *error) MUST_USE;

#endif
