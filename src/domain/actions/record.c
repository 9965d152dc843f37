/* record.c -- see record.h.
 *
 *     text -> canon_json -> record_text_read (trimmed, times in UTC) -> keys -> hash
 *
 * What is wrong is told in the order of the specification: the body, then that a field is missing, then its
 * type, then its key; owner before name each time.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/record.h"

#include <stdio.h>

#include "core/canon.h"
#include "domain/actions/record_text.h"
#include "domain/actions/thread_arena.h"
#include "storage/entity.h"

enum {
    INLINE_MAX = 256 * KIB, /* larger texts take milliseconds, in which the loop would serve nobody else */
    MEMORY_FACTOR = 24,     /* as in runtime/canonical.c, with room for a second copy */
    MEMORY_EXTRA = 1 * MIB,
    WORDS_SIZE = 40,
};

#define KEY_RULE "a key has none of / \\ # ? and no control characters; encode '/' as '_'"

/* ---- what is wrong ---- */

static res problem(record_problem *why, str message)
{
    *why = (record_problem){.status = 400, .message = message};
    return message.at != NULL ? RES_INVALID : RES_MEMORY;
}

static res problem_of(record_problem *why, str message, str field, str reason)
{
    *why = (record_problem){.status = 400, .message = message, .field = field, .reason = reason};
    return message.at != NULL && reason.at != NULL ? RES_INVALID : RES_MEMORY;
}

static res too_large(arena *a, size_t max_bytes, size_t bytes, record_problem *why)
{
    *why = (record_problem){
        .status = 413,
        .max_bytes = max_bytes,
        .actual_bytes = bytes,
        .message = arena_strf(a, "Request body has %zu bytes, at most %zu are allowed.", bytes, max_bytes)};
    return why->message.at != NULL ? RES_TOO_LARGE : RES_MEMORY;
}

static res too_deep(arena *a, record_problem *why)
{
    return problem_of(
        why, arena_strf(a, "Request body must not be nested deeper than %d levels.", RECORD_DEPTH_MAX),
        STR("body"), arena_strf(a, "nested deeper than %d levels", RECORD_DEPTH_MAX));
}

/* The canonicaliser has its own, larger limit, and may find another fault behind the level that is too much;
 * what stands before the fault tells. */
static res no_json(arena *a, str text, const canon_error *err, record_problem *why)
{
    if (record_text_depth(str_slice(text, 0, err->offset + 1)) > RECORD_DEPTH_MAX)
        return too_deep(a, why);
    return problem_of(why, STR("Request body must be a JSON object."), STR("body"),
                      arena_strf(a, "%s at byte %zu", err->text, err->offset));
}

/* ---- fields ---- */

static res check_there(arena *a, str field, const record_field *f, record_problem *why)
{
    if (f->kind != FIELD_ABSENT && f->raw.len > 0)
        return RES_OK;
    return problem(why, arena_strf(a, "Missing required field: %.*s", STR_ARG(field)));
}

static res check_type(arena *a, str field, const record_field *f, record_problem *why)
{
    if (f->kind != FIELD_OTHER)
        return RES_OK;
    return problem(why, arena_strf(a, "Field %.*s must be a string.", STR_ARG(field)));
}

static unsigned hex_value(const char *p, size_t digits)
{
    unsigned value = 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
    return value;
}

typedef char words[WORDS_SIZE];

static bool control_character(unsigned c, words what)
{
    (void)snprintf(what, WORDS_SIZE, "the control character U+%04X", c);
    return true;
}

/* Of the escapes that a canonical string can have, a key may hold none but that of a quote. */
static bool forbidden_escape(const char *p, words what)
{
    static const char escapes[] = "\bb\tt\nn\ff\rr";
    if (p[1] == 'u') {
        unsigned unit = hex_value(p + 2, 4);
        if (unit < 0x20)
            return control_character(unit, what);
        (void)snprintf(what, WORDS_SIZE, "the unpaired surrogate U+%04X", unit);
        return true;
    }
    for (const char *e = escapes; *e != '\0'; e += 2)
        if (e[1] == p[1])
            return control_character((unsigned char)*e, what);
    (void)snprintf(what, WORDS_SIZE, "'\\'");
    return p[1] == '\\';
}

/* Whether no key may hold what begins at p, `left` bytes before the end; then `what` says what it is. */
static bool is_forbidden(const char *p, size_t left, words what)
{
    unsigned char c = (unsigned char)*p;
    if (c == '\\')
        return forbidden_escape(p, what);
    if (c == 0x7F)
        return control_character(c, what);
    if (c == 0xC2)
        return left > 1 && (unsigned char)p[1] < 0xA0 && control_character((unsigned char)p[1], what);
    (void)snprintf(what, WORDS_SIZE, "'%c'", c);
    return true;
}

static inline bool may_be_forbidden(char c)
{
    return c == '/' || c == '#' || c == '?' || c == '\\' || c == 0x7F || (unsigned char)c == 0xC2;
}

static res check_characters(arena *a, str field, str raw, record_problem *why)
{
    words what;
    for (size_t i = 0; i < raw.len; i++) {
        if (!may_be_forbidden(raw.at[i]))
            continue;
        if (is_forbidden(raw.at + i, raw.len - i, what))
            return problem_of(
                why, arena_strf(a, "Field %.*s must not contain %s: " KEY_RULE ".", STR_ARG(field), what),
                field, arena_strf(a, "contains %s", what));
        i += raw.at[i] == '\\';
    }
    return RES_OK;
}

/* What is left of escapes are those of quotes. */
static str unescape(arena *a, str raw)
{
    char  *text = arena_alloc(a, raw.len);
    size_t len = 0;
    if (text == NULL)
        return (str){0};
    for (size_t i = 0; i < raw.len; i++) {
        i += raw.at[i] == '\\';
        text[len++] = raw.at[i];
    }
    return (str){text, len};
}

static res read_key(arena *a, str field, str raw, str *ret_text, str *ret_key, record_problem *why)
{
    res r = check_characters(a, field, raw, why);
    if (r != RES_OK)
        return r;
    bool escaped = str_find_char(raw, '\\') < raw.len;
    *ret_text = escaped ? unescape(a, raw) : raw;
    if (ret_text->at == NULL)
        return RES_MEMORY;
    *ret_key = record_key(a, *ret_text);
    if (ret_key->at == NULL)
        return RES_MEMORY;

    size_t units = entity_utf16_units(*ret_key);
    if (units <= RECORD_KEY_UNITS_MAX)
        return RES_OK;
    return problem_of(why,
                      arena_strf(a, "Field %.*s must have at most %d UTF-16 units, it has %zu.",
                                 STR_ARG(field), RECORD_KEY_UNITS_MAX, units),
                      field, arena_strf(a, "longer than %d UTF-16 units", RECORD_KEY_UNITS_MAX));
}

static res read_fields(arena *a, const record_text *t, record *ret, record_problem *why)
{
    static const str owner = STR_INIT("owner"), name = STR_INIT("name");

    res r = check_there(a, owner, &t->owner, why);
    if (r == RES_OK)
        r = check_there(a, name, &t->name, why);
    if (r == RES_OK)
        r = check_type(a, owner, &t->owner, why);
    if (r == RES_OK)
        r = check_type(a, name, &t->name, why);
    if (r == RES_OK)
        r = read_key(a, owner, t->owner.raw, &ret->owner, &ret->partition, why);
    if (r == RES_OK)
        r = read_key(a, name, t->name.raw, &ret->name, &ret->row, why);
    return r;
}

/* ---- reading ---- */

static res canonical_text(arena *a, str text, bool timestamps, record_text *ret, record_problem *why)
{
    canon_error err = {0};
    str         canonical;
    res         r = canon_json(a, text, &canonical, &err);
    if (r == RES_INVALID)
        return no_json(a, text, &err, why);
    if (r != RES_OK)
        return r;
    if (canonical.at[0] != '{')
        return problem(why, STR("Request body must be a JSON object."));
    r = record_text_read(a, canonical, timestamps, ret);
    if (r == RES_OK && ret->depth > RECORD_DEPTH_MAX)
        return too_deep(a, why);
    return r;
}

res record_read_now(arena *a, str text, size_t max_bytes, bool timestamps, record *ret, record_problem *why)
{
    record_text found;
    record      made = {0};

    if (text.len > max_bytes)
        return too_large(a, max_bytes, text.len, why);
    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_from(text, 3);
    res r = canonical_text(a, text, timestamps, &found, why);
    if (r == RES_OK)
        r = read_fields(a, &found, &made, why);
    if (r != RES_OK)
        return r;

    made.canonical = found.text;
    sha256_digest digest = hash_sha256(made.canonical);
    (void)hash_hex(&digest, made.hash);
    *ret = made;
    return RES_OK;
}

typedef struct {
    arena         *a;
    str            text;
    size_t         max_bytes;
    bool           timestamps;
    record         made;
    record_problem why;
    res            result;
} work;

static void read_apart(void *arg)
{
    work *w = arg;
    w->result = record_read_now(w->a, w->text, w->max_bytes, w->timestamps, &w->made, &w->why);
}

res record_read(task *t, str text, size_t max_bytes, bool timestamps, record *ret, record_problem *why)
{
    if (text.len <= INLINE_MAX || text.len > max_bytes)
        return record_read_now(t->arena, text, max_bytes, timestamps, ret, why);

    work w = {.text = text, .max_bytes = max_bytes, .timestamps = timestamps};
    w.a = thread_arena(t->arena, text.len * MEMORY_FACTOR + MEMORY_EXTRA);
    if (w.a == NULL)
        return task_fail(t, RES_MEMORY, "no memory to read a record of %zu bytes", text.len);
    res r = task_offload(t, read_apart, &w);
    if (r != RES_OK)
        return r;
    if (w.result == RES_OK)
        *ret = w.made;
    else
        *why = w.why;
    return w.result;
}
