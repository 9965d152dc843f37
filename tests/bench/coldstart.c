/* coldstart.c -- how long from exec to the first 200 on GET /api/health, in milliseconds.
 *
 *     coldstart RUNS PROGRAM [ARGUMENTS…]
 *
 * Starts the program RUNS times with a free port in FUNCTIONS_CUSTOMHANDLER_PORT, tries to connect every 50
 * µs, asks, and prints the median and the best: "median 1.92 ms, best 1.71 ms". The program is killed after
 * each run.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 1000, GIVE_UP_US = 10 * 1000 * 1000, PAUSE_NS = 50 * 1000 };

static uint64_t now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static struct sockaddr_in address_of(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int free_port(void)
{
    struct sockaddr_in a = address_of(0);
    socklen_t          size = sizeof a;
    int                fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0)
        return -1;
    (void)close(fd);
    return ntohs(a.sin_port);
}

/* One try: connect, ask, read the status. */
static int answers(int port)
{
    static const char  ask[] = "GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    struct sockaddr_in a = address_of(port);
    char               got[64] = {0};
    int                fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return 0;
    int ok = connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
             send(fd, ask, sizeof ask - 1, MSG_NOSIGNAL) == (ssize_t)(sizeof ask - 1) &&
             recv(fd, got, sizeof got - 1, 0) > 12 && strncmp(got, "HTTP/1.1 200", 12) == 0;
    (void)close(fd);
    return ok;
}

static pid_t start(char **argv, int port)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", port);
    (void)setenv("FUNCTIONS_CUSTOMHANDLER_PORT", text, 1);
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL)
            _exit(126);
        (void)execvp(argv[0], argv);
        _exit(127);
    }
    return pid;
}

/* Microseconds, or 0 when it never answered. */
static uint64_t one_run(char **argv)
{
    int      port = free_port();
    uint64_t begun = now_us();
    pid_t    pid = start(argv, port);
    uint64_t took = 0;
    while (now_us() - begun < GIVE_UP_US) {
        if (answers(port)) {
            took = now_us() - begun;
            break;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return took;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static uint64_t took[RUNS_MAX];
    int             runs = argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: coldstart RUNS PROGRAM [ARGUMENTS...]   (RUNS from 1 to %d)\n", RUNS_MAX);
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        took[i] = one_run(argv + 2);
        if (took[i] == 0) {
            fprintf(stderr, "coldstart: '%s' did not answer within 10 s\n", argv[2]);
            return 1;
        }
    }
    qsort(took, (size_t)runs, sizeof *took, by_size);
    printf("median %.2f ms, best %.2f ms\n", (double)took[runs / 2] / 1000, (double)took[0] / 1000);
    return 0;
}
