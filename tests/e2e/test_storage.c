/* test_storage.c -- the store of the program as a person meets it: chosen, shown, locked, kept over a crash,
 * copied; and queue functions that run without the host.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "e2e/e2e.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *app_root(void)
{
    return textf("%s/tests/e2e/app", e2e_source());
}

static void check_refused(const outcome *o, int status, const char *part)
{
    ck_assert_msg(o->status == status, "exit code %d: %.*s", o->status, STR_ARG(o->err));
    ck_assert_holds(o->err, part);
    ck_assert(str_starts(o->err, STR("trestle: ")));
    ck_assert_msg(str_find_char(o->err, '\n') == o->err.len - 1, "more than one line: %.*s", STR_ARG(o->err));
}

static size_t times_said(const process *p, const char *what)
{
    str    out = process_out(p), mark = str_of(what);
    size_t n = 0;
    for (size_t at; (at = str_find(out, mark)) < out.len; out = str_from(out, at + mark.len))
        n++;
    return n;
}

static void check_says(const server *s, const char *what)
{
    ck_assert_msg(process_says(s->proc, what, E2E_LIMIT_MS), "it never says '%s': %.*s", what,
                  STR_ARG(process_err(s->proc)));
}

static server start_on(const char *data)
{
    return server_start(&(server_spec){.standalone = true, .data = data});
}

static void enqueue(const server *s, const char *text)
{
    ck_assert_status(client_call(s->port, "POST", "/api/enqueue", "", str_of(text)), 202);
}

/* ---- which, and whose ---- */

START_TEST(without_settings_the_store_is_embedded_and_the_banner_says_where)
{
    const char *data = textf("%s/new", root_empty());
    server      s = server_start(&(server_spec){.real = true, .standalone = true, .data = data});
    ck_assert_holds(process_out(s.proc), textf("Storage: embedded in %s\n", data));
    ck_assert_status(client_get(s.port, "/api/health"), 200);
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_int_eq(access(textf("%s/trestle.db", data), F_OK), 0);
}
END_TEST

START_TEST(a_second_process_on_the_same_folder_is_refused)
{
    const char *data = root_empty();
    server      s = start_on(data);
    outcome     o =
        e2e_run(e2e_trestle(), LIST("--port", "0", "--root", e2e_source(), "--data", data), NULL, NULL);
    check_refused(&o, 1, "in use by another process");
    outcome e =
        e2e_run(e2e_trestle(), LIST("store", "export", root_empty(), "--data", data), NULL, root_empty());
    check_refused(&e, 1, "in use by another process");
    ck_assert_status(client_get(s.port, "/api/hello"), 200);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(a_file_of_somebody_else_is_not_taken_for_the_store)
{
    const char *data = root_empty();
    root_write(data, "trestle.db",
               "These are the words of somebody who never heard of any database at all.\n");
    outcome o =
        e2e_run(e2e_trestle(), LIST("--port", "0", "--root", e2e_source(), "--data", data), NULL, NULL);
    check_refused(&o, 1, "trestle.db");
}
END_TEST

static const struct {
    const char *env, *part;
} bad_settings[] = {
    {"AZURE_STORAGE_CONNECTION_STRING=AccountKey=SecretNonsense", "onnection"},
    {"AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=***"
     "SecretNonsense",
     "onnection"},
    {"TRESTLE_STORAGE=paper", "paper"},
    {"TRESTLE_STORAGE=azure", "AZURE_STORAGE_CONNECTION_STRING"},
};

START_TEST(a_setting_that_cannot_be_used_ends_it_with_one_line)
{
    outcome o = e2e_run(e2e_app(), LIST("--port", "0", "--root", app_root()), LIST(bad_settings[_i].env),
                        root_empty());
    check_refused(&o, 1, bad_settings[_i].part);
    ck_assert(!str_has(o.err, STR("SecretNonsense")));
}
END_TEST

/* ---- under the host ---- */

static int entries(const char *dir)
{
    int  n = 0;
    DIR *d = opendir(dir);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    (void)closedir(d);
    return n;
}

/* A deployment that lost its settings must not write to a disk that vanishes. */
START_TEST(under_the_host_without_settings_nothing_is_written_and_the_rest_works)
{
    const char *dir = root_empty();
    int         port = e2e_free_port();
    process    *p = process_start(&(process_spec){.args = LIST(e2e_app(), "--root", app_root()),
                                                  .env = LIST(textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", port)),
                                                  .dir = dir});
    ck_assert_msg(process_says(p, "listening on", E2E_LIMIT_MS), "%.*s", STR_ARG(process_err(p)));
    ck_assert_status(client_get(port, "/api/hello"), 200);
    answer a = client_get(port, "/api/listing");
    ck_assert_status(a, 500);
    ck_assert_int_eq(entries(dir), 0);
    process_end(p);
}
END_TEST

START_TEST(under_the_host_embedded_works_when_it_is_asked_for_by_name)
{
    const char *data = textf("%s/named", root_empty());
    server      s = server_start(
             &(server_spec){.env = LIST("TRESTLE_STORAGE=embedded", textf("TRESTLE_DATA_DIR=%s", data))});
    ck_assert_status(client_call(s.port, "POST", "/api/fill/1", "", (str){0}), 200);
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_int_eq(access(textf("%s/trestle.db", data), F_OK), 0);
}
END_TEST

/* There the host reads queues: a message that is put into ours stays where it is. */
START_TEST(under_the_host_queues_are_not_read)
{
    const char *data = root_empty();
    server      s = server_start(
             &(server_spec){.env = LIST("TRESTLE_STORAGE=embedded", textf("TRESTLE_DATA_DIR=%s", data))});
    ck_assert_status(client_call(s.port, "POST", "/api/rawput/done", "", STR("aGVsbG8=")), 202);
    ck_assert(!process_says(s.proc, "done: 'hello'", 500));
    ck_assert_int_eq(server_stop(&s), 0);
    server alone = start_on(data);
    check_says(&alone, "done: 'hello'");
    ck_assert_int_eq(server_stop(&alone), 0);
}
END_TEST

/* ---- queue functions ---- */

START_TEST(a_message_of_an_http_function_reaches_a_queue_function_and_the_next)
{
    server s = start_on(NULL);
    enqueue(&s, "hello");
    check_says(&s, "work: 'hello', try 1");
    check_says(&s, "done: 'hello'");
    answer a = client_get(s.port, "/api/stats");
    ck_assert_status(a, 200);
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_uint_eq(times_said(s.proc, "\"work: "), 1);
    ck_assert_uint_eq(times_said(s.proc, "\"done: "), 1);
}
END_TEST

START_TEST(many_messages_all_arrive_once)
{
    server s = start_on(NULL);
    for (int i = 0; i < 100; i++)
        enqueue(&s, textf("m%d.", i));
    for (int i = 0; i < 100; i++)
        check_says(&s, textf("done: 'm%d.'", i));
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_uint_eq(times_said(s.proc, "\"work: "), 100);
}
END_TEST

/* STORE-42 */
START_TEST(a_message_that_fails_five_times_ends_in_the_poison_queue)
{
    static const char *const texts[] = {"fail always", "status"};
    server                   s = start_on(NULL);
    enqueue(&s, texts[_i]);
    check_says(&s, textf("poison: '%s'", texts[_i]));
    for (int i = 1; i <= 5; i++)
        ck_assert_uint_eq(times_said(s.proc, textf("work: '%s', try %d", texts[_i], i)), 1);
    ck_assert_uint_eq(times_said(s.proc, "\"work: "), 5);
    ck_assert_holds(process_err(s.proc), "moves to 'work-poison'");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(a_message_that_is_not_base64_is_never_run_and_ends_in_poison)
{
    server s = start_on(NULL);
    ck_assert_status(client_call(s.port, "POST", "/api/rawput/work", "", STR("not base64!")), 202);
    check_says(&s, "moves to 'work-poison'");
    ck_assert_uint_eq(times_said(s.proc, "\"work: "), 0);
    ck_assert_holds(process_err(s.proc), "is not base64");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(with_message_encoding_none_texts_are_taken_as_they_are)
{
    const char *root = root_copy();
    root_write(root, "host.json",
               "{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"messageEncoding\":\"none\"}}}");
    server s = server_start(&(server_spec){.standalone = true, .root = root});
    ck_assert_status(client_call(s.port, "POST", "/api/rawput/work", "", STR("not base64!")), 202);
    check_says(&s, "done: 'not base64!'");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(messages_survive_a_kill_and_are_run_after_the_restart)
{
    const char *data = root_empty();
    server      s = server_start(
             &(server_spec){.standalone = true, .data = data, .env = LIST("AzureWebJobs.onwork.Disabled=true")});
    enqueue(&s, "kept");
    process_signal(s.proc, SIGKILL);
    process_end(s.proc);
    ck_assert_uint_eq(times_said(s.proc, "\"work: "), 0);
    server again = start_on(data);
    check_says(&again, "work: 'kept', try 1");
    check_says(&again, "done: 'kept'");
    ck_assert_int_eq(server_stop(&again), 0);
}
END_TEST

/* What is under way at SIGTERM is finished, and not run again; its output waits for the next start. */
START_TEST(a_message_under_way_is_finished_before_the_program_ends)
{
    const char *data = root_empty();
    server      s = start_on(data);
    enqueue(&s, "slow");
    check_says(&s, "work: 'slow'");
    ck_assert_int_eq(server_stop(&s), 0);
    server again = start_on(data);
    check_says(&again, "done: 'slow'");
    ck_assert_int_eq(server_stop(&again), 0);
    ck_assert_uint_eq(times_said(again.proc, "\"work: "), 0);
}
END_TEST

START_TEST(an_output_that_only_the_host_can_write_is_a_failure)
{
    server s = start_on(NULL);
    answer a = client_call(s.port, "POST", "/api/enqueue?elsewhere=1", "", STR("lost"));
    ck_assert_int_ge(a.status, 400);
    ck_assert_holds(a.body, "only the host");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(an_output_that_is_too_large_fails_the_call)
{
    server s = start_on(NULL);
    char   large[60 * KIB];
    memset(large, 'x', sizeof large);
    answer a = client_call(s.port, "POST", "/api/enqueue", "", (str){large, sizeof large});
    ck_assert_status(a, 413);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* ---- copies ---- */

static outcome copy(const char *verb, const char *dir, const char *data, const char *only)
{
    return e2e_run(e2e_trestle(), LIST("store", verb, dir, "--data", data, "--only", only), NULL,
                   root_empty());
}

static void check_copied(const char *verb, const char *dir, const char *data)
{
    outcome o = copy(verb, dir, data, "tables,blobs,queues");
    ck_assert_msg(o.status == 0, "%s ended with %d: %.*s", verb, o.status, STR_ARG(o.err));
    ck_assert_holds(o.err, " rows, 8 blobs, 3 messages");
}

static void fill(const char *data, int rows)
{
    server s = start_on(data);
    ck_assert_status(client_call(s.port, "POST", textf("/api/fill/%d", rows), "", (str){0}), 200);
    ck_assert_int_eq(server_stop(&s), 0);
}

static str listing(const char *data)
{
    server s = start_on(data);
    answer a = client_get(s.port, "/api/listing");
    ck_assert_status(a, 200);
    ck_assert_int_eq(server_stop(&s), 0);
    return a.body;
}

START_TEST(an_export_and_an_import_give_the_same_store)
{
    const char *from = root_empty(), *to = root_empty(), *dir = textf("%s/copy", root_empty());
    fill(from, 250);
    str before = listing(from);
    ck_assert_holds(before, "row p'\xc3\xa9 83|00000249");
    check_copied("export", dir, from);
    check_copied("import", dir, to);
    ck_assert_str_is(listing(to), arena_cstr(scratch(), before));
    ck_assert_str_is(listing(from), arena_cstr(scratch(), before)); /* its messages are visible again */

    outcome again = copy("export", dir, from, "tables");
    check_refused(&again, 1, "holds a whole export already");
    check_copied("import", dir, root_empty()); /* a folder can be imported again */
}
END_TEST

/* Starts the command, and kills it some while after the file that says how far it is has come up. */
static void copy_and_kill(const char *verb, const char *dir, const char *data, const char *state, int pauses)
{
    process *p = process_start(&(process_spec){
        .args = LIST(e2e_trestle(), "store", verb, dir, "--data", data, "--only", "tables,blobs"),
        .dir = root_empty()});
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (access(textf("%s/%s", dir, state), F_OK) != 0 && process_alive(p) && process_now_ms() < until)
        process_pause();
    for (int i = 0; i < pauses; i++)
        process_pause();
    process_signal(p, SIGKILL);
    process_end(p);
}

START_TEST(copies_that_were_killed_go_on_where_they_were)
{
    const char *from = root_empty(), *to = root_empty(), *dir = textf("%s/copy", root_empty());
    fill(from, 3000);
    str before = str_slice(listing(from), 0, str_find(listing(from), STR("message ")));
    copy_and_kill("export", dir, from, "state.json", 4 * _i);
    if (access(textf("%s/export.json", dir), F_OK) != 0) {
        outcome o = copy("export", dir, from, "tables,blobs");
        ck_assert_msg(o.status == 0, "%.*s", STR_ARG(o.err));
    }
    copy_and_kill("import", dir, to, "import.json", 4 * _i);
    outcome o = copy("import", dir, to, "tables,blobs");
    ck_assert_msg(o.status == 0, "%.*s", STR_ARG(o.err));
    ck_assert_str_is(listing(to), arena_cstr(scratch(), before));
}
END_TEST

static const struct {
    const char *args[6];
    int         status;
    const char *part;
} bad_commands[] = {
    {{"store"}, 2, "export DIR"},
    {{"store", "export"}, 2, "export DIR"},
    {{"store", "sell", "x"}, 2, "export DIR"},
    {{"store", "import", "--only", "tables"}, 2, "import DIR"},
    {{"store", "import", "x", "--only", "chairs"}, 2, "--only is 'chairs'"},
    {{"store", "import", "x", "--only", ""}, 2, "--only is empty"},
    {{"store", "import", "x"}, 1, "export.json is missing"},
    {{"store", "export", "/dev/null/x"}, 1, "/dev/null/x"},
    {{"store", "export", "/etc"}, 1, "'/etc' is not empty"},
};

START_TEST(a_copy_that_cannot_be_is_refused_with_one_line)
{
    outcome o = e2e_run(e2e_trestle(), bad_commands[_i].args, NULL, root_empty());
    check_refused(&o, bad_commands[_i].status, bad_commands[_i].part);
}
END_TEST

START_TEST(a_damaged_line_is_named_by_its_place)
{
    const char *dir = root_empty();
    root_write(dir, "export.json", "{\"format\":1}\n");
    root_write(
        dir, "tables/Abc.jsonl",
        "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}\n{\"PartitionKey\":\"p\",\"RowKey\":\"s\",\"n\":1.5}\n");
    outcome o = copy("import", dir, root_empty(), "tables");
    check_refused(&o, 1, "table 'Abc': the line at byte 34: property 'n'");
    root_write(dir, "export.json", "{\"format\":2}\n");
    outcome newer = copy("import", dir, root_empty(), "tables");
    check_refused(&newer, 1, "is not of format 1");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_storage");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_test(tc, without_settings_the_store_is_embedded_and_the_banner_says_where);
    tcase_add_test(tc, a_second_process_on_the_same_folder_is_refused);
    tcase_add_test(tc, a_file_of_somebody_else_is_not_taken_for_the_store);
    tcase_add_loop_test(tc, a_setting_that_cannot_be_used_ends_it_with_one_line, 0, 4);
    tcase_add_test(tc, under_the_host_without_settings_nothing_is_written_and_the_rest_works);
    tcase_add_test(tc, under_the_host_embedded_works_when_it_is_asked_for_by_name);
    tcase_add_test(tc, under_the_host_queues_are_not_read);
    tcase_add_test(tc, a_message_of_an_http_function_reaches_a_queue_function_and_the_next);
    tcase_add_test(tc, many_messages_all_arrive_once);
    tcase_add_loop_test(tc, a_message_that_fails_five_times_ends_in_the_poison_queue, 0, 2);
    tcase_add_test(tc, a_message_that_is_not_base64_is_never_run_and_ends_in_poison);
    tcase_add_test(tc, with_message_encoding_none_texts_are_taken_as_they_are);
    tcase_add_test(tc, messages_survive_a_kill_and_are_run_after_the_restart);
    tcase_add_test(tc, a_message_under_way_is_finished_before_the_program_ends);
    tcase_add_test(tc, an_output_that_only_the_host_can_write_is_a_failure);
    tcase_add_test(tc, an_output_that_is_too_large_fails_the_call);
    tcase_add_test(tc, an_export_and_an_import_give_the_same_store);
    tcase_add_loop_test(tc, copies_that_were_killed_go_on_where_they_were, 0, 4);
    tcase_add_loop_test(tc, a_copy_that_cannot_be_is_refused_with_one_line, 0, 9);
    tcase_add_test(tc, a_damaged_line_is_named_by_its_place);
    return s;
}

int main(void)
{
    return e2e_main("e2e_storage", suite);
}
