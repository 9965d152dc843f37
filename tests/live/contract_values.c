/* contract_values.c -- keys, values and limits: all that Azure would take comes back as it was, and what it
 * would refuse is refused by us, whatever is below.
 *
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "live/contract.h"
#include "live/live.h"
#include "storage/long_value.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- values ---- */

#define TEXT(literal)                                 \
    {                                                 \
        .type = EDM_STRING, .text = STR_INIT(literal) \
    }
#define BYTES(literal)                                \
    {                                                 \
        .type = EDM_BINARY, .text = STR_INIT(literal) \
    }
#define SMALL(n)                          \
    {                                     \
        .type = EDM_INT32, .integer = (n) \
    }
#define LARGE(n)                          \
    {                                     \
        .type = EDM_INT64, .integer = (n) \
    }
#define REAL(x)                         \
    {                                   \
        .type = EDM_DOUBLE, .real = (x) \
    }
#define TICKS_OF_1601 (INT64_C(-11644473600) * 10000000)
#define TICKS_OF_9999 (INT64_C(253402300799) * 10000000 + 9999999)
#define TIME(ticks_of_1970)                            \
    {                                                  \
        .type = EDM_DATETIME, .ticks = (ticks_of_1970) \
    }

static const property values[] = {
    TEXT(""),
    TEXT("a"),
    TEXT("\x01 control"),
    TEXT(" blanks "),
    TEXT("line\r\nline\ttab"),
    TEXT("quote \" back \\ slash / apos '"),
    TEXT("\xc3\xbc \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80"),
    TEXT("\xef\xbf\xbf"),
    TEXT("\r\n--changeset_C--\r\n--batch_B--\r\nHTTP/1.1 500 no\r\n\r\n"), /* STORE-33 */
    TEXT("5"),
    TEXT("true"),
    TEXT("2024-02-29T12:34:56.1234567Z"),
    TEXT("W/\"datetime'2026-11-18T05%3A20%3A43.7001453Z'\""),
    SMALL(0),
    SMALL(-1),
    SMALL(INT32_MAX),
    SMALL(INT32_MIN),
    LARGE(0),
    LARGE(5),
    LARGE(INT64_MAX),
    LARGE(INT64_MIN),
    LARGE(INT64_C(9007199254740993)), /* no double has it */
    REAL(0.0),
    REAL(3.0),
    REAL(-2.5),
    REAL(0.1),
    REAL(1e21),
    REAL(-1e-7),
    REAL(DBL_MAX),
    REAL(DBL_MIN),
    REAL(5e-324),
    REAL(123456789012345680.0),
    REAL(NAN),
    REAL(INFINITY),
    REAL(-INFINITY),
    {.type = EDM_BOOL, .truth = true},
    {.type = EDM_BOOL, .truth = false},
    TIME(0),
    TIME(1),
    TIME(INT64_C(17092100961234567)), /* seven digits */
    TIME(INT64_C(17092100960000000)),
    TIME(-1),
    TIME(TICKS_OF_1601),
    TIME(TICKS_OF_9999),
    {.type = EDM_GUID, .text = STR_INIT("c9da6455-213d-42c9-9a79-3e9149a57833")},
    {.type = EDM_GUID, .text = STR_INIT("00000000-0000-0000-0000-000000000000")},
    BYTES(""),
    BYTES("\0"),
    BYTES("\0\x01\xff\0"),
    BYTES("\xfb\xff\xbf?>"),
};

/* STORE-19: by insert, by merge, in a transaction, and read alone and by a query. */
LIVE_TEST(every_value_comes_back_as_it_was)
{
    table    in = live_table();
    property p = values[i];
    p.name = STR("value");
    entity      one = entity_new(t->arena, STR("p"), STR("1")), two, three, got;
    entity_page page;
    entity_set(&one, &p);
    two = entity_copy(t->arena, &one);
    two.row = STR("2");
    three = entity_copy(t->arena, &one);
    three.row = STR("3");
    OK(tables_insert(t, in, &one));
    OK(tables_upsert_merge(t, in, &two));
    OK(tables_commit(t, in, &(table_write){.kind = WRITE_INSERT, .e = &three}, 1, NULL));
    OK(tables_get(t, in, STR("p"), STR("1"), &got));
    live_same(&one, &got);
    OK(tables_query(t, in, &(table_query){0}, &page));
    ck_assert_uint_eq(page.len, 3);
    live_same(&one, &page.at[0]);
    live_same(&two, &page.at[1]);
    live_same(&three, &page.at[2]);
}

LIVE_TEST(a_guid_is_kept_in_lower_case)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    entity_set_guid(&e, "id", STR("C9DA6455-213D-42C9-9A79-3E9149A57833"));
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    ck_str_eq(entity_str(&got, "id", STR("")), STR("c9da6455-213d-42c9-9a79-3e9149a57833"));
}

LIVE_TEST(names_differ_by_case_and_may_be_foreign)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    entity_set_int32(&e, "name", 1);
    entity_set_int32(&e, "Name", 2);
    entity_set_int32(&e, "_n_1", 3);
    entity_set_int32(&e,
                     "gr\xc3\xb6\xc3\x9f"
                     "e",
                     4);
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    live_same(&e, &got);
}

/* ---- keys ---- */

static const char *const odd_keys[] = {
    "",
    " ",
    " blanks ",
    "o'brien",
    "'",
    "''",
    "a+b",
    "c%d",
    "%27",
    "%2F",
    "\xc3\xbc\xf0\x9f\x98\x80",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "a&b=c",
    "a,b(c)",
    "x;y:z@",
    "\"<>|{}[]^`",
    ".",
    "..",
    "$top",
    "~!*-_.",
};

/* STORE-4 */
LIVE_TEST(an_odd_key_is_written_found_changed_and_removed)
{
    table       in = live_table();
    str         key = str_of(odd_keys[i]);
    entity      e = entity_new(t->arena, key, key), got;
    entity_page page;
    entity_set_int32(&e, "n", 1);
    OK(tables_insert(t, in, &e));
    EXPECT(RES_CONFLICT, tables_insert(t, in, &e));
    OK(tables_get(t, in, key, key, &got));
    live_same(&e, &got);
    const filter *mine = filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, key),
                                    filter_str(t->arena, "RowKey", FILTER_EQ, key));
    OK(tables_query(t, in, &(table_query){.where = mine}, &page));
    ck_assert_uint_eq(page.len, 1);
    live_same(&e, &page.at[0]);

    entity_set_int32(&e, "n", 2);
    OK(tables_replace(t, in, &e, e.etag));
    OK(tables_commit(t, in, &(table_write){.kind = WRITE_MERGE, .e = &e, .etag = e.etag}, 1, NULL));
    OK(tables_remove(t, in, key, key, e.etag));
    EXPECT(RES_NOT_FOUND, tables_get(t, in, key, key, &got));
}

typedef struct {
    const char *key;
    res         result;
} bad_key;

static const bad_key bad_keys[] = {
    {"a/b", RES_INVALID},      {"a\\b", RES_INVALID},         {"a#b", RES_INVALID},
    {"a?b", RES_INVALID},      {"\x01", RES_INVALID},         {"tab\t", RES_INVALID},
    {"\x1f", RES_INVALID},     {"\x7f", RES_INVALID},         {"\xc2\x80", RES_INVALID},
    {"\xc2\x9f", RES_INVALID}, {"bad \xff utf", RES_INVALID}, {"\xed\xa0\x80", RES_INVALID},
};

/* STORE-22 */
LIVE_TEST(a_forbidden_key_is_refused_by_every_call)
{
    table       in = live_table();
    str         key = str_of(bad_keys[i].key);
    entity      as_partition = entity_new(t->arena, key, STR("r"));
    entity      as_row = entity_new(t->arena, STR("p"), key), got;
    table_write w = {.kind = WRITE_DELETE, .e = &as_row, .etag = ETAG_ANY};
    EXPECT(bad_keys[i].result, tables_insert(t, in, &as_partition));
    EXPECT(bad_keys[i].result, tables_insert(t, in, &as_row));
    EXPECT(bad_keys[i].result, tables_upsert_merge(t, in, &as_row));
    EXPECT(bad_keys[i].result, tables_replace(t, in, &as_partition, ETAG_ANY));
    EXPECT(bad_keys[i].result, tables_get(t, in, key, STR("r"), &got));
    EXPECT(bad_keys[i].result, tables_get(t, in, STR("p"), key, &got));
    EXPECT(bad_keys[i].result, tables_remove(t, in, STR("p"), key, ETAG_ANY));
    EXPECT(bad_keys[i].result, tables_commit(t, in, &w, 1, NULL));
}

/* ---- limits: STORE-21 ---- */

static const str letter = STR_INIT("x"), emoji = STR_INIT("\xf0\x9f\x98\x80"), umlaut = STR_INIT("\xc3\xbc");

typedef struct {
    const char *what;
    str         piece;
    size_t      fits; /* so many do, one more does not */
} size_case;

static const size_case key_sizes[] = {
    {"letters", STR_INIT("x"), 512},
    {"umlauts", STR_INIT("\xc3\xbc"), 512},
    {"emoji", STR_INIT("\xf0\x9f\x98\x80"), 256},
};

LIVE_TEST(a_key_has_at_most_512_utf16_units)
{
    table  in = live_table();
    str    key = live_repeat(t->arena, key_sizes[i].piece, key_sizes[i].fits);
    str    long_key = live_repeat(t->arena, key_sizes[i].piece, key_sizes[i].fits + 1);
    entity e = entity_new(t->arena, key, key), got;
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, key, key, &got));
    e.row = long_key;
    EXPECT(RES_TOO_LARGE, tables_insert(t, in, &e));
    EXPECT(RES_TOO_LARGE, tables_get(t, in, key, long_key, &got));
}

static void expect_text(task *t, res want, str value)
{
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    table  in = live_table();
    entity_set_str(&e, "v", value);
    EXPECT(want, tables_insert(t, in, &e));
    if (want == RES_OK) {
        OK(tables_get(t, in, STR("p"), STR("r"), &got));
        live_same(&e, &got);
    }
}

LIVE_TEST(a_text_has_at_most_32768_utf16_units)
{
    expect_text(t, RES_OK, live_repeat(t->arena, letter, 32768));
    expect_text(t, RES_TOO_LARGE, live_repeat(t->arena, letter, 32769));
    expect_text(t, RES_OK, live_repeat(t->arena, umlaut, 32768));
    expect_text(t, RES_TOO_LARGE, live_repeat(t->arena, umlaut, 32769));
    expect_text(t, RES_OK, live_repeat(t->arena, emoji, 16384));
    expect_text(t, RES_TOO_LARGE, live_repeat(t->arena, emoji, 16385));
}

LIVE_TEST(binary_has_at_most_65536_bytes)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    entity_set_binary(&e, "v", live_noise(t->arena, 65536, 1));
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    live_same(&e, &got);
    entity_set_binary(&e, "v", live_noise(t->arena, 65537, 1));
    EXPECT(RES_TOO_LARGE, tables_upsert_replace(t, in, &e));
}

LIVE_TEST(an_entity_has_at_most_252_properties)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    for (int n = 0; n < 252; n++)
        entity_set_int32(&e, textf("p%d", n), n);
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    live_same(&e, &got);
    entity_set_int32(&e, "onemore", 1);
    EXPECT(RES_TOO_LARGE, tables_upsert_replace(t, in, &e));
}

LIVE_TEST(a_name_has_at_most_255_characters)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    entity_set_int32(&e, arena_cstr(t->arena, live_repeat(t->arena, letter, 255)), 1);
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    live_same(&e, &got);
    entity_set_int32(&e, arena_cstr(t->arena, live_repeat(t->arena, letter, 256)), 1);
    EXPECT(RES_TOO_LARGE, tables_upsert_replace(t, in, &e));
}

/* 8 for the keys, and for each property 8 + 2 for each letter of its name + 4 + its bytes. */
LIVE_TEST(an_entity_has_at_most_a_mebibyte_by_azures_formula)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r")), got;
    for (int c = 'a'; c < 'p'; c++)
        entity_set_binary(&e, textf("%c", c), live_noise(t->arena, 65536, (uint64_t)c));
    size_t used = 8 + 15 * (8 + 2 + 4 + 65536), left = ENTITY_BYTES_MAX - used - 14;
    ck_assert_uint_le(left, 65536);
    entity_set_binary(&e, "z", live_noise(t->arena, left, 1));
    ck_assert_uint_eq(entity_bytes(&e), ENTITY_BYTES_MAX);
    OK(tables_insert(t, in, &e));
    OK(tables_get(t, in, STR("p"), STR("r"), &got));
    live_same(&e, &got);
    entity_set_binary(&e, "z", live_noise(t->arena, left + 1, 1));
    EXPECT(RES_TOO_LARGE, tables_upsert_replace(t, in, &e));
}

static const property bad_properties[] = {
    {.name = STR_INIT(""), .type = EDM_INT32},
    {.name = STR_INIT("a-b"), .type = EDM_INT32},
    {.name = STR_INIT("a b"), .type = EDM_INT32},
    {.name = STR_INIT("1x"), .type = EDM_INT32},
    {.name = STR_INIT("odata.etag"), .type = EDM_INT32},
    {.name = STR_INIT("x@odata.type"), .type = EDM_STRING, .text = STR_INIT("Edm.Int64")},
    {.name = STR_INIT("bad\xff"), .type = EDM_INT32},
    {.name = STR_INIT("v"), .type = EDM_STRING, .text = STR_INIT("bad \xff")},
    {.name = STR_INIT("v"), .type = EDM_STRING, .text = STR_INIT("\xed\xa0\x80")},
    {.name = STR_INIT("v"), .type = EDM_GUID, .text = STR_INIT("not a guid")},
    {.name = STR_INIT("v"), .type = EDM_GUID, .text = STR_INIT("")},
    {.name = STR_INIT("v"), .type = EDM_DATETIME, .ticks = TICKS_OF_1601 - 1},
    {.name = STR_INIT("v"), .type = EDM_DATETIME, .ticks = TICKS_OF_9999 + 1},
};

/* Azurite would take nearly all of them. */
LIVE_TEST(a_property_that_azure_refuses_is_refused)
{
    table       in = live_table();
    entity      e = entity_new(t->arena, STR("p"), STR("r"));
    table_write w = {.kind = WRITE_INSERT, .e = &e};
    entity_set(&e, &bad_properties[i]);
    EXPECT(RES_INVALID, tables_insert(t, in, &e));
    EXPECT(RES_INVALID, tables_upsert_merge(t, in, &e));
    EXPECT(RES_INVALID, tables_commit(t, in, &w, 1, NULL));
    EXPECT(RES_NOT_FOUND, tables_get(t, in, STR("p"), STR("r"), &e));
}

/* ---- long values ---- */

static void expect_long(task *t, table in, entity *e, str value)
{
    entity got;
    str    back;
    OK(long_value_set(e, "body", value));
    /* Azurite counts the bytes of the body, but not those of an insert (spec 4.4). */
    EXPECT(e->etag.len > 0 ? RES_OK : RES_NOT_FOUND, tables_remove(t, in, e->partition, e->row, ETAG_ANY));
    OK(tables_insert(t, in, e));
    OK(tables_get(t, in, e->partition, e->row, &got));
    OK(long_value_get(t->arena, &got, "body", 16 * MIB, &back));
    ck_assert_uint_eq(back.len, value.len);
    ck_assert(str_eq(back, value));
}

LIVE_TEST(a_long_value_is_read_back_also_after_a_longer_one)
{
    table  in = live_table();
    entity e = entity_new(t->arena, STR("p"), STR("r"));
    entity_set_int32(&e, "other", 7);
    expect_long(t, in, &e, live_repeat(t->arena, STR("some text that packs well. "), 300 * 1000));
    expect_long(t, in, &e, live_noise(t->arena, 900 * 1000, 7));
    expect_long(t, in, &e, STR("short"));
    expect_long(t, in, &e, STR(""));
    EXPECT(RES_TOO_LARGE, long_value_set(&e, "body", live_noise(t->arena, 1000 * 1000, 7)));
}

Suite *suite_values(void)
{
    Suite *s = suite_create("values");
    TCase *c = live_case("values");
    tcase_add_loop_test(c, every_value_comes_back_as_it_was, 0, COUNT(values));
    tcase_add_test(c, a_guid_is_kept_in_lower_case);
    tcase_add_test(c, names_differ_by_case_and_may_be_foreign);
    tcase_add_loop_test(c, an_odd_key_is_written_found_changed_and_removed, 0, COUNT(odd_keys));
    tcase_add_loop_test(c, a_forbidden_key_is_refused_by_every_call, 0, COUNT(bad_keys));
    tcase_add_loop_test(c, a_key_has_at_most_512_utf16_units, 0, COUNT(key_sizes));
    tcase_add_test(c, a_text_has_at_most_32768_utf16_units);
    tcase_add_test(c, binary_has_at_most_65536_bytes);
    tcase_add_test(c, an_entity_has_at_most_252_properties);
    tcase_add_test(c, a_name_has_at_most_255_characters);
    tcase_add_test(c, an_entity_has_at_most_a_mebibyte_by_azures_formula);
    tcase_add_loop_test(c, a_property_that_azure_refuses_is_refused, 0, COUNT(bad_properties));
    tcase_add_test(c, a_long_value_is_read_back_also_after_a_longer_one);
    suite_add_tcase(s, c);
    return s;
}
