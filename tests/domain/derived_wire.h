/* derived_wire.h -- a scripted account that has a table of records and one document, and counts who asks for
 * what.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_DERIVED_WIRE_H
#define TRESTLE_TESTS_DERIVED_WIRE_H

#include <stdatomic.h>

#include "domain/rig.h"

/* Statuses: 200 is what it should be; all others are that failure. The test changes them between its calls,
 * while no request is under way. */
typedef struct {
    int         head, get, put; /* of the blob */
    int         query, row;     /* of the table: lists, and the row of aggregates */
    const char *etag;           /* of the blob, without quotes */
    str         body;
    const char *rows; /* JSON of the list's rows, with commas between */
    unsigned    get_delay_ms;
    atomic_uint heads, gets, puts, queries;
    arena      *a;
} derived_service;

/* Runs the body over it. *s is filled already; absent statuses are 200. */
void             derived_run(derived_service *s, rig_fn *body);
derived_service *derived(void); /* of the running test */

#define DERIVED_TEST(name, ...)                         \
    static rig_fn name##_body;                          \
    START_TEST(name)                                    \
    {                                                   \
        static derived_service service = {__VA_ARGS__}; \
        derived_run(&service, name##_body);             \
    }                                                   \
    END_TEST                                            \
    static void name##_body(task *t, __attribute__((unused)) int i)

/* Further headers. */
got derived_get(task *t, const char *target, const char *name, str value);

#endif
