/* test_import.c -- `trestle import`: the real program against a catalogue that is played (catalogue.h).
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/gzip.h"
#include "e2e/catalogue.h"
#include "e2e/import_rig.h"

#define LIST(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const char three[] = "{\"owner\":\"o\",\"name\":\"n1\"}\n{\"owner\":\"o\",\"name\":\"n2\"}\n"
                            "{\"owner\":\"p\",\"name\":\"n1\"}\n";
static const char three_dumped[] =
    "o/n1={\"name\":\"n1\",\"owner\":\"o\"}\no/n2={\"name\":\"n2\",\"owner\":\"o\"}\n"
    "p/n1={\"name\":\"n1\",\"owner\":\"p\"}\n";

/* ---- forms ---- */

static const struct {
    const char *text;
    bool        packed;
} forms[] = {
    {three, false},
    {three, true},
    {"\xef\xbb\xbf{\"owner\":\"o\",\"name\":\"n1\"}\r\n\r\n "
     "\n{\"owner\":\"o\",\"name\":\"n2\"}\r\n{\"owner\":\"p\","
     "\"name\":\"n1\"}",
     false},
    {"[{\"owner\":\"o\",\"name\":\"n1\"},{\"owner\":\"o\",\"name\":\"n2\"},{\"owner\":\"p\",\"name\":\"n1\"}"
     "]",
     false},
    {"\xef\xbb\xbf\n [\n "
     "{\"owner\":\"o\",\n\"name\":\"n1\"}\n,\n{\"owner\":\"o\",\"name\":\"n2\"},{\"owner\":\"p\","
     "\"name\":\"n1\"}\n]\n\n",
     true},
};

static void write_form(int i)
{
    str packed;
    ck_assert_int_eq(gzip_pack(scratch(), str_of(forms[i].text), GZIP_DEFAULT, &packed), RES_OK);
    import_write("in", forms[i].packed ? packed : str_of(forms[i].text));
}

START_TEST(every_form_of_input_is_known_by_its_bytes)
{
    catalogue_start(&(catalogue_options){0});
    write_form(_i);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "3 records");
    import_check(&o, 0, "created 3, updated 0, unchanged 0, failed 0\n");
    import_check_dump(three_dumped);
    ck_assert(!import_exists("in.failed.ndjson") && !import_exists("in.import-state.json"));
    outcome again = import_run("in", NULL, NULL);
    import_check(&again, 0, "created 0, updated 0, unchanged 3, failed 0\n");
}
END_TEST

START_TEST(standard_input_is_read_like_a_file)
{
    catalogue_start(&(catalogue_options){0});
    write_form(_i);
    outcome o = e2e_run("/bin/sh",
                        LIST("-c", textf("exec '%s' import - --to %s <in", e2e_trestle(), catalogue_url())),
                        NULL, import_dir);
    import_check(&o, 0, "created 3, ");
    import_check(&o, 0, "no file cannot be gone on with");
    import_check_dump(three_dumped);
}
END_TEST

START_TEST(what_a_slow_pipe_has_brought_is_sent_before_its_end)
{
    catalogue_start(&(catalogue_options){0});
    process *p = process_start(&(process_spec){
        .args = LIST("/bin/sh", "-c",
                     textf("(echo '{\"owner\":\"o\",\"name\":\"n\"}'; exec sleep 60) | '%s' import - --to %s",
                           e2e_trestle(), catalogue_url())),
        .dir = import_dir});
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (catalogue_received() == 0 && process_now_ms() < until)
        process_pause();
    ck_assert_uint_eq(catalogue_received(), 1);
    process_end(p);
}
END_TEST

START_TEST(several_inputs_of_different_forms_are_one_run)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("a", "{\"owner\":\"o\",\"name\":\"n1\"}\nbroken");
    import_write_text("b", "[{\"owner\":\"o\",\"name\":\"n2\"}]");
    outcome o = e2e_run(e2e_trestle(), LIST("import", "a", "b", "--to", catalogue_url()), NULL, import_dir);
    import_check(&o, 1, "created 2, updated 0, unchanged 0, failed 1\n");
    ck_assert_holds(import_text("import.failed.ndjson"), "{\"number\":2,\"input\":\"a\",\"line\":2,");
}
END_TEST

START_TEST(an_empty_input_is_no_failure)
{
    static const char *const texts[] = {"", "\n\n", "[]", " [ \n]\n"};
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", texts[_i]);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "0 records");
    ck_assert_uint_eq(catalogue_batches(), 0);
}
END_TEST

/* ---- records that fail ---- */

START_TEST(records_that_fail_are_kept_with_their_reasons_and_the_rest_goes_on)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text(
        "in",
        "{\"owner\":\"o\",\"name\":\"n1\"}\n{broken\n{\"owner\":\"o\",\"name\":\"invalid\",\"x\":[1.0]}\n"
        "\n17\n{\"owner\":\"o\",\"name\":\"never\"}\n{\"owner\":\"o\",\"name\":\"n2\"}\n");
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, "created 2, updated 0, unchanged 0, failed 4\n");
    import_check(&o, 1, "'in', line 2: ");
    import_check(&o, 1, "failed records: 4, in 'in.failed.ndjson'");
    str failed = import_text("in.failed.ndjson");
    ck_assert_holds(failed,
                    "{\"number\":2,\"input\":\"in\",\"line\":2,\"error\":{\"errorCode\":\"NOT_JSON\",");
    ck_assert_holds(failed, ",\"text\":\"{broken\"}\n");
    ck_assert_holds(
        failed,
        "{\"number\":3,\"input\":\"in\",\"line\":3,\"error\":{\"errorCode\":\"VALIDATION_FAILED\","
        "\"message\":\"Missing required field: name\",\"retryable\":false},\"record\":{\"owner\":\"o\","
        "\"name\":\"invalid\",\"x\":[1.0]}}\n");
    ck_assert_holds(failed,
                    "\"line\":5,\"error\":{\"errorCode\":\"NOT_JSON\",\"message\":\"not a JSON object\"}");
    ck_assert_holds(failed, "\"line\":6,\"error\":{\"errorCode\":\"PERSISTENCE_FAILED\"");
    for (str rest = failed, line; str_next_field(&rest, '\n', &line);)
        if (line.len > 0)
            (void)json_of(line);
}
END_TEST

START_TEST(a_file_of_failed_records_can_be_imported)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("in",
                      "[{\"owner\":\"o\",\n\"name\":\"poison\",\"x\":1},{\"owner\":\"o\",\"name\":\"n1\"}]");
    outcome o = import_run("in", "--failed", "bad");
    import_check(&o, 1, "created 1, updated 0, unchanged 0, failed 1\n");
    str bad = import_text("bad");
    ck_assert_holds(bad, "400: a poisoned batch");
    ck_assert_uint_eq(str_find_char(bad, '\n'), bad.len - 1);
    buf mended;
    buf_init(&mended, scratch(), MIB);
    size_t at = str_find(bad, STR("\"poison\""));
    buf_addf(&mended, "%.*s\"n3\"%.*s", STR_ARG(str_slice(bad, 0, at)), STR_ARG(str_from(bad, at + 8)));
    import_write("mended", buf_str(&mended));
    outcome again = import_run("mended", NULL, NULL);
    import_check(&again, 0, "created 1, ");
    import_check_dump(
        "o/n1={\"name\":\"n1\",\"owner\":\"o\"}\no/n3={\"name\":\"n3\",\"owner\":\"o\",\"x\":1}\n");
}
END_TEST

START_TEST(what_may_be_sent_again_is_sent_again)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", "{\"owner\":\"o\",\"name\":\"busy1\"}\n{\"owner\":\"o\",\"name\":\"n1\"}\n"
                            "{\"owner\":\"q\",\"name\":\"busy2\"}\n");
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "created 3, updated 0, unchanged 0, failed 0\n");
    ck_assert_uint_eq(catalogue_received(), 7);
}
END_TEST

START_TEST(one_poisoned_record_does_not_take_its_batch_with_it)
{
    catalogue_start(&(catalogue_options){0});
    str text = import_many(99, 5);
    import_write("in",
                 arena_strf(scratch(), "%.*s{\"owner\":\"Owner-3\",\"name\":\"poison\"}\n", STR_ARG(text)));
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, "created 99, updated 0, unchanged 0, failed 1\n");
}
END_TEST

START_TEST(a_record_that_is_too_long_fails_alone)
{
    static const char *const ends[][3] = {{"", "\n", "\n"}, {"[", ",", "]"}};
    catalogue_start(&(catalogue_options){0});
    size_t len = 5 * MIB;
    char  *x = arena_alloc(scratch(), len);
    memset(x, 'x', len);
    import_write("in", arena_strf(scratch(), "%s{\"owner\":\"o\",\"name\":\"big\",\"x\":\"%.*s\"}%s%s%s",
                                  ends[_i][0], (int)len, x, ends[_i][1], "{\"owner\":\"o\",\"name\":\"n1\"}",
                                  ends[_i][2]));
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, "created 1, updated 0, unchanged 0, failed 1\n");
    import_check(&o, 1, "line 1: longer than the limit of 4 MiB");
    import_check_dump("o/n1={\"name\":\"n1\",\"owner\":\"o\"}\n");
}
END_TEST

START_TEST(a_damaged_input_is_told_and_what_came_before_it_is_loaded)
{
    catalogue_start(&(catalogue_options){0});
    str packed;
    ck_assert_int_eq(gzip_pack(scratch(), import_many(1000, 50), GZIP_DEFAULT, &packed), RES_OK);
    import_write("in", str_slice(packed, 0, packed.len - 100));
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, "'in' is cut off: it ends inside of gzip data");
    ck_assert_uint_gt(catalogue_received(), 100);
}
END_TEST

/* ---- order and batches ---- */

START_TEST(of_two_records_of_one_key_the_later_one_wins)
{
    catalogue_start(&(catalogue_options){.slow_ms = 20});
    buf in, want;
    buf_init(&in, scratch(), MIB);
    buf_init(&want, scratch(), MIB);
    for (int i = 0; i < 30; i++)
        for (int k = 10; k < 13; k++)
            buf_addf(&in, "{\"owner\":\"o%d\",\"name\":\"n\",\"version\":%d}\n", k, i);
    for (int k = 10; k < 13; k++)
        buf_addf(&want, "o%d/n={\"name\":\"n\",\"owner\":\"o%d\",\"version\":29}\n", k, k);
    import_write("in", buf_str(&in));
    outcome o = e2e_run(e2e_trestle(),
                        LIST("import", "in", "--to", catalogue_url(), "--concurrency", "8", "--batch", "4"),
                        NULL, import_dir);
    import_check(&o, 0, "90 records");
    ck_assert_str_is(catalogue_dump(), arena_cstr(scratch(), buf_str(&want)));
}
END_TEST

START_TEST(records_of_one_owner_travel_together)
{
    catalogue_start(&(catalogue_options){0});
    import_write("in", import_many(1200, 100)); /* 12 of each, a hundred lines apart */
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "created 1,200, ");
    ck_assert(!catalogue_owner_split());
    ck_assert_uint_le(catalogue_batches(), 20);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_import");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_checked_fixture(tc, import_open, import_close);
    tcase_add_loop_test(tc, every_form_of_input_is_known_by_its_bytes, 0, COUNT(forms));
    tcase_add_loop_test(tc, standard_input_is_read_like_a_file, 0, COUNT(forms));
    tcase_add_test(tc, what_a_slow_pipe_has_brought_is_sent_before_its_end);
    tcase_add_test(tc, several_inputs_of_different_forms_are_one_run);
    tcase_add_loop_test(tc, an_empty_input_is_no_failure, 0, 4);
    tcase_add_test(tc, records_that_fail_are_kept_with_their_reasons_and_the_rest_goes_on);
    tcase_add_test(tc, a_file_of_failed_records_can_be_imported);
    tcase_add_test(tc, what_may_be_sent_again_is_sent_again);
    tcase_add_test(tc, one_poisoned_record_does_not_take_its_batch_with_it);
    tcase_add_loop_test(tc, a_record_that_is_too_long_fails_alone, 0, 2);
    tcase_add_test(tc, a_damaged_input_is_told_and_what_came_before_it_is_loaded);
    tcase_add_test(tc, of_two_records_of_one_key_the_later_one_wins);
    tcase_add_test(tc, records_of_one_owner_travel_together);
    return s;
}

int main(void)
{
    return e2e_main("e2e_import", suite);
}
