/* redis.c -- see redis.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/redis.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/process.h"
#include "support/scratch.h"

enum { START_LIMIT_MS = 30 * 1000, ANSWERS_MAX = 16 };

struct redis_server {
    process    *proc;
    int         port, held; /* a socket that keeps the port ours, also while it is down */
    const char *password, *dir;
};

struct redis_fake {
    pthread_t   thread;
    int         listener, port;
    const char *answers[ANSWERS_MAX];
    size_t      count, next;
};

/* ---- sockets ---- */

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
}

static int bound_socket(int *ret_port)
{
    struct sockaddr_in at = loopback(0);
    socklen_t          len = sizeof at;
    int                on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* ---- the real one ---- */

static const char *find_program(void)
{
    static const char *const places[] = {"/usr/bin/redis-server", "/usr/local/bin/redis-server",
                                         "/opt/homebrew/bin/redis-server"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* It answers, if only that a password is wanted: it has read what it saved. */
static bool answers(int port)
{
    struct sockaddr_in at = loopback(port);
    char               said[64] = "";
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool               yes = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
               send(fd, "PING\r\n", 6, 0) == 6 && recv(fd, said, sizeof said - 1, 0) > 0 &&
               strncmp(said, "-LOADING", 8) != 0;
    if (fd >= 0)
        (void)close(fd);
    return yes;
}

void redis_server_launch(redis_server *s)
{
    const char *program = find_program();
    ck_assert_msg(program != NULL, "these tests need redis-server");
    const char *args[] = {
        program,  "--port", textf("%d", s->port), "--bind", "127.0.0.1",     "--dir",     s->dir,
        "--save", "",       "--appendonly",       "no",     "--requirepass", s->password, NULL};
    s->proc = process_start(&(process_spec){.args = args, .dir = "/tmp"});
    for (uint64_t until = process_now_ms() + START_LIMIT_MS; !answers(s->port); process_pause()) {
        str out = process_out(s->proc);
        ck_assert_msg(process_now_ms() < until && process_alive(s->proc), "redis-server did not start: %.*s",
                      STR_ARG(out));
    }
}

redis_server *redis_server_start(const char *password)
{
    redis_server *s = arena_one(scratch(), redis_server);
    char         *dir = arena_cstr(scratch(), STR("/tmp/trestle-redis-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(dir));
    s->dir = dir;
    s->password = password != NULL ? password : "";
    s->held = bound_socket(&s->port);
    redis_server_launch(s);
    return s;
}

void redis_server_kill(redis_server *s)
{
    process_end(s->proc);
}

void redis_server_stop(redis_server *s)
{
    if (s == NULL)
        return;
    process_end(s->proc);
    (void)close(s->held);
    (void)unlink(textf("%s/dump.rdb", s->dir));
    (void)rmdir(s->dir);
}

int redis_server_port(const redis_server *s)
{
    return s->port;
}

const char *redis_server_url(const redis_server *s)
{
    return textf("redis://%s%s%s127.0.0.1:%d", *s->password != '\0' ? ":" : "", s->password,
                 *s->password != '\0' ? "@" : "", s->port);
}

void redis_server_freeze(redis_server *s)
{
    process_signal(s->proc, SIGSTOP);
}

void redis_server_thaw(redis_server *s)
{
    process_signal(s->proc, SIGCONT);
}

/* ---- the fake one ---- */

static void talk(redis_fake *f, int fd)
{
    char piece[4096];
    while (recv(fd, piece, sizeof piece, 0) > 0) {
        const char *text = f->answers[f->next < f->count ? f->next : f->count - 1];
        f->next++;
        if (text != NULL && *text == '\0')
            return;
        if (text != NULL && send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
            return;
    }
}

static void *accept_all(void *ctx)
{
    redis_fake *f = ctx;
    for (int fd; (fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        talk(f, fd);
        (void)close(fd);
    }
    return NULL;
}

redis_fake *redis_fake_start(const char *const *answers_to, size_t count)
{
    redis_fake *f = arena_one(scratch(), redis_fake);
    ck_assert_uint_le(count, ANSWERS_MAX);
    memcpy(f->answers, answers_to, count * sizeof *answers_to);
    f->count = count;
    f->listener = bound_socket(&f->port);
    ck_assert_int_eq(listen(f->listener, 8), 0);
    ck_assert_int_eq(pthread_create(&f->thread, NULL, accept_all, f), 0);
    return f;
}

/* Its connections have been closed by the client. */
void redis_fake_stop(redis_fake *f)
{
    (void)shutdown(f->listener, SHUT_RDWR);
    (void)pthread_join(f->thread, NULL);
    (void)close(f->listener);
}

const char *redis_fake_url(const redis_fake *f)
{
    return textf("redis://127.0.0.1:%d", f->port);
}
