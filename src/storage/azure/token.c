/* token.c -- see token.h.
 *
 * The one who fetches has a claim in its arena: if its task is left at a failing allocation, the claim's
 * cleanup gives the attempt back, and nobody waits for ever.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define SCHEME "Bearer "

static const int64_t US_PER_S = 1000000;

typedef struct {
    token_cache *c;
    bool         held;
} claim;

static void drop_token(void *cache)
{
    token_cache *c = cache;
    free(c->text);
    c->text = NULL;
}

bool token_init(token_cache *c, arena *a, const identity *id)
{
    *c = (token_cache){.id = *id};
    return arena_defer(a, drop_token, c);
}

static bool expires_within(const token_cache *c, int64_t seconds)
{
    return c->text == NULL || clock_wall_us() + seconds * US_PER_S >= c->expires_us;
}

static bool failed_lately(const token_cache *c)
{
    int64_t since_us = clock_wall_us() - c->failed_us;
    return c->failed != RES_OK && since_us >= 0 && since_us < TOKEN_SPACING_S * US_PER_S;
}

/* ---- the attempt ---- */

static void give_back(void *arg)
{
    claim *mine = arg;
    if (!mine->held)
        return;
    mine->held = false;
    mine->c->busy = false;
    gate_open(&mine->c->over);
}

static bool keep(token_cache *c, const identity_token *got)
{
    char *text = malloc(got->token.len + 1);
    if (text == NULL)
        return false;
    memcpy(text, got->token.at, got->token.len);
    text[got->token.len] = '\0';
    drop_token(c);
    c->text = text;
    c->expires_us = got->expires_us;
    c->version++;
    c->failed = RES_OK;
    return true;
}

static res attempt(task *t, token_cache *c, bool patient)
{
    claim *mine = arena_one(t->arena, claim);
    arena_defer(t->arena, give_back, mine);
    *mine = (claim){.c = c, .held = true};
    c->busy = true;
    c->attempts++;
    c->failed = RES_OK;

    identity_token got;
    res            r = identity_fetch(t, &c->id, patient, &got);
    if (r == RES_OK && !keep(c, &got))
        r = task_fail(t, RES_MEMORY, "no memory for a token");
    if (r != RES_OK && task_stopped(t) == RES_OK) { /* else it says nothing to the others */
        str why = task_message(t);
        c->failed = r;
        c->failed_us = clock_wall_us();
        (void)snprintf(c->why, sizeof c->why, "%.*s", STR_ARG(why));
    }
    give_back(mine);
    return r;
}

/* ---- getting one ---- */

/* Without a usable token: fetch it, or wait for who does and share what comes of it. */
static res demand(task *t, token_cache *c)
{
    while (expires_within(c, TOKEN_LATE_S)) {
        if (!c->busy && failed_lately(c))
            return task_fail(t, c->failed, "%s", c->why);
        if (!c->busy)
            return attempt(t, c, true);
        unsigned attempts = c->attempts;
        TRY(gate_wait(t, &c->over));
        if (c->attempts == attempts && !c->busy && c->failed != RES_OK)
            return task_fail(t, c->failed, "%s", c->why);
    }
    return RES_OK;
}

res token_get(task *t, token_cache *c, str *ret_authorization, unsigned *ret_version)
{
    if (expires_within(c, TOKEN_LATE_S))
        TRY(demand(t, c));
    else if (expires_within(c, TOKEN_EARLY_S) && !c->busy && !failed_lately(c) &&
             attempt(t, c, false) != RES_OK) {
        TRY(task_stopped(t));
        task_forget(t); /* the old one is good for a while yet, */
        if (expires_within(c, 0))
            TRY(demand(t, c)); /* … unless the attempt took too long, or it was refused meanwhile */
    }

    size_t len = strlen(c->text);
    char  *value = arena_alloc(t->arena, strlen(SCHEME) + len);
    memcpy(value, SCHEME, strlen(SCHEME));
    memcpy(value + strlen(SCHEME), c->text, len);
    *ret_authorization = (str){value, strlen(SCHEME) + len};
    *ret_version = c->version;
    return RES_OK;
}

void token_refused(token_cache *c, unsigned version)
{
    if (c->version == version)
        drop_token(c);
}
