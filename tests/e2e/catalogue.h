/* catalogue.h -- the Actions catalogue as `trestle import` meets it, played by the scripted server of wire.h:
 * for what the real one does only on bad days.
 *
 * It keeps records by owner/name. Names say what happens to a record: "invalid…" is refused for good, "busy…"
 * is refused twice and may be sent again, "never…" always so, and "poison…" has the whole batch refused.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_E2E_CATALOGUE_H
#define TRESTLE_E2E_CATALOGUE_H

#include "core/str.h"

typedef struct {
    const char *bad_day; /* what the first requests get: an answer as it is; NULL: none */
    unsigned    bad_requests;
    bool        bad_closes; /* the connection, after each of those */
    const char *key;        /* x-functions-key that is wanted; NULL: none */
    unsigned    slow_ms;    /* before each answer */
    unsigned    slow_from;  /* … from this request on */
    unsigned    dead_after; /* requests, after which it only resets connections; 0: never */
} catalogue_options;

/* Starts it, or changes how it behaves; counts begin anew. */
void        catalogue_start(const catalogue_options *o);
void        catalogue_stop(void);
const char *catalogue_url(void);

/* Settled while no program is running: all records in order of their keys, "owner/name=TEXT\n". */
str      catalogue_dump(void);
void     catalogue_clear(void);       /* no record, no count */
unsigned catalogue_batches(void);     /* requests, refused ones too */
unsigned catalogue_received(void);    /* records in all of them */
uint64_t catalogue_gap_ms(void);      /* between the first two requests */
bool     catalogue_owner_split(void); /* records of one owner have come in two batches */

#endif
