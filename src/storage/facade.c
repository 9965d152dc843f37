/* facade.c -- see facade.h.
 *
 * SPDX-License-Identifier: MIT */
#include "facade.h"

enum { NAME_MIN = 3, NAME_MAX = 63, NAMES_MOST = 1000, PREFIX_MAX = 64 };

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_name(str name)
{
    if (name.len < NAME_MIN || name.len > NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        bool inner_dash = name.at[i] == '-' && i > 0 && i + 1 < name.len && name.at[i - 1] != '-';
        if (!is_lower_or_digit(name.at[i]) && !inner_dash)
            return false;
    }
    return true;
}

static bool is_prefix(str prefix)
{
    if (prefix.len > PREFIX_MAX)
        return false;
    for (size_t i = 0; i < prefix.len; i++)
        if (!is_lower_or_digit(str_lower_char(prefix.at[i])) && prefix.at[i] != '-')
            return false;
    return true;
}

res facade_check_name(task *t, const char *what, str name)
{
    if (is_name(name))
        return RES_OK;
    return task_fail(t, RES_INVALID, "%s '%.*s': a name has 3 to 63 of a-z, 0-9 and single inner dashes",
                     what, STR_ARG(str_slice(name, 0, FACADE_SHOWN_MAX)));
}

res facade_check_header(task *t, const char *what, str value)
{
    if (value.len == 0 || http_header_value_ok(value))
        return RES_OK;
    return task_fail(t, RES_INVALID, "%s is not fit for a header", what);
}

res facade_check_most(task *t, unsigned most, unsigned max)
{
    if (most >= 1 && most <= max)
        return RES_OK;
    return task_fail(t, RES_INVALID, "%u at once were asked for: 1 to %u are allowed", most, max);
}

res facade_list(task *t, backend_list_fn *list, void *self, str prefix, unsigned most, str token,
                str **ret_names, size_t *ret_count, str *ret_token)
{
    name_page page = {0};
    str       position;

    TRY(facade_check_most(t, most, NAMES_MOST));
    if (!is_prefix(prefix))
        return task_fail(t, RES_INVALID, "no name begins with '%.*s'",
                         STR_ARG(str_slice(prefix, 0, FACADE_SHOWN_MAX)));
    TRY(token_decode(t, TOKEN_NAMES, token, &position));
    TRY(list(self, t, prefix, most, position, &page));
    *ret_names = page.names;
    *ret_count = page.count;
    *ret_token = token_encode(t->arena, TOKEN_NAMES, page.next);
    return RES_OK;
}

res facade_created(task *t, res created)
{
    if (created != RES_CONFLICT)
        return created;
    task_forget(t);
    return RES_OK;
}
