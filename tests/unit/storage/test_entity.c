/* test_entity.c -- rows: values in and out, Azure's limits, the order of texts, times with seven digits.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/entity.h"

#include <math.h>
#include <string.h>

#include "unit/suites.h"

#define GUID "c9da6455-213d-42c9-9a79-3e9149a57833"

enum { BUDGET = 64 * MIB };

static arena *a;

static void before(void)
{
    a = arena_new(BUDGET);
    ck_assert_ptr_nonnull(a);
}

static void after(void)
{
    arena_free(a);
}

static void check_text(str got, const char *expected)
{
    ck_assert_msg(str_eq(got, str_of(expected)), "got '%.*s', expected '%s'", STR_ARG(got), expected);
}

/* The text `n` times over. */
static str repeat(const char *text, size_t n)
{
    size_t len = strlen(text);
    char  *all = arena_alloc(a, n * len + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, text, len);
    return (str){all, n * len};
}

static entity one_of_each(void)
{
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_str(&e, "s", STR("text"));
    entity_set_int32(&e, "i", -5);
    entity_set_int64(&e, "l", INT64_MIN);
    entity_set_double(&e, "d", 2.5);
    entity_set_bool(&e, "b", true);
    entity_set_time_us(&e, "t", -1);
    entity_set_guid(&e, "g", STR("C9DA6455-213D-42C9-9A79-3E9149A57833"));
    entity_set_binary(&e, "x", (str){"\0\xFF", 2});
    return e;
}

START_TEST(every_type_comes_out_as_it_was_put_in)
{
    entity e = one_of_each();
    check_text(entity_str(&e, "s", STR("")), "text");
    ck_assert_int_eq(entity_int(&e, "i", 0), -5);
    ck_assert(entity_int(&e, "l", 0) == INT64_MIN);
    ck_assert(entity_double(&e, "d", 0) == 2.5);
    ck_assert(entity_double(&e, "i", 0) == -5.0);
    ck_assert(entity_bool(&e, "b", false));
    ck_assert_int_eq(entity_time_us(&e, "t", 0), -1);
    check_text(entity_str(&e, "g", STR("")), GUID);
    ck_assert(str_eq(entity_binary(&e, "x", STR("")), (str){"\0\xFF", 2}));
    ck_assert_uint_eq(e.count, 8);
}
END_TEST

START_TEST(a_missing_or_otherwise_typed_property_gives_what_the_caller_said)
{
    entity e = one_of_each();
    check_text(entity_str(&e, "i", STR("no")), "no");
    check_text(entity_str(&e, "S", STR("no")), "no"); /* names are case-sensitive */
    ck_assert_int_eq(entity_int(&e, "d", 7), 7);
    ck_assert(entity_double(&e, "s", 1.5) == 1.5);
    ck_assert(entity_bool(&e, "nothing", true));
    ck_assert_int_eq(entity_time_us(&e, "l", 9), 9);
    check_text(entity_binary(&e, "s", STR("no")), "no");
    ck_assert(!entity_has(&e, "nothing"));
}
END_TEST

START_TEST(setting_again_replaces_in_place_and_dropping_closes_the_gap)
{
    entity e = one_of_each();
    entity_set_int64(&e, "s", 3);
    ck_assert_uint_eq(e.count, 8);
    check_text(e.props[0].name, "s");
    ck_assert_int_eq(entity_int(&e, "s", 0), 3);
    entity_drop(&e, "s");
    entity_drop(&e, "x");
    entity_drop(&e, "nothing");
    ck_assert_uint_eq(e.count, 6);
    check_text(e.props[0].name, "i");
    ck_assert(!entity_has(&e, "s") && !entity_has(&e, "x"));
}
END_TEST

START_TEST(a_copy_shares_nothing_with_its_original)
{
    char   text[] = "value", name[] = "name", key[] = "key";
    entity e = entity_new(a, str_of(key), STR("r"));
    entity_set_str(&e, name, str_of(text));
    e.etag = STR("tag");
    entity copy = entity_copy(a, &e);
    ck_assert(entity_same(&e, &copy));
    memset(text, '#', 5), memset(name, '#', 4), memset(key, '#', 3);
    check_text(copy.partition, "key");
    check_text(entity_str(&copy, "name", STR("")), "value");
    check_text(copy.etag, "tag");
    entity_set_bool(&copy, "more", true);
    ck_assert_uint_eq(e.count, 1);
}
END_TEST

START_TEST(entities_are_the_same_in_any_order_but_not_with_another_type)
{
    entity x = entity_new(a, STR("p"), STR("r")), y = x;
    entity_set_int32(&x, "a", 1), entity_set_double(&x, "b", NAN);
    entity_set_double(&y, "b", NAN), entity_set_int32(&y, "a", 1);
    y.etag = STR("other");
    ck_assert(entity_same(&x, &y));
    entity_set_int64(&y, "a", 1);
    ck_assert(!entity_same(&x, &y));
    entity_set_int32(&y, "a", 1);
    entity_set_bool(&y, "c", true);
    ck_assert(!entity_same(&x, &y));
    entity_drop(&y, "c");
    y.row = STR("s");
    ck_assert(!entity_same(&x, &y));
}
END_TEST

START_TEST(a_merge_adds_and_replaces_but_removes_nothing)
{
    entity onto = entity_new(a, STR("p"), STR("r")), changes = onto;
    entity_set_int32(&onto, "stays", 1), entity_set_int32(&onto, "changes", 1);
    entity_set_str(&changes, "changes", STR("2")), entity_set_int32(&changes, "comes", 3);
    entity_merge(&onto, &changes);
    ck_assert_uint_eq(onto.count, 3);
    ck_assert_int_eq(entity_int(&onto, "stays", 0), 1);
    check_text(entity_str(&onto, "changes", STR("")), "2");
    ck_assert_int_eq(entity_int(&onto, "comes", 0), 3);
}
END_TEST

/* Back ends read entities in threads of theirs, where an arena may not be touched. */
START_TEST(reading_allocates_nothing)
{
    entity e = one_of_each();
    arena_fail_at(1);
    (void)entity_str(&e, "g", STR("")), (void)entity_int(&e, "l", 0), (void)entity_double(&e, "d", 0);
    (void)entity_bool(&e, "b", 0), (void)entity_time_us(&e, "t", 0), (void)entity_binary(&e, "x", STR(""));
    (void)entity_has(&e, "q"), (void)entity_same(&e, &e), (void)entity_bytes(&e);
    bool untouched = arena_fail_pending();
    arena_fail_at(0);
    ck_assert(untouched);
}
END_TEST

/* ---- limits ---- */

static res check(const entity *e, str *why)
{
    *why = STR("");
    res r = entity_check(a, e, why);
    ck_assert((r == RES_OK) == (why->len == 0));
    return r;
}

static void check_string_limit(const char *text, size_t n, res expected)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_str(&e, "long_one", repeat(text, n));
    ck_assert_int_eq(check(&e, &why), expected);
    ck_assert(expected == RES_OK || (str_has(why, STR("'long_one'")) && str_has(why, STR("32768"))));
}

/* STORE-21: on either side of each limit of a value. */
START_TEST(values_may_have_azures_limits_and_not_more)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    check_string_limit("x", 32768, RES_OK);
    check_string_limit("x", 32769, RES_TOO_LARGE);
    check_string_limit("\u00FC", 32768, RES_OK);
    check_string_limit("\u00FC", 32769, RES_TOO_LARGE);
    check_string_limit("\U0001F600", 16384, RES_OK);
    check_string_limit("\U0001F600", 16385, RES_TOO_LARGE);

    entity_set_binary(&e, "bytes", repeat("x", 65536));
    ck_assert_int_eq(check(&e, &why), RES_OK);
    entity_set_binary(&e, "bytes", repeat("x", 65537));
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
    ck_assert(str_has(why, STR("'bytes'")) && str_has(why, STR("65536")));
}
END_TEST

/* STORE-21 */
START_TEST(keys_may_have_512_units)
{
    str    why;
    entity e = entity_new(a, repeat("\u65E5", 512), repeat("\U0001F600", 256));
    ck_assert_int_eq(check(&e, &why), RES_OK);
    e.partition = repeat("x", 513);
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
    ck_assert(str_has(why, STR("PartitionKey")) && str_has(why, STR("512")));
    e.partition = STR("");
    e.row = repeat("\U0001F600", 257);
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
    ck_assert(str_has(why, STR("RowKey")));
}
END_TEST

/* STORE-21 */
START_TEST(an_entity_may_have_252_properties)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    for (int i = 0; i < ENTITY_PROPS_MAX; i++)
        entity_set_bool(&e, arena_strf(a, "p%d", i).at, true);
    ck_assert_int_eq(check(&e, &why), RES_OK);
    entity_set_bool(&e, "one_more", true);
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
    ck_assert(str_has(why, STR("253")) && str_has(why, STR("252")));
}
END_TEST

/* STORE-21: fifteen properties of 64 KiB, and a sixteenth that makes it exactly 1 MiB. */
START_TEST(an_entity_may_have_a_mebibyte_by_azures_formula)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    for (int i = 0; i < 15; i++)
        entity_set_binary(&e, arena_strf(a, "p%02d", i).at, repeat("x", 65536));
    size_t rest = ENTITY_BYTES_MAX - entity_bytes(&e) - (8 + 2 * 4 + 4);
    ck_assert_uint_lt(rest, 65536);
    entity_set_binary(&e, "last", repeat("x", rest));
    ck_assert_uint_eq(entity_bytes(&e), ENTITY_BYTES_MAX);
    ck_assert_int_eq(check(&e, &why), RES_OK);
    entity_set_binary(&e, "last", repeat("x", rest + 1));
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
}
END_TEST

START_TEST(the_size_follows_the_formula)
{
    entity e = one_of_each();
    size_t names = 8 * (8 + 2 * 1), values = (2 * 4 + 4) + 4 + 8 + 8 + 1 + 8 + 16 + (2 + 4);
    ck_assert_uint_eq(entity_bytes(&e), 4 + 2 * (1 + 1) + names + values);
}
END_TEST

/* STORE-22 */
static const struct {
    const char *key;
    res         expected;
} keys[] = {
    {"", RES_OK},
    {"o'brien", RES_OK},
    {"a+b c%d&=,(e)", RES_OK},
    {"\u00FC\U0001F600\u65E5", RES_OK},
    {"\u00A0", RES_OK},
    {"a/b", RES_INVALID},
    {"a\\b", RES_INVALID},
    {"a#b", RES_INVALID},
    {"a?b", RES_INVALID},
    {"a\tb", RES_INVALID},
    {"\x1F", RES_INVALID},
    {"\x7F", RES_INVALID},
    {"\xC2\x80", RES_INVALID},
    {"\xC2\x9F", RES_INVALID},
    {"\xFF", RES_INVALID},
    {"\xED\xA0\x80", RES_INVALID}, /* half a surrogate pair */
};

START_TEST(keys_with_forbidden_characters_are_refused)
{
    str    why;
    entity e = entity_new(a, str_of(keys[_i].key), STR("r"));
    ck_assert_int_eq(check(&e, &why), keys[_i].expected);
    e = entity_new(a, STR("p"), str_of(keys[_i].key));
    ck_assert_int_eq(check(&e, &why), keys[_i].expected);
    if (keys[_i].expected != RES_OK)
        ck_assert(str_has(why, STR("RowKey")));
}
END_TEST

static const struct {
    const char *name;
    res         expected;
} names[] = {
    {"a", RES_OK},
    {"_1", RES_OK},
    {"Name_2", RES_OK},
    {"gr\u00F6\u00DFe", RES_OK},
    {"\u65E5\u672C", RES_OK},
    {"e\u0301", RES_OK}, /* a combining mark */
    {"partitionkey", RES_OK},
    {"", RES_INVALID},
    {"1x", RES_INVALID},
    {"a-b", RES_INVALID},
    {"a b", RES_INVALID},
    {"a.b", RES_INVALID},
    {"odata.type", RES_INVALID},
    {"\u0301e", RES_INVALID},
    {"a\u20AC", RES_INVALID},     /* a currency sign */
    {"a\U0001F600", RES_INVALID}, /* above U+FFFF */
    {"\U00010400", RES_INVALID},  /* a letter, but above U+FFFF */
    {"a\xFF", RES_INVALID},
    {"PartitionKey", RES_INVALID},
    {"RowKey", RES_INVALID},
    {"Timestamp", RES_INVALID},
};

START_TEST(names_of_properties_are_identifiers)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_bool(&e, names[_i].name, true);
    ck_assert_msg(check(&e, &why) == names[_i].expected, "'%s': %.*s", names[_i].name, STR_ARG(why));
}
END_TEST

START_TEST(names_of_properties_have_at_most_255_characters)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_bool(&e, arena_cstr(a, repeat("\u00FC", 255)), true);
    ck_assert_int_eq(check(&e, &why), RES_OK);
    entity_set_bool(&e, arena_cstr(a, repeat("x", 256)), true);
    ck_assert_int_eq(check(&e, &why), RES_TOO_LARGE);
}
END_TEST

static void refuse_value(property p, const char *word)
{
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    p.name = STR("odd");
    entity_set(&e, &p);
    ck_assert_int_eq(check(&e, &why), RES_INVALID);
    ck_assert(str_has(why, STR("'odd'")) && str_has(why, str_of(word)));
}

START_TEST(values_that_their_type_cannot_have_are_refused)
{
    refuse_value((property){.type = EDM_STRING, .text = STR("\xC0\x80")}, "UTF-8");
    refuse_value((property){.type = EDM_GUID, .text = STR("c9da6455")}, "GUID");
    refuse_value((property){.type = EDM_GUID, .text = STR("c9da6455-213d-42c9-9a79-3e9149a5783g")}, "GUID");
    refuse_value((property){.type = EDM_INT32, .integer = INT64_C(1) << 31}, "Int32");
    refuse_value((property){.type = EDM_DATETIME, .ticks = INT64_MAX}, "1601");
    refuse_value((property){.type = EDM_COUNT}, "type");
}
END_TEST

START_TEST(times_are_within_1601_and_9999)
{
    static const struct {
        const char *text;
        res         expected;
    } times[] = {{"1601-01-01T00:00:00Z", RES_OK},
                 {"1600-12-31T23:59:59.9999999Z", RES_INVALID},
                 {"9999-12-31T23:59:59.9999999Z", RES_OK}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        str       why;
        edm_ticks ticks;
        entity    e = entity_new(a, STR("p"), STR("r"));
        ck_assert(edm_time_parse(str_of(times[i].text), &ticks));
        entity_set_ticks(&e, "t", ticks);
        ck_assert_int_eq(check(&e, &why), times[i].expected);
    }
    str    why;
    entity e = entity_new(a, STR("p"), STR("r"));
    entity_set_time_us(&e, "t", INT64_MAX); /* does not wrap around into a year that there is */
    ck_assert_int_eq(check(&e, &why), RES_INVALID);
}
END_TEST

/* ---- order and time ---- */

/* Of one, two, three and four bytes, shifted over the bounds of machine words. */
START_TEST(units_are_counted_wherever_a_character_begins)
{
    static const struct {
        const char *text;
        size_t      units;
    } characters[] = {{"a", 1}, {"\xc3\xa9", 1}, {"\xe2\x82\xac", 1}, {"\xf0\x9f\x98\x80", 2}};
    char   text[256];
    size_t len = 0, units = 0;
    for (size_t i = 0; i < 64; i++) {
        size_t k = (i * i + i / 3) % 4, n = strlen(characters[k].text);
        memcpy(text + len, characters[k].text, n);
        len += n;
        units += characters[k].units;
        ck_assert_uint_eq(entity_utf16_units((str){text, len}), units);
    }
    ck_assert_uint_eq(entity_utf16_units((str){0}), 0);
}
END_TEST

START_TEST(texts_are_ordered_by_utf16_units)
{
    static const char *const ordered[] = {"",           "A",      "B",      "a",          "aa",
                                          "b",          "\u00FC", "\uD7FF", "\U00010000", "\U0001F600",
                                          "\U0010FFFF", "\uE000", "\uFFFF", "\uFFFFx"};
    size_t                   n = sizeof ordered / sizeof *ordered;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            int got = entity_compare_text(str_of(ordered[i]), str_of(ordered[k]));
            ck_assert_msg((got > 0) - (got < 0) == (i > k) - (i < k), "%zu and %zu: %d", i, k, got);
        }
}
END_TEST

static const struct {
    const char *text, *again; /* NULL: refused */
} times[] = {
    {"2024-02-29T12:34:56.1234567Z", "2024-02-29T12:34:56.1234567Z"},
    {"2024-02-29T12:34:56Z", "2024-02-29T12:34:56.0000000Z"},
    {"2024-02-29T12:34:56.5+01:30", "2024-02-29T11:04:56.5000000Z"},
    {"1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.9999999Z"},
    {"1601-01-01T00:00:00.0000001Z", "1601-01-01T00:00:00.0000001Z"},
    {"9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
    {"2024-02-29T12:34:56.12345678Z", NULL},
    {"2024-02-30T12:34:56Z", NULL},
    {"2024-02-29", NULL},
    {"2024-02-29T12:34:56", NULL},
    {"", NULL},
};

START_TEST(times_keep_seven_digits)
{
    char      out[EDM_TIME_SIZE];
    edm_ticks ticks;
    ck_assert(edm_time_parse(str_of(times[_i].text), &ticks) == (times[_i].again != NULL));
    if (times[_i].again != NULL)
        check_text(edm_time_format(ticks, out), times[_i].again);
}
END_TEST

START_TEST(any_number_of_ticks_is_written_as_some_time)
{
    char out[EDM_TIME_SIZE];
    ck_assert(str_starts(edm_time_format(INT64_MIN, out), STR("0001-01-01T")));
    ck_assert(str_starts(edm_time_format(INT64_MAX, out), STR("9999-12-31T")));
    check_text(edm_time_format(-1, out), "1969-12-31T23:59:59.9999999Z");
}
END_TEST

START_TEST(types_have_their_names)
{
    ck_assert_str_eq(edm_name(EDM_STRING), "Edm.String");
    ck_assert_str_eq(edm_name(EDM_INT64), "Edm.Int64");
    ck_assert_str_eq(edm_name(EDM_DATETIME), "Edm.DateTime");
    ck_assert_str_eq(edm_name(EDM_BINARY), "Edm.Binary");
}
END_TEST

Suite *suite_entity(void)
{
    Suite *s = suite_create("entity");
    TCase *c = tcase_create("entity");
    tcase_add_checked_fixture(c, before, after);
    tcase_add_test(c, every_type_comes_out_as_it_was_put_in);
    tcase_add_test(c, a_missing_or_otherwise_typed_property_gives_what_the_caller_said);
    tcase_add_test(c, setting_again_replaces_in_place_and_dropping_closes_the_gap);
    tcase_add_test(c, a_copy_shares_nothing_with_its_original);
    tcase_add_test(c, entities_are_the_same_in_any_order_but_not_with_another_type);
    tcase_add_test(c, a_merge_adds_and_replaces_but_removes_nothing);
    tcase_add_test(c, reading_allocates_nothing);
    tcase_add_test(c, values_may_have_azures_limits_and_not_more);
    tcase_add_test(c, keys_may_have_512_units);
    tcase_add_test(c, an_entity_may_have_252_properties);
    tcase_add_test(c, an_entity_may_have_a_mebibyte_by_azures_formula);
    tcase_add_test(c, the_size_follows_the_formula);
    tcase_add_loop_test(c, keys_with_forbidden_characters_are_refused, 0, sizeof keys / sizeof *keys);
    tcase_add_loop_test(c, names_of_properties_are_identifiers, 0, sizeof names / sizeof *names);
    tcase_add_test(c, names_of_properties_have_at_most_255_characters);
    tcase_add_test(c, values_that_their_type_cannot_have_are_refused);
    tcase_add_test(c, times_are_within_1601_and_9999);
    tcase_add_test(c, texts_are_ordered_by_utf16_units);
    tcase_add_test(c, units_are_counted_wherever_a_character_begins);
    tcase_add_loop_test(c, times_keep_seven_digits, 0, sizeof times / sizeof *times);
    tcase_add_test(c, any_number_of_ticks_is_written_as_some_time);
    tcase_add_test(c, types_have_their_names);
    suite_add_tcase(s, c);
    return s;
}
