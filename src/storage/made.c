/* made.c -- tables, containers and queues that are made when they are first found missing.
 *
 * The call itself finds out: no call asks beforehand, so what exists costs nothing. Requests that find the
 * same name missing at the same time share one attempt; it is forgotten when the last of them has seen how it
 * ended, since from then on the call itself succeeds. With more names missing at once than there are places,
 * each makes its own attempt: creating twice is harmless.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "backend.h"
#include "storage/provision.h"

enum { PLACES = 32, NAME_MAX = 64 };

typedef struct {
    unsigned     users; /* 0: free */
    made_create *create;
    void        *self;
    char         name[NAME_MAX];
    size_t       name_len;
    provision    p;
} place;

static place places[PLACES];

/* A user of a place, in the arena of its task: it is given back also when the task's stack is left. */
typedef struct {
    place *at; /* NULL: given back */
} hold;

typedef struct {
    str          name;
    made_create *create;
    void        *self;
} thing;

static void give_back(void *arg)
{
    hold *mine = arg;
    if (mine->at == NULL)
        return;
    mine->at->users--;
    mine->at = NULL;
}

static bool is_of(const place *p, const thing *what)
{
    return p->users > 0 && p->create == what->create && p->self == what->self &&
           str_eq((str){p->name, p->name_len}, what->name);
}

/* The place of that name, or a free one made its; NULL: all are taken. */
static place *place_of(const thing *what)
{
    place *free_place = NULL;
    for (size_t i = 0; i < PLACES; i++) {
        if (is_of(&places[i], what))
            return &places[i];
        if (places[i].users == 0)
            free_place = &places[i];
    }
    if (free_place == NULL || what->name.len > NAME_MAX)
        return NULL;
    *free_place = (place){.create = what->create, .self = what->self, .name_len = what->name.len};
    memcpy(free_place->name, what->name.at, what->name.len);
    return free_place;
}

static res create(task *t, void *ctx)
{
    const thing *what = ctx;
    res          r = what->create(what->self, t, what->name);
    if (r == RES_CONFLICT) { /* somebody else was faster */
        task_forget(t);
        return RES_OK;
    }
    return r;
}

res made_when_missing(task *t, str name, made_create *create_fn, void *self, made_op *op, void *ctx)
{
    thing what = {.name = name, .create = create_fn, .self = self};

    res r = op(t, ctx);
    if (r != RES_UNPROVISIONED)
        return r;
    task_forget(t);

    hold *mine = arena_one(t->arena, hold);
    arena_defer(t->arena, give_back, mine);
    mine->at = place_of(&what);
    if (mine->at == NULL) {
        TRY(create(t, &what));
        return op(t, ctx);
    }
    mine->at->users++;
    r = provision_once(t, &mine->at->p, create, &what);
    give_back(mine);
    return r == RES_OK ? op(t, ctx) : r;
}
