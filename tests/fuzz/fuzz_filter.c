/* fuzz_filter.c -- any bytes as a recipe for a filter, which must survive the way into text and back.
 *
 * The reader below shares nothing with the printer: it knows the grammar of OData's literals (spec 4.2) and
 * compares what it reads with the filter that was printed, part by part. So a value that was taken for syntax
 * shows. Each text of a comparison is also used as a prefix, whose range must hold it and end in well-formed
 * text.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "storage/filter.h"

enum { NESTED_MAX = 6, TEXT_MAX = 40, NUMBER_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTBEGIN(misc-no-recursion): filters are nested NESTED_MAX deep, and twice that with their nots */

static void demand(bool holds)
{
    if (!holds)
        abort();
}

/* ---- building ---- */

typedef struct {
    arena         *a;
    const uint8_t *at;
    size_t         left;
} recipe;

static uint8_t next_byte(recipe *r)
{
    if (r->left == 0)
        return 0;
    r->left--;
    return *r->at++;
}

static uint64_t next_number(recipe *r)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | next_byte(r);
    return n;
}

/* Bytes above 7F are U+0080 and on, so that most texts are well-formed; FF stays and makes one that is not.
 */
static str next_text(recipe *r)
{
    size_t count = next_byte(r) % TEXT_MAX, len = 0;
    char  *text = arena_alloc(r->a, 2 * TEXT_MAX);
    demand(text != NULL);
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = next_byte(r);
        if (byte >= 0x80 && byte != 0xFF)
            text[len++] = (char)(0xC0 | byte >> 6);
        text[len++] = (char)(byte >= 0x80 && byte != 0xFF ? 0x80 | (byte & 0x3F) : byte);
    }
    return (str){text, len};
}

static str next_bytes(recipe *r)
{
    size_t len = next_byte(r) % TEXT_MAX;
    len = len < r->left ? len : r->left;
    str bytes = {(const char *)r->at, len};
    r->at += len;
    r->left -= len;
    return bytes;
}

static str next_guid(recipe *r)
{
    char *text = arena_cstr(r->a, STR("00000000-0000-0000-0000-000000000000"));
    demand(text != NULL);
    for (size_t i = 0; i < 36; i++)
        if (text[i] != '-')
            text[i] = "0123456789abcdefABCDEF"[next_byte(r) % 22];
    return (str){text, 36};
}

static const filter *next_comparison(recipe *r)
{
    static const char *const names[] = {"PartitionKey", "RowKey",          "Timestamp", "a",
                                        "_1",           "gr\u00F6\u00DFe", "eq"};

    const char *name = names[next_byte(r) % (sizeof names / sizeof *names)];
    filter_op   op = (filter_op)(next_byte(r) % 6);
    uint64_t    n;
    double      d;
    switch (next_byte(r) % EDM_COUNT) {
    case EDM_STRING:
        return filter_str(r->a, name, op, next_text(r));
    case EDM_INT32:
        return filter_int32(r->a, name, op, (int32_t)next_number(r));
    case EDM_INT64:
        return filter_int64(r->a, name, op, (int64_t)next_number(r));
    case EDM_DOUBLE:
        n = next_number(r);
        memcpy(&d, &n, sizeof d);
        return filter_double(r->a, name, op, d);
    case EDM_BOOL:
        return filter_bool(r->a, name, op, next_byte(r) % 2 == 0);
    case EDM_DATETIME:
        return filter_ticks(r->a, name, op, (int64_t)next_number(r) >> 2);
    case EDM_GUID:
        return filter_guid(r->a, name, op, next_byte(r) == 0 ? next_text(r) : next_guid(r));
    default:
        return filter_binary(r->a, name, op, next_bytes(r));
    }
}

static const filter *next_filter(recipe *r, int nested)
{
    uint8_t what = next_byte(r);
    if (nested == NESTED_MAX || what < 0x60)
        return next_comparison(r);
    const filter *left = next_filter(r, nested + 1);
    if (what >= 0xE0)
        return filter_not(r->a, left);
    const filter *right = next_filter(r, nested + 1);
    return what < 0xA0 ? filter_and(r->a, left, right) : filter_or(r->a, left, right);
}

/* ---- reading back ---- */

static void take(str *rest, const char *text)
{
    demand(str_starts(*rest, str_of(text)));
    *rest = str_from(*rest, strlen(text));
}

/* A text in quotes, in which a quote is written twice. */
static void take_quoted(str *rest, str expected)
{
    take(rest, "'");
    for (size_t i = 0; i < expected.len; i++) {
        demand(rest->len > 0 && rest->at[0] == expected.at[i]);
        *rest = str_from(*rest, 1);
        if (expected.at[i] == '\'')
            take(rest, "'");
    }
    take(rest, "'");
    demand(rest->len == 0 || rest->at[0] != '\'');
}

static str take_number(str *rest, char out[NUMBER_MAX])
{
    size_t len = 0;
    while (len < rest->len && strchr("+-.0123456789e", rest->at[len]) != NULL && rest->at[len] != '\0')
        len++;
    demand(len > 0 && len < NUMBER_MAX);
    memcpy(out, rest->at, len);
    out[len] = '\0';
    *rest = str_from(*rest, len);
    return (str){out, len};
}

static void take_integer(str *rest, int64_t expected)
{
    char    text[NUMBER_MAX];
    int64_t n;
    demand(str_to_i64(take_number(rest, text), &n) && n == expected);
}

static void take_double(str *rest, double expected)
{
    char text[NUMBER_MAX];
    str  number = take_number(rest, text);
    demand(str_has(number, STR(".")) && !str_has(number, STR("+")));
    demand(strtod(text, NULL) == expected);
}

static int64_t take_field(str *rest, size_t width, const char *after)
{
    int64_t n = -1;
    demand(rest->len >= width && str_to_i64(str_slice(*rest, 0, width), &n) && n >= 0);
    *rest = str_from(*rest, width);
    take(rest, after);
    return n;
}

static void take_time(str *rest, edm_ticks expected)
{
    struct tm c = {0};
    take(rest, "datetime'");
    c.tm_year = (int)take_field(rest, 4, "-") - 1900;
    c.tm_mon = (int)take_field(rest, 2, "-") - 1;
    c.tm_mday = (int)take_field(rest, 2, "T");
    c.tm_hour = (int)take_field(rest, 2, ":");
    c.tm_min = (int)take_field(rest, 2, ":");
    c.tm_sec = (int)take_field(rest, 2, ".");
    int64_t below = take_field(rest, 7, "Z'");
    demand((int64_t)timegm(&c) * 10000000 + below == expected);
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_hex(str *rest, str expected)
{
    take(rest, "X'");
    for (size_t i = 0; i < expected.len; i++) {
        demand(rest->len >= 2);
        int high = digit_value(rest->at[0]), low = digit_value(rest->at[1]);
        demand(high >= 0 && low >= 0 && (char)(high << 4 | low) == expected.at[i]);
        *rest = str_from(*rest, 2);
    }
    take(rest, "'");
}

static void take_literal(str *rest, const property *p)
{
    switch (p->type) {
    case EDM_STRING:
        take_quoted(rest, p->text);
        return;
    case EDM_INT32:
        take_integer(rest, p->integer);
        return;
    case EDM_INT64:
        take_integer(rest, p->integer);
        take(rest, "L");
        return;
    case EDM_DOUBLE:
        take_double(rest, p->real);
        return;
    case EDM_BOOL:
        take(rest, p->truth ? "true" : "false");
        return;
    case EDM_DATETIME:
        take_time(rest, p->ticks);
        return;
    case EDM_GUID:
        take(rest, "guid");
        take_quoted(rest, p->text);
        return;
    default:
        take_hex(rest, p->text);
        return;
    }
}

static void take_filter(str *rest, const filter *f)
{
    static const char *const operators[] = {" eq ", " ne ", " gt ", " ge ", " lt ", " le "};

    if (f->kind == FILTER_COMPARE) {
        demand(str_starts(*rest, f->value.name));
        *rest = str_from(*rest, f->value.name.len);
        take(rest, operators[f->op]);
        take_literal(rest, &f->value);
        return;
    }
    take(rest, f->kind == FILTER_NOT ? "not (" : "(");
    take_filter(rest, f->left);
    take(rest, ")");
    if (f->kind == FILTER_NOT)
        return;
    take(rest, f->kind == FILTER_AND ? " and (" : " or (");
    take_filter(rest, f->right);
    take(rest, ")");
}

/* ---- prefixes and ranges ---- */

static void check_prefix(arena *a, str prefix)
{
    str           why;
    entity        e = entity_new(a, STR("p"), prefix);
    const filter *f = filter_prefix(a, "RowKey", prefix);
    demand(filter_matches(f, &e));
    demand(filter_check(a, f, &why) == RES_OK);
}

/* An entity whose keys are those of a comparison: if it passes, it is within the ranges. */
static void check_ranges(const filter *f, const entity *e)
{
    filter_range p, r;
    filter_key_ranges(f, &p, &r);
    if (!filter_matches(f, e))
        return;
    demand(entity_compare_text(e->partition, p.from) >= 0 && entity_compare_text(e->row, r.from) >= 0);
    demand(!p.has_to || entity_compare_text(e->partition, p.to) <= 0);
    demand(!r.has_to || entity_compare_text(e->row, r.to) <= 0);
}

static void check_texts(arena *a, const filter *whole, const filter *f)
{
    if (f->kind != FILTER_COMPARE) {
        check_texts(a, whole, f->left);
        if (f->kind != FILTER_NOT)
            check_texts(a, whole, f->right);
        return;
    }
    if (f->value.type != EDM_STRING)
        return;
    check_prefix(a, f->value.text);
    entity e = entity_new(a, f->value.text, f->value.text);
    check_ranges(whole, &e);
}

/* NOLINTEND(misc-no-recursion) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recipe r = {.a = arena_new(4 * MIB), .at = data, .left = size};
    str    why = STR("");
    if (r.a == NULL)
        return 0;
    const filter *f = next_filter(&r, 0);
    if (filter_check(r.a, f, &why) == RES_OK) {
        str rest = filter_text(r.a, f);
        take_filter(&rest, f);
        demand(rest.len == 0);
        check_texts(r.a, f, f);
    } else {
        demand(why.len > 0);
    }
    arena_free(r.a);
    return 0;
}
