/* test_res.c -- the table of results is whole, and says what clients were promised.
 *
 * SPDX-License-Identifier: MIT */
#include "core/res.h"

#include <check.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

START_TEST(each_code_has_a_whole_row_at_its_index)
{
    const res_info *row = res_get((res)_i);
    ck_assert_int_eq((int)row->code, _i);
    ck_assert_ptr_nonnull(row->name);
    ck_assert_uint_gt(strlen(row->name), 0);
    ck_assert_uint_eq(strspn(row->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(row->name));
    ck_assert_ptr_nonnull(row->text);
    ck_assert_uint_gt(strlen(row->text), 0);
    ck_assert(_i == RES_OK ? row->http_status == 200 : row->http_status >= 400 && row->http_status <= 599);
    ck_assert_str_eq(res_name((res)_i), row->name);
}
END_TEST

START_TEST(no_two_codes_share_a_name)
{
    for (int other = 0; other < RES_COUNT; other++)
        if (other != _i)
            ck_assert_str_ne(res_name((res)_i), res_name((res)other));
}
END_TEST

/* Written out once more on purpose: clients depend on these, so a change of a row must be seen here. */
static const struct {
    res         code;
    int         http_status;
    const char *name;
    bool        retryable;
} promised[] = {
    {RES_OK, 200, "ok", false},
    {RES_INVALID, 400, "invalid", false},
    {RES_UNAUTHENTICATED, 401, "unauthenticated", false},
    {RES_DENIED, 403, "denied", false},
    {RES_NOT_FOUND, 404, "not_found", false},
    {RES_METHOD, 405, "method_not_allowed", false},
    {RES_CONFLICT, 409, "conflict", false},
    {RES_PRECONDITION, 412, "precondition_failed", false},
    {RES_TOO_LARGE, 413, "too_large", false},
    {RES_UNSUPPORTED, 415, "unsupported", false},
    {RES_THROTTLED, 429, "throttled", true},
    {RES_GONE, 499, "gone", false},
    {RES_TIMEOUT, 504, "timeout", true},
    {RES_UNREACHABLE, 502, "unreachable", true},
    {RES_UPSTREAM, 502, "upstream", true},
    {RES_UNAVAILABLE, 503, "unavailable", true},
    {RES_UNPROVISIONED, 503, "unprovisioned", true},
    {RES_MEMORY, 503, "out_of_memory", false},
    {RES_CONFIG, 500, "config", false},
    {RES_INTERNAL, 500, "internal", false},
};

START_TEST(a_row_says_what_clients_were_promised)
{
    ck_assert_int_eq(COUNT(promised), RES_COUNT);
    const res_info *row = res_get(promised[_i].code);
    ck_assert_int_eq(row->http_status, promised[_i].http_status);
    ck_assert_str_eq(row->name, promised[_i].name);
    ck_assert(row->retryable == promised[_i].retryable);
}
END_TEST

START_TEST(an_unknown_code_reads_as_a_fault_of_ours)
{
    static const int unknown[] = {-1, RES_COUNT, RES_COUNT + 1, INT32_MAX, INT32_MIN};
    for (int i = 0; i < COUNT(unknown); i++)
        ck_assert_ptr_eq(res_get((res)unknown[i]), res_get(RES_INTERNAL));
}
END_TEST

static res try_it(res r, int *reached)
{
    TRY(r);
    *reached = 1;
    return RES_OK;
}

START_TEST(try_passes_a_failure_on_and_goes_on_after_success)
{
    int reached = 0;
    ck_assert_int_eq((int)try_it((res)_i, &reached), _i);
    ck_assert_int_eq(reached, _i == RES_OK);
}
END_TEST

Suite *suite_res(void)
{
    Suite *s = suite_create("res");
    TCase *t = tcase_create("res");
    tcase_add_loop_test(t, each_code_has_a_whole_row_at_its_index, 0, RES_COUNT);
    tcase_add_loop_test(t, no_two_codes_share_a_name, 0, RES_COUNT);
    tcase_add_loop_test(t, a_row_says_what_clients_were_promised, 0, COUNT(promised));
    tcase_add_test(t, an_unknown_code_reads_as_a_fault_of_ours);
    tcase_add_loop_test(t, try_passes_a_failure_on_and_goes_on_after_success, 0, RES_COUNT);
    suite_add_tcase(s, t);
    return s;
}
