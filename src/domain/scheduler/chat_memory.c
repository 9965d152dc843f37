/* chat_memory.c -- see chat_memory.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/chat_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "domain/scheduler/settings.h"

enum { CONVERSATIONS_MAX = 256, SAID_MAX = 2000, WAIT_LIMIT_S = CHAT_PROPOSAL_MINUTES * 60 };

typedef struct said {
    struct said *next; /* newer */
    bool         by_person;
    size_t       len;
    char         text[];
} said;

typedef struct {
    bool     used;
    chat_key key;
    uint64_t touched_us, proposed_us; /* of the monotonic clock */
    char    *proposal, *person;       /* NULL: none */
    said    *oldest, *newest;
    unsigned said_count;
    size_t   said_bytes;
} conversation;

static conversation *all; /* CONVERSATIONS_MAX of them, made with the first */

/* ---- conversations ---- */

static void forget_oldest(conversation *c)
{
    said *s = c->oldest;
    c->oldest = s->next;
    if (c->oldest == NULL)
        c->newest = NULL;
    c->said_count--;
    c->said_bytes -= s->len;
    free(s);
}

static void forget(conversation *c)
{
    while (c->oldest != NULL)
        forget_oldest(c);
    free(c->proposal);
    free(c->person);
    *c = (conversation){0};
}

static conversation *find(const chat_key *k)
{
    for (size_t i = 0; all != NULL && i < CONVERSATIONS_MAX; i++)
        if (all[i].used && memcmp(&all[i].key, k, sizeof *k) == 0)
            return &all[i];
    return NULL;
}

static conversation *longest_silent(void)
{
    conversation *c = &all[0];
    for (size_t i = 0; i < CONVERSATIONS_MAX; i++) {
        if (!all[i].used)
            return &all[i];
        if (all[i].touched_us < c->touched_us)
            c = &all[i];
    }
    return c;
}

/* NULL: no memory. */
static conversation *open_conversation(const chat_key *k)
{
    conversation *c = find(k);
    if (all == NULL)
        all = calloc(CONVERSATIONS_MAX, sizeof *all);
    if (all == NULL)
        return NULL;
    if (c == NULL) {
        c = longest_silent();
        forget(c);
        c->used = true;
        c->key = *k;
    }
    c->touched_us = clock_mono_us();
    return c;
}

chat_key chat_key_of(arena *a, str group, str session)
{
    return (chat_key){hash_sha256(arena_strf(a, "%.*s:%.*s", STR_ARG(group), STR_ARG(session)))};
}

/* Replaces the text; false: no memory, nothing has changed. */
static bool keep(char **slot, str text)
{
    char *copy = malloc(text.len + 1);
    if (copy == NULL)
        return false;
    if (text.len > 0)
        memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    free(*slot);
    *slot = copy;
    return true;
}

/* ---- proposals ---- */

bool chat_propose(const chat_key *k, str proposal)
{
    conversation *c = proposal.len <= CHAT_PROPOSAL_MAX ? open_conversation(k) : NULL;
    if (c == NULL || !keep(&c->proposal, proposal))
        return false;
    c->proposed_us = clock_mono_us();
    return true;
}

static void drop_proposal(conversation *c)
{
    free(c->proposal);
    c->proposal = NULL;
}

str chat_proposal(arena *a, const chat_key *k)
{
    conversation *c = find(k);
    if (c == NULL || c->proposal == NULL)
        return (str){0};
    if (clock_mono_us() - c->proposed_us >= WAIT_LIMIT_S * UINT64_C(1000000)) {
        drop_proposal(c);
        return (str){0};
    }
    return arena_copy(a, str_of(c->proposal));
}

str chat_take_proposal(arena *a, const chat_key *k)
{
    str           text = chat_proposal(a, k);
    conversation *c = find(k);
    if (text.len > 0 && c != NULL)
        drop_proposal(c);
    return text;
}

/* ---- who speaks, and what was said ---- */

void chat_speak_as(const chat_key *k, str person_id)
{
    conversation *c = open_conversation(k);
    if (c != NULL)
        (void)keep(&c->person, person_id); /* without memory they speak as themselves */
}

str chat_speaks_as(arena *a, const chat_key *k)
{
    conversation *c = find(k);
    return c != NULL && c->person != NULL ? arena_copy(a, str_of(c->person)) : (str){0};
}

static str cut(str text)
{
    if (text.len <= SAID_MAX)
        return text;
    text.len = SAID_MAX;
    while (text.len > 0 && ((unsigned char)text.at[text.len] & 0xC0) == 0x80)
        text.len--;
    return text;
}

void chat_note(const chat_key *k, bool by_person, str text)
{
    const sched_settings *limits = sched_settings_get();
    text = cut(text);
    conversation *c = open_conversation(k);
    said         *s = c != NULL ? malloc(sizeof *s + text.len) : NULL;
    if (s == NULL)
        return;
    *s = (said){.by_person = by_person, .len = text.len};
    if (text.len > 0)
        memcpy(s->text, text.at, text.len);
    if (c->newest != NULL)
        c->newest->next = s;
    else
        c->oldest = s;
    c->newest = s;
    c->said_count++;
    c->said_bytes += s->len;
    while (c->oldest != NULL &&
           (c->said_count > limits->session_history_max || c->said_bytes > limits->history_chars_max))
        forget_oldest(c);
}

json *chat_history(arena *a, const chat_key *k)
{
    json         *list = json_array(a);
    conversation *c = find(k);
    if (c == NULL)
        return list;
    unsigned most = sched_settings_get()->history_messages_max;
    unsigned skipped = c->said_count > most ? c->said_count - most : 0;
    for (const said *s = c->oldest; s != NULL; s = s->next) {
        if (skipped > 0) {
            skipped--;
            continue;
        }
        json *item = json_push_object(list);
        json_set_str(item, "role", s->by_person ? STR("user") : STR("assistant"));
        json_set_str(item, "text", (str){s->text, s->len});
    }
    return list;
}

void chat_forget_for_test(void)
{
    for (size_t i = 0; all != NULL && i < CONVERSATIONS_MAX; i++)
        forget(&all[i]);
    free(all);
    all = NULL;
}
