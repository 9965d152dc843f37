/* redis_internal.h -- what the files of redis share.
 *
 *     redis.c        the public calls: who waits for what, when the server counts as down
 *     redis_conn.c   one connection: hiredis on the loop, from resolving its name to its end
 *     redis_reply.c  answers, built within limits while hiredis reads them
 *     redis_tls.c    rediss://
 *     redis_url.c    URLs
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_REDIS_INTERNAL_H
#define TRESTLE_RUNTIME_REDIS_INTERNAL_H

#include "core/buf.h"
#include "runtime/redis.h"

/* ---- redis_url.c ---- */

enum { REDIS_URL_MAX = 2048, REDIS_HOST_MAX = 255, REDIS_PORT = 6379, REDIS_DB_MAX = 65535 };

typedef struct {
    bool     tls;
    str      host; /* without the [] of IPv6; fit for a log */
    unsigned port, db;
    str      user, password; /* decoded; empty: none */
} redis_url;

/* NULL, or what is wrong with it; then *ret is unset. Everything lives in a. */
const char *redis_url_parse(arena *a, str url, redis_url *ret) MUST_USE;

/* ---- redis_reply.c ---- */

struct redisReader;

/* An answer as it is built; on the heap, for hiredis reads on the loop's stack. */
typedef struct redis_answer redis_answer;

typedef struct {
    size_t waiting;         /* answers that are still to come: what nobody asked for is refused */
    size_t bytes, elements; /* of the answer that is being read */
    bool   unasked, large;  /* why reading was given up */
} redis_reading;

/* From now on the reader builds redis_answers, within the limits of *s. */
void        redis_reply_attach(struct redisReader *reader, redis_reading *s);
/* Bytes that the reader holds of an answer that is not complete. */
size_t      redis_reply_held(const struct redisReader *reader);
void        redis_answer_keep(redis_answer *x); /* hiredis lets go of it after the callback */
void        redis_answer_free(redis_answer *x); /* accepts NULL */
bool        redis_answer_is_error(const redis_answer *x, str *ret_text);
str         redis_answer_text(const redis_answer *x); /* empty: no text */
/* A copy in a. */
redis_reply redis_answer_copy(arena *a, const redis_answer *x);

/* ---- redis_tls.c ---- */

struct redisContext;
bool redis_tls_built_in(void);
/* Begins TLS on a fresh connection; false: `why` says what is missing. */
bool redis_tls_begin(struct redisContext *c, const char *host, char *why, size_t why_size) MUST_USE;
void redis_tls_drop(void);

/* ---- redis_conn.c ---- */

enum { REDIS_WHY_BYTES = 200 };

typedef struct redis_conn redis_conn;

/* Called from the loop. `lost` ends the connection's life, whether it was ever up; it is not called after
 * redis_conn_close. `why` is fit for a log. */
typedef struct {
    void (*up)(void *ctx, const char *server_id);
    void (*lost)(void *ctx, const char *why);
    /* The answer to one command, in order; answer NULL: there will be none. Takes the answer over. */
    void (*answered)(void *sent, redis_answer *answer);
    void *ctx;
} redis_events;

/* NULL: no memory. `url` outlives it. Nothing is called before it returns. */
redis_conn *redis_conn_open(const redis_url *url, const redis_events *events) MUST_USE;
/* Not from within `up` and `answered`. Commands under way are answered with NULL before it returns. */
void        redis_conn_close(redis_conn *c);
/* Appends the command as it goes over the wire. */
void        redis_conn_format(buf *out, const str *args, size_t count);
/* False: it is breaking, and `answered` will not be called for this one. */
bool        redis_conn_send(redis_conn *c, str formatted, void *sent) MUST_USE;
size_t      redis_conn_unsent(const redis_conn *c);
/* Reads what has come but was not read: a loop that was held up fires its timers first. */
void        redis_conn_read_now(redis_conn *c);

#endif
