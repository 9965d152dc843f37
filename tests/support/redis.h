/* redis.h -- a redis-server as a program under test's other half, on a port that the kernel chose.
 *
 * It keeps its files in a folder of its own and ends with the process that started it (process.h). A fake one
 * says what no Redis says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_REDIS_H
#define TRESTLE_TESTS_REDIS_H

#include "core/str.h"

typedef struct redis_server redis_server;

/* password NULL: none. Ends the test when there is no redis-server, or it does not start. */
redis_server *redis_server_start(const char *password);
void          redis_server_stop(redis_server *s); /* kills it and removes its folder; accepts NULL */

int         redis_server_port(const redis_server *s);
const char *redis_server_url(const redis_server *s); /* with its password */

void redis_server_freeze(redis_server *s); /* it takes connections, and says nothing */
void redis_server_thaw(redis_server *s);
void redis_server_kill(redis_server *s);
void redis_server_launch(redis_server *s); /* anew on the same port, from its last SAVE; waits for it */

typedef struct redis_fake redis_fake;

/* What came in the n-th piece is answered with the n-th text, on whatever connection; the last one repeats.
 * NULL: nothing is said; the empty text: the connection is closed. */
redis_fake *redis_fake_start(const char *const *answers, size_t count);
void        redis_fake_stop(redis_fake *f);
const char *redis_fake_url(const redis_fake *f);

#define REDIS_FAKE_INFO "$21\r\nrun_id:abc\r\nx:12345\r\n\r\n"

#endif
