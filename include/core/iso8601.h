/* iso8601.h -- points in time as text: RFC 3339 / ISO-8601 (always written in UTC with Z) and HTTP dates.
 *
 * A time is microseconds since 1970 UTC, from year 0001 to 9999. Azure has 7 fraction digits: what is below a
 * microsecond is cut when parsed. Leap seconds (:60) are refused. A number
 * outside these years is taken for the nearer end of them, so that what is written is always well-formed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ISO8601_H
#define TRESTLE_CORE_ISO8601_H

#include "core/arena.h"
#include "core/str.h"

typedef struct {
    int year, month, day; /* month and day from 1 */
    int hour, minute, second;
    int microsecond;
    int weekday; /* 0 = Sunday */
} civil_time;

void civil_from_us(int64_t us, civil_time *ret);
/* False when a field is out of range for that month and year. weekday is ignored. */
bool civil_to_us(const civil_time *c, int64_t *ret) MUST_USE;

enum { ISO8601_SIZE = 40, HTTP_DATE_SIZE = 30 }; /* both with the terminator */

/* fraction_digits 0..7: "2026-01-02T03:04:05Z" with 0, "….123Z" with 3. Returns a view of out. */
str iso8601_format(int64_t us, int fraction_digits, char out[ISO8601_SIZE]);
str iso8601_arena(arena *a, int64_t us, int fraction_digits);

/* Full date-time with zone: YYYY-MM-DD(T|t| )hh:mm:ss[.f…](Z|z|±hh:mm). Whole text or false. */
bool iso8601_parse(str text, int64_t *ret_us) MUST_USE;

/* "Fri, 02 Jan 2026 03:04:05 GMT". Only this form is parsed: no obsolete one, and no wrong weekday. */
str  http_date_format(int64_t us, char out[HTTP_DATE_SIZE]);
bool http_date_parse(str text, int64_t *ret_us) MUST_USE;

#endif
