/* fuzz_plan.c -- any bytes as a model's answer.
 *
 * What is taken keeps to the limits, and each of its actions is one by itself, too.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/planner.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_plan(arena *a, const plan *p)
{
    demand(p->message.len > 0 && p->message.len <= (size_t)PLAN_MESSAGE_MAX * 4);
    demand(p->action_count <= PLAN_ACTIONS_MAX && json_len(p->options) <= PLAN_OPTIONS_MAX);
    demand(p->confidence <= 1);
    for (size_t i = 0; i < p->action_count; i++) {
        plan_action again;
        str         why = {0};
        demand(plan_read_action(a, p->actions[i].json, &again, &why) == RES_OK);
        demand(again.type == p->actions[i].type && strlen(plan_type(&again)) > 0);
        demand(!plan_is_mutating(&again) || !plan_is_for_rules(&again));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const json_val *v;
    plan            p;
    str             why = {0};
    arena          *a = arena_new(64 * MIB);
    if (a == NULL)
        return 0;
    if (json_parse(a, (str){(const char *)data, size}, &v, NULL) == RES_OK) {
        if (plan_read(a, v, &p, &why) == RES_OK)
            check_plan(a, &p);
        else
            demand(why.len > 0 && str_is_utf8(why));
    }
    arena_free(a);
    return 0;
}
