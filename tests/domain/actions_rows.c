/* actions_rows.c -- see actions_rows.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"

static void put(task *t, entity *e)
{
    OK(tables_upsert_replace(t, settings_get()->records, e));
}

static entity whole(task *t, const char *owner, const char *name, const char *members, const char *synced)
{
    arena *a = t->arena;
    entity e = entity_new(a, record_key(a, str_of(owner)), record_key(a, str_of(name)));
    entity_set_str(&e, "PayloadJson",
                   arena_strf(a, "{\"name\":\"%s\",\"owner\":\"%s\"%s}", name, owner, members));
    entity_set_str(&e, "PayloadHash", STR(ROWS_HASH));
    entity_set_str(&e, "LastSyncedUtc", str_of(synced));
    entity_set_str(&e, "Owner", str_of(owner));
    entity_set_str(&e, "Name", str_of(name));
    return e;
}

void rows_put(task *t, const char *owner, const char *name, const char *members)
{
    entity e = whole(t, owner, name, members, ROWS_SYNCED);
    put(t, &e);
}

void rows_put_synced(task *t, const char *owner, const char *name, const char *synced)
{
    entity e = whole(t, owner, name, "", synced);
    put(t, &e);
}

void rows_put_raw(task *t, const char *partition, const char *row, const char *payload)
{
    entity e = entity_new(t->arena, str_of(partition), str_of(row));
    entity_set_str(&e, "PayloadJson", str_of(payload));
    entity_set_str(&e, "PayloadHash", STR(ROWS_HASH));
    entity_set_str(&e, "LastSyncedUtc", STR(ROWS_SYNCED));
    put(t, &e);
}

void rows_put_cache(task *t, const char *text)
{
    entity e = entity_new(t->arena, STR(ROW_STATS_PARTITION), STR(ROW_STATS_ROW));
    entity_set_str(&e, "CacheJson", str_of(text));
    put(t, &e);
}

str rows_cache(task *t)
{
    entity e;
    res    r = tables_get(t, settings_get()->records, STR(ROW_STATS_PARTITION), STR(ROW_STATS_ROW), &e);
    task_forget(t);
    return r == RES_OK ? entity_str(&e, "CacheJson", STR("")) : STR("");
}

const char *rows_page(const char *owner, unsigned first, unsigned count, size_t payload_bytes)
{
    buf out;
    str filler = live_repeat(scratch(), STR("x"), payload_bytes);
    buf_init(&out, scratch(), 256 * MIB);
    for (unsigned i = first; i < first + count; i++)
        buf_addf(&out,
                 "%s{\"odata.etag\":\"W/\\\"%u\\\"\",\"PartitionKey\":\"%s\",\"RowKey\":\"r%05u\","
                 "\"Timestamp\":\"2026-01-02T03:04:05.1234567Z\",\"PayloadHash\":\"" ROWS_HASH
                 "\",\"LastSyncedUtc\":\"" ROWS_SYNCED "\",\"Owner\":\"%s\",\"Name\":\"r%05u\","
                 "\"PayloadJson\":\"{\\\"name\\\":\\\"r%05u\\\",\\\"owner\\\":\\\"%s\\\",\\\"x\\\":\\\"%.*"
                 "s\\\"}\"}",
                 i > first ? "," : "", i, owner, i, owner, i, i, owner, STR_ARG(filler));
    buf_add_char(&out, '\0');
    ck_assert(!out.failed);
    return out.at;
}

bool rows_asks_cache(const wire_request *r)
{
    str line = str_slice(r->head, 0, str_find_char(r->head, '\r'));
    return str_has(line, STR(ROW_STATS_PARTITION)) && !str_has(line, STR("()"));
}
