/* cron.h -- NCRONTAB schedules, six fields with seconds, in UTC, as timer triggers use them.
 *
 *     second minute hour day month weekday      0 30 4 * * *      every day at 04:30:00
 *
 * Each field: *, a number, a-b, lists with commas, steps with / (also a/n = from a on); names for months and
 * weekdays (jan, monday; three letters or more). Weekdays are 0-6 from Sunday; 7 is refused, for NCrontab
 * refuses it, and the Functions host would not load such a function. Day and weekday must both match (as
 * NCrontab does, unlike cron). Five fields mean second 0. Also a TimeSpan "00:05:00": every that often, from
 * the start.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_CRON_H
#define TRESTLE_RUNTIME_CRON_H

#include "core/arena.h"
#include "core/res.h"

typedef struct {
    uint64_t seconds, minutes; /* bit n: value n */
    uint32_t hours, days, months;
    uint8_t  weekdays;
    int64_t  every_us; /* TimeSpan form; 0: the fields */
} cron;

/* RES_CONFIG with *ret_error: "schedule '61 * * * * *': second 61 is not within 0-59". */
res cron_parse(arena *a, str text, cron *ret, str *ret_error) MUST_USE;

/* The first moment strictly after `after_us`; false when there is none within 30 years ("0 0 0 31 2 *"). */
bool cron_next(const cron *c, int64_t after_us, int64_t *ret_us) MUST_USE;

/* A TimeSpan of .NET, [d.]hh:mm[:ss[.fffffff]]; not negative. False also for hours above 23, which .NET would
 * take for days: write 1.00:00:00. What is below a microsecond is cut. */
bool cron_timespan(str text, int64_t *ret_us) MUST_USE;

#endif
