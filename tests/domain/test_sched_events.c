/* test_sched_events.c -- what happened to an appointment, in chunks.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_appointments.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/events.h"
#include "domain/scheduler/settings.h"

#define GROUP STR("6a1f0c3e-0000-4000-8000-000000000001")
#define WHICH STR("1-APPT-1")

static void append_some(task *t, size_t first, size_t count)
{
    log_event *list = arena_array(t->arena, log_event, count);
    bool       repeated;
    for (size_t n = 0; n < count; n++) {
        json *payload = json_object(t->arena);
        json_set_int(payload, "n", (int64_t)(first + n));
        list[n] = (log_event){.type = "USER_MESSAGE", .actor = "HUMAN", .payload = payload};
    }
    OK(events_append(t, GROUP, WHICH, list, count, NULL, &repeated));
    ck_assert(!repeated);
}

static int64_t number_of(const json_val *event)
{
    return json_int(json_get(json_get(event, "payload"), "n"), -1);
}

static size_t chunk_len(task *t, unsigned chunk)
{
    blob_got        found;
    const json_val *list;
    res r = blobs_get(t, sched_settings_get()->documents, place_event_chunk(t->arena, GROUP, WHICH, chunk),
                      &(blob_get){0}, &found);
    if (r == RES_NOT_FOUND)
        return 0;
    OK(r);
    OK(json_parse(t->arena, found.body, &list, NULL));
    return json_len(list);
}

RIG_TEST(an_event_is_stored_with_all_that_was_said)
{
    json           *payload = json_object(t->arena), *added;
    const json_val *v;
    bool            repeated;
    log_event       e = {.type = "FIELD_CHANGED",
                         .actor = "AGENT",
                         .email = STR("ann@example.org"),
                         .payload = payload,
                         .source = STR("rename to X"),
                         .request_id = STR("r1"),
                         .proposal_id = STR("p1")};
    json_set_str(payload, "field", STR("title"));
    OK(events_append(t, GROUP, WHICH, &e, 1, &added, &repeated));
    OK(json_parse(t->arena, json_print(t->arena, added), &v, NULL));
    v = json_at(v, 0);
    ck_assert(json_text(json_get(v, "id"), (str){0}).len == 36);
    ck_assert(json_text(json_get(v, "tsUtc"), (str){0}).len == 24);
    ck_str_eq(json_text(json_get(v, "type"), (str){0}), STR("FIELD_CHANGED"));
    ck_str_eq(json_text(json_get(json_get(v, "actor"), "kind"), (str){0}), STR("AGENT"));
    ck_str_eq(json_text(json_get(json_get(v, "actor"), "email"), (str){0}), STR("ann@example.org"));
    ck_str_eq(json_text(json_get(json_get(v, "payload"), "field"), (str){0}), STR("title"));
    ck_str_eq(json_text(json_get(v, "sourceTextSnapshot"), (str){0}), STR("rename to X"));
    ck_str_eq(json_text(json_get(v, "clientRequestId"), (str){0}), STR("r1"));
    ck_str_eq(json_text(json_get(v, "proposalId"), (str){0}), STR("p1"));
}

RIG_TEST(the_same_request_is_stored_once)
{
    log_event twice[2] = {{.type = "USER_MESSAGE", .actor = "HUMAN", .request_id = STR("again")},
                          {.type = "PROPOSAL_CREATED", .actor = "SYSTEM"}};
    json     *added;
    bool      repeated;
    OK(events_append(t, GROUP, WHICH, twice, 2, &added, &repeated));
    ck_assert(!repeated);
    OK(events_append(t, GROUP, WHICH, twice, 2, &added, &repeated));
    ck_assert(repeated);
    ck_str_eq(json_print(t->arena, added), STR("[]"));
    ck_assert_uint_eq(chunk_len(t, 1), 2);
}

RIG_TEST(a_full_chunk_is_followed_by_the_next)
{
    append_some(t, 0, 200);
    ck_assert_uint_eq(chunk_len(t, 1), 200);
    append_some(t, 200, 1);
    ck_assert_uint_eq(chunk_len(t, 1), 200);
    ck_assert_uint_eq(chunk_len(t, 2), 1);
}

RIG_TEST(what_is_appended_together_is_in_one_chunk)
{
    append_some(t, 0, 199);
    append_some(t, 199, 3);
    ck_assert_uint_eq(chunk_len(t, 1), 199);
    ck_assert_uint_eq(chunk_len(t, 2), 3);
}

RIG_TEST(pages_go_back_to_the_start_of_history_without_gaps)
{
    events_page page = {0};
    int64_t     next = 204;
    append_some(t, 0, 200);
    append_some(t, 200, 5);
    do {
        OK(events_read(t, GROUP, WHICH, page.next_chunk, page.next_index, 41, &page));
        ck_assert_uint_gt(page.count, 0);
        for (size_t n = 0; n < page.count; n++)
            ck_assert_int_eq(number_of(page.at[n]), next--);
    } while (page.next_chunk != 0);
    ck_assert_int_eq(next, -1);
}

RIG_TEST(nothing_happened_to_what_is_new)
{
    events_page page;
    OK(events_read(t, GROUP, WHICH, 0, 0, 20, &page));
    ck_assert_uint_eq(page.count, 0);
    ck_assert_uint_eq(page.next_chunk, 0);
    append_some(t, 0, 1);
    OK(events_read(t, GROUP, WHICH, 1, 0, 20, &page)); /* below the first one there is nothing */
    ck_assert_uint_eq(page.count, 0);
    ck_assert_uint_eq(page.next_chunk, 0);
    OK(events_read(t, GROUP, WHICH, 4000000000U, 7, 20, &page)); /* a cursor that nobody gave out */
    ck_assert_uint_eq(page.count, 1);
}

static res append_alone(task *t, size_t i, void *ctx)
{
    bool      repeated;
    log_event e = {.type = "USER_MESSAGE", .actor = "HUMAN"};
    (void)i, (void)ctx;
    return events_append(t, GROUP, WHICH, &e, 1, NULL, &repeated);
}

RIG_TEST(those_who_append_at_once_lose_nothing)
{
    OK(par_each(t, 20, 20, append_alone, NULL));
    ck_assert_uint_eq(chunk_len(t, 1), 20);
}

Suite *suite_sched_events(void)
{
    Suite *s = suite_create("sched_events");
    TCase *c = live_case("events");
    tcase_add_test(c, an_event_is_stored_with_all_that_was_said);
    tcase_add_test(c, the_same_request_is_stored_once);
    tcase_add_test(c, a_full_chunk_is_followed_by_the_next);
    tcase_add_test(c, what_is_appended_together_is_in_one_chunk);
    tcase_add_test(c, pages_go_back_to_the_start_of_history_without_gaps);
    tcase_add_test(c, nothing_happened_to_what_is_new);
    tcase_add_test(c, those_who_append_at_once_lose_nothing);
    suite_add_tcase(s, c);
    return s;
}
