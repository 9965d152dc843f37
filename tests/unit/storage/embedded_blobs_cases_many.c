/* embedded_blobs_cases_many.c -- embedded blobs with many at once, with failing allocations and waits, and
 * after a restart.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/embedded_blobs_rig.h"

#define PLAIN (&(blob_put){.create_only = false})
#define WHOLE (&(blob_get){.ranged = false})

enum { RACERS = 20, APPENDERS = 40 };

typedef struct {
    engine  *e;
    unsigned won, lost;
} race;

static res put_first(task *t, size_t i, void *ctx)
{
    race     *r = ctx;
    blob_info info;
    str       body = arena_strf(t->arena, "%zu", i);
    res       got = B.put(r->e, t, files, STR("a"), body, &(blob_put){.create_only = true}, &info);
    r->won += got == RES_OK;
    r->lost += got == RES_CONFLICT;
    task_forget(t);
    return RES_OK;
}

STORE_TEST(of_twenty_that_create_a_blob_at_once_exactly_one_does)
{
    race r = {.e = e};
    blobs_rig_make(t, e);
    ck_assert_int_eq(par_each(t, RACERS, RACERS, put_first, &r), RES_OK);
    ck_assert_uint_eq(r.won, 1);
    ck_assert_uint_eq(r.lost, RACERS - 1);
    blobs_rig_no_leftovers(t, e);
}

static res append_line(task *t, size_t i, void *ctx)
{
    return B.append(((race *)ctx)->e, t, files, STR("log"), arena_strf(t->arena, "%03zu\n", i), UINT64_MAX,
                    NULL);
}

STORE_TEST(lines_appended_at_once_are_all_there_and_whole)
{
    race r = {.e = e};
    bool seen[APPENDERS] = {0};
    str  line;
    blobs_rig_make(t, e);
    ck_assert_int_eq(par_each(t, APPENDERS, APPENDERS, append_line, &r), RES_OK);
    str rest = blobs_rig_get(t, e, "log");
    ck_assert_uint_eq(rest.len, APPENDERS * 4);
    for (unsigned i = 0; i < APPENDERS; i++) {
        uint64_t n = APPENDERS;
        ck_assert(str_next_field(&rest, '\n', &line) && str_to_u64(line, &n) && n < APPENDERS && !seen[n]);
        seen[n] = true;
    }
}

enum { REWRITES = 60, ONE_LETTER = 2 * BLOB_PART_BYTES };

static res write_or_read(task *t, size_t i, void *ctx)
{
    race     *r = ctx;
    blob_info info;
    blob_got  got;
    if (i % 2 == 0) {
        char *all = arena_alloc(t->arena, ONE_LETTER);
        memset(all, (int)('A' + i % 26), ONE_LETTER);
        return B.put(r->e, t, files, STR("a"), (str){all, ONE_LETTER - i}, PLAIN, &info);
    }
    TRY(B.get(r->e, t, files, STR("a"), WHOLE, &got));
    ck_assert(memcmp(got.body.at, got.body.at + 1, got.body.len - 1) == 0); /* all the same letter */
    ck_assert_uint_eq(got.info.bytes, got.body.len);
    return RES_OK;
}

STORE_TEST(who_reads_while_others_write_sees_one_of_them_whole)
{
    race r = {.e = e};
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", STR("aaaa"));
    ck_assert_int_eq(par_each(t, REWRITES, 8, write_or_read, &r), RES_OK);
    blobs_rig_no_leftovers(t, e);
}

static res count_piece(task *t, str piece, void *ctx)
{
    (void)t;
    *(size_t *)ctx += piece.len;
    return RES_OK;
}

static res use_everything(task *t, engine *e)
{
    const http_header metadata[] = {{STR("owner"), STR("ann")}};
    blob_put          how = {.metadata = metadata, .metadata_count = 1};
    blob_info         info;
    blob_got          got;
    blob_page         page;
    name_page         names;
    uint64_t          end;
    size_t            total = 0;
    static char       large[BLOB_PART_BYTES + 9];
    res               r = B.create(e, t, files);
    if (r != RES_OK && r != RES_CONFLICT)
        return r;
    task_forget(t);
    TRY(B.list(e, t, STR(""), 5, STR(""), &names));
    TRY(B.put(e, t, files, STR("a"), (str){large, sizeof large}, &how, &info));
    TRY(B.put_block(e, t, files, STR("b"), STR("u"), 0, STR("one")));
    TRY(B.put_blocks(e, t, files, STR("b"), STR("u"), 1, &how, &info));
    TRY(B.append(e, t, files, STR("dir/c"), STR("line"), UINT64_MAX, &end));
    TRY(B.head(e, t, files, STR("b"), &info));
    TRY(B.get(e, t, files, STR("a"), WHOLE, &got));
    TRY(B.get_stream(e, t, files, STR("a"), WHOLE, count_piece, &total, &got));
    ck_assert_uint_eq(total, sizeof large);
    TRY(B.list_blobs(e, t, files, STR(""), '/', 5, STR(""), &page));
    ck_assert(page.len == 2 && page.prefix_count == 1);
    TRY(B.remove(e, t, files, STR("b"), STR("")));
    return B.drop(e, t, files);
}

START_TEST(every_failing_allocation_is_out_of_memory_and_the_store_goes_on)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 1000);
        res r = embedded_rig_try(use_everything, nth, 0, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
    }
    embedded_rig_run(blobs_rig_no_leftovers);
}
END_TEST

START_TEST(every_cancelled_wait_ends_the_call_and_the_store_goes_on)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 1000);
        res r = embedded_rig_try(use_everything, 0, nth, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_GONE);
    }
    embedded_rig_run(blobs_rig_no_leftovers);
}
END_TEST

static void put_one(task *t, engine *e)
{
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", STR("kept"));
}

static void find_one(task *t, engine *e)
{
    ck_assert(str_eq(blobs_rig_get(t, e, "a"), STR("kept")));
}

START_TEST(blobs_outlive_the_process)
{
    embedded_rig_run(put_one);
    embedded_rig_run(find_one);
}
END_TEST

TCase *embedded_blobs_cases_many(void)
{
    TCase *c = tcase_create("many");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, of_twenty_that_create_a_blob_at_once_exactly_one_does);
    tcase_add_test(c, lines_appended_at_once_are_all_there_and_whole);
    tcase_add_test(c, who_reads_while_others_write_sees_one_of_them_whole);
    tcase_add_test(c, every_failing_allocation_is_out_of_memory_and_the_store_goes_on);
    tcase_add_test(c, every_cancelled_wait_ends_the_call_and_the_store_goes_on);
    tcase_add_test(c, blobs_outlive_the_process);
    return c;
}
