/* fuzz_record.c -- any bytes: reading a record does not crash; what it accepts is canonical JSON with keys
 * that a table takes; and read again, the canonical text gives itself and the same hash.
 *
 * The first byte says whether points in time are spelled in UTC.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/canon.h"
#include "domain/actions/record.h"
#include "storage/entity.h"

enum { BUDGET = 64 * MIB, INPUT_BYTES_MAX = 64 * KIB };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_refusal(res r, const record_problem *why)
{
    must(r == RES_INVALID || r == RES_TOO_LARGE);
    must(why->status == (r == RES_INVALID ? 400 : 413) && why->message.len > 0);
    must(str_is_utf8(why->message) && str_is_utf8(why->reason));
}

static void check_keys(arena *a, const record *r)
{
    str why;
    must(entity_check_key(a, "owner", r->partition, &why) == RES_OK && r->partition.len > 0);
    must(entity_check_key(a, "name", r->row, &why) == RES_OK && r->row.len > 0);
    must(str_eq(record_trim(r->owner), r->owner) && str_eq(record_trim(r->name), r->name));
}

static void check_record(arena *a, const record *first, bool timestamps)
{
    record         again;
    record_problem why;
    str            canonical;
    check_keys(a, first);
    must(canon_json(a, first->canonical, &canonical, NULL) == RES_OK);
    must(str_eq(canonical, first->canonical));
    must(record_read_now(a, first->canonical, 8 * MIB, timestamps, &again, &why) == RES_OK);
    must(str_eq(again.canonical, first->canonical) && strcmp(again.hash, first->hash) == 0);
    must(str_eq(again.partition, first->partition) && str_eq(again.row, first->row));
    must(str_eq(again.owner, first->owner) && str_eq(again.name, first->name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_BYTES_MAX)
        return 0;
    record         r;
    record_problem why;
    arena         *a = arena_new(BUDGET);
    must(a != NULL);
    bool  timestamps = data[0] % 2 == 1;
    char *text = malloc(size > 1 ? size - 1 : 1); /* on the heap, so that reading past its end is seen */
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    res result = record_read_now(a, (str){text, size - 1}, INPUT_BYTES_MAX - 1, timestamps, &r, &why);
    if (result == RES_OK)
        check_record(a, &r, timestamps);
    else
        check_refusal(result, &why);
    free(text);
    arena_free(a);
    return 0;
}
