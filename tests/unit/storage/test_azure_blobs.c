/* test_azure_blobs.c -- containers and the writing of blobs against a scripted blob service: what is sent,
 * what an answer means, and what becomes of a write whose reply is lost. Reading, appending and listing have
 * files of their own beside this one.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/azure_blobs_rig.h"
#include "unit/suites.h"

#define UPLOAD     "c0ffee00-1111-4222-8333-444455556666"
#define ID_0       "YzBmZmVlMDAwMDAwMDAwMA==" /* "c0ffee00" "00000000" */
#define ID_1       "YzBmZmVlMDAwMDAwMDAwMQ=="
#define ID_2       "YzBmZmVlMDAwMDAwMDAwMg=="
#define LATEST(id) "<Latest>" id "</Latest>"

#define EXISTS       BLOBS_ENDS(BLOBS_FAILURE("409", "BlobAlreadyExists"))
#define CHANGED      BLOBS_ENDS(BLOBS_FAILURE("412", "ConditionNotMet"))
#define MISSING      BLOBS_ENDS(BLOBS_FAILURE("404", "BlobNotFound"))
#define NO_CONTAINER BLOBS_ENDS(BLOBS_FAILURE("404", "ContainerNotFound"))
#define HEAD_404     BLOBS_ENDS(BLOBS_REFUSED("404", "BlobNotFound"))
#define WRITTEN      BLOBS_ENDS(BLOBS_WRITTEN)
#define REMOVED      BLOBS_ENDS(BLOBS_HEAD("202", ""))
#define STAT(etag) \
    BLOBS_ENDS("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\nETag: " etag "\r\n\r\n")

static const http_header metadata[] = {{STR_INIT("team"), STR_INIT("red")},
                                       {STR_INIT("n_2"), STR_INIT("a b")}};

/* ---- what is sent ---- */

typedef struct {
    blob_put    how;
    bool        in_blocks;
    const char *line, *body, *type;
    const char *has[4], *lacks[4];
} put_row;

/* STORE-35, 37, 38 (the client's half): the shapes. */
static const put_row shapes[] = {
    {{.content_type = STR_INIT("text/plain"), .metadata = metadata, .metadata_count = 2},
     false,
     "PUT " BLOBS_PATH " HTTP/1.1",
     "hello",
     "text/plain",
     {"x-ms-blob-type: BlockBlob", "Content-Type: text/plain", "x-ms-meta-team: red", "x-ms-meta-n_2: a b"},
     {"If-Match", "If-None-Match"}},
    {{.create_only = true},
     false,
     "PUT " BLOBS_PATH " HTTP/1.1",
     "hello",
     "application/octet-stream",
     {"If-None-Match: *", "Content-Type: application/octet-stream"},
     {"If-Match", "x-ms-meta-"}},
    {{.if_match = STR_INIT(BLOBS_ETAG)},
     false,
     "PUT " BLOBS_PATH " HTTP/1.1",
     "hello",
     "application/octet-stream",
     {"If-Match: " BLOBS_ETAG},
     {"If-None-Match"}},
    {{.content_type = STR_INIT("text/plain"), .metadata = metadata, .metadata_count = 2},
     true,
     "PUT " BLOBS_PATH "?comp=blocklist HTTP/1.1",
     "<BlockList>" LATEST(ID_0) LATEST(ID_1) LATEST(ID_2) "</BlockList>",
     "text/plain",
     {"x-ms-blob-content-type: text/plain", "Content-Type: application/xml", "x-ms-meta-team: red"},
     {"If-Match", "If-None-Match", "x-ms-blob-type"}},
    {{.create_only = true},
     true,
     "PUT " BLOBS_PATH "?comp=blocklist HTTP/1.1",
     "<BlockList>" LATEST(ID_0) LATEST(ID_1) LATEST(ID_2) "</BlockList>",
     "application/octet-stream",
     {"x-ms-blob-content-type: application/octet-stream", "If-None-Match: *"},
     {"If-Match"}},
};

static res put_it(task *t, blobs_rig *r, bool in_blocks, const blob_put *how, blob_info *ret)
{
    if (in_blocks)
        return azure_blobs.put_blocks(r->e, t, STR("con"), STR(BLOBS_NAME), STR(UPLOAD), 3, how, ret);
    return azure_blobs.put(r->e, t, STR("con"), STR(BLOBS_NAME), STR("hello"), how, ret);
}

static res put_shape(task *t, void *ctx)
{
    blobs_rig     *r = ctx;
    const put_row *row = r->row;
    blob_info      info;
    TRY(put_it(t, r, row->in_blocks, &row->how, &info));
    ck_assert(str_eq(info.etag, STR(BLOBS_ETAG)));
    ck_assert(str_eq(info.content_type, str_of(row->type)));
    ck_assert_int_eq(info.modified_us / 1000000, BLOBS_DATE_S);
    ck_assert_uint_eq(info.bytes, row->in_blocks ? 7 : 5);
    ck_assert_uint_eq(info.metadata_count, row->how.metadata_count);
    return RES_OK;
}

START_TEST(a_blob_is_sent_as_its_caller_demands)
{
    const put_row *row = &shapes[_i];
    blobs_rig      r = blobs_rig_start((wire_answer[]){WRITTEN, STAT(BLOBS_ETAG)}, 2);
    r.row = row;
    ck_assert_int_eq(blobs_rig_run(&r, put_shape), RES_OK);
    ck_assert_uint_eq(wire_requests(r.w), row->in_blocks ? 2 : 1);
    ck_assert_str_eq(blobs_rig_line(&r, 0), row->line);
    ck_assert_str_eq(blobs_rig_body(&r, 0), row->body);
    ck_assert(wire_has_header(r.w, 0, "x-ms-version: 2021-12-02"));
    blobs_rig_check(&r, 0, row->has, row->lacks, 4);
    blobs_rig_stop(&r);
}
END_TEST

/* Lengths are asked for after a commit; when that cannot be told, the commit has succeeded all the same. */
static const wire_answer unknown_lengths[] = {
    STAT("\"another\""),
    HEAD_404,
    BLOBS_ENDS("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"),
    BLOBS_ENDS(BLOBS_REFUSED("403", "AuthorizationFailure")),
};

static res commit_blocks(task *t, void *ctx)
{
    blob_put  how = {0};
    blob_info info;
    TRY(put_it(t, ctx, true, &how, &info));
    ck_assert(str_eq(info.etag, STR(BLOBS_ETAG)));
    ck_assert_uint_eq(info.bytes, 0);
    ck_assert_uint_eq(task_message(t).len, 0);
    return RES_OK;
}

START_TEST(a_commit_succeeds_although_its_length_cannot_be_learned)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){WRITTEN, unknown_lengths[_i]}, 2);
    ck_assert_int_eq(blobs_rig_run(&r, commit_blocks), RES_OK);
    ck_assert(str_starts(wire_request_at(r.w, 1).head, STR("HEAD " BLOBS_PATH " ")));
    blobs_rig_stop(&r);
}
END_TEST

/* ---- blocks ---- */

static res put_two_blocks(task *t, void *ctx)
{
    blobs_rig *r = ctx;
    TRY(azure_blobs.put_block(r->e, t, STR("con"), STR(BLOBS_NAME), STR(UPLOAD), 2, STR("two")));
    return azure_blobs.put_block(r->e, t, STR("con"), STR(BLOBS_NAME), STR(UPLOAD), 49999, STR("last"));
}

/* STORE-38: ids of one length, whatever the number; those of the list are these. */
START_TEST(blocks_have_ids_of_one_length)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){WRITTEN}, 1);
    ck_assert_int_eq(blobs_rig_run(&r, put_two_blocks), RES_OK);
    ck_assert_str_eq(blobs_rig_line(&r, 0),
                     "PUT " BLOBS_PATH "?comp=block&blockid=YzBmZmVlMDAwMDAwMDAwMg%3D%3D HTTP/1.1");
    ck_assert_str_eq(blobs_rig_line(&r, 1),
                     "PUT " BLOBS_PATH "?comp=block&blockid=YzBmZmVlMDAwMDA0OTk5OQ%3D%3D HTTP/1.1");
    ck_assert_str_eq(blobs_rig_body(&r, 0), "two");
    ck_assert(wire_has_header(r.w, 0, "Content-Type: application/octet-stream"));
    blobs_rig_stop(&r);
}
END_TEST

/* ---- what an answer means ---- */

typedef struct {
    blob_put    how;
    bool        in_blocks;
    wire_answer answers[3];
    size_t      requests;
    res         want;
} outcome_row;

#define CREATE              \
    {                       \
        .create_only = true \
    }
#define MATCH                           \
    {                                   \
        .if_match = STR_INIT("\"old\"") \
    }
#define ANY                       \
    {                             \
        .if_match = STR_INIT("*") \
    }
#define PLAIN                \
    {                        \
        .create_only = false \
    }

/* STORE-35, 38 and spec 8.4. */
static const outcome_row outcomes[] = {
    {CREATE, false, {EXISTS}, 1, RES_CONFLICT},
    {CREATE, false, {CHANGED}, 1, RES_CONFLICT},
    {CREATE, true, {EXISTS}, 1, RES_CONFLICT},
    {CREATE, false, {NO_CONTAINER}, 1, RES_UNPROVISIONED},
    {MATCH, false, {CHANGED}, 1, RES_PRECONDITION},
    {MATCH, false, {MISSING}, 1, RES_PRECONDITION},
    {MATCH, true, {CHANGED}, 1, RES_PRECONDITION},
    {MATCH, false, {NO_CONTAINER}, 1, RES_UNPROVISIONED},
    {PLAIN, false, {NO_CONTAINER}, 1, RES_UNPROVISIONED},
    {PLAIN, false, {BLOBS_ENDS(BLOBS_FAILURE("409", "InvalidBlobType"))}, 1, RES_CONFLICT},
    {PLAIN, false, {BLOBS_ENDS(BLOBS_FAILURE("413", "RequestBodyTooLarge"))}, 1, RES_TOO_LARGE},
    {PLAIN, false, {BLOBS_ENDS(BLOBS_HEAD("400", ""))}, 1, RES_INVALID},
    {PLAIN, true, {BLOBS_ENDS(BLOBS_FAILURE("400", "InvalidBlockList"))}, 1, RES_INVALID},
    {PLAIN, false, {BLOBS_ENDS(BLOBS_FAILURE("403", "AuthorizationFailure"))}, 1, RES_CONFIG},
    {PLAIN, false, {BLOBS_ENDS(BLOBS_HEAD("201", ""))}, 1, RES_UPSTREAM}, /* no ETag */
    /* A reply was lost: who asked for a condition cannot be told, who did not need not know. */
    {PLAIN, false, {BLOBS_LOST, WRITTEN}, 2, RES_OK},
    {CREATE, false, {BLOBS_LOST, WRITTEN}, 2, RES_OK},
    {CREATE, false, {BLOBS_LOST, EXISTS}, 2, RES_UPSTREAM},
    {CREATE, true, {BLOBS_LOST, EXISTS}, 2, RES_UPSTREAM},
    {MATCH, false, {BLOBS_LOST, CHANGED}, 2, RES_UPSTREAM},
    {MATCH, true, {BLOBS_LOST, CHANGED}, 2, RES_UPSTREAM},
    {MATCH, false, {BLOBS_LOST, NO_CONTAINER}, 2, RES_UNPROVISIONED},
    /* If-Match: * is an ETag that is looked up. */
    {ANY, false, {HEAD_404}, 1, RES_PRECONDITION},
    {ANY, true, {HEAD_404}, 1, RES_PRECONDITION},
    {ANY, false, {BLOBS_ENDS(BLOBS_REFUSED("404", "ContainerNotFound"))}, 1, RES_UNPROVISIONED},
    {ANY, false, {STAT("\"e\""), WRITTEN}, 2, RES_OK},
    {ANY, false, {STAT("\"e\""), CHANGED, HEAD_404}, 3, RES_PRECONDITION},
    {ANY, false, {STAT("\"e\""), MISSING, HEAD_404}, 3, RES_PRECONDITION}, /* removed between the two */
    {ANY, false, {BLOBS_ENDS(BLOBS_HEAD("200", ""))}, 1, RES_UPSTREAM}, /* no ETag: never without condition */
};

static res put_outcome(task *t, void *ctx)
{
    const outcome_row *row = ((blobs_rig *)ctx)->row;
    blob_info          info = {.bytes = 77};
    res                result = put_it(t, ctx, row->in_blocks, &row->how, &info);
    ck_assert_uint_eq(info.bytes == 77, result != RES_OK);
    return result;
}

START_TEST(a_put_ends_as_the_answer_and_its_condition_say)
{
    const outcome_row *row = &outcomes[_i];
    blobs_rig          r = blobs_rig_start(row->answers, 3);
    r.row = row;
    ck_assert_msg(blobs_rig_run(&r, put_outcome) == row->want, "%s %s", res_name(r.result), r.message);
    ck_assert_uint_eq(wire_requests(r.w), row->requests);
    if (row->want != RES_OK)
        ck_assert_msg(str_starts(str_of(r.message), STR("blobs_")), "%s", r.message);
    if (row->want == RES_UPSTREAM && row->requests == 2)
        ck_assert_msg(strstr(r.message, "what became of it cannot be told") != NULL, "%s", r.message);
    for (size_t i = 0; i < row->requests; i++)
        ck_assert(!str_has(wire_request_at(r.w, i).head, STR("If-Match: *")));
    blobs_rig_stop(&r);
}
END_TEST

static res put_over_any(task *t, void *ctx)
{
    blob_put  how = ANY;
    blob_info info;
    return put_it(t, ctx, false, &how, &info);
}

START_TEST(a_put_over_whatever_is_there_follows_a_blob_that_others_change)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){STAT("\"1\""), CHANGED, STAT("\"2\""), WRITTEN}, 4);
    ck_assert_int_eq(blobs_rig_run(&r, put_over_any), RES_OK);
    ck_assert(wire_has_header(r.w, 1, "If-Match: \"1\""));
    ck_assert(wire_has_header(r.w, 3, "If-Match: \"2\""));
    ck_assert_str_eq(r.message, "");
    blobs_rig_stop(&r);
}
END_TEST

static res put_with_own_metadata(task *t, void *ctx)
{
    char        value[] = "red";
    http_header own[] = {{STR("team"), {value, 3}}};
    blob_put    how = {.metadata = own, .metadata_count = 1};
    blob_info   info;
    TRY(put_it(t, ctx, false, &how, &info));
    value[0] = 'x';
    own[0].name = STR("gone");
    ck_assert_uint_eq(info.metadata_count, 1);
    ck_assert(str_eq(info.metadata[0].name, STR("team")));
    ck_assert(str_eq(info.metadata[0].value, STR("red")));
    return RES_OK;
}

START_TEST(the_state_after_a_put_does_not_look_into_what_the_caller_gave)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){WRITTEN}, 1);
    ck_assert_int_eq(blobs_rig_run(&r, put_with_own_metadata), RES_OK);
    blobs_rig_stop(&r);
}
END_TEST

static void always_changed(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    *ret = str_starts(q->head, STR("HEAD")) ? (wire_answer)STAT("\"e\"") : (wire_answer)CHANGED;
}

START_TEST(a_put_over_whatever_is_there_gives_up_in_the_end)
{
    blobs_rig r = blobs_rig_start_fn(always_changed, NULL);
    ck_assert_int_eq(blobs_rig_run(&r, put_over_any), RES_PRECONDITION);
    ck_assert_uint_eq(wire_requests(r.w), 16);
    blobs_rig_stop(&r);
}
END_TEST

/* ---- containers and removal ---- */

static res create_container(task *t, void *ctx)
{
    return azure_blobs.create(((blobs_rig *)ctx)->e, t, STR("con"));
}

static res drop_container(task *t, void *ctx)
{
    return azure_blobs.drop(((blobs_rig *)ctx)->e, t, STR("con"));
}

static res remove_any(task *t, void *ctx)
{
    return azure_blobs.remove(((blobs_rig *)ctx)->e, t, STR("con"), STR(BLOBS_NAME), (str){0});
}

static res remove_match(task *t, void *ctx)
{
    return azure_blobs.remove(((blobs_rig *)ctx)->e, t, STR("con"), STR(BLOBS_NAME), STR(BLOBS_ETAG));
}

#define PUT_CON    "PUT /acct/con?restype=container HTTP/1.1"
#define DELETE_CON "DELETE /acct/con?restype=container HTTP/1.1"
#define DELETE     "DELETE " BLOBS_PATH " HTTP/1.1"

static const struct {
    task_fn    *fn;
    wire_answer first, second;
    size_t      requests;
    res         want;
    const char *line;
} removals[] = {
    {create_container, BLOBS_ENDS(BLOBS_HEAD("201", "")), BLOBS_LOST, 1, RES_OK, PUT_CON},
    {create_container, BLOBS_ENDS(BLOBS_FAILURE("409", "ContainerAlreadyExists")), BLOBS_LOST, 1,
     RES_CONFLICT, PUT_CON},
    {create_container, BLOBS_ENDS(BLOBS_FAILURE("400", "InvalidResourceName")), BLOBS_LOST, 1, RES_INVALID,
     PUT_CON},
    {drop_container, REMOVED, BLOBS_LOST, 1, RES_OK, DELETE_CON},
    {drop_container, NO_CONTAINER, BLOBS_LOST, 1, RES_NOT_FOUND, DELETE_CON},
    {drop_container, BLOBS_LOST, NO_CONTAINER, 2, RES_OK, DELETE_CON},
    {drop_container, BLOBS_LOST, REMOVED, 2, RES_OK, DELETE_CON},
    {remove_any, REMOVED, BLOBS_LOST, 1, RES_OK, DELETE},
    {remove_any, MISSING, BLOBS_LOST, 1, RES_NOT_FOUND, DELETE},
    {remove_any, NO_CONTAINER, BLOBS_LOST, 1, RES_UNPROVISIONED, DELETE},
    {remove_any, BLOBS_LOST, MISSING, 2, RES_OK, DELETE},
    {remove_any, BLOBS_LOST, NO_CONTAINER, 2, RES_UNPROVISIONED, DELETE},
    {remove_match, REMOVED, BLOBS_LOST, 1, RES_OK, DELETE},
    {remove_match, CHANGED, BLOBS_LOST, 1, RES_PRECONDITION, DELETE},
    {remove_match, BLOBS_LOST, MISSING, 2, RES_OK, DELETE},
    {remove_match, BLOBS_LOST, CHANGED, 2, RES_UPSTREAM, DELETE},
};

START_TEST(containers_and_blobs_are_made_and_removed_by_name)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){removals[_i].first, removals[_i].second}, 2);
    ck_assert_msg(blobs_rig_run(&r, removals[_i].fn) == removals[_i].want, "%s", r.message);
    ck_assert_uint_eq(wire_requests(r.w), removals[_i].requests);
    ck_assert_str_eq(blobs_rig_line(&r, 0), removals[_i].line);
    bool blob = removals[_i].fn == remove_any || removals[_i].fn == remove_match;
    ck_assert_int_eq(wire_has_header(r.w, 0, "x-ms-delete-snapshots: include"), blob);
    ck_assert_int_eq(wire_has_header(r.w, 0, "If-Match: " BLOBS_ETAG), removals[_i].fn == remove_match);
    if (removals[_i].want == RES_OK)
        ck_assert_str_eq(r.message, "");
    blobs_rig_stop(&r);
}
END_TEST

Suite *suite_azure_blobs(void)
{
    Suite *s = suite_create("azure_blobs");
    TCase *c = tcase_create("writing");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    BLOBS_LOOP(c, a_blob_is_sent_as_its_caller_demands, shapes);
    BLOBS_LOOP(c, a_commit_succeeds_although_its_length_cannot_be_learned, unknown_lengths);
    tcase_add_test(c, blocks_have_ids_of_one_length);
    BLOBS_LOOP(c, a_put_ends_as_the_answer_and_its_condition_say, outcomes);
    tcase_add_test(c, a_put_over_whatever_is_there_follows_a_blob_that_others_change);
    tcase_add_test(c, a_put_over_whatever_is_there_gives_up_in_the_end);
    tcase_add_test(c, the_state_after_a_put_does_not_look_into_what_the_caller_gave);
    BLOBS_LOOP(c, containers_and_blobs_are_made_and_removed_by_name, removals);
    suite_add_tcase(s, c);
    suite_add_tcase(s, azure_blobs_cases_read());
    suite_add_tcase(s, azure_blobs_cases_append());
    suite_add_tcase(s, azure_blobs_cases_list());
    suite_add_tcase(s, azure_blobs_cases_faults());
    return s;
}
