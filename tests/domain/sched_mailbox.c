/* sched_mailbox.c -- see sched_mailbox.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_mailbox.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

enum { MAILS_MAX = 256, MAIL_MAX = 64 * KIB };

static const char *folder(void)
{
    return textf("%s/mail", live_dir());
}

void mailbox_open(void)
{
    ck_assert_int_eq(setenv("EMAIL_SINK_DIR", folder(), 1), 0);
    ck_assert_int_eq(setenv("MAGIC_LINK_SECRET", MAILBOX_SECRET, 1), 0);
    ck_assert_int_eq(setenv("WEB_BASE_URL", "https://family.example/", 1), 0);
}

static int is_mail(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static size_t list(const char *ret[MAILS_MAX])
{
    struct dirent **entries;
    int             n = scandir(folder(), &entries, is_mail, alphasort);
    for (int i = 0; i < n; i++) {
        ck_assert_int_lt(i, MAILS_MAX);
        ret[i] = textf("%s/%s", folder(), entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free((void *)entries);
    return n < 0 ? 0 : (size_t)n;
}

size_t mailbox_count(void)
{
    const char *paths[MAILS_MAX];
    return list(paths);
}

const char *mailbox_path(size_t i)
{
    const char *paths[MAILS_MAX];
    ck_assert_uint_lt(i, list(paths));
    return paths[i];
}

const json_val *mailbox_mail(size_t i)
{
    const json_val *v;
    char           *text = arena_alloc(scratch(), MAIL_MAX);
    FILE           *f = fopen(mailbox_path(i), "re");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, MAIL_MAX, f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(json_parse(scratch(), (str){text, n}, &v, NULL), RES_OK);
    return v;
}

str mailbox_link_value(size_t i, const char *parameter)
{
    str    text = json_text(json_get(mailbox_mail(i), "text"), (str){0});
    str    wanted = str_of(textf("%s=", parameter));
    size_t at = str_find(text, wanted);
    ck_assert_msg(at < text.len, "the mail's link has no '%s'", parameter);
    str rest = str_from(text, at + wanted.len);
    return str_slice(rest, 0, strcspn(rest.at, "&\n"));
}
