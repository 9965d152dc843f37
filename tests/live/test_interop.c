/* test_interop.c -- what we write the official clients read, and the other way round.
 *
 * The other side is interop.js, which has the same values in its own words.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"
#include "support/process.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { LARGE_PARTS = 15, LARGE_BYTES = 65536, OTHER_LIMIT_MS = 90 * 1000, BLOCKS_BYTES = 33 * MIB };

static const char *const odd_keys[] = {
    "",
    " blanks ",
    "o'brien",
    "a+b",
    "c%d",
    "%2F",
    "\xc3\xbc\xf0\x9f\x98\x80",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "a&b=c",
    "a,b(c)",
    "\"<>|",
};

typedef struct {
    table     rows;
    container blobs;
    queue     messages;
} places;

static places all_places(const char *name)
{
    return (places){
        .rows = {.name = str_of(name)}, .blobs = {.name = str_of(name)}, .messages = {.name = str_of(name)}};
}

static entity typed(task *t, const char *partition)
{
    entity e = entity_new(t->arena, str_of(partition), STR("typed"));
    entity_set_str(&e, "text", STR("o'b \"\xc3\xbc\xf0\x9f\x98\x80\" \x01\n</x>"));
    entity_set_str(&e, "empty", STR(""));
    entity_set_int32(&e, "int32", -42);
    entity_set_int64(&e, "int64", INT64_MIN);
    entity_set_double(&e, "double", 3.0);
    entity_set_double(&e, "fraction", -2.5);
    entity_set_double(&e, "nan", NAN);
    entity_set_double(&e, "infinite", -INFINITY);
    entity_set_bool(&e, "yes", true);
    entity_set_ticks(&e, "time", INT64_C(17092100961234567));
    entity_set_guid(&e, "guid", STR("c9da6455-213d-42c9-9a79-3e9149a57833"));
    entity_set_binary(&e, "bytes", STR("\0\x01\xff\0"));
    return e;
}

/* Nearly a mebibyte: 15 properties of 64 KiB. */
static entity large(task *t, const char *partition)
{
    entity e = entity_new(t->arena, str_of(partition), STR("large"));
    for (int n = 0; n < LARGE_PARTS; n++) {
        char *part = arena_alloc(t->arena, LARGE_BYTES);
        memset(part, n + 1, LARGE_BYTES);
        entity_set_binary(&e, textf("part%d", n), (str){part, LARGE_BYTES});
    }
    return e;
}

/* ---- ours ---- */

static void write_rows(task *t, table in)
{
    entity      e = typed(t, "c"), big = large(t, "c");
    table_write batch[TABLES_BATCH_MAX];
    OK(tables_insert(t, in, &e));
    OK(tables_insert(t, in, &big));
    for (int n = 0; n < COUNT(odd_keys); n++) {
        entity odd = entity_new(t->arena, str_of(textf("c%s", odd_keys[n])), str_of(odd_keys[n]));
        entity_set_int32(&odd, "n", 7);
        OK(tables_insert(t, in, &odd));
    }
    for (int n = 0; n < TABLES_BATCH_MAX; n++) {
        entity *row = arena_one(t->arena, entity);
        *row = entity_new(t->arena, STR("cbatch"), arena_strf(t->arena, "%03d", n));
        entity_set_int32(row, "n", n);
        batch[n] = (table_write){.kind = WRITE_INSERT, .e = row};
    }
    OK(tables_commit(t, in, batch, TABLES_BATCH_MAX, NULL));
}

static res write_ours(task *t, void *ctx)
{
    static const http_header metadata[] = {{STR_INIT("owner"), STR_INIT("c side")},
                                           {STR_INIT("n"), STR_INIT("1")}};
    const places            *p = ctx;
    blob_put how = {.content_type = STR("text/plain"), .metadata = metadata, .metadata_count = 2};
    write_rows(t, p->rows);
    OK(blobs_put(t, p->blobs, STR("c/dir b/\xc3\xbc&.txt"), STR("from c"), &how, NULL));
    OK(blobs_put(t, p->blobs, STR("c/blocks"), live_noise(t->arena, BLOCKS_BYTES, 1), &(blob_put){0}, NULL));
    OK(blobs_append(t, p->blobs, STR("c/log"), STR("one\n"), 0, NULL));
    OK(blobs_append(t, p->blobs, STR("c/log"), STR("two\n"), 4, NULL));
    OK(queues_put(t, p->messages, STR("from c <&> \xc3\xbc"), 0, 0, NULL));
    return RES_OK;
}

/* ---- theirs ---- */

static void read_rows(task *t, table in)
{
    entity      want = typed(t, "js"), big = large(t, "js"), got;
    entity_page page;
    OK(tables_get(t, in, STR("js"), STR("typed"), &got));
    live_same(&want, &got);
    OK(tables_get(t, in, STR("js"), STR("large"), &got));
    live_same(&big, &got);
    for (int n = 0; n < COUNT(odd_keys); n++) {
        OK(tables_get(t, in, str_of(textf("js%s", odd_keys[n])), str_of(odd_keys[n]), &got));
        ck_assert_int_eq(entity_int(&got, "n", 0), 7);
    }
    const filter *batch = filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("jsbatch"));
    OK(tables_query(t, in, &(table_query){.where = batch}, &page));
    ck_assert_uint_eq(page.len, 100);
    for (int n = 0; n < 100; n++)
        ck_assert_int_eq(entity_int(&page.at[n], "n", -1), n);
    OK(tables_get(t, in, STR("c"), STR("typed"), &got)); /* merged by them, with an ETag of theirs */
    ck_assert(entity_bool(&got, "changed", false));
    ck_assert(entity_has(&got, "text"));
}

static res read_theirs(task *t, void *ctx)
{
    const places  *p = ctx;
    blob_got       got;
    queue_message *m;
    size_t         count;
    uint64_t       bytes;
    read_rows(t, p->rows);
    OK(blobs_get(t, p->blobs, STR("js/dir b/\xc3\xbc&.txt"), &(blob_get){0}, &got));
    ck_str_eq(got.body, STR("from js"));
    ck_str_eq(got.info.content_type, STR("text/x-js"));
    ck_str_eq(http_header_get(got.info.metadata, got.info.metadata_count, STR("owner")), STR("js side"));
    OK(blobs_get(t, p->blobs, STR("js/blocks"), &(blob_get){0}, &got));
    ck_assert_uint_eq(got.body.len, 3000);
    ck_assert(got.body.at[999] == 'a' && got.body.at[1000] == 'b' && got.body.at[2999] == 'c');
    OK(blobs_append(t, p->blobs, STR("js/log"), STR("two\n"), 4, &bytes));
    ck_assert_uint_eq(bytes, 8);
    OK(queues_receive(t, p->messages, 1, 30, &m, &count));
    ck_assert_uint_eq(count, 1);
    ck_str_eq(m[0].body, STR("from js <&> \xc3\xbc"));
    return RES_OK;
}

static void run_the_other_side(const char *name)
{
    const char *args[] = {
        "/usr/bin/env", "node", getenv("TRESTLE_INTEROP"), azurite_connection(live_azurite()), name, NULL};
    ck_assert_ptr_nonnull(args[2]);
    process *p = process_start(&(process_spec){.args = args});
    int      status = -1;
    ck_assert(process_wait(p, OTHER_LIMIT_MS, &status));
    ck_assert_msg(status == 0, "the official clients: %.*s", STR_ARG(process_err(p)));
}

START_TEST(the_official_clients_and_we_read_each_other)
{
    const char *name = live_name("io");
    places      p = all_places(name);
    live_run(write_ours, &p, LIVE_DEADLINE_MS);
    run_the_other_side(name);
    live_run(read_theirs, &p, LIVE_DEADLINE_MS);
}
END_TEST

static Suite *suite_interop(void)
{
    Suite *s = suite_create("interop");
    TCase *c = live_case("interop");
    tcase_add_test(c, the_official_clients_and_we_read_each_other);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {{"live_interop", suite_interop}};
    return live_azure_main(&(azurite_spec){.tls = false}, suites, 1, argc, argv);
}
