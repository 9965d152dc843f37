/* snapshot_index.c -- see snapshot_index.h.
 *
 * An item is parsed by itself, in memory that the next one uses again: the whole tree of the document would
 * be several times as large as the document.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/snapshot_index.h"

#include <stdlib.h>
#include <string.h>

#include "domain/actions/parts.h"
#include "domain/actions/record.h"

enum { ITEM_MEMORY = 64 * MIB, HAYSTACKS_MAX = 256 * MIB, FIRST_ITEMS = 1024 };

static bool grow(snapshot_index *x)
{
    if (x->count < x->cap)
        return true;
    size_t         cap = x->cap > 0 ? 2 * x->cap : FIRST_ITEMS;
    snapshot_item *items = realloc(x->items, cap * sizeof *items);
    if (items == NULL)
        return false;
    x->items = items;
    x->cap = cap;
    return true;
}

static str text_of(const json_val *item, const char *key)
{
    return json_text(json_get(item, key), (str){0});
}

/* While the buf grows it may move, so views of it are kept as offsets from NULL until all is there. */
static str since(const buf *b, size_t from)
{
    return (str){(const char *)(uintptr_t)from, b->len - from};
}

static void settle(str *view, const buf *b)
{
    view->at = b->at + (uintptr_t)view->at;
}

static void add_lower(arena *a, buf *out, str text)
{
    str lower = record_key(a, text);
    if (lower.at == NULL && text.len > 0)
        out->failed = true;
    (void)buf_add(out, lower);
}

static void add_item(arena *a, snapshot_index *x, const json_val *v, str text)
{
    buf           *out = &x->haystacks;
    size_t         from = out->len;
    snapshot_item *item = &x->items[x->count++];
    *item = (snapshot_item){
        .json = text,
        .verified = json_truth(json_get(v, "verified"), false),
        .archived = json_truth(json_get(json_get(v, "repoInfo"), "archived"), false),
    };
    add_lower(a, out, text_of(v, "owner"));
    (void)buf_add_char(out, ' ');
    add_lower(a, out, text_of(v, "name"));
    item->title_bytes = out->len - from;
    (void)buf_add_char(out, ' ');
    size_t type = out->len;
    add_lower(a, out, text_of(json_get(v, "actionType"), "actionType"));
    item->type = since(out, type);
    (void)buf_add_char(out, ' ');
    add_lower(a, out, text_of(v, "description"));
    if (item->verified)
        (void)buf_add(out, STR(" verified"));
    if (item->archived)
        (void)buf_add(out, STR(" archived"));
    item->haystack = since(out, from);
    (void)buf_add_char(out, '\n');
}

static res add_items(arena *a, str list, snapshot_index *x)
{
    part  one;
    parts p = parts_of(list);
    while (parts_next(&p, &one)) {
        const json_val *v = NULL;
        arena_reset(a);
        res r = json_parse(a, one.value, &v, NULL);
        if (r == RES_MEMORY || !grow(x))
            return RES_MEMORY;
        if (r == RES_OK && json_typeof(v) == JSON_OBJECT)
            add_item(a, x, v, one.value);
        if (x->haystacks.failed)
            return RES_MEMORY;
    }
    return p.damaged || p.closing != ']' ? RES_UPSTREAM : RES_OK;
}

res snapshot_index_make(str document, snapshot_index *ret)
{
    part           items;
    snapshot_index x = {0};
    if (!parts_member(document, STR("items"), &items))
        return RES_UPSTREAM;
    arena *a = arena_new(ITEM_MEMORY);
    if (a == NULL)
        return RES_MEMORY;
    buf_init(&x.haystacks, NULL, HAYSTACKS_MAX);
    res r = add_items(a, items.value, &x);
    arena_free(a);
    if (r != RES_OK) {
        snapshot_index_free(&x);
        return r;
    }
    for (size_t i = 0; i < x.count; i++) {
        settle(&x.items[i].haystack, &x.haystacks);
        settle(&x.items[i].type, &x.haystacks);
    }
    *ret = x;
    return RES_OK;
}

void snapshot_index_free(snapshot_index *x)
{
    free(x->items);
    buf_free(&x->haystacks);
    *x = (snapshot_index){0};
}
