/* redis_reply.c -- what hiredis reads becomes a redis_answer, within limits.
 *
 * hiredis asks for an object for each piece of an answer, and gives up on the connection when it gets none.
 * That is used against a peer that is no Redis, or not a sane one: an announced list of a thousand million
 * elements, a string without an end, and an answer that nobody asked for (on which hiredis itself would
 * assert) are all refused here.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "runtime/redis_internal.h"

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

struct redis_answer {
    int            type;    /* first: hiredis looks at it as at a redisReply's */
    unsigned       holders; /* hiredis, and whoever keeps it */
    int64_t        number;
    size_t         len;
    redis_answer **all; /* a list's; elements may be NULL while it is read */
    char           text[];
};

static redis_answer *new_answer(const redisReadTask *at, size_t bytes)
{
    redis_reading *s = at->privdata;
    if (at->parent == NULL) {
        s->bytes = s->elements = 0;
        s->unasked = s->unasked || s->waiting == 0;
    }
    s->bytes += bytes;
    s->elements++;
    s->large = s->large || s->bytes > REDIS_ANSWER_MAX || s->elements > REDIS_ELEMENTS_MAX;
    if (s->unasked || s->large)
        return NULL;
    redis_answer *x = calloc(1, sizeof *x + bytes + 1);
    if (x == NULL)
        return NULL;
    x->type = at->type;
    x->holders = 1;
    if (at->parent != NULL) {
        redis_answer *list = at->parent->obj;
        list->all[at->idx] = x;
    }
    return x;
}

static void *make_string(const redisReadTask *at, char *text, size_t len)
{
    redis_answer *x = new_answer(at, len);
    if (x == NULL)
        return NULL;
    memcpy(x->text, text, len);
    x->len = len;
    return x;
}

static void *make_list(const redisReadTask *at, element_count count)
{
    redis_reading *s = at->privdata;
    size_t         n = (size_t)count; /* hiredis has refused negative ones */
    if (n > REDIS_ELEMENTS_MAX) {
        s->large = true;
        return NULL;
    }
    redis_answer **all = calloc(n > 0 ? n : 1, sizeof(redis_answer *));
    redis_answer  *x = all != NULL ? new_answer(at, 0) : NULL;
    if (x == NULL) {
        free(all);
        return NULL;
    }
    x->all = all;
    x->len = n;
    return x;
}

static void *make_number(const redisReadTask *at, long long number)
{
    redis_answer *x = new_answer(at, 0);
    if (x != NULL)
        x->number = number;
    return x;
}

static void *make_nil(const redisReadTask *at)
{
    redis_answer *x = new_answer(at, 0);
    if (x != NULL)
        x->type = REDIS_REPLY_NIL; /* it was announced as a string or a list */
    return x;
}

/* hiredis: it is through with it. */
static void let_go(void *answer)
{
    redis_answer_free(answer);
}

#if HIREDIS_MAJOR >= 1
/* Of the third version of the protocol, which we never ask for. */
static void *make_double(const redisReadTask *at, double value, char *text, size_t len)
{
    (void)value;
    return make_string(at, text, len);
}

static void *make_bool(const redisReadTask *at, int value)
{
    return make_number(at, value != 0);
}
#endif

static redisReplyObjectFunctions functions = {
    .createString = make_string,
    .createArray = make_list,
    .createInteger = make_number,
#if HIREDIS_MAJOR >= 1
    .createDouble = make_double,
    .createBool = make_bool,
#endif
    .createNil = make_nil,
    .freeObject = let_go,
};

void redis_reply_attach(struct redisReader *reader, redis_reading *s)
{
    reader->fn = &functions;
    reader->privdata = s;
}

size_t redis_reply_held(const struct redisReader *reader)
{
    return reader->len - reader->pos;
}

/* Depth is hiredis' limit: 7 in the old ones, 9 in the new ones. */
void redis_answer_free(redis_answer *x) // NOLINT(misc-no-recursion)
{
    if (x == NULL || --x->holders > 0)
        return;
    for (size_t i = 0; x->all != NULL && i < x->len; i++)
        redis_answer_free(x->all[i]);
    free(x->all);
    free(x);
}

void redis_answer_keep(redis_answer *x)
{
    x->holders++;
}

bool redis_answer_is_error(const redis_answer *x, str *ret_text)
{
    if (x->type != REDIS_REPLY_ERROR)
        return false;
    *ret_text = (str){x->text, x->len};
    return true;
}

str redis_answer_text(const redis_answer *x)
{
    return x->all == NULL ? (str){x->text, x->len} : (str){0};
}

redis_reply redis_answer_copy(arena *a, const redis_answer *x) // NOLINT(misc-no-recursion)
{
    if (x->type == REDIS_REPLY_INTEGER)
        return (redis_reply){.kind = REDIS_NUMBER, .number = x->number};
    if (x->type == REDIS_REPLY_NIL)
        return (redis_reply){.kind = REDIS_NIL};
    if (x->all == NULL)
        return (redis_reply){.kind = REDIS_TEXT, .text = arena_copy(a, (str){x->text, x->len})};
    redis_reply *list = arena_array(a, redis_reply, x->len);
    for (size_t i = 0; i < x->len; i++)
        list[i] = redis_answer_copy(a, x->all[i]);
    return (redis_reply){.kind = REDIS_LIST, .at = list, .len = x->len};
}
