/* sched_direct.c -- see sched_direct.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_direct.h"

#include <stdarg.h>

got direct_ask(task *t, const desk *d, const char *action)
{
    return people_post(t, d->session, "/api/direct", "{\"groupId\":\"%.*s\",\"action\":%s}",
                       STR_ARG(d->group), action);
}

got direct_askf(task *t, const desk *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str action = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    return direct_ask(t, d, action.at);
}
