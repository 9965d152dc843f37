/* test_azure_queues.c -- queues and messages against a scripted queue service: what is sent, what an answer
 * means, and what becomes of an operation whose reply is lost.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/queues_rig.h"
#include "unit/suites.h"

/* A receipt as services give it out, with all that base64 has, and as it travels. */
#define RECEIPT      "AgAA+/MDAw=="
#define RECEIPT_SENT "AgAA%2B%2FMDAw%3D%3D"
#define BODY(text)   "<QueueMessage><MessageText>" text "</MessageText></QueueMessage>"

#define INSERTED "Wed, 18 Nov 2026 05:20:43 GMT"
#define EXPIRES  "Fri, 31 Dec 9999 23:59:59 GMT"
#define VISIBLE  "Wed, 18 Nov 2026 05:21:13 GMT"
enum { INSERTED_S = 1794979243, VISIBLE_S = INSERTED_S + 30 };
static const int64_t expires_s = 253402300799;

#define TIMES                                                             \
    "<InsertionTime>" INSERTED "</InsertionTime><ExpirationTime>" EXPIRES \
    "</ExpirationTime><TimeNextVisible>" VISIBLE "</TimeNextVisible>"
#define FIRST                                                                                           \
    QUEUES_MESSAGE("<MessageId>i-1</MessageId>" TIMES "<PopReceipt>" RECEIPT                            \
                   "</PopReceipt><DequeueCount>3</DequeueCount><MessageText>a &lt;b&gt; &amp; \xC3\xBC" \
                   "</MessageText>")
#define SECOND QUEUES_MESSAGE("<MessageId>i-2</MessageId><PopReceipt>r2</PopReceipt><MessageText/>")

/* ---- steps ---- */

static queue_message held(void)
{
    return (queue_message){.id = STR("i/1"), .receipt = STR(RECEIPT), .next_visible_us = 5};
}

static res create(task *t, void *ctx)
{
    return azure_queues.create(((queues_rig *)ctx)->e, t, STR("jobs"));
}

static res drop(task *t, void *ctx)
{
    return azure_queues.drop(((queues_rig *)ctx)->e, t, STR("jobs"));
}

static res list(task *t, void *ctx)
{
    name_page page;
    return azure_queues.list(((queues_rig *)ctx)->e, t, STR("j&"), 7, STR("/acct/j+"), &page);
}

static res list_all(task *t, void *ctx)
{
    name_page page;
    return azure_queues.list(((queues_rig *)ctx)->e, t, STR(""), 5000, STR(""), &page);
}

static res put(task *t, void *ctx)
{
    queue_message m = {.id = STR("old")};
    res           r = azure_queues.put(((queues_rig *)ctx)->e, t, STR("jobs"), STR("a<&>\r\n\xC3\xBC"), 0,
                                       QUEUES_TTL_FOREVER, &m);
    ck_assert(str_eq(m.id, r == RES_OK ? STR("i-1") : STR("old")));
    return r;
}

static res put_later(task *t, void *ctx)
{
    queue_message m;
    return azure_queues.put(((queues_rig *)ctx)->e, t, STR("jobs"), STR("YQ=="), 604800, 60, &m);
}

static res receive(task *t, void *ctx)
{
    queue_message *all = NULL;
    size_t         found = 99;
    res            r = azure_queues.receive(((queues_rig *)ctx)->e, t, STR("jobs"), 2, 30, &all, &found);
    ck_assert(r == RES_OK ? found <= 2 : all == NULL && found == 99);
    return r;
}

static res peek(task *t, void *ctx)
{
    queue_message *all;
    size_t         found;
    return azure_queues.peek(((queues_rig *)ctx)->e, t, STR("jobs"), 32, &all, &found);
}

/* What update leaves: the new receipt and time, or the old ones when it failed. */
static res update_with(task *t, void *ctx, const str *text)
{
    queue_message m = held();
    res           r = azure_queues.update(((queues_rig *)ctx)->e, t, STR("jobs"), &m, text, 90);
    ck_assert(str_eq(m.receipt, r == RES_OK ? STR("new+") : STR(RECEIPT)));
    ck_assert_int_eq(m.next_visible_us, r == RES_OK ? (int64_t)VISIBLE_S * 1000000 : 5);
    return r;
}

static res update(task *t, void *ctx)
{
    str text = STR("x&y");
    return update_with(t, ctx, &text);
}

static res update_time(task *t, void *ctx)
{
    return update_with(t, ctx, NULL);
}

static res update_emptied(task *t, void *ctx)
{
    str text = STR("");
    return update_with(t, ctx, &text);
}

static res remove_one(task *t, void *ctx)
{
    queue_message m = held();
    return azure_queues.remove(((queues_rig *)ctx)->e, t, STR("jobs"), m.id, m.receipt);
}

static res count(task *t, void *ctx)
{
    uint64_t total = 99;
    res      r = azure_queues.count(((queues_rig *)ctx)->e, t, STR("jobs"), &total);
    ck_assert_uint_eq(total, r == RES_OK ? 1234567890123 : 99);
    return r;
}

static res clear(task *t, void *ctx)
{
    return azure_queues.clear(((queues_rig *)ctx)->e, t, STR("jobs"));
}

/* ---- what is sent ---- */

#define UPDATED QUEUES_EMPTY("204", "x-ms-popreceipt: new+\r\nx-ms-time-next-visible: " VISIBLE "\r\n")
#define COUNTED QUEUES_EMPTY("200", "x-ms-approximate-messages-count: 1234567890123\r\n")
#define NAMES   QUEUES_XML("<EnumerationResults><Queues/><NextMarker/></EnumerationResults>")
#define MESSAGE "/acct/jobs/messages/i%2F1?popreceipt=" RECEIPT_SENT

static const struct {
    task_fn    *fn;
    const char *answer, *line, *body;
} shapes[] = {
    {create, QUEUES_EMPTY("201", ""), "PUT /acct/jobs HTTP/1.1", ""},
    {drop, QUEUES_EMPTY("204", ""), "DELETE /acct/jobs HTTP/1.1", ""},
    {list, NAMES, "GET /acct/?comp=list&prefix=j%26&maxresults=7&marker=%2Facct%2Fj%2B HTTP/1.1", ""},
    {list_all, NAMES, "GET /acct/?comp=list&maxresults=5000 HTTP/1.1", ""},
    {put, QUEUES_LIST(FIRST), "POST /acct/jobs/messages?visibilitytimeout=0&messagettl=-1 HTTP/1.1",
     BODY("a&lt;&amp;&gt;&#13;\n\xC3\xBC")},
    {put_later, QUEUES_LIST(FIRST),
     "POST /acct/jobs/messages?visibilitytimeout=604800&messagettl=60 HTTP/1.1", BODY("YQ==")},
    {receive, QUEUES_LIST(FIRST), "GET /acct/jobs/messages?numofmessages=2&visibilitytimeout=30 HTTP/1.1",
     ""},
    {peek, QUEUES_LIST(FIRST), "GET /acct/jobs/messages?peekonly=true&numofmessages=32 HTTP/1.1", ""},
    {update, UPDATED, "PUT " MESSAGE "&visibilitytimeout=90 HTTP/1.1", BODY("x&amp;y")},
    {update_emptied, UPDATED, "PUT " MESSAGE "&visibilitytimeout=90 HTTP/1.1", BODY("")},
    {update_time, UPDATED, "PUT " MESSAGE "&visibilitytimeout=90 HTTP/1.1", ""},
    {remove_one, QUEUES_EMPTY("204", ""), "DELETE " MESSAGE " HTTP/1.1", ""},
    {count, COUNTED, "GET /acct/jobs?comp=metadata HTTP/1.1", ""},
    {clear, QUEUES_EMPTY("204", ""), "DELETE /acct/jobs/messages HTTP/1.1", ""},
};

/* STORE-40, 41 (the client's half): the shapes, with the receipt encoded and the text escaped. */
START_TEST(an_operation_is_sent_as_the_service_wants_it)
{
    queues_rig r = queues_rig_start(&(wire_answer)QUEUES_ENDS(shapes[_i].answer), 1);
    res        result = queues_rig_run(&r, shapes[_i].fn);
    ck_assert_msg(result == RES_OK, "%s", r.message);
    ck_assert_uint_eq(wire_requests(r.w), 1);
    ck_assert_str_eq(queues_rig_line(&r, 0), shapes[_i].line);
    ck_assert_str_eq(queues_rig_body(&r, 0), shapes[_i].body);
    ck_assert_int_eq(wire_has_header(r.w, 0, "Content-Type: application/xml"), shapes[_i].body[0] != '\0');
    ck_assert(wire_has_header(r.w, 0, "x-ms-version: 2021-12-02"));
    if (!str_starts(str_of(shapes[_i].line), STR("GET")) && shapes[_i].body[0] == '\0')
        ck_assert(!str_has(wire_request_at(r.w, 0).head, STR("Transfer-Encoding")));
    wire_stop(r.w);
}
END_TEST

/* ---- what an answer means ---- */

#define NO_QUEUE   QUEUES_FAILURE("404", "QueueNotFound")
#define NO_MESSAGE QUEUES_FAILURE("404", "MessageNotFound")
#define STALE      QUEUES_FAILURE("400", "PopReceiptMismatch")

static const struct {
    task_fn    *fn;
    const char *answer;
    res         want;
} failures[] = {
    {create, QUEUES_EMPTY("204", ""), RES_CONFLICT},
    {create, QUEUES_FAILURE("409", "QueueAlreadyExists"), RES_CONFLICT},
    {create, QUEUES_FAILURE("400", "InvalidResourceName"), RES_INVALID},
    {drop, NO_QUEUE, RES_NOT_FOUND},
    {drop, QUEUES_EMPTY("404", ""), RES_NOT_FOUND},
    {put, NO_QUEUE, RES_UNPROVISIONED},
    {put, QUEUES_FAILURE("413", "RequestBodyTooLarge"), RES_TOO_LARGE},
    {put, QUEUES_FAILURE("403", "AuthorizationFailure"), RES_CONFIG},
    {receive, NO_QUEUE, RES_UNPROVISIONED},
    {receive, QUEUES_FAILURE("400", "OutOfRangeQueryParameterValue"), RES_INVALID},
    {peek, NO_QUEUE, RES_UNPROVISIONED},
    {update, NO_QUEUE, RES_UNPROVISIONED},
    {update, NO_MESSAGE, RES_NOT_FOUND},
    {update, STALE, RES_PRECONDITION},
    {update_time, STALE, RES_PRECONDITION},
    {remove_one, NO_QUEUE, RES_UNPROVISIONED},
    {remove_one, NO_MESSAGE, RES_NOT_FOUND},
    {remove_one, STALE, RES_PRECONDITION},
    {remove_one, QUEUES_EMPTY("400", "x-ms-error-code: PopReceiptMismatch\r\n"), RES_PRECONDITION},
    {count, NO_QUEUE, RES_UNPROVISIONED},
    {clear, NO_QUEUE, RES_UNPROVISIONED},
};

/* STORE-40: created twice; a receipt that is void. */
START_TEST(a_refusal_is_told_by_its_code_and_changes_nothing)
{
    queues_rig r = queues_rig_start(&(wire_answer)QUEUES_ENDS(failures[_i].answer), 1);
    ck_assert_int_eq(queues_rig_run(&r, failures[_i].fn), failures[_i].want);
    ck_assert_uint_eq(wire_requests(r.w), 1);
    ck_assert_msg(strstr(r.message, "queues_") != NULL, "%s", r.message);
    ck_assert_msg(strstr(r.message, RECEIPT) == NULL, "%s", r.message);
    wire_stop(r.w);
}
END_TEST

#define ID(id) "<MessageId>" id "</MessageId>"

static const struct {
    task_fn    *fn;
    const char *answer, *why;
} nonsense[] = {
    {receive, QUEUES_XML(""), "there is no element"},
    {receive, QUEUES_EMPTY("200", ""), "there is no element"},
    {receive, QUEUES_XML("{}"), "not well-formed"},
    {receive, QUEUES_XML("<html><p>Hello</p></html>"), "it is no list of messages"},
    {receive, QUEUES_XML("<x><QueueMessagesList/></x>"), "it is no list of messages"},
    {receive, QUEUES_XML("<QueueMessagesList>"), "breaks off"},
    {receive, QUEUES_LIST(FIRST SECOND FIRST), "more messages than asked for"},
    {receive, QUEUES_LIST(FIRST QUEUES_MESSAGE("")), "a message without an id"},
    {receive, QUEUES_LIST(QUEUES_MESSAGE(ID("i") "<MessageText>&#0;</MessageText>")), "not well-formed"},
    {receive, QUEUES_LIST(QUEUES_MESSAGE(ID("i") "<MessageText>\xFF</MessageText>")), "not UTF-8"},
    {receive, QUEUES_LIST(FIRST QUEUES_MESSAGE(ID("i"))), "a message came without a receipt"},
    {peek, QUEUES_XML("<QueueMessagesList><QueueMessage>"), "breaks off"},
    {put, QUEUES_EMPTY("201", ""), "there is no element"},
    {put, QUEUES_LIST(""), "there is no message in it"},
    {put, QUEUES_LIST(FIRST FIRST), "more messages than asked for"},
    {update, QUEUES_EMPTY("204", ""), "there is no receipt in it"},
    {update, QUEUES_EMPTY("204", "x-ms-popreceipt:\r\n"), "there is no receipt in it"},
    {count, QUEUES_EMPTY("200", ""), "there is no count in it"},
    {count, QUEUES_EMPTY("200", "x-ms-approximate-messages-count: -1\r\n"), "there is no count in it"},
    {list, QUEUES_XML("<html/>"), "it is no list of names"},
    {list, QUEUES_XML("<EnumerationResults><Queues>"), "breaks off"},
    {list, QUEUES_EMPTY("200", ""), "there is no element"},
};

START_TEST(an_answer_that_makes_no_sense_is_no_success)
{
    queues_rig r = queues_rig_start(&(wire_answer)QUEUES_ENDS(nonsense[_i].answer), 1);
    ck_assert_int_eq(queues_rig_run(&r, nonsense[_i].fn), RES_UPSTREAM);
    ck_assert_msg(strstr(r.message, nonsense[_i].why) != NULL, "%s", r.message);
    wire_stop(r.w);
}
END_TEST

/* ---- lost replies ---- */

static const struct {
    task_fn    *fn;
    const char *second;
    res         want;
} echoes[] = {
    {create, QUEUES_EMPTY("204", ""), RES_CONFLICT},
    {drop, NO_QUEUE, RES_OK},
    {put, QUEUES_LIST(FIRST), RES_OK},
    {put, NO_QUEUE, RES_UNPROVISIONED},
    {receive, QUEUES_LIST(""), RES_OK},
    {update, UPDATED, RES_OK},
    {update, STALE, RES_UPSTREAM},
    {update, NO_MESSAGE, RES_UPSTREAM},
    {update, NO_QUEUE, RES_UNPROVISIONED},
    {remove_one, NO_MESSAGE, RES_OK},
    {remove_one, STALE, RES_UPSTREAM},
    {remove_one, NO_QUEUE, RES_UNPROVISIONED},
    {clear, QUEUES_EMPTY("204", ""), RES_OK},
};

/* STORE-46 for queues: what the second answer means after the first was lost. */
START_TEST(an_operation_whose_reply_was_lost_is_sent_again_and_not_guessed_at)
{
    queues_rig r = queues_rig_start((wire_answer[]){QUEUES_LOST, QUEUES_ENDS(echoes[_i].second)}, 2);
    ck_assert_int_eq(queues_rig_run(&r, echoes[_i].fn), echoes[_i].want);
    ck_assert_uint_eq(wire_requests(r.w), 2);
    ck_assert_str_eq(queues_rig_line(&r, 1), queues_rig_line(&r, 0));
    if (echoes[_i].want == RES_UPSTREAM)
        ck_assert_msg(strstr(r.message, "cannot be told") != NULL, "%s", r.message);
    wire_stop(r.w);
}
END_TEST

/* ---- what is read ---- */

static void check_first(const queue_message *m, str body)
{
    ck_assert(str_eq(m->id, STR("i-1")) && str_eq(m->receipt, STR(RECEIPT)) && str_eq(m->body, body));
    ck_assert_int_eq(m->dequeue_count, 3);
    ck_assert_int_eq(m->inserted_us, (int64_t)INSERTED_S * 1000000);
    ck_assert_int_eq(m->expires_us, expires_s * 1000000);
    ck_assert_int_eq(m->next_visible_us, (int64_t)VISIBLE_S * 1000000);
}

static res read_all(task *t, void *ctx)
{
    queues_rig    *r = ctx;
    queue_message *all, m;
    size_t         found;
    TRY(azure_queues.receive(r->e, t, STR("jobs"), 3, 30, &all, &found));
    ck_assert_uint_eq(found, 2);
    check_first(&all[0], STR("a <b> & \xC3\xBC"));
    ck_assert(str_eq(all[1].id, STR("i-2")) && all[1].body.len == 0 && all[1].inserted_us == 0);
    TRY(azure_queues.put(r->e, t, STR("jobs"), STR("mine"), 0, 60, &m));
    check_first(&m, STR("mine"));
    TRY(azure_queues.peek(r->e, t, STR("jobs"), 1, &all, &found));
    ck_assert_uint_eq(found, 1);
    ck_assert(all[0].receipt.len == 0 && all[0].dequeue_count == 0 && all[0].expires_us == 0);
    TRY(azure_queues.receive(r->e, t, STR("jobs"), 1, 30, &all, &found));
    ck_assert_uint_eq(found, 0);
    return RES_OK;
}

START_TEST(messages_are_read_with_texts_counts_and_times)
{
    queues_rig r = queues_rig_start(
        (wire_answer[]){QUEUES_ENDS(QUEUES_LIST(FIRST SECOND)), QUEUES_ENDS(QUEUES_LIST(FIRST)),
                        QUEUES_ENDS(QUEUES_LIST(QUEUES_MESSAGE(
                            ID("i") "<DequeueCount>many</DequeueCount><ExpirationTime>late</ExpirationTime>"
                                    "<Extra><MessageId>x</MessageId></Extra>"))),
                        QUEUES_ENDS(QUEUES_XML("<QueueMessagesList />"))},
        4);
    res result = queues_rig_run(&r, read_all);
    ck_assert_msg(result == RES_OK, "%s", r.message);
    wire_stop(r.w);
}
END_TEST

static res list_pages(task *t, void *ctx)
{
    queues_rig *r = ctx;
    name_page   page;
    TRY(azure_queues.list(r->e, t, STR("j"), 2, STR(""), &page));
    ck_assert_uint_eq(page.count, 2);
    ck_assert(str_eq(page.names[0], STR("jobs")) && str_eq(page.names[1], STR("jobs-poison")));
    ck_assert(str_eq(page.next, STR("/acct/j&k")));
    TRY(azure_queues.list(r->e, t, STR("j"), 2, page.next, &page));
    ck_assert_uint_eq(page.count, 1);
    ck_assert(str_eq(page.names[0], STR("jz")) && page.next.len == 0);
    return RES_OK;
}

START_TEST(a_list_goes_on_from_its_marker)
{
    queues_rig r = queues_rig_start(
        (wire_answer[]){
            QUEUES_ENDS(
                QUEUES_XML("<EnumerationResults ServiceEndpoint=\"http://h/\"><Prefix>j</Prefix><Queues>"
                           "<Queue><Name>jobs</Name><Metadata><Name>x</Name></Metadata></Queue>"
                           "<Queue><Name>jobs-poison</Name></Queue></Queues>"
                           "<NextMarker>/acct/j&amp;k</NextMarker></EnumerationResults>")),
            QUEUES_ENDS(QUEUES_XML("<EnumerationResults><Queues><Queue><Name>jz</Name></Queue></Queues>"
                                   "<NextMarker/></EnumerationResults>"))},
        2);
    res result = queues_rig_run(&r, list_pages);
    ck_assert_msg(result == RES_OK, "%s", r.message);
    ck_assert_str_eq(queues_rig_line(&r, 1),
                     "GET /acct/?comp=list&prefix=j&maxresults=2&marker=%2Facct%2Fj%26k HTTP/1.1");
    wire_stop(r.w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

Suite *suite_azure_queues(void)
{
    Suite *s = suite_create("azure_queues");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, an_operation_is_sent_as_the_service_wants_it, shapes);
    LOOP(c, a_refusal_is_told_by_its_code_and_changes_nothing, failures);
    LOOP(c, an_answer_that_makes_no_sense_is_no_success, nonsense);
    LOOP(c, an_operation_whose_reply_was_lost_is_sent_again_and_not_guessed_at, echoes);
    tcase_add_test(c, messages_are_read_with_texts_counts_and_times);
    tcase_add_test(c, a_list_goes_on_from_its_marker);
    suite_add_tcase(s, c);
    suite_add_tcase(s, queues_cases_faults());
    suite_add_tcase(s, queues_cases_open());
    return s;
}
