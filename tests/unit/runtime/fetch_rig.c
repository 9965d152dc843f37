/* fetch_rig.c -- see fetch_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/runtime/fetch_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

static struct {
    char     message[1024];
    res      result;
    task    *task;
    unsigned fds;
} rig;

static void copy_text(char *out, size_t size, str s)
{
    size_t len = s.len < size - 1 ? s.len : size - 1;
    if (len > 0)
        memcpy(out, s.at, len);
    out[len] = '\0';
}

static unsigned open_fds(void)
{
    unsigned n = 0;
    DIR     *d = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static void on_end(task *t, void *ctx, res result, str message)
{
    (void)t, (void)ctx;
    rig.result = result;
    rig.task = NULL;
    copy_text(rig.message, sizeof rig.message, message);
}

static res fetch_nothing(task *t, void *ctx)
{
    (void)t, (void)ctx;
    return RES_OK;
}

/* libuv opens some descriptors once and for good: before the first count, not between two. */
void rig_before(void)
{
    log_set_level(LOG_ERROR); /* tests may hold the loop; the warning about it is not their subject */
    (void)rig_run(fetch_nothing, NULL, 0);
    rig.fds = open_fds();
}

void rig_after(void)
{
    ck_assert_uint_eq(open_fds(), rig.fds);
}

res rig_run(task_fn *fn, void *ctx, uint64_t deadline_ms)
{
    rig.result = RES_COUNT;
    ck_assert_int_eq(loop_open(), RES_OK);
    task_spec spec = {.name = "test", .deadline_ms = deadline_ms};
    ck_assert_int_eq(task_start(&spec, fn, on_end, ctx, &rig.task), RES_OK);
    loop_run();
    fetch_shutdown();
    loop_close();
    ck_assert_int_ne(rig.result, RES_COUNT);
    return rig.result;
}

const char *rig_message(void)
{
    return rig.message;
}

task *rig_task(void)
{
    return rig.task;
}

rig_got rig_fetch_in(task *t, const fetch_request *in)
{
    rig_got      got = {0};
    fetch_answer a = {0};
    uint64_t     began_us = uv_hrtime() / 1000;
    got.result = fetch(t, in, &a);
    got.took_us = uv_hrtime() / 1000 - began_us;
    copy_text(got.message, sizeof got.message, task_message(t));
    if (got.result != RES_OK)
        return got;
    got.status = a.status;
    got.body_len = a.body.len;
    copy_text(got.body, sizeof got.body, a.body);
    copy_text(got.x_test, sizeof got.x_test, http_header_get(a.headers, a.header_count, STR("x-test")));
    got.header_count = a.header_count;
    got.reused = a.reused;
    got.retried = a.retried;
    return got;
}

typedef struct {
    fetch_request in;
    rig_got       got;
} one_fetch;

static res run_one(task *t, void *ctx)
{
    one_fetch *one = ctx;
    one->got = rig_fetch_in(t, &one->in);
    return RES_OK;
}

rig_got rig_fetch(fetch_request in)
{
    one_fetch one = {.in = in};
    ck_assert_int_eq(rig_run(run_one, &one, 0), RES_OK);
    return one.got;
}

rig_got rig_get(wire *w, const char *path)
{
    return rig_fetch((fetch_request){.method = STR("GET"), .url = str_of(wire_url(w, path))});
}
