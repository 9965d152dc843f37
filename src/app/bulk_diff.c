/* bulk_diff.c -- a dry run: each record is compared with the one that the server has, and nothing is sent.
 *
 * What decides is what decides in the server: the hash of the canonical text. Records of one key within the
 * input are each compared with the server's, not with one another.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_run.h"
#include "domain/actions/record.h"
#include "domain/actions/settings.h"

enum { ANSWER_MAX = 20 * MIB };

typedef struct {
    bulk_batch *b;
    size_t      i;
} one;

/* As a segment of a path. */
static str escaped(arena *a, str text)
{
    static const char hex[] = "0123456789ABCDEF";
    buf               out;
    buf_init(&out, a, SIZE_MAX);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_' || c == '~' || (c == '.' && text.len > 2); /* "." and ".." would be steps */
        if (stays) {
            buf_add_char(&out, (char)c);
        } else {
            buf_add_char(&out, '%');
            buf_add_char(&out, hex[c >> 4]);
            buf_add_char(&out, hex[c & 15]);
        }
    }
    return buf_str(&out);
}

/* The server also finds a record whose key is the name with the owner before it; that one is another. */
static bulk_kind compare(const record *mine, const bulk_answer *theirs)
{
    const json_val *meta = json_get(theirs->json, "_metadata");
    if (theirs->status == 404 || !str_eq(json_text(json_get(meta, "rowKey"), (str){0}), mine->row))
        return BULK_CREATED;
    bool same = str_eq(json_text(json_get(meta, "payloadHash"), (str){0}), str_of(mine->hash));
    return same ? BULK_UNCHANGED : BULK_UPDATED;
}

static res diff_one(task *t, void *ctx)
{
    one           *o = ctx;
    bulk_run      *run = o->b->run;
    record         mine;
    record_problem why;
    bulk_answer    got;
    str            text = bulk_record_text(o->b->records[o->i]);
    res            r = record_read(t, text, BULK_RECORD_MAX, settings_get()->canon_timestamps, &mine, &why);
    if (r == RES_INVALID || r == RES_TOO_LARGE)
        return bulk_batch_failed(
            t, o->b, o->i, bulk_failed_error(t->arena, "VALIDATION_FAILED", "%.*s", STR_ARG(why.message)));
    TRY(r);
    bulk_request in = {.method = STR("GET"),
                       .url = arena_strf(t->arena, "%.*s/actions/%.*s/%.*s", STR_ARG(run->base),
                                         STR_ARG(escaped(t->arena, mine.partition)),
                                         STR_ARG(escaped(t->arena, mine.row))),
                       .answer_max = ANSWER_MAX};
    TRY(bulk_exchange(t, run, &in, &got));
    if (got.status != 404 &&
        (got.status != 200 || json_typeof(json_get(got.json, "_metadata")) != JSON_OBJECT))
        return bulk_batch_failed(
            t, o->b, o->i,
            bulk_failed_error(t->arena, "NOT_COMPARED", "the server answers %d to its reading", got.status));
    bulk_batch_done(o->b, o->i, compare(&mine, &got));
    return RES_OK;
}

res bulk_diff(task *t, bulk_batch *b)
{
    for (size_t i = 0; i < b->len; i++) {
        TRY(task_scope(t, BULK_SCOPE_MEMORY, diff_one, &(one){b, i}));
        bulk_progress_show(&b->run->progress);
    }
    return RES_OK;
}
