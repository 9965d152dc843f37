/* test_sched_groups.c -- a group's own life: made, looked at, renamed, deleted, restored; and what is in the
 * rows meanwhile.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/iso8601.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/state.h"

#define ANN     "ann@example.org"
#define BOB     "bob@example.org"
#define UNKNOWN "6a1f0c3e-0000-4000-8000-000000000000"
#define TRACE   "\"traceId\":\" my-trace \""

static str text_of(const entity *e, const char *name)
{
    return entity_str(e, name, (str){0});
}

static entity group_row_of(task *t, str id)
{
    return people_row(t, PLACE_GROUPS, STR("group"), id);
}

static got post_group(task *t, str session, const char *what, str group, const char *more)
{
    return people_post(t, session, arena_strf(t->arena, "/api/group/%s", what).at,
                       "{\"groupId\":\"%.*s\",%s\"traceId\":\"x\"}", STR_ARG(group), more);
}

static int64_t counted(task *t, count_kind kind)
{
    month_counts n;
    res          r = month_read(t, str_slice(call_now(t->arena), 0, 7), &n);
    if (r == RES_NOT_FOUND)
        return 0;
    OK(r);
    return n.of[kind];
}

/* ---- what a row may hold ---- */

typedef struct {
    const char *name;
    edm_type    type;
    char        what; /* 't': an instant */
} column;

static void check_columns(const entity *e, const column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const property *p = entity_find(e, str_of(columns[i].name));
        ck_assert_msg(p != NULL && p->type == columns[i].type, "column %s", columns[i].name);
        if (columns[i].what != 't')
            continue;
        int64_t us;
        ck_assert_msg(p->text.len == 24 && str_ends(p->text, STR("Z")) && iso8601_parse(p->text, &us),
                      "%s: %.*s", columns[i].name, STR_ARG(p->text));
    }
    ck_assert_uint_eq(e->count, count);
}

#define CHECK_COLUMNS(e, ...) \
    check_columns(&(e), (const column[]){__VA_ARGS__}, sizeof((const column[]){__VA_ARGS__}) / sizeof(column))

static void check_member_columns(const entity *e, bool of_group)
{
    if (of_group)
        CHECK_COLUMNS(*e, {"userKey", EDM_STRING, 0}, {"email", EDM_STRING, 0}, {"memberKey", EDM_STRING, 0},
                      {"status", EDM_STRING, 0}, {"joinedAt", EDM_STRING, 't'},
                      {"updatedAt", EDM_STRING, 't'}, {"memberKind", EDM_STRING, 0},
                      {"emailVerified", EDM_BOOL, 0});
    else
        CHECK_COLUMNS(*e, {"groupId", EDM_STRING, 0}, {"status", EDM_STRING, 0},
                      {"joinedAt", EDM_STRING, 't'}, {"updatedAt", EDM_STRING, 't'},
                      {"memberKind", EDM_STRING, 0}, {"emailVerified", EDM_BOOL, 0});
}

/* SCHED-22, SCHED-89, SCHED-91, SCHED-93. */
RIG_TEST(a_new_group_has_its_rows_with_exactly_their_columns)
{
    str     ann = people_named(t, ANN), key = people_user_key(ANN);
    int64_t before = counted(t, COUNT_NEW_GROUPS);
    got     g = people_post(t, ann, "/api/group/create", "{\"groupName\":\"  The \\t Smiths \"}");
    ck_status(g, 200);
    str id = rig_text(&g, "groupId");
    ck_assert(call_is_uuid4(id));
    ck_assert(rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "groupName"), STR("The Smiths"));
    ck_str_eq(rig_text(&g, "creatorPersonId"), key);
    ck_str_eq(rig_text(&g, "linkPath"), arena_strf(t->arena, "/#/g/%.*s", STR_ARG(id)));

    entity e = group_row_of(t, id);
    CHECK_COLUMNS(e, {"groupId", EDM_STRING, 0}, {"groupName", EDM_STRING, 0}, {"createdAt", EDM_STRING, 't'},
                  {"updatedAt", EDM_STRING, 't'}, {"createdByUserKey", EDM_STRING, 0},
                  {"isDeleted", EDM_BOOL, 0}, {"memberCountActive", EDM_INT32, 0},
                  {"memberCountInvited", EDM_INT32, 0}, {"appointmentCountUpcoming", EDM_INT32, 0});
    ck_assert(!entity_bool(&e, "isDeleted", true));
    ck_str_eq(text_of(&e, "createdByUserKey"), key);
    e = people_row(t, PLACE_GROUP_MEMBERS, id, key);
    check_member_columns(&e, true);
    ck_str_eq(text_of(&e, "status"), STR("active"));
    ck_str_eq(text_of(&e, "email"), STR(ANN));
    e = people_row(t, PLACE_USER_GROUPS, key, id);
    check_member_columns(&e, false);
    e = people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "auth:%.*s", STR_ARG(key)), STR("profile"));
    CHECK_COLUMNS(e, {"displayName", EDM_STRING, 0}, {"email", EDM_STRING, 0}, {"createdAt", EDM_STRING, 't'},
                  {"updatedAt", EDM_STRING, 't'});
    str now = call_now(t->arena);
    e = people_row(t, PLACE_DAILY_METRICS, str_slice(now, 0, 7), str_slice(now, 0, 10));
    CHECK_COLUMNS(e, {"newUsers", EDM_INT32, 0}, {"newGroups", EDM_INT32, 0},
                  {"newAppointments", EDM_INT32, 0}, {"invitesSent", EDM_INT32, 0},
                  {"invitesAccepted", EDM_INT32, 0}, {"updatedAt", EDM_STRING, 't'});
    ck_assert_int_eq(counted(t, COUNT_NEW_GROUPS), before + 1);

    state s;
    OK(state_read(t, id, &s));
    ck_assert_int_eq(json_int(json_get(s.doc, "schemaVersion"), 0), 3);
    ck_str_eq(json_text(json_get(s.doc, "groupId"), (str){0}), id);
}

static res look_for_address(task *t, const entity *e, void *ctx)
{
    (void)t, (void)ctx;
    ck_assert_msg(str_find_char(e->partition, '@') == e->partition.len, "%.*s", STR_ARG(e->partition));
    ck_assert_msg(str_find_char(e->row, '@') == e->row.len, "%.*s", STR_ARG(e->row));
    return RES_OK;
}

/* SCHED-10. */
RIG_TEST(no_key_of_any_table_holds_an_address)
{
    ck_assert_int_eq(setenv("WEB_BASE_URL", "https://web.example.org", 1), 0);
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got g = post_group(t, ann, "invite-email", group, "\"recipientEmail\":\"Bob@Example.org\",");
    ck_status(g, 200);
    g = post_group(t, people_sign_in(t, BOB), "join", group, "");
    ck_status(g, 200);
    people_add(t, group, "cy@example.org");
    for (place p = 0; p < PLACE_COUNT; p++)
        OK(tables_each(t, place_table(p), &(table_query){0}, look_for_address, NULL));
}

/* SCHED-24. */
RIG_TEST(whoever_has_no_name_makes_no_group_unless_they_give_one)
{
    str ann = people_sign_in(t, ANN);
    got g = people_post(t, ann, "/api/group/create", "{\"groupName\":\"g\"," TRACE "}");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("PROFILE_INCOMPLETE"));
    ck_str_eq(rig_text(&g, "message"), STR("Display name required"));
    ck_str_eq(rig_text(&g, "traceId"), STR("my-trace"));
    g = people_post(t, ann, "/api/group/create", "{\"groupName\":\"g\",\"creatorName\":\" \"}");
    ck_status(g, 400);
    g = people_post(t, ann, "/api/group/create", "{\"groupName\":\"g\",\"creatorName\":\" Ann  A. \"}");
    ck_status(g, 200);
    entity e = people_row(t, PLACE_USER_PROFILES,
                          arena_strf(t->arena, "auth:%.*s", STR_ARG(people_user_key(ANN))), STR("profile"));
    ck_str_eq(text_of(&e, "displayName"), STR("Ann A."));
    g = people_post(t, ann, "/api/group/create", "{\"groupName\":\"g\",\"creatorName\":\"Another\"}");
    ck_status(g, 200);
    e = people_row(t, PLACE_USER_PROFILES, e.partition, STR("profile"));
    ck_str_eq(text_of(&e, "displayName"), STR("Ann A."));
}

static const struct {
    const char *body, *code;
} bad_creates[] = {
    {"{}", NULL},
    {"{\"groupName\":\"   \"}", NULL},
    {"{\"groupName\":7}", NULL},
    {"{\"groupName\":\"0123456789012345678901234567890123456789012345678901234567890\"}", NULL},
    {"{\"groupName\":", "BAD_JSON"},
    {"[]", "BAD_JSON"},
    {"", "BAD_JSON"},
};

/* SCHED-25. */
RIG_TEST(a_group_without_a_proper_name_is_not_made)
{
    got g = people_post(t, people_named(t, ANN), "/api/group/create", "%s", bad_creates[i].body);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("bad_request"));
    ck_assert(!rig_bool(&g, "ok"));
    if (bad_creates[i].code != NULL)
        ck_str_eq(rig_text(&g, "code"), str_of(bad_creates[i].code));
}

/* SCHED-25. Sixty characters are as many whatever their bytes. */
RIG_TEST(a_name_of_sixty_characters_is_fine_in_any_script)
{
    str name = live_repeat(t->arena, STR("\xe5\xae\xb6"), 60);
    got g =
        people_post(t, people_named(t, ANN), "/api/group/create", "{\"groupName\":\"%.*s\"}", STR_ARG(name));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groupName"), name);
}

static const struct {
    const char *storage, *container, *missing[2];
} settings[] = {
    {"", "", {"AzureWebJobsStorage|AZURE_STORAGE_ACCOUNT_URL", "STATE_CONTAINER"}},
    {"", "st", {"AzureWebJobsStorage|AZURE_STORAGE_ACCOUNT_URL"}},
    {"set", "", {"STATE_CONTAINER"}},
};

static void without_settings(task *t, int i)
{
    ck_assert_int_eq(setenv("STATE_CONTAINER", settings[i].container, 1), 0);
    got g = people_post(t, STR("a-session"), "/api/group/create", "{\"groupName\":\"g\"," TRACE "}");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("CONFIG_MISSING"));
    ck_str_eq(rig_text(&g, "traceId"), STR("my-trace"));
    size_t wanted = settings[i].missing[1] != NULL ? 2 : 1;
    ck_assert_uint_eq(json_len(rig_at(&g, "missing")), wanted);
    for (size_t n = 0; n < wanted; n++)
        ck_str_eq(rig_text(&g, textf("missing/%zu", n)), str_of(settings[i].missing[n]));
}

/* SCHED-23. */
START_TEST(what_is_not_set_up_is_named)
{
    store_options none = {.kind = STORE_NONE};
    rig_run(settings[_i].storage[0] == '\0' ? &none : NULL, without_settings, _i);
}
END_TEST

/* ---- looking ---- */

/* SCHED-32. */
RIG_TEST(what_a_group_is_called_is_told_to_its_members)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got g = people_get(t, ann, arena_strf(t->arena, "/api/group/meta?groupId=%.*s", STR_ARG(group)).at);
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "groupId"), group);
    ck_str_eq(rig_text(&g, "groupName"), STR("Mine"));
    entity e = group_row_of(t, group);
    ck_str_eq(rig_text(&g, "updatedAt"), text_of(&e, "updatedAt"));
    g = people_get(t, ann, "/api/group/meta?groupId=" UNKNOWN "&traceId=mine");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("group_not_found"));
    ck_assert_uint_eq(rig_text(&g, "traceId").len, 36); /* the server's own */
    g = people_get(t, ann, "/api/group/meta?groupId=%20");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("groupId_required"));
    g = people_get(t, ann, "/api/group/meta?groupId=..%2F..%2Fx");
    ck_status(g, 404);
}

/* ---- renaming ---- */

/* SCHED-29, SCHED-31. */
RIG_TEST(a_rename_changes_the_groups_row_and_nothing_else)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Old"), key = people_user_key(ANN);
    got g = post_group(t, ann, "join", group, "");
    ck_status(g, 200);
    g = people_get(t, ann, arena_strf(t->arena, "/api/group/meta?groupId=%.*s", STR_ARG(group)).at);
    ck_status(g, 200); /* was seen, so that the next call does not note it */
    entity before = group_row_of(t, group), theirs = people_row(t, PLACE_GROUP_MEMBERS, group, key),
           mine = people_row(t, PLACE_USER_GROUPS, key, group);
    state was, is;
    OK(state_read(t, group, &was));
    g = post_group(t, ann, "rename", group, "\"groupName\":\"  New \\n  name \",");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groupName"), STR("New name"));
    ck_str_eq(rig_text(&g, "traceId"), STR("x"));
    entity after = group_row_of(t, group);
    ck_str_eq(text_of(&after, "groupName"), STR("New name"));
    ck_assert_int_gt(str_compare(text_of(&after, "updatedAt"), text_of(&before, "updatedAt")), 0);
    entity_set_str(&after, "groupName", STR("Old"));
    entity_set_str(&after, "updatedAt", text_of(&before, "updatedAt"));
    ck_assert(entity_same(&after, &before));
    ck_str_eq(people_row(t, PLACE_GROUP_MEMBERS, group, key).etag, theirs.etag);
    ck_str_eq(people_row(t, PLACE_USER_GROUPS, key, group).etag, mine.etag);
    OK(state_read(t, group, &is));
    ck_str_eq(is.etag, was.etag);
    g = people_get(t, ann, "/api/me/groups");
    ck_str_eq(rig_text(&g, "groups/0/groupName"), STR("New name"));
}

/* SCHED-30. */
RIG_TEST(a_rename_that_may_not_be_is_refused)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Old");
    got g = post_group(t, ann, "rename", group, "\"groupName\":\" \",");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("bad_request"));
    str long_name = live_repeat(t->arena, STR("n"), 61);
    g = post_group(t, ann, "rename", group,
                   arena_strf(t->arena, "\"groupName\":\"%.*s\",", STR_ARG(long_name)).at);
    ck_status(g, 400);
    g = post_group(t, people_sign_in(t, BOB), "rename", group, "\"groupName\":\"Bob's\",");
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("not_allowed"));
    ck_str_eq(rig_text(&g, "message"), STR("Not allowed"));
    g = post_group(t, ann, "rename", STR(UNKNOWN), "\"groupName\":\"n\",");
    ck_status(g, 404);
    g = people_post(t, ann, "/api/group/rename", "{\"groupName\":\"n\"}");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("groupId_required"));
    entity e = group_row_of(t, group);
    ck_str_eq(text_of(&e, "groupName"), STR("Old"));
}

/* ---- deleting and restoring ---- */

/* SCHED-18, SCHED-34, SCHED-33. */
RIG_TEST(a_deleted_group_is_gone_and_comes_back_whole)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine"), key = people_user_key(ANN);
    got g = post_group(t, ann, "delete", group, "");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "groupId"), group);
    str     first = rig_text(&g, "deletedAt");
    entity  e = group_row_of(t, group);
    int64_t deleted_us, purge_us;
    ck_assert(entity_bool(&e, "isDeleted", false));
    ck_str_eq(text_of(&e, "deletedAt"), first);
    ck_str_eq(text_of(&e, "updatedAt"), first);
    ck_str_eq(text_of(&e, "deletedByUserKey"), key);
    ck_assert(iso8601_parse(first, &deleted_us) && iso8601_parse(text_of(&e, "purgeAfterAt"), &purge_us));
    ck_assert_int_eq(purge_us - deleted_us, INT64_C(30) * 24 * 3600 * 1000000);
    g = people_get(t, ann, "/api/me/groups");
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 0);
    g = post_group(t, ann, "delete", group, "");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "deletedAt"), first);

    g = post_group(t, people_sign_in(t, BOB), "restore", group, "");
    ck_status(g, 403);
    g = post_group(t, ann, "restore", group, "");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_assert_ptr_null(rig_at(&g, "message"));
    e = group_row_of(t, group);
    ck_assert(!entity_bool(&e, "isDeleted", true) && !entity_has(&e, "deletedAt") &&
              !entity_has(&e, "deletedByUserKey") && !entity_has(&e, "purgeAfterAt"));
    str etag = e.etag;
    g = people_get(t, ann, "/api/me/groups");
    ck_str_eq(rig_text(&g, "groups/0/groupId"), group);
    g = post_group(t, ann, "restore", group, "");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "message"), STR("Already active"));
    ck_str_eq(group_row_of(t, group).etag, etag);
    g = post_group(t, ann, "restore", STR(UNKNOWN), "");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "message"), STR("Group not found"));
}

/* ---- failures inside ---- */

static str tortured_group;

static void restore_it(task *t)
{
    group_row g;
    entity    e = group_row_of(t, tortured_group);
    entity_set_bool(&e, "isDeleted", false);
    OK(tables_replace(t, place_table(PLACE_GROUPS), &e, ETAG_ANY));
    OK(group_read(t, tortured_group, &g));
}

static const struct {
    const char *target, *more;
} tortures[] = {
    {"/api/group/create", "\"groupName\":\"n\""},
    {"/api/group/rename", "\"groupName\":\"n\""},
    {"/api/group/delete", "\"x\":1"},
    {"/api/group/restore", "\"x\":1"},
    {"/api/group/meta?groupId=%.*s", NULL},
};

RIG_TEST(no_call_about_a_group_minds_where_it_is_broken)
{
    str ann = people_named(t, ANN);
    tortured_group = people_group(t, ann, "Mine");
    str         body = tortures[i].more == NULL ? (str){0}
                                                : arena_strf(scratch(), "{\"groupId\":\"%.*s\",%s}",
                                                             STR_ARG(tortured_group), tortures[i].more);
    rig_request in = people_request(ann,
                                    tortures[i].more == NULL
                                        ? textf("/api/group/meta?groupId=%.*s", STR_ARG(tortured_group))
                                        : tortures[i].target,
                                    body.at);
    rig_torture(t, &in, 200, (const int[]){500, 0}, restore_it);
}

Suite *suite_sched_groups(void)
{
    Suite *s = suite_create("sched_groups");
    TCase *c = live_case("groups");
    tcase_add_test(c, a_new_group_has_its_rows_with_exactly_their_columns);
    tcase_add_test(c, no_key_of_any_table_holds_an_address);
    tcase_add_test(c, whoever_has_no_name_makes_no_group_unless_they_give_one);
    tcase_add_loop_test(c, a_group_without_a_proper_name_is_not_made, 0,
                        (int)(sizeof bad_creates / sizeof *bad_creates));
    tcase_add_test(c, a_name_of_sixty_characters_is_fine_in_any_script);
    tcase_add_loop_test(c, what_is_not_set_up_is_named, 0, (int)(sizeof settings / sizeof *settings));
    tcase_add_test(c, what_a_group_is_called_is_told_to_its_members);
    tcase_add_test(c, a_rename_changes_the_groups_row_and_nothing_else);
    tcase_add_test(c, a_rename_that_may_not_be_is_refused);
    tcase_add_test(c, a_deleted_group_is_gone_and_comes_back_whole);
    tcase_add_loop_test(c, no_call_about_a_group_minds_where_it_is_broken, 0,
                        (int)(sizeof tortures / sizeof *tortures));
    suite_add_tcase(s, c);
    return s;
}
