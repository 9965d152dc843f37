/* version_row.c -- see version_row.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/version_row.h"

#include "core/canon.h"
#include "domain/actions/facts.h"
#include "domain/actions/json_out.h"
#include "domain/actions/record.h"

enum { SHA_MIN = 7, SHA_MAX = 40, DIGITS_MAX = 15, FLOATING_MAX = 64 };

/* ---- names ---- */

str version_row_name(const projection_source *from)
{
    str owner = projection_owner(from), name = projection_name(from);
    if (name.len > owner.len + 1 && name.at[owner.len] == '_' && str_starts_nocase(name, owner))
        return str_from(name, owner.len + 1);
    return name;
}

/* ---- versions ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    char lower = str_lower_char(c);
    return is_digit(c) || (lower >= 'a' && lower <= 'f');
}

static bool is_sha(str text)
{
    if (text.len < SHA_MIN || text.len > SHA_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_hex(text.at[i]))
            return false;
    return true;
}

/* Of that version, and of no other: the map's word counts before that of the tags; of several the first.
 * Empty: not known. */
static str sha_of(const json_val *payload, str version)
{
    const json_val *map = json_get(payload, "versionShaMap"), *tags = json_get(payload, "tagInfo");
    for (json_iter it = json_each(map); json_typeof(map) == JSON_OBJECT && json_next(&it);) {
        str sha = record_trim(json_text(it.value, (str){0}));
        if (str_eq(record_trim(it.key), version) && is_sha(sha))
            return sha;
    }
    for (json_iter it = json_each(tags); json_typeof(tags) == JSON_ARRAY && json_next(&it);) {
        str sha = record_trim(json_text(json_get(it.value, "sha"), (str){0}));
        if (str_eq(projection_tag(it.value), version) && is_sha(sha))
            return sha;
    }
    return (str){0};
}

static void add_sha(buf *out, str sha)
{
    if (sha.len == 0) {
        (void)buf_add(out, STR("null"));
        return;
    }
    (void)buf_add_char(out, '"');
    for (size_t i = 0; i < sha.len; i++)
        (void)buf_add_char(out, str_lower_char(sha.at[i]));
    (void)buf_add_char(out, '"');
}

/* v4, v4.1, 4: what moves when a release comes out. */
static bool is_floating(str tag)
{
    size_t i = tag.len > 0 && str_lower_char(tag.at[0]) == 'v' ? 1 : 0, parts = 0;
    for (;;) {
        size_t from = i;
        while (i < tag.len && is_digit(tag.at[i]))
            i++;
        if (i == from || ++parts > 2)
            return false;
        if (i == tag.len)
            return true;
        if (tag.at[i++] != '.')
            return false;
    }
}

/* Those that were looked at, each once: a record may have thousands of tags, and looking one up walks all. */
typedef struct {
    str    tags[FLOATING_MAX];
    size_t count, written;
} floating;

static void add_floating_tag(buf *out, floating *seen, const json_val *payload, str tag)
{
    if (!is_floating(tag) || seen->count == FLOATING_MAX)
        return;
    for (size_t i = 0; i < seen->count; i++)
        if (str_eq(seen->tags[i], tag))
            return;
    str sha = sha_of(payload, tag);
    seen->tags[seen->count++] = tag;
    if (sha.len == 0)
        return;
    (void)buf_add(out, seen->written++ == 0 ? STR("[") : STR(","));
    (void)buf_add_char(out, '[');
    json_out_text(out, tag);
    (void)buf_add_char(out, ',');
    add_sha(out, sha);
    (void)buf_add_char(out, ']');
}

/* Pairs of those whose SHA is known, as the tags stand, then as the map has them; 0: none. */
static void add_floating(buf *out, const json_val *payload)
{
    const json_val *map = json_get(payload, "versionShaMap"), *tags = json_get(payload, "tagInfo");
    floating        seen = {.count = 0, .written = 0};
    for (json_iter it = json_each(tags); json_typeof(tags) == JSON_ARRAY && json_next(&it);)
        add_floating_tag(out, &seen, payload, projection_tag(it.value));
    for (json_iter it = json_each(map); json_typeof(map) == JSON_OBJECT && json_next(&it);)
        add_floating_tag(out, &seen, payload, record_trim(it.key));
    (void)buf_add_char(out, seen.written > 0 ? ']' : '0');
}

/* ---- numbers ---- */

/* "15,368,157" and "999+" are numbers here; anything else that is none is null. */
static void add_dependents(buf *out, const json_val *payload)
{
    const json_val *v = json_get(json_get(payload, "dependents"), "dependents");
    str             text = record_trim(json_text(v, (str){0}));
    double          n = 0;
    size_t          digits = 0;
    if (json_typeof(v) == JSON_NUMBER) {
        json_out_number(out, json_double(v, 0));
        return;
    }
    while (text.len > 0 && text.at[text.len - 1] == '+')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == ',')
            continue;
        if (!is_digit(text.at[i]) || ++digits > DIGITS_MAX) {
            digits = 0;
            break;
        }
        n = n * 10 + (text.at[i] - '0');
    }
    if (digits == 0)
        (void)buf_add(out, STR("null"));
    else
        json_out_number(out, n);
}

static void add_score(buf *out, const json_val *payload)
{
    double score;
    if (facts_score(payload, &score))
        json_out_number(out, score);
    else
        (void)buf_add(out, STR("null"));
}

static unsigned flags_of(const json_val *payload)
{
    const json_val *info = json_get(payload, "repoInfo");
    double          score;
    unsigned        flags = 0;
    if (projection_verified(payload))
        flags |= VERSION_VERIFIED;
    if (json_truth(json_get(info, "archived"), false))
        flags |= VERSION_ARCHIVED;
    if (json_truth(json_get(payload, "ossf"), false) || facts_score(payload, &score))
        flags |= VERSION_OSSF;
    if (json_truth(json_get(info, "disabled"), false))
        flags |= VERSION_DISABLED;
    return flags;
}

/* ---- the row ---- */

static void comma(buf *out)
{
    (void)buf_add_char(out, ',');
}

static void add_latest(buf *out, const json_val *payload)
{
    str version = projection_first_tag(json_get(payload, "releaseInfo"));
    if (version.len == 0)
        version = projection_first_tag(json_get(payload, "tagInfo"));
    json_out_text_or_null(out, version);
    comma(out);
    add_sha(out, version.len > 0 ? sha_of(payload, version) : (str){0});
    comma(out);
    json_out_text_or_null(
        out, json_text(json_get(json_get(payload, "repoInfo"), "latest_release_published_at"), (str){0}));
}

bool version_row_add(buf *out, const projection_source *from)
{
    const json_val *payload = from->payload;
    str             owner = projection_owner(from), name = version_row_name(from);
    if (json_typeof(payload) != JSON_OBJECT || owner.len == 0 || name.len == 0)
        return false;
    (void)buf_add_char(out, '[');
    json_out_text(out, owner);
    comma(out);
    json_out_text(out, name);
    comma(out);
    add_latest(out, payload);
    comma(out);
    json_out_text_or_null(out, projection_type(payload));
    comma(out);
    (void)buf_add_u64(out, flags_of(payload));
    comma(out);
    add_score(out, payload);
    comma(out);
    add_dependents(out, payload);
    comma(out);
    add_floating(out, payload);
    comma(out);
    json_out_text_or_null(out, record_trim(json_text(json_get(payload, "description"), (str){0})));
    (void)buf_add_char(out, ']');
    return true;
}
