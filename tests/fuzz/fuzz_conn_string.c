/* fuzz_conn_string.c -- any bytes as a connection, for the service that the first byte chooses.
 *
 * What is accepted must be fit for a URL and for a header as it is; what is refused must be told in one line
 * of plain characters, since it is printed at start.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "storage/azure/conn_string.h"

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

static bool is_inside(str part, str whole)
{
    return part.at >= whole.at && part.at + part.len <= whole.at + whole.len;
}

static void check(const conn_string *c)
{
    demand(str_starts_nocase(c->url, c->tls ? STR("https://") : STR("http://")));
    demand(is_plain(c->url) && str_find_char(c->url, ' ') == c->url.len);
    demand(str_find_char(c->url, '?') == c->url.len && str_find_char(c->url, '#') == c->url.len);
    demand(c->host.len > 0 && is_inside(c->host, c->url) && is_inside(c->path, c->url));
    demand(str_ends(c->url, c->path) && (c->path.len == 0 || c->path.at[0] == '/'));
    demand(http_header_value_ok(c->account) && http_header_value_ok(c->sas));
    demand(c->kind == CONN_SAS ? c->sas.len > 0 : c->sas.len == 0);
    demand(c->kind == CONN_KEY ? c->key.len > 0 && c->account.len > 0 : c->key.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    arena *a = arena_new(4 * MIB);
    if (a == NULL)
        return 0;
    conn_string c;
    str         why = {0}, text = {(const char *)data + 1, size - 1};
    res         r = conn_string_parse(a, (azure_service)(data[0] % 3), text, &c, &why);
    if (r == RES_OK)
        check(&c);
    else
        demand(r == RES_CONFIG && why.len > 0 && is_plain(why));
    arena_free(a);
    return 0;
}
