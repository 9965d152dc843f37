/* worker.c -- see worker.h.
 *
 *     task: entry on its stack -> waiting list -> (a thread) batch -> done list -> (loop) wait_done
 *
 * The mutex guards the two lists and nothing else. The async handle keeps the loop alive only while a job is
 * under way; libuv merges its signals, so one wake-up hands over whatever is done by then.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/worker.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "runtime/loop_uv.h"
#include "runtime/wait.h"

enum { THREADS_MAX = 8 };

typedef struct entry entry;
struct entry {
    wait    w;
    worker *of;
    void   *job;
    bool    taken; /* by a thread */
    entry  *next;
};

typedef struct {
    entry *first, **last;
    size_t len;
} entry_list;

struct worker {
    worker_options  o;
    pthread_mutex_t lock;
    pthread_cond_t  some;
    entry_list      waiting, done;
    bool            stopping;
    unsigned        started, numbered;
    pthread_t       threads[THREADS_MAX];
    uv_async_t      wake;
    size_t          under_way; /* the loop's own */
};

static void list_init(entry_list *l)
{
    *l = (entry_list){.last = &l->first};
}

static void list_push(entry_list *l, entry *e)
{
    e->next = NULL;
    *l->last = e;
    l->last = &e->next;
    l->len++;
}

static entry *list_pop(entry_list *l)
{
    entry *e = l->first;
    l->first = e->next;
    if (l->first == NULL)
        l->last = &l->first;
    l->len--;
    return e;
}

static void list_remove(entry_list *l, const entry *gone)
{
    for (entry **at = &l->first; *at != NULL; at = &(*at)->next) {
        if (*at != gone)
            continue;
        *at = gone->next;
        if (l->last == &gone->next)
            l->last = at;
        l->len--;
        return;
    }
}

/* ---- in the threads ---- */

/* Shares what waits among the threads; the lock is held. */
static void take_batch(worker *w, entry_list *ret, void **jobs)
{
    size_t share = (w->waiting.len + w->o.threads - 1) / w->o.threads;
    list_init(ret);
    while (ret->len < share && ret->len < w->o.batch_max) {
        entry *e = list_pop(&w->waiting);
        e->taken = true;
        jobs[ret->len] = e->job;
        list_push(ret, e);
    }
}

static void *thread_main(void *arg)
{
    worker    *w = arg;
    entry_list batch;
    void      *jobs[WORKER_BATCH_MAX];
    (void)pthread_mutex_lock(&w->lock); /* fails only for what is no mutex, as do all below */
    unsigned number = w->numbered++;
    for (;;) {
        while (w->waiting.len == 0 && !w->stopping)
            (void)pthread_cond_wait(&w->some, &w->lock);
        if (w->waiting.len == 0)
            break;
        take_batch(w, &batch, jobs);
        if (w->waiting.len > 0)
            (void)pthread_cond_signal(&w->some);
        (void)pthread_mutex_unlock(&w->lock);

        w->o.run(w->o.ctx, number, jobs, batch.len);

        (void)pthread_mutex_lock(&w->lock);
        while (batch.len > 0)
            list_push(&w->done, list_pop(&batch));
        (void)uv_async_send(&w->wake); /* fails only for a handle that is closing */
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- on the loop ---- */

static void one_less(worker *w)
{
    if (--w->under_way == 0)
        uv_unref((uv_handle_t *)&w->wake);
}

static void on_wake(uv_async_t *h)
{
    worker    *w = h->data;
    entry_list done;
    list_init(&done);
    (void)pthread_mutex_lock(&w->lock);
    while (w->done.len > 0)
        list_push(&done, list_pop(&w->done));
    (void)pthread_mutex_unlock(&w->lock);
    while (done.len > 0) {
        one_less(w);
        wait_done(&list_pop(&done)->w, RES_OK);
    }
}

/* What no thread has taken is taken back; the rest is waited for. */
static void stop_job(wait *waiting)
{
    entry  *e = waiting->ctx;
    worker *w = e->of;
    (void)pthread_mutex_lock(&w->lock);
    bool taken = e->taken;
    if (!taken)
        list_remove(&w->waiting, e);
    (void)pthread_mutex_unlock(&w->lock);
    if (taken)
        return;
    one_less(w);
    wait_done(waiting, RES_GONE); /* wait_for returns the reason instead */
}

res worker_do(task *t, worker *w, void *job)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;
    entry e = {.w = WAIT_INIT(w->o.name), .of = w, .job = job};
    e.w.ctx = &e;
    (void)pthread_mutex_lock(&w->lock);
    bool room = w->waiting.len < w->o.queue_max;
    if (room) {
        list_push(&w->waiting, &e);
        (void)pthread_cond_signal(&w->some);
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (!room)
        return task_fail(t, RES_UNAVAILABLE, "%s: %zu jobs wait already", w->o.name, w->o.queue_max);
    if (w->under_way++ == 0)
        uv_ref((uv_handle_t *)&w->wake);
    return wait_for(t, &e.w, stop_job);
}

/* ---- making and ending ---- */

/* Signals are the loop's business: threads begin with all of them blocked. */
static bool start_threads(worker *w)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; w->started < w->o.threads; w->started++) {
        if (pthread_create(&w->threads[w->started], NULL, thread_main, w) != 0)
            break;
        (void)pthread_setname_np(w->threads[w->started], w->o.name); /* a name too long is no name */
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->started == w->o.threads;
}

worker *worker_new(const worker_options *o)
{
    assert(o->threads >= 1 && o->threads <= THREADS_MAX && o->batch_max >= 1 &&
           o->batch_max <= WORKER_BATCH_MAX);
    worker *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    if (uv_async_init(loop_uv(), &w->wake, on_wake) != 0) {
        free(w);
        return NULL;
    }
    w->o = *o;
    w->wake.data = w;
    uv_unref((uv_handle_t *)&w->wake);
    list_init(&w->waiting);
    list_init(&w->done);
    (void)pthread_mutex_init(&w->lock, NULL); /* always 0 with default attributes on Linux */
    (void)pthread_cond_init(&w->some, NULL);
    if (start_threads(w))
        return w;
    worker_free(w);
    return NULL;
}

static void free_closed(uv_handle_t *h)
{
    free(h->data);
}

void worker_free(worker *w)
{
    if (w == NULL)
        return;
    assert(w->under_way == 0);
    (void)pthread_mutex_lock(&w->lock);
    w->stopping = true;
    (void)pthread_cond_broadcast(&w->some);
    (void)pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->started; i++)
        (void)pthread_join(w->threads[i], NULL); /* each is joined once */
    (void)pthread_cond_destroy(&w->some);
    (void)pthread_mutex_destroy(&w->lock);
    uv_close((uv_handle_t *)&w->wake, free_closed);
}
