/* filter.c -- filters: built, printed as OData, and applied to an entity.
 *
 * A filter is a tree of comparisons. Values are printed by their type with quotes doubled, so that none can
 * be taken for syntax. Functions that walk the tree recurse; that is bounded, because a filter has at most
 * FILTER_COMPARISONS_MAX comparisons and a `not` of a `not` is never built.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/filter.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/buf.h"
#include "core/canon.h"
#include "entity_check.h"
#include "entity_text.h"

enum {
    DEPTH_MAX = 2 * FILTER_COMPARISONS_MAX, /* every level holds a comparison of its own, or a `not` */
    TEXT_MAX = 16 * MIB,
    UNORDERED = 2, /* what a NaN is to every number */
};

static const char *const operators[] = {"eq", "ne", "gt", "ge", "lt", "le"};

/* ---- building ---- */

/* Not NULL, which would be the filter that all rows pass: outside tasks, too, memory must be there. */
static filter *new_filter(arena *a, filter_kind kind)
{
    filter *f = arena_one(a, filter);
    assert(f != NULL);
    f->kind = kind;
    f->depth = 1;
    return f;
}

static const filter *compare(arena *a, const char *name, filter_op op, property value)
{
    filter *f = new_filter(a, FILTER_COMPARE);
    f->op = op;
    f->value = value;
    f->value.name = str_of(name);
    f->comparisons = 1;
    return f;
}

static const filter *join(arena *a, filter_kind kind, const filter *left, const filter *right)
{
    filter *f = new_filter(a, kind);
    f->left = left;
    f->right = right;
    f->comparisons = left->comparisons + right->comparisons;
    f->depth = 1 + (left->depth > right->depth ? left->depth : right->depth);
    return f;
}

const filter *filter_str(arena *a, const char *name, filter_op op, str value)
{
    return compare(a, name, op, (property){.type = EDM_STRING, .text = value});
}

const filter *filter_int32(arena *a, const char *name, filter_op op, int32_t value)
{
    return compare(a, name, op, (property){.type = EDM_INT32, .integer = value});
}

const filter *filter_int64(arena *a, const char *name, filter_op op, int64_t value)
{
    return compare(a, name, op, (property){.type = EDM_INT64, .integer = value});
}

const filter *filter_double(arena *a, const char *name, filter_op op, double value)
{
    return compare(a, name, op, (property){.type = EDM_DOUBLE, .real = value});
}

const filter *filter_bool(arena *a, const char *name, filter_op op, bool value)
{
    return compare(a, name, op, (property){.type = EDM_BOOL, .truth = value});
}

const filter *filter_ticks(arena *a, const char *name, filter_op op, edm_ticks value)
{
    return compare(a, name, op, (property){.type = EDM_DATETIME, .ticks = value});
}

const filter *filter_guid(arena *a, const char *name, filter_op op, str value)
{
    char *lower = arena_cstr(a, value);
    assert(lower != NULL);
    for (size_t i = 0; i < value.len; i++)
        lower[i] = str_lower_char(lower[i]);
    return compare(a, name, op, (property){.type = EDM_GUID, .text = {lower, value.len}});
}

const filter *filter_binary(arena *a, const char *name, filter_op op, str value)
{
    return compare(a, name, op, (property){.type = EDM_BINARY, .text = value});
}

const filter *filter_and(arena *a, const filter *left, const filter *right)
{
    if (left == NULL || right == NULL)
        return left == NULL ? right : left;
    return join(a, FILTER_AND, left, right);
}

const filter *filter_or(arena *a, const filter *left, const filter *right)
{
    return left == NULL || right == NULL ? NULL : join(a, FILTER_OR, left, right);
}

const filter *filter_not(arena *a, const filter *f)
{
    assert(f != NULL);
    if (f->kind == FILTER_NOT)
        return f->left;
    filter *inverse = new_filter(a, FILTER_NOT);
    inverse->left = f;
    inverse->comparisons = f->comparisons;
    inverse->depth = f->depth + 1;
    return inverse;
}

/* ---- prefixes ---- */

/* The next character in the order of UTF-16, where those above U+FFFF stand between U+D7FF and U+E000. 0:
 * there is none. */
static uint32_t next_character(uint32_t c)
{
    switch (c) {
    case 0xD7FF:
        return 0x10000;
    case 0x10FFFF:
        return 0xE000;
    case 0xFFFF:
        return 0;
    default:
        return c + 1;
    }
}

/* The first text behind all that begin with `prefix`: its last character plus one, or, when that is the last
 * there is, the one before it. Empty: nothing is behind them. */
static str behind_prefix(arena *a, str prefix)
{
    while (prefix.len > 0) {
        size_t begin = prefix.len - 1;
        while (begin > 0 && ((unsigned char)prefix.at[begin] & 0xC0) == 0x80)
            begin--;
        size_t   i = begin;
        uint32_t next = next_character(utf8_take(prefix, &i));
        prefix = str_slice(prefix, 0, begin);
        if (next == 0)
            continue;
        char *text = arena_alloc(a, begin + 4);
        assert(text != NULL);
        memcpy(text, prefix.at, begin);
        return (str){text, begin + utf8_put(next, text + begin)};
    }
    return prefix;
}

const filter *filter_prefix(arena *a, const char *name, str prefix)
{
    if (prefix.len == 0)
        return NULL;
    const filter *from = filter_str(a, name, FILTER_GE, prefix);
    if (!str_is_utf8(prefix))
        return from; /* filter_check refuses it */
    str behind = behind_prefix(a, prefix);
    return behind.len == 0 ? from : filter_and(a, from, filter_str(a, name, FILTER_LT, behind));
}

/* NOLINTBEGIN(misc-no-recursion): it is bounded, see above */

/* ---- checking ---- */

static res check(arena *a, const filter *f, str *ret_why)
{
    if (f->kind != FILTER_COMPARE) {
        TRY(check(a, f->left, ret_why));
        return f->kind == FILTER_NOT ? RES_OK : check(a, f->right, ret_why);
    }
    TRY(entity_check_name(a, f->value.name, ret_why));
    TRY(entity_check_value(a, &f->value, ret_why));
    if (f->value.type == EDM_DOUBLE && !isfinite(f->value.real)) {
        *ret_why = arena_strf(a, "filter on '%.*s': the number is not finite", STR_ARG(f->value.name));
        return RES_INVALID;
    }
    return RES_OK;
}

res filter_check(arena *a, const filter *f, str *ret_why)
{
    if (f == NULL)
        return RES_OK;
    if (f->comparisons > FILTER_COMPARISONS_MAX) {
        *ret_why = arena_strf(a, "the filter has %u comparisons, at most %d are allowed", f->comparisons,
                              FILTER_COMPARISONS_MAX);
        return RES_INVALID;
    }
    return check(a, f, ret_why) == RES_OK ? RES_OK : RES_INVALID;
}

/* ---- as text ---- */

static void add_quoted(buf *out, str text)
{
    buf_add_char(out, '\'');
    while (text.len > 0) {
        size_t until = str_find_char(text, '\'');
        buf_add(out, str_slice(text, 0, until));
        if (until < text.len)
            buf_add(out, STR("''"));
        text = str_from(text, until + 1);
    }
    buf_add_char(out, '\'');
}

/* With a point always, else it would be an integer; and without the plus sign of an exponent. */
static void add_double(buf *out, double value)
{
    char   text[CANON_NUMBER_SIZE];
    str    number = canon_number(value, text);
    size_t mantissa = str_find_char(number, 'e');
    buf_add(out, str_slice(number, 0, mantissa));
    if (str_find_char(number, '.') == number.len)
        buf_add(out, STR(".0"));
    str exponent = str_from(number, mantissa);
    if (exponent.len == 0)
        return;
    buf_add_char(out, 'e');
    buf_add(out, str_from(exponent, exponent.at[1] == '+' ? 2 : 1));
}

static void add_hex(buf *out, str bytes)
{
    static const char digits[] = "0123456789abcdef";
    buf_add(out, STR("X'"));
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.at[i];
        buf_add_char(out, digits[byte >> 4]);
        buf_add_char(out, digits[byte & 15]);
    }
    buf_add_char(out, '\'');
}

static void add_literal(buf *out, const property *p)
{
    char time[EDM_TIME_SIZE];
    switch (p->type) {
    case EDM_STRING:
        add_quoted(out, p->text);
        return;
    case EDM_INT32:
        buf_addf(out, "%" PRId64, p->integer);
        return;
    case EDM_INT64:
        buf_addf(out, "%" PRId64 "L", p->integer);
        return;
    case EDM_DOUBLE:
        add_double(out, p->real);
        return;
    case EDM_BOOL:
        buf_add(out, p->truth ? STR("true") : STR("false"));
        return;
    case EDM_DATETIME:
        buf_addf(out, "datetime'%.*s'", STR_ARG(edm_time_format(p->ticks, time)));
        return;
    case EDM_GUID:
        buf_add(out, STR("guid"));
        add_quoted(out, p->text);
        return;
    default:
        add_hex(out, p->text);
        return;
    }
}

static void add_filter(buf *out, const filter *f)
{
    switch (f->kind) {
    case FILTER_COMPARE:
        buf_addf(out, "%.*s %s ", STR_ARG(f->value.name), operators[f->op]);
        add_literal(out, &f->value);
        return;
    case FILTER_NOT:
        buf_add(out, STR("not ("));
        add_filter(out, f->left);
        break;
    default:
        buf_add_char(out, '(');
        add_filter(out, f->left);
        buf_add(out, f->kind == FILTER_AND ? STR(") and (") : STR(") or ("));
        add_filter(out, f->right);
        break;
    }
    buf_add_char(out, ')');
}

str filter_text(arena *a, const filter *f)
{
    buf out;
    if (f == NULL)
        return STR("");
    assert(f->depth <= DEPTH_MAX);
    buf_init(&out, a, TEXT_MAX);
    add_filter(&out, f);
    assert(!out.failed);
    return buf_str(&out);
}

/* ---- applied ---- */

static int order_numbers(int64_t a, int64_t b)
{
    return a == b ? 0 : a < b ? -1 : 1;
}

static int order_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return UNORDERED;
    return a == b ? 0 : a < b ? -1 : 1;
}

/* Of two values of one type. */
static int order_values(const property *a, const property *b)
{
    switch (a->type) {
    case EDM_STRING:
        return entity_compare_text(a->text, b->text);
    case EDM_DOUBLE:
        return order_doubles(a->real, b->real);
    case EDM_BOOL:
        return order_numbers(a->truth, b->truth);
    case EDM_DATETIME:
        return order_numbers(a->ticks, b->ticks);
    case EDM_GUID:
    case EDM_BINARY:
        return str_compare(a->text, b->text);
    default:
        return order_numbers(a->integer, b->integer);
    }
}

static bool holds(filter_op op, int order)
{
    if (order == UNORDERED)
        return op == FILTER_NE;
    switch (op) {
    case FILTER_EQ:
        return order == 0;
    case FILTER_NE:
        return order != 0;
    case FILTER_GT:
        return order > 0;
    case FILTER_GE:
        return order >= 0;
    case FILTER_LT:
        return order < 0;
    default:
        return order <= 0;
    }
}

static bool compare_matches(const filter *f, const entity *e)
{
    property        system = {.type = EDM_STRING};
    const property *have = &system;

    if (str_eq(f->value.name, STR("PartitionKey")))
        system.text = e->partition;
    else if (str_eq(f->value.name, STR("RowKey")))
        system.text = e->row;
    else if (str_eq(f->value.name, STR("Timestamp")))
        system = (property){.type = EDM_DATETIME, .ticks = e->timestamp};
    else
        have = entity_find(e, f->value.name);
    return have != NULL && have->type == f->value.type && holds(f->op, order_values(have, &f->value));
}

static bool matches(const filter *f, const entity *e)
{
    switch (f->kind) {
    case FILTER_COMPARE:
        return compare_matches(f, e);
    case FILTER_AND:
        return matches(f->left, e) && matches(f->right, e);
    case FILTER_OR:
        return matches(f->left, e) || matches(f->right, e);
    default:
        return !matches(f->left, e);
    }
}

bool filter_matches(const filter *f, const entity *e)
{
    if (f == NULL)
        return true;
    assert(f->depth <= DEPTH_MAX);
    return matches(f, e);
}

/* ---- ranges of keys ---- */

static filter_range range_of_compare(const filter *f)
{
    switch (f->op) {
    case FILTER_EQ:
        return (filter_range){.from = f->value.text, .to = f->value.text, .has_to = true};
    case FILTER_GT:
    case FILTER_GE:
        return (filter_range){.from = f->value.text};
    case FILTER_LT:
    case FILTER_LE:
        return (filter_range){.to = f->value.text, .has_to = true};
    default:
        return (filter_range){0};
    }
}

static filter_range narrower(filter_range a, filter_range b)
{
    filter_range both = {.from = entity_compare_text(a.from, b.from) > 0 ? a.from : b.from};
    both.has_to = a.has_to || b.has_to;
    if (a.has_to && b.has_to)
        both.to = entity_compare_text(a.to, b.to) < 0 ? a.to : b.to;
    else
        both.to = a.has_to ? a.to : b.to;
    return both;
}

static filter_range wider(filter_range a, filter_range b)
{
    filter_range either = {.from = entity_compare_text(a.from, b.from) < 0 ? a.from : b.from};
    either.has_to = a.has_to && b.has_to;
    if (either.has_to)
        either.to = entity_compare_text(a.to, b.to) > 0 ? a.to : b.to;
    return either;
}

static filter_range range_of(const filter *f, str key)
{
    switch (f->kind) {
    case FILTER_COMPARE:
        if (f->value.type != EDM_STRING || !str_eq(f->value.name, key))
            return (filter_range){0};
        return range_of_compare(f);
    case FILTER_AND:
        return narrower(range_of(f->left, key), range_of(f->right, key));
    case FILTER_OR:
        return wider(range_of(f->left, key), range_of(f->right, key));
    default:
        return (filter_range){0};
    }
}

/* NOLINTEND(misc-no-recursion) */

static filter_range whole_range(const filter *f, str key)
{
    filter_range range = {0};
    if (f == NULL)
        return range;
    assert(f->depth <= DEPTH_MAX);
    range = range_of(f, key);
    range.exact = range.has_to && str_eq(range.from, range.to);
    return range;
}

void filter_key_ranges(const filter *f, filter_range *ret_partition, filter_range *ret_row)
{
    *ret_partition = whole_range(f, STR("PartitionKey"));
    *ret_row = whole_range(f, STR("RowKey"));
}
