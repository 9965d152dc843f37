/* contract_filter.c -- which rows a filter finds: every type of literal, every operator, and what is missing.
 *
 * One table of rows, each with one property, and one of comparisons; the rows that a comparison must find are
 * written next to it, as letters, and not computed by code that could be wrong in the same way. In the file
 * the property has one name in all rows: values of other types must not be found. Azurite compares values of
 * different types as JavaScript does (spec 9.1), so there each type has a name of its own.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "live/contract.h"
#include "live/live.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#define TEXT(literal)                                                        \
    {                                                                        \
        .name = STR_INIT("v"), .type = EDM_STRING, .text = STR_INIT(literal) \
    }
#define BYTES(literal)                                                       \
    {                                                                        \
        .name = STR_INIT("v"), .type = EDM_BINARY, .text = STR_INIT(literal) \
    }
#define GUID(literal)                                                      \
    {                                                                      \
        .name = STR_INIT("v"), .type = EDM_GUID, .text = STR_INIT(literal) \
    }
#define SMALL(n)                                                 \
    {                                                            \
        .name = STR_INIT("v"), .type = EDM_INT32, .integer = (n) \
    }
#define LARGE(n)                                                 \
    {                                                            \
        .name = STR_INIT("v"), .type = EDM_INT64, .integer = (n) \
    }
#define REAL(x)                                                \
    {                                                          \
        .name = STR_INIT("v"), .type = EDM_DOUBLE, .real = (x) \
    }
#define TRUTH(b)                                              \
    {                                                         \
        .name = STR_INIT("v"), .type = EDM_BOOL, .truth = (b) \
    }
#define TIME(t)                                                          \
    {                                                                    \
        .name = STR_INIT("v"), .type = EDM_DATETIME, .ticks = INT64_C(t) \
    }

#define GUID_LOW  "11111111-1111-1111-1111-111111111111"
#define GUID_HIGH "c9da6455-213d-42c9-9a79-3e9149a57833"

typedef struct {
    char     row; /* its RowKey */
    property value;
} filter_row;

static const filter_row rows[] = {
    {'A', TEXT("")},
    {'B', TEXT("o'b")},
    {'C', TEXT("\xc3\xbc&+%20 #?/")},
    {'D', SMALL(-4)},
    {'E', SMALL(42)},
    {'F', LARGE(-5000000000)},
    {'G', LARGE(5000000000)},
    {'H', LARGE(60000000000)},
    {'I', REAL(-0.5)},
    {'J', REAL(2.5)},
    {'K', REAL(1e20)},
    {'L', TRUTH(true)},
    {'M', TRUTH(false)},
    {'N', TIME(17092100960000000)},
    {'O', TIME(17092100961234567)},
    {'P', GUID(GUID_LOW)},
    {'Q', GUID(GUID_HIGH)},
    {'R', BYTES("\x01\x02")},
    {'S', BYTES("\0\xff")},
};

typedef struct {
    property    value;
    filter_op   op;
    const char *found; /* rows */
} filter_case;

/* STORE-23 */
static const filter_case literals[] = {
    {TEXT(""), FILTER_EQ, "A"},
    {TEXT("o'b"), FILTER_EQ, "B"},
    {TEXT("\xc3\xbc&+%20 #?/"), FILTER_EQ, "C"},
    {TEXT("nobody"), FILTER_EQ, ""},
    {TEXT("42"), FILTER_EQ, ""},
    {SMALL(-4), FILTER_EQ, "D"},
    {SMALL(42), FILTER_EQ, "E"},
    {LARGE(-5000000000), FILTER_EQ, "F"},
    {LARGE(5000000000), FILTER_EQ, "G"},
    {REAL(-0.5), FILTER_EQ, "I"},
    {REAL(2.5), FILTER_EQ, "J"},
    {REAL(1e20), FILTER_EQ, "K"},
    {TRUTH(true), FILTER_EQ, "L"},
    {TRUTH(false), FILTER_EQ, "M"},
    {TIME(17092100960000000), FILTER_EQ, "N"},
    {TIME(17092100961234567), FILTER_EQ, "O"},
    {GUID(GUID_LOW), FILTER_EQ, "P"},
    {GUID(GUID_HIGH), FILTER_EQ, "Q"},
    {GUID("C9DA6455-213D-42C9-9A79-3E9149A57833"), FILTER_EQ, "Q"},
    {BYTES("\x01\x02"), FILTER_EQ, "R"},
    {BYTES("\0\xff"), FILTER_EQ, "S"},
    /* order */
    {TEXT("o'a"), FILTER_GT, "BC"},
    {TEXT("o'b"), FILTER_GE, "BC"},
    {TEXT("o'b"), FILTER_LT, "A"},
    {TEXT("o'b"), FILTER_LE, "AB"},
    {SMALL(-4), FILTER_GT, "E"},
    {SMALL(42), FILTER_LT, "D"},
    {SMALL(42), FILTER_LE, "DE"},
    {LARGE(5000000000), FILTER_GT, "H"},
    {LARGE(5000000000), FILTER_GE, "GH"},
    {LARGE(60000000000), FILTER_LT, "FG"},
    {REAL(0.0), FILTER_GT, "JK"},
    {REAL(2.5), FILTER_LE, "IJ"},
    {REAL(3.0), FILTER_GE, "K"},
    {TIME(17092100960000000), FILTER_GT, "O"},
    {TIME(17092100961234567), FILTER_LT, "N"},
    {TIME(17092100961234567), FILTER_LE, "NO"},
    /* a property of another type, or none, is not unequal either */
    {TEXT("o'b"), FILTER_NE, "AC"},
    {SMALL(42), FILTER_NE, "D"},
    {LARGE(5000000000), FILTER_NE, "FH"},
    {REAL(2.5), FILTER_NE, "IK"},
    {TRUTH(true), FILTER_NE, "M"},
    {TIME(17092100960000000), FILTER_NE, "O"},
    {GUID(GUID_LOW), FILTER_NE, "Q"},
    {BYTES("\x01\x02"), FILTER_NE, "S"},
};

static const char *name_of(edm_type type)
{
    static const char *const names[EDM_COUNT] = {"s", "i", "l", "d", "b", "t", "g", "x"};
    return live_is() == LIVE_AZURE ? names[type] : "v";
}

static const filter *compare(arena *a, const char *name, filter_op op, const property *p)
{
    switch (p->type) {
    case EDM_STRING:
        return filter_str(a, name, op, p->text);
    case EDM_INT32:
        return filter_int32(a, name, op, (int32_t)p->integer);
    case EDM_INT64:
        return filter_int64(a, name, op, p->integer);
    case EDM_DOUBLE:
        return filter_double(a, name, op, p->real);
    case EDM_BOOL:
        return filter_bool(a, name, op, p->truth);
    case EDM_DATETIME:
        return filter_ticks(a, name, op, p->ticks);
    case EDM_GUID:
        return filter_guid(a, name, op, p->text);
    case EDM_BINARY:
        return filter_binary(a, name, op, p->text);
    case EDM_COUNT:
        break;
    }
    ck_abort_msg("no such type");
}

static table filled(task *t)
{
    table       in = live_table();
    table_write writes[COUNT(rows)];
    for (int n = 0; n < COUNT(rows); n++) {
        entity *e = arena_one(t->arena, entity);
        *e = entity_new(t->arena, STR("p"), (str){&rows[n].row, 1});
        property p = rows[n].value;
        p.name = str_of(name_of(p.type));
        entity_set(e, &p);
        writes[n] = (table_write){.kind = WRITE_INSERT, .e = e};
    }
    OK(tables_commit(t, in, writes, COUNT(rows), NULL));
    return in;
}

static void expect_rows(task *t, table in, const filter *f, const char *want)
{
    entity_page page;
    char        found[COUNT(rows) + 1];
    size_t      len = 0;
    OK(tables_query(t, in, &(table_query){.where = f}, &page));
    ck_assert_uint_eq(page.token.len, 0);
    for (size_t k = 0; k < page.len && len < COUNT(rows); k++)
        found[len++] = page.at[k].row.at[0];
    str text = filter_text(t->arena, f), got = {found, len};
    ck_assert_msg(str_eq(got, str_of(want)), "%.*s finds '%.*s', not '%s'", STR_ARG(text), STR_ARG(got),
                  want);
}

LIVE_TEST(a_literal_finds_exactly_its_rows)
{
    table in = filled(t);
    for (int n = 0; n < COUNT(literals); n++)
        expect_rows(t, in,
                    compare(t->arena, name_of(literals[n].value.type), literals[n].op, &literals[n].value),
                    literals[n].found);
}

/* STORE-24 */
static const char *const attacks[] = {
    "x' or PartitionKey ne '",    "' or '1' eq '1",
    "x') or (PartitionKey ne '",  "x'' or true",
    "%27 or PartitionKey ne %27", "x&$filter=PartitionKey ne ''",
    "x'\r\nor PartitionKey ne '", "\xef\xbc\x87 or PartitionKey ne \xef\xbc\x87",
};

LIVE_TEST(a_value_is_never_taken_for_syntax)
{
    table in = filled(t);
    str   value = str_of(attacks[i]);
    expect_rows(t, in, filter_str(t->arena, "v", FILTER_EQ, value), "");
    expect_rows(t, in, filter_str(t->arena, "PartitionKey", FILTER_EQ, value), "");
    entity e = entity_new(t->arena, STR("p"), STR("Z"));
    entity_set_str(&e, "v", value);
    OK(tables_insert(t, in, &e));
    expect_rows(t, in, filter_str(t->arena, "v", FILTER_EQ, value), "Z");
}

LIVE_TEST(filters_combine)
{
    table         in = filled(t);
    arena        *a = t->arena;
    const filter *small = filter_int32(a, name_of(EDM_INT32), FILTER_GE, -100);
    const filter *yes = filter_bool(a, name_of(EDM_BOOL), FILTER_EQ, true),
                 *no = filter_bool(a, name_of(EDM_BOOL), FILTER_EQ, false);
    const filter *late = filter_str(a, "RowKey", FILTER_GT, STR("D"));
    expect_rows(t, in, filter_and(a, small, late), "E");
    expect_rows(t, in, filter_or(a, yes, no), "LM");
    expect_rows(t, in, filter_or(a, filter_and(a, small, late), no), "EM");
    expect_rows(t, in, filter_and(a, filter_or(a, small, no), late), "EM");
    expect_rows(t, in, filter_and(a, late, filter_not(a, filter_or(a, small, no))), "FGHIJKLNOPQRS");
    expect_rows(t, in, filter_and(a, small, NULL), "DE");
    expect_rows(t, in, filter_or(a, small, NULL), "ABCDEFGHIJKLMNOPQRS");
    expect_rows(t, in, filter_not(a, filter_str(a, "RowKey", FILTER_GT, STR("B"))), "AB");
}

/* Spec 4.2: a comparison with what is missing is false; its negation is true. */
LIVE_TEST(a_missing_property_fails_comparisons_and_passes_their_negation)
{
    table  in = filled(t);
    arena *a = t->arena;
    expect_rows(t, in, filter_str(a, "none", FILTER_EQ, STR("")), "");
    expect_rows(t, in, filter_str(a, "none", FILTER_NE, STR("")), "");
    expect_rows(t, in, filter_int32(a, "none", FILTER_LT, 5), "");
    expect_rows(t, in, filter_not(a, filter_bool(a, "none", FILTER_EQ, true)), "ABCDEFGHIJKLMNOPQRS");
    expect_rows(t, in, filter_not(a, filter_bool(a, name_of(EDM_BOOL), FILTER_EQ, true)),
                "ABCDEFGHIJKMNOPQRS");
}

LIVE_TEST(the_timestamp_can_be_filtered_by)
{
    table  in = filled(t);
    entity e;
    OK(tables_get(t, in, STR("p"), STR("A"), &e));
    edm_ticks minute = INT64_C(600000000);
    expect_rows(t, in, filter_ticks(t->arena, "Timestamp", FILTER_GT, e.timestamp + minute), "");
    expect_rows(t, in, filter_ticks(t->arena, "Timestamp", FILTER_GT, e.timestamp - minute),
                "ABCDEFGHIJKLMNOPQRS");
}

LIVE_TEST(a_filter_has_at_most_15_comparisons)
{
    table         in = filled(t);
    const filter *f = NULL;
    entity_page   page;
    for (int n = 0; n < 15; n++)
        f = filter_and(t->arena, f, filter_int32(t->arena, name_of(EDM_INT32), FILTER_NE, n));
    expect_rows(t, in, f, "DE");
    f = filter_and(t->arena, f, filter_int32(t->arena, name_of(EDM_INT32), FILTER_NE, 99));
    EXPECT(RES_INVALID, tables_query(t, in, &(table_query){.where = f}, &page));
}

static const property bad_values[] = {
    {.type = EDM_GUID, .text = STR_INIT("x' or true")},
    {.type = EDM_STRING, .text = STR_INIT("\xff")},
};

LIVE_TEST(a_filter_with_a_bad_value_or_name_is_refused)
{
    table       in = filled(t);
    entity_page page;
    table_query q = {.where = compare(t->arena, "v", FILTER_EQ, &bad_values[i])};
    EXPECT(RES_INVALID, tables_query(t, in, &q, &page));
    q.where = filter_bool(t->arena, "v eq true or w", FILTER_EQ, true);
    EXPECT(RES_INVALID, tables_query(t, in, &q, &page));
}

Suite *suite_filter(void)
{
    Suite *s = suite_create("filter");
    TCase *c = live_case("filter");
    tcase_add_test(c, a_literal_finds_exactly_its_rows);
    tcase_add_loop_test(c, a_value_is_never_taken_for_syntax, 0, COUNT(attacks));
    tcase_add_test(c, filters_combine);
    tcase_add_test(c, a_missing_property_fails_comparisons_and_passes_their_negation);
    tcase_add_test(c, the_timestamp_can_be_filtered_by);
    tcase_add_test(c, a_filter_has_at_most_15_comparisons);
    tcase_add_loop_test(c, a_filter_with_a_bad_value_or_name_is_refused, 0, COUNT(bad_values));
    suite_add_tcase(s, c);
    return s;
}
