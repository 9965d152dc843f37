/* rules_save.c -- see rules_save.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/rules_save.h"

#include <stdlib.h>

/* ---- merging ---- */

static int by_owner(const interval *a, const interval *b)
{
    int order = str_compare(a->person, b->person);
    if (order == 0)
        order = (int)a->available - (int)b->available;
    return order != 0 ? order : str_compare(a->prompt, b->prompt);
}

static int by_time(const void *left, const void *right)
{
    const interval *a = left, *b = right;
    int             order = by_owner(a, b);
    if (order != 0)
        return order;
    if (a->from_us != b->from_us)
        return a->from_us < b->from_us ? -1 : 1;
    return a->to_us < b->to_us ? -1 : a->to_us > b->to_us;
}

size_t intervals_merge(interval *list, size_t count)
{
    size_t n = 0;
    if (count > 1)
        qsort(list, count, sizeof *list, by_time);
    for (size_t i = 0; i < count; i++) {
        interval *last = n > 0 ? &list[n - 1] : NULL;
        if (last == NULL || by_owner(last, &list[i]) != 0 || list[i].from_us > last->to_us)
            list[n++] = list[i];
        else if (list[i].to_us > last->to_us)
            last->to_us = list[i].to_us;
    }
    return n;
}

/* ---- saving ---- */

typedef struct {
    str             group;
    const interval *list;
    size_t          count;
} saving;

static str text_of(const json_val *v, const char *member)
{
    return json_text(json_get(v, member), (str){0});
}

static bool is_replaced(arena *a, const saving *s, const json_val *rule)
{
    int64_t     from, to;
    const zone *z = plan_zone(text_of(rule, "timezone"), (str){0});
    if (!rule_span(a, rule, z, &from, &to))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (str_eq(text_of(rule, "personId"), s->list[i].person) && from < s->list[i].to_us &&
            to > s->list[i].from_us)
            return true;
    return false;
}

static const json_val *rule_of(arena *a, const interval *x, str code)
{
    const zone *z = plan_zone(x->zone, (str){0});
    when        time = {.status = TIME_RESOLVED,
                        .start_us = x->from_us,
                        .end_us = x->to_us,
                        .zone = zone_name(z),
                        .original = x->original};
    time.all_day = when_is_whole_days(z, x->from_us, x->to_us);
    json *v = rule_json(a, code, x->person, x->available, &time, x->original);
    if (x->prompt.len > 0)
        json_set_str(v, "promptId", x->prompt);
    if (x->original.len > 0)
        json_set_str(v, "originalPrompt", x->original);
    return json_frozen(a, v);
}

static bool is_within_limit(const json_val *const *rules, size_t count, str who)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += str_eq(text_of(rules[i], "personId"), who);
    return n <= RULES_PER_PERSON_MAX;
}

static res put_in(task *t, const state *now, void *ctx, json **ret_doc)
{
    const saving    *s = ctx;
    arena           *a = t->arena;
    const json_val  *stored = json_get(now->doc, "rules");
    const json_val **rules = arena_array(a, const json_val *, json_len(stored) + s->count + 1);
    size_t           n = 0;
    for (json_iter it = json_each(stored); json_next(&it);)
        if (!is_replaced(a, s, it.value))
            rules[n++] = it.value;
    for (size_t i = 0; i < s->count; i++) {
        str code = rule_next_code(a, rules, n);
        rules[n++] = rule_of(a, &s->list[i], code);
    }
    for (size_t i = 0; i < s->count; i++)
        if (!is_within_limit(rules, n, s->list[i].person))
            return task_fail(t, RES_TOO_LARGE, "more than %d rules", RULES_PER_PERSON_MAX);
    *ret_doc = state_copy(a, now, s->group);
    json *list = json_set_array(*ret_doc, "rules");
    for (size_t i = 0; i < n; i++)
        json_push_val(list, rules[i]);
    return RES_OK;
}

res intervals_save(task *t, str group, const interval *list, size_t count)
{
    saving s = {.group = group, .list = list, .count = count};
    return state_change(t, group, put_in, &s, NULL);
}
