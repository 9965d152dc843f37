/* planner.c -- see planner.h.
 *
 * A plan is carried out twice: first on copies, which shows what would become of it and whether somebody else
 * was faster; then state.json is saved, if it has changed, and the appointments are written one by one. A dry
 * run ends after the first.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "domain/scheduler/plan_run.h"

static const struct {
    const char *type;
    action_fn  *fn;
} doers[] = {
    {"create_blank_appointment", plan_do_appointment},
    {"add_appointment", plan_do_appointment},
    {"reschedule_appointment", plan_do_appointment},
    {"update_appointment_desc", plan_do_appointment},
    {"set_appointment_desc", plan_do_appointment},
    {"set_appointment_date", plan_do_appointment},
    {"set_appointment_start_time", plan_do_appointment},
    {"set_appointment_duration", plan_do_appointment},
    {"set_appointment_location", plan_do_appointment},
    {"set_appointment_notes", plan_do_appointment},
    {"delete_appointment", plan_do_appointment},
    {"restore_appointment", plan_do_appointment},
    {"add_people_to_appointment", plan_do_people_on},
    {"remove_people_from_appointment", plan_do_people_on},
    {"replace_people_on_appointment", plan_do_people_on},
    {"clear_people_on_appointment", plan_do_people_on},
    {"add_person", plan_do_person},
    {"update_person", plan_do_person},
    {"deactivate_person", plan_do_person},
    {"reactivate_person", plan_do_person},
    {"set_identity", plan_do_person},
    {"reset_state", plan_do_person},
    {"add_rule", plan_do_rule},
    {"delete_rule", plan_do_rule},
};

static action_fn *doer_of(const char *type)
{
    for (size_t i = 0; i < sizeof doers / sizeof *doers; i++)
        if (strcmp(doers[i].type, type) == 0)
            return doers[i].fn;
    return plan_show;
}

/* ---- a run ---- */

static void begin(work *w, task *t, const plan_run *run, bool dry)
{
    *w = (work){.t = t, .a = t->arena, .run = run, .dry = dry, .z = plan_zone(run->zone, (str){0})};
    for (json_iter it = json_each(json_get(run->now.doc, "rules")); json_next(&it);) {
        w->rules = plan_room(w->a, w->rules, w->rule_count, &w->rule_room, sizeof(json_val *));
        w->rules[w->rule_count++] = it.value;
    }
}

static res carry_out(work *w, const plan_action *actions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (plan_is_for_rules(&actions[i])) {
            plan_fail(w, "Not done: rules are made in rule mode.");
            continue;
        }
        TRY(doer_of(plan_type(&actions[i]))(w, actions[i].json, plan_type(&actions[i])));
        TRY(task_stopped(w->t));
    }
    return RES_OK;
}

static bool state_has_changed(const work *w)
{
    return w->rules_changed || w->people_changed || w->history_cleared;
}

/* People of the tables that older programs have put into people[] stay as they were. */
static res save_state(const work *w)
{
    json *doc = state_copy(w->a, &w->run->now, w->run->group);
    if (w->rules_changed) {
        json *rules = json_set_array(doc, "rules");
        for (size_t i = 0; i < w->rule_count; i++)
            json_push_val(rules, w->rules[i]);
    }
    if (w->people_changed) {
        json *people = json_set_array(doc, "people");
        for (size_t i = 0; i < w->people_count; i++)
            if (w->people[i].row != NULL)
                json_push_val(people, w->people[i].row);
    }
    if (w->history_cleared)
        (void)json_set_array(doc, "history"); /* empty */
    return state_save(w->t, w->run->group, w->run->now.etag, doc, NULL);
}

static void tell(const work *w, plan_effects *ret)
{
    *ret = (plan_effects){.lines = w->lines,
                          .line_count = w->line_count,
                          .all_applied = !w->failed,
                          .state_changed = state_has_changed(w),
                          .identity = w->identity,
                          .unknown = w->unknown};
    ret->touched = arena_array(w->a, plan_touched, w->draft_count);
    for (size_t i = 0; i < w->draft_count; i++)
        ret->touched[ret->touched_count++] = (plan_touched){w->drafts[i]->was.id, w->drafts[i]->was.etag};
}

res plan_execute(task *t, const plan_run *run, const plan_action *actions, size_t count, plan_effects *ret)
{
    work w;
    begin(&w, t, run, true);
    TRY(carry_out(&w, actions, count));
    if (!run->dry_run) {
        if (state_has_changed(&w))
            TRY(save_state(&w));
        begin(&w, t, run, false);
        TRY(carry_out(&w, actions, count));
    }
    tell(&w, ret);
    return RES_OK;
}
