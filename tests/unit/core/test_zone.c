/* test_zone.c -- time zones: known days of change, all years against the C library, names and folders.
 *
 * SPDX-License-Identifier: MIT */
#include "core/zone.h"

#include <check.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "support/scratch.h"
#include "unit/core/zone_files.h"
#include "unit/core/zone_moments.h"
#include "unit/suites.h"

#define US      INT64_C(1000000)
#define HOUR_US (3600 * US)

static const zone *find(const char *name)
{
    const zone *z = zone_find(str_of(name));
    if (z == NULL)
        ck_abort_msg("no zone '%s': is tzdata installed?", name);
    return z;
}

static int64_t utc_us(const char *text)
{
    int64_t us;
    ck_assert_msg(iso8601_parse(str_of(text), &us), "%s", text);
    return us;
}

static civil_time civil(const char *text) /* "2026-03-08T02:30" */
{
    civil_time c = {0};
    ck_assert_int_eq(sscanf(text, "%d-%d-%dT%d:%d", &c.year, &c.month, &c.day, &c.hour, &c.minute), 5);
    return c;
}

static bool same(const civil_time *a, const civil_time *b)
{
    return a->year == b->year && a->month == b->month && a->day == b->day && a->hour == b->hour &&
           a->minute == b->minute && a->second == b->second && a->microsecond == b->microsecond;
}

/* ---- known moments ---- */

START_TEST(a_local_time_is_the_moment_that_it_was)
{
    const zone *z = find(moments[_i].zone);
    civil_time  local = civil(moments[_i].local);
    int64_t     us = 0;

    ck_assert_int_eq(zone_to_us(z, &local, &us), RES_OK);
    ck_assert_int_eq(us, utc_us(moments[_i].utc));
    ck_assert_int_eq(zone_offset_s(z, us), moments[_i].offset_s);
}
END_TEST

static const struct {
    const char *zone, *utc, *local;
} shown[] = {
    {"America/Los_Angeles", "2026-03-08T09:59:59Z", "2026-03-08T01:59"},
    {"America/Los_Angeles", "2026-03-08T10:00:00Z", "2026-03-08T03:00"},
    {"America/Los_Angeles", "2026-11-01T08:30:00Z", "2026-11-01T01:30"},
    {"America/Los_Angeles", "2026-11-01T09:30:00Z", "2026-11-01T01:30"},
    {"Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05T01:30"},
    {"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59"},
    {"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00"},
    {"Asia/Kathmandu", "2026-12-31T18:15:00Z", "2027-01-01T00:00"},
    {"Europe/Berlin", "9999-12-31T23:30:00Z", "9999-12-31T23:59"}, /* the calendar's end */
    {"America/Los_Angeles", "0001-01-01T00:00:00Z", "0001-01-01T00:00"},
};

START_TEST(a_moment_is_shown_as_clocks_there_show_it)
{
    civil_time want = civil(shown[_i].local), got;
    zone_local(find(shown[_i].zone), utc_us(shown[_i].utc), &got);
    got.second = got.microsecond = 0;
    ck_assert(same(&want, &got));
}
END_TEST

START_TEST(parts_of_a_second_stay_as_they_are)
{
    civil_time c = civil("1960-07-01T12:00"), back;
    int64_t    us;
    c.second = 59;
    c.microsecond = 999999;
    ck_assert_int_eq(zone_to_us(find("America/New_York"), &c, &us), RES_OK);
    ck_assert_int_eq(us, utc_us("1960-07-01T16:00:59.999999Z"));
    zone_local(find("America/New_York"), us, &back);
    ck_assert(same(&c, &back));
    ck_assert_int_eq(back.weekday, 5);
}
END_TEST

static const struct {
    const char *zone;
    civil_time  local;
} impossible[] = {
    {"Europe/Berlin", {.year = 2026, .month = 2, .day = 29}},
    {"Europe/Berlin", {.year = 2026, .month = 13, .day = 1}},
    {"Europe/Berlin", {.year = 2026, .month = 1, .day = 1, .hour = 24}},
    {"Europe/Berlin", {.year = 2026, .month = 1, .day = 1, .minute = -1}},
    {"Europe/Berlin", {.year = 1, .month = 1, .day = 1}}, /* of the year before in UTC */
    {"America/Los_Angeles", {.year = 9999, .month = 12, .day = 31, .hour = 23}},
};

START_TEST(an_impossible_local_time_is_refused)
{
    int64_t us = 42;
    ck_assert_int_eq(zone_to_us(find(impossible[_i].zone), &impossible[_i].local, &us), RES_INVALID);
    ck_assert_int_eq(us, 42);
}
END_TEST

START_TEST(no_moment_is_too_far_away)
{
    static const int64_t far[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    civil_time           c;
    for (int i = 0; i < COUNT(far); i++) {
        zone_local(find("America/Los_Angeles"), far[i], &c);
        ck_assert(c.year >= 1 && c.year <= 9999);
        ck_assert_int_le(zone_offset_s(find("America/Los_Angeles"), far[i]), -7 * 3600);
    }
}
END_TEST

/* ---- against the C library ---- */

static const char *const compared[] = {
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/El_Aaiun",
    "Africa/Johannesburg",
    "Africa/Monrovia",
    "America/Asuncion",
    "America/Caracas",
    "America/Chicago",
    "America/Havana",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/Miquelon",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Hebron",
    "Asia/Jerusalem",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Chisinau",
    "Europe/Dublin",
    "Europe/Lisbon",
    "Europe/London",
    "Europe/Moscow",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Easter",
    "Pacific/Kwajalein",
    "Pacific/Norfolk",
    "UTC",
};

/* "Europe/Berlin is wrong at …" on stderr, and false. */
static bool agrees(const char *name, const zone *z, int64_t at_s)
{
    struct tm  libc;
    time_t     when = (time_t)at_s;
    civil_time got;
    zone_local(z, at_s * US, &got);
    if (localtime_r(&when, &libc) != NULL && libc.tm_year + 1900 == got.year &&
        libc.tm_mon + 1 == got.month && libc.tm_mday == got.day && libc.tm_hour == got.hour &&
        libc.tm_min == got.minute && libc.tm_sec == got.second && libc.tm_wday == got.weekday)
        return true;
    fprintf(stderr, "%s at %lld: we say %d-%d-%d %02d:%02d, libc %02d:%02d\n", name, (long long)at_s,
            got.year, got.month, got.day, got.hour, got.minute, libc.tm_hour, libc.tm_min);
    return false;
}

/* The second of our change, and those around it. */
static bool compare_change(const char *name, const zone *z, int64_t from_s, int64_t to_s)
{
    static const int around_s[] = {-7200, -3601, -3600, -1800, -1, 0, 1, 1799, 1800, 3599, 3600, 7200};
    while (to_s - from_s > 1) {
        int64_t middle_s = from_s + (to_s - from_s) / 2;
        if (zone_offset_s(z, from_s * US) == zone_offset_s(z, middle_s * US))
            from_s = middle_s;
        else
            to_s = middle_s;
    }
    for (int i = 0; i < COUNT(around_s); i++)
        if (!agrees(name, z, to_s + around_s[i]))
            return false;
    return true;
}

/* From 1970 to 2100. */
static bool compare(const char *name, int64_t step_s)
{
    const int64_t end_s = INT64_C(4133980800);
    const zone   *z = find(name);

    if (setenv("TZ", name, 1) != 0)
        return false;
    tzset();
    for (int64_t s = 0; s < end_s; s += step_s) {
        bool changed = zone_offset_s(z, s * US) != zone_offset_s(z, (s + step_s) * US);
        if (!agrees(name, z, s) || (changed && !compare_change(name, z, s, s + step_s)))
            return false;
    }
    return true;
}

/* In a process of its own, because TZ is the whole process's. ZONE_TEST_STEP_S=3600 looks at every hour,
 * which takes minutes; without it, every 20th day and the seconds around each change. */
START_TEST(clocks_agree_with_the_c_library_from_1970_to_2100)
{
    const char *given = getenv("ZONE_TEST_STEP_S");
    int64_t     step_s = given != NULL ? atoll(given) : INT64_C(20) * 86400 - 3600;
    int         status;

    ck_assert_int_gt(step_s, 0);
    ck_assert_int_eq(fflush(NULL), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(compare(compared[_i], step_s) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", compared[_i]);
}
END_TEST

/* Every 19 hours of some years, and a bit: a moment leads to its local time and back, unless clocks show
 * that time twice; then to the first. A local time that does not lead back was skipped. */
START_TEST(a_local_time_leads_back_unless_it_was_skipped)
{
    static const char *const years[] = {"1975-01-01T00:00", "2011-01-01T00:00", "2026-01-01T00:00",
                                        "2090-01-01T00:00"};
    const zone              *z = find(compared[_i]);
    for (int y = 0; y < COUNT(years); y++) {
        civil_time first = civil(years[y]), local, back;
        int64_t    from_us, us;
        ck_assert(civil_to_us(&first, &from_us));
        for (int64_t t = from_us; t < from_us + 366 * 24 * HOUR_US; t += 19 * HOUR_US + 17 * 60 * US) {
            zone_local(z, t, &local);
            ck_assert_int_eq(zone_to_us(z, &local, &us), RES_OK);
            zone_local(z, us, &back);
            ck_assert(same(&local, &back));
            ck_assert_int_le(us, t);

            civil_from_us(t, &local); /* any numbers: some of them are skipped */
            ck_assert_int_eq(zone_to_us(z, &local, &us), RES_OK);
            zone_local(z, us, &back);
            if (!same(&local, &back)) {
                int32_t before = zone_offset_s(z, us - 25 * HOUR_US), after = zone_offset_s(z, us);
                ck_assert_int_lt(before, after);
                ck_assert_int_eq(us, t - before * US);
            }
        }
    }
}
END_TEST

/* ---- folders and names ---- */

static void write_file(const char *folder, const char *name, const char *bytes, size_t len)
{
    FILE *out = fopen(textf("%s/%s", folder, name), "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, len, out), len);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(a_name_that_is_none_finds_nothing)
{
    static const char *const names[] = {"",
                                        "/etc/passwd",
                                        "../zoneinfo/UTC",
                                        "Europe/../Europe/Berlin",
                                        "Europe//Berlin",
                                        "Europe/Berlin/",
                                        "Europe",
                                        "Europe/Nowhere",
                                        "europe/berlin",
                                        "posix/Europe/Berlin",
                                        "right/Europe/Berlin",
                                        "localtime",
                                        "zone.tab",
                                        "tzdata.zi",
                                        "Europe/Berlin ",
                                        "Europe/-Berlin",
                                        "Europe\\Berlin",
                                        "UTC+1",
                                        "PST",
                                        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                        "Europe/Z\xC3\xBCrich"};
    ck_assert_msg(zone_find(str_of(names[_i])) == NULL, "%s", names[_i]);
    ck_assert_ptr_null(zone_find((str){"UTC", 2}));
    ck_assert_ptr_null(zone_find((str){"UTC\0", 4}));
}
END_TEST

START_TEST(a_zone_is_read_once)
{
    const zone *z = find("Europe/Berlin");
    ck_assert_ptr_eq(z, find("Europe/Berlin"));
    ck_assert(str_eq(zone_name(z), STR("Europe/Berlin")));
    ck_assert(str_eq(zone_name(find("UTC")), STR("UTC")));
}
END_TEST

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}

/* Acts in a folder of its own, and returns how many lines of the log have the word. */
static int count_lines(const char *word, void (*act)(const char *folder))
{
    char folder[] = "/tmp/trestle-zones-XXXXXX", line[1000];
    int  count = 0;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    FILE *log = tmpfile();
    ck_assert_ptr_nonnull(log);
    log_set_fds(fileno(log), fileno(log));
    act(folder);
    log_flush();
    log_set_fds(-1, -1);
    zone_set_folder_for_test(NULL);
    rewind(log);
    while (fgets(line, sizeof line, log) != NULL)
        count += strstr(line, word) != NULL ? 1 : 0;
    ck_assert_int_eq(fclose(log), 0);
    ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    return count;
}

static void look_where_nothing_is(const char *folder)
{
    zone_set_folder_for_test(textf("%s/none", folder));
    ck_assert_ptr_null(zone_find(STR("Europe/Berlin")));
    ck_assert_ptr_null(zone_find(STR("Asia/Tokyo")));
    ck_assert_ptr_nonnull(zone_find(STR("UTC")));
}

START_TEST(without_tzdata_there_is_utc_and_one_warning)
{
    ck_assert_int_eq(count_lines("tzdata", look_where_nothing_is), 1);
}
END_TEST

static void look_at_garbage(const char *folder)
{
    static char big[ZONE_FILE_MAX + 1];
    zone_set_folder_for_test(folder);
    write_file(folder, "Garbage", "TZif, or not", 12);
    write_file(folder, "Empty", "", 0);
    write_file(folder, "Big", big, sizeof big);
    ck_assert_int_eq(mkfifo(textf("%s/Pipe", folder), 0600), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(zone_find(STR("Garbage")));
        ck_assert_ptr_null(zone_find(STR("Empty")));
        ck_assert_ptr_null(zone_find(STR("Big")));
        ck_assert_ptr_null(zone_find(STR("Pipe")));
    }
}

START_TEST(garbage_is_no_zone_and_is_complained_about_once)
{
    ck_assert_int_eq(count_lines("can be used", look_at_garbage), 4);
}
END_TEST

static void look_at_too_many(const char *folder)
{
    file_bytes f;
    make_file(&f, '2', "\nCET-1\n");
    zone_set_folder_for_test(folder);
    for (int i = 0; i < 1030; i++) {
        const char *name = textf("Z%d", i);
        write_file(folder, name, f.at, f.len);
        ck_assert_int_eq(zone_find(str_of(name)) != NULL, i < 1024);
    }
    ck_assert_ptr_nonnull(zone_find(STR("Z0")));
    ck_assert_int_eq(zone_offset_s(zone_find(STR("Z1023")), 1500000 * US), 7200);
}

START_TEST(of_more_than_1024_zones_the_rest_is_not_read)
{
    ck_assert_int_eq(count_lines("is not read", look_at_too_many), 1);
}
END_TEST

static void *find_many(void *arg)
{
    (void)arg;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < COUNT(compared); i++)
            if (zone_find(str_of(compared[i])) == NULL ||
                zone_offset_s(zone_find(STR("Asia/Tokyo")), 0) != 32400)
                return NULL;
    return (void *)zone_find(STR("Europe/Berlin"));
}

START_TEST(threads_find_the_same_zones)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void     *got;
    zone_set_folder_for_test(NULL); /* all of them are read anew */
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, find_many, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &got), 0);
        ck_assert_ptr_eq(got, find("Europe/Berlin"));
    }
}
END_TEST

Suite *suite_zone(void)
{
    Suite *s = suite_create("zone");
    TCase *t = tcase_create("zone");
    tcase_set_timeout(t, 120); /* also under valgrind */
    tcase_add_loop_test(t, a_local_time_is_the_moment_that_it_was, 0, COUNT(moments));
    tcase_add_loop_test(t, a_moment_is_shown_as_clocks_there_show_it, 0, COUNT(shown));
    tcase_add_test(t, parts_of_a_second_stay_as_they_are);
    tcase_add_loop_test(t, an_impossible_local_time_is_refused, 0, COUNT(impossible));
    tcase_add_test(t, no_moment_is_too_far_away);
    tcase_add_loop_test(t, clocks_agree_with_the_c_library_from_1970_to_2100, 0, COUNT(compared));
    tcase_add_loop_test(t, a_local_time_leads_back_unless_it_was_skipped, 0, COUNT(compared));
    tcase_add_loop_test(t, a_name_that_is_none_finds_nothing, 0, 21);
    tcase_add_test(t, a_zone_is_read_once);
    tcase_add_test(t, without_tzdata_there_is_utc_and_one_warning);
    tcase_add_test(t, garbage_is_no_zone_and_is_complained_about_once);
    tcase_add_test(t, of_more_than_1024_zones_the_rest_is_not_read);
    tcase_add_test(t, threads_find_the_same_zones);
    suite_add_tcase(s, t);
    return s;
}
