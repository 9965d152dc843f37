/* projection.c -- see projection.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/projection.h"

#include "core/canon.h"
#include "core/iso8601.h"
#include "domain/actions/facts.h"
#include "domain/actions/json_out.h"
#include "domain/actions/record.h"

#define ELLIPSIS "\xE2\x80\xA6"

/* ---- members ---- */

static str text_or_column(const projection_source *from, const char *key, str column)
{
    str own = record_trim(json_text(json_get(from->payload, key), (str){0}));
    return own.len > 0 ? own : record_trim(column);
}

str projection_owner(const projection_source *from)
{
    return text_or_column(from, "owner", from->owner);
}

str projection_name(const projection_source *from)
{
    return text_or_column(from, "name", from->name);
}

bool projection_verified(const json_val *payload)
{
    const json_val *v = json_get(payload, "verified");
    str             text = json_text(v, (str){0});
    return json_truth(v, false) || (json_typeof(v) == JSON_NUMBER && json_double(v, 0) == 1) ||
           str_eq_nocase(text, STR("true")) || str_eq(text, STR("1"));
}

str projection_tag(const json_val *entry)
{
    str tag = json_text(entry, (str){0});
    if (tag.len == 0)
        tag = json_text(json_get(entry, "tag_name"), (str){0});
    if (tag.len == 0)
        tag = json_text(json_get(entry, "tag"), (str){0});
    return record_trim(tag);
}

str projection_first_tag(const json_val *list)
{
    return projection_tag(json_typeof(list) == JSON_ARRAY ? json_at(list, 0) : list);
}

str projection_type(const json_val *payload)
{
    const json_val *v = json_get(payload, "actionType");
    return json_text(v, json_text(json_get(v, "actionType"), (str){0}));
}

/* ---- writing ---- */

static void add_type(buf *out, const json_val *payload)
{
    const json_val *version = json_get(json_get(payload, "actionType"), "nodeVersion");
    json_out_key(out, "actionType");
    (void)buf_add_char(out, '{');
    json_out_key(out, "actionType");
    json_out_text(out, projection_type(payload));
    json_out_key(out, "nodeVersion");
    if (json_typeof(version) == JSON_NUMBER)
        json_out_number(out, json_double(version, 0));
    else
        json_out_text_or_null(out, json_text(version, (str){0}));
    (void)buf_add_char(out, '}');
}

static void add_repository(buf *out, const json_val *payload)
{
    const json_val *info = json_get(payload, "repoInfo");
    json_out_key(out, "repoInfo");
    (void)buf_add_char(out, '{');
    json_out_key(out, "updated_at");
    json_out_text(out, json_text(json_get(info, "updated_at"), (str){0}));
    json_out_key(out, "archived");
    json_out_bool(out, json_truth(json_get(info, "archived"), false));
    (void)buf_add_char(out, '}');
}

static void add_dependents(buf *out, const json_val *payload)
{
    const json_val *n = json_get(json_get(payload, "dependents"), "dependents");
    char            digits[CANON_NUMBER_SIZE];
    str             text = json_text(n, (str){0});
    if (json_typeof(n) == JSON_NUMBER)
        text = canon_number(json_double(n, 0), digits);
    json_out_key(out, "dependents");
    (void)buf_add_char(out, '{');
    json_out_key(out, "dependents");
    json_out_text(out, text.len > 0 ? text : STR("0"));
    (void)buf_add_char(out, '}');
}

static void add_release(buf *out, const json_val *payload)
{
    str tag = projection_first_tag(json_get(payload, "releaseInfo"));
    json_out_key(out, "releaseInfo");
    (void)buf_add_char(out, '[');
    if (tag.len > 0)
        json_out_text(out, tag);
    (void)buf_add_char(out, ']');
}

/* Bytes of the UTF-8 character that begins here, and how many UTF-16 units it takes. */
static size_t char_bytes(char first, size_t *ret_units)
{
    unsigned char c = (unsigned char)first;
    *ret_units = c >= 0xF0 ? 2 : 1;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* The longest beginning of at most so many UTF-16 units. */
static str first_units(str text, size_t most)
{
    size_t i = 0, units = 0, of_one;
    while (i < text.len) {
        size_t n = char_bytes(text.at[i], &of_one);
        if (units + of_one > most)
            break;
        units += of_one;
        i += n;
    }
    return str_slice(text, 0, i);
}

static void add_description(buf *out, const json_val *payload)
{
    str whole = record_trim(json_text(json_get(payload, "description"), (str){0}));
    str shown = first_units(whole, PROJECTION_DESCRIPTION_UNITS);
    json_out_key(out, "description");
    if (shown.len == whole.len) {
        json_out_text_or_null(out, whole);
        return;
    }
    json_out_text(out, record_trim(first_units(whole, PROJECTION_DESCRIPTION_UNITS - 1)));
    if (out->failed)
        return;
    out->len--; /* the ellipsis comes before the closing quote */
    (void)buf_add(out, STR(ELLIPSIS));
    (void)buf_add_char(out, '"');
}

static void add_score(buf *out, const json_val *payload)
{
    double score = 0;
    bool   scored = facts_score(payload, &score);
    json_out_key(out, "ossf");
    json_out_bool(out, scored || json_truth(json_get(payload, "ossf"), false));
    json_out_key(out, "ossfScore");
    json_out_number(out, scored ? score : 0);
}

static void add_count(buf *out, const json_val *from, const char *key)
{
    json_out_key(out, key);
    json_out_number(out, json_double(json_get(from, key), 0));
}

static void add_vulnerabilities(buf *out, const json_val *payload)
{
    const json_val *status = json_get(payload, "vulnerabilityStatus");
    json_out_key(out, "vulnerabilityStatus");
    (void)buf_add_char(out, '{');
    add_count(out, status, "critical");
    add_count(out, status, "high");
    (void)buf_add_char(out, '}');
}

bool projection_add(buf *out, const projection_source *from, int64_t *ret_updated_us)
{
    const json_val *payload = from->payload;
    str             owner = projection_owner(from), name = projection_name(from);
    if (json_typeof(payload) != JSON_OBJECT || owner.len == 0 || name.len == 0)
        return false;
    (void)buf_add_char(out, '{');
    json_out_key(out, "owner");
    json_out_text(out, owner);
    json_out_key(out, "name");
    json_out_text(out, name);
    add_type(out, payload);
    add_repository(out, payload);
    add_dependents(out, payload);
    add_release(out, payload);
    add_description(out, payload);
    json_out_key(out, "verified");
    json_out_bool(out, projection_verified(payload));
    add_score(out, payload);
    add_vulnerabilities(out, payload);
    (void)buf_add_char(out, '}');
    if (!iso8601_parse(json_text(json_get(json_get(payload, "repoInfo"), "updated_at"), (str){0}),
                       ret_updated_us))
        *ret_updated_us = INT64_MIN;
    return true;
}
