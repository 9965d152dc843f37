/* http_rig.h -- a server in the test's loop, an app with one handler per behaviour, and a client in a thread.
 *
 * The client speaks over blocking sockets and must not use check's assertions (they belong to the main
 * thread): WANT notes what is wrong, and rig_serve fails the test for it. What has to happen on the loop's
 * side (setting the clock, sweeping, looking at the server) is passed to it with rig_do.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_HTTP_RIG_H
#define TRESTLE_TESTS_HTTP_RIG_H

#include <check.h>
#include <pthread.h>
#include <semaphore.h>

#include "core/buf.h"
#include "runtime/http_conn.h"

typedef struct rig rig;
typedef void       rig_fn(rig *r);

struct rig {
    http_server_options options; /* may be changed before rig_serve */
    http_server        *server;
    arena              *arena;
    rig_fn             *client;
    buf                 wrong; /* the client's */

    uv_async_t call;
    rig_fn    *calling; /* NULL: the client is done */
    sem_t      called;

    /* the app's, for rig_do functions and the end of the test */
    wait    *gate; /* where /gate and /half wait */
    unsigned begun, refused, done, served;
    res      ended_with; /* what the wait of the latest /gate, /flood said */
    int      last_status;
    bool     is_true; /* an answer of a rig_do function */
    bool     draining, drained;
};

/* Opens the loop and the server, runs the client, drains, closes; fails the test unless all was as wanted and
 * every exchange that was begun is done. */
void rig_init(rig *r);
void rig_serve(rig *r, rig_fn *client);
void rig_do(rig *r, rig_fn *fn);     /* client: runs fn on the loop, waits for its end */
void rig_until(rig *r, rig_fn *fn);  /* client: rig_do until it sets is_true */
void rig_drain(rig *r, uint64_t ms); /* loop */
void rig_open_gate(rig *r);          /* loop */
void rig_gate_is_reached(rig *r);    /* loop: is_true */

#define WANT(r, condition, ...)                                            \
    do {                                                                   \
        if (!(condition)) {                                                \
            (void)buf_addf(&(r)->wrong, "line %d: " #condition, __LINE__); \
            (void)buf_addf(&(r)->wrong, "  " __VA_ARGS__);                 \
            (void)buf_add_char(&(r)->wrong, '\n');                         \
        }                                                                  \
    } while (0)

/* ---- the client's side ---- */

enum { ANSWER_BYTES_MAX = 300 * KIB };

typedef struct {
    int    status; /* 0: the connection ended before a whole answer */
    str    head;   /* with the status line */
    str    body;   /* chunks removed */
    bool   chunked, has_length;
    char  *bytes; /* of all that was read and not yet used by an answer */
    size_t len, used;
    int    fd;
} peer;

peer dial(const rig *r);
void hang_up(peer *p);
bool say(const peer *p, str bytes); /* false: not all was taken, for the server has closed */
bool hear(peer *p, bool head_only); /* the next answer; false: none came */
str  heard_header(const peer *p, str name);
bool is_closed(peer *p); /* nothing but the end comes, orderly or by a reset */
/* One request on a connection of its own; hangs up. */
int  ask(const rig *r, str request);

int count_fds(void);

/* The parts of the suite that have files of their own. */
TCase *http_cases_strict(void);
TCase *http_cases_life(void);

#endif
