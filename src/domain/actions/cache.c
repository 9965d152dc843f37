/* cache.c -- see cache.h.
 *
 *     actions:e:<owner>:<name>      server's run_id, then the text of the record     600 s
 *     actions:neg:<owner>:<name>    run_id: there is no such record                   60 s
 *     actions:lease:<owner>:<name>  32 hexadecimal digits, then run_id                10 s
 *
 * `actions` is the table's name. Readers that miss at the same time share the standing lease: what it says is
 * that nothing was dropped since, and that is as true for the second one.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/cache.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/metrics.h"
#include "domain/actions.h"
#include "domain/actions/cache_fence.h"
#include "domain/actions/settings.h"
#include "runtime/redis.h"

enum { LIMIT_MS = 50, DROP_MS = 250, COPY_S = 600, ABSENT_S = 60, LEASE_MS = 10 * 1000, KEYS_A_DROP = 100 };

static const str look_script =
    STR_INIT("local s = ARGV[1] "
             "local e = redis.call('GET', KEYS[1]) "
             "if e and string.sub(e, 1, #s) == s then return {'copy', string.sub(e, #s + 1)} end "
             "if redis.call('GET', KEYS[2]) == s then return {'absent', ''} end "
             "local l = redis.call('GET', KEYS[3]) "
             "if not l or string.sub(l, 33) ~= s then "
             "l = ARGV[2] .. s redis.call('SET', KEYS[3], l, 'PX', ARGV[3]) end "
             "return {'lease', string.sub(l, 1, 32)}");

static const str fill_script = STR_INIT(
    "if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) redis.call('DEL', KEYS[2], KEYS[3]) return 1");

static unsigned limit_ms = LIMIT_MS;

void cache_set_limit_for_test(unsigned ms)
{
    limit_ms = ms != 0 ? ms : LIMIT_MS;
}

static void tally(const char *name, const char *result, const char *help)
{
    char labels[48];
    (void)snprintf(labels, sizeof labels, "result=\"%s\"", result);
    metrics_add(metrics_counter(name, labels, help), 1);
}

static void count_look(const char *result)
{
    tally("trestle_actions_cache_total", result, "Looks for a record's copy in Redis");
}

/* NULL: there is no cache. The URL was checked at start. */
static redis *server(void)
{
    str    url = settings_get()->redis_url;
    redis *r;
    return url.len > 0 && redis_open(url, &r) == RES_OK ? r : NULL;
}

/* ---- keys ---- */

/* A colon in an owner must not read as the end of it. */
static str escaped(arena *a, str part)
{
    buf b;
    if (str_find_char(part, ':') == part.len && str_find_char(part, '%') == part.len)
        return part;
    buf_init(&b, a, 3 * part.len);
    for (size_t i = 0; i < part.len; i++) {
        if (part.at[i] == ':' || part.at[i] == '%')
            buf_addf(&b, "%%%02X", (unsigned)part.at[i]);
        else
            buf_add_char(&b, part.at[i]);
    }
    return buf_str(&b);
}

static str key_of(arena *a, const char *kind, str partition, str row)
{
    str name = settings_get()->records.name, owner = escaped(a, partition);
    return arena_strf(a, "%.*s:%s:%.*s:%.*s", STR_ARG(name), kind, STR_ARG(owner), STR_ARG(row));
}

static str decimal(arena *a, unsigned n)
{
    return arena_strf(a, "%u", n);
}

/* ---- calls ---- */

typedef struct {
    redis   *r;
    str      run; /* the server that the next command goes to, if it is sent before any wait */
    uint64_t until_us;
} link;

static unsigned left_ms(const link *l)
{
    uint64_t now = clock_mono_us();
    return l->until_us > now ? (unsigned)((l->until_us - now + 999) / 1000) : 1;
}

static res begin(task *t, link *l, unsigned ms)
{
    l->until_us = clock_mono_us() + (uint64_t)ms * 1000;
    TRY(redis_ready(t, l->r, ms));
    l->run = arena_copy(t->arena, redis_run_id(l->r));
    return l->run.len > 0 ? RES_OK
                          : task_fail(t, RES_UNSUPPORTED, "redis: the server does not tell its run_id");
}

static str text_at(const redis_reply *list, size_t i)
{
    return list->kind == REDIS_LIST && i < list->len && list->at[i].kind == REDIS_TEXT ? list->at[i].text
                                                                                       : (str){0};
}

/* ---- records ---- */

static cache_found read_look(const redis_reply *got, str *ret_text, cache_lease *ret_lease)
{
    str kind = text_at(got, 0), text = text_at(got, 1);
    if (str_eq(kind, STR("copy"))) {
        *ret_text = text;
        return CACHE_HIT;
    }
    if (str_eq(kind, STR("absent")))
        return CACHE_ABSENT;
    if (str_eq(kind, STR("lease")) && text.len == sizeof ret_lease->lease - 1)
        (void)snprintf(ret_lease->lease, sizeof ret_lease->lease, "%.*s", STR_ARG(text));
    return CACHE_MISS;
}

static void make_token(char out[CACHE_LEASE_BYTES])
{
    unsigned char random[(CACHE_LEASE_BYTES - 1) / 2];
    id_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", random[i]);
}

static res look(task *t, link *l, str partition, str row, redis_reply *ret)
{
    char token[CACHE_LEASE_BYTES];
    make_token(token);
    TRY(begin(t, l, limit_ms));
    const str args[] = {STR("EVAL"),
                        look_script,
                        STR("3"),
                        key_of(t->arena, "e", partition, row),
                        key_of(t->arena, "neg", partition, row),
                        key_of(t->arena, "lease", partition, row),
                        l->run,
                        str_of(token),
                        decimal(t->arena, LEASE_MS)};
    return redis_call(t, l->r, args, sizeof args / sizeof *args, left_ms(l), ret);
}

cache_found cache_get(task *t, str partition, str row, str *ret_text, cache_lease *ret_lease)
{
    static const char *const names[] = {"miss", "hit", "absent"};
    link                     l = {.r = server()};
    redis_reply              got;
    ret_lease->lease[0] = '\0';
    if (l.r == NULL)
        return CACHE_MISS;
    if (!fence_is_open(t)) {
        count_look("closed");
        return CACHE_MISS;
    }
    if (look(t, &l, partition, row, &got) != RES_OK) {
        task_forget(t);
        count_look("failed");
        return CACHE_MISS;
    }
    cache_found found = read_look(&got, ret_text, ret_lease);
    count_look(names[found]);
    return found;
}

/* The lease counts only for the run of the server that gave it: a restarted one may have it from an old dump.
 */
static void fill(task *t, const char *kind, str partition, str row, const cache_lease *lease, str text,
                 unsigned ttl_s)
{
    link        l = {.r = server()};
    bool        absent = kind[0] == 'n';
    redis_reply got = {0};
    if (l.r == NULL || lease->lease[0] == '\0' || text.len > CACHE_TEXT_MAX)
        return;
    res r = begin(t, &l, limit_ms);
    if (r == RES_OK) {
        const str args[] = {
            STR("EVAL"),
            fill_script,
            STR("3"),
            key_of(t->arena, kind, partition, row),
            key_of(t->arena, "lease", partition, row),
            key_of(t->arena, absent ? "e" : "neg", partition, row),
            arena_strf(t->arena, "%s%.*s", lease->lease, STR_ARG(l.run)),
            arena_strf(t->arena, "%.*s%.*s", STR_ARG(l.run), STR_ARG(text)),
            decimal(t->arena, ttl_s),
        };
        r = redis_call(t, l.r, args, sizeof args / sizeof *args, left_ms(&l), &got);
    }
    if (r != RES_OK)
        task_forget(t);
    tally("trestle_actions_cache_fills_total",
          r != RES_OK       ? "failed"
          : got.number == 1 ? "ok"
                            : "refused",
          "Copies of records put into Redis");
}

void cache_fill(task *t, str partition, str row, const cache_lease *lease, str text)
{
    fill(t, "e", partition, row, lease, text, COPY_S);
}

void cache_fill_absent(task *t, str partition, str row, const cache_lease *lease)
{
    fill(t, "neg", partition, row, lease, (str){0}, ABSENT_S);
}

/* ---- dropping ---- */

res cache_try_drop(task *t, const cache_key *keys, size_t count, unsigned timeout_ms)
{
    static const char *const kinds[] = {"e", "neg", "lease"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    redis *r = server();
    str   *args = arena_array(t->arena, str, 1 + KINDS * KEYS_A_DROP);
    for (size_t from = 0; r != NULL && from < count; from += KEYS_A_DROP) {
        size_t n = 0;
        args[n++] = STR("DEL");
        for (size_t i = from; i < count && i < from + KEYS_A_DROP; i++)
            for (size_t k = 0; k < KINDS; k++)
                args[n++] = key_of(t->arena, kinds[k], keys[i].partition, keys[i].row);
        TRY(redis_call(t, r, args, n, timeout_ms, NULL));
    }
    return RES_OK;
}

void cache_drop(task *t, const cache_key *keys, size_t count)
{
    if (server() == NULL || count == 0)
        return;
    res r = cache_try_drop(t, keys, count, limit_ms > DROP_MS ? limit_ms : DROP_MS);
    tally("trestle_actions_cache_drops_total", r == RES_OK ? "ok" : "failed",
          "Drops of copies in Redis before an answer");
    if (r == RES_OK)
        return;
    if (task_stopped(t) == RES_OK)
        task_forget(t);
    fence_close(t, keys, count);
}

/* ---- documents ---- */

static str document_key(arena *a, str key)
{
    str name = settings_get()->records.name;
    return arena_strf(a, "%.*s:%.*s", STR_ARG(name), STR_ARG(key));
}

bool cache_document_get(task *t, str key, str *ret_text)
{
    redis      *r = server();
    redis_reply got;
    if (r == NULL)
        return false;
    const str args[] = {STR("GET"), document_key(t->arena, key)};
    res       result = redis_call(t, r, args, 2, limit_ms, &got);
    if (result != RES_OK)
        task_forget(t);
    bool hit = result == RES_OK && got.kind == REDIS_TEXT;
    tally("trestle_actions_cache_documents_total",
          hit                ? "hit"
          : result == RES_OK ? "miss"
                             : "failed",
          "Looks for a derived document in Redis");
    if (hit)
        *ret_text = got.text;
    return hit;
}

void cache_document_put(task *t, str key, str text, unsigned ttl_s)
{
    redis *r = server();
    if (r == NULL || text.len > CACHE_TEXT_MAX)
        return;
    const str args[] = {STR("SET"), document_key(t->arena, key), text, STR("EX"), decimal(t->arena, ttl_s)};
    if (redis_call(t, r, args, sizeof args / sizeof *args, limit_ms, NULL) != RES_OK)
        task_forget(t); /* then it is made again next time */
}

/* ---- at start ---- */

res actions_check_settings(arena *a, str *ret_error)
{
    str url = settings_get()->redis_url;
    return url.len > 0 ? redis_check(a, url, ret_error) : RES_OK;
}
