/* canon.c -- canonical JSON: one pass that reads, one that writes, and as little copying as can be.
 *
 * Most of a canonical text stands in the source already, only elsewhere. So the reader notes where things
 * are. A value is either a span, that is bytes which can be copied as they stand (a scalar, or a container in
 * which nothing changes; of the source, or of a side buffer where it had to be spelled anew), or a node, a
 * container in which something changes: a list of pieces, which are spans and further nodes.
 *
 * Until a container is closed its values are entries on a stack, and the keys of an object are also ranks
 * (canon_sort.h) on another. Closing sorts the ranks, turns entries into pieces, and takes both from their
 * stacks. `changes` counts whatever makes the text differ from the source: if it stands where it stood when
 * the container was opened, the container is a span.
 *
 *     {"b":1,"a":[1.0,2,3],"c":[4]}
 *
 *     array 1: node of  1 (side)   2,3 (source)
 *     array 2: span     [4]
 *     object:  node of  "a"   array 1   "b":1   "c":[4]
 *
 * The source is read where it stands but for its last bytes, which are read from a copy (canon_move).
 *
 * SPDX-License-Identifier: MIT */
#include "core/canon.h"

#include <assert.h>
#include <string.h>

#include "canon_reader.h"
#include "canon_text.h"

enum {
    TEXT_BYTES_MAX = 256 * MIB, /* a number may grow to six times its size, and lengths are 32 bits */
    FRAMES_FIRST = 16,
    LIST_FIRST = 64,           /* an ordinary record fits */
    BYTES_PER_PIECE = 24,      /* roughly, in the records that we see */
    IN_PLACE_BYTES = 64 * KIB, /* see limit_of */
};

typedef struct {
    uint32_t next, end;
    char     closing;
} cursor;

/* ---- memory ---- */

/* Room for `more` behind `len` elements, or NULL. */
static void *reserve(canon_reader *r, void *at, uint32_t len, uint32_t more, uint32_t *cap, size_t each_bytes)
{
    if (at != NULL && more <= *cap - len)
        return at;
    uint32_t wanted = *cap < LIST_FIRST ? LIST_FIRST : *cap * 2;
    if (wanted < len + more)
        wanted = len + more;
    void *bigger = arena_regrow(r->a, at, *cap * each_bytes, wanted * each_bytes);
    if (bigger != NULL)
        *cap = wanted;
    return bigger;
}

#define RESERVE(r, list, more) \
    reserve((r), (r)->list, (r)->list##_len, (more), &(r)->list##_cap, sizeof *(r)->list)

/* ---- members ---- */

/* The key's form for sorting, if that is not how it stands: it has escapes, or characters outside the BMP. */
static bool rank_decoded(canon_reader *r, str body, canon_rank *rank)
{
    char *room = canon_side_room(r, body.len + body.len / 2);
    if (room == NULL)
        return canon_fail_memory(r) != NULL;

    size_t len = canon_string_order(body, room);
    r->side += len;
    (void)canon_rank_set(rank, room, (uint32_t)len); /* what it tells is known */
    return true;
}

/* JavaScript's setter of that name swallows the member. */
static inline bool is_proto(const canon_rank *rank)
{
    static const char name[] = "__proto__";
    enum { LEN = sizeof name - 1 };
    return rank->order[0] == '_' && rank->order_len == LEN && memcmp(rank->order, name, LEN) == 0;
}

static inline bool make_room_for_member(canon_reader *r)
{
    if (r->entries_len < r->entries_cap && r->ranks_len < r->ranks_cap)
        return true;
    canon_entry *entries = RESERVE(r, entries, 1);
    canon_rank  *ranks = entries != NULL ? RESERVE(r, ranks, 1) : NULL;
    if (ranks == NULL)
        return canon_fail_memory(r) != NULL;
    r->entries = entries;
    r->ranks = ranks;
    return true;
}

/* From a member's start to its value; pushes the entry, which take() will complete, and the rank. */
static inline const char *read_key(canon_reader *r, const char *start)
{
    canon_spelling how;
    if (*start != '"')
        return canon_fail(r, start, "expected a key in quotes");
    const char *end = canon_read_string(r, &start, &how);
    if (end == NULL || !make_room_for_member(r))
        return NULL;

    canon_frame *f = &r->frames[r->depth - 1];
    canon_rank  *rank = &r->ranks[r->ranks_len];
    str          body = {start + 1, (size_t)(end - start - 1)};
    canon_value  key = {start, (uint32_t)(end + 1 - start)};
    bool         high = canon_rank_set(rank, body.at, (uint32_t)body.len);
    rank->entry = r->entries_len;
    if (how == CANON_REWRITTEN && !canon_rewrite_string(r, start, end, &key))
        return NULL;
    if ((high || how != CANON_PLAIN) && !rank_decoded(r, body, rank))
        return NULL;
    if (is_proto(rank)) {
        r->changes++;
        key.len = 0;
    }
    if (f->sorted && r->ranks_len > f->first_rank && !canon_rank_before(rank - 1, rank)) {
        f->sorted = false;
        r->changes++;
    }
    r->ranks_len++;
    r->entries[r->entries_len++] = (canon_entry){.key = key.at, .key_len = key.len};

    const char *p = canon_blanks(r, end + 1);
    return *p == ':' ? canon_blanks(r, p + 1) : canon_fail(r, p, "expected a colon");
}

/* Whether two spans of one container stand in the source with just a comma or colon between them. Spans of
 * the side buffer have wider gaps, and none ends close to where its memory does. */
static inline bool adjoins(const char *end, const char *next)
{
    return end + 1 == next;
}

static bool push_element(canon_reader *r, const canon_frame *f, const canon_value *v)
{
    if (r->entries_len > f->first_entry && v->at != NULL) {
        canon_entry *newest = &r->entries[r->entries_len - 1];
        if (newest->at != NULL && adjoins(newest->at + newest->len, v->at)) {
            newest->len += v->len + 1;
            return true;
        }
    }
    canon_entry *entries = RESERVE(r, entries, 1);
    if (entries == NULL)
        return canon_fail_memory(r) != NULL;
    r->entries = entries;
    r->entries[r->entries_len++] = (canon_entry){.at = v->at, .len = v->len};
    return true;
}

/* A value has ended: it belongs to the innermost open container. */
static inline bool take(canon_reader *r, const canon_value *v)
{
    const canon_frame *f = &r->frames[r->depth - 1];
    if (!f->object)
        return push_element(r, f, v);
    canon_entry *member = &r->entries[r->entries_len - 1];
    member->at = v->at;
    member->len = v->len;
    return true;
}

/* ---- containers ---- */

static inline char closing_of(bool object)
{
    return object ? '}' : ']';
}

static const char *open_container(canon_reader *r, const char *p)
{
    if (r->depth == CANON_DEPTH_MAX)
        return canon_fail(r, p, "nested too deeply");
    if (r->depth == r->frames_cap) {
        uint32_t     cap = r->frames_cap * 2;
        canon_frame *frames =
            arena_regrow(r->a, r->frames, r->frames_cap * sizeof *frames, cap * sizeof *frames);
        if (frames == NULL)
            return canon_fail_memory(r);
        r->frames = frames;
        r->frames_cap = cap;
    }
    r->frames[r->depth++] = (canon_frame){.start = p,
                                          .changes = r->changes,
                                          .first_entry = r->entries_len,
                                          .first_rank = r->ranks_len,
                                          .object = *p == '{',
                                          .sorted = true};
    if (r->depth > r->deepest)
        r->deepest = r->depth;
    return canon_blanks(r, p + 1);
}

static inline void add_piece(canon_reader *r, canon_node *n, const char *at, uint32_t len, char glue)
{
    if (glue == ',' && at != NULL) {
        canon_piece *newest = &r->pieces[r->pieces_len - 1];
        if (newest->at != NULL && adjoins(newest->at + newest->len, at)) {
            newest->len += len + 1;
            n->len += len + 1;
            return;
        }
    }
    r->pieces[r->pieces_len++] = (canon_piece){.at = at, .len = len, .glue = glue};
    n->len += (at != NULL ? len : r->nodes[len].len) + (glue != '\0');
}

static inline void add_member(canon_reader *r, canon_node *n, const canon_entry *e)
{
    char glue = r->pieces_len > n->first ? ',' : '\0';
    if (e->at != NULL && adjoins(e->key + e->key_len, e->at)) {
        add_piece(r, n, e->key, e->key_len + 1 + e->len, glue);
        return;
    }
    add_piece(r, n, e->key, e->key_len, glue);
    add_piece(r, n, e->at, e->len, ':');
}

static bool sort_members(canon_reader *r, const canon_frame *f)
{
    uint32_t    n = r->ranks_len - f->first_rank;
    canon_rank *ranks = RESERVE(r, ranks, n); /* behind the ranks is the scratch space of the sort */
    if (ranks == NULL)
        return canon_fail_memory(r) != NULL;
    r->ranks = ranks;
    canon_rank_sort(ranks + f->first_rank, n, ranks + r->ranks_len);
    return true;
}

/* Of equal keys, which now are neighbours in their old order, the last counts. */
static bool add_members(canon_reader *r, const canon_frame *f, canon_node *n)
{
    if (!f->sorted && !sort_members(r, f))
        return false;
    for (uint32_t i = f->first_rank; i < r->ranks_len; i++) {
        const canon_rank  *rank = &r->ranks[i];
        const canon_entry *e = &r->entries[rank->entry];
        bool               repeated = i + 1 < r->ranks_len && canon_rank_same(rank, rank + 1);
        if (!repeated && e->key_len > 0)
            add_member(r, n, e);
    }
    return true;
}

static void add_elements(canon_reader *r, const canon_frame *f, canon_node *n)
{
    for (uint32_t i = f->first_entry; i < r->entries_len; i++)
        add_piece(r, n, r->entries[i].at, r->entries[i].len, r->pieces_len > n->first ? ',' : '\0');
}

static bool make_node(canon_reader *r, const canon_frame *f, canon_value *ret)
{
    uint32_t     most = 2 * (r->entries_len - f->first_entry);
    uint32_t     guess = r->pieces == NULL ? r->source_len / BYTES_PER_PIECE : 0;
    canon_piece *pieces = RESERVE(r, pieces, most > guess ? most : guess);
    canon_node  *nodes = pieces != NULL ? RESERVE(r, nodes, 1) : NULL;
    if (nodes == NULL)
        return canon_fail_memory(r) != NULL;
    r->pieces = pieces;
    r->nodes = nodes;

    canon_node n = {.first = r->pieces_len, .len = 2, .object = f->object};
    if (!f->object)
        add_elements(r, f, &n);
    else if (!add_members(r, f, &n))
        return false;
    n.end = r->pieces_len;
    *ret = (canon_value){NULL, r->nodes_len};
    r->nodes[r->nodes_len++] = n;
    return true;
}

/* `end` is behind the closing bracket. */
static const char *close_container(canon_reader *r, const char *end, canon_value *ret)
{
    const canon_frame *f = &r->frames[--r->depth];
    if (f->changes == r->changes)
        *ret = (canon_value){f->start, (uint32_t)(end - f->start)};
    else if (!make_node(r, f, ret))
        return NULL;
    r->entries_len = f->first_entry;
    r->ranks_len = f->first_rank;
    return end;
}

/* ---- the two passes ---- */

/* After a value: closes what ends here. Stops at the next value's start, or with the depth at 0. */
static inline const char *read_on(canon_reader *r, const char *p, canon_value *v)
{
    while (r->depth > 0) {
        if (p >= r->limit && (p = canon_move(r, p)) == NULL)
            return NULL;
        bool object = r->frames[r->depth - 1].object;
        if (!take(r, v))
            return NULL;
        p = canon_blanks(r, p);
        if (*p == ',') {
            p = canon_blanks(r, p + 1);
            return object ? read_key(r, p) : p;
        }
        if (*p != closing_of(object))
            return canon_fail(r, p, object ? "expected , or }" : "expected , or ]");
        p = close_container(r, p + 1, v);
        if (p == NULL)
            return NULL;
    }
    return p;
}

/* From a value's start to that of the next, or with the depth at 0 to the end of all. */
static inline const char *read_value(canon_reader *r, const char *p, canon_value *v)
{
    if (p >= r->limit && (p = canon_move(r, p)) == NULL)
        return NULL;
    if (*p != '{' && *p != '[') {
        p = canon_read_scalar(r, p, v);
        return p != NULL ? read_on(r, p, v) : NULL;
    }
    bool object = *p == '{';
    p = open_container(r, p);
    if (p == NULL)
        return NULL;
    if (*p != closing_of(object))
        return object ? read_key(r, p) : p;
    p = close_container(r, p + 1, v);
    return p != NULL ? read_on(r, p, v) : NULL;
}

static const char *read_text(canon_reader *r, const char *p, canon_value *ret)
{
    do
        p = read_value(r, p, ret);
    while (p != NULL && r->depth > 0);
    return p;
}

static char *write_text(const canon_reader *r, uint32_t root, cursor *open, char *out)
{
    uint32_t depth = 0, enter = root;
    for (;;) {
        const canon_node *n = &r->nodes[enter];
        open[depth++] = (cursor){.next = n->first, .end = n->end, .closing = closing_of(n->object)};
        *out++ = n->object ? '{' : '[';
        for (;;) {
            cursor *c = &open[depth - 1];
            if (c->next == c->end) {
                *out++ = c->closing;
                if (--depth == 0)
                    return out;
                continue;
            }
            const canon_piece *p = &r->pieces[c->next++];
            *out = p->glue;
            out += p->glue != '\0';
            if (p->at == NULL) {
                enter = p->len;
                break;
            }
            out = canon_copy(out, p->at, p->len);
        }
    }
}

static res write_node(canon_reader *r, uint32_t root, str *ret)
{
    size_t  len = r->nodes[root].len;
    cursor *open = arena_alloc(r->a, r->deepest * sizeof *open);
    char   *out = open != NULL ? arena_alloc(r->a, len + CANON_PAD_BYTES) : NULL;
    if (out == NULL)
        return RES_MEMORY;

    const char *end = write_text(r, root, open, out);
    assert((size_t)(end - out) == len);
    *ret = (str){out, len};
    return RES_OK;
}

/* A short text is better moved at once: if it is canonical, it then is one span. And one that does not end
 * with a bracket must be, because nothing but that would end a row of digits or blanks at its end. */
static const char *limit_of(str text)
{
    bool in_place =
        text.len >= IN_PLACE_BYTES && (text.at[text.len - 1] == '}' || text.at[text.len - 1] == ']');
    return in_place ? text.at + text.len - CANON_PAD_BYTES : text.at;
}

static res read_whole(canon_reader *r, str text, canon_value *ret)
{
    r->text = text.at;
    r->end = text.at + text.len;
    r->limit = limit_of(text);
    r->source_len = (uint32_t)text.len;

    size_t      well_formed = canon_text_utf8(text);
    const char *p = text.at;
    if (well_formed < text.len) {
        canon_fail(r, p + well_formed, "not UTF-8");
        return r->code;
    }
    if (p >= r->limit)
        p = canon_move(r, p);
    if (p != NULL)
        p = read_text(r, canon_blanks(r, p), ret);
    if (p != NULL && p < r->end) /* there is nothing to read at the very end, unless we have moved */
        p = canon_blanks(r, p);
    if (p != NULL && p != r->end)
        canon_fail(r, p, "text after the value");
    return r->code;
}

static res refuse(const canon_reader *r, canon_error *err)
{
    if (err != NULL)
        *err = r->error;
    return r->code;
}

res canon_json(arena *a, str text, str *ret, canon_error *err)
{
    canon_reader r = {.a = a, .frames_cap = FRAMES_FIRST};
    canon_value  root = {NULL, 0};

    if (text.len > TEXT_BYTES_MAX) {
        r.code = RES_TOO_LARGE;
        r.error.text = "text too long";
        return refuse(&r, err);
    }
    r.frames = arena_alloc(a, FRAMES_FIRST * sizeof *r.frames);
    if (r.frames == NULL)
        canon_fail_memory(&r);
    else
        (void)read_whole(&r, text.len > 0 ? text : STR(""), &root); /* r.code says it again */
    if (r.code != RES_OK)
        return refuse(&r, err);

    if (root.at == NULL)
        return write_node(&r, root.len, ret);
    *ret = (str){root.at, root.len};
    return RES_OK;
}
