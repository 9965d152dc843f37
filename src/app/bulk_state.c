/* bulk_state.c -- how far an import is, in a file beside its input, so that the next run goes on there.
 *
 *     {"format":1,"to":URL,"inputs":[{"file":…,"size":…,"head":…}],"input":0,"form":"lines","offset":…,
 *      "line":…,"records":…,"bytes":…}
 *
 * The file is replaced as a whole; it may be older than what was done, never newer. It is of no use for other
 * inputs or another server, and is then told and ignored.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "app/bulk_run.h"
#include "app/copy_file.h"
#include "core/clock.h"

enum { STATE_FORMAT = 1, STATE_MAX = 1 * MIB, STATE_MEMORY = 8 * MIB, SAVE_US = 1000 * 1000 };

static const char *const forms[] = {"unknown", "lines", "array"};

/* ---- loading ---- */

static uint64_t number_at(const json_val *v, const char *key)
{
    int64_t n = json_int(json_get(v, key), 0);
    return n > 0 ? (uint64_t)n : 0;
}

static bool is_same_input(const json_val *v, const char *file, const bulk_fingerprint *now)
{
    return str_eq(json_text(json_get(v, "file"), (str){0}), str_of(file)) &&
           number_at(v, "size") == now->size &&
           str_eq(json_text(json_get(v, "head"), (str){0}), str_of(now->head));
}

/* Why the state cannot be used; NULL: it can. */
static const char *why_not(const bulk_run *run, const json_val *v)
{
    const json_val *inputs = json_get(v, "inputs");
    if (json_int(json_get(v, "format"), 0) != STATE_FORMAT)
        return "is not of the format that this version writes";
    if (!str_eq(json_text(json_get(v, "to"), (str){0}), run->base))
        return "is of another server";
    if (json_len(inputs) != run->o->file_count || number_at(v, "input") >= run->o->file_count)
        return "is of other inputs";
    for (size_t i = 0; i < run->o->file_count; i++)
        if (!is_same_input(json_at(inputs, i), run->o->files[i], &run->prints[i]))
            return "is of other inputs, or they have changed since";
    return NULL;
}

static res read_text(task *t, const char *path, str *ret)
{
    copy_file *f;
    bool       end;
    buf        line;
    buf_init(&line, t->arena, STATE_MAX);
    TRY(copy_file_open(t, path, 0, &f));
    TRY(copy_file_read_line(t, f, &line, &end));
    *ret = buf_str(&line);
    return copy_file_close(t, f);
}

res bulk_state_load(task *t, bulk_run *run, bulk_place *ret, const char **ret_why)
{
    const json_val *v = NULL;
    str             text;
    *ret_why = NULL;
    if (run->state_path == NULL || run->o->restart || !copy_exists(run->state_path))
        return RES_NOT_FOUND;
    TRY(read_text(t, run->state_path, &text));
    *ret_why = json_parse(t->arena, text, &v, NULL) == RES_OK ? why_not(run, v) : "is damaged";
    if (*ret_why != NULL)
        return RES_NOT_FOUND;
    str form = json_text(json_get(v, "form"), (str){0});
    *ret = (bulk_place){.input = (unsigned)number_at(v, "input"),
                        .at = {.offset = number_at(v, "offset"), .line = number_at(v, "line")},
                        .records = number_at(v, "records"),
                        .done_bytes = number_at(v, "bytes")};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_eq(form, str_of(forms[i])))
            ret->at.form = (json_cut_form)i;
    return RES_OK;
}

/* ---- saving ---- */

static json *state_json(arena *a, const bulk_run *run)
{
    const bulk_place *at = &run->ledger->reached;
    json             *v = json_object(a);
    json_set_int(v, "format", STATE_FORMAT);
    json_set_str(v, "to", run->base);
    json *inputs = json_set_array(v, "inputs");
    for (size_t i = 0; i < run->o->file_count; i++) {
        json *one = json_push_object(inputs);
        json_set_str(one, "file", str_of(run->o->files[i]));
        json_set_int(one, "size", (int64_t)run->prints[i].size);
        json_set_str(one, "head", str_of(run->prints[i].head));
    }
    json_set_int(v, "input", at->input);
    json_set_str(v, "form", str_of(forms[at->at.form]));
    json_set_int(v, "offset", (int64_t)at->at.offset);
    json_set_int(v, "line", (int64_t)at->at.line);
    json_set_int(v, "records", (int64_t)at->records);
    json_set_int(v, "bytes", (int64_t)at->done_bytes);
    return v;
}

static res write_state(task *t, void *ctx)
{
    bulk_run   *run = ctx;
    copy_file  *f;
    const char *fresh = copy_path(t, "%s.new", run->state_path);
    str         text = json_print(t->arena, state_json(t->arena, run));
    /* A record that failed is settled: its line must be there before the state says so. */
    if (run->failed.f != NULL && fflush(run->failed.f) != 0)
        return task_fail(t, RES_UNAVAILABLE, "cannot write '%s'", run->failed.path);
    TRY(copy_file_create(t, fresh, 0, &f));
    TRY(copy_file_write_line(t, f, text));
    TRY(copy_file_close(t, f));
    return copy_rename(t, fresh, run->state_path);
}

void bulk_state_save(task *t, bulk_run *run, bool now)
{
    uint64_t now_us = clock_mono_us();
    if (run->state_path == NULL || run->o->dry_run || run->ledger->reached.records == 0 ||
        (!now && now_us - run->saved_us < SAVE_US))
        return;
    run->saved_us = now_us;
    res r = task_scope(t, STATE_MEMORY, write_state, run);
    if (r == RES_OK || run->save_failed)
        return;
    run->save_failed = true;
    bulk_progress_say(&run->progress, "%.*s; after a stop it would begin anew", STR_ARG(task_message(t)));
    task_forget(t);
}

void bulk_state_remove(const bulk_run *run)
{
    if (run->state_path != NULL && !run->o->dry_run)
        (void)unlink(run->state_path); /* left behind, it would only be gone on with at its end */
}
