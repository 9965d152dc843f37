/* azure_blobs_rig.c -- see azure_blobs_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/azure_blobs_rig.h"

static blobs_rig around(wire *w)
{
    blobs_rig r = {.w = w, .a = arena_new((size_t)64 * MIB)};
    str       why = {0};
    ck_assert_ptr_nonnull(r.a);
    str connection =
        arena_strf(r.a, "AccountName=acct;AccountKey=c2VjcmV0;BlobEndpoint=%s", wire_url(w, "/acct"));
    res made = azure_endpoint_new(r.a, AZURE_BLOBS, connection, &r.e, &why);
    ck_assert_msg(made == RES_OK, "%.*s", STR_ARG(why));
    return r;
}

blobs_rig blobs_rig_start(const wire_answer *answers, size_t count)
{
    return around(wire_start(answers, count, NULL));
}

blobs_rig blobs_rig_start_fn(wire_fn *fn, void *ctx)
{
    return around(wire_start_fn(fn, ctx, NULL));
}

void blobs_rig_stop(blobs_rig *r)
{
    wire_stop(r->w);
    arena_free(r->a);
}

res blobs_rig_run(blobs_rig *r, task_fn *fn)
{
    r->got_len = 0;
    r->result = rig_run(fn, r, 0);
    r->message = rig_message();
    return r->result;
}

const char *blobs_rig_line(blobs_rig *r, size_t i)
{
    str head = wire_request_at(r->w, i).head;
    return arena_cstr(r->a, str_slice(head, 0, str_find_char(head, '\r')));
}

const char *blobs_rig_body(blobs_rig *r, size_t i)
{
    return arena_cstr(r->a, wire_request_at(r->w, i).body);
}

void blobs_rig_check(blobs_rig *r, size_t i, const char *const *has, const char *const *lacks, size_t most)
{
    str head = wire_request_at(r->w, i).head;
    for (size_t k = 0; k < most && has[k] != NULL; k++)
        ck_assert_msg(wire_has_header(r->w, i, has[k]), "lacks %s", has[k]);
    for (size_t k = 0; k < most && lacks[k] != NULL; k++)
        ck_assert_msg(!str_has(head, str_of(lacks[k])), "has %s", lacks[k]);
}
