/* test_actions_versions.c -- a record as a row of the catalogue of versions.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/version_row.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "domain/actions/versions.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define SHA_A "0f3c9a7be1d24c58a6b7e90d12f4c3ab56d78e90"
#define SHA_B "1111111be1d24c58a6b7e90d12f4c3ab56d78e90"

enum { OWNER, NAME, VERSION, SHA, PUBLISHED, TYPE, FLAGS, SCORE, DEPENDENTS, FLOATING, DESCRIPTION, FIELDS };

static const json_val *row_of(const char *payload)
{
    const json_val   *v, *row;
    projection_source from;
    buf               out;
    ck_assert_msg(json_parse(scratch(), str_of(payload), &v, NULL) == RES_OK, "'%s'", payload);
    from = (projection_source){.payload = v};
    buf_init(&out, scratch(), MIB);
    if (!version_row_add(&out, &from))
        return NULL;
    ck_assert_int_eq(json_parse(scratch(), buf_str(&out), &row, NULL), RES_OK);
    ck_assert_uint_eq(json_len(row), FIELDS);
    return row;
}

static const struct {
    const char *members; /* behind owner and name */
    size_t      field;
    const char *want;
} cases[] = {
    /* ACT-48: latestVersion is the first release, else the first tag, in each form. */
    {"", VERSION, "null"},
    {"\"releaseInfo\":[\"v2\",\"v1\"],\"tagInfo\":[\"v9\"]", VERSION, "\"v2\""},
    {"\"releaseInfo\":[{\"tag_name\":\"v3\"}]", VERSION, "\"v3\""},
    {"\"releaseInfo\":[],\"tagInfo\":[{\"tag\":\"v4\",\"sha\":null}]", VERSION, "\"v4\""},
    {"\"releaseInfo\":null,\"tagInfo\":[\"v5\"]", VERSION, "\"v5\""},
    {"\"tagInfo\":\"v6\"", VERSION, "\"v6\""},
    /* ACT-48: its SHA, and no borrowed one. */
    {"\"releaseInfo\":[\"v2\"],\"versionShaMap\":{\"v2\":\"" SHA_A "\"}", SHA, "\"" SHA_A "\""},
    {"\"releaseInfo\":[\"v2\"],\"versionShaMap\":{\"v1\":\"" SHA_A "\"}", SHA, "null"},
    {"\"releaseInfo\":[\"v2\"],\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"" SHA_A "\"}]", SHA, "\"" SHA_A "\""},
    {"\"releaseInfo\":[\"v2\"],\"tagInfo\":[{\"tag\":\"v2.0\",\"sha\":\"" SHA_A "\"}]", SHA, "null"},
    {"\"releaseInfo\":[\"v2\"],\"versionShaMap\":{\"v2\":\"" SHA_A "\"},"
     "\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"" SHA_B "\"}]",
     SHA, "\"" SHA_A "\""},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"" SHA_A "\"},{\"tag\":\"v2\",\"sha\":\"" SHA_B "\"}]", SHA,
     "\"" SHA_A "\""},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"xyz\"},{\"tag\":\"v2\",\"sha\":\"" SHA_B "\"}]", SHA,
     "\"" SHA_B "\""},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"ABCDEF0\"}]", SHA, "\"abcdef0\""},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"abcdef\"}]", SHA, "null"},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"" SHA_A "0\"}]", SHA, "null"},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":\"abcdefg\"}]", SHA, "null"},
    {"\"tagInfo\":[{\"tag\":\"v2\",\"sha\":7}]", SHA, "null"},
    {"\"releaseInfo\":[{\"tag_name\":\"v2\",\"target_commitish\":\"" SHA_A "\"}]", SHA, "null"},
    /* ACT-48: floating tags are pairs, or 0. */
    {"", FLOATING, "0"},
    {"\"tagInfo\":[\"v4\"]", FLOATING, "0"},
    {"\"tagInfo\":[{\"tag\":\"v4.1.2\",\"sha\":\"" SHA_A "\"}]", FLOATING, "0"},
    {"\"tagInfo\":[{\"tag\":\"v4\",\"sha\":\"" SHA_A "\"},{\"tag\":\"v4.1\",\"sha\":\"" SHA_B "\"},"
     "{\"tag\":\"4\",\"sha\":\"" SHA_A "\"},{\"tag\":\"v4-rc\",\"sha\":\"" SHA_A "\"}]",
     FLOATING, "[[\"v4\",\"" SHA_A "\"],[\"v4.1\",\"" SHA_B "\"],[\"4\",\"" SHA_A "\"]]"},
    {"\"versionShaMap\":{\"v4\":\"" SHA_A "\",\"v4.0.0\":\"" SHA_A "\"}", FLOATING,
     "[[\"v4\",\"" SHA_A "\"]]"},
    {"\"tagInfo\":[\"v4\",\"v4\"],\"versionShaMap\":{\"v4\":\"" SHA_A "\"}", FLOATING,
     "[[\"v4\",\"" SHA_A "\"]]"},
    {"\"tagInfo\":[\"v\",\"v.\",\"v1.\",\".1\",\"\",\"v1.2.3\",\"w1\"],\"versionShaMap\":{\"v\":\"" SHA_A
     "\",\"v1.\":\"" SHA_A "\",\"\":\"" SHA_A "\"}",
     FLOATING, "0"},
    /* ACT-48: the rest of the row. */
    {"\"repoInfo\":{\"latest_release_published_at\":\"2026-02-10T17:02:05Z\"}", PUBLISHED,
     "\"2026-02-10T17:02:05Z\""},
    {"", PUBLISHED, "null"},
    {"\"actionType\":{\"actionType\":\"Node\"}", TYPE, "\"Node\""},
    {"\"actionType\":\"Docker\"", TYPE, "\"Docker\""},
    {"", TYPE, "null"},
    {"", FLAGS, "0"},
    {"\"verified\":\"true\"", FLAGS, "1"},
    {"\"repoInfo\":{\"archived\":true}", FLAGS, "2"},
    {"\"ossf\":true", FLAGS, "4"},
    {"\"ossfScore\":3", FLAGS, "4"},
    {"\"repoInfo\":{\"disabled\":true}", FLAGS, "8"},
    {"\"verified\":1,\"ossf\":true,\"repoInfo\":{\"archived\":true,\"disabled\":true}", FLAGS, "15"},
    {"\"ossfScore\":6.4", SCORE, "6.4"},
    {"\"ossfScore\":null", SCORE, "null"},
    {"\"dependents\":{\"dependents\":\"15,368,157\"}", DEPENDENTS, "15368157"},
    {"\"dependents\":{\"dependents\":\"999+\"}", DEPENDENTS, "999"},
    {"\"dependents\":{\"dependents\":25}", DEPENDENTS, "25"},
    {"\"dependents\":{\"dependents\":\"many\"}", DEPENDENTS, "null"},
    {"\"dependents\":{\"dependents\":\"\"}", DEPENDENTS, "null"},
    {"\"dependents\":{\"dependents\":\"1e9\"}", DEPENDENTS, "null"},
    {"\"dependents\":null", DEPENDENTS, "null"},
    {"\"description\":\" d \"", DESCRIPTION, "\"d\""},
    {"\"description\":null", DESCRIPTION, "null"},
};

START_TEST(a_field_of_the_row_is)
{
    char payload[1024];
    (void)snprintf(payload, sizeof payload, "{\"owner\":\"o\",\"name\":\"n\"%s%s}",
                   cases[_i].members[0] != '\0' ? "," : "", cases[_i].members);
    str got = json_print_val(scratch(), json_at(row_of(payload), cases[_i].field));
    ck_assert_msg(str_eq(got, str_of(cases[_i].want)), "%s: %.*s, not %s", payload, STR_ARG(got),
                  cases[_i].want);
}
END_TEST

/* ACT-48. */
START_TEST(the_name_loses_its_owner_in_any_case)
{
    static const char *const names[][2] = {
        {"Acme-Labs_widget", "widget"}, {"acme-labs_widget", "widget"}, {"widget", "widget"},
        {"acme-labs_", "acme-labs_"},   {"acme-labs", "acme-labs"},     {"acme-labsx_y", "acme-labsx_y"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char payload[128];
        (void)snprintf(payload, sizeof payload, "{\"owner\":\"Acme-Labs\",\"name\":\"%s\"}", names[i][0]);
        str got = json_text(json_at(row_of(payload), NAME), (str){0});
        ck_assert_msg(str_eq(got, str_of(names[i][1])), "%s: '%.*s'", names[i][0], STR_ARG(got));
    }
    ck_assert_ptr_null(row_of("{\"owner\":\"o\"}"));
}
END_TEST

START_TEST(thousands_of_tags_are_looked_at_in_bounded_time)
{
    buf text;
    buf_init(&text, scratch(), 8 * MIB);
    (void)buf_add(&text, STR("{\"owner\":\"o\",\"name\":\"n\",\"tagInfo\":["));
    for (int i = 0; i < 50000; i++)
        (void)buf_addf(&text, "%s{\"tag\":\"v%d\"}", i > 0 ? "," : "", i);
    (void)buf_add(&text, STR("]}"));
    str got = json_print_val(scratch(), json_at(row_of(arena_cstr(scratch(), buf_str(&text))), FLOATING));
    ck_assert(str_eq(got, STR("0")));
}
END_TEST

static res read_etag(const char *raw, char etag[VERSIONS_ETAG_BYTES + 1], versions *v)
{
    memset(etag, 0, VERSIONS_ETAG_BYTES + 1);
    return versions_read(str_of(raw), etag, v);
}

/* ACT-49: the ETag is that of the text without generatedAt, wherever that stands. */
START_TEST(the_etag_does_not_depend_on_the_date)
{
    char          first[VERSIONS_ETAG_BYTES + 1], other[VERSIONS_ETAG_BYTES + 1], hex[SHA256_HEX + 1];
    versions      v;
    sha256_digest d = hash_sha256(STR("{\"schemaVersion\":1,\"count\":2,\"actions\":[]}"));
    str           plain = hash_hex(&d, hex);
    ck_assert_int_eq(
        read_etag("{\"schemaVersion\":1,\"generatedAt\":\"x\",\"count\":2,\"actions\":[]}", first, &v),
        RES_OK);
    ck_assert(str_eq(str_slice(v.etag, 1, 65), plain));
    ck_assert(str_eq(v.generated_at, STR("x")));
    ck_assert_int_eq(v.count, 2);
    ck_assert_int_eq(v.schema, 1);
    ck_assert_int_eq(
        read_etag("{\"schemaVersion\":1,\"generatedAt\":\"later\",\"count\":2,\"actions\":[]}", other, &v),
        RES_OK);
    ck_assert_str_eq(first, other);
    ck_assert_int_eq(
        read_etag("{\"schemaVersion\":1,\"count\":2,\"actions\":[],\"generatedAt\":\"y\"}", other, &v),
        RES_OK);
    ck_assert_str_eq(first, other);
    ck_assert_int_eq(read_etag("{\"schemaVersion\":1,\"count\":3,\"actions\":[]}", other, &v), RES_OK);
    ck_assert_str_ne(first, other);
    ck_assert_int_eq(read_etag("{\"generatedAt\":\"y\",\"actions\":[]}", other, &v), RES_OK);
}
END_TEST

START_TEST(what_is_no_catalogue_is_refused)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"actions\":{}}",
                                        "{\"actions\":[]",
                                        "{\"actions\":[],\"count\":\"x\"}",
                                        "{\"generatedAt\":null,\"actions\":[]}"};
    char                     etag[VERSIONS_ETAG_BYTES + 1];
    versions                 v;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(read_etag(texts[i], etag, &v) == RES_UPSTREAM, "'%s'", texts[i]);
}
END_TEST

Suite *suite_actions_versions(void)
{
    Suite *s = suite_create("actions_versions");
    TCase *c = tcase_create("version_row");
    tcase_add_loop_test(c, a_field_of_the_row_is, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(c, the_name_loses_its_owner_in_any_case);
    tcase_add_test(c, thousands_of_tags_are_looked_at_in_bounded_time);
    tcase_add_test(c, the_etag_does_not_depend_on_the_date);
    tcase_add_test(c, what_is_no_catalogue_is_refused);
    suite_add_tcase(s, c);
    return s;
}
