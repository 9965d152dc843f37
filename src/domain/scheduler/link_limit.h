/* link_limit.h -- how often links may be asked for: per address, and per client.
 *
 * In memory, of this process alone, and bounded: when it is full, who has waited longest is forgotten first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_LINK_LIMIT_H
#define TRESTLE_DOMAIN_SCHEDULER_LINK_LIMIT_H

#include "core/str.h"

typedef enum { LIMIT_ADDRESS, LIMIT_CLIENT } link_limit;

enum {
    LIMIT_WINDOW_S = 900,
    LIMIT_PER_ADDRESS = 5, /* at once, and as many in each window */
    LIMIT_PER_CLIENT = 30
};

/* Counts this one and allows it: 0; or the seconds after which it is worth while to come again. */
unsigned link_limit_take(link_limit kind, str who);
void     link_limit_forget_for_test(void);

#endif
