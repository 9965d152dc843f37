/* copy.c -- see copy.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/copy.h"

#include "core/buf.h"
#include "core/json.h"
#include "domain/actions/row.h"

/* In a text of JSON this can stand in no string, for there its quotes have backslashes before them. */
#define PAYLOAD ",\"payload\":"

static str head_of(arena *a, const entity *e)
{
    char  timestamp[EDM_TIME_SIZE];
    json *head = json_object(a);
    json_set_str(head, "etag", e->etag);
    json_set_str(head, "hash", row_hash(e));
    json_set_str(head, "synced", row_synced(e));
    json_set_str(head, "timestamp", e->timestamp != 0 ? edm_time_format(e->timestamp, timestamp) : STR(""));
    json_set_str(head, "owner", entity_str(e, "Owner", STR("")));
    json_set_str(head, "name", entity_str(e, "Name", STR("")));
    return json_print(a, head);
}

str copy_make(arena *a, const entity *e)
{
    str payload;
    if (row_payload(a, e, &payload) != RES_OK || payload.len > COPY_BYTES_MAX)
        return (str){0};
    str head = head_of(a, e);
    return arena_strf(a, "%.*s" PAYLOAD "%.*s}", STR_ARG(str_slice(head, 0, head.len - 1)), STR_ARG(payload));
}

/* An empty text stands for a column that the row does not have. */
static void set_column(entity *e, const char *column, const json_val *head, const char *member)
{
    str text = json_text(json_get(head, member), STR(""));
    if (text.len > 0)
        entity_set_str(e, column, text);
}

bool copy_read(arena *a, str partition, str row, str text, entity *ret)
{
    size_t          split = str_find(text, STR(PAYLOAD));
    const json_val *head;
    edm_ticks       ticks;
    if (split == text.len || !str_ends(text, STR("}")))
        return false;
    str  payload = str_slice(text, split + sizeof PAYLOAD - 1, text.len - 1);
    bool ok =
        json_parse(a, arena_strf(a, "%.*s}", STR_ARG(str_slice(text, 0, split))), &head, NULL) == RES_OK;
    str etag = json_text(ok ? json_get(head, "etag") : NULL, STR(""));
    if (etag.len == 0 || payload.len == 0)
        return false;

    *ret = entity_new(a, partition, row);
    ret->etag = etag;
    if (edm_time_parse(json_text(json_get(head, "timestamp"), STR("")), &ticks))
        ret->timestamp = ticks;
    entity_set_str(ret, "PayloadJson", payload);
    set_column(ret, "PayloadHash", head, "hash");
    set_column(ret, "LastSyncedUtc", head, "synced");
    set_column(ret, "Owner", head, "owner");
    set_column(ret, "Name", head, "name");
    return true;
}
