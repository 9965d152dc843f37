/* bulk_read.c -- the task that reads: inputs into pieces, pieces into records, records into the window.
 *
 * A record that is not one JSON object is failed here: in a batch it would spoil its neighbours. All else is
 * for the server to judge.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "app/bulk_run.h"
#include "core/canon.h"

enum { PARSE_MEMORY = 256 * MIB, FAIL_MEMORY = 64 * MIB };

typedef struct {
    bulk_run      *run;
    bulk_input    *in;
    unsigned       input;
    json_cut_place from;         /* in it */
    uint64_t       bytes_before; /* of the inputs before this one, on disk */
    arena         *parsing;      /* cleared for each record */
} reader;

/* ---- one record ---- */

typedef struct {
    bulk_run   *run;
    bulk_victim victim;
    const char *code;
    str         message;
} failing;

static res fail_record(task *t, void *ctx)
{
    const failing *f = ctx;
    json          *error = bulk_failed_error(t->arena, f->code, "%.*s", STR_ARG(f->message));
    return bulk_failed_add(t, f->run, &f->victim, error);
}

static res fail_item(task *t, const reader *r, uint64_t number, const json_cut_item *item, const char *code,
                     str message)
{
    failing f = {
        r->run,
        {.input = r->run->o->files[r->input], .number = number, .line = item->line, .text = item->text},
        code,
        message};
    TRY(task_scope(t, FAIL_MEMORY, fail_record, &f));
    bulk_settled(r->run, number, BULK_FAILED);
    return RES_OK;
}

/* A line of a file of failed records holds the record that is meant. */
static str unwrap(arena *a, const json_val *v, str text, const json_val **ret_record)
{
    const json_val *inner = json_get(v, "record");
    bool wrapped = json_typeof(inner) == JSON_OBJECT && json_typeof(json_get(v, "error")) == JSON_OBJECT &&
                   json_get(v, "number") != NULL && json_get(v, "owner") == NULL;
    *ret_record = wrapped ? inner : v;
    return wrapped ? json_print_val(a, inner) : text;
}

/* A number may be a key too; it then counts by its text. */
static str key_text(arena *a, const json_val *v)
{
    return json_typeof(v) == JSON_NUMBER ? json_print_val(a, v) : json_text(v, (str){0});
}

/* Our reader of documents refuses lone surrogates, which the catalogue takes. */
static bool is_canonical_object(arena *a, str text, canon_error *err)
{
    str canonical;
    return canon_json(a, text, &canonical, err) == RES_OK && str_starts(canonical, STR("{"));
}

static res keep_record(task *t, reader *r, uint64_t number, const json_cut_item *item)
{
    const json_val *v = NULL;
    canon_error     err = {.text = "not a JSON object"};
    str             text = item->text, owner = {0}, name = {0};
    arena_reset(r->parsing);
    if (json_parse(r->parsing, text, &v, NULL) == RES_OK && json_typeof(v) == JSON_OBJECT) {
        text = unwrap(r->parsing, v, text, &v);
        owner = key_text(r->parsing, json_get(v, "owner"));
        name = key_text(r->parsing, json_get(v, "name"));
    } else if (v != NULL || !is_canonical_object(r->parsing, text, &err)) {
        str why = arena_strf(r->parsing, "%s, at byte %zu of the record", err.text, err.offset);
        return fail_item(t, r, number, item, "NOT_JSON", v != NULL ? str_of(err.text) : why);
    }
    bulk_record *record = bulk_record_new(text);
    if (record == NULL)
        return task_fail(t, RES_MEMORY, "record %llu", (unsigned long long)number);
    record->number = number;
    record->line = item->line;
    record->input = r->input;
    bulk_record_sort(record, owner, name);
    bulk_window_add(r->run->window, record);
    return RES_OK;
}

/* ---- one input ---- */

static res wait_for_room(task *t, bulk_run *run)
{
    while (!bulk_stopping(run) && (bulk_window_is_full(run->window) || bulk_ledger_is_full(run->ledger))) {
        run->reader_waits = true;
        gate_open(&run->work);
        TRY(gate_wait(t, &run->room));
        run->reader_waits = false;
    }
    return bulk_stopping(run) ? RES_GONE : RES_OK;
}

static res take_item(task *t, reader *r, const json_cut_item *item)
{
    bulk_run *run = r->run;
    TRY(wait_for_room(t, run));
    bulk_place after = {
        .input = r->input, .at = item->after, .done_bytes = r->bytes_before + bulk_input_taken(r->in)};
    uint64_t number = bulk_ledger_add(run->ledger, &after);
    if (item->wrong != NULL)
        return fail_item(t, r, number, item, "NOT_A_RECORD",
                         item->too_long ? STR("longer than the limit of 4 MiB") : str_of(item->wrong));
    return keep_record(t, r, number, item);
}

static res take_items(task *t, reader *r, json_cut *cut)
{
    json_cut_item item;
    while (json_cut_next(cut, &item) == JSON_CUT_ITEM)
        TRY(take_item(t, r, &item));
    return RES_OK;
}

static void free_cut(void *arg)
{
    json_cut_free(arg);
}

static res read_input(task *t, void *ctx)
{
    reader   *r = ctx;
    json_cut *cut = arena_one(t->arena, json_cut);
    str       piece;
    bool      end = false;
    (void)arena_defer(t->arena, free_cut, cut); /* never false in a task */
    json_cut_init(cut, &r->from, BULK_RECORD_MAX);
    TRY(bulk_input_open(t, r->run->o->files[r->input], &r->in));
    TRY(bulk_input_skip(t, r->in, r->from.offset));
    while (!end && !bulk_stopping(r->run)) {
        TRY(bulk_input_read(t, r->in, &piece, &end));
        r->run->hurry = piece.len == 0; /* a slow pipe: what is here is sent */
        if (r->run->hurry)
            gate_open(&r->run->work);
        json_cut_feed(cut, piece);
        if (end)
            json_cut_end(cut);
        TRY(take_items(t, r, cut));
    }
    return RES_OK;
}

/* ---- all of them ---- */

static void free_arena(void *arg)
{
    arena_free(arg);
}

res bulk_read_all(task *t, bulk_run *run, const bulk_place *from)
{
    reader r = {.run = run, .parsing = arena_new(PARSE_MEMORY)};
    if (r.parsing == NULL)
        return task_fail(t, RES_MEMORY, "no memory to parse records");
    (void)arena_defer(t->arena, free_arena, r.parsing); /* never false in a task */
    for (size_t i = 0; i < run->o->file_count && !bulk_stopping(run); i++) {
        if (i >= from->input) {
            r.input = (unsigned)i;
            r.from = i == from->input ? from->at : (json_cut_place){0};
            TRY(task_scope(t, FAIL_MEMORY, read_input, &r));
        }
        r.bytes_before += run->prints[i].size;
    }
    return RES_OK;
}
