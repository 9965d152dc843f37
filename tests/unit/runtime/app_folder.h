/* app_folder.h -- an app's root in a temporary folder, for tests of what is read at start.
 *
 * begin_app makes it, with a plain host.json; end_app removes all of it, and unsets what set_env has set. A
 * test that fails ends before that, and leaves its folder to be looked at.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_APP_FOLDER_H
#define TRESTLE_TESTS_APP_FOLDER_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"

enum { APP_ENV_MAX = 16 };

static arena      *a;
static char        root[64];
static const char *env_names[APP_ENV_MAX];
static size_t      env_count;

/* The file's folders are made as needed. */
static inline void put_bytes(const char *name, const char *bytes, size_t len)
{
    char path[512];
    ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", root, name), (int)sizeof path);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* it may be there already */
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
}

static inline void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* The name must be a literal. */
static inline void set_env(const char *name, const char *value)
{
    ck_assert_uint_lt(env_count, APP_ENV_MAX);
    env_names[env_count++] = name;
    ck_assert_int_eq(setenv(name, value, 1), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}

static inline void begin_app(void)
{
    const char *tmp = getenv("TMPDIR");
    ck_assert_int_lt(snprintf(root, sizeof root, "%s/trestle-app-XXXXXX", tmp != NULL ? tmp : "/tmp"),
                     (int)sizeof root);
    ck_assert_ptr_nonnull(mkdtemp(root));
    a = arena_new(64 * MIB);
    ck_assert_ptr_nonnull(a);
    put("host.json", "{\"version\":\"2.0\"}");
}

static inline void end_app(void)
{
    arena_fail_at(0);
    arena_free(a);
    while (env_count > 0)
        unsetenv(env_names[--env_count]);
    ck_assert_int_eq(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void put_function(const char *folder, const char *text)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s/function.json", folder);
    put(name, text);
}

/* methods is what stands between the brackets; NULL leaves the member out. */
static inline void put_http(const char *folder, const char *route, const char *methods)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"bindings\":[{\"type\":\"httpTrigger\",\"direction\":\"in\",\"name\":\"req\",\"authLevel\":"
        "\"anonymous\",\"route\":\"%s\"%s%s%s},{\"type\":\"http\",\"direction\":\"out\",\"name\":\"res\"}]}",
        route, methods != NULL ? ",\"methods\":[" : "", methods != NULL ? methods : "",
        methods != NULL ? "]" : "");
    put_function(folder, text);
}

#endif
