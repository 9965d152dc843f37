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
    buf        *out;
    const char *run; /* members that are taken over, up to where the walk is; NULL: none */
    bool        any; /* something is in the object already */
} splice;

typedef struct {
    str key, value; /* as they stand; the key without its quotes */
    str whole;
} member;

typedef struct {
    str owner, name; /* values as they stand; empty: the payload has none that counts */
    str scores[3];   /* openssf_score, ossfScore, ossf_score: the same */
} found;

/* ---- walking ---- */

/* *at is behind the opening bracket, or behind a member. */
static bool next_member(const char **at, member *ret)
{
    const char *p = *at;
    size_t      deepest = 0;
    if (*p == ',')
        p++;
    if (*p == '}')
        return false;
    const char *key_end = walk_string(p), *value = key_end + 2;
    *at = walk_value(value, 0, &deepest);
    ret->key = (str){p + 1, (size_t)(key_end - p - 1)};
    ret->value = (str){value, (size_t)(*at - value)};
    ret->whole = (str){p, (size_t)(*at - p)};
    return true;
}

/* null is as good as nothing; so is the empty text, as owner or name. */
static bool counts(str value, bool score)
{
    return !str_eq(value, STR("null")) && (score || !str_eq(value, STR("\"\"")));
}

static str *place_for(found *f, str key)
{
    if (str_eq(key, STR("owner")))
        return &f->owner;
    if (str_eq(key, STR("name")))
        return &f->name;
    if (str_eq(key, STR("openssf_score")))
        return &f->scores[0];
    if (str_eq(key, STR("ossfScore")))
        return &f->scores[1];
    return str_eq(key, STR("ossf_score")) ? &f->scores[2] : NULL;
}

static found look(str payload)
{
    found       f = {0};
    const char *at = payload.at + 1;
    member      m;
    while (next_member(&at, &m)) {
        str *place = m.key.at[0] == 'o' || m.key.at[0] == 'n' ? place_for(&f, m.key) : NULL;
        if (place != NULL && counts(m.value, place >= f.scores))
            *place = m.value;
    }
    return f;
}

/* ---- writing ---- */

static void add_comma(splice *s)
{
    if (s->any)
        (void)buf_add_char(s->out, ','); /* a failure sticks, and is looked for at the end */
    s->any = true;
}

static void end_run(splice *s, const char *end)
{
    if (s->run == NULL)
        return;
    add_comma(s);
    (void)buf_add(s->out, (str){s->run, (size_t)(end - s->run)});
    s->run = NULL;
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

static bool is_left_out(str key, const found *f, bool rename)
{
    if (str_eq(key, STR("openssf_score")) || str_eq(key, STR("_metadata")))
        return true;
    if (str_eq(key, STR("name")))
        return rename || f->name.len == 0;
    return f->owner.len == 0 && str_eq(key, STR("owner"));
}

static void add_members(splice *s, str payload, const found *f, bool rename)
{
    const char *at = payload.at + 1, *end = at;
    member      m;
    for (; next_member(&at, &m); end = at) {
        if (is_left_out(m.key, f, rename))
            end_run(s, end);
        else if (s->run == NULL)
            s->run = m.whole.at;
    }
    end_run(s, end);
}

static void add_name(splice *s, str raw, size_t prefix)
{
    add_comma(s);
    (void)buf_add(s->out, STR("\"name\":\""));
    (void)buf_add(s->out, str_from(raw, 1 + prefix));
}

static void add_score(splice *s, const found *f)
{
    str score = STR("null");
    for (size_t i = 0; i < sizeof f->scores / sizeof *f->scores; i++) {
        if (f->scores[i].len == 0)
            continue;
        char c = f->scores[i].at[0];
        if (c == '-' || (c >= '0' && c <= '9'))
            score = f->scores[i];
        break;
    }
    add_comma(s);
    (void)buf_add(s->out, STR("\"openssf_score\":"));
    (void)buf_add(s->out, score);
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

static void add_item(splice *s, str payload, const entity *e, const found *f, item_form form)
{
    str  owner = entity_str(e, "Owner", STR("")), name = entity_str(e, "Name", STR(""));
    bool named = f->name.len > 0;
    str  body = named ? str_slice(f->name, 1, f->name.len - 1) : name; /* of a number: nothing that matters */
    size_t prefix = form == ITEM_SINGLE && (!named || f->name.at[0] == '"') ? prefix_of(e, body) : 0;

    (void)buf_add_char(s->out, '{');
    add_members(s, payload, f, prefix > 0);
    if (f->owner.len == 0)
        add_text(s, STR("owner"), owner);
    if (!named)
        add_text(s, STR("name"), str_from(name, prefix));
    else if (prefix > 0)
        add_name(s, f->name, prefix);
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
    if ((f.owner.len == 0 && entity_str(e, "Owner", STR("")).len == 0) ||
        (f.name.len == 0 && entity_str(e, "Name", STR("")).len == 0))
        return RES_UPSTREAM;

    splice s = {.out = out};
    add_item(&s, payload, e, &f, form);
    add_metadata(out, e, synced, form);
    return out->failed ? RES_MEMORY : RES_OK;
}
