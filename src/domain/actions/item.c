/* item.c -- see item.h.
 *
 * A stored payload is canonical, or nearly always is: making sure of it costs one walk and checks that it is
 * JSON at all. Its members are then taken over as they stand, in runs as long as can be; what is told about
 * the row comes behind them.
 *
 *     {"a":1,"name":"n","openssf_score":1,"owner":"o"}
 *      ^-- run ----^    left out          ^- run -^     ,"openssf_score":1,"_metadata":{…}
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/item.h"

#include "core/canon.h"
#include "domain/actions/canonical_walk.h"
#include "domain/actions/row.h"

typedef struct {
    buf *out;
    bool any; /* something is in the object already */
} splice;

typedef struct {
    str whole, value; /* as they stand; empty: the payload has no such member */
} member;

/* The members that matter here. The first four are left out at times; they are in the order of canonical
 * text.
 */
typedef enum { METADATA, NAME, OPENSSF_SCORE, OWNER, OSSF_SCORE_CAMEL, OSSF_SCORE, MEMBERS } which;
enum { LEFT_OUT = OWNER + 1 };

static const str keys[MEMBERS] = {
    STR_INIT("_metadata"), STR_INIT("name"),      STR_INIT("openssf_score"),
    STR_INIT("owner"),     STR_INIT("ossfScore"), STR_INIT("ossf_score"),
};

typedef struct {
    member at[MEMBERS];
} found;

/* ---- looking ---- */

static which which_of(str key)
{
    which w = METADATA;
    while (w < MEMBERS && !str_eq(keys[w], key))
        w++;
    return w;
}

static found look(str payload)
{
    found       f = {0};
    const char *p = payload.at + 1, *end = payload.at + payload.len;
    while (*p != '}') {
        size_t      deepest = 0;
        const char *key = p, *key_end = walk_string(key, end), *value = key_end + 2;
        bool        may_matter = key[1] == 'o' || key[1] == 'n' || key[1] == '_';
        p = walk_value(value, end, 0, &deepest);
        which w = may_matter ? which_of((str){key + 1, (size_t)(key_end - key - 1)}) : MEMBERS;
        if (w < MEMBERS)
            f.at[w] = (member){{key, (size_t)(p - key)}, {value, (size_t)(p - value)}};
        p += *p == ',';
    }
    return f;
}

static bool is_null(const member *m)
{
    return m->value.len == 0 || str_eq(m->value, STR("null"));
}

/* The empty text is as good as none. */
static bool is_named(const member *m)
{
    return !is_null(m) && !str_eq(m->value, STR("\"\""));
}

/* ---- writing ---- */

static void add_comma(splice *s)
{
    if (s->any)
        (void)buf_add_char(s->out, ','); /* a failure sticks, and is looked for at the end */
    s->any = true;
}

/* Members that are taken over, without the commas at either end. */
static void add_run(splice *s, const char *from, const char *to)
{
    from += from < to && *from == ',';
    to -= from < to && to[-1] == ',';
    if (from == to)
        return;
    add_comma(s);
    (void)buf_add(s->out, (str){from, (size_t)(to - from)});
}

static void add_quoted(buf *out, str text)
{
    size_t from = 0;
    (void)buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        (void)buf_add(out, str_slice(text, from, i));
        if (c < 0x20)
            (void)buf_addf(out, "\\u%04x", c);
        else
            (void)buf_addf(out, "\\%c", c);
        from = i + 1;
    }
    (void)buf_add(out, str_from(text, from));
    (void)buf_add_char(out, '"');
}

/* ,"key":"text", or null for the empty one. */
static void add_text(splice *s, str key, str text)
{
    add_comma(s);
    add_quoted(s->out, key);
    (void)buf_add_char(s->out, ':');
    if (text.len > 0)
        add_quoted(s->out, text);
    else
        (void)buf_add(s->out, STR("null"));
}

/* How much of a name is the owner's key and a line below it; 0: nothing, or all of it. */
static size_t prefix_of(const entity *e, str name)
{
    size_t len = e->partition.len;
    return name.len > len + 1 && str_starts(name, e->partition) && name.at[len] == '_' ? len + 1 : 0;
}

static void add_members(splice *s, str payload, const found *f, bool rename)
{
    const char *from = payload.at + 1;
    bool        left_out[LEFT_OUT] = {[METADATA] = true,
                                      [NAME] = rename || !is_named(&f->at[NAME]),
                                      [OPENSSF_SCORE] = true,
                                      [OWNER] = !is_named(&f->at[OWNER])};
    for (size_t i = 0; i < LEFT_OUT; i++) {
        str whole = f->at[i].whole;
        if (!left_out[i] || whole.len == 0)
            continue;
        add_run(s, from, whole.at);
        from = whole.at + whole.len;
    }
    add_run(s, from, payload.at + payload.len - 1);
}

static void add_name(splice *s, str raw, size_t prefix)
{
    add_comma(s);
    (void)buf_add(s->out, STR("\"name\":\""));
    (void)buf_add(s->out, str_from(raw, 1 + prefix));
}

/* The first that is there counts, if it is a number (specification §3). */
static str score_of(const found *f)
{
    static const which order[] = {OPENSSF_SCORE, OSSF_SCORE_CAMEL, OSSF_SCORE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const member *m = &f->at[order[i]];
        if (is_null(m))
            continue;
        char c = m->value.at[0];
        return c == '-' || (c >= '0' && c <= '9') ? m->value : STR("null");
    }
    return STR("null");
}

static void add_score(splice *s, const found *f)
{
    add_comma(s);
    (void)buf_add(s->out, STR("\"openssf_score\":"));
    (void)buf_add(s->out, score_of(f));
}

static str shown_synced(arena *a, const entity *e, item_form form)
{
    str synced = row_synced(e);
    if (form == ITEM_LISTED || !str_ends(synced, STR(".000Z")))
        return synced;
    return arena_strf(a, "%.*sZ", STR_ARG(str_slice(synced, 0, synced.len - STR(".000Z").len)));
}

static void add_metadata(buf *out, const entity *e, str synced, item_form form)
{
    splice s = {.out = out};
    (void)buf_add(out, STR(",\"_metadata\":{"));
    add_text(&s, STR("partitionKey"), e->partition);
    add_text(&s, STR("rowKey"), e->row);
    add_text(&s, STR("payloadHash"), row_hash(e));
    add_text(&s, STR("etag"), e->etag);
    add_text(&s, STR("lastSyncedUtc"), synced);
    if (form == ITEM_SINGLE && e->timestamp != 0) {
        char time[EDM_TIME_SIZE];
        add_text(&s, STR("timestamp"), edm_time_format(e->timestamp, time));
    }
    (void)buf_add(out, STR("}}"));
}

static res canonical_payload(arena *a, const entity *e, str *ret)
{
    str payload, canonical;
    res r = row_payload(a, e, &payload);
    if (r == RES_OK)
        r = canon_json(a, payload, &canonical, NULL);
    if (r != RES_OK)
        return r == RES_MEMORY ? r : RES_UPSTREAM;
    if (canonical.at[0] != '{')
        return RES_UPSTREAM;
    *ret = canonical;
    return RES_OK;
}

/* A name that the payload does not have is that of the column. */
static void add_item(splice *s, str payload, const entity *e, const found *f, item_form form)
{
    str    owner = entity_str(e, "Owner", STR("")), name = entity_str(e, "Name", STR(""));
    str    raw = f->at[NAME].value;
    bool   named = is_named(&f->at[NAME]);
    str    body = named ? str_slice(raw, 1, raw.len - 1) : name; /* of a number: nothing that matters */
    size_t prefix = form == ITEM_SINGLE && (!named || raw.at[0] == '"') ? prefix_of(e, body) : 0;

    (void)buf_add_char(s->out, '{');
    add_members(s, payload, f, prefix > 0);
    if (!is_named(&f->at[OWNER]))
        add_text(s, STR("owner"), owner);
    if (!named)
        add_text(s, STR("name"), str_from(name, prefix));
    else if (prefix > 0)
        add_name(s, raw, prefix);
    add_score(s, f);
}

res item_add(arena *a, buf *out, const entity *e, item_form form)
{
    str payload;
    res r = canonical_payload(a, e, &payload);
    if (r != RES_OK)
        return r;
    found f = look(payload);
    str   synced = shown_synced(a, e, form);
    if (synced.at == NULL && row_synced(e).at != NULL)
        return RES_MEMORY;
    if ((!is_named(&f.at[OWNER]) && entity_str(e, "Owner", STR("")).len == 0) ||
        (!is_named(&f.at[NAME]) && entity_str(e, "Name", STR("")).len == 0))
        return RES_UPSTREAM;

    splice s = {.out = out};
    add_item(&s, payload, e, &f, form);
    add_metadata(out, e, synced, form);
    return out->failed ? RES_MEMORY : RES_OK;
}
