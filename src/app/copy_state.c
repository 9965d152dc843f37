/* copy_state.c -- see copy_state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_state.h"

#include "app/copy_file.h"
#include "core/json.h"

enum { STATE_MAX = 1 * MIB };

typedef struct {
    const copy_run   *run;
    const copy_place *at;
} saving;

static res read_state(task *t, const copy_run *run, const json_val **ret)
{
    copy_file *f;
    bool       end;
    buf        line;
    buf_init(&line, t->arena, STATE_MAX);
    TRY(copy_file_open(t, run->state_path, 0, &f));
    TRY(copy_file_read_line(t, f, &line, &end));
    TRY(copy_file_close(t, f));
    if (json_parse(t->arena, buf_str(&line), ret, NULL) != RES_OK)
        return task_fail(t, RES_CONFIG, "'%s' is damaged: remove it to begin anew", run->state_path);
    return RES_OK;
}

res copy_state_load(task *t, copy_run *run, str *ret_store)
{
    const json_val *v;
    if (!copy_exists(run->state_path))
        return RES_NOT_FOUND;
    TRY(read_state(t, run, &v));
    *ret_store = json_text(json_get(v, "store"), (str){0});
    if (!str_eq(*ret_store, run->store))
        return RES_CONFIG;
    int64_t offset = json_int(json_get(v, "offset"), 0);
    run->resume = (copy_place){.part = json_text(json_get(v, "part"), (str){0}),
                               .name = json_text(json_get(v, "name"), (str){0}),
                               .token = json_text(json_get(v, "token"), (str){0}),
                               .offset = offset > 0 ? (uint64_t)offset : 0};
    return RES_OK;
}

static res write_state(task *t, void *ctx)
{
    const saving *c = ctx;
    copy_file    *f;
    const char   *path = c->run->state_path, *fresh = copy_path(t, "%s.new", path);
    json         *v = json_object(t->arena);
    json_set_str(v, "store", c->run->store);
    json_set_str(v, "part", c->at->part);
    json_set_str(v, "name", c->at->name);
    json_set_str(v, "token", c->at->token);
    json_set_int(v, "offset", (int64_t)c->at->offset);
    TRY(copy_file_create(t, fresh, 0, &f));
    TRY(copy_file_write_line(t, f, json_print(t->arena, v)));
    TRY(copy_file_close(t, f));
    return copy_rename(t, fresh, path);
}

res copy_state_save(task *t, const copy_run *run, const copy_place *at)
{
    saving c = {run, at};
    return task_scope(t, STATE_MAX, write_state, &c);
}

void copy_state_take(copy_run *run, str part, str name, copy_place *ret)
{
    bool mine = str_eq(run->resume.part, part) && str_eq(run->resume.name, name);
    *ret = mine ? run->resume : (copy_place){.part = part, .name = name};
    if (mine)
        run->resume = (copy_place){0};
}

static int order_of(str part)
{
    return str_eq(part, STR("tables")) ? 0 : str_eq(part, STR("blobs")) ? 1 : 2;
}

bool copy_state_is_behind(const copy_run *run, str part, str name)
{
    if (run->resume.part.len == 0)
        return false;
    int order = order_of(part) - order_of(run->resume.part);
    return order < 0 || (order == 0 && str_compare(name, run->resume.name) < 0);
}
