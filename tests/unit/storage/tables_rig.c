/* tables_rig.c -- see tables_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/tables_rig.h"

azure_endpoint *tables_rig_endpoint(arena *a, const char *connection)
{
    azure_endpoint *e = NULL;
    str             why = {0};
    res             r = azure_endpoint_new(a, AZURE_TABLES, str_of(connection), &e, &why);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(why));
    return e;
}

static tables_rig around(wire *w)
{
    tables_rig r = {.w = w, .a = arena_new((size_t)64 * MIB)};
    ck_assert_ptr_nonnull(r.a);
    str connection =
        arena_strf(r.a, "AccountName=acct;AccountKey=c2VjcmV0;TableEndpoint=%s", wire_url(w, "/acct"));
    r.e = tables_rig_endpoint(r.a, connection.at);
    return r;
}

tables_rig tables_rig_start(const wire_answer *answers, size_t count)
{
    return around(wire_start(answers, count, NULL));
}

tables_rig tables_rig_start_fn(wire_fn *fn, void *ctx)
{
    return around(wire_start_fn(fn, ctx, NULL));
}

void tables_rig_stop(tables_rig *r)
{
    wire_stop(r->w);
    arena_free(r->a);
}

res tables_rig_run(tables_rig *r, task_fn *fn)
{
    r->result = rig_run(fn, r, 0);
    r->message = rig_message();
    return r->result;
}

const char *tables_rig_line(tables_rig *r, size_t i)
{
    str head = wire_request_at(r->w, i).head;
    return arena_cstr(r->a, str_slice(head, 0, str_find_char(head, '\r')));
}

const char *tables_rig_body(tables_rig *r, size_t i)
{
    return arena_cstr(r->a, wire_request_at(r->w, i).body);
}
