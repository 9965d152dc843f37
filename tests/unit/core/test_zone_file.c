/* test_zone_file.c -- zoneinfo files of all versions, cut, damaged, and with any byte wrong.
 *
 * SPDX-License-Identifier: MIT */
#include "core/zone_file.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "unit/core/zone_files.h"
#include "unit/suites.h"

static bool reads(const file_bytes *f)
{
    zone_table t;
    char      *exact = malloc(f->len > 0 ? f->len : 1); /* so that a byte too many is seen */
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, f->at, f->len);
    bool good = zone_file_read((str){exact, f->len}, &t);
    free(exact);
    if (good)
        free(t.changes);
    return good;
}

START_TEST(files_of_all_versions_are_read)
{
    static const char versions[] = {'\0', '2', '3', '4'};
    zone_table        t;
    file_bytes        f;
    make_file(&f, versions[_i], "\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    ck_assert(zone_file_read((str){f.at, f.len}, &t));
    ck_assert_uint_eq(t.count, 2);
    ck_assert_int_eq(t.first_offset_s, 3600);
    ck_assert_int_eq(t.changes[0].at_s, 1000000);
    ck_assert_int_eq(t.changes[0].offset_s, 7200);
    ck_assert_int_eq(t.changes[1].offset_s, 3600);
    ck_assert_int_eq(t.has_rule, versions[_i] != '\0');
    free(t.changes);
}
END_TEST

START_TEST(no_part_of_a_file_is_a_file)
{
    file_bytes f;
    make_file(&f, '2', "\nCET-1\n");
    ck_assert(reads(&f));
    for (size_t whole = f.len; f.len > 0;) {
        f.len--;
        ck_assert_msg(!reads(&f), "%zu of %zu bytes", f.len, whole);
    }
}
END_TEST

/* Where the second block begins, in a file of version 2. */
enum { BLOCK_2 = 44 + 2 * 5 + 12 + 8 };

static const struct {
    const char *what;
    int         at;
    char        value;
} damages[] = {
    {"magic", 0, 'X'},
    {"version 1 in words", 4, '1'},
    {"second magic", BLOCK_2, 'X'},
    {"another version in the second header", BLOCK_2 + 4, '3'},
    {"a count of 2^31 in the first header", 32, '\x80'},
    {"a count of 2^31 names", BLOCK_2 + 40, '\x80'},
    {"leap seconds", BLOCK_2 + 31, 1},
    {"no types", BLOCK_2 + 39, 0},
    {"257 types", BLOCK_2 + 38, 1},
    {"times out of order", BLOCK_2 + 44, 1},
    {"a kind that is none", BLOCK_2 + 44 + 16, 2},
    {"an offset of years", BLOCK_2 + 44 + 18, 1},
    {"no newline before the rule", BLOCK_2 + 44 + 18 + 12 + 8, ' '},
    {"a rule that is none", BLOCK_2 + 44 + 18 + 12 + 8 + 1, ' '},
};

START_TEST(a_damaged_file_is_refused)
{
    file_bytes f;
    make_file(&f, '2', "\nCET-1\n");
    f.at[damages[_i].at] = damages[_i].value;
    ck_assert_msg(!reads(&f), "%s", damages[_i].what);
}
END_TEST

START_TEST(every_byte_of_a_file_may_be_wrong)
{
    file_bytes f;
    make_file(&f, '2', "\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    for (size_t i = 0; i < f.len; i++) {
        char was = f.at[i];
        for (int value = 0; value < 256; value++) {
            f.at[i] = (char)value;
            (void)reads(&f); /* either will do: the sanitizers watch */
        }
        f.at[i] = was;
    }
    ck_assert(reads(&f));
}
END_TEST

Suite *suite_zone_file(void)
{
    Suite *s = suite_create("zone_file");
    TCase *t = tcase_create("zone_file");
    tcase_set_timeout(t, 120); /* also under valgrind */
    tcase_add_loop_test(t, files_of_all_versions_are_read, 0, 4);
    tcase_add_test(t, no_part_of_a_file_is_a_file);
    tcase_add_loop_test(t, a_damaged_file_is_refused, 0, COUNT(damages));
    tcase_add_test(t, every_byte_of_a_file_may_be_wrong);
    suite_add_tcase(s, t);
    return s;
}
