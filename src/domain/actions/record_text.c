/* record_text.c -- see record_text.h.
 *
 * One walk over the canonical text. It knows the few members that matter, steps into the objects that hold
 * some of them, and over all else. The text is copied only when the first piece of it has to be spelled anew;
 * no piece grows by that, so the copy needs no more room than the text.
 *
 * Each key has one spelling in canonical JSON, so keys are compared as they stand.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/record_text.h"

#include <string.h>

#include "domain/actions/canonical_walk.h"
#include "domain/actions/record_time.h"

/* ---- which members matter ---- */

typedef enum { RULE_NONE, RULE_OWNER, RULE_NAME, RULE_TIME, RULE_INSIDE } rule_kind;

typedef struct rule rule;
struct rule {
    str         key; /* empty: the end of the list */
    rule_kind   kind;
    const rule *inside;
};

#define TIME(name)                      \
    {                                   \
        STR_INIT(name), RULE_TIME, NULL \
    }
#define INSIDE(name, list)                \
    {                                     \
        STR_INIT(name), RULE_INSIDE, list \
    }
#define END                        \
    {                              \
        {NULL, 0}, RULE_NONE, NULL \
    }

static const rule in_scan[] = {TIME("lastScanned"), END};
static const rule in_type[] = {INSIDE("containerScan", in_scan), END};
static const rule in_repo[] = {TIME("updated_at"), TIME("latest_release_published_at"), END};
static const rule in_vulnerabilities[] = {TIME("lastUpdated"), END};
static const rule in_dependents[] = {TIME("dependentsLastUpdated"), END};
static const rule in_record[] = {
    {STR_INIT("owner"), RULE_OWNER, NULL},
    {STR_INIT("name"), RULE_NAME, NULL},
    INSIDE("actionType", in_type),
    INSIDE("repoInfo", in_repo),
    INSIDE("vulnerabilityStatus", in_vulnerabilities),
    INSIDE("dependents", in_dependents),
    TIME("mirrorLastUpdated"),
    TIME("ossfDateLastUpdate"),
    END,
};
enum { LEVELS = 3 }; /* record, actionType, containerScan */

static const rule nothing = END;
static const rule any_at = TIME("At");

static const rule *rule_for(const rule *list, str key)
{
    for (const rule *r = list; r->key.len > 0; r++)
        if (r->key.len == key.len && memcmp(r->key.at, key.at, key.len) == 0)
            return r;
    return list == in_record && str_ends(key, any_at.key) ? &any_at : &nothing;
}

/* ---- walking ---- */

typedef struct {
    arena      *a;
    str         from;
    bool        timestamps, no_memory;
    char       *out;    /* NULL: nothing was spelled anew yet */
    size_t      len;    /* of out */
    const char *copied; /* what stands before it is in out */
    record_text found;
} walk;

/* ---- spelling anew ---- */

static void put(walk *w, const char *at, size_t len)
{
    if (len > 0 && w->out != NULL)
        memcpy(w->out + w->len, at, len);
    w->len += len;
}

/* What stands from `from` to `to` is left out; the caller may put something no longer in its place. */
static void leave_out(walk *w, const char *from, const char *to)
{
    if (w->out == NULL && !w->no_memory) {
        w->out = arena_alloc(w->a, w->from.len);
        w->no_memory = w->out == NULL;
        w->copied = w->from.at;
    }
    if (w->no_memory)
        return;
    put(w, w->copied, (size_t)(from - w->copied));
    w->copied = to;
}

static void spell_time(walk *w, str body)
{
    record_time t;
    if (!w->timestamps || !record_time_rewrite(body, &t))
        return;
    leave_out(w, body.at, body.at + body.len);
    if (w->no_memory)
        return;
    put(w, t.head, sizeof t.head);
    put(w, ".", t.fraction.len > 0);
    put(w, t.fraction.at, t.fraction.len);
    put(w, "Z", 1);
}

/* The length of a blank as it stands in a canonical string, where some are escapes. */
static size_t white_in_string(const char *p, size_t left)
{
    if (*p != '\\')
        return record_white(p, left);
    if (p[1] == 'u')
        return memcmp(p, "\\u000b", 6) == 0 ? 6 : 0;
    return strchr("tnfr", p[1]) != NULL ? 2 : 0;
}

static size_t unit_in_string(const char *p)
{
    return *p != '\\' ? 1 : p[1] == 'u' ? 6 : 2;
}

static str trim_string(str body)
{
    const char *p = body.at, *end = p + body.len, *from = end, *to = end;
    while (p < end) {
        size_t blank = white_in_string(p, (size_t)(end - p));
        if (blank == 0 && from == end)
            from = p;
        p += blank > 0 ? blank : unit_in_string(p);
        if (blank == 0)
            to = p;
    }
    return (str){from, (size_t)(to - from)};
}

static void read_field(walk *w, str value, record_field *ret)
{
    if (*value.at != '"') {
        bool other = *value.at == '{' || *value.at == '[' || *value.at == 't' || *value.at == 'f';
        ret->kind = *value.at == 'n' ? FIELD_ABSENT : other ? FIELD_OTHER : FIELD_NUMBER;
        ret->raw = value;
        return;
    }
    str body = str_slice(value, 1, value.len - 1);
    ret->kind = FIELD_TEXT;
    ret->raw = trim_string(body);
    if (ret->raw.len == body.len)
        return;
    leave_out(w, body.at, ret->raw.at);
    leave_out(w, ret->raw.at + ret->raw.len, body.at + body.len);
}

static void read_value(walk *w, rule_kind kind, str value)
{
    if (kind == RULE_OWNER)
        read_field(w, value, &w->found.owner);
    else if (kind == RULE_NAME)
        read_field(w, value, &w->found.name);
    else if (kind == RULE_TIME && *value.at == '"')
        spell_time(w, str_slice(value, 1, value.len - 1));
}

/* `open` are the rules of the objects that we are in; each has a member to come. */
static void read_members(walk *w, const char *p)
{
    const rule *open[LEVELS] = {in_record};
    const char *end = w->from.at + w->from.len;
    size_t      depth = 1;
    while (depth > 0) {
        const char *key_end = walk_string(p, end), *value = key_end + 2;
        const rule *r = rule_for(open[depth - 1], (str){p + 1, (size_t)(key_end - p - 1)});
        if (r->kind == RULE_INSIDE && value[0] == '{' && value[1] != '}') {
            open[depth++] = r->inside;
            if (depth > w->found.depth)
                w->found.depth = depth;
            p = value + 1;
            continue;
        }
        p = walk_value(value, end, depth, &w->found.depth);
        read_value(w, r->kind, (str){value, (size_t)(p - value)});
        while (depth > 0 && *p++ == '}') /* else it was a comma */
            depth--;
    }
}

res record_text_read(arena *a, str canonical, bool timestamps, record_text *ret)
{
    walk w = {.a = a, .from = canonical, .timestamps = timestamps, .found = {.text = canonical, .depth = 1}};
    if (canonical.len > 2) /* not {} */
        read_members(&w, canonical.at + 1);
    if (w.no_memory)
        return RES_MEMORY;
    if (w.out != NULL) {
        put(&w, w.copied, (size_t)(canonical.at + canonical.len - w.copied));
        w.found.text = (str){w.out, w.len};
    }
    *ret = w.found;
    return RES_OK;
}

size_t record_text_depth(str text)
{
    size_t level = 0, deepest = 0;
    bool   quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\';
        else if ((c == '{' || c == '[') && ++level > deepest)
            deepest = level;
        else if ((c == '}' || c == ']') && level > 0)
            level--;
    }
    return deepest;
}
