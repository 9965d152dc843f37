/* error.c -- failing answers of the three services (spec 3.6), read defensively: JSON, XML and nothing at all
 * occur on every endpoint.
 *
 * What a code means is one table; a code that is not in it means what its status means.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/error.h"

#include <string.h>

#include "core/json.h"

enum { CODE_MAX = 80, MESSAGE_MAX = 200, READ_MAX = 64 * KIB };

static const struct {
    const char *code;
    res         means;
} codes[] = {
    {"ResourceNotFound", RES_NOT_FOUND},
    {"EntityNotFound", RES_NOT_FOUND},
    {"BlobNotFound", RES_NOT_FOUND},
    {"MessageNotFound", RES_NOT_FOUND},
    {"TableNotFound", RES_UNPROVISIONED},
    {"ContainerNotFound", RES_UNPROVISIONED},
    {"QueueNotFound", RES_UNPROVISIONED},
    {"EntityAlreadyExists", RES_CONFLICT},
    {"TableAlreadyExists", RES_CONFLICT},
    {"ContainerAlreadyExists", RES_CONFLICT},
    {"BlobAlreadyExists", RES_CONFLICT},
    {"QueueAlreadyExists", RES_CONFLICT},
    {"InvalidBlobType", RES_CONFLICT},
    {"TableBeingDeleted", RES_UNAVAILABLE},
    {"ContainerBeingDeleted", RES_UNAVAILABLE},
    {"QueueBeingDeleted", RES_UNAVAILABLE},
    {"UpdateConditionNotSatisfied", RES_PRECONDITION},
    {"ConditionNotMet", RES_PRECONDITION},
    {"TargetConditionNotMet", RES_PRECONDITION},
    {"AppendPositionConditionNotMet", RES_PRECONDITION},
    {"PopReceiptMismatch", RES_PRECONDITION},
    {"PropertyValueTooLarge", RES_TOO_LARGE},
    {"EntityTooLarge", RES_TOO_LARGE},
    {"TooManyProperties", RES_TOO_LARGE},
    {"PropertyNameTooLong", RES_TOO_LARGE},
    {"KeyValueTooLarge", RES_TOO_LARGE},
    {"ContentLengthExceeded", RES_TOO_LARGE},
    {"RequestBodyTooLarge", RES_TOO_LARGE},
    {"MessageTooLarge", RES_TOO_LARGE},
    {"MaxBlobSizeConditionNotMet", RES_TOO_LARGE},
    {"BlockCountExceedsLimit", RES_TOO_LARGE},
    {"AuthenticationFailed", RES_CONFIG},
    {"AuthorizationFailure", RES_CONFIG},
    {"AuthorizationPermissionMismatch", RES_CONFIG},
    {"InvalidAuthenticationInfo", RES_CONFIG},
    {"NoAuthenticationInformation", RES_CONFIG},
    {"AccountIsDisabled", RES_CONFIG},
    {"ServerBusy", RES_THROTTLED},
    {"TooManyRequests", RES_THROTTLED},
    {"OperationTimedOut", RES_UPSTREAM},
    {"InternalError", RES_UPSTREAM},
};

static const struct {
    int from, to;
    res means;
} statuses[] = {
    {0, 299, RES_OK},          {304, 304, RES_OK},        {300, 399, RES_UPSTREAM},
    {401, 401, RES_CONFIG},    {403, 403, RES_CONFIG},    {404, 404, RES_NOT_FOUND},
    {408, 408, RES_UPSTREAM},  {409, 409, RES_CONFLICT},  {412, 412, RES_PRECONDITION},
    {413, 413, RES_TOO_LARGE}, {429, 429, RES_THROTTLED}, {400, 499, RES_INVALID},
    {503, 503, RES_THROTTLED}, {500, 999, RES_UPSTREAM},
};

res error_result(int status, str code)
{
    for (size_t i = 0; status >= 400 && code.len > 0 && i < sizeof codes / sizeof *codes; i++)
        if (str_eq(code, str_of(codes[i].code)))
            return codes[i].means;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (status >= statuses[i].from && status <= statuses[i].to)
            return statuses[i].means;
    return RES_UPSTREAM;
}

/* ---- reading ---- */

/* A code is a word: whatever else stands in its place is not repeated. */
static bool is_code(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.at[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.'))
            return false;
    }
    return s.len > 0 && s.len <= CODE_MAX;
}

/* One line of plain characters, since peers have a hand in it and it ends in our log. */
static str first_line(arena *a, str s)
{
    s = str_trim(s);
    s = str_slice(s, 0, str_find_char(s, '\n'));
    s = str_slice(s, 0, MESSAGE_MAX);
    char *out = arena_alloc(a, s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        out[i] = s.at[i] >= ' ' && s.at[i] <= '~' ? s.at[i] : '?';
    return str_trim((str){out, s.len});
}

/* {"odata.error":{"code":"…","message":{"lang":"…","value":"…"}}}; a message may be plain text too. */
static void read_json(arena *a, str body, str *ret_code, str *ret_message)
{
    const json_val *doc;
    if (json_parse(a, body, &doc, NULL) != RES_OK)
        return;
    const json_val *error = json_get(doc, "odata.error");
    if (error == NULL)
        error = json_get(doc, "error");
    const json_val *message = json_get(error, "message");
    if (json_typeof(message) == JSON_OBJECT)
        message = json_get(message, "value");
    *ret_code = json_text(json_get(error, "code"), (str){0});
    *ret_message = json_text(message, (str){0});
}

/* What stands between <name> and </name>; there are no attributes and no nesting in these documents. */
static str element(str body, str open, str close)
{
    size_t from = str_find(body, open);
    if (from == body.len)
        return (str){0};
    str rest = str_from(body, from + open.len);
    return str_slice(rest, 0, str_find(rest, close));
}

void error_read(arena *a, const fetch_answer *got, str *ret_code, str *ret_message)
{
    str body = str_slice(got->body, 0, READ_MAX), code = {0}, message = {0};
    if (str_starts(body, STR("\xEF\xBB\xBF")))
        body = str_from(body, 3); /* Azure puts a byte order mark before its XML */
    body = str_trim(body);
    if (str_starts(body, STR("{"))) {
        read_json(a, body, &code, &message);
    } else if (str_starts(body, STR("<"))) {
        code = str_trim(element(body, STR("<Code>"), STR("</Code>")));
        message = element(body, STR("<Message>"), STR("</Message>"));
    }
    if (!is_code(code))
        code = str_trim(http_header_get(got->headers, got->header_count, STR("x-ms-error-code")));
    *ret_code = is_code(code) ? code : (str){0};
    /* What is refused for its signature or token is sometimes answered with it. */
    bool may_tell = got->status != 401 && got->status != 403;
    *ret_message = may_tell ? first_line(a, message) : (str){0};
}

res azure_result(task *t, const azure_request *in, const azure_answer *got)
{
    int  status = got->http.status;
    res  r = error_result(status, got->code);
    bool refused = status == 401 || status == 403;
    if (r == RES_OK)
        return r;
    task_set_peer(t, status, got->code, got->message);
    return task_fail(t, r, "%s: %d%s%.*s%s%.*s", in->operation, status, got->code.len > 0 ? " " : "",
                     STR_ARG(got->code),
                     refused                ? ": the account's key, signature or token is not accepted"
                     : got->message.len > 0 ? ": "
                                            : "",
                     STR_ARG(got->message));
}
