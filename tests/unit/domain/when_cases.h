/* when_cases.h -- times in words and what they mean on Wednesday, 2026-03-04, at 10:15; and the forms of
 * JSON.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_WHEN_CASES_H
#define TRESTLE_TESTS_WHEN_CASES_H

static const struct {
    const char *words, *want;
} readings[] = {
    /* dates */
    {"2026-03-05", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"on 2026-03-05", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"Mar 5", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"Mar. 5", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"march 5th", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"Mar 5, 2026", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"MAR 5 2027", "2027-03-05 00:00 to 2027-03-06 00:00 all day"},
    {"5 March 2027", "2027-03-05 00:00 to 2027-03-06 00:00 all day"},
    {"the 5th of March", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"Sept 9", "2026-09-09 00:00 to 2026-09-10 00:00 all day"},
    {"may 1", "2026-05-01 00:00 to 2026-05-02 00:00 all day"},
    {"3/5", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"3/5/26", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"12/31/2026", "2026-12-31 00:00 to 2027-01-01 00:00 all day"},
    {"3/5/2020", "2020-03-05 00:00 to 2020-03-06 00:00 all day"},
    /* without a year: the next one */
    {"Mar 4", "2026-03-04 00:00 to 2026-03-05 00:00 all day"},
    {"Mar 3", "2027-03-03 00:00 to 2027-03-04 00:00 all day"},
    {"1/15", "2027-01-15 00:00 to 2027-01-16 00:00 all day"},
    {"Feb 29", "2028-02-29 00:00 to 2028-03-01 00:00 all day"},
    {"Thursday, Mar 5", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    /* several days */
    {"Mar 5-7", "2026-03-05 00:00 to 2026-03-08 00:00 all day"},
    {"Mar 5 \xE2\x80\x93 7, 2027", "2027-03-05 00:00 to 2027-03-08 00:00 all day"},
    {"2026-03-05 to 2026-03-06", "2026-03-05 00:00 to 2026-03-07 00:00 all day"},
    {"Dec 30 - Jan 2", "2026-12-30 00:00 to 2027-01-03 00:00 all day"},
    /* days from today */
    {"today", "2026-03-04 00:00 to 2026-03-05 00:00 all day"},
    {"Tomorrow", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"the day after tomorrow", "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"yesterday", "2026-03-03 00:00 to 2026-03-04 00:00 all day"},
    {"in 3 days", "2026-03-07 00:00 to 2026-03-08 00:00 all day"},
    {"in a week", "2026-03-11 00:00 to 2026-03-12 00:00 all day"},
    {"in 2 weeks at 9am for 30 min", "2026-03-18 09:00 to 2026-03-18 09:30"},
    /* weekdays */
    {"friday", "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"on Tues", "2026-03-10 00:00 to 2026-03-11 00:00 all day"},
    {"this thursday", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"wednesday", "2026-03-04 00:00 to 2026-03-05 00:00 all day"},
    {"wednesday 11am-noon", "2026-03-04 11:00 to 2026-03-04 12:00"},
    {"wednesday 9-10am", "2026-03-11 09:00 to 2026-03-11 10:00"},
    {"next wednesday", "2026-03-11 00:00 to 2026-03-12 00:00 all day"},
    {"next tuesday", "2026-03-10 00:00 to 2026-03-11 00:00 all day"},
    {"next friday", "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"friday next week", "2026-03-13 00:00 to 2026-03-14 00:00 all day"},
    /* weeks and months */
    {"this week", "2026-03-02 00:00 to 2026-03-09 00:00 all day"},
    {"next week", "2026-03-09 00:00 to 2026-03-16 00:00 all day"},
    {"this weekend", "2026-03-07 00:00 to 2026-03-09 00:00 all day"},
    {"the weekend", "2026-03-07 00:00 to 2026-03-09 00:00 all day"},
    {"next weekend", "2026-03-14 00:00 to 2026-03-16 00:00 all day"},
    {"next month", "2026-04-01 00:00 to 2026-05-01 00:00 all day"},
    {"this month", "2026-03-01 00:00 to 2026-04-01 00:00 all day"},
    /* ranges */
    {"tomorrow 9-10am", "2026-03-05 09:00 to 2026-03-05 10:00"},
    {"tomorrow 9 - 10 am", "2026-03-05 09:00 to 2026-03-05 10:00"},
    {"tomorrow 9\xE2\x80\x93"
     "10am",
     "2026-03-05 09:00 to 2026-03-05 10:00"},
    {"tomorrow 9:30\xE2\x80\x94"
     "10:15\xE2\x80\xAF"
     "AM",
     "2026-03-05 09:30 to 2026-03-05 10:15"},
    {"tomorrow from 9 to 10:30 a.m.", "2026-03-05 09:00 to 2026-03-05 10:30"},
    {"tomorrow between 9am and 11am", "2026-03-05 09:00 to 2026-03-05 11:00"},
    {"tomorrow 5pm until 6pm", "2026-03-05 17:00 to 2026-03-05 18:00"},
    {"tomorrow 11-1pm", "2026-03-05 11:00 to 2026-03-05 13:00"},
    {"tomorrow 12-1pm", "2026-03-05 12:00 to 2026-03-05 13:00"},
    {"tomorrow 12-1am", "2026-03-05 00:00 to 2026-03-05 01:00"},
    {"tomorrow 10-2am", "2026-03-05 22:00 to 2026-03-06 02:00"},
    {"tomorrow 9am-5", "2026-03-05 09:00 to 2026-03-05 17:00"},
    {"tomorrow 9a-5p", "2026-03-05 09:00 to 2026-03-05 17:00"},
    {"tomorrow 9-5", "2026-03-05 09:00 to 2026-03-05 17:00"},
    {"tomorrow 2-4", "2026-03-05 14:00 to 2026-03-05 16:00"},
    {"tomorrow 17-18:30", "2026-03-05 17:00 to 2026-03-05 18:30"},
    {"tomorrow 02:00-04:00", "2026-03-05 02:00 to 2026-03-05 04:00"},
    {"tomorrow 930am-1045am", "2026-03-05 09:30 to 2026-03-05 10:45"},
    {"tomorrow 10pm-2am", "2026-03-05 22:00 to 2026-03-06 02:00"},
    {"tomorrow 22:00-06:00", "2026-03-05 22:00 to 2026-03-06 06:00"},
    {"tomorrow 8pm-midnight", "2026-03-05 20:00 to 2026-03-06 00:00"},
    {"tomorrow 20:00-24:00", "2026-03-05 20:00 to 2026-03-06 00:00"},
    {"2026-03-05 10:30-11:00", "2026-03-05 10:30 to 2026-03-05 11:00"},
    {"Mar 5, 10am - 11am", "2026-03-05 10:00 to 2026-03-05 11:00"},
    {"10am-11am on Mar 5", "2026-03-05 10:00 to 2026-03-05 11:00"},
    {"Dinner with Ann next tuesday 6-8pm at the lake", "2026-03-10 18:00 to 2026-03-10 20:00"},
    /* windows */
    {"tomorrow early morning", "2026-03-05 05:00 to 2026-03-05 08:00"},
    {"tomorrow morning", "2026-03-05 08:00 to 2026-03-05 12:00"},
    {"friday afternoon", "2026-03-06 12:00 to 2026-03-06 17:00"},
    {"this evening", "2026-03-04 17:00 to 2026-03-04 21:00"},
    {"tonight", "2026-03-04 21:00 to 2026-03-05 00:00"},
    {"3/5 at night", "2026-03-05 21:00 to 2026-03-06 00:00"},
    {"tomorrow evening 6-7:30", "2026-03-05 18:00 to 2026-03-05 19:30"},
    {"tomorrow from 8 to 9 in the evening", "2026-03-05 20:00 to 2026-03-05 21:00"},
    /* lengths */
    {"tomorrow at 5pm for 2 hours", "2026-03-05 17:00 to 2026-03-05 19:00"},
    {"tomorrow 5pm, 90 minutes", "2026-03-05 17:00 to 2026-03-05 18:30"},
    {"tomorrow 5pm for 1.5h", "2026-03-05 17:00 to 2026-03-05 18:30"},
    {"tomorrow 5pm for 1h 15m", "2026-03-05 17:00 to 2026-03-05 18:15"},
    {"tomorrow 5pm for half an hour", "2026-03-05 17:00 to 2026-03-05 17:30"},
    {"an hour tomorrow at noon", "2026-03-05 12:00 to 2026-03-05 13:00"},
    {"in 2 hours for 30 minutes", "2026-03-04 12:15 to 2026-03-04 12:45"},
    /* a single time: how long is not made up */
    {"tomorrow at 5pm", "2026-03-05 17:00 missing 8"},
    {"tomorrow 5 p.m.", "2026-03-05 17:00 missing 8"},
    {"tomorrow at 5", "2026-03-05 17:00 missing 8"},
    {"tomorrow at 9", "2026-03-05 09:00 missing 8"},
    {"tomorrow 17:00", "2026-03-05 17:00 missing 8"},
    {"tomorrow 05:00", "2026-03-05 05:00 missing 8"},
    {"tomorrow at 5 o'clock", "2026-03-05 17:00 missing 8"},
    {"tomorrow at noon", "2026-03-05 12:00 missing 8"},
    {"tomorrow at midnight", "2026-03-05 00:00 missing 8"},
    {"tomorrow 9 in the evening", "2026-03-05 21:00 missing 8"},
    {"tonight at 7", "2026-03-04 19:00 missing 8"},
    {"tomorrow 530pm", "2026-03-05 17:30 missing 8"},
    {"May 5pm tomorrow", "2026-03-05 17:00 missing 8"},
    {"Mar 5 @ 10:30am", "2026-03-05 10:30 missing 8"},
    {"2026-03-05T10:30", "2026-03-05 10:30 missing 8"},
    {"2026-03-05T10:30:00-05:00", "2026-03-05 07:30 missing 8"},
    {"2026-03-05T18:30:00Z", "2026-03-05 10:30 missing 8"},
    {"in 2 hours", "2026-03-04 12:15 missing 8"},
    {"tomorrow at 5pm for 48 hours", "2026-03-05 17:00 missing 8"},
    {"tomorrow 9am-9am", "2026-03-05 09:00 missing 4"},
    {"tomorrow for 2 hours", "missing 2"},
};

static const char *const unreadable[] = {
    "",
    " ",
    "sometime",
    "soon",
    "at 5pm",
    "5pm",
    "9-10am",
    "morning",
    "for 2 hours",
    "next",
    "next year",
    /* no such day */
    "2026-02-29",
    "Feb 30",
    "13/1",
    "3/32",
    "0/5",
    "2026-13-01",
    "3/5/0000",
    "0000-03-05",
    "Mar 5-3, 2026",
    /* two things at once */
    "Mar 5 Mar 6",
    "tuesday and wednesday",
    "today tomorrow",
    "Friday, Mar 5",
    "tomorrow 5pm 6pm",
    "tomorrow morning evening",
    "this week tomorrow",
    "next week next month",
    "tomorrow 9-10am for 3 hours",
    "in 2 hours tomorrow",
    /* a time of day for many days */
    "next week 9-10am",
    "this weekend in the morning",
    "Mar 5-7 at 9am",
    /* what would mean another time */
    "every tuesday",
    "tuesday or wednesday",
    "not tomorrow",
    "last tuesday",
    "3 days ago",
    "by tomorrow",
    "after 5pm tomorrow",
    "tomorrow before noon",
    "tomorrow until 5pm",
    "weekly on friday",
    "half past 5 tomorrow",
    "tomorrow quarter to 5",
    "tomorrow 5pm PST",
    "tomorrow 10:00 UTC",
    "2026-03-05T10:30Z",
    "2026-03-05T10:30-05:00",
    "2026-03-05 10:30 +02:00",
    "tomorrow for 3 days",
    /* numbers that say nothing, or nothing possible */
    "tomorrow 5",
    "room 12 tomorrow",
    "tomorrow 25:00",
    "tomorrow at 13pm",
    "tomorrow 0am",
    "tomorrow 5:60",
    "tomorrow at 24:00",
    "tomorrow 99999999999999999999",
    "tomorrow 5:5pm",
    "tomorrow 5pm 2026",
};

static const struct {
    const char *words, *zone, *now, *want;
    int         minutes;
} changes[] = {
    {"sunday", "America/Los_Angeles", "2026-03-04T18:15:00Z", "2026-03-08 00:00 to 2026-03-09 00:00 all day",
     23 * 60},
    {"sunday 1-4am", "America/Los_Angeles", "2026-03-04T18:15:00Z", "2026-03-08 01:00 to 2026-03-08 04:00",
     120},
    {"sunday 1:30-2:15am", "America/Los_Angeles", "2026-03-04T18:15:00Z",
     "2026-03-08 01:30 to 2026-03-08 03:15", 45},
    {"sunday 2:30-3am", "America/Los_Angeles", "2026-03-04T18:15:00Z", "2026-03-08 03:30 to 2026-03-08 04:00",
     30},
    {"sunday 1am for 2 hours", "America/Los_Angeles", "2026-03-04T18:15:00Z",
     "2026-03-08 01:00 to 2026-03-08 04:00", 120},
    {"nov 1", "America/Los_Angeles", "2026-03-04T18:15:00Z", "2026-11-01 00:00 to 2026-11-02 00:00 all day",
     25 * 60},
    {"nov 1 0:30-3am", "America/Los_Angeles", "2026-03-04T18:15:00Z", "2026-11-01 00:30 to 2026-11-01 03:00",
     210},
    {"this week", "America/Los_Angeles", "2026-03-04T18:15:00Z",
     "2026-03-02 00:00 to 2026-03-09 00:00 all day", 7 * 1440 - 60},
    {"mar 8", "America/Havana", "2026-03-04T18:15:00Z", "2026-03-08 01:00 to 2026-03-09 00:00 all day",
     23 * 60},
    {"tomorrow", "Australia/Lord_Howe", "2026-04-03T14:00:00Z",
     "2026-04-05 00:00 to 2026-04-06 00:00 all day", 24 * 60 + 30},
    /* it is tomorrow there already */
    {"today", "Pacific/Kiritimati", "2026-03-04T18:15:00Z", "2026-03-05 00:00 to 2026-03-06 00:00 all day",
     1440},
    {"tomorrow 9-10am", "Asia/Kathmandu", "2026-03-04T18:15:00Z", "2026-03-06 09:00 to 2026-03-06 10:00", 60},
    {"this weekend", "UTC", "2026-03-08T12:00:00Z", "2026-03-07 00:00 to 2026-03-09 00:00 all day", 2880},
    {"next month", "UTC", "2026-12-31T12:00:00Z", "2027-01-01 00:00 to 2027-02-01 00:00 all day", 31 * 1440},
    {"next monday", "UTC", "2026-03-09T12:00:00Z", "2026-03-16 00:00 to 2026-03-17 00:00 all day", 1440},
    {"next week", "UTC", "2026-03-08T12:00:00Z", "2026-03-09 00:00 to 2026-03-16 00:00 all day", 7 * 1440},
};

static const struct {
    const char *words, *told;
} guesses[] = {
    {"Mar 3", "2027-03-03"},   {"next friday", "2026-03-06"},          {"tomorrow at 5", "17:00"},
    {"tomorrow 9-5", "09:00"}, {"tomorrow morning", "08:00 to 12:00"}, {"tonight", "night"},
};

static const struct {
    const char *words;
    int         hour, minute; /* -1: it is none */
} clocks[] = {
    {"at 5pm", 17, 0},
    {"5:30 pm", 17, 30},
    {"17:00", 17, 0},
    {"noon", 12, 0},
    {"midnight", 0, 0},
    {"at 9", 9, 0},
    {"dinner at 7pm", 19, 0},
    {"9 in the evening", 21, 0},
    {"12am", 0, 0},
    {"12:30pm", 12, 30},
    {"tomorrow at 5pm", -1, -1},
    {"5-6pm", -1, -1},
    {"5", -1, -1},
    {"friday", -1, -1},
    {"5pm for 2 hours", -1, -1},
    {"in 2 hours", -1, -1},
    {"", -1, -1},
    {"morning", -1, -1},
    {"5pm 6pm", -1, -1},
    {"this week at 5pm", -1, -1},
    {"by 5pm", -1, -1},
    {"2026-03-05 17:00", -1, -1},
};

static const struct {
    const char *date, *start;
    int         minutes;
    const char *zone, *want; /* NULL: refused */
} parts[] = {
    {"2026-03-05", "10:30", 60, "America/Los_Angeles", "2026-03-05 10:30 to 2026-03-05 11:30"},
    {"2026-03-05", "10:30", 0, "America/Los_Angeles", "2026-03-05 10:30 missing 8"},
    {"2026-03-05", "23:30", 1440, "America/Los_Angeles", "2026-03-05 23:30 to 2026-03-06 23:30"},
    {"2026-03-05", "", 0, "America/Los_Angeles", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"2026-03-05", "", 60, "America/Los_Angeles", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"2026-03-08", "02:30", 60, "America/Los_Angeles", "2026-03-08 03:30 to 2026-03-08 04:30"},
    {"2026-03-08", "", 0, "America/Havana", "2026-03-08 01:00 to 2026-03-09 00:00 all day"},
    {"2026-03-05", "00:00", 1440, "UTC", "2026-03-05 00:00 to 2026-03-06 00:00 all day"},
    {"2011-12-30", "", 0, "Pacific/Apia", NULL}, /* there was no such day */
    {"2026-02-29", "", 0, "UTC", NULL},
    {"2026-03-5", "", 0, "UTC", NULL},
    {"", "", 0, "UTC", NULL},
    {"2026-03-05", "24:00", 0, "UTC", NULL},
    {"2026-03-05", "9:00", 60, "UTC", NULL},
    {"2026-03-05", "09:00", -1, "UTC", NULL},
    {"2026-03-05", "09:00", 1441, "UTC", NULL},
    {"9999-12-31", "", 0, "America/Los_Angeles", NULL},
    {"9999-12-31", "23:30", 29, "UTC", "9999-12-31 23:30 to 9999-12-31 23:59"},
    {"9999-12-31", "23:30", 30, "UTC", NULL}, /* the calendar ends there */
};

static const struct {
    const char *start, *end, *date, *start_time;
    int         minutes;
    const char *want;
} derived[] = {
    {"2026-03-05T18:00:00.000Z", "2026-03-05T19:00:00.000Z", "", "", 0,
     "2026-03-05 10:00 to 2026-03-05 11:00"},
    {"2026-03-05T18:00:00.000Z", "2026-03-05T19:00:00.000Z", "2020-01-01", "09:00", 5,
     "2026-03-05 10:00 to 2026-03-05 11:00"},
    {"2026-03-05T18:00:00.000Z", "", "2026-03-06", "", 0, "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"2026-03-05T18:00:00.000Z", "2026-03-05T18:00:00.000Z", "2026-03-06", "", 0,
     "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"", "", "2026-03-06", "", 45, "2026-03-06 00:00 to 2026-03-07 00:00 all day"},
    {"", "", "2026-03-06", "09:00", 45, "2026-03-06 09:00 to 2026-03-06 09:45"},
    {"", "", "2026-03-06", "09:00", 0, "unresolved"},
    {"", "", "2026-03-06", "nine", 45, "unresolved"},
    {"", "", "2026-03-66", "", 0, "unresolved"},
    {"", "", "", "", 0, "unresolved"},
    {"x", "y", "z", "", -4, "unresolved"},
};

#define INTENT(status, missing)                                                           \
    "{\"intent\":{\"status\":\"" status "\",\"originalText\":\"x\",\"missing\":[" missing \
    "],\"assumptions\":[],\"evidenceSnippets\":[]}"
#define RESOLVED(start, end, rest) \
    INTENT("resolved", "")         \
    ",\"resolved\":{\"startUtc\":\"" start "\",\"endUtc\":\"" end "\"," rest "}}"
#define DAY(rest) RESOLVED("2026-03-05T08:00:00.000Z", "2026-03-06T08:00:00.000Z", rest)

static const char *const documents[] = {
    DAY("\"timezone\":\"America/Los_Angeles\",\"durationSource\":\"explicit\""),
    "{\"intent\":{\"status\":\"resolved\",\"originalText\":\"\xC3\xA9t\xC3\xA9\",\"missing\":[],"
    "\"assumptions\":[\"one\",\"two\"],"
    "\"evidenceSnippets\":[\"fri\"]},\"resolved\":{\"startUtc\":\"2026-03-05T18:00:00.000Z\",\"endUtc\":"
    "\"2026-03-05T19:00:00.000Z\",\"timezone\":\"Europe/"
    "Berlin\",\"durationSource\":\"suggested\",\"durationConfidence\":0.5,"
    "\"durationReason\":\"visits take an "
    "hour\",\"durationAcceptance\":\"user_confirmed\",\"inferenceVersion\":\"v2\"}}",
    DAY("\"timezone\":\"Mars/Olympus\",\"durationSource\":\"explicit\""), /* a zone that this machine does not
                                                                             have */
    INTENT("partial", "\"duration\"") "}",
    INTENT("partial", "\"date\",\"startTime\",\"endTime\",\"duration\",\"timezone\"") "}",
    INTENT("unresolved", "\"date\"") "}",
    INTENT("unresolved", "") "}",
};

static const char *const no_documents[] = {
    "{}",
    "[]",
    "null",
    "3",
    "\"resolved\"",
    "{\"intent\":null}",
    "{\"intent\":[]}",
    "{\"intent\":{}}",
    "{\"resolved\":{}}",
    INTENT("done", "") "}",
    INTENT("resolved", "") "}",
    INTENT("resolved", "") ",\"resolved\":null}",
    INTENT("resolved", "") ",\"resolved\":[]}",
    INTENT("partial", "") "}",
    INTENT("partial", "\"place\"") "}",
    INTENT("partial", "3") "}",
    INTENT("unresolved", "\"date\"") ",\"resolved\":{}}",
    "{\"intent\":{\"status\":1}}",
    "{\"intent\":{\"status\":\"unresolved\",\"originalText\":3}}",
    "{\"intent\":{\"status\":\"unresolved\",\"missing\":\"date\"}}",
    "{\"intent\":{\"status\":\"unresolved\",\"assumptions\":[1]}}",
    "{\"intent\":{\"status\":\"unresolved\",\"evidenceSnippets\":{}}}",
    "{\"intent\":{\"status\":\"unresolved\",\"assumptions\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
    "\"\",\"\","
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]}}",
    RESOLVED("2026-03-05T08:00:00.000Z", "2026-03-05T08:00:00.000Z",
             "\"timezone\":\"UTC\",\"durationSource\":\"explicit\""),
    RESOLVED("2026-03-05T08:00:00.000Z", "2026-03-05T07:00:00.000Z",
             "\"timezone\":\"UTC\",\"durationSource\":\"explicit\""),
    RESOLVED("2026-03-05T08:00:00.0001Z", "2026-03-05T08:00:00.0009Z",
             "\"timezone\":\"UTC\",\"durationSource\":\"explicit\""),
    RESOLVED("2026-03-05 08:00", "2026-03-05T09:00:00.000Z",
             "\"timezone\":\"UTC\",\"durationSource\":\"explicit\""),
    RESOLVED("", "", "\"timezone\":\"UTC\",\"durationSource\":\"explicit\""),
    DAY("\"timezone\":\"UTC\""),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"guessed\""),
    DAY("\"durationSource\":\"explicit\""),
    DAY("\"timezone\":\"\",\"durationSource\":\"explicit\""),
    DAY("\"timezone\":\"a b\",\"durationSource\":\"explicit\""),
    DAY("\"timezone\":7,\"durationSource\":\"explicit\""),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"suggested\",\"durationConfidence\":1.5"),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"suggested\",\"durationConfidence\":-0.5"),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"suggested\",\"durationConfidence\":\"high\""),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"suggested\",\"durationReason\":{}"),
    DAY("\"timezone\":\"UTC\",\"durationSource\":\"suggested\",\"durationAcceptance\":\"maybe\""),
};

#endif
