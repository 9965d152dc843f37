/* canon_cases.h -- tables of test_canon.c: the specification's vectors and sample, what is refused, doubles.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_CANON_CASES_H
#define TRESTLE_TESTS_CANON_CASES_H

#include <math.h>

#include "core/str.h"

/* Of the actions specification, section 5; those on trimming and timestamps belong to the actions module. */
#define ON "{\"owner\":\"o\",\"name\":\"n\""

static const struct {
    const char *input, *want, *sha256;
} vectors[] = {
    {ON "}", "{\"name\":\"n\",\"owner\":\"o\"}",
     "ab998e2d53417e85989c4c850c6901a581fcd34e28308fbd9c3b3d6e4041794e"},
    {"{\"name\":\"Setup-Thing\",\"owner\":\"Acme-Labs\"}",
     "{\"name\":\"Setup-Thing\",\"owner\":\"Acme-Labs\"}",
     "083299bd63da343183646842ee8d4987376aeae69b21f6c2eab43e9dd98e04da"},
    {ON ",\"b\":[3,{\"z\":1,\"a\":null}],\"a\":true}",
     "{\"a\":true,\"b\":[3,{\"a\":null,\"z\":1}],\"name\":\"n\",\"owner\":\"o\"}",
     "2c4ae41fc788dede248cece5deaefaf79172b3144b8ffc750d9fe0d826f7a0db"},
    {ON ",\"m\":{\"b\":1,\"10\":2,\"9\":3,\"a\":4,\"01\":5,\"-1\":6}}",
     "{\"m\":{\"9\":3,\"10\":2,\"-1\":6,\"01\":5,\"a\":4,\"b\":1},\"name\":\"n\",\"owner\":\"o\"}",
     "8376edfaace24582e6ab7e05b076f2b180e1cf970cab37872d682ece169c4567"},
    {ON ",\"x\":[1.0,1.50,1e3,1e21,-0,0.0000001,12345678901234567890,1e400]}",
     "{\"name\":\"n\",\"owner\":\"o\",\"x\":[1,1.5,1000,1e+21,0,1e-7,12345678901234567000,null]}",
     "ee0356d0102c75b0188bd4480c789bcb5f668602bf6ec2521683e9ddeb918a15"},
    {ON ",\"s\":\"\\u00e9\\u2028\\/\\u007f\\u0001\\b\\ud83d\\ude00\\ud800\"}",
     "{\"name\":\"n\",\"owner\":\"o\",\"s\":\"\xC3\xA9\xE2\x80\xA8/\x7F\\u0001\\b\xF0\x9F\x98\x80\\ud800\"}",
     "68286f13671303e8c7fe56bd99e06138cf9272064a665b96faef45c60b5a16f9"},
    {"{\"owner\":\"a\",\"owner\":\"o\",\"name\":\"n\",\"k\":1,\"k\":2}",
     "{\"k\":2,\"name\":\"n\",\"owner\":\"o\"}",
     "6115ba898c334d1df82f8a8cce7b51dc094a76d51eab257a41445f0a9a9c448e"},
    {ON ",\"\\ue000\":1,\"\\ud83d\\ude00\":2,\"Z\":3,\"a\":4}",
     "{\"Z\":3,\"a\":4,\"name\":\"n\",\"owner\":\"o\",\"\xF0\x9F\x98\x80\":2,\"\xEE\x80\x80\":1}",
     "b8694afd8f7b9c59f10add19baefc123e582766fd6e49a1aec6d5b20f031f483"},
    {ON ",\"__proto__\":{\"x\":1}}", "{\"name\":\"n\",\"owner\":\"o\"}",
     "ab998e2d53417e85989c4c850c6901a581fcd34e28308fbd9c3b3d6e4041794e"},
};

/* Section 3 of it. */
static const char sample[] =
    "{\"owner\":\"Acme-Labs\",\"name\":\"acme-labs_setup-widget\",\"description\":\"Installs the widget "
    "toolchain and "
    "caches it between runs.\",\n"
    "\"actionType\":{\"actionType\":\"Node\",\"fileFound\":\"action.yml\",\"actionDockerType\":\"\","
    "\"nodeVersion\":"
    "\"20\"},\n"
    "\"repoInfo\":{\"archived\":false,\"disabled\":false,\"updated_at\":\"2026-02-11T08:15:42Z\","
    "\"latest_release_published_at\":\"2026-02-10T17:02:05Z\"},\n"
    "\"tagInfo\":[{\"tag\":\"v2.1.0\",\"sha\":\"0f3c9a7be1d24c58a6b7e90d12f4c3ab56d78e90\"},{\"tag\":\"v2\","
    "\"sha\":"
    "\"0f3c9a7be1d24c58a6b7e90d12f4c3ab56d78e90\"}],\n"
    "\"releaseInfo\":[\"v2.1.0\",\"v2.0.3\"],\n"
    "\"versionShaMap\":{\"v2.1.0\":\"0f3c9a7be1d24c58a6b7e90d12f4c3ab56d78e90\",\"v2\":"
    "\"0f3c9a7be1d24c58a6b7e90d12f4c3ab56d78e90\"},\n"
    "\"forkFound\":true,\"mirrorLastUpdated\":\"2026-02-11T09:00:00.000Z\",\"repoSize\":1384,\"dependabot\":"
    "null,"
    "\"dependabotEnabled\":true,\n"
    "\"secretScanningEnabled\":true,\"vulnerabilityStatus\":{\"critical\":0,\"high\":1,\"lastUpdated\":"
    "\"2026-02-09T06:30:11.4210000Z\"},\n"
    "\"ossf\":true,\"ossfScore\":6.4,\"ossfDateLastUpdate\":\"2026-02-01\",\n"
    "\"dependents\":{\"dependents\":\"1,204\",\"dependentsLastUpdated\":\"2026-02-08T22:10:05.6273859+00:"
    "00\"},"
    "\"verified\":false}";

/* The offset is that of the first byte that no JSON text could have there. */
static const struct {
    str    text;
    size_t offset;
} refused[] = {
    {STR_INIT(""), 0},
    {STR_INIT("  "), 2},
    {STR_INIT("{"), 1},
    {STR_INIT("[1,]"), 3},
    {STR_INIT("[,1]"), 1},
    {STR_INIT("[1 2]"), 3},
    {STR_INIT("[1}"), 2},
    {STR_INIT("{\"a\":1]"), 6},
    {STR_INIT("{\"a\" 1}"), 5},
    {STR_INIT("{\"a\":}"), 5},
    {STR_INIT("{\"a\":1,}"), 7},
    {STR_INIT("{a:1}"), 1},
    {STR_INIT("{1:1}"), 1},
    {STR_INIT("[1] x"), 4},
    {STR_INIT("1 2"), 2},
    {STR_INIT("tru"), 0},
    {STR_INIT("nul"), 0},
    {STR_INIT("True"), 0},
    {STR_INIT("NaN"), 0},
    {STR_INIT("Infinity"), 0},
    {STR_INIT("+1"), 0},
    {STR_INIT("-"), 1},
    {STR_INIT("-a"), 1},
    {STR_INIT("01"), 0},
    {STR_INIT("-01"), 1},
    {STR_INIT("1."), 2},
    {STR_INIT(".5"), 0},
    {STR_INIT("1.e5"), 2},
    {STR_INIT("1e"), 2},
    {STR_INIT("1e+"), 3},
    {STR_INIT("0x10"), 1},
    {STR_INIT("'a'"), 0},
    {STR_INIT("\"abc"), 4},
    {STR_INIT("\"a\tb\""), 2},
    {STR_INIT("\"a\nb\""), 2},
    {STR_INIT("\"a\0b\""), 2},
    {STR_INIT("[1]\0"), 3},
    {STR_INIT("[1\0]"), 2},
    {STR_INIT("\"\\a\""), 1},
    {STR_INIT("\"\\u12g4\""), 1},
    {STR_INIT("\"\\u12"), 1},
    {STR_INIT("\"\\"), 1},
    {STR_INIT("[1,2//\n]"), 4},
    {STR_INIT("\xEF\xBB\xBF{}"), 0}, /* a BOM */
    {STR_INIT("\xC2\xA0[]"), 0},     /* a no-break space is no blank of JSON's */
    {STR_INIT("\"\x80\""), 1},
    {STR_INIT("\"\xC0\x80\""), 1},
    {STR_INIT("\"\xC3\""), 1},
    {STR_INIT("\"\xE0\x80\x80\""), 1},
    {STR_INIT("\"\xED\xA0\x80\""), 1},
    {STR_INIT("\"\xF0\x80\x80\x80\""), 1},
    {STR_INIT("\"\xF4\x90\x80\x80\""), 1},
    {STR_INIT("\"\xF5\x80\x80\x80\""), 1},
    {STR_INIT("\"abc\xE2\x82"), 4},
};

static const struct {
    double      value;
    const char *want;
} doubles[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {123456789012345680000.0, "123456789012345680000"},
    {1e21, "1e+21"},
    {-1.25e30, "-1.25e+30"},
    {1e-6, "0.000001"},
    {1e-7, "1e-7"},
    {-1.5e-7, "-1.5e-7"},
    {9007199254740992.0, "9007199254740992"},
    {4294967296.5, "4294967296.5"},
    {0x1p-44, "5.684341886080802e-14"}, /* the nearest 16 digits end in 1, and do not read back */
    {0x1p-1074, "5e-324"},
    {0x1p-1022, "2.2250738585072014e-308"},
    {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
    {-0x1.fffffffffffffp1023, "-1.7976931348623157e+308"},
    {(double)INFINITY, "null"},
    {-(double)INFINITY, "null"},
    {(double)NAN, "null"},
};

/* A beginning, and what fills the rest of a long text; NULL: refused. */
static const struct {
    const char *begin, fill, *want;
} unended[] = {
    {"[1,2]", ' ', "[1,2]"}, {"0.", '0', "0"}, {"[", '1', NULL}, {"[\"", 'x', NULL}, {"[1,", ' ', NULL}};

static const char *const bad_utf8[] = {"\x80",         "\xC1\xBF",         "\xE2\x82",
                                       "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xFF"};

static const char *const good_utf8[] = {"\xC2\x80",     "\xDF\xBF",         "\xE0\xA0\x80",    "\xED\x9F\xBF",
                                        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};

/* Members and elements that cost the most memory for their length. */
static const char *const dearest[] = {"\"\":1", "-0", "[ ]", "\"\\/\"", "\"\\u0061\":1.0"};

#endif
