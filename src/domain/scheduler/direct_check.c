/* direct_check.c -- the members of an action, against what its row of the table wants.
 *
 * A text of another JSON type counts as absent (specification §0), and so is "required"; a number that is
 * there but is none is refused, for absent would mean "clear it".
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/direct.h"

static size_t characters(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.at[i] & 0xC0U) != 0x80U ? 1 : 0;
    return n;
}

static res required(arena *a, const direct_member *m, str *ret_why)
{
    *ret_why = arena_strf(a, "%s is required", m->name);
    return RES_INVALID;
}

static res check_text(arena *a, const direct_member *m, str text, str *ret_why)
{
    if (text.len == 0 && m->kind == MEMBER_TEXT)
        return required(a, m, ret_why);
    if (characters(text) <= (size_t)m->most)
        return RES_OK;
    *ret_why = arena_strf(a, "%s must have at most %d characters", m->name, m->most);
    return RES_INVALID;
}

static res check_date(arena *a, const direct_member *m, str text, str *ret_why)
{
    if (text.len == 0)
        return required(a, m, ret_why);
    if (when_is_date(text))
        return RES_OK;
    *ret_why = arena_strf(a, "%s must be a date (YYYY-MM-DD)", m->name);
    return RES_INVALID;
}

static res check_time(arena *a, const direct_member *m, str text, str *ret_why)
{
    if (text.len == 0 || when_is_time(text))
        return RES_OK;
    *ret_why = arena_strf(a, "%s must be a time of day (HH:MM)", m->name);
    return RES_INVALID;
}

static res check_number(arena *a, const direct_member *m, const json_val *v, str *ret_why)
{
    bool none = json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL ||
                (json_typeof(v) == JSON_STRING && str_trim(json_text(v, (str){0})).len == 0);
    if (none && m->kind == MEMBER_NUMBER_MAYBE)
        return RES_OK;
    if (m->kind == MEMBER_NUMBER && json_typeof(v) != JSON_NUMBER)
        return required(a, m, ret_why);
    int64_t n = json_int(v, INT64_MIN);
    if (n >= m->least && n <= m->most)
        return RES_OK;
    *ret_why = arena_strf(a, "%s must be a whole number from %d to %d", m->name, m->least, m->most);
    return RES_INVALID;
}

static res check_texts(arena *a, const direct_member *m, const json_val *v, str *ret_why)
{
    if (json_typeof(v) != JSON_ARRAY || json_len(v) == 0)
        return required(a, m, ret_why);
    bool good = json_len(v) <= (size_t)m->most;
    for (json_iter it = json_each(v); good && json_next(&it);) {
        str text = str_trim(json_text(it.value, (str){0}));
        good = text.len > 0 && text.len <= DIRECT_ID_MAX;
    }
    if (good)
        return RES_OK;
    *ret_why = arena_strf(a, "%s must be a list of 1 to %d texts", m->name, m->most);
    return RES_INVALID;
}

static res check_choice(arena *a, const direct_member *m, str text, str *ret_why)
{
    str list = {0};
    if (text.len == 0)
        return required(a, m, ret_why);
    for (const char *const *c = m->choices; *c != NULL; c++) {
        if (str_eq(text, str_of(*c)))
            return RES_OK;
        list = list.len == 0 ? str_of(*c) : arena_strf(a, "%.*s|%s", STR_ARG(list), *c);
    }
    *ret_why = arena_strf(a, "%s must be one of %.*s", m->name, STR_ARG(list));
    return RES_INVALID;
}

static res check_member(arena *a, const direct_member *m, const json_val *v, str *ret_why)
{
    str text = str_trim(json_text(v, (str){0}));
    switch (m->kind) {
    case MEMBER_TEXT:
    case MEMBER_TEXT_MAYBE:
        return check_text(a, m, text, ret_why);
    case MEMBER_DATE:
        return check_date(a, m, text, ret_why);
    case MEMBER_TIME_MAYBE:
        return check_time(a, m, text, ret_why);
    case MEMBER_NUMBER:
    case MEMBER_NUMBER_MAYBE:
        return check_number(a, m, v, ret_why);
    case MEMBER_TEXTS:
        return check_texts(a, m, v, ret_why);
    case MEMBER_CHOICE:
        return check_choice(a, m, text, ret_why);
    case MEMBER_NO_MORE:
        break;
    }
    return RES_OK;
}

res direct_check(arena *a, const direct_action *row, const json_val *action, str *ret_why)
{
    for (int i = 0; i < DIRECT_MEMBERS_MAX && row->members[i].kind != MEMBER_NO_MORE; i++) {
        res r = check_member(a, &row->members[i], json_get(action, row->members[i].name), ret_why);
        if (r != RES_OK)
            return r;
    }
    return RES_OK;
}
