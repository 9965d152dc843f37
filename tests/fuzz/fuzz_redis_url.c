/* fuzz_redis_url.c -- any bytes as the URL of a Redis.
 *
 * What is accepted has a host fit for a log and for the resolver, and numbers in range; what is refused is
 * told in one line of plain characters without a word of it.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "runtime/redis_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static bool is_plain(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] < ' ' || s.at[i] > '~')
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(4 * MIB);
    if (a == NULL)
        return 0;
    redis_url   u;
    str         text = {(const char *)data, size};
    const char *wrong = redis_url_parse(a, text, &u);
    if (wrong != NULL) {
        demand(is_plain(str_of(wrong)) && str_of(wrong).len > 0);
    } else {
        demand(is_plain(u.host) && u.host.len > 0 && u.host.len <= REDIS_HOST_MAX);
        demand(str_find_char(u.host, ' ') == u.host.len && str_find_char(u.host, '@') == u.host.len);
        demand(u.port >= 1 && u.port <= UINT16_MAX && u.db <= REDIS_DB_MAX);
        demand(u.user.len == 0 || u.password.len > 0);
        demand(u.user.len + u.password.len <= size);
    }
    arena_free(a);
    return 0;
}
