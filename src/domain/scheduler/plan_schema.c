/* plan_schema.c -- what a model, or a caller of /api/direct, may say (specification §6.3, version 5).
 *
 * A table: a row for each type of action, with its members. What is in no row is refused, so that nothing is
 * carried out that was not understood.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/planner.h"

#include <string.h>

enum { MEMBERS_MAX = 10, CODE_MAX = 64, ID_MAX = 128, LABEL_MAX = 80, VALUE_MAX = 400, SHOWN_MAX = 40 };

/* ---- kinds of values ---- */

typedef enum {
    IS_TEXT,    /* 1 to max characters */
    IS_LINE,    /* 0 to max */
    IS_DATE,    /* "2026-03-05" */
    IS_TIME,    /* "10:30" */
    IS_TIME_0,  /* the same, or empty */
    IS_MINUTES, /* 1 to 1440 */
    IS_ZONE,
    IS_PEOPLE,   /* names and ids, 1 to PLAN_PEOPLE_MAX */
    IS_PEOPLE_0, /* none, too */
    IS_STATUS,   /* available, unavailable */
    IS_SPAN,     /* {startUtc, endUtc} */
    IS_ACCEPTANCE,
    IS_STYLE,
    IS_RULES /* items of rule mode */
} value_kind;

typedef struct {
    const char *name;
    value_kind  kind;
    bool        needed;
    unsigned    max; /* of texts, in characters */
} member;

static size_t characters(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.at[i] & 0xC0) != 0x80;
    return n;
}

/* As much of what somebody else wrote as a message shows, whole characters. */
static str shown(str s)
{
    if (s.len <= SHOWN_MAX)
        return s;
    s.len = SHOWN_MAX;
    while (s.len > 0 && ((unsigned char)s.at[s.len] & 0xC0) == 0x80)
        s.len--;
    return s;
}

static bool is_one_of(const json_val *v, const char *const *words)
{
    for (; *words != NULL; words++)
        if (str_eq(json_text(v, (str){0}), str_of(*words)))
            return true;
    return false;
}

static bool is_people(const json_val *v, size_t least)
{
    if (json_typeof(v) != JSON_ARRAY || json_len(v) < least || json_len(v) > PLAN_PEOPLE_MAX)
        return false;
    for (json_iter it = json_each(v); json_next(&it);) {
        str who = str_trim(json_text(it.value, (str){0}));
        if (who.len == 0 || characters(who) > ID_MAX)
            return false;
    }
    return true;
}

static bool is_span(const json_val *v)
{
    int64_t from, to;
    return json_typeof(v) == JSON_OBJECT &&
           iso8601_parse(json_text(json_get(v, "startUtc"), (str){0}), &from) &&
           iso8601_parse(json_text(json_get(v, "endUtc"), (str){0}), &to) && to > from;
}

static bool is_text(const json_val *v, size_t least, size_t most)
{
    str s = str_trim(json_text(v, (str){0}));
    return json_typeof(v) == JSON_STRING && s.len >= least && characters(s) <= most;
}

static bool fits(const json_val *v, const member *m)
{
    static const char *const statuses[] = {"available", "unavailable", NULL};
    static const char *const acceptances[] = {"auto", "user_confirmed", "user_edited", NULL};
    static const char *const styles[] = {"primary", "secondary", "danger", NULL};
    str                      s = json_text(v, (str){0});
    int64_t                  n = json_int(v, 0);
    switch (m->kind) {
    case IS_TEXT:
        return is_text(v, 1, m->max);
    case IS_LINE:
        return is_text(v, 0, m->max);
    case IS_DATE:
        return when_is_date(s);
    case IS_TIME:
        return when_is_time(s);
    case IS_TIME_0:
        return json_typeof(v) == JSON_STRING && (s.len == 0 || when_is_time(s));
    case IS_MINUTES:
        return n >= 1 && n <= TIME_DURATION_MAX;
    case IS_ZONE:
        return s.len > 0 && zone_find(s) != NULL;
    case IS_PEOPLE:
        return is_people(v, 1);
    case IS_PEOPLE_0:
        return is_people(v, 0);
    case IS_STATUS:
        return is_one_of(v, statuses);
    case IS_SPAN:
        return is_span(v);
    case IS_ACCEPTANCE:
        return is_one_of(v, acceptances);
    case IS_STYLE:
        return is_one_of(v, styles);
    case IS_RULES: /* their members are looked at later */
        return json_typeof(v) == JSON_ARRAY && json_len(v) <= PLAN_RULE_ITEMS_MAX;
    }
    return false;
}

/* ---- members of an object ---- */

static const member *member_named(const member *list, size_t count, str name)
{
    for (size_t i = 0; i < count && list[i].name != NULL; i++)
        if (str_eq(name, str_of(list[i].name)))
            return &list[i];
    return NULL;
}

/* A member that is null counts as absent. False: *ret_why. */
static bool members_fit(arena *a, const json_val *object, const char *of, const member *list, size_t count,
                        str *ret_why)
{
    if (json_typeof(object) != JSON_OBJECT) {
        *ret_why = arena_strf(a, "%s must be an object", of);
        return false;
    }
    for (json_iter it = json_each(object); json_next(&it);) {
        const member *m = member_named(list, count, it.key);
        if (m == NULL && !str_eq(it.key, STR("type"))) {
            str seen = shown(it.key);
            *ret_why = arena_strf(a, "%s has an unknown member '%.*s'", of, STR_ARG(seen));
            return false;
        }
        if (m == NULL || json_typeof(it.value) == JSON_NULL || fits(it.value, m))
            continue;
        *ret_why = arena_strf(a, "%s is invalid", m->name);
        return false;
    }
    for (size_t i = 0; i < count && list[i].name != NULL; i++)
        if (list[i].needed && json_typeof(json_get(object, list[i].name)) <= JSON_NULL) {
            *ret_why = arena_strf(a, "%s is required", list[i].name);
            return false;
        }
    return true;
}

/* ---- types of actions ---- */

typedef enum { READING, MUTATING, FOR_RULES } nature;

#define CODE                            \
    {                                   \
        "code", IS_TEXT, true, CODE_MAX \
    }
#define PERSON                            \
    {                                     \
        "personId", IS_TEXT, true, ID_MAX \
    }
#define TIMED                                                                                               \
    {"date", IS_DATE, true, 0}, {"startTime", IS_TIME_0, false, 0}, {"durationMins", IS_MINUTES, false, 0}, \
        {"timezone", IS_ZONE, false, 0}, {"timeResolved", IS_SPAN, false, 0},                               \
    {                                                                                                       \
        "durationAcceptance", IS_ACCEPTANCE, false, 0                                                       \
    }

static const struct {
    const char *type;
    nature      nature;
    member      members[MEMBERS_MAX];
} types[] = {
    {"create_blank_appointment", MUTATING, {{0}}},
    {"add_appointment",
     MUTATING,
     {{"desc", IS_TEXT, true, TITLE_MAX},
      TIMED,
      {"people", IS_PEOPLE, false, 0},
      {"location", IS_LINE, false, LOCATION_MAX}}},
    {"reschedule_appointment", MUTATING, {CODE, TIMED}},
    {"update_appointment_desc", MUTATING, {CODE, {"desc", IS_TEXT, true, TITLE_MAX}}},
    {"set_appointment_desc", MUTATING, {CODE, {"desc", IS_TEXT, true, TITLE_MAX}}},
    {"set_appointment_date", MUTATING, {CODE, {"date", IS_DATE, true, 0}}},
    {"set_appointment_start_time", MUTATING, {CODE, {"startTime", IS_TIME_0, false, 0}}},
    {"set_appointment_duration", MUTATING, {CODE, {"durationMins", IS_MINUTES, false, 0}}},
    {"set_appointment_location",
     MUTATING,
     {CODE, {"location", IS_LINE, false, LOCATION_MAX}, {"locationRaw", IS_LINE, false, LOCATION_MAX}}},
    {"set_appointment_notes", MUTATING, {CODE, {"notes", IS_LINE, true, NOTES_MAX}}},
    {"delete_appointment", MUTATING, {CODE}},
    {"restore_appointment", MUTATING, {CODE}},
    {"add_people_to_appointment", MUTATING, {CODE, {"people", IS_PEOPLE, true, 0}}},
    {"remove_people_from_appointment", MUTATING, {CODE, {"people", IS_PEOPLE, true, 0}}},
    {"replace_people_on_appointment", MUTATING, {CODE, {"people", IS_PEOPLE_0, true, 0}}},
    {"clear_people_on_appointment", MUTATING, {CODE}},
    {"add_person",
     MUTATING,
     {{"name", IS_TEXT, true, PERSON_NAME_MAX},
      {"cell", IS_LINE, false, SHOWN_MAX},
      {"timezone", IS_ZONE, false, 0},
      {"notes", IS_LINE, false, NOTES_MAX}}},
    {"update_person",
     MUTATING,
     {PERSON,
      {"name", IS_TEXT, false, PERSON_NAME_MAX},
      {"cell", IS_LINE, false, SHOWN_MAX},
      {"timezone", IS_ZONE, false, 0},
      {"notes", IS_LINE, false, NOTES_MAX}}},
    {"deactivate_person", MUTATING, {PERSON}},
    {"reactivate_person", MUTATING, {PERSON}},
    {"add_rule",
     MUTATING,
     {PERSON, {"kind", IS_STATUS, true, 0}, TIMED, {"desc", IS_LINE, false, TITLE_MAX}}},
    {"delete_rule", MUTATING, {CODE}},
    {"set_identity", MUTATING, {{"name", IS_TEXT, true, PERSON_NAME_MAX}}},
    {"reset_state", MUTATING, {{0}}},
    {"list_appointments", READING, {{0}}},
    {"show_appointment", READING, {CODE}},
    {"list_people", READING, {{0}}},
    {"show_person", READING, {PERSON}},
    {"list_rules", READING, {{"personId", IS_TEXT, false, ID_MAX}}},
    {"show_rule", READING, {CODE}},
    {"help", READING, {{0}}},
    {"add_rule_v2_draft",
     FOR_RULES,
     {{"personId", IS_TEXT, false, ID_MAX},
      {"promptId", IS_LINE, false, ID_MAX},
      {"rules", IS_RULES, true, 0}}},
    {"add_rule_v2_confirm",
     FOR_RULES,
     {{"personId", IS_TEXT, false, ID_MAX},
      {"promptId", IS_LINE, false, ID_MAX},
      {"rules", IS_RULES, true, 0}}},
};

enum { TYPES = sizeof types / sizeof *types };

static int type_of(str name)
{
    for (int i = 0; i < TYPES; i++)
        if (str_eq(name, str_of(types[i].type)))
            return i;
    return -1;
}

bool plan_is_mutating(const plan_action *p)
{
    return types[p->type].nature == MUTATING;
}

bool plan_is_for_rules(const plan_action *p)
{
    return types[p->type].nature == FOR_RULES;
}

const char *plan_type(const plan_action *p)
{
    return types[p->type].type;
}

/* ---- what no table says ---- */

static bool is_there(const json_val *action, const char *member_name)
{
    return json_typeof(json_get(action, member_name)) > JSON_NULL;
}

static res refuse(str *ret_why, str why)
{
    *ret_why = why;
    return RES_INVALID;
}

static const member rule_item[] = {
    {"personId", IS_TEXT, false, ID_MAX},
    {"status", IS_STATUS, true, 0},
    {"date", IS_DATE, true, 0},
    {"startTime", IS_TIME_0, false, 0},
    {"durationMins", IS_MINUTES, false, 0},
    {"timezone", IS_ZONE, false, 0},
    {"promptId", IS_LINE, false, ID_MAX},
    {"originalPrompt", IS_LINE, false, NOTES_MAX},
    {"desc", IS_LINE, false, TITLE_MAX},
    {"timeResolved", IS_SPAN, false, 0},
};

static bool are_rules(arena *a, const json_val *list, str *ret_why)
{
    for (json_iter it = json_each(list); json_next(&it);)
        if (!members_fit(a, it.value, "rules item", rule_item, sizeof rule_item / sizeof *rule_item, ret_why))
            return false;
    return true;
}

res plan_read_action(arena *a, const json_val *action, plan_action *ret, str *ret_why)
{
    if (json_typeof(action) != JSON_OBJECT)
        return refuse(ret_why, STR("action must be an object"));
    str name = str_trim(json_text(json_get(action, "type"), (str){0}));
    if (name.len == 0)
        return refuse(ret_why, STR("action.type is required"));
    int type = type_of(name);
    if (type < 0) {
        str seen = shown(name);
        return refuse(ret_why, arena_strf(a, "unsupported action type: %.*s", STR_ARG(seen)));
    }
    if (!members_fit(a, action, types[type].type, types[type].members, MEMBERS_MAX, ret_why))
        return RES_INVALID;
    if (types[type].nature == FOR_RULES && !are_rules(a, json_get(action, "rules"), ret_why))
        return RES_INVALID;
    if (str_eq(name, STR("set_appointment_location")) && !is_there(action, "location") &&
        !is_there(action, "locationRaw"))
        return refuse(ret_why, STR("location is required"));
    *ret = (plan_action){.json = action, .type = type};
    return RES_OK;
}

/* ---- a whole answer ---- */

static const member of_answer[] = {
    {"kind", IS_TEXT, true, SHOWN_MAX},
    {"message", IS_TEXT, true, PLAN_MESSAGE_MAX},
};

static const member of_option[] = {
    {"label", IS_TEXT, true, LABEL_MAX},
    {"value", IS_TEXT, true, VALUE_MAX},
    {"style", IS_STYLE, false, 0},
};

static res read_kind(arena *a, str kind, plan_kind *ret, str *ret_why)
{
    static const struct {
        const char *name;
        plan_kind   kind;
    } kinds[] = {{"reply", PLAN_REPLY},
                 {"proposal", PLAN_PROPOSAL},
                 {"question", PLAN_QUESTION},
                 {"clarify", PLAN_QUESTION}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(kind, str_of(kinds[i].name))) {
            *ret = kinds[i].kind;
            return RES_OK;
        }
    str seen = shown(kind);
    return refuse(ret_why,
                  arena_strf(a, "kind must be reply, proposal or question, not '%.*s'", STR_ARG(seen)));
}

static res read_actions(arena *a, const json_val *list, plan *ret, str *ret_why)
{
    size_t n = json_len(list);
    if (json_typeof(list) <= JSON_NULL)
        return RES_OK;
    if (json_typeof(list) != JSON_ARRAY || n > PLAN_ACTIONS_MAX)
        return refuse(ret_why, arena_strf(a, "actions must be a list of at most %d", PLAN_ACTIONS_MAX));
    ret->actions = arena_array(a, plan_action, n);
    for (json_iter it = json_each(list); json_next(&it); ret->action_count++)
        TRY(plan_read_action(a, it.value, &ret->actions[ret->action_count], ret_why));
    return RES_OK;
}

static res read_options(arena *a, const json_val *list, plan *ret, str *ret_why)
{
    if (json_typeof(list) <= JSON_NULL)
        return RES_OK;
    if (json_typeof(list) != JSON_ARRAY || json_len(list) > PLAN_OPTIONS_MAX)
        return refuse(ret_why, arena_strf(a, "options must be a list of at most %d", PLAN_OPTIONS_MAX));
    for (json_iter it = json_each(list); json_next(&it);)
        if (!members_fit(a, it.value, "option", of_option, sizeof of_option / sizeof *of_option, ret_why))
            return RES_INVALID;
    ret->options = json_len(list) > 0 ? list : NULL;
    return RES_OK;
}

static res read_confidence(const json_val *v, plan *ret, str *ret_why)
{
    if (json_typeof(v) <= JSON_NULL)
        return RES_OK;
    ret->confidence = json_double(v, -1);
    if (!(ret->confidence >= 0 && ret->confidence <= 1))
        return refuse(ret_why, STR("confidence must be from 0 to 1"));
    return RES_OK;
}

static bool is_known(str name)
{
    static const char *const known[] = {"kind",    "message",       "actions", "confidence",
                                        "options", "allowFreeText", NULL};
    for (const char *const *k = known; *k != NULL; k++)
        if (str_eq(name, str_of(*k)))
            return true;
    return false;
}

static res read_head(arena *a, const json_val *answer, plan *ret, str *ret_why)
{
    if (json_typeof(answer) != JSON_OBJECT)
        return refuse(ret_why, STR("the answer must be an object"));
    for (json_iter it = json_each(answer); json_next(&it);)
        if (!is_known(it.key)) {
            str seen = shown(it.key);
            return refuse(ret_why, arena_strf(a, "the answer has an unknown member '%.*s'", STR_ARG(seen)));
        }
    for (size_t i = 0; i < sizeof of_answer / sizeof *of_answer; i++)
        if (!fits(json_get(answer, of_answer[i].name), &of_answer[i]))
            return refuse(ret_why, arena_strf(a, "%s is required, of at most %u characters",
                                              of_answer[i].name, of_answer[i].max));
    ret->message = str_trim(json_text(json_get(answer, "message"), (str){0}));
    return read_kind(a, str_trim(json_text(json_get(answer, "kind"), (str){0})), &ret->kind, ret_why);
}

res plan_read(arena *a, const json_val *answer, plan *ret, str *ret_why)
{
    plan            p = {.confidence = -1, .allow_free_text = true};
    const json_val *free_text = json_get(answer, "allowFreeText");
    TRY(read_head(a, answer, &p, ret_why));
    TRY(read_actions(a, json_get(answer, "actions"), &p, ret_why));
    TRY(read_options(a, json_get(answer, "options"), &p, ret_why));
    TRY(read_confidence(json_get(answer, "confidence"), &p, ret_why));
    if (json_typeof(free_text) > JSON_NULL && json_typeof(free_text) != JSON_BOOL)
        return refuse(ret_why, STR("allowFreeText must be true or false"));
    p.allow_free_text = json_truth(free_text, true);
    *ret = p;
    return RES_OK;
}
