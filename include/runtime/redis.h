/* redis.h -- commands to a Redis (or Valkey) server, from tasks.
 *
 * One connection for each URL, shared by all tasks of the process: opened by the first command, commands of
 * all tasks pipelined on it, answers told apart by their order. hiredis below.
 *
 * Nothing here hangs. A command has an answer after timeout_ms at the latest, or a result that says why not.
 * A connection that dies is made anew by the next command. After a failure to connect, or three commands
 * without an answer in a row, the server counts as down: for a while (100 ms, then twice as long each time,
 * up to 5 s) commands fail at once, then one of them tries again and the others go on failing until it has
 * succeeded. So a server that is down or slow costs one wait now and then.
 *
 * Results: RES_OK means that the server answered and not with an error. RES_TIMEOUT: no answer within
 * timeout_ms (the command may still be carried out), or the task's deadline; RES_UNREACHABLE: no connection,
 * or it broke before the answer came (likewise); RES_UNAVAILABLE: the server counts as down, or too many
 * commands wait; nothing was sent; RES_UPSTREAM: an answer with an error, or nonsense; RES_TOO_LARGE: a
 * command above REDIS_COMMAND_MAX. Messages name host and port, never credentials, keys or values.
 *
 *     redis://[[user]:password@]host[:6379][/db]      rediss:// the same over TLS
 *
 * User and password are percent-decoded. rediss:// needs a hiredis with TLS (1.0 or later); certificates are
 * verified, with the CA file of fetch.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_REDIS_H
#define TRESTLE_RUNTIME_REDIS_H

#include "runtime/task.h"

enum {
    REDIS_COMMAND_MAX = 8 * MIB, /* bytes of one command */
    REDIS_ANSWER_MAX = 8 * MIB,  /* bytes of one answer; a longer one breaks the connection */
    REDIS_ELEMENTS_MAX = 4096,   /* of one answer, at all depths */
    REDIS_WAITING_MAX = 1024,    /* commands without an answer */
    REDIS_UNSENT_MAX = 16 * MIB, /* bytes that the server has not taken yet */
    REDIS_SERVER_ID_MAX = 64,
};

typedef enum { REDIS_NIL, REDIS_TEXT, REDIS_NUMBER, REDIS_LIST } redis_kind;

typedef struct redis_reply redis_reply;
struct redis_reply {
    redis_kind         kind;
    str                text; /* REDIS_TEXT: a string, or a status as OK */
    int64_t            number;
    const redis_reply *at; /* REDIS_LIST */
    size_t             len;
};

typedef struct redis redis;

/* RES_CONFIG with *ret_error, one line without secrets, for a URL that redis_open would refuse. */
res redis_check(arena *a, str url, str *ret_error) MUST_USE;

/* Connects to nothing yet. The same URL gives the same one. RES_CONFIG as redis_check, RES_MEMORY. It lives
 * until redis_shutdown. */
res redis_open(str url, redis **ret) MUST_USE;

/* Waits until there is a connection. */
res redis_ready(task *t, redis *r, unsigned timeout_ms) MUST_USE;

/* What the server that we are connected to calls this run of itself (run_id): another one after a restart or
 * a failover. Empty: not connected. A command that is sent before the next wait goes to that very run. */
str redis_run_id(const redis *r);

/* A command and its arguments, as they are. *ret (may be NULL) lives in t's arena. */
res redis_call(task *t, redis *r, const str *args, size_t count, unsigned timeout_ms,
               redis_reply *ret) MUST_USE;

/* For the process's end (all tasks ended): closes connections and lets the loop run empty. */
void redis_shutdown(void);

#endif
