/* catalogue.c -- see catalogue.h. One lock guards all: the answers are made in the threads of the server.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/catalogue.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/canon.h"
#include "core/hash.h"
#include "core/json.h"
#include "support/process.h"
#include "support/scratch.h"
#include "support/wire.h"

enum { RECORDS_MAX = 8192, MEMORY = 1024 * MIB, BUSY_TRIES = 2 };

typedef struct {
    str      key; /* "owner/name" */
    str      text;
    unsigned tries, batch; /* batch: the one that it came in last */
} entry;

static struct {
    pthread_mutex_t   lock;
    arena            *a;
    wire             *w;
    catalogue_options o;
    entry             all[RECORDS_MAX];
    size_t            len;
    unsigned          batches, received;
    uint64_t          first_ms, second_ms;
} c = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- records ---- */

static entry *entry_of(str key)
{
    for (size_t i = 0; i < c.len; i++)
        if (str_eq(c.all[i].key, key))
            return &c.all[i];
    if (c.len == RECORDS_MAX)
        abort();
    c.all[c.len] = (entry){.key = arena_copy(c.a, key)};
    return &c.all[c.len++];
}

static str lower(str text)
{
    str   trimmed = str_trim(text);
    char *at = arena_alloc(c.a, trimmed.len + 1);
    for (size_t i = 0; i < trimmed.len; i++)
        at[i] = str_lower_char(trimmed.at[i]);
    return (str){at, trimmed.len};
}

static str key_of(str owner, str name)
{
    return arena_strf(c.a, "%.*s/%.*s", STR_ARG(lower(owner)), STR_ARG(lower(name)));
}

static void add_refusal(json *out, const char *status, const char *message, bool retryable)
{
    json_set_str(out, "status", str_of(status));
    json *error = json_set_object(out, "error");
    json_set_str(error, "errorCode", retryable ? STR("PERSISTENCE_FAILED") : STR("VALIDATION_FAILED"));
    json_set_str(error, "message", str_of(message));
    json_set_bool(error, "retryable", retryable);
}

/* True: it is in. */
static bool take_record(const json_val *v, json *out)
{
    str    owner = json_text(json_get(v, "owner"), (str){0}), name = json_text(json_get(v, "name"), (str){0});
    entry *e;
    c.received++;
    if (name.len == 0 || str_starts(name, STR("invalid"))) {
        add_refusal(out, "invalid", "Missing required field: name", false);
        return false;
    }
    e = entry_of(key_of(owner, name));
    e->batch = c.batches;
    if (str_starts(name, STR("never")) || (str_starts(name, STR("busy")) && e->tries++ < BUSY_TRIES)) {
        add_refusal(out, "failed", "the table is throttled", true);
        return false;
    }
    str text;
    if (canon_json(c.a, json_print_val(c.a, v), &text, NULL) != RES_OK)
        abort();
    bool had = e->text.at != NULL, same = had && str_eq(e->text, text);
    e->text = text;
    json_set_str(out, "status", same ? STR("unchanged") : had ? STR("updated") : STR("created"));
    return true;
}

/* ---- answers ---- */

static const char *answer_of(int status, str body)
{
    return arena_strf(c.a,
                      "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
                      status, body.len, STR_ARG(body))
        .at;
}

static bool has_poison(const json_val *records)
{
    for (json_iter it = json_each(records); json_next(&it);)
        if (str_starts(json_text(json_get(it.value, "name"), (str){0}), STR("poison")))
            return true;
    return false;
}

static const char *take_batch(str body)
{
    const json_val *records;
    if (json_parse(c.a, body, &records, NULL) != RES_OK || json_len(records) > 100 || has_poison(records))
        return answer_of(400, STR("{\"errorCode\":\"VALIDATION_FAILED\",\"message\":\"a poisoned batch\"}"));
    json *out = json_object(c.a), *results = json_set_array(out, "results");
    bool  all = true;
    for (json_iter it = json_each(records); json_next(&it);)
        all = take_record(it.value, json_push_object(results)) && all;
    return answer_of(all ? 200 : 207, json_print(c.a, out));
}

static const char *give_record(str path)
{
    str    key = str_slice(path, 0, str_find_char(path, ' '));
    entry *e = entry_of(key);
    if (e->text.at == NULL)
        return answer_of(404, STR("{\"error\":\"Action not found.\"}"));
    char          hex[SHA256_HEX + 1];
    sha256_digest d = hash_sha256(e->text);
    str           row = str_from(key, str_find_char(key, '/') + 1);
    return answer_of(200, arena_strf(c.a, "{\"_metadata\":{\"rowKey\":\"%.*s\",\"payloadHash\":\"%.*s\"}}",
                                     STR_ARG(row), STR_ARG(hash_hex(&d, hex))));
}

static bool has_key(const wire_request *r)
{
    return c.o.key == NULL || str_has(r->head, arena_strf(c.a, "x-functions-key: %s\r\n", c.o.key));
}

static void note_time(void)
{
    uint64_t now = process_now_ms();
    c.batches++;
    if (c.batches == 1)
        c.first_ms = now;
    else if (c.batches == 2)
        c.second_ms = now;
}

static void answer_locked(const wire_request *r, wire_answer *ret)
{
    str post = STR("POST /api/ActionsUpsert/batch HTTP"), get = STR("GET /api/actions/");
    note_time();
    if (c.o.dead_after > 0 && c.batches > c.o.dead_after) {
        ret->then = WIRE_RESET;
        return;
    }
    if (c.batches <= c.o.bad_requests) {
        ret->bytes = c.o.bad_day;
        ret->then = c.o.bad_closes ? WIRE_CLOSE : WIRE_KEEP;
    } else if (!has_key(r))
        ret->bytes = answer_of(401, STR(""));
    else if (str_starts(r->head, post))
        ret->bytes = take_batch(r->body);
    else if (str_starts(r->head, get))
        ret->bytes = give_record(str_from(r->head, get.len));
    else
        ret->bytes = answer_of(404, STR(""));
    if (c.o.slow_ms > 0 && c.batches >= c.o.slow_from)
        ret->delay_ms = c.o.slow_ms;
}

static void answer_one(void *ctx, const wire_request *r, wire_answer *ret)
{
    (void)ctx;
    (void)pthread_mutex_lock(&c.lock);
    answer_locked(r, ret);
    (void)pthread_mutex_unlock(&c.lock);
}

/* ---- for tests ---- */

void catalogue_start(const catalogue_options *o)
{
    (void)pthread_mutex_lock(&c.lock);
    c.o = *o;
    if (c.a == NULL)
        c.a = arena_new(MEMORY);
    c.batches = c.received = 0;
    (void)pthread_mutex_unlock(&c.lock);
    ck_assert_ptr_nonnull(c.a);
    if (c.w == NULL)
        c.w = wire_start_fn(answer_one, NULL, NULL);
}

void catalogue_stop(void)
{
    wire_stop(c.w);
    c.w = NULL;
}

const char *catalogue_url(void)
{
    return wire_url(c.w, "");
}

static int by_key(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return str_compare(a->key, b->key);
}

str catalogue_dump(void)
{
    buf out;
    buf_init(&out, scratch(), MEMORY);
    (void)pthread_mutex_lock(&c.lock);
    qsort(c.all, c.len, sizeof *c.all, by_key);
    for (size_t i = 0; i < c.len; i++)
        if (c.all[i].text.at != NULL)
            buf_addf(&out, "%.*s=%.*s\n", STR_ARG(c.all[i].key), STR_ARG(c.all[i].text));
    (void)pthread_mutex_unlock(&c.lock);
    return buf_str(&out);
}

void catalogue_clear(void)
{
    (void)pthread_mutex_lock(&c.lock);
    c.len = 0;
    c.batches = c.received = 0;
    (void)pthread_mutex_unlock(&c.lock);
}

unsigned catalogue_batches(void)
{
    return c.batches;
}

unsigned catalogue_received(void)
{
    return c.received;
}

uint64_t catalogue_gap_ms(void)
{
    return c.second_ms - c.first_ms;
}

bool catalogue_owner_split(void)
{
    for (size_t i = 0; i < c.len; i++)
        for (size_t k = 0; k < i; k++) {
            size_t slash = str_find_char(c.all[i].key, '/');
            if (str_eq(str_slice(c.all[i].key, 0, slash + 1), str_slice(c.all[k].key, 0, slash + 1)) &&
                c.all[i].batch != c.all[k].batch)
                return true;
        }
    return false;
}
