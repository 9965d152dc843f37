/* queues_rig.c -- see queues_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/queues_rig.h"

static queues_rig around(wire *w)
{
    queues_rig  r = {.w = w};
    str         why = {0};
    const char *connection =
        textf("AccountName=acct;AccountKey=c2VjcmV0;QueueEndpoint=%s", wire_url(w, "/acct"));
    res made = azure_endpoint_new(scratch(), AZURE_QUEUES, str_of(connection), &r.e, &why);
    ck_assert_msg(made == RES_OK, "%.*s", STR_ARG(why));
    return r;
}

queues_rig queues_rig_start(const wire_answer *answers, size_t count)
{
    return around(wire_start(answers, count, NULL));
}

queues_rig queues_rig_start_fn(wire_fn *fn, void *ctx)
{
    return around(wire_start_fn(fn, ctx, NULL));
}

res queues_rig_run(queues_rig *r, task_fn *fn)
{
    r->result = rig_run(fn, r, 0);
    r->message = rig_message();
    return r->result;
}

const char *queues_rig_line(queues_rig *r, size_t i)
{
    str head = wire_request_at(r->w, i).head;
    return textf("%.*s", STR_ARG(str_slice(head, 0, str_find_char(head, '\r'))));
}

const char *queues_rig_body(queues_rig *r, size_t i)
{
    return textf("%.*s", STR_ARG(wire_request_at(r->w, i).body));
}
