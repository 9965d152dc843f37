/* store.c -- which storage there is: chosen from the command line and the environment, opened once.
 *
 * The order of names differs by service (shared environment names of the specifications). Embedded is the
 * choice of a program that was started by hand; under the Functions host it must be asked for by name, so
 * that a deployment without its settings never writes to a disk that vanishes.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/store.h"

#include <assert.h>
#include <stdlib.h>

#include "backend.h"

#define TABLES_NAME "AZURE_TABLES_CONNECTION_STRING"
#define MAIN_NAME   "AZURE_STORAGE_CONNECTION_STRING"
#define JOBS_NAME   "AzureWebJobsStorage"

enum { NAMES = 3 };

typedef enum { TABLES, BLOBS, QUEUES, SERVICES } service;

static const char *const order[SERVICES][NAMES] = {
    [TABLES] = {TABLES_NAME, MAIN_NAME, JOBS_NAME},
    [BLOBS] = {MAIN_NAME, JOBS_NAME, TABLES_NAME},
    [QUEUES] = {MAIN_NAME, JOBS_NAME, TABLES_NAME},
};

static const char *const uri_suffix[SERVICES] = {"__tableServiceUri", "__blobServiceUri",
                                                 "__queueServiceUri"};

/* What the search for a setting goes by. */
typedef struct {
    arena              *a;
    store_from_file_fn *from_file; /* NULL: settings from the file count like any */
} search;

static struct {
    backend        opened[STORE_COUNT];
    const backend *at[STORE_COUNT]; /* NULL: STORE_MAIN's */
} stores;

/* ---- choosing ---- */

/* Its value, if it is set and counts. */
static str setting(const search *s, const char *name)
{
    str value = str_of(getenv(name));
    return value.len > 0 && s->from_file != NULL && s->from_file(name) ? STR("") : value;
}

static bool has_member(const search *s, str group, const char *suffix)
{
    str name = arena_strf(s->a, "%.*s%s", STR_ARG(group), suffix);
    assert(name.at != NULL);
    return setting(s, name.at).len > 0;
}

/* A connection string; or the name itself, when settings of that group describe an identity (spec 1.2). */
static str connection(const search *s, const char *name, service for_service)
{
    str value = setting(s, name);
    if (value.len > 0)
        return value;
    str  group = str_of(name);
    bool known = has_member(s, group, "__accountName") || has_member(s, group, uri_suffix[for_service]);
    return known ? group : STR("");
}

static str service_connection(const search *s, service which)
{
    for (size_t i = 0; i < NAMES; i++) {
        str found = connection(s, order[which][i], which);
        if (found.len > 0)
            return found;
    }
    return STR("");
}

/* A module needs tables at least; which other services a group has is looked at when it is opened. */
static str module_connection(const search *s, const char *name)
{
    for (service i = TABLES; i < SERVICES; i++) {
        str found = connection(s, name, i);
        if (found.len > 0)
            return found;
    }
    return STR("");
}

static bool find_azure(const search *s, store_options *o)
{
    o->tables = service_connection(s, TABLES);
    o->blobs = service_connection(s, BLOBS);
    o->queues = service_connection(s, QUEUES);
    return o->tables.len + o->blobs.len + o->queues.len > 0;
}

static const char *said_or_set(const char *said, const char *name, const char *otherwise)
{
    if (said != NULL && *said != '\0')
        return said;
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : otherwise;
}

static res refuse(str *ret_error, str why)
{
    *ret_error = why;
    return RES_CONFIG;
}

res store_choose(arena *a, const char *storage, const char *data, bool under_host,
                 store_from_file_fn *from_file, store_options *ret, str *ret_error)
{
    str    asked = str_of(said_or_set(storage, "TRESTLE_STORAGE", ""));
    bool   azure = str_eq_nocase(asked, STR("azure")), embedded = str_eq_nocase(asked, STR("embedded"));
    search s = {.a = a, .from_file = under_host || azure ? NULL : from_file};

    if (asked.len > 0 && !azure && !embedded)
        return refuse(ret_error,
                      arena_strf(a, "storage '%.*s': only azure and embedded are known", STR_ARG(asked)));
    store_options o = {.actions = module_connection(&s, "ACTIONS_TABLE_CONNECTION"),
                       .events = module_connection(&s, "ES_STORAGE_CONNECTION")};
    if (!embedded && find_azure(&s, &o))
        o.kind = STORE_AZURE;
    else if (azure)
        return refuse(ret_error, STR("storage 'azure' is asked for, but none of " MAIN_NAME ", " TABLES_NAME
                                     " and " JOBS_NAME " is set"));
    else
        o.kind = under_host && !embedded ? STORE_NONE : STORE_EMBEDDED;
    if (o.kind == STORE_EMBEDDED)
        o.data_dir = said_or_set(data, "TRESTLE_DATA_DIR", ".trestle");
    *ret = o;
    return RES_OK;
}

/* ---- opening ---- */

/* The same connection for all services; of a group only those that it describes. */
static res open_module(arena *a, store_id id, str from, str *ret_error)
{
    search s = {.a = a};
    str    of[SERVICES];

    if (from.len == 0)
        return RES_OK;
    bool is_group = str_find_char(from, '=') == from.len;
    for (service i = TABLES; i < SERVICES; i++) {
        bool known =
            !is_group || has_member(&s, from, "__accountName") || has_member(&s, from, uri_suffix[i]);
        of[i] = known ? from : STR("");
    }
    TRY(azure_open(a, of[TABLES], of[BLOBS], of[QUEUES], &stores.opened[id], ret_error));
    stores.at[id] = &stores.opened[id];
    return RES_OK;
}

static res open_main(arena *a, const store_options *o, str *ret_error)
{
    backend *b = &stores.opened[STORE_MAIN];
    if (o->kind == STORE_NONE)
        return RES_OK;
    if (o->kind == STORE_EMBEDDED)
        TRY(embedded_open(a, o->data_dir, b, ret_error));
    else
        TRY(azure_open(a, o->tables, o->blobs, o->queues, b, ret_error));
    stores.at[STORE_MAIN] = b;
    return RES_OK;
}

res store_open(arena *a, const store_options *o, str *ret_error)
{
    res r = open_main(a, o, ret_error);
    if (r == RES_OK)
        r = open_module(a, STORE_ACTIONS, o->actions, ret_error);
    if (r == RES_OK)
        r = open_module(a, STORE_EVENTS, o->events, ret_error);
    if (r != RES_OK)
        store_close();
    return r;
}

void store_close(void)
{
    for (size_t i = STORE_COUNT; i-- > 0;) {
        const backend *b = stores.at[i];
        stores.at[i] = NULL;
        if (b == &stores.opened[i] && b->close != NULL)
            b->close(b->close_self);
        stores.opened[i] = (backend){0};
    }
}

str store_describe(arena *a)
{
    static const char *const modules[STORE_COUNT] = {[STORE_ACTIONS] = "actions", [STORE_EVENTS] = "events"};

    const backend *main_store = stores.at[STORE_MAIN];
    str            text = main_store != NULL ? main_store->describe : STR("none");
    for (size_t i = STORE_MAIN + 1; i < STORE_COUNT; i++)
        if (stores.at[i] != NULL)
            text =
                arena_strf(a, "%.*s; %s in %.*s", STR_ARG(text), modules[i], STR_ARG(stores.at[i]->describe));
    return text;
}

bool store_is_set_up(store_id id)
{
    return store_backend(id) != NULL;
}

str store_tables_url(store_id id)
{
    const backend *b = store_backend(id);
    if (b == NULL || b->tables == NULL || b->tables_url.len == 0)
        return STR("embedded:");
    str url = b->tables_url;
    return str_ends(url, STR("/")) ? str_slice(url, 0, url.len - 1) : url;
}

const backend *store_backend(store_id id)
{
    return stores.at[id] != NULL ? stores.at[id] : stores.at[STORE_MAIN];
}

void store_set_for_test(store_id id, const backend *b)
{
    stores.at[id] = b;
}
