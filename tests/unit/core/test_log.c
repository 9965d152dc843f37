/* test_log.c -- lines as the host gets them: read from real pipes and parsed as JSON.
 *
 * Secrets cannot be taken back, so tests with secrets rely on a process of their own (check forks) or use
 * texts that no other test uses.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/core/log_pipes.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- lines ------------------------------------------------------------------------------------------- */

START_TEST(a_line_has_its_members_in_order)
{
    log_context ctx = {STR("inv-1"), STR("hunts-board"), STR("00-abc-01")};
    log_bind(&ctx);
    log_info("hello %d", 7);
    ck_assert(
        str_eq(read_all(out_pipe),
               STR("{\"time\":\"2026-01-02T03:04:05.678Z\",\"level\":\"info\",\"msg\":\"hello 7\","
                   "\"invocation\":\"inv-1\",\"function\":\"hunts-board\",\"trace\":\"00-abc-01\"}\n")));
}
END_TEST

START_TEST(empty_members_are_left_out)
{
    log_context ctx = {.function = STR("timer")};
    log_bind(&ctx);
    log_info("x");
    ck_assert(str_ends(read_all(out_pipe), STR("\"msg\":\"x\",\"function\":\"timer\"}\n")));
    log_bind(NULL);
    log_info("%s", "");
    ck_assert(str_ends(read_all(out_pipe), STR("\"level\":\"info\",\"msg\":\"\"}\n")));
}
END_TEST

START_TEST(levels_go_to_their_streams)
{
    log_debug("d");
    log_info("i");
    str out = read_all(out_pipe);
    ck_assert(str_has(out, STR("\"level\":\"debug\",\"msg\":\"d\"")) &&
              str_has(out, STR("\"level\":\"info\",\"msg\":\"i\"")));
    ck_assert_uint_eq(read_all(err_pipe).len, 0);
    log_warn("w");
    log_error("e");
    str err = read_all(err_pipe);
    ck_assert(str_has(err, STR("\"level\":\"warn\",\"msg\":\"w\"")) &&
              str_has(err, STR("\"level\":\"error\",\"msg\":\"e\"")));
    ck_assert_uint_eq(read_all(out_pipe).len, 0);
}
END_TEST

static int lines_at(log_level least)
{
    log_set_level(least);
    log_debug("d");
    log_info("i");
    log_warn("w");
    log_error("e");
    str out = read_all(out_pipe);
    int lines = 0;
    for (size_t i = 0; i < out.len; i++)
        lines += out.at[i] == '\n';
    str err = read_all(err_pipe);
    for (size_t i = 0; i < err.len; i++)
        lines += err.at[i] == '\n';
    return lines;
}

START_TEST(lines_below_the_least_level_are_not_written)
{
    for (int least = LOG_DEBUG; least <= LOG_OFF; least++) {
        ck_assert_int_eq(lines_at((log_level)least), LOG_OFF - least);
        for (int level = LOG_DEBUG; level < LOG_OFF; level++)
            ck_assert_int_eq(log_enabled((log_level)level), level >= least);
        ck_assert(!log_enabled(LOG_OFF));
    }
}
END_TEST

static const struct {
    const char *name;
    int         level; /* -1: none */
} level_cases[] = {
    {"debug", LOG_DEBUG}, {"Info", LOG_INFO}, {"WARN", LOG_WARN}, {"Warning", LOG_WARN},
    {"error", LOG_ERROR}, {"oFF", LOG_OFF},   {"", -1},           {"infos", -1},
    {"inf", -1},          {" info", -1},      {"1", -1},          {"warnin", -1},
};

START_TEST(level_names_are_read_in_any_case)
{
    log_level level = LOG_OFF;
    bool      known = log_level_parse(str_of(level_cases[_i].name), &level);
    ck_assert_int_eq(known, level_cases[_i].level >= 0);
    ck_assert_int_eq((int)level, known ? level_cases[_i].level : (int)LOG_OFF);
}
END_TEST

static const char *const warn_texts[] = {"warn",   "WARN",       "a Warning: wArN", "warnwarn",
                                         "wwarn",  "warn\nwarn", "forewarned",      "\"warn\"",
                                         "war\nn", "swarnwARNs"};

START_TEST(an_error_line_never_holds_the_word_that_would_make_it_a_lesser_one)
{
    log_context ctx = {.invocation = STR("Warn-1"), .function = STR("earlyWARNing"), .trace = STR("warn")};
    log_bind(&ctx);
    log_error("%s", warn_texts[_i]);
    str line = read_all(err_pipe);
    for (size_t i = 0; i < line.len; i++)
        ck_assert_msg(!str_starts_nocase(str_from(line, i), STR("warn")), "%.*s", STR_ARG(line));
    yyjson_doc *doc = parse(line);
    yyjson_val *root = yyjson_doc_get_root(doc);
    ck_assert_str_eq(yyjson_get_str(yyjson_obj_get(root, "msg")), warn_texts[_i]);
    ck_assert_str_eq(yyjson_get_str(yyjson_obj_get(root, "function")), "earlyWARNing");
    yyjson_doc_free(doc);
}
END_TEST

START_TEST(a_warn_line_holds_the_word_that_the_host_looks_for)
{
    log_warn("careful");
    ck_assert(str_has(read_all(err_pipe), STR("warn")));
}
END_TEST

START_TEST(errno_is_as_before_and_percent_m_means_it)
{
    errno = ENOENT;
    log_info("%m");
    ck_assert_int_eq(errno, ENOENT);
    assert_text(out_pipe, strerror(ENOENT));
}
END_TEST

/* ---- length ------------------------------------------------------------------------------------------ */

static char *repeat(const char *piece, size_t bytes)
{
    char *text = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        text[i] = piece[i % strlen(piece)];
    text[bytes] = '\0';
    return text;
}

static const char *const long_pieces[] = {"x", "\n", "\x01", "\"", "\xe2\x82\xac", "\xff", "warn"};

START_TEST(a_long_message_is_cut_and_says_so)
{
    char       *text = repeat(long_pieces[_i], 9000);
    log_context ctx = {STR("inv"), STR("fn"), STR("tr")};
    log_bind(&ctx);
    for (size_t len = 400; len <= 9000; len += len < 3500 || len > 4100 ? 100 : 1) {
        char *cut = strndup(text, len);
        log_error("%s", cut);
        free(cut);
        str line = read_all(err_pipe);
        ck_assert_uint_le(line.len, 4000);
        ck_assert_uint_eq(str_find_char(line, '\n'), line.len - 1);
        ck_assert(str_ends(line, STR(",\"invocation\":\"inv\",\"function\":\"fn\",\"trace\":\"tr\"}\n")));
        ck_assert(len < 4000 || str_has(line, STR(" bytes in all]\"")));
        ck_assert(str_has(line, STR("[cut")) || len <= 3900);
        yyjson_doc_free(parse(line));
    }
    free(text);
}
END_TEST

START_TEST(a_short_message_is_not_cut)
{
    char *text = repeat("x", 3800);
    log_info("%s", text);
    assert_text(out_pipe, text);
    free(text);
}
END_TEST

START_TEST(a_cut_message_tells_its_whole_length)
{
    char *text = repeat("x", 123456);
    log_info("%s", text);
    ck_assert(str_has(read_all(out_pipe), STR("xxx [cut; 123456 bytes in all]\"}")));
    free(text);
}
END_TEST

START_TEST(overlong_names_in_the_context_leave_room_for_the_message)
{
    char       *text = repeat("\x01", 9000);
    log_context ctx = {{text, 9000}, {text, 9000}, {text, 9000}};
    log_bind(&ctx);
    log_info("here %s", text);
    str line = read_all(out_pipe);
    ck_assert_uint_le(line.len, 4000);
    ck_assert(str_has(line, STR("\"msg\":\"here \\u0001")));
    yyjson_doc_free(parse(line));
    free(text);
}
END_TEST

/* ---- pipes that do not take it ----------------------------------------------------------------------- */

/* The order of lines and the place of the gap are test_log_stream.c's matter. */
START_TEST(a_full_pipe_never_blocks_and_what_is_missing_is_told)
{
    enum { LINES = 10000 };
    bool       is_error = _i == 1;
    const int *pipes = is_error ? err_pipe : out_pipe;
    size_t     filled = fill(pipes[WRITE_END]);
    ck_assert_uint_gt(filled, 0);
    for (int i = 0; i < LINES; i++)
        is_error ? log_error("line %d", i) : log_info("line %d", i);

    str  all = str_from(read_everything(pipes), filled), line;
    long came = 0, told = 0, notices = 0;
    while (all.len > 1 && str_next_field(&all, '\n', &line)) {
        yyjson_doc *doc = parse(line);
        yyjson_val *root = yyjson_doc_get_root(doc);
        const char *msg = yyjson_get_str(yyjson_obj_get(root, "msg"));
        bool        tells = strstr(msg, " log lines were dropped here") != NULL;
        if (tells)
            ck_assert_str_eq(yyjson_get_str(yyjson_obj_get(root, "level")), is_error ? "warn" : "info");
        notices += tells;
        told += tells ? atol(msg) : 0;
        came += !tells;
        yyjson_doc_free(doc);
    }
    ck_assert_int_eq(notices, 1);
    ck_assert_int_eq(came + told, LINES);
    ck_assert_int_gt(came, 1000); /* the backlog was used */
    is_error ? log_error("after") : log_info("after");
    assert_text(pipes, "after");
}
END_TEST

START_TEST(a_flood_on_stdout_does_not_push_out_an_error)
{
    (void)fill(out_pipe[WRITE_END]);
    for (int i = 0; i < 5000; i++)
        log_info("flood %d", i);
    log_error("seen at once");
    assert_text(err_pipe, "seen at once");
}
END_TEST

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

START_TEST(drain_gives_up_at_its_limit_even_when_the_clock_stands_still)
{
    (void)fill(out_pipe[WRITE_END]);
    log_info("stuck");
    int64_t from = now_ms();
    log_drain(50);
    ck_assert_int_ge(now_ms() - from, 50);
    ck_assert_int_lt(now_ms() - from, 5000);
    log_drain(0);
    log_drain(-1);
}
END_TEST

static void *read_slowly(void *arg)
{
    size_t *want = arg, have = 0;
    char    part[2048];
    fcntl(out_pipe[READ_END], F_SETFL, 0);
    while (have < *want) {
        ssize_t n = read(out_pipe[READ_END], part, sizeof part);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    *want = have;
    return NULL;
}

START_TEST(drain_waits_for_a_slow_reader)
{
    pthread_t reader;
    size_t    filled = fill(out_pipe[WRITE_END]), want = filled + 60000;
    char     *text = repeat("z", 1000);
    for (int i = 0; i < 60; i++)
        log_info("%s", text);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_slowly, &want), 0);
    log_drain(20000);
    pthread_join(reader, NULL);
    ck_assert_uint_ge(want, filled + 60000);
    free(text);
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 100 };

static void *log_in_thread(void *arg)
{
    char        name[16];
    int         me = *(int *)arg;
    int         len = snprintf(name, sizeof name, "thread-%d", me);
    log_context ctx = {.function = {name, (size_t)len}};
    log_bind(&ctx);
    for (int i = 0; i < ROUNDS; i++)
        log_info("of %s %d", name, i);
    return NULL;
}

START_TEST(lines_of_threads_are_whole_and_carry_their_own_context)
{
    pthread_t all[THREADS];
    int       ids[THREADS], next[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        ck_assert_int_eq(pthread_create(&all[i], NULL, log_in_thread, &ids[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);

    str text = read_everything(out_pipe), line;
    int lines = 0;
    while (text.len > 0 && str_next_field(&text, '\n', &line)) {
        if (line.len == 0)
            continue;
        yyjson_doc *doc = parse(line);
        yyjson_val *root = yyjson_doc_get_root(doc);
        const char *msg = yyjson_get_str(yyjson_obj_get(root, "msg"));
        const char *fn = yyjson_get_str(yyjson_obj_get(root, "function"));
        ck_assert_int_eq(strncmp(msg + 3, fn, strlen(fn)), 0);
        int who = atoi(fn + 7), n = atoi(msg + 3 + strlen(fn));
        ck_assert_int_eq(n, next[who]++);
        lines++;
        yyjson_doc_free(doc);
    }
    ck_assert_int_eq(lines, THREADS * ROUNDS);
}
END_TEST

/* ---- secrets ----------------------------------------------------------------------------------------- */

START_TEST(secrets_are_hidden_in_every_member)
{
    log_context ctx = {STR("K3y+of/th=account"), STR("fn-K3y+of/th=account"), STR("K3y+of/th=account-1")};
    log_bind(&ctx);
    log_add_secret(STR("K3y+of/th=account"));
    log_error("a %s b", "K3y+of/th=account");
    ck_assert(str_has(
        read_all(err_pipe),
        STR("\"msg\":\"a *** b\",\"invocation\":\"***\",\"function\":\"fn-***\",\"trace\":\"***-1\"}")));
}
END_TEST

/* At every place around the length at which lines are cut, no four bytes of the secret may show. */
START_TEST(a_secret_that_the_cut_goes_through_does_not_show)
{
    static const char key[] = "S3cr3tKeyS3cr3tKeyThatIsRatherLongSoThatTheCutGoesThroughIt0123456789==";
    log_add_secret(str_of(key));
    for (size_t before = 3700; before < 4100; before++) {
        char *text = repeat("x", before);
        log_info("%s%s%s", text, key, text);
        str line = read_all(out_pipe);
        for (size_t at = 0; at + 4 <= sizeof key - 1; at++)
            ck_assert_msg(!str_has(line, (str){key + at, 4}), "%zu bytes before: a part shows", before);
        free(text);
    }
}
END_TEST

START_TEST(a_secret_longer_than_a_line_is_hidden_whole)
{
    char    *key = repeat("k", 5000), *longer = repeat("l", 70000);
    uint32_t state = 1;
    for (size_t i = 0; i < 5000; i++) { /* no text that repeats itself, as a key would not */
        state = state * 1664525u + 1013904223u;
        key[i] = longer[i] = (char)('a' + (state >> 24) % 26);
    }
    longer[0] = 'L';
    log_add_secret(str_of(key));
    log_add_secret(str_of(longer));
    log_info("key %s!", key);
    assert_text(out_pipe, "key *** [cut; 5005 bytes in all]"); /* what is behind it lies beyond a line */
    log_info("key %s!", longer);
    assert_text(out_pipe, "key *** [cut; 70005 bytes in all]");
    free(key);
    free(longer);
}
END_TEST

START_TEST(a_seventeenth_secret_is_told)
{
    char name[32];
    for (int round = 0; round < 2; round++) { /* the second time all are known */
        for (int i = 0; i < 16; i++) {
            int len = snprintf(name, sizeof name, "secret-number-%02d", i);
            log_add_secret((str){name, (size_t)len});
        }
    }
    ck_assert_uint_eq(read_all(err_pipe).len, 0);
    log_add_secret(STR("secret-number-16"));
    ck_assert(str_has(read_all(err_pipe), STR("more than 16 secrets")));
    log_info("secret-number-00 secret-number-15 secret-number-16");
    assert_text(out_pipe, "*** *** secret-number-16");
}
END_TEST

static TCase *new_case(const char *name)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, open_pipes, close_pipes);
    tcase_set_timeout(c, 30);
    return c;
}

static void add_line_tests(TCase *c)
{
    tcase_add_test(c, a_line_has_its_members_in_order);
    tcase_add_test(c, empty_members_are_left_out);
    tcase_add_test(c, levels_go_to_their_streams);
    tcase_add_test(c, lines_below_the_least_level_are_not_written);
    tcase_add_loop_test(c, level_names_are_read_in_any_case, 0, COUNT(level_cases));
    tcase_add_loop_test(c, an_error_line_never_holds_the_word_that_would_make_it_a_lesser_one, 0,
                        COUNT(warn_texts));
    tcase_add_test(c, a_warn_line_holds_the_word_that_the_host_looks_for);
    tcase_add_test(c, errno_is_as_before_and_percent_m_means_it);
    tcase_add_loop_test(c, a_long_message_is_cut_and_says_so, 0, COUNT(long_pieces));
    tcase_add_test(c, a_short_message_is_not_cut);
    tcase_add_test(c, a_cut_message_tells_its_whole_length);
    tcase_add_test(c, overlong_names_in_the_context_leave_room_for_the_message);
    tcase_add_test(c, lines_of_threads_are_whole_and_carry_their_own_context);
}

static void add_pipe_tests(TCase *c)
{
    tcase_add_loop_test(c, a_full_pipe_never_blocks_and_what_is_missing_is_told, 0, 2);
    tcase_add_test(c, a_flood_on_stdout_does_not_push_out_an_error);
    tcase_add_test(c, drain_gives_up_at_its_limit_even_when_the_clock_stands_still);
    tcase_add_test(c, drain_waits_for_a_slow_reader);
}

static void add_secret_tests(TCase *c)
{
    tcase_add_test(c, secrets_are_hidden_in_every_member);
    tcase_add_test(c, a_secret_that_the_cut_goes_through_does_not_show);
    tcase_add_test(c, a_secret_longer_than_a_line_is_hidden_whole);
}

Suite *suite_log(void)
{
    Suite *s = suite_create("log");
    TCase *lines = new_case("lines"), *pipes = new_case("pipes"), *secrets = new_case("secrets");
    add_line_tests(lines);
    add_pipe_tests(pipes);
    add_secret_tests(secrets);
    suite_add_tcase(s, lines);
    suite_add_tcase(s, pipes);
    suite_add_tcase(s, secrets);

    /* Counts on an empty list of secrets, which only a process of its own has. */
    const char *fork_mode = getenv("CK_FORK");
    if (fork_mode == NULL || strcmp(fork_mode, "no") != 0) {
        TCase *alone = new_case("alone");
        tcase_add_test(alone, a_seventeenth_secret_is_told);
        suite_add_tcase(s, alone);
    }
    return s;
}
