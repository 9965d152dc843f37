/* store_bench.c -- speed and memory of one store, by the calls that handlers make.
 *
 *     store_bench KIND PLACE fill ROWS              partition pROWS of table bench gets ROWS rows
 *     store_bench KIND PLACE get WIDTH SECONDS ROWS point reads of random rows of that partition
 *     store_bench KIND PLACE one WIDTH SECONDS      point reads of the one row that a stand-in serves
 *     store_bench KIND PLACE put WIDTH SECONDS      upserts of single rows, each durable before the next
 *     store_bench KIND PLACE scan ROWS              all of that partition, row by row
 *
 * KIND is azure (PLACE: a connection string) or embedded (PLACE: a folder). WIDTH tasks work at once. It
 * prints one line of JSON: operations, wall and CPU seconds, connections opened, peak memory.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/metrics.h"
#include "runtime/fetch.h"
#include "runtime/loop.h"
#include "storage/tables.h"

enum { FILL_AT_ONCE = 8, PROGRAM_MEMORY = 64 * MIB, TASK_MEMORY = 64 * MIB };

static const table TABLE_BENCH = {STORE_MAIN, STR_INIT("bench")};
static const table TABLE_STAND_IN = {STORE_MAIN, STR_INIT("actions")};

typedef struct {
    const char *mode;
    unsigned    width, seconds;
    uint64_t    rows;
    uint64_t    until_us;
    uint64_t    operations;
    uint64_t    random;
    res         result;
    char        message[512];
} bench;

static uint64_t next_random(bench *b)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return b->random;
}

static str partition_of(arena *a, uint64_t rows)
{
    return arena_strf(a, "p%llu", (unsigned long long)rows);
}

static entity make_row(arena *a, str partition, uint64_t number)
{
    entity e = entity_new(a, partition, arena_strf(a, "r%09llu", (unsigned long long)number));
    entity_set_str(&e, "title", STR("a title of moderate length, as titles are"));
    entity_set_str(&e, "hash", STR("4b853531a9654ea5274efe8b582612443566ef5a5090bfb2ca55c1b0348e898a"));
    entity_set_int64(&e, "number", (int64_t)number);
    entity_set_bool(&e, "open", true);
    entity_set_time_us(&e, "created", clock_wall_us());
    return e;
}

/* ---- the modes: one operation each, in an arena that ends with it ---- */

static res get_one(task *t, void *ctx)
{
    (void)ctx;
    entity e;
    return tables_get(t, TABLE_STAND_IN, STR("o"), STR("n"), &e);
}

static res get_random(task *t, void *ctx)
{
    bench   *b = ctx;
    entity   e;
    uint64_t number = next_random(b) % b->rows;
    return tables_get(t, TABLE_BENCH, partition_of(t->arena, b->rows),
                      arena_strf(t->arena, "r%09llu", (unsigned long long)number), &e);
}

static res put_random(task *t, void *ctx)
{
    bench *b = ctx;
    entity e = make_row(t->arena, partition_of(t->arena, next_random(b) % 1000), next_random(b) % 1000);
    return tables_upsert_replace(t, TABLE_BENCH, &e);
}

static res fill_batch(task *t, void *ctx)
{
    bench       *b = ctx;
    uint64_t     from = b->operations;
    uint64_t     count = b->rows - from < TABLES_BATCH_MAX ? b->rows - from : TABLES_BATCH_MAX;
    table_write *writes = arena_array(t->arena, table_write, count);
    entity      *all = arena_array(t->arena, entity, count);
    b->operations += count;
    for (uint64_t i = 0; i < count; i++) {
        all[i] = make_row(t->arena, partition_of(t->arena, b->rows), from + i);
        writes[i] = (table_write){.kind = WRITE_UPSERT_REPLACE, .e = &all[i]};
    }
    return tables_commit(t, TABLE_BENCH, writes, count, NULL);
}

static res count_row(task *t, const entity *e, void *ctx)
{
    (void)t, (void)e;
    ((bench *)ctx)->operations++;
    return RES_OK;
}

/* ---- running ---- */

static res repeat(task *t, bench *b, task_scope_fn *one)
{
    while (clock_mono_us() < b->until_us) {
        TRY(task_scope(t, TASK_MEMORY, one, b));
        b->operations++;
    }
    return RES_OK;
}

static res work(task *t, size_t i, void *ctx)
{
    (void)i;
    bench *b = ctx;
    if (strcmp(b->mode, "one") == 0)
        return repeat(t, b, get_one);
    if (strcmp(b->mode, "get") == 0)
        return repeat(t, b, get_random);
    if (strcmp(b->mode, "put") == 0)
        return repeat(t, b, put_random);
    while (b->operations < b->rows)
        TRY(task_scope(t, TASK_MEMORY, fill_batch, b));
    return RES_OK;
}

static res run_all(task *t, void *ctx)
{
    bench *b = ctx;
    if (strcmp(b->mode, "one") != 0)
        TRY(tables_create(t, TABLE_BENCH));
    if (strcmp(b->mode, "scan") == 0) {
        table_query q = {
            .where = filter_str(t->arena, "PartitionKey", FILTER_EQ, partition_of(t->arena, b->rows))};
        return tables_each(t, TABLE_BENCH, &q, count_row, b);
    }
    return par_each(t, b->width, b->width, work, b);
}

static void on_end(task *t, void *ctx, res result, str message)
{
    (void)t;
    bench *b = ctx;
    b->result = result;
    (void)snprintf(b->message, sizeof b->message, "%.*s", STR_ARG(message));
    store_close();
    fetch_shutdown();
}

static double cpu_seconds(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u); /* fails only for a bad pointer */
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int run(arena *a, const store_options *o, bench *b)
{
    str error = {0};
    if (loop_open() != RES_OK || store_open(a, o, &error) != RES_OK) {
        fprintf(stderr, "store_bench: %.*s\n", STR_ARG(error));
        return EXIT_FAILURE;
    }
    task_spec spec = {.name = "bench", .memory_bytes = TASK_MEMORY};
    uint64_t  began_us = clock_mono_us();
    double    cpu = cpu_seconds();
    b->until_us = began_us + (uint64_t)b->seconds * 1000000;
    b->random = began_us | 1;
    if (task_start(&spec, run_all, on_end, b, NULL) != RES_OK)
        return EXIT_FAILURE;
    loop_run();
    if (b->result != RES_OK) {
        fprintf(stderr, "store_bench: %s: %s\n", res_name(b->result), b->message);
        return EXIT_FAILURE;
    }
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    metric *opened = metrics_counter("trestle_fetch_connections_opened_total", "", "");
    printf("{\"operations\":%llu,\"seconds\":%.6f,\"cpu\":%.6f,\"connections\":%lld,\"peak_mb\":%.1f}\n",
           (unsigned long long)b->operations, (double)(clock_mono_us() - began_us) / 1e6, cpu_seconds() - cpu,
           (long long)metrics_value(opened), (double)u.ru_maxrss / 1024);
    loop_close();
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: store_bench azure|embedded PLACE fill|get|one|put|scan NUMBER…\n");
        return 2;
    }
    bool          embedded = strcmp(argv[1], "embedded") == 0;
    str           place = str_of(argv[2]);
    store_options o = {.kind = embedded ? STORE_EMBEDDED : STORE_AZURE, .data_dir = argv[2]};
    if (!embedded)
        o.tables = o.blobs = o.queues = place;
    bench b = {.mode = argv[3], .width = FILL_AT_ONCE};
    if (strcmp(b.mode, "fill") == 0 || strcmp(b.mode, "scan") == 0) {
        b.rows = strtoull(argv[4], NULL, 10);
    } else {
        b.width = (unsigned)strtoul(argv[4], NULL, 10);
        b.seconds = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 3;
        b.rows = argc > 6 ? strtoull(argv[6], NULL, 10) : 1000;
    }
    log_set_level(LOG_ERROR);
    arena *a = arena_new(PROGRAM_MEMORY);
    int    code = a != NULL ? run(a, &o, &b) : EXIT_FAILURE;
    arena_free(a);
    return code;
}
