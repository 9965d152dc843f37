/* test_sched_gate.c -- the gating matrix: every endpoint that is about a group against everybody who might
 * knock.
 *
 * The ten endpoints of the seed's conformance matrix are the first ten rows. An endpoint whose folder is not
 * there fails.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/state.h"

#define ANN "ann@example.org"
#define BOB "bob@example.org"

/* Who knocks, as bob. */
typedef enum {
    NO_SESSION,
    EXPIRED,
    STRANGER,
    INVITED,
    REMOVED,
    ACTIVE,
    DELETED_GROUP,
    ONLY_IN_PEOPLE, /* in people[] of state.json, without a row */
    ONLY_IN_TABLES, /* an active row, and not in people[] */
    CALLERS
} caller;

static const char *const caller_names[CALLERS] = {"without a session", "expired",          "a stranger",
                                                  "invited",           "removed",          "active",
                                                  "deleted group",     "only in people[]", "only in tables"};

/* What an active member is answered is the endpoint's own affair; that they are let in is the matrix's: not
 * 401, not "not_allowed", not "group_not_found". `invited` and `gone` are for the few that differ. */
typedef struct {
    const char *folder, *method, *path, *members; /* of the body beside groupId; or of the query: "&a=b" */
    const char *ids;                              /* the name of the group's id; NULL: groupId */
    int         no_session, invited, removed, stranger, deleted; /* 0: 401, 403, 403, 403, 404 */
} endpoint;

#define UUID "6a1f0c3e-0000-4000-8000-000000000000"

static const endpoint endpoints[] = {
    {"schedChat", "POST", "/api/chat", ",\"message\":\"help\"", NULL, 0, 0, 0, 0, 0},
    {"schedDirect", "POST", "/api/direct", ",\"action\":{\"type\":\"list_appointments\"}", NULL, 0, 0, 0, 0,
     0},
    {"schedIgniteStart", "POST", "/api/ignite/start", "", NULL, 0, 0, 0, 0, 0},
    {"schedIgniteClose", "POST", "/api/ignite/close", ",\"sessionId\":\"" UUID "\"", NULL, 0, 0, 0, 0, 0},
    {"schedIgnitePhoto", "GET", "/api/ignite/photo", "&sessionId=" UUID "&personId=p", NULL, 0, 0, 0, 0, 0},
    {"schedIgnitePhoto", "POST", "/api/ignite/photo",
     ",\"sessionId\":\"" UUID "\",\"imageMime\":\"image/png\",\"imageBase64\":\"iVBORw0KGgo=\"", NULL, 0, 0,
     0, 0, 0},
    {"schedIgniteMeta", "GET", "/api/ignite/meta", "&sessionId=" UUID, NULL, 0, 0, 0, 0, 0},
    {"schedIgniteMeta", "POST", "/api/ignite/meta", ",\"sessionId\":\"" UUID "\"", NULL, 0, 0, 0, 0, 0},
    /* Who has no session may be a guest, who has no row gets one; so all of them hear that nothing is open.
     */
    {"schedIgniteJoin", "POST", "/api/ignite/join", ",\"sessionId\":\"" UUID "\"", NULL, 403, 403, 403, 403,
     0},
    {"schedIgniteSpinoff", "POST", "/api/ignite/spinoff", "", "sourceGroupId", 0, 0, 0, 0, 0},

    {"schedGroupMeta", "GET", "/api/group/meta", "", NULL, 0, 0, 0, 0, 0},
    {"schedGroupMembers", "GET", "/api/group/members", "", NULL, 0, 0, 0, 0, 0},
    {"schedGroupJoin", "POST", "/api/group/join", "", NULL, 0, 200, 0, 0, 0},
    {"schedGroupJoinLink", "POST", "/api/group/join-link", ",\"email\":\"" ANN "\"", NULL, 0, 0, 0, 0, 0},
    {"schedGroupInviteEmail", "POST", "/api/group/invite-email", ",\"recipientEmail\":\"" ANN "\"", NULL, 0,
     0, 0, 0, 0},
    {"schedGroupMemberProfile", "PUT", "/api/group/member-profile",
     ",\"displayName\":\"n\",\"userKey\":\"KEY\"", NULL, 0, 0, 0, 0, 0},
    {"schedGroupRename", "POST", "/api/group/rename", ",\"groupName\":\"n\"", NULL, 0, 0, 0, 0, 0},
    {"schedGroupDelete", "POST", "/api/group/delete", "", NULL, 0, 0, 0, 0, 200},
    {"schedGroupRestore", "POST", "/api/group/restore", "", NULL, 0, 0, 0, 0, 200},
    {"schedScanAppointment", "POST", "/api/scanAppointment",
     ",\"imageMime\":\"image/png\",\"imageBase64\":\"iVBORw0KGgo=\"", NULL, 0, 0, 0, 0, 0},
    {"schedAppointmentScanImage", "GET", "/api/appointmentScanImage", "&appointmentId=a", NULL, 0, 0, 0, 0,
     0},
    {"schedAppointmentScanDelete", "POST", "/api/appointmentScanDelete", ",\"appointmentId\":\"a\"", NULL, 0,
     0, 0, 0, 0},
    {"schedAppointmentScanRescan", "POST", "/api/appointmentScanRescan",
     ",\"appointmentId\":\"a\",\"imageMime\":\"image/png\",\"imageBase64\":\"iVBORw0KGgo=\"", NULL, 0, 0, 0,
     0, 0},
};

enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints };

static bool has_folder(const char *folder)
{
    return access(textf("%s/%s/function.json", getenv("TRESTLE_SOURCE_ROOT"), folder), R_OK) == 0;
}

START_TEST(every_endpoint_of_the_matrix_is_there)
{
    const char *folder = endpoints[_i].folder;
    ck_assert_msg(has_folder(folder), "folder %s", folder);
}
END_TEST

/* ---- the scene ---- */

static res put_people(task *t, const state *now, void *ctx, json **ret)
{
    json *doc = state_copy(t->arena, now, *(str *)ctx);
    json *person = json_push_object(json_set_array(doc, "people"));
    json_set_str(person, "personId", STR("P-1"));
    json_set_str(person, "name", STR("bob"));
    json_set_str(person, "email", STR(BOB));
    *ret = doc;
    return RES_OK;
}

static str bob_session(task *t, caller who)
{
    if (who == NO_SESSION)
        return (str){0};
    if (who == EXPIRED)
        return people_raw_session(t, "{\"v\":1,\"email\":\"" BOB
                                     "\",\"expiresAt\":\"2020-01-01T00:00:00.000Z\"}");
    return people_sign_in(t, BOB);
}

static void set_scene(task *t, str ann, str group, caller who)
{
    if (who != ONLY_IN_TABLES)
        OK(state_change(t, group, put_people, &group, NULL)); /* blobs decide nothing, for nobody */
    if (who == INVITED)
        people_invite(t, group, BOB);
    if (who == ACTIVE || who == ONLY_IN_TABLES || who == DELETED_GROUP || who == REMOVED || who == EXPIRED)
        people_add(t, group, BOB);
    if (who == REMOVED)
        people_drop(t, group, BOB);
    if (who != DELETED_GROUP)
        return;
    got g = people_post(t, ann, "/api/group/delete", "{\"groupId\":\"%.*s\"}", STR_ARG(group));
    ck_status(g, 200);
}

static got knock(task *t, const endpoint *e, str session, str group)
{
    const char *id = e->ids != NULL ? e->ids : "groupId";
    str         members = str_of(e->members);
    size_t      key = str_find(members, STR("KEY"));
    if (key < members.len)
        members = arena_strf(t->arena, "%.*s%.*s\"", (int)key, members.at, STR_ARG(people_user_key(ANN)));
    if (str_eq(str_of(e->method), STR("GET")))
        return people_get(
            t, session,
            arena_strf(t->arena, "%s?%s=%.*s%.*s", e->path, id, STR_ARG(group), STR_ARG(members)).at);
    return (str_eq(str_of(e->method), STR("PUT")) ? people_put : people_post)(
        t, session, e->path, "{\"%s\":\"%.*s\"%.*s}", id, STR_ARG(group), STR_ARG(members));
}

static int wanted(const endpoint *e, caller who)
{
    switch (who) {
    case NO_SESSION:
    case EXPIRED:
        return e->no_session != 0 ? e->no_session : 401;
    case STRANGER:
    case ONLY_IN_PEOPLE:
        return e->stranger != 0 ? e->stranger : 403;
    case INVITED:
        return e->invited != 0 ? e->invited : 403;
    case REMOVED:
        return e->removed != 0 ? e->removed : 403;
    case DELETED_GROUP:
        return e->deleted != 0 ? e->deleted : 404;
    case ACTIVE:
    case ONLY_IN_TABLES:
    case CALLERS:
        break;
    }
    return 0;
}

static str error_of(const got *g)
{
    const json_val *v = rig_at(g, "error");
    return v != NULL ? json_text(v, STR("")) : STR("");
}

/* Sends away in the words of the gate, if it does. */
static const char *sent_away(const got *g)
{
    static const char *const words[] = {"unauthorized", "not_allowed", "group_not_found", "forbidden"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(error_of(g), str_of(words[i])))
            return words[i];
    return NULL;
}

static void check_answer(const endpoint *e, caller who, const got *g)
{
    int want = wanted(e, who);
    if (want == 0) {
        bool broken = g->status / 100 == 5 && g->status != 502; /* 502: there is no AI here to read a scan */
        ck_assert_msg(sent_away(g) == NULL && g->status != 401 && !broken, "%s %s, %s: %d '%.*s'", e->method,
                      e->path, caller_names[who], g->status, live_shown(g->body), g->body.at);
        return;
    }
    ck_assert_msg(g->status == want, "%s %s, %s: %d, not %d: '%.*s'", e->method, e->path, caller_names[who],
                  g->status, want, live_shown(g->body), g->body.at);
    if (want == 401)
        ck_str_eq(error_of(g), STR("unauthorized"));
    if (want == 404)
        ck_str_eq(error_of(g), STR("group_not_found"));
    if (want >= 400)
        ck_assert_uint_gt(rig_text(g, "traceId").len, 0);
}

/* SCHED-45, SCHED-46, SCHED-47, SCHED-48, SCHED-49. */
RIG_TEST(tables_alone_decide_who_gets_in)
{
    const endpoint *e = &endpoints[i];
    str             ann = people_named(t, ANN);
    for (caller who = 0; who < CALLERS; who++) {
        str group = people_group(t, ann, "Mine");
        set_scene(t, ann, group, who);
        got g = knock(t, e, bob_session(t, who), group);
        check_answer(e, who, &g);
    }
}

/* A group that there never was, and ids that are none. */
RIG_TEST(a_group_that_is_not_there_is_not_found)
{
    static const char *const ids[] = {UUID, "no-id", "6A1F0C3E-0000-4000-8000-00000000000G", "..%2f..",
                                      "g'%20or%201"};
    const endpoint          *e = &endpoints[i];
    bool                     unknown_is_answered = str_eq(str_of(e->folder), STR("schedGroupRestore"));
    str                      bob = people_sign_in(t, BOB);
    for (size_t n = 0; n < sizeof ids / sizeof *ids; n++) {
        got g = knock(t, e, bob, str_of(ids[n]));
        ck_assert_msg(g.status == 404 || g.status == 400 || (unknown_is_answered && g.status == 200),
                      "%s: %d", ids[n], g.status);
    }
}

Suite *suite_sched_gate(void)
{
    Suite *s = suite_create("sched_gate");
    TCase *c = live_case("gate");
    tcase_add_loop_test(c, every_endpoint_of_the_matrix_is_there, 0, ENDPOINTS);
    tcase_add_loop_test(c, tables_alone_decide_who_gets_in, 0, ENDPOINTS);
    tcase_add_loop_test(c, a_group_that_is_not_there_is_not_found, 0, ENDPOINTS);
    suite_add_tcase(s, c);
    return s;
}
