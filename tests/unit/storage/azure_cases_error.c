/* azure_cases_error.c -- failing answers: what is read from them, and what it means.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "storage/azure/error.h"
#include "unit/storage/azure_rig.h"

static const struct {
    int         status;
    const char *header, *body; /* of x-ms-error-code; NULL: none */
    const char *code, *message;
    res         means;
} answers[] = {
    {409, NULL,
     "{\"odata.error\":{\"code\":\"EntityAlreadyExists\",\"message\":{\"lang\":\"en-US\",\"value\":\"The "
     "entity exists.\\nRequestId:x\"}}}",
     "EntityAlreadyExists", "The entity exists.", RES_CONFLICT},
    {404, NULL, "{\"odata.error\":{\"code\":\"TableNotFound\",\"message\":\"plain\"}}", "TableNotFound",
     "plain", RES_UNPROVISIONED},
    {404, NULL, "{\"odata.error\":{\"code\":\"ResourceNotFound\"}}", "ResourceNotFound", "", RES_NOT_FOUND},
    {404, NULL, "{\"odata.error\":{\"code\":\"EntityNotFound\"}}", "EntityNotFound", "", RES_NOT_FOUND},
    {400, NULL, "{\"error\":{\"code\":\"InvalidInput\",\"message\":\"bad\"}}", "InvalidInput", "bad",
     RES_INVALID},
    /* STORE-3: the code of a refusal is in XML; its words may repeat what was sent */
    {403, NULL,
     "\xEF\xBB\xBF<?xml version=\"1.0\"?><Error><Code>AuthorizationFailure</Code><Message>signature "
     "hunter2</Message></Error>",
     "AuthorizationFailure", "", RES_CONFIG},
    {400, NULL, "<Error><Code>PopReceiptMismatch</Code><Message>The pop\nreceipt</Message></Error>",
     "PopReceiptMismatch", "The pop", RES_PRECONDITION},
    {412, "ConditionNotMet", "", "ConditionNotMet", "", RES_PRECONDITION},
    {404, "BlobNotFound", "", "BlobNotFound", "", RES_NOT_FOUND},
    {404, "ContainerNotFound", "<Error>", "ContainerNotFound", "", RES_UNPROVISIONED},
    {404, "QueueNotFound", "{\"half", "QueueNotFound", "", RES_UNPROVISIONED},
    {404, "MessageNotFound", "[]", "MessageNotFound", "", RES_NOT_FOUND},
    {409, "BlobAlreadyExists", "{}", "BlobAlreadyExists", "", RES_CONFLICT},
    {409, "ContainerAlreadyExists", "", "ContainerAlreadyExists", "", RES_CONFLICT},
    {409, "QueueAlreadyExists", "", "QueueAlreadyExists", "", RES_CONFLICT},
    {409, "TableAlreadyExists", "", "TableAlreadyExists", "", RES_CONFLICT},
    {409, "TableBeingDeleted", "", "TableBeingDeleted", "", RES_UNAVAILABLE},
    {412, "UpdateConditionNotSatisfied", "", "UpdateConditionNotSatisfied", "", RES_PRECONDITION},
    {412, "AppendPositionConditionNotMet", "", "AppendPositionConditionNotMet", "", RES_PRECONDITION},
    {413, "RequestBodyTooLarge", "", "RequestBodyTooLarge", "", RES_TOO_LARGE},
    {400, "EntityTooLarge", "", "EntityTooLarge", "", RES_TOO_LARGE},
    {400, "PropertyValueTooLarge", "", "PropertyValueTooLarge", "", RES_TOO_LARGE},
    {403, "AuthorizationPermissionMismatch", "", "AuthorizationPermissionMismatch", "", RES_CONFIG},
    {401, "InvalidAuthenticationInfo", "", "InvalidAuthenticationInfo", "", RES_CONFIG},
    {503, "ServerBusy", "", "ServerBusy", "", RES_THROTTLED},
    {500, "OperationTimedOut", "", "OperationTimedOut", "", RES_UPSTREAM},
    {415, "AtomFormatNotSupported", "", "AtomFormatNotSupported", "", RES_INVALID},
    /* no code at all */
    {400, NULL, "", "", "", RES_INVALID},
    {401, NULL, "", "", "", RES_CONFIG},
    {403, NULL, "", "", "", RES_CONFIG},
    {404, NULL, "", "", "", RES_NOT_FOUND},
    {409, NULL, "", "", "", RES_CONFLICT},
    {412, NULL, "", "", "", RES_PRECONDITION},
    {413, NULL, "", "", "", RES_TOO_LARGE},
    {416, NULL, "", "", "", RES_INVALID},
    {429, NULL, "", "", "", RES_THROTTLED},
    {500, NULL, "", "", "", RES_UPSTREAM},
    {501, NULL, "", "", "", RES_UPSTREAM},
    {302, NULL, "", "", "", RES_UPSTREAM},
    /* what is no code is not repeated */
    {400, "two words", "", "", "", RES_INVALID},
    {400, NULL, "{\"odata.error\":{\"code\":\"a\\nb\",\"message\":{\"value\":\"x\\u0007\\u00fcy\"}}}", "",
     "x???y", RES_INVALID},
    {400, NULL, "{\"odata.error\":{\"code\":5,\"message\":[]}}", "", "", RES_INVALID},
    {400, NULL, "{\"odata.error\":null}", "", "", RES_INVALID},
    {400, NULL, "<Error><Code></Code></Error>", "", "", RES_INVALID},
    {200, "EntityAlreadyExists", "", "EntityAlreadyExists", "", RES_OK},
    {304, NULL, "", "", "", RES_OK},
};

START_TEST(a_failing_answer_is_understood_in_every_form)
{
    http_header  h = {STR("X-MS-Error-Code"), str_of(answers[_i].header)};
    fetch_answer a = {.status = answers[_i].status,
                      .headers = &h,
                      .header_count = answers[_i].header != NULL,
                      .body = str_of(answers[_i].body)};
    str          code, message;
    error_read(scratch(), &a, &code, &message);
    ck_assert_str_eq(textf("%.*s", STR_ARG(code)), answers[_i].code);
    ck_assert_str_eq(textf("%.*s", STR_ARG(message)), answers[_i].message);
    ck_assert_int_eq(error_result(a.status, code), answers[_i].means);
}
END_TEST

static azure_got call_once(const char *status, const char *body)
{
    wire *w = wire_start(&(wire_answer){.bytes = textf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status,
                                                       strlen(body), body)},
                         1, NULL);
    azure_request in = {.operation = "tables_get", .method = STR("GET"), .path = STR("/T")};
    azure_got     got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0);
    wire_stop(w);
    return got;
}

START_TEST(the_message_of_a_failure_has_operation_status_and_code)
{
    azure_got got = call_once("409 Conflict", "{\"odata.error\":{\"code\":\"EntityAlreadyExists\"}}");
    ck_assert_int_eq(got.means, RES_CONFLICT);
    ck_assert_str_eq(got.message, "tables_get: 409 EntityAlreadyExists");
    got = call_once("400 x", "{\"odata.error\":{\"code\":\"InvalidInput\",\"message\":\"Bad filter\"}}");
    ck_assert_str_eq(got.message, "tables_get: 400 InvalidInput: Bad filter");
    got = call_once("404 x", "");
    ck_assert_str_eq(got.message, "tables_get: 404");
}
END_TEST

/* STORE-3 */
START_TEST(a_wrong_key_is_a_matter_of_configuration)
{
    azure_got got = call_once(
        "403 x",
        "<Error><Code>AuthorizationFailure</Code><Message>your signature is hunter2</Message></Error>");
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_int_eq(got.means, RES_CONFIG);
    ck_assert_str_eq(got.code, "AuthorizationFailure");
    ck_assert_uint_eq(got.tries, 1);
    ck_assert_ptr_nonnull(strstr(got.message, "403 AuthorizationFailure: the account's key"));
    ck_assert_ptr_null(strstr(got.message, "hunter2"));
}
END_TEST

/* ---- secrets ---- */

static const struct {
    const char *connection; /* %s: the endpoint */
    wire_answer answer;
} telltales[] = {
#define WITH_KEY "AccountName=acct;AccountKey=" RIG_KEY ";TableEndpoint=%s"
#define WITH_SAS "TableEndpoint=%s;SharedAccessSignature=sv=1&sig=hunter2sas"
    {WITH_KEY, {.bytes = RIG_STATUS("403 x", "")}},
    {WITH_SAS, {.bytes = RIG_STATUS("403 x", "")}},
    {WITH_SAS, {.bytes = RIG_STATUS("404 x", "")}},
    {WITH_KEY, {.bytes = RIG_STATUS("500 x", "retry-after-ms: 1\r\n")}},
    {WITH_SAS, {.bytes = "no HTTP", .then = WIRE_CLOSE}},
    {WITH_KEY, {.then = WIRE_RESET}},
    {WITH_SAS, {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"}},
};

START_TEST(no_failure_puts_a_key_signature_or_path_into_the_log)
{
    char  line[8192] = "";
    FILE *log = tmpfile();
    ck_assert_ptr_nonnull(log);
    wire *w = wire_start(&telltales[_i].answer, 1, NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *connection = textf(telltales[_i].connection, wire_url(w, "/acct"));
#pragma GCC diagnostic pop
    log_set_fds(fileno(log), fileno(log));
    log_set_level(LOG_DEBUG);
    azure_request in = {
        .operation = "tables_get", .method = STR("GET"), .path = STR("/T(PartitionKey='hunter2key')")};
    azure_got got = azure_rig_call(azure_rig_connect(AZURE_TABLES, connection), in, 0);
    log_error("%s", got.message); /* as the edge does */
    log_drain(1000);
    log_set_fds(-1, -1);
    log_set_level(LOG_ERROR);

    ck_assert(got.result != RES_OK || got.means != RES_OK);
    rewind(log);
    size_t len = fread(line, 1, sizeof line - 1, log);
    ck_assert_uint_gt(len, 0);
    ck_assert_ptr_nonnull(strstr(line, "tables_get"));
    const char *authorization = azure_rig_header(w, 0, "Authorization");
    ck_assert_ptr_null(strstr(line, RIG_KEY));
    ck_assert_ptr_null(strstr(line, "hunter2"));
    if (authorization != NULL)
        ck_assert_ptr_null(strstr(line, strchr(authorization, ':') + 1));
    (void)fclose(log);
    wire_stop(w);
}
END_TEST

TCase *azure_cases_error(void)
{
    TCase *c = tcase_create("error");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_failing_answer_is_understood_in_every_form, 0, sizeof answers / sizeof *answers);
    tcase_add_test(c, the_message_of_a_failure_has_operation_status_and_code);
    tcase_add_loop_test(c, no_failure_puts_a_key_signature_or_path_into_the_log, 0,
                        sizeof telltales / sizeof *telltales);
    tcase_add_test(c, a_wrong_key_is_a_matter_of_configuration);
    return c;
}
