/* zone_moments.h -- moments around changes of clocks, known from the laws that made them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ZONE_MOMENTS_H
#define TRESTLE_TESTS_ZONE_MOMENTS_H

/* What clocks showed, when that was, and how far they were ahead of UTC then. */
static const struct {
    const char *zone, *local, *utc;
    int         offset_s;
} moments[] = {
    /* spring: 02:00 becomes 03:00, so 02:30 is 03:30 */
    {"America/Los_Angeles", "2026-03-08T01:59", "2026-03-08T09:59:00Z", -8 * 3600},
    {"America/Los_Angeles", "2026-03-08T02:00", "2026-03-08T10:00:00Z", -7 * 3600},
    {"America/Los_Angeles", "2026-03-08T02:30", "2026-03-08T10:30:00Z", -7 * 3600},
    {"America/Los_Angeles", "2026-03-08T03:00", "2026-03-08T10:00:00Z", -7 * 3600},
    /* autumn: 01:30 occurs twice, and the first counts */
    {"America/Los_Angeles", "2026-11-01T00:59", "2026-11-01T07:59:00Z", -7 * 3600},
    {"America/Los_Angeles", "2026-11-01T01:30", "2026-11-01T08:30:00Z", -7 * 3600},
    {"America/Los_Angeles", "2026-11-01T02:00", "2026-11-01T10:00:00Z", -8 * 3600},
    {"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00Z", 2 * 3600},
    {"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z", 2 * 3600},
    {"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z", 3600},
    {"Europe/Berlin", "1945-05-24T02:30", "1945-05-24T00:30:00Z", 3 * 3600}, /* double summer time */
    {"Europe/Dublin", "2026-03-29T01:30", "2026-03-29T01:30:00Z", 3600},     /* a negative saving in winter */
    {"Europe/Dublin", "2026-12-01T12:00", "2026-12-01T12:00:00Z", 0},
    /* half an hour */
    {"Australia/Lord_Howe", "2026-10-04T02:10", "2026-10-03T15:40:00Z", 11 * 3600},
    {"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z", 11 * 3600},
    {"Australia/Lord_Howe", "2026-04-05T02:00", "2026-04-04T15:30:00Z", 10 * 3600 + 1800},
    {"Africa/Casablanca", "2026-02-15T02:30", "2026-02-15T01:30:00Z", 3600}, /* back for Ramadan */
    {"Africa/Casablanca", "2026-03-22T02:30", "2026-03-22T02:30:00Z", 3600},
    {"Africa/Casablanca", "2026-03-01T12:00", "2026-03-01T12:00:00Z", 0},
    {"America/St_Johns", "2006-04-02T00:01", "2006-04-02T03:31:00Z", -9000}, /* at a minute past midnight */
    {"America/St_Johns", "2026-03-08T02:30", "2026-03-08T06:00:00Z", -9000},
    {"Asia/Kathmandu", "2026-07-01T00:00", "2026-06-30T18:15:00Z", 20700},
    {"Asia/Kathmandu", "1986-01-01T00:05", "1985-12-31T18:35:00Z", 20700},
    /* the day that Samoa left out */
    {"Pacific/Apia", "2011-12-29T23:59", "2011-12-30T09:59:00Z", -10 * 3600},
    {"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00:00Z", 14 * 3600},
    {"Pacific/Apia", "2011-12-31T00:00", "2011-12-30T10:00:00Z", 14 * 3600},
    /* a day without a midnight, and one with two */
    {"America/Havana", "2026-03-08T00:00", "2026-03-08T05:00:00Z", -4 * 3600},
    {"America/Havana", "2026-11-01T00:30", "2026-11-01T04:30:00Z", -4 * 3600},
    /* beyond the last change that any file lists */
    {"America/Los_Angeles", "2150-07-01T12:00", "2150-07-01T19:00:00Z", -7 * 3600},
    {"America/Los_Angeles", "9999-01-15T12:00", "9999-01-15T20:00:00Z", -8 * 3600},
    {"Europe/Berlin", "2400-03-26T02:30", "2400-03-26T01:30:00Z", 2 * 3600},
    {"America/Godthab", "2200-03-29T23:30", "2200-03-30T01:30:00Z", -3600},
    {"Australia/Sydney", "2300-01-15T12:00", "2300-01-15T01:00:00Z", 11 * 3600},
    {"Asia/Tokyo", "3000-01-01T00:00", "2999-12-31T15:00:00Z", 9 * 3600},
    /* before the first: the sun's time */
    {"America/Los_Angeles", "1800-01-01T00:00", "1800-01-01T07:52:58Z", -28378},
    {"Europe/Berlin", "1700-01-01T00:53", "1699-12-31T23:59:32Z", 3208},
    {"Europe/Berlin", "0001-01-02T00:00", "0001-01-01T23:06:32Z", 3208},
    {"UTC", "2026-03-08T02:30", "2026-03-08T02:30:00Z", 0},
    {"Etc/GMT+5", "2026-07-01T00:00", "2026-07-01T05:00:00Z", -5 * 3600},
};

#endif
