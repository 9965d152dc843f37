/* facade_cases_blobs.c -- what is refused before any back end hears of it, and what reaches it: blobs.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/id.h"
#include "unit/storage/facade_rig.h"

#define FILES ((container){.name = STR("files")})
#define CALL  FACADE_CALL

static res make_container(task *t, str name)
{
    return blobs_create_container(t, (container){.name = name});
}

static res put_how(task *t, blob_put how)
{
    return blobs_put(t, FILES, STR("name"), STR("body"), &how, NULL);
}

static res put_named(task *t, str name)
{
    return blobs_put(t, FILES, name, STR("body"), NULL, NULL);
}

static res put_meta(task *t, const char *name, str value)
{
    http_header one[] = {{str_of(name), value}};
    return put_how(t, (blob_put){.metadata = one, .metadata_count = 1});
}

static res put_meta_twice(task *t)
{
    http_header two[] = {{STR("a"), STR("1")}, {STR("a"), STR("2")}};
    return put_how(t, (blob_put){.metadata = two, .metadata_count = 2});
}

static res put_meta_many(task *t, size_t count)
{
    http_header *many = arena_array(t->arena, http_header, count);
    for (size_t i = 0; i < count; i++)
        many[i] = (http_header){arena_strf(t->arena, "m%zu", i), STR("v")};
    return put_how(t, (blob_put){.metadata = many, .metadata_count = count});
}

static res get_how(task *t, blob_get how)
{
    blob_got got;
    return blobs_get(t, FILES, STR("name"), &how, &got);
}

static res list_how(task *t, str prefix, char delimiter, unsigned most)
{
    blob_page page;
    return blobs_list(t, FILES, prefix, delimiter, most, STR(""), &page);
}

CALL(container_short, make_container(t, STR("ab")))
CALL(container_good, make_container(t, STR("a-1-b")))
CALL(container_upper, make_container(t, STR("Files")))
CALL(container_double_dash, make_container(t, STR("a--b")))
CALL(container_outer_dash, make_container(t, STR("ab-")))
CALL(container_63, make_container(t, facade_repeat(t, 'a', 63)))
CALL(container_64, make_container(t, facade_repeat(t, 'a', 64)))
CALL(name_empty, put_named(t, STR("")))
CALL(name_good, put_named(t, STR("dir/b c/\u00FC&<.txt")))
CALL(name_1024, put_named(t, facade_repeat(t, 'x', 1024)))
CALL(name_1025, put_named(t, facade_repeat(t, 'x', 1025)))
CALL(name_control, put_named(t, STR("a\nb")))
CALL(name_no_utf8, put_named(t, STR("a\xFF")))
CALL(meta_good, put_meta(t, "owner_1", STR("Ann B.")))
CALL(meta_upper, put_meta(t, "Owner", STR("x")))
CALL(meta_dash, put_meta(t, "a-b", STR("x")))
CALL(meta_digit, put_meta(t, "1a", STR("x")))
CALL(meta_line, put_meta(t, "a", STR("x\r\nX-Evil: 1")))
CALL(meta_blank, put_meta(t, "a", STR(" x")))
CALL(meta_utf8, put_meta(t, "a", STR("\u00FC")))
CALL(meta_large, put_meta(t, "a", facade_repeat(t, 'x', 8 * KIB)))
CALL(meta_twice, put_meta_twice(t))
CALL(meta_64, put_meta_many(t, 64))
CALL(meta_65, put_meta_many(t, 65))
CALL(type_line, put_how(t, (blob_put){.content_type = STR("text/plain\r\nX: 1")}))
CALL(new_with_etag, put_how(t, (blob_put){.create_only = true, .if_match = STR("\"1\"")}))
CALL(etag_line, blobs_remove(t, FILES, STR("name"), STR("\"\n\"")))
CALL(remove_any, blobs_remove(t, FILES, STR("name"), STR("")))
CALL(get_plain, get_how(t, (blob_get){0}))
CALL(range_empty, get_how(t, (blob_get){.ranged = true, .from = 3}))
CALL(range_endless, get_how(t, (blob_get){.ranged = true, .from = 3, .count = UINT64_MAX}))
CALL(list_good, list_how(t, STR("dir/"), '/', 5000))
CALL(list_many, list_how(t, STR(""), 0, 5001))
CALL(list_none, list_how(t, STR(""), 0, 0))
CALL(list_prefix, list_how(t, STR("\x01"), 0, 10))
CALL(list_delimiter, list_how(t, STR(""), ' ', 10))
CALL(append_nothing, blobs_append(t, FILES, STR("log"), STR(""), 0, NULL))
CALL(append_most, blobs_append(t, FILES, STR("log"), facade_repeat(t, 'x', BLOBS_APPEND_MAX), 0, NULL))
CALL(append_more, blobs_append(t, FILES, STR("log"), facade_repeat(t, 'x', BLOBS_APPEND_MAX + 1), 0, NULL))

static const facade_trial calls[] = {
    {container_short, RES_INVALID, "container 'ab'"},
    {container_good, RES_OK, NULL},
    {container_upper, RES_INVALID, "a-z"},
    {container_double_dash, RES_INVALID, "dashes"},
    {container_outer_dash, RES_INVALID, "dashes"},
    {container_63, RES_OK, NULL},
    {container_64, RES_INVALID, "63"},
    {name_empty, RES_INVALID, "empty"},
    {name_good, RES_OK, NULL},
    {name_1024, RES_OK, NULL},
    {name_1025, RES_INVALID, "1024"},
    {name_control, RES_INVALID, "control"},
    {name_no_utf8, RES_INVALID, "UTF-8"},
    {meta_good, RES_OK, NULL},
    {meta_upper, RES_INVALID, "'Owner'"},
    {meta_dash, RES_INVALID, "'a-b'"},
    {meta_digit, RES_INVALID, "'1a'"},
    {meta_line, RES_INVALID, "ASCII"},
    {meta_blank, RES_INVALID, "blanks"},
    {meta_utf8, RES_INVALID, "ASCII"},
    {meta_large, RES_TOO_LARGE, "8192"},
    {meta_twice, RES_INVALID, "twice"},
    {meta_64, RES_OK, NULL},
    {meta_65, RES_TOO_LARGE, "64"},
    {type_line, RES_INVALID, "content type"},
    {new_with_etag, RES_INVALID, "ETag"},
    {etag_line, RES_INVALID, "ETag"},
    {remove_any, RES_OK, NULL},
    {get_plain, RES_OK, NULL},
    {range_empty, RES_INVALID, "range"},
    {range_endless, RES_INVALID, "range"},
    {list_good, RES_OK, NULL},
    {list_many, RES_INVALID, "5000"},
    {list_none, RES_INVALID, "5000"},
    {list_prefix, RES_INVALID, "prefix"},
    {list_delimiter, RES_INVALID, "delimiter"},
    {append_nothing, RES_INVALID, "append"},
    {append_most, RES_OK, NULL},
    {append_more, RES_TOO_LARGE, "4194304"},
};

START_TEST(a_call_of_blobs_is_sent_or_refused)
{
    facade_try(&calls[_i]);
}
END_TEST

START_TEST(a_blob_that_is_got_has_a_limit_also_when_none_is_said)
{
    facade_try(&(facade_trial){get_plain, RES_OK, NULL});
    ck_assert_uint_eq(facade_saw.bytes, 32 * MIB);
}
END_TEST

/* ---- large ones ---- */

typedef struct {
    char  *bytes;
    size_t len;
} large;

static res put_large(task *t, void *ctx)
{
    const large *l = ctx;
    return blobs_put(t, FILES, STR("large"), (str){l->bytes, l->len}, NULL, NULL);
}

static void run_large(size_t len)
{
    large l = {.bytes = calloc(1, len), .len = len};
    ck_assert_ptr_nonnull(l.bytes);
    ck_assert_int_eq(storage_rig_run(put_large, &l, 0), RES_OK);
    ck_assert_uint_eq(facade_saw.bytes, len);
    free(l.bytes);
}

START_TEST(a_blob_of_32_mib_is_put_at_once)
{
    run_large(BLOBS_SINGLE_MAX);
    ck_assert_uint_eq(facade_saw.puts, 1);
    ck_assert_uint_eq(facade_saw.blocks, 0);
}
END_TEST

START_TEST(a_larger_one_is_put_in_blocks_four_at_a_time)
{
    run_large(6 * (size_t)BLOBS_BLOCK + 1);
    ck_assert_uint_eq(facade_saw.puts, 0);
    ck_assert_uint_eq(facade_saw.blocks, 7);
    ck_assert_uint_eq(facade_saw.at_once_most, 4);
    ck_assert(id_is_uuid(str_of(facade_saw.upload)));
}
END_TEST

/* ---- streams ---- */

typedef struct {
    const char *piece;
    size_t      piece_len, left;
    unsigned    fail_after; /* pieces; 0: never */
} source;

static res next_piece(task *t, void *ctx, str *ret)
{
    source *s = ctx;
    size_t  len = s->left < s->piece_len ? s->left : s->piece_len;
    if (s->fail_after > 0 && --s->fail_after == 0)
        return task_fail(t, RES_UPSTREAM, "the source dried up");
    s->left -= len;
    *ret = (str){s->piece, len};
    return RES_OK;
}

static res put_stream(task *t, void *ctx)
{
    return blobs_put_stream(t, FILES, STR("stream"), next_piece, ctx, NULL, NULL);
}

static const struct {
    size_t   piece, total;
    unsigned blocks; /* 0: put at once */
} streams[] = {
    {100, 0, 0},
    {100, 250, 0},
    {BLOBS_BLOCK, BLOBS_BLOCK, 0},
    {BLOBS_BLOCK, BLOBS_BLOCK + 1, 2},
    {3 * MIB, 20 * MIB, 3},
    {2 * BLOBS_BLOCK, 2 * BLOBS_BLOCK, 2},
};

START_TEST(a_stream_is_collected_into_blocks)
{
    char  *bytes = calloc(1, streams[_i].piece);
    source s = {.piece = bytes, .piece_len = streams[_i].piece, .left = streams[_i].total};
    ck_assert_int_eq(storage_rig_run(put_stream, &s, 0), RES_OK);
    free(bytes);
    ck_assert_uint_eq(facade_saw.bytes, streams[_i].total);
    ck_assert_uint_eq(facade_saw.blocks, streams[_i].blocks);
    ck_assert_uint_eq(facade_saw.puts, streams[_i].blocks == 0 ? 1 : 0);
}
END_TEST

START_TEST(a_stream_that_breaks_off_leaves_no_blob)
{
    char  *bytes = calloc(1, 3 * MIB);
    source s = {.piece = bytes, .piece_len = 3 * MIB, .left = 20 * MIB, .fail_after = 5};
    ck_assert_int_eq(storage_rig_run(put_stream, &s, 0), RES_UPSTREAM);
    free(bytes);
    ck_assert_str_eq(storage_rig_message(), "the source dried up");
    ck_assert_uint_eq(facade_saw.blocks, 0);
    ck_assert_uint_eq(facade_saw.puts, 0);
}
END_TEST

TCase *facade_cases_blobs(void)
{
    TCase *c = tcase_create("blobs");
    tcase_add_checked_fixture(c, facade_before, facade_after);
    tcase_add_loop_test(c, a_call_of_blobs_is_sent_or_refused, 0, sizeof calls / sizeof *calls);
    tcase_add_test(c, a_blob_that_is_got_has_a_limit_also_when_none_is_said);
    tcase_add_test(c, a_blob_of_32_mib_is_put_at_once);
    tcase_add_test(c, a_larger_one_is_put_in_blocks_four_at_a_time);
    tcase_add_loop_test(c, a_stream_is_collected_into_blocks, 0, sizeof streams / sizeof *streams);
    tcase_add_test(c, a_stream_that_breaks_off_leaves_no_blob);
    return c;
}
