/* zone_rule.h -- the rule by which clocks go on changing, as POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ZONE_RULE_H
#define TRESTLE_CORE_ZONE_RULE_H

#include "core/str.h"

typedef enum {
    ZONE_DAY_OF_WEEK,   /* "M3.2.0": the second Sunday of March; week 5 is the last */
    ZONE_DAY_NO_LEAP,   /* "J60": 1 to 365, the 29th of February is never counted */
    ZONE_DAY_WITH_LEAP, /* "59": 0 to 365, it is counted */
} zone_day_kind;

typedef struct {
    zone_day_kind kind;
    int           month, week, weekday; /* ZONE_DAY_OF_WEEK */
    int           day;                  /* the others */
    int32_t       time_s; /* after that day's 00:00 on the clocks as they are; -167 h to 167 h */
} zone_day;

typedef struct {
    int32_t  standard_s, summer_s; /* east of UTC is positive */
    bool     changes;              /* false: standard time for ever, the rest is not set */
    zone_day to_summer, to_standard;
} zone_rule;

bool    zone_rule_parse(str text, zone_rule *ret) MUST_USE;
int32_t zone_rule_offset_s(const zone_rule *r, int64_t at_s);
/* The first change after that second; false: none. (The offset may be the same before and after.) */
bool    zone_rule_next(const zone_rule *r, int64_t after_s, int64_t *ret_s) MUST_USE;

#endif
