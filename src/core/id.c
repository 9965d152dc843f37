/* id.c -- random bytes from getrandom(2), and UUIDs made of them (RFC 9562, version 4).
 *
 * SPDX-License-Identifier: MIT */
#include "core/id.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { UUID_BYTES = 16, POOL_BYTES = 64 * UUID_BYTES };

/* Where the text has a hyphen. */
static bool is_hyphen_place(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

static bool is_hex_digit(char c)
{
    char lower = str_lower_char(c);
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f');
}

void id_random(void *ret, size_t bytes)
{
    unsigned char *at = ret;
    while (bytes > 0) {
        /* A signal may cut a large request short, or interrupt one that waits for the kernel's first seed. */
        ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fprintf(stderr, "the kernel gives no random bytes: %s\n", strerror(errno));
            abort();
        }
        at += got;
        bytes -= (size_t)got;
    }
}

/* Random bytes for the next UUIDs of this thread: every request gets one, and a system call for each would
 * cost more than the rest of it. Used bytes are wiped. A child process starts with none, lest it repeat its
 * parent's. */
static __thread unsigned char pool[POOL_BYTES];
static __thread size_t        pool_left;

static void forget_pool(void)
{
    pool_left = 0;
}

static void watch_forks(void)
{
    if (pthread_atfork(NULL, NULL, forget_pool) != 0) {
        fprintf(stderr, "no memory to keep random bytes apart from those of child processes\n");
        abort();
    }
}

static void take_from_pool(unsigned char ret[UUID_BYTES])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pool_left == 0) {
        (void)pthread_once(&once, watch_forks); /* fails only for a bad argument */
        id_random(pool, sizeof pool);
        pool_left = sizeof pool;
    }
    pool_left -= UUID_BYTES;
    memcpy(ret, pool + pool_left, UUID_BYTES);
    memset(pool + pool_left, 0, UUID_BYTES);
}

str id_uuid(char out[UUID_TEXT + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char     raw[UUID_BYTES];

    take_from_pool(raw);
    raw[6] = (unsigned char)((raw[6] & 0x0F) | 0x40); /* version 4 */
    raw[8] = (unsigned char)((raw[8] & 0x3F) | 0x80); /* variant 10 */

    size_t i = 0;
    for (size_t from = 0; from < sizeof raw; from++) {
        if (is_hyphen_place(i))
            out[i++] = '-';
        out[i++] = hex[raw[from] >> 4];
        out[i++] = hex[raw[from] & 0x0F];
    }
    out[i] = '\0';
    return (str){out, i};
}

bool id_is_uuid(str s)
{
    if (s.len != UUID_TEXT)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (is_hyphen_place(i) ? s.at[i] != '-' : !is_hex_digit(s.at[i]))
            return false;
    return true;
}
