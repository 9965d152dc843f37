/* test_azure_odata.c -- entities as JSON: what is written, and all that is and is not understood.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "storage/azure/odata.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;

static void setup(void)
{
    a = arena_new((size_t)256 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void teardown(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static void assert_text(str got, str want)
{
    ck_assert_msg(str_eq(got, want), "got '%.*s', want '%.*s'", STR_ARG(got), STR_ARG(want));
}

static str written(const entity *e)
{
    buf out;
    buf_init(&out, a, 8 * MIB);
    odata_write(&out, e);
    ck_assert(!out.failed);
    ck_assert_uint_le(odata_least_bytes(e), out.len);
    return buf_str(&out);
}

static entity read_back(str text)
{
    entity      e;
    const char *why = "";
    res         r = odata_read(a, text, &e, &why);
    ck_assert_msg(r == RES_OK, "'%.*s': %s", STR_ARG(text), why);
    return e;
}

static property only(const entity *e)
{
    ck_assert_uint_eq(e->count, 1);
    return e->props[0];
}

/* ---- writing ---- */

START_TEST(an_entity_is_one_line_with_keys_first_and_annotations_behind)
{
    entity e = entity_new(a, STR("p"), STR(""));
    entity_set_str(&e, "s", STR("x"));
    entity_set_int32(&e, "i", -42);
    entity_set_int64(&e, "l", INT64_MIN);
    entity_set_double(&e, "d", 3);
    entity_set_bool(&e, "b", true);
    entity_set_ticks(&e, "t", 17092100961234567);
    entity_set_guid(&e, "g", STR("C9DA6455-213D-42C9-9A79-3E9149A57833"));
    entity_set_binary(&e, "n", STR("\0\1\xff"));
    e.etag = STR("W/\"x\"");
    e.timestamp = 5;
    assert_text(written(&e),
                STR("{\"PartitionKey\":\"p\",\"RowKey\":\"\",\"s\":\"x\",\"i\":-42,"
                    "\"l\":\"-9223372036854775808\",\"l@odata.type\":\"Edm.Int64\","
                    "\"d\":3.0,\"d@odata.type\":\"Edm.Double\",\"b\":true,"
                    "\"t\":\"2024-02-29T12:34:56.1234567Z\",\"t@odata.type\":\"Edm.DateTime\","
                    "\"g\":\"c9da6455-213d-42c9-9a79-3e9149a57833\",\"g@odata.type\":\"Edm.Guid\","
                    "\"n\":\"AAH/\",\"n@odata.type\":\"Edm.Binary\"}"));
}
END_TEST

static const struct {
    str text, json;
} texts[] = {
    {STR_INIT(""), STR_INIT("\"\"")},
    {STR_INIT("a\"b\\c/d"), STR_INIT("\"a\\\"b\\\\c/d\"")},
    {STR_INIT("\r\n\t\1\x1f\x7f"), STR_INIT("\"\\r\\n\\t\\u0001\\u001f\x7f\"")},
    {STR_INIT("a\0b"), STR_INIT("\"a\\u0000b\"")},
    {STR_INIT("\xE2\x80\xA8-\xE2\x80\xA9-\xE2\x80\xA7-\xE2\x82\xAC"),
     STR_INIT("\"\\u2028-\\u2029-\\u2027-\\u20ac\"")},
    {STR_INIT("\xF0\x9F\x98\x80"), STR_INIT("\"\\ud83d\\ude00\"")},
    {STR_INIT("\xC3\xBCx\xEF\xBF\xBF\xF4\x8F\xBF\xBF"), STR_INIT("\"\\u00fcx\\uffff\\udbff\\udfff\"")},
};

/* STORE-33: a body in a batch has no line end of any kind, in JavaScript's sense too. */
START_TEST(a_text_is_written_in_one_line_and_comes_back)
{
    entity e = entity_new(a, texts[_i].text, texts[_i].text);
    entity_set_str(&e, "s", texts[_i].text);
    str line = written(&e);
    str want = arena_strf(a, "{\"PartitionKey\":%.*s,\"RowKey\":%.*s,\"s\":%.*s}", STR_ARG(texts[_i].json),
                          STR_ARG(texts[_i].json), STR_ARG(texts[_i].json));
    assert_text(line, want);
    entity back = read_back(line);
    ck_assert(entity_same(&e, &back));
}
END_TEST

static const struct {
    double      value;
    const char *json;
} doubles[] = {
    {0, "0.0"},
    {-0.0, "-0.0"},
    {3, "3.0"},
    {-1.5, "-1.5"},
    {0.1, "0.10000000000000001"},
    {1e300, "1.0000000000000001e+300"},
    {1e16, "10000000000000000.0"},
    {1e17, "1e+17"},
    {5e-324, "4.9406564584124654e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {(double)NAN, "\"NaN\""},
    {(double)INFINITY, "\"Infinity\""},
    {(double)-INFINITY, "\"-Infinity\""},
};

/* STORE-19, STORE-20 (the part that needs no server). */
START_TEST(a_double_has_a_point_or_exponent_and_comes_back_to_the_bit)
{
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_double(&e, "d", doubles[_i].value);
    str line = written(&e);
    str want =
        arena_strf(a, "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"d\":%s,\"d@odata.type\":\"Edm.Double\"}",
                   doubles[_i].json);
    assert_text(line, want);
    entity   back = read_back(line);
    property p = only(&back);
    ck_assert_int_eq(p.type, EDM_DOUBLE);
    if (isnan(doubles[_i].value))
        ck_assert(isnan(p.real));
    else
        ck_assert(p.real == doubles[_i].value && signbit(p.real) == signbit(doubles[_i].value));
}
END_TEST

START_TEST(a_full_buffer_is_noticed)
{
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_binary(&e, "n", STR("0123456789"));
    size_t len = written(&e).len;
    for (size_t max = 0; max < len; max++) {
        buf out;
        buf_init(&out, a, max);
        odata_write(&out, &e);
        ck_assert(out.failed);
    }
}
END_TEST

/* ---- reading ---- */

/* As Azurite answers: the annotation in front. Then behind, then at the two ends. */
static const char *const orders[] = {
    "{\"odata.metadata\":\"http://h/$metadata#T/@Element\",\"odata.etag\":\"W/"
    "\\\"e\\\"\",\"PartitionKey\":\"p\","
    "\"RowKey\":\"r\",\"Timestamp\":\"2026-11-18T05:20:43.7001453Z\",\"l@odata.type\":\"Edm.Int64\",\"l\":"
    "\"5\","
    "\"g@odata.type\":\"Edm.Guid\",\"g\":\"C9da6455-213d-42c9-9a79-3e9149a57833\",\"s\":\"x\"}",
    "{\"s\":\"x\",\"l\":\"5\",\"l@odata.type\":\"Edm.Int64\",\"g\":\"c9da6455-213d-42c9-9a79-3e9149a57833\","
    "\"g@odata.type\":\"Edm.Guid\",\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"odata.etag\":\"W/\\\"e\\\"\","
    "\"Timestamp\":\"2026-11-18T05:20:43.7001453Z\"}",
    "{\"l@odata.type\":\"Edm.Int64\",\"g@odata.type\":\"Edm.Guid\",\"PartitionKey\":\"p\",\"RowKey\":\"r\","
    "\"l\":\"5\",\"s@odata.type\":\"Edm.String\",\"g\":\"c9da6455-213d-42c9-9a79-3e9149a57833\",\"s\":\"x\","
    "\"odata.etag\":\"W/\\\"e\\\"\",\"Timestamp\":\"2026-11-18T05:20:43.7001453Z\"}",
    "{\"l\":\"5\",\"g\":\"c9da6455-213d-42c9-9a79-3e9149a57833\",\"s\":\"x\",\"PartitionKey\":\"p\","
    "\"RowKey\":\"r\","
    "\"odata.etag\":\"W/\\\"e\\\"\",\"Timestamp@odata.type\":\"Edm.DateTime\","
    "\"Timestamp\":\"2026-11-18T05:20:43.7001453Z\",\"g@odata.type\":\"Edm.Guid\",\"l@odata.type\":\"Edm."
    "Int64\"}",
};

START_TEST(an_annotation_counts_wherever_it_stands)
{
    entity e = read_back(str_of(orders[_i]));
    char   time[EDM_TIME_SIZE];
    assert_text(e.partition, STR("p"));
    assert_text(e.row, STR("r"));
    assert_text(e.etag, STR("W/\"e\""));
    assert_text(edm_time_format(e.timestamp, time), STR("2026-11-18T05:20:43.7001453Z"));
    ck_assert_uint_eq(e.count, 3);
    ck_assert_int_eq(entity_find(&e, STR("l"))->type, EDM_INT64);
    ck_assert_int_eq(entity_int(&e, "l", 0), 5);
    ck_assert_int_eq(entity_find(&e, STR("g"))->type, EDM_GUID);
    assert_text(entity_str(&e, "g", STR("")), STR("c9da6455-213d-42c9-9a79-3e9149a57833"));
    ck_assert_int_eq(entity_find(&e, STR("s"))->type, EDM_STRING);
}
END_TEST

START_TEST(an_entity_that_was_read_can_be_added_to)
{
    entity e = read_back(STR("{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"n\":1}"));
    for (int i = 0; i < 20; i++)
        entity_set_int32(&e, arena_cstr(a, arena_strf(a, "n%d", i)), i);
    ck_assert_uint_eq(e.count, 21);
    ck_assert_int_eq(entity_int(&e, "n", 0), 1);
    ck_assert_int_eq(entity_int(&e, "n19", 0), 19);
}
END_TEST

static const struct {
    const char *json; /* of the property v */
    edm_type    type;
    double      number; /* of integers and reals */
} untyped[] = {
    {"\"v\":3", EDM_INT32, 3},
    {"\"v\":3.0", EDM_DOUBLE, 3},
    {"\"v\":3e0", EDM_DOUBLE, 3},
    {"\"v\":-2147483648", EDM_INT32, -2147483648.0},
    {"\"v\":2147483648", EDM_INT64, 2147483648.0},
    {"\"v\":0", EDM_INT32, 0},
    {"\"v\":123456789012345678901234567890", EDM_DOUBLE, 123456789012345678901234567890.0},
    {"\"v\":7,\"v@odata.type\":\"Edm.Double\"", EDM_DOUBLE, 7},
    {"\"v\":7,\"v@odata.type\":\"Edm.Int32\"", EDM_INT32, 7},
    {"\"v\":7,\"v@odata.type\":\"Edm.Int64\"", EDM_INT64, 7},
    {"\"v\":0,\"v@odata.type\":\"Edm.Int64\"", EDM_INT64, 0},
    {"\"v@odata.type\":\"Edm.Wonder\",\"v\":7", EDM_INT32, 7},
    {"\"v@odata.type\":5,\"v\":7", EDM_INT32, 7},
    {"\"v@odata.mediaType\":\"x\",\"v\":7,\"v@other\":{}", EDM_INT32, 7},
    {"\"odata.kind\":[1],\"v\":7,\"none@odata.type\":\"Edm.Int64\"", EDM_INT32, 7},
    {"\"v\":7,\"gone\":null,\"gone@odata.type\":\"Edm.Int64\"", EDM_INT32, 7},
    {"\"gone@odata.type\":\"Edm.Int64\",\"gone\":null,\"v\":7", EDM_INT32, 7},
};

START_TEST(a_number_has_the_type_of_its_annotation_or_else_of_its_digits)
{
    entity   e = read_back(arena_strf(a, "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",%s}", untyped[_i].json));
    property p = only(&e);
    ck_assert_int_eq(p.type, untyped[_i].type);
    double got = p.type == EDM_DOUBLE ? p.real : (double)p.integer;
    ck_assert_double_eq(got, untyped[_i].number);
}
END_TEST

static const char *const nonsense[] = {
    "",
    "null",
    "[]",
    "7",
    "{\"PartitionKey\":",
    "{\"v\":[]}",
    "{\"v\":{}}",
    "{\"PartitionKey\":5}",
    "{\"RowKey\":true}",
    "{\"Timestamp\":\"yesterday\"}",
    "{\"Timestamp\":5}",
    "{\"v\":\"x\",\"v@odata.type\":\"Edm.Int64\"}",
    "{\"v@odata.type\":\"Edm.Int64\",\"v\":\"9223372036854775808\"}",
    "{\"v@odata.type\":\"Edm.Int64\",\"v\":1.5}",
    "{\"v@odata.type\":\"Edm.Int64\",\"v\":true}",
    "{\"v@odata.type\":\"Edm.Int32\",\"v\":\"5\"}",
    "{\"v@odata.type\":\"Edm.Int32\",\"v\":5000000000}",
    "{\"v@odata.type\":\"Edm.Double\",\"v\":\"1.5\"}",
    "{\"v@odata.type\":\"Edm.Boolean\",\"v\":\"true\"}",
    "{\"v@odata.type\":\"Edm.DateTime\",\"v\":\"2024-02-30T00:00:00Z\"}",
    "{\"v@odata.type\":\"Edm.DateTime\",\"v\":5}",
    "{\"v@odata.type\":\"Edm.Guid\",\"v\":\"c9da6455\"}",
    "{\"v@odata.type\":\"Edm.Binary\",\"v\":\"A\"}",
    "{\"v@odata.type\":\"Edm.Binary\",\"v\":7}",
    "{\"v@odata.type\":\"Edm.String\",\"v\":7}",
    "{\"v@odata.type\":\"Edm.Int64\",\"w\":1,\"v\":\"x\"}",
    "{\"v\":1e400,\"v@odata.type\":\"Edm.Int64\"}",
};

START_TEST(what_no_table_service_says_is_refused_and_changes_nothing)
{
    entity      e = {.count = 99}, *rows = NULL;
    size_t      len = 99;
    const char *why = NULL;
    ck_assert_int_eq(odata_read(a, str_of(nonsense[_i]), &e, &why), RES_UPSTREAM);
    ck_assert_uint_eq(e.count, 99);
    ck_assert_ptr_nonnull(why);
    str page = arena_strf(a, "{\"value\":[%s]}", nonsense[_i]);
    if (nonsense[_i][0] != '\0')
        ck_assert_int_eq(odata_read_page(a, page, &rows, &len, &why), RES_UPSTREAM);
    ck_assert_ptr_null(rows);
}
END_TEST

START_TEST(an_entity_with_too_many_members_is_refused)
{
    for (int more = 0; more < 2; more++) {
        buf         text;
        entity      e;
        const char *why;
        buf_init(&text, a, MIB);
        buf_add_char(&text, '{');
        for (int i = 0; i < ODATA_MEMBERS_MAX + more; i++)
            buf_addf(&text, "%s\"n%d\":%d", i > 0 ? "," : "", i, i);
        buf_add_char(&text, '}');
        ck_assert_int_eq(odata_read(a, buf_str(&text), &e, &why), more == 0 ? RES_OK : RES_UPSTREAM);
    }
}
END_TEST

/* ---- pages ---- */

START_TEST(a_page_gives_its_rows_in_their_order)
{
    entity     *rows;
    size_t      len;
    const char *why;
    ck_assert_int_eq(
        odata_read_page(a,
                        STR("{\"odata.metadata\":\"x\",\"value\":[{\"PartitionKey\":\"\",\"RowKey\":"
                            "\"\"},{\"odata.etag\":\"e\",\"PartitionKey\":\"p\",\"RowKey\":\"r\","
                            "\"n\":1}]}"),
                        &rows, &len, &why),
        RES_OK);
    ck_assert_uint_eq(len, 2);
    ck_assert_uint_eq(rows[0].count, 0);
    assert_text(rows[1].etag, STR("e"));
    ck_assert_int_eq(entity_int(&rows[1], "n", 0), 1);
    ck_assert_int_eq(odata_read_page(a, STR("{\"value\":[]}"), &rows, &len, &why), RES_OK);
    ck_assert_uint_eq(len, 0);
}
END_TEST

static const char *const no_pages[] = {
    "{}",
    "[]",
    "{\"value\":{}}",
    "{\"value\":null}",
    "{\"value\":[{\"PartitionKey\":\"p\"}]}",
    "{\"value\":[{\"RowKey\":\"r\"}]}",
    "{\"value\":[{\"PartitionKey\":null,\"RowKey\":\"r\"}]}",
};

START_TEST(a_page_without_a_list_or_a_row_without_keys_is_refused)
{
    entity     *rows;
    size_t      len;
    const char *why;
    ck_assert_int_eq(odata_read_page(a, str_of(no_pages[_i]), &rows, &len, &why), RES_UPSTREAM);
}
END_TEST

/* ---- without metadata ---- */

/* STORE-20: nometadata decoding with a schema gives equal values. */
START_TEST(a_schema_gives_without_metadata_what_annotations_give_with_it)
{
    static const odata_column schema[] = {{"l", EDM_INT64},  {"t", EDM_DATETIME}, {"g", EDM_GUID},
                                          {"n", EDM_BINARY}, {"d", EDM_DOUBLE},   {"f", EDM_DOUBLE}};
    entity                    e = entity_new(a, STR("p"), STR("r")), bare;
    entity_set_int64(&e, "l", INT64_MAX);
    entity_set_ticks(&e, "t", 17092100961234567);
    entity_set_guid(&e, "g", STR("c9da6455-213d-42c9-9a79-3e9149a57833"));
    entity_set_binary(&e, "n", STR("\0\1"));
    entity_set_double(&e, "d", (double)INFINITY);
    entity_set_double(&e, "f", 3);
    entity_set_str(&e, "s", STR("x"));
    entity_set_int32(&e, "i", 7);
    const char *why;
    ck_assert_int_eq(
        odata_read_with_schema(a,
                               STR("{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"Timestamp\":"
                                   "\"2026-11-18T05:20:43.7001453Z\",\"l\":\"9223372036854775807\","
                                   "\"t\":\"2024-02-29T12:34:56.1234567Z\",\"g\":\"c9da6455-213d-42c9-"
                                   "9a79-3e9149a57833\",\"n\":\"AAE=\",\"d\":\"Infinity\",\"f\":3,"
                                   "\"s\":\"x\",\"i\":7}"),
                               schema, COUNT(schema), &bare, &why),
        RES_OK);
    entity typed = read_back(written(&e));
    ck_assert(entity_same(&bare, &typed));
    ck_assert(entity_same(&bare, &e));
}
END_TEST

/* ---- memory ---- */

START_TEST(reading_survives_every_failing_allocation)
{
    entity     *rows;
    size_t      len;
    const char *why;
    str         page = arena_strf(a,
                                  "{\"value\":[%s,{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"n\":\"AAE=\","
                                          "\"n@odata."
                                          "type\":\"Edm.Binary\"}]}",
                                  orders[0]);
    res         r = RES_MEMORY;
    long        nth = 0;
    while (r != RES_OK) {
        arena_fail_at(++nth);
        r = odata_read_page(a, page, &rows, &len, &why);
        ck_assert(r == RES_OK || r == RES_MEMORY || r == RES_UPSTREAM);
        ck_assert(r == RES_OK || !arena_fail_pending());
    }
    ck_assert_int_gt(nth, 3);
}
END_TEST

Suite *suite_azure_odata(void)
{
    Suite *s = suite_create("azure_odata");
    TCase *c = tcase_create("odata");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, an_entity_is_one_line_with_keys_first_and_annotations_behind);
    tcase_add_loop_test(c, a_text_is_written_in_one_line_and_comes_back, 0, COUNT(texts));
    tcase_add_loop_test(c, a_double_has_a_point_or_exponent_and_comes_back_to_the_bit, 0, COUNT(doubles));
    tcase_add_test(c, a_full_buffer_is_noticed);
    tcase_add_loop_test(c, an_annotation_counts_wherever_it_stands, 0, COUNT(orders));
    tcase_add_test(c, an_entity_that_was_read_can_be_added_to);
    tcase_add_loop_test(c, a_number_has_the_type_of_its_annotation_or_else_of_its_digits, 0, COUNT(untyped));
    tcase_add_loop_test(c, what_no_table_service_says_is_refused_and_changes_nothing, 0, COUNT(nonsense));
    tcase_add_test(c, an_entity_with_too_many_members_is_refused);
    tcase_add_test(c, a_page_gives_its_rows_in_their_order);
    tcase_add_loop_test(c, a_page_without_a_list_or_a_row_without_keys_is_refused, 0, COUNT(no_pages));
    tcase_add_test(c, a_schema_gives_without_metadata_what_annotations_give_with_it);
    tcase_add_test(c, reading_survives_every_failing_allocation);
    suite_add_tcase(s, c);
    return s;
}
