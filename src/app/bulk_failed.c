/* bulk_failed.c -- the records that did not get in, a line each, with the reason:
 *
 *     {"number":17,"input":"actions.ndjson","line":17,"error":{"errorCode":…,"message":…},"record":{…}}
 *
 * `trestle import` reads such a file as an input too: it takes the record out of each line. What was no JSON
 * has its "text" instead, and must be mended by hand.
 *
 * A run that goes on after a stop reads, and fails, some records again: their lines are taken out first.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/bulk_run.h"
#include "app/copy_file.h"

enum { TEXT_KEPT = 64 * KIB, TOLD_MAX = 5, MESSAGE_SHOWN = 200 };

#define NUMBER_MARK "{\"number\":"

static res cannot_write(task *t, bulk_run *run)
{
    bulk_stop(run, RES_UNAVAILABLE, "cannot write '%s': %s", run->failed.path, strerror(errno));
    return task_fail(t, RES_GONE, "failed records");
}

/* ---- an older file ---- */

static bool is_ours_to_say_again(const char *line, uint64_t records)
{
    size_t mark = strlen(NUMBER_MARK);
    return strncmp(line, NUMBER_MARK, mark) == 0 && strtoull(line + mark, NULL, 10) > records;
}

/* Copies the lines that stay. False: errno says why not. */
static bool copy_lines(FILE *from, FILE *to, uint64_t records)
{
    char   *line = NULL;
    size_t  size = 0;
    ssize_t len;
    bool    ok = true;
    while (ok && (len = getline(&line, &size, from)) > 0)
        if (line[len - 1] == '\n' && !is_ours_to_say_again(line, records)) /* a torn end goes too */
            ok = fwrite(line, 1, (size_t)len, to) == (size_t)len;
    free(line);
    return ok && !ferror(from);
}

static res shorten(task *t, bulk_run *run, uint64_t records)
{
    const char *fresh = copy_path(t, "%s.new", run->failed.path);
    FILE       *from = fopen(run->failed.path, "re");
    if (from == NULL)
        return errno == ENOENT ? RES_OK : cannot_write(t, run);
    FILE *to = fopen(fresh, "we");
    bool  ok = to != NULL && copy_lines(from, to, records);
    (void)fclose(from); /* only read */
    ok = to != NULL && fclose(to) == 0 && ok;
    return ok && rename(fresh, run->failed.path) == 0 ? RES_OK : cannot_write(t, run);
}

res bulk_failed_begin(task *t, bulk_run *run, uint64_t records)
{
    struct stat what;
    if (run->o->dry_run || lstat(run->failed.path, &what) != 0 || !S_ISREG(what.st_mode))
        return RES_OK;
    run->failed.more = records > 0;
    if (records > 0)
        return shorten(t, run, records);
    (void)unlink(
        run->failed.path); /* what cannot be removed will be written over, or cannot be and is told */
    return RES_OK;
}

/* ---- adding ---- */

json *bulk_failed_error(arena *a, const char *code, const char *fmt, ...)
{
    va_list args;
    json   *v = json_object(a);
    json_set_str(v, "errorCode", str_of(code));
    va_start(args, fmt);
    json_set_str(v, "message", arena_vstrf(a, fmt, args));
    va_end(args);
    return v;
}

/* JSON has line feeds only between its tokens: as blanks they keep the record on one line. */
static str on_one_line(arena *a, str text)
{
    char *at = arena_alloc(a, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        at[i] = text.at[i] == '\n' || text.at[i] == '\r' ? ' ' : text.at[i];
    return (str){at, text.len};
}

static str line_of(arena *a, const bulk_victim *v, const json *error)
{
    json *head = json_object(a);
    json_set_int(head, "number", (int64_t)v->number);
    json_set_str(head, "input", str_of(v->input));
    json_set_int(head, "line", (int64_t)v->line);
    json_set_json(head, "error", error);
    if (!v->is_json)
        json_set_str(head, "text", str_slice(v->text, 0, TEXT_KEPT));
    str text = json_print(a, head);
    if (!v->is_json)
        return text;
    return arena_strf(a, "%.*s,\"record\":%.*s}", STR_ARG(str_slice(text, 0, text.len - 1)),
                      STR_ARG(on_one_line(a, v->text)));
}

/* The first few are shown, so that a mistake in all of them is seen early. */
static void tell(arena *a, bulk_run *run, const bulk_victim *v, const json *error)
{
    const json_val *what;
    if (run->progress.told >= TOLD_MAX || json_parse(a, json_print(a, error), &what, NULL) != RES_OK)
        return;
    str message = json_text(json_get(what, "message"), STR("no reason was given"));
    bulk_progress_say(&run->progress, "'%s', line %llu: %.*s", v->input, (unsigned long long)v->line,
                      STR_ARG(str_slice(message, 0, MESSAGE_SHOWN)));
    if (++run->progress.told == TOLD_MAX)
        bulk_progress_say(&run->progress, "more failures are counted, and not shown here");
}

res bulk_failed_add(task *t, bulk_run *run, const bulk_victim *v, const json *error)
{
    tell(t->arena, run, v, error);
    if (run->o->dry_run)
        return RES_OK;
    str line = line_of(t->arena, v, error);
    if (run->failed.f == NULL)
        run->failed.f = fopen(run->failed.path, run->failed.more ? "ae" : "we");
    if (run->failed.f == NULL || fwrite(line.at, 1, line.len, run->failed.f) != line.len ||
        fputc('\n', run->failed.f) == EOF)
        return cannot_write(t, run);
    return RES_OK;
}
