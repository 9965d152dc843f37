/* facade_rig.c -- see facade_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/facade_rig.h"

#include <stdio.h>
#include <string.h>

facade_seen facade_saw;

static void note(str text)
{
    facade_saw.calls++;
    snprintf(facade_saw.text, sizeof facade_saw.text, "%.*s", STR_ARG(text));
}

/* ---- the back end ---- */

static res make(void *self, task *t, str name)
{
    (void)self, (void)t;
    note(name);
    return RES_CONFLICT;
}

static res list(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    (void)self, (void)prefix, (void)most;
    note(position);
    ret->names = arena_array(t->arena, str, 1);
    ret->names[0] = STR("name");
    ret->count = 1;
    ret->next = position.len == 0 ? STR("name 2") : STR("");
    return RES_OK;
}

static res get(void *self, task *t, str in, str partition, str row, const char *const *select, entity *ret)
{
    (void)self, (void)in, (void)select;
    note(row);
    *ret = entity_new(t->arena, partition, row);
    return RES_OK;
}

static res write_one(void *self, task *t, str in, const table_write *w)
{
    (void)self, (void)t, (void)in;
    note(w->etag);
    return RES_OK;
}

static res commit(void *self, task *t, str in, const table_write *writes, size_t count, size_t *ret_failed)
{
    (void)self, (void)in, (void)writes, (void)ret_failed;
    note(STR(""));
    if (facade_saw.answer == RES_OK)
        return RES_OK;
    *ret_failed = count - 1;
    return task_fail(t, facade_saw.answer, "scripted");
}

/* FACADE_PAGES pages, the second of them empty; the position is the number of the page. */
static res query(void *self, task *t, str in, const table_query *q, entity_page *ret)
{
    (void)self, (void)in;
    note(q->token);
    facade_saw.top = q->top;
    uint64_t page = 0;
    if (q->token.len > 0 && (!str_to_u64(q->token, &page) || page >= FACADE_PAGES))
        return task_fail(t, RES_INVALID, "no position");
    if (facade_saw.slow)
        TRY(task_sleep(t, 0));
    ret->len = page == 1 ? 0 : FACADE_PAGE_ROWS;
    ret->at = arena_array(t->arena, entity, FACADE_PAGE_ROWS);
    for (size_t i = 0; i < ret->len; i++)
        ret->at[i] = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%d-%zu", (int)page, i));
    ret->token = page + 1 < FACADE_PAGES ? arena_strf(t->arena, "%d", (int)page + 1) : STR("");
    return RES_OK;
}

static const tables_ops table_ops = {make, make, list, get, write_one, commit, query};

static res put(void *self, task *t, str in, str name, str bytes, const blob_put *how, blob_info *ret)
{
    (void)self, (void)t, (void)in, (void)how, (void)ret;
    note(name);
    facade_saw.puts++;
    facade_saw.bytes += bytes.len;
    return RES_OK;
}

static res put_block(void *self, task *t, str in, str name, str upload, uint32_t number, str bytes)
{
    (void)self, (void)in;
    note(name);
    snprintf(facade_saw.upload, sizeof facade_saw.upload, "%.*s", STR_ARG(upload));
    ck_assert_uint_le(bytes.len, BLOBS_BLOCK);
    ck_assert(!facade_saw.has_block[number]);
    facade_saw.has_block[number] = true;
    facade_saw.at_once++;
    facade_saw.at_once_most =
        facade_saw.at_once > facade_saw.at_once_most ? facade_saw.at_once : facade_saw.at_once_most;
    res r = task_sleep(t, 1);
    facade_saw.at_once--;
    facade_saw.bytes += bytes.len;
    return r;
}

static res put_blocks(void *self, task *t, str in, str name, str upload, uint32_t count, const blob_put *how,
                      blob_info *ret)
{
    (void)self, (void)t, (void)in, (void)how, (void)ret;
    note(name);
    ck_assert(str_eq(upload, str_of(facade_saw.upload)));
    facade_saw.blocks = count;
    for (uint32_t i = 0; i < count; i++)
        ck_assert(facade_saw.has_block[i]);
    return RES_OK;
}

static res get_blob(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret)
{
    (void)self, (void)t, (void)in, (void)ret;
    note(name);
    facade_saw.bytes = how->bytes_max;
    return RES_OK;
}

static res list_blobs(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                      blob_page *ret)
{
    (void)self, (void)t, (void)in, (void)prefix, (void)delimiter, (void)most;
    note(position);
    ret->token = STR("marker");
    return RES_OK;
}

static res remove_blob(void *self, task *t, str in, str name, str if_match)
{
    (void)self, (void)t, (void)in, (void)if_match;
    note(name);
    return RES_OK;
}

static res append(void *self, task *t, str in, str name, str bytes, uint64_t at, uint64_t *ret_bytes)
{
    (void)self, (void)t, (void)in, (void)at;
    note(name);
    *ret_bytes = bytes.len;
    return RES_OK;
}

static const blobs_ops blob_ops = {.create = make,
                                   .drop = make,
                                   .list = list,
                                   .put = put,
                                   .put_block = put_block,
                                   .put_blocks = put_blocks,
                                   .get = get_blob,
                                   .remove = remove_blob,
                                   .list_blobs = list_blobs,
                                   .append = append};

static res put_message(void *self, task *t, str in, str wire, unsigned delay_s, int ttl_s, queue_message *ret)
{
    (void)self, (void)t, (void)delay_s;
    note(wire);
    snprintf(facade_saw.queue, sizeof facade_saw.queue, "%.*s", STR_ARG(in));
    facade_saw.bytes = wire.len;
    facade_saw.ttl_s = ttl_s;
    ret->id = STR("id");
    return RES_OK;
}

static res receive(void *self, task *t, str in, unsigned most, unsigned hide_s, queue_message **ret,
                   size_t *ret_count)
{
    (void)self, (void)in, (void)most, (void)hide_s;
    note(STR(""));
    *ret = arena_array(t->arena, queue_message, 2);
    (*ret)[0].body = STR("aGVsbG8=");
    (*ret)[1].body = STR("not base64!");
    *ret_count = 2;
    return RES_OK;
}

static res update(void *self, task *t, str in, queue_message *m, const str *wire, unsigned hide_s)
{
    (void)self, (void)t, (void)in, (void)hide_s;
    note(wire != NULL ? *wire : STR("(none)"));
    m->receipt = STR("new");
    return RES_OK;
}

static res remove_message(void *self, task *t, str in, str id, str receipt)
{
    (void)self, (void)t, (void)in, (void)id, (void)receipt;
    facade_saw.calls++;
    return facade_saw.answer == RES_OK ? RES_OK : task_fail(t, facade_saw.answer, "scripted");
}

static const queues_ops queue_ops = {.create = make,
                                     .drop = make,
                                     .list = list,
                                     .put = put_message,
                                     .receive = receive,
                                     .update = update,
                                     .remove = remove_message};

static const backend fake = {.tables = &table_ops, .blobs = &blob_ops, .queues = &queue_ops};

/* ---- running ---- */

void facade_before(void)
{
    memset(&facade_saw, 0, sizeof facade_saw);
    store_set_for_test(STORE_MAIN, &fake);
}

void facade_after(void)
{
    store_set_for_test(STORE_MAIN, NULL);
}

void facade_try(const facade_trial *c)
{
    facade_saw.calls = 0;
    res r = storage_rig_run(c->fn, NULL, 0);
    ck_assert_msg(r == c->expected, "%s: %s", res_name(r), storage_rig_message());
    ck_assert((facade_saw.calls > 0) == (r == RES_OK));
    if (r != RES_OK)
        ck_assert_msg(strstr(storage_rig_message(), c->word) != NULL, "'%s' is not in: %s", c->word,
                      storage_rig_message());
}

str facade_repeat(task *t, char c, size_t n)
{
    char *all = arena_alloc(t->arena, n + 1);
    memset(all, c, n);
    return (str){all, n};
}
