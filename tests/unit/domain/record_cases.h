/* record_cases.h -- tables of test_actions_record.c: what is refused, keys, points in time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_RECORD_CASES_H
#define TRESTLE_TESTS_RECORD_CASES_H

#include "unit/core/canon_cases.h"

static const struct {
    const char *text, *message, *field;
} bad_records[] = {
    /* ACT-14. */
    {"[]", "Request body must be a JSON object.", ""},
    {"[{\"owner\":\"o\",\"name\":\"n\"}]", "Request body must be a JSON object.", ""},
    {"null", "Request body must be a JSON object.", ""},
    {"1", "Request body must be a JSON object.", ""},
    {"\"{}\"", "Request body must be a JSON object.", ""},
    {"true", "Request body must be a JSON object.", ""},
    {"", "Request body must be a JSON object.", "body"},
    {" ", "Request body must be a JSON object.", "body"},
    {"\xEF\xBB\xBF", "Request body must be a JSON object.", "body"},
    {"{\"owner\":\"o\",\"name\":\"n\"", "Request body must be a JSON object.", "body"},
    {"{\"owner\":\"o\",\"name\":\"n\"}}", "Request body must be a JSON object.", "body"},
    {"{\"owner\":\"o\",\"name\":\"\xC3\"}", "Request body must be a JSON object.", "body"},
    {"{\"owner\":\"o\",\"name\":\"\xED\xA0\x80\"}", "Request body must be a JSON object.", "body"},
    {"\xEF\xBB\xBF\xEF\xBB\xBF" ON "}", "Request body must be a JSON object.", "body"},
    /* Owner is tested first; what is missing comes before what has the wrong type. */
    {"{}", "Missing required field: owner", ""},
    {"{\"name\":\"n\"}", "Missing required field: owner", ""},
    {"{\"owner\":null,\"name\":\"n\"}", "Missing required field: owner", ""},
    {"{\"owner\":\"\",\"name\":\"n\"}", "Missing required field: owner", ""},
    {"{\"owner\":\" \\t\\n\\u000b\\f\\r\\u00a0\\ufeff\",\"name\":\"n\"}", "Missing required field: owner",
     ""},
    {"{\"owner\":1e999,\"name\":\"n\"}", "Missing required field: owner", ""},
    {"{\"owner\":\"o\"}", "Missing required field: name", ""},
    {"{\"owner\":\"o\",\"name\":\"  \"}", "Missing required field: name", ""},
    {"{\"owner\":true}", "Missing required field: name", ""},
    {"{\"x\":{\"owner\":\"o\",\"name\":\"n\"}}", "Missing required field: owner", ""},
    {"{\"Owner\":\"o\",\"Name\":\"n\"}", "Missing required field: owner", ""},
    {"{\"owner\":true,\"name\":\"n\"}", "Field owner must be a string.", ""},
    {"{\"owner\":{},\"name\":[]}", "Field owner must be a string.", ""},
    {"{\"owner\":\"o\",\"name\":false}", "Field name must be a string.", ""},
    {"{\"owner\":\"o\",\"name\":[\"n\"]}", "Field name must be a string.", ""},
    /* ACT-54. */
    {"{\"owner\":\"o/p\",\"name\":\"n\"}", "Field owner must not contain '/'", "owner"},
    {"{\"owner\":\"o\",\"name\":\"n\\/m\"}", "Field name must not contain '/'", "name"},
    {"{\"owner\":\"o\",\"name\":\"n\\\\m\"}", "Field name must not contain '\\'", "name"},
    {"{\"owner\":\"o\",\"name\":\"n#\"}", "Field name must not contain '#'", "name"},
    {"{\"owner\":\"?\",\"name\":\"n#\"}", "Field owner must not contain '?'", "owner"},
    {"{\"owner\":\"o\",\"name\":\"n\\u0000\"}", "Field name must not contain the control character U+0000",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"a\\tb\"}", "Field name must not contain the control character U+0009",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"a\\bb\"}", "Field name must not contain the control character U+0008",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"a\\u001fb\"}", "Field name must not contain the control character U+001F",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"a\\u007f\"}", "Field name must not contain the control character U+007F",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"\\u0080\"}", "Field name must not contain the control character U+0080",
     "name"},
    {"{\"owner\":\"o\",\"name\":\"\\u009f\"}", "Field name must not contain the control character U+009F",
     "name"},
    {"{\"owner\":\"\\ud800\",\"name\":\"n\"}", "Field owner must not contain the unpaired surrogate U+D800",
     "owner"},
    {"{\"owner\":\"o\",\"name\":\"\\udfff \"}", "Field name must not contain the unpaired surrogate U+DFFF",
     "name"},
};

static const struct {
    const char *text, *key;
} keys[] = {
    {"\tSetup\t", "setup"}, /* ACT-16. */
    {"", ""},
    {" \t\n\v\f\r", ""},
    {"\xC2\xA0\xE1\x9A\x80\xE2\x80\x80"
     "A b\xE2\x80\x8A\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\x9F\xE3\x80\x80\xEF\xBB\xBF",
     "a b"},
    {"\xE2\x80\x8BX\xC2\x85", "\xE2\x80\x8Bx\xC2\x85"}, /* U+200B and U+0085 are no blanks of JavaScript */
    {"ABCXYZ@[`{-_.09", "abcxyz@[`{-_.09"},
    {"\xC3\x84\xC3\x96\xC3\x9C\xC3\x97\xC3\x9F", "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x97\xC3\x9F"},
    {"\xD0\x96\xCE\xA9\xC4\xB0", "\xD0\xB6\xCF\x89i\xCC\x87"},
    {"\xC8\xBA\xE2\x84\xAA\xF0\x90\x90\x80", "\xE2\xB1\xA5k\xF0\x90\x90\xA8"},
    {"A\xFF\xC3", "a\xFF\xC3"}, /* no UTF-8 */
};

static const struct {
    const char *text, *want; /* NULL: stays as it is */
} times[] = {
    {"2025-11-07T10:46:29.6273859+00:00", "2025-11-07T10:46:29.6273859Z"},
    {"2025-12-31T23:30:00.500-02:00", "2026-01-01T01:30:00.5Z"},
    {"2026-02-11T09:00:00.000Z", "2026-02-11T09:00:00Z"},
    {"2026-02-11T08:15:42Z", NULL},
    {"2026-02-11T08:15:42.001Z", NULL},
    {"2026-02-11t08:15:42z", "2026-02-11T08:15:42Z"},
    {"2026-02-11T08:15:42-00:00", "2026-02-11T08:15:42Z"},
    {"2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00Z"},
    {"2026-12-31T23:59:59.9-23:59", "2027-01-01T23:58:59.9Z"},
    {"2024-03-01T00:00:00+00:01", "2024-02-29T23:59:00Z"},
    {"2025-03-01T00:00:00+00:01", "2025-02-28T23:59:00Z"},
    {"2000-02-29T23:59:00-00:01", "2000-03-01T00:00:00Z"},
    {"1900-02-28T23:59:00-00:01", "1900-03-01T00:00:00Z"},
    {"2026-04-30T12:00:00-12:00", "2026-05-01T00:00:00Z"},
    {"0000-02-29T00:00:00.10+00:00", "0000-02-29T00:00:00.1Z"},
    {"2026-02-11T08:15:42.12345678901234567890123456789000+01:00",
     "2026-02-11T07:15:42.12345678901234567890123456789Z"},
    /* UTC would be in a year that four digits do not hold */
    {"0000-01-01T00:00:00+00:01", NULL},
    {"9999-12-31T23:59:59-00:01", NULL},
    /* no such moment */
    {"2025-02-29T00:00:00+00:00", NULL},
    {"1900-02-29T00:00:00+00:00", NULL},
    {"2026-04-31T00:00:00+00:00", NULL},
    {"2026-00-10T00:00:00+00:00", NULL},
    {"2026-13-10T00:00:00+00:00", NULL},
    {"2026-01-00T00:00:00+00:00", NULL},
    {"2026-01-32T00:00:00+00:00", NULL},
    {"2026-01-01T24:00:00+00:00", NULL},
    {"2026-01-01T00:60:00+00:00", NULL},
    {"2026-06-30T23:59:60+00:00", NULL},
    {"2026-01-01T00:00:00+24:00", NULL},
    {"2026-01-01T00:00:00+00:60", NULL},
    /* something else */
    {"", NULL},
    {"2026-02-01", NULL},
    {"2026-01-01T00:00:00", NULL},
    {"2026-01-01T00:00:00.Z", NULL},
    {"2026-01-01T00:00:00.+00:00", NULL},
    {"2026-01-01T00:00:00.5", NULL},
    {"2026-01-01T00:00:00,500Z", NULL},
    {"2026-01-01 00:00:00+00:00", NULL},
    {"2026-01-01T00:00:00+0000", NULL},
    {"2026-01-01T00:00:00+00:00 ", NULL},
    {" 2026-01-01T00:00:00+00:00", NULL},
    {"2026-01-01T00:00+00:00", NULL},
    {"2026/01/01T00:00:00+00:00", NULL},
    {"+2026-01-01T00:00:00+00:0", NULL},
    {"2026-01-01T00:00:00.5\\\\Z", NULL},
    {"\\\"2026-01-01T00:00:00+00:00", NULL},
    {"never", NULL},
};

#define LOCAL "\"2025-12-31T23:30:00.500-02:00\""
#define UTC   "\"2026-01-01T01:30:00.5Z\""

static const struct {
    const char *before, *after; /* in canonical order */
    bool        rewritten;
} places[] = {
    {"\"mirrorLastUpdated\":", "", true},
    {"\"ossfDateLastUpdate\":", "", true},
    {"\"At\":", "", true},
    {"\"immutableReleaseCoverageCheckedAt\":", "", true},
    {"\"lone \\ud800At\":", "", true},
    {"\"repoInfo\":{\"updated_at\":", "}", true},
    {"\"repoInfo\":{\"latest_release_published_at\":", ",\"z\":{}}", true},
    {"\"vulnerabilityStatus\":{\"critical\":0,\"lastUpdated\":", "}", true},
    {"\"dependents\":{\"dependents\":\"1\",\"dependentsLastUpdated\":", "}", true},
    {"\"actionType\":{\"containerScan\":{\"lastScanned\":", "},\"x\":[{\"y\":[]}]}", true},
    {"\"lastScanned\":", "", false},
    {"\"updated_at\":", "", false},
    {"\"at\":", "", false},
    {"\"AtX\":", "", false},
    {"\"repoInfo\":{\"checkedAt\":", "}", false},
    {"\"repoInfo\":{\"x\":{\"updated_at\":", "}}", false},
    {"\"repoInfo\":[{\"updated_at\":", "}]", false},
    {"\"actionType\":{\"lastScanned\":", "}", false},
    {"\"containerScan\":{\"lastScanned\":", "}", false},
    {"\"actionType\":{\"containerScan\":[", "]}", false},
    {"\"mirrorLastUpdated\":[", "]", false},
    {"\"mirrorLastUpdated\":{\"mirrorLastUpdated\":", "}", false},
    {"\"description\":", "", false},
};

/* Of which random records are made. */
static const char *const members[] = {
    "\"owner\" : \"\\u0009 Acme\\u2028\"",
    "\"name\":\"a\\u00e9_\\ud83d\\ude00 \"",
    "\"xAt\":" LOCAL,
    "\"repoInfo\":{\"updated_at\":" LOCAL ",\"archived\" :true}",
    "\"10\":[1.0,{\"b\":1,\"a\":-0}]",
    "\"9\":\"\\ud800\\/\"",
    "\"__proto__\":{}",
    "\"owner\":\"last\"",
    "\"\\ue000\":{\"\\ud83d\\ude00\":[[]]}",
    "\"actionType\":{\"z\":\"\\\"\",\"containerScan\":{\"lastScanned\":" LOCAL "}}",
};

#endif
