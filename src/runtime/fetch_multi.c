/* fetch_multi.c -- libcurl's multi interface on the loop: its sockets, its timer, its messages.
 *
 * The uv_poll of a connection lives as long as its socket. Between transfers it stays in epoll, unreferenced,
 * so that a kept-alive connection costs no system call when it is used again, and does not keep the loop from
 * ending. If such an idle socket has something to say (the peer closed it), it is only taken out of epoll:
 * libcurl finds out when it looks at the connection next.
 *
 * That holds once a connection is made. Until then, and for sockets that libcurl makes for itself (the
 * resolver's wake-up pair), the uv_poll goes when libcurl says "remove". For libcurl 7.88 closes a socket
 * whose connect has failed or timed out without the close callback, and says "remove" only after that, or not
 * at all if its next attempt was given the same number.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/metrics.h"
#include "runtime/fetch_internal.h"
#include "runtime/loop_uv.h"

enum { WATCHES_MIN = 64 };

typedef struct {
    uv_poll_t     uv;
    curl_socket_t fd;
    int           events; /* what epoll is asked for; 0: nothing */
    ino_t         inode;  /* of the socket: its number may come to mean another one */
    bool          kept;   /* a connection is made: stays until the close callback */
    bool          wanted; /* by libcurl, now */
} watch;

static struct {
    CURLM      *multi;
    CURLSH     *share;
    uv_timer_t *timer;
    watch     **watches; /* by descriptor; NULL: none */
    size_t      watches_len;
    metric     *opened;
} m;

/* ---- watches ---- */

static watch *find_watch(curl_socket_t fd)
{
    return fd >= 0 && (size_t)fd < m.watches_len ? m.watches[fd] : NULL;
}

static bool room_for(curl_socket_t fd)
{
    size_t len = m.watches_len != 0 ? m.watches_len : WATCHES_MIN;
    while (len <= (size_t)fd)
        len *= 2;
    if (len == m.watches_len)
        return true;
    watch **grown = realloc(m.watches, len * sizeof(watch *));
    if (grown == NULL)
        return false;
    memset(grown + m.watches_len, 0, (len - m.watches_len) * sizeof(watch *));
    m.watches = grown;
    m.watches_len = len;
    return true;
}

static void free_handle(uv_handle_t *h)
{
    free(h);
}

static watch *add_watch(curl_socket_t fd)
{
    struct stat about;
    watch      *w = room_for(fd) && fstat(fd, &about) == 0 ? calloc(1, sizeof *w) : NULL;
    if (w == NULL)
        return NULL;
    if (uv_poll_init_socket(loop_uv(), &w->uv, fd) != 0) {
        free(w); /* libuv knows it only once it has succeeded */
        return NULL;
    }
    w->fd = fd;
    w->inode = about.st_ino;
    m.watches[fd] = w;
    return w;
}

static void drop_watch(watch *w)
{
    m.watches[w->fd] = NULL;
    uv_close((uv_handle_t *)&w->uv, free_handle); /* out of epoll at once; `uv` is first in watch */
}

/* Whether it is still the same socket, and connected to a host. Asked once a connection. */
static bool is_connection(const watch *w)
{
    struct stat             about = {0};
    struct sockaddr_storage peer = {0};
    socklen_t               len = sizeof peer;
    return fstat(w->fd, &about) == 0 && about.st_ino == w->inode &&
           getpeername(w->fd, (struct sockaddr *)&peer, &len) == 0 &&
           (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

/* ---- events ---- */

static void read_messages(void)
{
    CURLMsg *msg;
    int      left;
    while ((msg = curl.multi_info_read(m.multi, &left)) != NULL) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        fetch_transfer *x = NULL;
        CURLcode        code = msg->data.result;
        (void)curl.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE,
                                (void *)&x); /* fails for no handle of ours */
        x->code = code;
        x->ended = true;
        fetch_multi_remove(x);
        fetch_transfer_wake(x);
    }
}

static void act(curl_socket_t fd, int flags)
{
    int running;
    (void)curl.multi_socket_action(m.multi, fd, flags, &running); /* failures come as messages */
    read_messages();
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    watch *w = (watch *)h;
    if (!w->wanted) {
        (void)uv_poll_stop(h); /* always 0 */
        w->events = 0;
        return;
    }
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    act(w->fd, flags); /* w may be gone now */
}

static void on_timer(uv_timer_t *h)
{
    (void)h;
    act(CURL_SOCKET_TIMEOUT, 0);
}

static bool want(watch *w, int events)
{
    w->wanted = true;
    uv_ref((uv_handle_t *)&w->uv);
    if (events == w->events)
        return true;
    w->events = events;
    return uv_poll_start(&w->uv, events, on_ready) == 0;
}

/* libcurl: what it wants to know of a socket from now on. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    (void)easy, (void)ctx, (void)socket_ctx;
    watch *w = find_watch(fd);
    if (what != CURL_POLL_REMOVE) {
        int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
        w = w != NULL ? w : add_watch(fd);
        return w != NULL && want(w, events) ? 0 : -1;
    }
    if (w == NULL)
        return 0;
    w->kept = w->kept || is_connection(w);
    if (!w->kept) {
        drop_watch(w);
        return 0;
    }
    w->wanted = false;
    uv_unref((uv_handle_t *)&w->uv);
    return 0;
}

/* libcurl: when it wants to be called without an event. */
static int on_timeout(CURLM *multi, long ms, void *ctx)
{
    (void)multi, (void)ctx;
    if (ms < 0)
        return uv_timer_stop(m.timer);
    return uv_timer_start(m.timer, on_timer, (uint64_t)ms, 0);
}

curl_socket_t fetch_multi_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)ctx, (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    watch *stale = find_watch(fd);
    if (stale == NULL)
        return fd;
    /* Closed behind our back, see above. libcurl may take the two for one, and not tell us again what it
     * wants: the new one begins with what the old one had. */
    int  events = stale->events;
    bool wanted = stale->wanted;
    drop_watch(stale);
    watch *w = add_watch(fd);
    if (w != NULL && (!wanted || want(w, events)))
        return fd;
    (void)close(fd);
    return CURL_SOCKET_BAD;
}

int fetch_multi_close_socket(void *ctx, curl_socket_t fd)
{
    (void)ctx;
    watch *w = find_watch(fd);
    if (w != NULL)
        drop_watch(w);
    return close(fd);
}

/* ---- opening and closing ---- */

static bool set_multi(void)
{
    return curl.multi_setopt(m.multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl.multi_setopt(m.multi, CURLMOPT_TIMERFUNCTION, on_timeout) == CURLM_OK &&
           curl.multi_setopt(m.multi, CURLMOPT_MAXCONNECTS, (long)FETCH_CONNECTIONS_MAX) == CURLM_OK &&
           curl.multi_setopt(m.multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)FETCH_CONNECTIONS_MAX) ==
               CURLM_OK &&
           curl.multi_setopt(m.multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) == CURLM_OK &&
           curl.share_setopt(m.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK;
}

bool fetch_multi_open(void)
{
    if (m.multi != NULL)
        return true;
    m.opened = metrics_counter("trestle_fetch_connections_opened_total", "", "Outgoing connections made");
    m.timer = malloc(sizeof *m.timer);
    m.multi = curl.multi_init();
    m.share = curl.share_init();
    if (m.timer != NULL)
        (void)uv_timer_init(loop_uv(), m.timer); /* always 0 */
    if (m.timer != NULL && m.multi != NULL && m.share != NULL && set_multi())
        return true;
    fetch_multi_close();
    return false;
}

/* The multi first: it closes its connections, and with them their watches and the sessions' last users. */
void fetch_multi_close(void)
{
    if (m.multi != NULL)
        (void)curl.multi_cleanup(m.multi); /* fails only for what is no multi */
    for (size_t fd = 0; fd < m.watches_len; fd++)
        assert(m.watches[fd] == NULL);
    if (m.share != NULL)
        (void)curl.share_cleanup(m.share); /* nobody uses it any more */
    if (m.timer != NULL)
        uv_close((uv_handle_t *)m.timer, free_handle);
    free(m.watches);
    memset(&m, 0, sizeof m);
}

CURLSH *fetch_multi_share(void)
{
    return m.share;
}

bool fetch_multi_add(fetch_transfer *x)
{
    x->added = curl.multi_add_handle(m.multi, x->easy) == CURLM_OK;
    return x->added;
}

void fetch_multi_remove(fetch_transfer *x)
{
    if (!x->added)
        return;
    long opened = 0;
    (void)curl.easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &opened); /* else it stays 0 */
    metrics_add(m.opened, opened);
    x->reused = opened == 0;
    x->added = false;
    (void)curl.multi_remove_handle(m.multi, x->easy); /* fails only for a handle that was not added */
    if (!x->ended) {
        x->ended = true;
        x->code = CURLE_ABORTED_BY_CALLBACK;
        x->fault = FETCH_FAULT_STOPPED;
    }
}
