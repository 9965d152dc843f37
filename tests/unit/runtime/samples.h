/* samples.h -- functions as functions_load would give them, one of each kind that the envelope knows.
 *
 * For the suites request, reply and envelope, and the envelope's fuzz target.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SAMPLES_H
#define TRESTLE_TESTS_SAMPLES_H

#include "runtime/exchange.h"

#define SAMPLE_COUNT(table) (sizeof(table) / sizeof *(table))

/* Fails with both texts; a str is not terminated, so ck_assert_str_eq cannot be used. */
#define ck_str(got, want)                                                                                    \
    do {                                                                                                     \
        str ck_got = (got), ck_want = str_of(want);                                                          \
        ck_assert_msg(str_eq(ck_got, ck_want), "got '%.*s', not '%.*s'", STR_ARG(ck_got), STR_ARG(ck_want)); \
    } while (0)

static const binding order_bindings[] = {
    {.type = STR_INIT("httpTrigger"), .name = STR_INIT("req")},
    {.type = STR_INIT("http"), .name = STR_INIT("res"), .output = true},
    {.type = STR_INIT("queue"), .name = STR_INIT("outqueue"), .output = true},
    {.type = STR_INIT("queue"), .name = STR_INIT("rawqueue"), .output = true, .binary = true},
    {.type = STR_INIT("blob"), .name = STR_INIT("note")},
    {.type = STR_INIT("blob"), .name = STR_INIT("picture"), .binary = true},
};
static const function order = {.name = STR_INIT("order"),
                               .trigger = TRIGGER_HTTP,
                               .bindings = order_bindings,
                               .binding_count = SAMPLE_COUNT(order_bindings),
                               .trigger_binding = &order_bindings[0],
                               .http_output = &order_bindings[1]};

/* The http answer is the function's return value; the second decodes nothing. */
static const binding returning_bindings[] = {
    {.type = STR_INIT("httpTrigger"), .name = STR_INIT("req")},
    {.type = STR_INIT("http"), .name = STR_INIT("$return"), .output = true},
};
static const function returning = {.name = STR_INIT("returning"),
                                   .trigger = TRIGGER_HTTP,
                                   .bindings = returning_bindings,
                                   .binding_count = SAMPLE_COUNT(returning_bindings),
                                   .trigger_binding = &returning_bindings[0],
                                   .http_output = &returning_bindings[1]};

static const binding returning_raw_bindings[] = {
    {.type = STR_INIT("httpTrigger"), .name = STR_INIT("req")},
    {.type = STR_INIT("http"), .name = STR_INIT("$return"), .output = true, .binary = true},
};
static const function returning_raw = {.name = STR_INIT("returning_raw"),
                                       .trigger = TRIGGER_HTTP,
                                       .bindings = returning_raw_bindings,
                                       .binding_count = SAMPLE_COUNT(returning_raw_bindings),
                                       .trigger_binding = &returning_raw_bindings[0],
                                       .http_output = &returning_raw_bindings[1]};

static const binding  tick_bindings[] = {{.type = STR_INIT("timerTrigger"), .name = STR_INIT("tick")}};
static const function tick = {.name = STR_INIT("tick"),
                              .trigger = TRIGGER_TIMER,
                              .bindings = tick_bindings,
                              .binding_count = 1,
                              .trigger_binding = &tick_bindings[0],
                              .monitored = true};

static const binding onmsg_bindings[] = {
    {.type = STR_INIT("queueTrigger"), .name = STR_INIT("msg")},
    {.type = STR_INIT("queue"), .name = STR_INIT("$return"), .output = true},
};
static const function onmsg = {.name = STR_INIT("onmsg"),
                               .trigger = TRIGGER_QUEUE,
                               .bindings = onmsg_bindings,
                               .binding_count = SAMPLE_COUNT(onmsg_bindings),
                               .trigger_binding = &onmsg_bindings[0]};

static const binding onbytes_bindings[] = {
    {.type = STR_INIT("queueTrigger"), .name = STR_INIT("msg"), .binary = true}};
static const function onbytes = {.name = STR_INIT("onbytes"),
                                 .trigger = TRIGGER_QUEUE,
                                 .bindings = onbytes_bindings,
                                 .binding_count = 1,
                                 .trigger_binding = &onbytes_bindings[0]};

/* Every one of them, so that none is unused wherever this file is included. */
enum { SAMPLES = 6 };
static const function *const samples[SAMPLES] = {&order, &returning, &returning_raw, &tick, &onmsg, &onbytes};

#endif
