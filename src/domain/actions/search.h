/* search.h -- which items of the snapshot a query wants, best first (specification §13).
 *
 * Every word of q must occur in an item's haystack, case-blind. Items in which all words occur in owner and
 * name come first; within both groups the newest come first, as in the snapshot.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_SEARCH_H
#define TRESTLE_DOMAIN_ACTIONS_SEARCH_H

#include "domain/actions/snapshot.h"

enum { SEARCH_LIMIT_DEFAULT = 20, SEARCH_LIMIT_MAX = 100, SEARCH_BYTES_MAX = 512, SEARCH_WORDS_MAX = 16 };

typedef enum { SEARCH_ANY, SEARCH_YES, SEARCH_NO } search_choice;

typedef struct {
    str           words[SEARCH_WORDS_MAX]; /* lower case, each once, the longest first */
    size_t        count;
    str           type; /* lower case; empty: any */
    search_choice verified, archived;
    size_t        limit, offset;
} search_query;

/* The parameters as they came. NULL: *ret is filled; else what is wrong, for a 400. */
typedef struct {
    str q, type, verified, archived, limit, offset;
} search_input;
const char *search_read(arena *a, const search_input *in, search_query *ret);

/* The same query has the same text, however it was written. */
str search_text(arena *a, const search_query *q);

typedef struct {
    size_t   total;
    uint32_t page[SEARCH_LIMIT_MAX]; /* indices of items */
    size_t   count;
} search_found;

/* Takes milliseconds for tens of thousands of items: in a thread. room has a place for each item. */
void search_run(const search_query *q, str haystacks, const snapshot_item *items, size_t count,
                uint32_t *room, search_found *ret);

#endif
