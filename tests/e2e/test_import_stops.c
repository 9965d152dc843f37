/* test_import_stops.c -- `trestle import` on bad days: a busy server, none at all, keys, signals, kills, and
 * going on afterwards; dry runs; wrong usage.
 *
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>

#include "core/buf.h"
#include "core/gzip.h"
#include "e2e/import_rig.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define KEY          "a-key-that-nobody-must-see"

enum { RECORDS = 3000, OWNERS = 400 };

static const char two[] = "{\"owner\":\"o\",\"name\":\"n1\"}\n{\"owner\":\"p\",\"name\":\"n1\"}\n";

/* ---- a server that is busy, or away ---- */

static const struct {
    const char *answer;
    unsigned    requests;
    uint64_t    least_ms; /* between the first two requests */
} bad_days[] = {
    {"HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", 1, 1000},
    {"HTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", 1, 1000},
    {"HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n{}", 2, 250},
    {"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", 2, 250},
    {"HTTP/1.1 502 X\r\nContent-Length: 4\r\n\r\n<no>", 1, 250},
    {"HTTP/1.1 200 X\r\nContent-Length: 20\r\n\r\nhalf", 1, 0},
    {"nonsense\r\n\r\n", 1, 0},
};

START_TEST(a_bad_moment_is_waited_out)
{
    catalogue_start(&(catalogue_options){
        .bad_day = bad_days[_i].answer, .bad_requests = bad_days[_i].requests, .bad_closes = _i >= 5});
    import_write_text("in", two);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "created 2, updated 0, unchanged 0, failed 0\n");
    import_check(&o, 0, "; trying again\n");
    ck_assert_uint_ge(catalogue_gap_ms(), bad_days[_i].least_ms);
}
END_TEST

START_TEST(a_server_that_is_not_there_is_given_up_with_one_clear_line)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", two);
    outcome o = import_run_to(textf("http://127.0.0.1:%d", e2e_free_port()), "in", "--retry-for", "1");
    import_check(&o, 1, "trestle: import: http://127.0.0.1:");
    import_check(&o, 1, "; given up; the same command goes on from here\n");
}
END_TEST

static const struct {
    const char *answer, *part;
} ends[] = {
    {"HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n", "the server wants a key (401): set TRESTLE_IMPORT_KEY"},
    {"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", "answers 404, and not as the Actions catalogue does"},
    {"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nhello",
     "answers 200, and not as the Actions catalogue does"},
    {"HTTP/1.1 200 X\r\nContent-Length: 14\r\n\r\n{\"results\":[]}", "answers 200, and not as"},
    {"HTTP/1.1 302 X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "answers 302"},
    {"HTTP/1.1 500 X\r\nContent-Length: 21\r\n\r\n{\"message\":\"no disk\"}\n", "answers 500: no disk"},
};

START_TEST(an_answer_that_no_retry_can_mend_ends_the_run)
{
    catalogue_start(&(catalogue_options){.bad_day = ends[_i].answer, .bad_requests = 1000});
    import_write_text("in", two);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, ends[_i].part);
    ck_assert_uint_le(catalogue_batches(), 4);
}
END_TEST

/* ---- the key ---- */

START_TEST(the_key_is_sent_and_shown_nowhere)
{
    static const char *const env[][2] = {{"TRESTLE_IMPORT_KEY=" KEY, NULL},
                                         {"TRESTLE_LOG_LEVEL=debug", NULL}};
    catalogue_start(&(catalogue_options){.key = KEY});
    import_write_text("in", "{\"owner\":\"o\",\"name\":\"n1\"}\n{\"owner\":\"o\",\"name\":\"invalid\"}\n");
    outcome o =
        e2e_run(e2e_trestle(), LIST("import", "in", "--to", catalogue_url(), _i == 1 ? "--key" : NULL, KEY),
                env[_i], import_dir);
    import_check(&o, 1, "created 1, updated 0, unchanged 0, failed 1\n");
    ck_assert(!str_has(o.out, STR(KEY)) && !str_has(o.err, STR(KEY)));
    ck_assert(!str_has(import_text("in.failed.ndjson"), STR(KEY)));
}
END_TEST

START_TEST(a_wrong_key_is_told_without_telling_the_key)
{
    catalogue_start(&(catalogue_options){.key = "another"});
    import_write_text("in", two);
    outcome o = import_run("in", "--key", KEY);
    import_check(&o, 1, "the server refuses the key (401)");
    ck_assert(!str_has(o.err, STR(KEY)) && !str_has(import_text("in.import-state.json"), STR(KEY)));
}
END_TEST

/* ---- stopped, and gone on with ---- */

static const char *const form_names[] = {"lines", "array", "gzip"};

static void write_many(int form)
{
    str text = import_many(RECORDS, OWNERS);
    if (form == 0) {
        import_write("in", text);
        return;
    }
    char *at = arena_cstr(scratch(), text);
    for (size_t i = 0; i + 1 < text.len; i++)
        at[i] = at[i] == '\n' ? ',' : at[i];
    str array = arena_strf(scratch(), "[%s]", at);
    if (form == 2)
        ck_assert_int_eq(gzip_pack(scratch(), array, GZIP_DEFAULT, &array), RES_OK);
    import_write("in", array);
}

static const char *wanted_dump(void)
{
    catalogue_start(&(catalogue_options){0});
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "created 3,000, ");
    const char *want = arena_cstr(scratch(), catalogue_dump());
    catalogue_clear();
    return want;
}

static void wait_for_state(process *p)
{
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (!import_exists("in.import-state.json") && process_alive(p) && process_now_ms() < until)
        process_pause();
    ck_assert(process_alive(p));
}

START_TEST(a_killed_run_that_is_run_again_gives_the_same_table)
{
    write_many(_i);
    const char *want = wanted_dump();
    catalogue_start(&(catalogue_options){.slow_ms = 150});
    process *p = import_start("in", "--concurrency", "2");
    wait_for_state(p);
    process_signal(p, SIGKILL);
    process_end(p);
    unsigned before = catalogue_received();
    ck_assert_uint_gt(before, 0);
    ck_assert_uint_lt(before, RECORDS);

    catalogue_start(&(catalogue_options){0});
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "going on behind record ");
    ck_assert_msg(catalogue_received() < RECORDS, "%s: all was sent again", form_names[_i]);
    import_check_dump(want);
    ck_assert(!import_exists("in.import-state.json"));
}
END_TEST

START_TEST(a_server_that_dies_in_between_is_gone_on_with_later)
{
    write_many(_i);
    const char *want = wanted_dump();
    catalogue_start(&(catalogue_options){.dead_after = 10});
    outcome o = import_run("in", "--retry-for", "1");
    import_check(&o, 1, "given up; the same command goes on from here");
    ck_assert_uint_gt(catalogue_received(), 0);

    catalogue_start(&(catalogue_options){0});
    outcome again = import_run("in", NULL, NULL);
    import_check(&again, 0, "going on behind record ");
    ck_assert_uint_lt(catalogue_received(), RECORDS);
    import_check_dump(want);
}
END_TEST

START_TEST(a_signal_ends_what_is_under_way_and_saves_the_rest_for_later)
{
    static const int signals[] = {SIGINT, SIGTERM};
    write_many(0);
    const char *want = wanted_dump();
    catalogue_start(&(catalogue_options){.slow_ms = 100});
    process *p = import_start("in", NULL, NULL);
    wait_for_state(p);
    process_signal(p, signals[_i]);
    int status;
    ck_assert(process_wait(p, E2E_LIMIT_MS, &status));
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 128 + signals[_i]);
    ck_assert_holds(process_err(p), "stopped by a signal; the same command goes on from here");
    unsigned before = catalogue_received();
    ck_assert_uint_lt(before, RECORDS);

    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "going on behind record ");
    import_check_dump(want);
}
END_TEST

START_TEST(failures_are_told_once_though_their_records_are_sent_twice)
{
    buf in;
    buf_init(&in, scratch(), MIB);
    for (int i = 0; i < RECORDS; i++)
        buf_addf(&in, "{\"owner\":\"o%d\",\"name\":\"%s%d\"}\n", i % OWNERS, i % 10 == 0 ? "invalid" : "n",
                 i);
    import_write("in", buf_str(&in));
    catalogue_start(&(catalogue_options){.slow_ms = 150});
    process *p = import_start("in", "--concurrency", "2");
    wait_for_state(p);
    process_signal(p, SIGKILL);
    process_end(p);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 1, "going on behind record ");
    str    failed = import_text("in.failed.ndjson"), line;
    size_t lines = 0;
    while (str_next_field(&failed, '\n', &line))
        lines += line.len > 0;
    ck_assert_uint_eq(lines, RECORDS / 10);
}
END_TEST

static const struct {
    const char *state, *input, *part;
} stale[] = {
    {NULL, "", "is of other inputs, or they have changed since: from the start"},
    {"{\"format\":1,\"to\":\"http://elsewhere/api\"}\n", NULL, "is of another server: from the start"},
    {"{\"format\":2}\n", NULL, "is not of the format that this version writes: from the start"},
    {"{\n", NULL, "is damaged: from the start"},
    {"", NULL, "is damaged: from the start"},
};

START_TEST(a_state_that_is_of_no_use_is_told_and_ignored)
{
    catalogue_start(&(catalogue_options){.dead_after = 10});
    write_many(0);
    outcome o = import_run("in", "--retry-for", "0");
    import_check(&o, 1, "given up");
    ck_assert(import_exists("in.import-state.json"));
    if (stale[_i].input != NULL)
        import_write("in", import_many(RECORDS + 1, OWNERS));
    if (stale[_i].state != NULL)
        import_write_text("in.import-state.json", stale[_i].state);
    catalogue_start(&(catalogue_options){0});
    outcome again = import_run("in", NULL, NULL);
    import_check(&again, 0, stale[_i].part);
    ck_assert_uint_ge(catalogue_received(), RECORDS);
}
END_TEST

START_TEST(restart_begins_anew)
{
    catalogue_start(&(catalogue_options){.slow_ms = 100});
    write_many(0);
    process *p = import_start("in", NULL, NULL);
    wait_for_state(p);
    process_signal(p, SIGINT);
    int status;
    ck_assert(process_wait(p, E2E_LIMIT_MS, &status));
    unsigned before = catalogue_received();
    outcome  o = import_run("in", "--restart", NULL);
    import_check(&o, 0, "3,000 records");
    ck_assert_uint_eq(catalogue_received(), before + RECORDS);
}
END_TEST

/* ---- the real catalogue ---- */

static outcome import_real(const server *s, const char *file, const char *more)
{
    return import_run_to(textf("http://127.0.0.1:%d", s->port), file, more, NULL);
}

static server start_real(void)
{
    return server_start(&(server_spec){.real = true, .standalone = true});
}

/* The list without what is the store's own: stamps and ETags. */
static str hashes_of(const server *s)
{
    answer a = client_get(s->port, "/api/actions/list");
    buf    out;
    buf_init(&out, scratch(), 16 * MIB);
    ck_assert_status(a, 200);
    for (json_iter it = json_each(answer_json(&a)); json_next(&it);)
        buf_addf(&out, "%.*s\n", STR_ARG(text_at(it.value, "_metadata/payloadHash")));
    return buf_str(&out);
}

START_TEST(the_sample_file_is_loaded_and_unchanged_the_second_time)
{
    const char *sample = textf("%s/samples/actions.ndjson", e2e_source());
    server      s = start_real();
    outcome     dry = import_real(&s, sample, "--dry-run");
    import_check(&dry, 0, "would be created 40, would be updated 0, unchanged 0, failed 0\n");
    outcome o = import_real(&s, sample, NULL);
    import_check(&o, 0, "created 40, updated 0, unchanged 0, failed 0\n");
    outcome again = import_real(&s, sample, NULL);
    import_check(&again, 0, "created 0, updated 0, unchanged 40, failed 0\n");
    outcome same = import_real(&s, sample, "--dry-run");
    import_check(&same, 0, "would be created 0, would be updated 0, unchanged 40, failed 0\n");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(the_real_table_is_the_same_after_a_kill_and_a_second_run)
{
    write_many(0);
    server  undisturbed = start_real(), s = start_real();
    outcome o = import_real(&undisturbed, "in", NULL);
    import_check(&o, 0, "created 3,000, ");
    str want = hashes_of(&undisturbed);
    ck_assert_int_eq(server_stop(&undisturbed), 0);

    process *p = process_start(&(process_spec){.args = LIST(e2e_trestle(), "import", "in", "--to",
                                                            textf("http://127.0.0.1:%d", s.port),
                                                            "--concurrency", "1", "--batch", "20"),
                                               .dir = import_dir});
    wait_for_state(p);
    process_signal(p, SIGKILL);
    process_end(p);
    outcome again = import_real(&s, "in", NULL);
    import_check(&again, 0, "going on behind record ");
    ck_assert_str_is(hashes_of(&s), arena_cstr(scratch(), want));
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* ---- dry runs ---- */

START_TEST(a_dry_run_says_what_would_change_and_changes_nothing)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", two);
    outcome o = import_run("in", NULL, NULL);
    import_check(&o, 0, "created 2");
    const char *before = arena_cstr(scratch(), catalogue_dump());
    unsigned    received = catalogue_received();
    import_write_text("new", "{\"name\":\"n1\" ,\"owner\":\"o\"}\n{\"owner\":\"p\",\"name\":\"n1\",\"x\":1}\n"
                             "{\"owner\":\"P\",\"name\":\" new one\"}\n");
    outcome dry = import_run("new", "--dry-run", NULL);
    import_check(&dry, 0, "would be created 1, would be updated 1, unchanged 1, failed 0\n");
    import_check_dump(before);
    ck_assert_uint_eq(catalogue_received(), received);
    import_write_text("bad", "{\"owner\":\"p\"}\n{\n");
    outcome bad = import_run("bad", "--dry-run", NULL);
    import_check(&bad, 1, "failed 2\n");
    import_check(&bad, 1, "Missing required field: name");
    ck_assert(!import_exists("bad.failed.ndjson") && !import_exists("bad.import-state.json"));
}
END_TEST

/* ---- usage ---- */

static const struct {
    const char *args[8];
    int         status;
    const char *part;
} usages[] = {
    {{"import"}, 2, "import needs a FILE"},
    {{"import", "x"}, 2, "import needs --to URL"},
    {{"import", "x", "--to"}, 2, "--to needs a value"},
    {{"import", "x", "--to", "ftp://x"}, 2, "--to is 'ftp://x', but must be a URL"},
    {{"import", "x", "--to", "http://x/?code=secret"}, 2, "without query"},
    {{"import", "x", "--to", "http://u:secret@x"}, 2, "without query"},
    {{"import", "-", "-", "--to", "http://x"}, 2, "only once"},
    {{"import", "x", "--to", "http://x", "--batch", "101"}, 2, "--batch is '101'"},
    {{"import", "x", "--to", "http://x", "--concurrency", "0"}, 2, "--concurrency is '0'"},
    {{"import", "x", "--to", "http://x", "--sideways"}, 2, "option '--sideways' is not known"},
    {{"import", "in", "--to", "http://x", "--failed", "in"}, 2, "'in' is an input"},
    {{"import", "nowhere", "--to", "http://x"}, 1, "cannot read 'nowhere': No such file"},
    {{"import", ".", "--to", "http://x"}, 1, "cannot read '.': Is a directory"},
};

START_TEST(wrong_usage_is_told_in_one_line)
{
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", two);
    outcome o = e2e_run(e2e_trestle(), usages[_i].args, NULL, import_dir);
    import_check(&o, usages[_i].status, usages[_i].part);
    ck_assert(!str_has(o.err, STR("secret")));
    ck_assert_uint_eq(str_find_char(o.err, '\n'), o.err.len - 1);
}
END_TEST

START_TEST(the_url_may_end_in_api_or_a_slash)
{
    static const char *const tails[] = {"", "/", "/api", "/api/"};
    catalogue_start(&(catalogue_options){0});
    import_write_text("in", two);
    const char *url = catalogue_url();
    size_t      len = strlen(url) - (str_ends(str_of(url), STR("/")) ? 1 : 0);
    outcome     o = import_run_to(textf("%.*s%s", (int)len, url, tails[_i]), "in", NULL, NULL);
    import_check(&o, 0, "created 2");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_import_stops");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_checked_fixture(tc, import_open, import_close);
    tcase_add_loop_test(tc, a_bad_moment_is_waited_out, 0, COUNT(bad_days));
    tcase_add_test(tc, a_server_that_is_not_there_is_given_up_with_one_clear_line);
    tcase_add_loop_test(tc, an_answer_that_no_retry_can_mend_ends_the_run, 0, COUNT(ends));
    tcase_add_loop_test(tc, the_key_is_sent_and_shown_nowhere, 0, 2);
    tcase_add_test(tc, a_wrong_key_is_told_without_telling_the_key);
    tcase_add_loop_test(tc, a_killed_run_that_is_run_again_gives_the_same_table, 0, COUNT(form_names));
    tcase_add_loop_test(tc, a_server_that_dies_in_between_is_gone_on_with_later, 0, COUNT(form_names));
    tcase_add_loop_test(tc, a_signal_ends_what_is_under_way_and_saves_the_rest_for_later, 0, 2);
    tcase_add_test(tc, failures_are_told_once_though_their_records_are_sent_twice);
    tcase_add_loop_test(tc, a_state_that_is_of_no_use_is_told_and_ignored, 0, COUNT(stale));
    tcase_add_test(tc, restart_begins_anew);
    tcase_add_test(tc, the_sample_file_is_loaded_and_unchanged_the_second_time);
    tcase_add_test(tc, the_real_table_is_the_same_after_a_kill_and_a_second_run);
    tcase_add_test(tc, a_dry_run_says_what_would_change_and_changes_nothing);
    tcase_add_loop_test(tc, wrong_usage_is_told_in_one_line, 0, COUNT(usages));
    tcase_add_loop_test(tc, the_url_may_end_in_api_or_a_slash, 0, 4);
    return s;
}

int main(void)
{
    return e2e_main("e2e_import_stops", suite);
}
