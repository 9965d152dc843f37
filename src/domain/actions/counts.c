/* counts.c -- see counts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/counts.h"

#include <string.h>

#include "core/iso8601.h"

enum { TIME_DIGITS = 3 };

#define DAY_US (INT64_C(24) * 60 * 60 * 1000000)

/* ---- types ---- */

static str name_of(const counts_type *type)
{
    return (str){type->name, type->len};
}

static counts_type *find(counts *c, str name)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (str_eq(name_of(&c->types[i]), name))
            return &c->types[i];
    return NULL;
}

/* The place of that type; a new one where it has none yet and there is room, else that of all others. */
static counts_type *place(counts *c, str name)
{
    if (name.len == 0)
        name = STR(COUNTS_UNKNOWN);
    counts_type *type = name.len <= COUNTS_TYPE_BYTES ? find(c, name) : NULL;
    if (type == NULL && (name.len > COUNTS_TYPE_BYTES || c->type_count >= COUNTS_TYPES_MAX)) {
        name = STR(COUNTS_OTHER);
        type = find(c, name);
    }
    if (type != NULL)
        return type;
    type = &c->types[c->type_count++];
    memcpy(type->name, name.at, name.len);
    type->len = name.len;
    type->n = 0;
    return type;
}

void counts_add(counts *c, const facts *f, int64_t times)
{
    c->total += times;
    place(c, f->type)->n += times;
    c->verified += f->verified ? times : 0;
    c->archived += f->archived ? times : 0;
    c->with_ossf += f->with_ossf ? times : 0;
}

static void shift(int64_t *n, int64_t by, bool floor)
{
    *n += by;
    if (floor && *n < 0)
        *n = 0;
}

void counts_merge(counts *onto, const counts *c, int64_t times, bool floor)
{
    shift(&onto->total, times * c->total, floor);
    shift(&onto->verified, times * c->verified, floor);
    shift(&onto->archived, times * c->archived, floor);
    shift(&onto->with_ossf, times * c->with_ossf, floor);
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].n != 0)
            shift(&place(onto, name_of(&c->types[i]))->n, times * c->types[i].n, floor);
}

bool counts_are_zero(const counts *c)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].n != 0)
            return false;
    return c->total == 0 && c->verified == 0 && c->archived == 0 && c->with_ossf == 0;
}

/* ---- as JSON ---- */

json *counts_json(arena *a, const counts *c)
{
    json *stats = json_object(a), *types;
    json_set_int(stats, "total", c->total);
    types = json_set_object(stats, "byType");
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].n != 0)
            json_set_int(types, arena_cstr(a, name_of(&c->types[i])), c->types[i].n);
    json_set_int(stats, "verified", c->verified);
    json_set_int(stats, "archived", c->archived);
    json_set_int(stats, "withOssf", c->with_ossf);
    return stats;
}

bool counts_read(const json_val *stats, counts *ret)
{
    if (json_typeof(stats) != JSON_OBJECT || json_typeof(json_get(stats, "total")) != JSON_NUMBER)
        return false;
    *ret = (counts){.total = json_int(json_get(stats, "total"), 0),
                    .verified = json_int(json_get(stats, "verified"), 0),
                    .archived = json_int(json_get(stats, "archived"), 0),
                    .with_ossf = json_int(json_get(stats, "withOssf"), 0)};
    for (json_iter it = json_each(json_get(stats, "byType")); json_next(&it);)
        place(ret, it.key)->n += json_int(it.value, 0);
    return true;
}

/* ---- ages ---- */

void ages_add(ages *g, str synced, int64_t now_us)
{
    int64_t at_us;
    g->total++;
    if (!iso8601_parse(synced, &at_us)) {
        g->no_timestamp++;
        return;
    }
    bool first = g->total - g->no_timestamp == 1;
    if (first || at_us > g->newest_us)
        g->newest_us = at_us;
    if (first || at_us < g->oldest_us)
        g->oldest_us = at_us;

    int64_t age_us = now_us - at_us;
    if (age_us <= DAY_US)
        g->within_1_day++;
    else if (age_us <= 7 * DAY_US)
        g->within_7_days++;
    else if (age_us <= 30 * DAY_US)
        g->within_30_days++;
    else
        g->older++;
}

static void set_time(json *object, const char *key, bool known, int64_t us)
{
    char text[ISO8601_SIZE];
    if (known)
        json_set_str(object, key, iso8601_format(us, TIME_DIGITS, text));
    else
        json_set_null(object, key);
}

json *ages_json(arena *a, const ages *g, int64_t now_us)
{
    bool  known = g->total > g->no_timestamp;
    json *status = json_object(a), *by_age;
    json_set_int(status, "totalCount", g->total);
    set_time(status, "newestSyncedUtc", known, g->newest_us);
    set_time(status, "oldestSyncedUtc", known, g->oldest_us);
    by_age = json_set_object(status, "ageDistribution");
    json_set_int(by_age, "within1day", g->within_1_day);
    json_set_int(by_age, "within7days", g->within_7_days);
    json_set_int(by_age, "within30days", g->within_30_days);
    json_set_int(by_age, "olderThan30days", g->older);
    json_set_int(by_age, "noTimestamp", g->no_timestamp);
    set_time(status, "generatedAt", true, now_us);
    json_set_str(status, "interpretation",
                 STR("lastSyncedUtc is the time when a record's data last changed, not when it was last "
                     "checked: an old one means that the data has not changed since."));
    return status;
}
