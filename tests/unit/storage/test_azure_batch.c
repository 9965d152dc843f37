/* test_azure_batch.c -- batches: the multipart that is sent, and the multipart, or something else, that comes
 * back.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "storage/azure/multipart.h"
#include "unit/storage/tables_rig.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- reading multipart ---- */

#define TYPE      "multipart/mixed; boundary=batchresponse_1"
#define OPEN      "--batchresponse_1\r\nContent-Type: multipart/mixed; boundary=changesetresponse_2\r\n\r\n"
#define CLOSE     "--changesetresponse_2--\r\n--batchresponse_1--\r\n"
#define MIME      "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define PART(msg) "--changesetresponse_2\r\n" MIME msg "\r\n"
#define DONE(tag) "HTTP/1.1 204 No Content\r\nDataServiceVersion: 3.0;\r\nETag: " tag "\r\n\r\n"
#define GONE      "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\n\r\n"
#define REFUSED(status, code, message)                                                             \
    "HTTP/1.1 " status " Oh\r\nContent-ID: 2\r\nContent-Type: application/json\r\n\r\n"            \
    "{\"odata.error\":{\"code\":\"" code "\",\"message\":{\"lang\":\"en-US\",\"value\":\"" message \
    "\"}}}\r\n"

typedef struct {
    const char *type, *body;
    size_t      count;
    int         status[4];
    const char *etag[4], *text[4];
} parse_row;

static const parse_row parses[] = {
    /* STORE-29: four parts in order; a delete has no ETag. */
    {TYPE,
     OPEN PART(DONE("a")) PART(DONE("b")) PART(DONE("W/\"c\"")) PART(GONE) CLOSE,
     4,
     {204, 204, 204, 204},
     {"a", "b", "W/\"c\"", ""},
     {"", "", "", ""}},
    /* STORE-30: one part, with the failure. */
    {TYPE,
     OPEN PART("HTTP/1.1 409 Conflict\r\netag:x\r\n\r\n{\"a\":1}\r\n") CLOSE,
     1,
     {409},
     {"x"},
     {"{\"a\":1}"}},
    /* STORE-32: a stray boundary line in front of the status line, ours or theirs. */
    {TYPE,
     OPEN "--changesetresponse_2\r\n" MIME "--changesetresponse_2\r\nHTTP/1.1 400 Bad\r\n\r\nx\r\n" CLOSE,
     1,
     {400},
     {""},
     {"x"}},
    {TYPE, OPEN PART("--changeset_ours\r\nHTTP/1.1 400 Bad\r\n\r\nx") CLOSE, 1, {400}, {""}, {"x"}},
    /* Quoted, spaced, and with other parameters around. */
    {"Multipart/Mixed; charset=utf-8;  BOUNDARY=\"batchresponse_1\"; x=y",
     OPEN PART(DONE("a")) CLOSE,
     1,
     {204},
     {"a"},
     {""}},
    {TYPE,
     "--batchresponse_1\r\ncontent-type:multipart/mixed;boundary=\"changesetresponse_2\"\r\n\r\n" PART(
         DONE("a")) PART(DONE("b")) CLOSE,
     2,
     {204, 204},
     {"a", "b"},
     {"", ""}},
    /* No changeset around the answer; no end; line ends without CR; a preamble. */
    {TYPE,
     "--batchresponse_1\r\n" MIME "HTTP/1.1 500 Oh\r\n\r\n\r\n--batchresponse_1--",
     1,
     {500},
     {""},
     {""}},
    {TYPE, OPEN PART(DONE("a")), 1, {204}, {"a"}, {""}},
    {TYPE, OPEN "--changesetresponse_2\r\n" MIME "HTTP/1.1 204", 1, {204}, {""}, {""}},
    {TYPE,
     "--batchresponse_1\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\nHTTP/1.1 204 No\nETag: "
     "a\n\n\n--c\n\n"
     "HTTP/1.1 404 No\n\nbody\n--c--\n--batchresponse_1--\n",
     2,
     {204, 404},
     {"a", ""},
     {"", "body"}},
    {TYPE, "This is MIME.\r\n" OPEN PART(DONE("a")) CLOSE "behind", 1, {204}, {"a"}, {""}},
};

START_TEST(the_answers_inside_an_answer_are_found)
{
    const parse_row *row = &parses[_i];
    multipart_part   parts[4];
    size_t           count = 99;
    ck_assert_int_eq(multipart_read(str_of(row->type), str_of(row->body), parts, 4, &count), RES_OK);
    ck_assert_uint_eq(count, row->count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(parts[i].status, row->status[i]);
        ck_assert_msg(str_eq(parts[i].etag, str_of(row->etag[i])), "ETag %zu: %.*s", i,
                      STR_ARG(parts[i].etag));
        ck_assert_msg(str_eq(parts[i].body, str_of(row->text[i])), "body %zu: %.*s", i,
                      STR_ARG(parts[i].body));
    }
}
END_TEST

static const struct {
    const char *type, *body;
} no_multipart[] = {
    {"", OPEN PART(DONE("a")) CLOSE},
    {"application/json; boundary=batchresponse_1", OPEN PART(DONE("a")) CLOSE},
    {"multipart/mixed", OPEN PART(DONE("a")) CLOSE},
    {"multipart/mixed; boundary=", OPEN PART(DONE("a")) CLOSE},
    {"multipart/mixed; boundary=\"", OPEN PART(DONE("a")) CLOSE},
    {TYPE, ""},
    {TYPE, "{}"},
    {TYPE, OPEN CLOSE},
    {TYPE, OPEN PART("") CLOSE},
    {TYPE, OPEN PART("HTTP/1.1 ok\r\n\r\n") CLOSE},
    {TYPE, OPEN PART("HTTP/1.1 9\r\n\r\n") CLOSE},
    {TYPE, OPEN PART("HTTP/1.1\r\n\r\n") CLOSE},
    {TYPE, OPEN PART("HTTP/1.1 20400000000000000000 x\r\n\r\n") CLOSE},
    {TYPE, OPEN PART(DONE("a")) PART(DONE("b")) PART(DONE("c")) CLOSE}, /* more than were asked for */
};

START_TEST(what_holds_no_answers_is_refused)
{
    multipart_part parts[2];
    size_t         count = 99;
    ck_assert_int_eq(
        multipart_read(str_of(no_multipart[_i].type), str_of(no_multipart[_i].body), parts, 2, &count),
        RES_UPSTREAM);
}
END_TEST

START_TEST(every_beginning_of_an_answer_is_survived)
{
    static const char whole[] = OPEN PART(DONE("a")) PART(REFUSED("409", "X", "1:no")) CLOSE;
    for (size_t len = 0; len < sizeof whole; len++) {
        char *cut = malloc(len > 0 ? len : 1); /* as long as it is, so that a read behind it is seen */
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, whole, len);
        multipart_part parts[2];
        size_t         count = 0;
        res            r = multipart_read(STR(TYPE), (str){cut, len}, parts, 2, &count);
        ck_assert(r == RES_UPSTREAM || (r == RES_OK && count > 0));
        free(cut);
    }
}
END_TEST

static const struct {
    const char *message, *rest;
    size_t      index;
} indexes[] = {
    {"1:The specified entity already exists.", "The specified entity already exists.", 1},
    {"99:x", "x", 99},
    {"0:x", "x", 0},
    {"x: 5:y", "x: 5:y", 0},
    {"no colon", "no colon", 0},
    {":x", ":x", 0},
    {"", "", 0},
    {"123456789012345678901234567890:x", "123456789012345678901234567890:x", 0},
};

START_TEST(the_index_stands_before_the_first_colon)
{
    str message = str_of(indexes[_i].message);
    ck_assert_uint_eq(multipart_take_index(&message), indexes[_i].index);
    ck_assert(str_eq(message, str_of(indexes[_i].rest)));
}
END_TEST

/* ---- a batch of four ---- */

enum { FOUR = 4 };

#define ACCEPTED(body) \
    "HTTP/1.1 202 Accepted\r\nContent-Type: " TYPE "\r\nConnection: close\r\n\r\n" OPEN body CLOSE

typedef struct {
    wire_answer first, second, third;
    size_t      requests;
    res         want;
    size_t      failed;
    const char *operation; /* of the second write */
    const char *etag;      /* of the second one afterwards */
    const char *others;    /* of the first and third */
    const char *says;
} batch_row;

#define FOUR_DONE                     RIG_ENDS(ACCEPTED(PART(DONE("a")) PART(DONE("b")) PART(DONE("a")) PART(GONE)))
#define FAILED(status, code, message) RIG_ENDS(ACCEPTED(PART(REFUSED(status, code, message))))
#define STORED(op) \
    RIG_ENDS(RIG_JSON("ETag: theirs\r\n", "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"op\":\"" op "\"}"))
#define OUTER(bytes) RIG_ENDS(bytes)

static const batch_row batches[] = {
    {FOUR_DONE, RIG_LOST, RIG_LOST, 1, RES_OK, 99, NULL, "b", "a", ""},
    /* STORE-30: the index, the code, and nothing changed. */
    {FAILED("409", "EntityAlreadyExists", "1:The specified entity already exists.\\nRequestId:x"), RIG_LOST,
     RIG_LOST, 1, RES_CONFLICT, 1, "op", "old", "old",
     "write 1 of 4: tables_commit: 409 EntityAlreadyExists: The specified"},
    {FAILED("412", "UpdateConditionNotSatisfied", "2:x"), RIG_LOST, RIG_LOST, 1, RES_PRECONDITION, 2, NULL,
     "old", "old", "write 2"},
    {FAILED("404", "ResourceNotFound", "3:x"), RIG_LOST, RIG_LOST, 1, RES_NOT_FOUND, 3, NULL, "old", "old",
     "write 3"},
    {FAILED("404", "TableNotFound", "0:x"), RIG_LOST, RIG_LOST, 1, RES_UNPROVISIONED, 0, NULL, "old", "old",
     ""},
    {FAILED("400", "InvalidInput", "no index"), RIG_LOST, RIG_LOST, 1, RES_INVALID, 0, NULL, "old", "old",
     ""},
    {FAILED("400", "InvalidInput", "77:x"), RIG_LOST, RIG_LOST, 1, RES_INVALID, 4, NULL, "old", "old", ""},
    {RIG_ENDS(ACCEPTED(PART("HTTP/1.1 400 Bad\r\n\r\n"))), RIG_LOST, RIG_LOST, 1, RES_INVALID, 0, NULL, "old",
     "old", ""},
    {RIG_ENDS(ACCEPTED(PART("HTTP/1.1 304 Odd\r\n\r\n"))), RIG_LOST, RIG_LOST, 1, RES_UPSTREAM, 0, NULL,
     "old", "old", ""},
    {RIG_ENDS(ACCEPTED(PART(DONE("a")) PART(DONE("b")) PART(DONE("a")))), RIG_LOST, RIG_LOST, 1, RES_UPSTREAM,
     4, NULL, "old", "old", "3 answers to 4 writes"},
    {RIG_ENDS(ACCEPTED(PART(DONE("a")) PART(GONE) PART(GONE) PART(GONE) PART(GONE))), RIG_LOST, RIG_LOST, 1,
     RES_UPSTREAM, 4, NULL, "old", "old", "no batch"},
    {RIG_ENDS("HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n" OPEN), RIG_LOST, RIG_LOST, 1, RES_UPSTREAM,
     4, NULL, "old", "old", "no batch"},
    /* STORE-34: what is said of the whole is no multipart. */
    {OUTER(RIG_FAILURE("403", "AuthorizationFailure")), RIG_LOST, RIG_LOST, 1, RES_CONFIG, 4, NULL, "old",
     "old", "403"},
    {OUTER(RIG_FAILURE("413", "RequestBodyTooLarge")), RIG_LOST, RIG_LOST, 1, RES_TOO_LARGE, 4, NULL, "old",
     "old", "413"},
    {OUTER(RIG_EMPTY("501", "")), RIG_LOST, RIG_LOST, 1, RES_UPSTREAM, 4, NULL, "old", "old", "501"},
    /* Lost replies (spec 8.4). */
    {RIG_LOST, FOUR_DONE, RIG_LOST, 2, RES_OK, 99, NULL, "b", "a", ""},
    {RIG_LOST, FAILED("409", "EntityAlreadyExists", "0:x"), STORED("7"), 3, RES_OK, 99, "op", "theirs", "",
     ""},
    {RIG_LOST, FAILED("412", "UpdateConditionNotSatisfied", "1:x"), STORED("8"), 3, RES_PRECONDITION, 1, "op",
     "old", "old", "write 1"},
    {RIG_LOST, FAILED("409", "EntityAlreadyExists", "0:x"), STORED("7"), 2, RES_UPSTREAM, 4, NULL, "old",
     "old", "cannot be told"},
    {RIG_LOST, FAILED("404", "ResourceNotFound", "3:x"), RIG_ENDS(RIG_FAILURE("404", "ResourceNotFound")), 3,
     RES_UPSTREAM, 4, "op", "old", "old", "cannot be told"},
    {RIG_LOST, FAILED("404", "TableNotFound", "0:x"), STORED("7"), 2, RES_UNPROVISIONED, 0, "op", "old",
     "old", ""},
};

static res commit_four(task *t, void *ctx)
{
    static const write_kind kinds[FOUR] = {WRITE_INSERT, WRITE_MERGE, WRITE_REPLACE, WRITE_DELETE};
    tables_rig             *r = ctx;
    const batch_row        *row = r->row;
    entity                  e[FOUR];
    table_write             w[FOUR];
    size_t                  failed = 99;
    for (size_t i = 0; i < FOUR; i++) {
        e[i] = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%zu", i + 1));
        e[i].etag = STR("old");
        entity_set_str(&e[i], "op", STR("7"));
        w[i] = (table_write){.kind = kinds[i], .e = &e[i], .etag = i == 3 ? STR(RIG_ETAG) : STR("*")};
    }
    w[1].operation = row->operation;
    res result = azure_tables.commit(r->e, t, STR("Tab"), w, FOUR, &failed);
    ck_assert_uint_eq(failed, row->failed);
    ck_assert_msg(str_eq(e[1].etag, str_of(row->etag)), "%.*s", STR_ARG(e[1].etag));
    ck_assert(str_eq(e[0].etag, str_of(row->others)) && str_eq(e[2].etag, str_of(row->others)));
    ck_assert(str_eq(e[3].etag, result == RES_OK ? STR("") : STR("old")));
    return result;
}

START_TEST(a_batch_is_applied_or_says_which_write_failed)
{
    const batch_row *row = &batches[_i];
    tables_rig       r = tables_rig_start((wire_answer[]){row->first, row->second, row->third}, 3);
    r.row = row;
    ck_assert_int_eq(tables_rig_run(&r, commit_four), row->want);
    ck_assert_uint_eq(wire_requests(r.w), row->requests);
    ck_assert_msg(strstr(r.message, row->says) != NULL, "%s", r.message);
    tables_rig_stop(&r);
}
END_TEST

/* ---- what is sent ---- */

static str named_boundary(str text, str before)
{
    str rest = str_from(text, str_find(text, before) + before.len);
    return str_slice(rest, 0, str_find_char(rest, '\r'));
}

/* STORE-29, 33: the whole body, byte by byte. */
START_TEST(a_batch_is_sent_as_the_protocol_demands)
{
    tables_rig r = tables_rig_start(&(wire_answer)FOUR_DONE, 1);
    r.row = &batches[0];
    ck_assert_int_eq(tables_rig_run(&r, commit_four), RES_OK);
    wire_request q = wire_request_at(r.w, 0);
    str          batch = named_boundary(q.head, STR("Content-Type: multipart/mixed; boundary="));
    str          changes = named_boundary(q.body, STR("Content-Type: multipart/mixed; boundary="));
    const char  *url = wire_url(r.w, "/acct/Tab");
    ck_assert_str_eq(tables_rig_line(&r, 0), "POST /acct/$batch HTTP/1.1");
    ck_assert(str_starts(batch, STR("batch_")) && str_starts(changes, STR("changeset_")));
    ck_assert_uint_eq(batch.len, strlen("batch_") + 36);
    ck_assert(!str_has(batch, str_from(changes, strlen("changeset_"))));

    static const char mime[] = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n";
    static const char sent[] = "Accept: application/json;odata=nometadata\r\nDataServiceVersion: 3.0\r\n";
    static const char type[] = "Content-Type: application/json\r\n";
    str               want =
        arena_strf(r.a,
                   "--%.*s\r\nContent-Type: multipart/mixed; boundary=%.*s\r\n\r\n"
                   "--%.*s\r\n%sPOST %s HTTP/1.1\r\n%s%sPrefer: return-no-content\r\n\r\n"
                   "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"op\":\"7\"}\r\n"
                   "--%.*s\r\n%sPATCH %s(PartitionKey='p',RowKey='2') HTTP/1.1\r\n%s%sIf-Match: *\r\n\r\n"
                   "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"op\":\"7\"}\r\n"
                   "--%.*s\r\n%sPUT %s(PartitionKey='p',RowKey='3') HTTP/1.1\r\n%s%sIf-Match: *\r\n\r\n"
                   "{\"PartitionKey\":\"p\",\"RowKey\":\"3\",\"op\":\"7\"}\r\n"
                   "--%.*s\r\n%sDELETE %s(PartitionKey='p',RowKey='4') HTTP/1.1\r\n%sIf-Match: %s\r\n\r\n"
                   "--%.*s--\r\n--%.*s--\r\n",
                   STR_ARG(batch), STR_ARG(changes), STR_ARG(changes), mime, url, sent, type,
                   STR_ARG(changes), mime, url, sent, type, STR_ARG(changes), mime, url, sent, type,
                   STR_ARG(changes), mime, url, sent, RIG_ETAG, STR_ARG(changes), STR_ARG(batch));
    ck_assert_str_eq(tables_rig_body(&r, 0), want.at);
    tables_rig_stop(&r);
}
END_TEST

static res commit_hostile(task *t, void *ctx)
{
    tables_rig *r = ctx;
    entity      e = entity_new(t->arena, STR("p"), STR("1"));
    table_write w = {.kind = WRITE_UPSERT_REPLACE, .e = &e};
    size_t      failed;
    entity_set_str(&e, "s",
                   STR("\r\n--changeset_\r\n\r\nDELETE http://x HTTP/1.1\r\n}{\n--batch_--\r\n\xE2\x80\xA8"));
    return azure_tables.commit(r->e, t, STR("Tab"), &w, 1, &failed);
}

/* STORE-33: a value that looks like the end of a part stays a value. */
START_TEST(no_value_can_end_its_part)
{
    tables_rig r = tables_rig_start((wire_answer[]){RIG_ENDS(ACCEPTED(PART(DONE("a"))))}, 1);
    ck_assert_int_eq(tables_rig_run(&r, commit_hostile), RES_OK);
    str      rest = wire_request_at(r.w, 0).body, line;
    unsigned boundaries = 0;
    for (size_t i = 0; i < rest.len; i++)
        ck_assert(rest.at[i] != '\n' || (i > 0 && rest.at[i - 1] == '\r'));
    while (str_next_field(&rest, '\n', &line))
        boundaries += str_starts(line, STR("--"));
    ck_assert_uint_eq(boundaries, 4);
    tables_rig_stop(&r);
}
END_TEST

static res commit_bad_etag(task *t, void *ctx)
{
    tables_rig *r = ctx;
    entity      e = entity_new(t->arena, STR("p"), STR("1")), f = entity_new(t->arena, STR("p"), STR("2"));
    table_write w[] = {{.kind = WRITE_DELETE, .e = &e, .etag = STR("*")},
                       {.kind = WRITE_DELETE, .e = &f, .etag = STR("*\r\nX-Other: 1")}};
    size_t      failed = 99;
    res         result = azure_tables.commit(r->e, t, STR("Tab"), w, 2, &failed);
    ck_assert_uint_eq(failed, 1);
    return result;
}

START_TEST(an_etag_that_would_end_its_line_is_refused)
{
    tables_rig r = tables_rig_start(&(wire_answer)FOUR_DONE, 1);
    ck_assert_int_eq(tables_rig_run(&r, commit_bad_etag), RES_INVALID);
    ck_assert_uint_eq(wire_requests(r.w), 0);
    tables_rig_stop(&r);
}
END_TEST

enum { LARGE = 60, VALUE = 64 * KIB };

static res commit_large(task *t, void *ctx)
{
    tables_rig  *r = ctx;
    char        *bytes = arena_zalloc(t->arena, VALUE);
    entity      *e = arena_array(t->arena, entity, LARGE);
    table_write *w = arena_array(t->arena, table_write, LARGE);
    size_t       failed = 99;
    for (size_t i = 0; i < LARGE; i++) {
        e[i] = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%zu", i));
        entity_set_binary(&e[i], "b", (str){bytes, VALUE});
        w[i] = (table_write){.kind = WRITE_INSERT, .e = &e[i]};
    }
    res result = azure_tables.commit(r->e, t, STR("Tab"), w, LARGE, &failed);
    ck_assert_uint_eq(failed, LARGE);
    return result;
}

/* STORE-31: 60 × 64 KiB fit by Azure's formula, and are above 4 MiB as base64. */
START_TEST(a_batch_above_4_mib_on_the_wire_is_not_sent)
{
    tables_rig r = tables_rig_start(&(wire_answer)FOUR_DONE, 1);
    ck_assert_int_eq(tables_rig_run(&r, commit_large), RES_TOO_LARGE);
    ck_assert_uint_eq(wire_requests(r.w), 0);
    ck_assert(strstr(r.message, "4194304") != NULL);
    tables_rig_stop(&r);
}
END_TEST

Suite *suite_azure_batch(void)
{
    Suite *s = suite_create("azure_batch");
    TCase *c = tcase_create("multipart");
    tcase_add_loop_test(c, the_answers_inside_an_answer_are_found, 0, COUNT(parses));
    tcase_add_loop_test(c, what_holds_no_answers_is_refused, 0, COUNT(no_multipart));
    tcase_add_test(c, every_beginning_of_an_answer_is_survived);
    tcase_add_loop_test(c, the_index_stands_before_the_first_colon, 0, COUNT(indexes));
    suite_add_tcase(s, c);

    c = tcase_create("batch");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_batch_is_applied_or_says_which_write_failed, 0, COUNT(batches));
    tcase_add_test(c, a_batch_is_sent_as_the_protocol_demands);
    tcase_add_test(c, no_value_can_end_its_part);
    tcase_add_test(c, an_etag_that_would_end_its_line_is_refused);
    tcase_add_test(c, a_batch_above_4_mib_on_the_wire_is_not_sent);
    suite_add_tcase(s, c);
    return s;
}
