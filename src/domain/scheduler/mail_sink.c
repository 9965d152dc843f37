/* mail_sink.c -- messages into a folder, for use without a mail service: one JSON file each.
 *
 *     {EMAIL_SINK_DIR}/20260102T030405678Z-6a1f0c3e-….json    {to, from?, replyTo?, subject, text, html,
 * sentAt}
 *
 * A file is there whole or not at all, and nobody but this user may read it: it may hold a link that signs
 * somebody in.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "domain/scheduler/mail_ways.h"
#include "domain/scheduler/settings.h"

typedef struct {
    const char *dir, *fresh, *path; /* fresh: while it is being written */
    str         text;
    int         error; /* errno, 0: written */
} letter;

static bool write_all(int fd, str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.at, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = str_from(text, (size_t)n);
    }
    return true;
}

static bool make_file(const letter *l)
{
    if (mkdir(l->dir, 0700) != 0 && errno != EEXIST)
        return false;
    int fd = open(l->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, l->text);
    int  why = errno;
    ok = close(fd) == 0 && ok && rename(l->fresh, l->path) == 0;
    if (!ok) {
        why = errno != 0 ? errno : why;
        (void)unlink(l->fresh);
        errno = why;
    }
    return ok;
}

/* In a thread: disks may be slow. */
static void write_letter(void *arg)
{
    letter *l = arg;
    errno = 0;
    l->error = make_file(l) ? 0 : errno != 0 ? errno : EIO;
}

static str as_json(arena *a, const mail *m, str now)
{
    str   from = sched_settings_get()->mail_sender;
    json *v = json_object(a);
    json_set_str(v, "to", m->to);
    if (from.len > 0)
        json_set_str(v, "from", from);
    if (m->reply_to.len > 0)
        json_set_str(v, "replyTo", m->reply_to);
    json_set_str(v, "subject", m->subject);
    json_set_str(v, "text", m->text);
    json_set_str(v, "html", m->html);
    json_set_str(v, "sentAt", now);
    return json_print(a, v);
}

/* "20260102T030405678Z": names sort by time. */
static str stamp(arena *a, str now)
{
    char  *out = arena_alloc(a, now.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < now.len; i++)
        if (strchr("-:.", now.at[i]) == NULL)
            out[n++] = now.at[i];
    out[n] = '\0';
    return (str){out, n};
}

mail_result mail_to_sink(task *t, const mail *m, str *ret_said)
{
    char    id[UUID_TEXT + 1];
    arena  *a = t->arena;
    str     dir = sched_settings_get()->mail_sink, now = iso8601_arena(a, clock_wall_us(), 3);
    str     name = arena_strf(a, "%.*s-%.*s.json", STR_ARG(stamp(a, now)), STR_ARG(id_uuid(id)));
    letter *l = arena_one(a, letter);
    *l = (letter){
        .dir = arena_cstr(a, dir),
        .fresh = arena_strf(a, "%.*s/.%.*s.part", STR_ARG(dir), STR_ARG(name)).at,
        .path = arena_strf(a, "%.*s/%.*s", STR_ARG(dir), STR_ARG(name)).at,
        .text = as_json(a, m, now),
    };
    if (task_offload(t, write_letter, l) != RES_OK) {
        task_forget(t);
        return MAIL_TRANSIENT;
    }
    if (l->error == 0)
        return MAIL_SENT;
    *ret_said = arena_strf(a, "EMAIL_SINK_DIR: %s", strerror(l->error));
    return MAIL_UNKNOWN;
}
