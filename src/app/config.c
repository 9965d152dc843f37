/* config.c -- see config.h. The command line wins over the environment, the environment over
 * local.settings.json, and that over defaults.
 *
 * SPDX-License-Identifier: MIT */
#include "app/config.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

enum { PORT_MAX = 65535 };

typedef struct {
    config     *c;
    const char *storage, *data; /* --storage, --data; NULL: not said */
    char       *error;
    size_t      error_size;
} reading;

PRINTF_LIKE(2, 3) static bool wrong(reading *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(r->error, r->error_size, fmt, args);
    va_end(args);
    return false;
}

static bool read_number(reading *r, const char *what, const char *text, uint64_t least, uint64_t most,
                        uint64_t *ret)
{
    uint64_t n;
    if (str_to_u64(str_of(text), &n) && n >= least && n <= most) {
        *ret = n;
        return true;
    }
    (void)snprintf(r->error, r->error_size, "%s is '%s', but must be a whole number from %llu to %llu", what,
                   text, (unsigned long long)least, (unsigned long long)most);
    return false;
}

/* ---- options ---- */

typedef bool option_fn(reading *r, const char *value);

static bool set_port(reading *r, const char *value)
{
    uint64_t n;
    if (!read_number(r, "--port", value, 0, PORT_MAX, &n))
        return false;
    r->c->serve.port = (int)n;
    return true;
}

static bool is_address(const char *text)
{
    unsigned char any[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, any) == 1 || inet_pton(AF_INET6, text, any) == 1;
}

static bool set_listen(reading *r, const char *value)
{
    if (strcmp(value, "localhost") == 0)
        value = "127.0.0.1";
    if (!is_address(value))
        return wrong(r, "%s is '%s', but must be an IP address such as 127.0.0.1, 0.0.0.0 or ::1", "--listen",
                     value);
    r->c->serve.listen = value;
    return true;
}

static bool set_root(reading *r, const char *value)
{
    r->c->serve.root = value;
    return true;
}

static bool set_data(reading *r, const char *value)
{
    r->data = value;
    return true;
}

static bool set_storage(reading *r, const char *value)
{
    if (strcmp(value, "embedded") != 0 && strcmp(value, "azure") != 0)
        return wrong(r, "--storage is '%s', but must be embedded or azure", value);
    r->storage = value;
    return true;
}

/* "tables,queues": what `store` copies; all unless it is said. */
static bool set_only(reading *r, const char *value)
{
    static const struct {
        const char *name;
        unsigned    part;
    } parts[] = {{"tables", STORE_COPY_TABLES}, {"blobs", STORE_COPY_BLOBS}, {"queues", STORE_COPY_QUEUES}};
    str      rest = str_of(value), word;
    unsigned all = 0;
    while (str_next_field(&rest, ',', &word)) {
        unsigned part = 0;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            part |= str_eq(word, str_of(parts[i].name)) ? parts[i].part : 0;
        if (part == 0)
            return wrong(r, "--only is '%s', but must be a list of tables, blobs and queues", value);
        all |= part;
    }
    if (all == 0)
        return wrong(r, "--only is empty, but must be a list of tables, blobs and queues");
    r->c->copy.parts = all;
    return true;
}

typedef struct {
    const char *name;
    option_fn  *set;
} option;

static const option options[] = {
    {"--port", set_port}, {"--listen", set_listen},   {"--root", set_root},
    {"--data", set_data}, {"--storage", set_storage}, {"--only", set_only},
};

/* "--port 80" and "--port=80". Returns how many arguments were taken, 0 on error. */
static int read_option(reading *r, int left, char **argv)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t len = strlen(options[i].name);
        if (strncmp(argv[0], options[i].name, len) != 0)
            continue;
        if (argv[0][len] == '=')
            return options[i].set(r, argv[0] + len + 1) ? 1 : 0;
        if (argv[0][len] != '\0')
            continue;
        if (left < 2) {
            (void)wrong(r, "%s needs a value", options[i].name);
            return 0;
        }
        return options[i].set(r, argv[1]) ? 2 : 0;
    }
    (void)wrong(r, "option '%s' is not known; trestle --help lists what is", argv[0]);
    return 0;
}

static const struct {
    const char *name;
    command     command;
} commands[] = {
    {"serve", COMMAND_SERVE},       {"routes", COMMAND_ROUTES},   {"help", COMMAND_HELP},
    {"store", COMMAND_STORE},       {"--help", COMMAND_HELP},     {"-h", COMMAND_HELP},
    {"--version", COMMAND_VERSION}, {"version", COMMAND_VERSION},
};

static bool read_command(const char *word, command *ret)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(word, commands[i].name) == 0) {
            *ret = commands[i].command;
            return true;
        }
    }
    return false;
}

/* "export DIR" or "import DIR", after "store". */
static bool read_store_words(reading *r, int left, char **argv)
{
    if (left < 2 || argv[1][0] == '-' || (strcmp(argv[0], "export") != 0 && strcmp(argv[0], "import") != 0))
        return wrong(r, "store needs 'export DIR' or 'import DIR'");
    r->c->copy.import = strcmp(argv[0], "import") == 0;
    r->c->copy.dir = argv[1];
    return true;
}

static bool read_arguments(reading *r, int argc, char **argv)
{
    for (int i = 1; i < argc;) {
        command word;
        if (read_command(argv[i], &word)) {
            r->c->command = word;
            i++;
            if (word == COMMAND_STORE) {
                if (!read_store_words(r, argc - i, argv + i))
                    return false;
                i += 2;
            }
            continue;
        }
        if (argv[i][0] != '-')
            return wrong(r, "command '%s' is not known; trestle --help lists what is", argv[i]);
        int taken = read_option(r, argc - i, argv + i);
        if (taken == 0)
            return false;
        i += taken;
    }
    return true;
}

/* ---- environment ---- */

/* The host sets both to the same number; the first is the newer name. */
static bool read_host_port(reading *r)
{
    const char *name = "FUNCTIONS_CUSTOMHANDLER_PORT";
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') {
        name = "FUNCTIONS_HTTPWORKER_PORT";
        text = getenv(name);
    }
    if (text == NULL || *text == '\0')
        return true;
    uint64_t n;
    if (!read_number(r, name, text, 1, PORT_MAX, &n))
        return false;
    r->c->serve.under_host = true;
    r->c->serve.port = (int)n;
    return true;
}

static bool read_limit(reading *r, const char *name, uint64_t least, uint64_t most, uint64_t *ret)
{
    const char *text = getenv(name);
    return text == NULL || *text == '\0' || read_number(r, name, text, least, most, ret);
}

static bool read_environment(reading *r)
{
    serve_options *o = &r->c->serve;
    o->function_key = str_of(getenv("TRESTLE_FUNCTION_KEY"));
    log_add_secret(o->function_key);

    const char *level = getenv("TRESTLE_LOG_LEVEL");
    log_level   least;
    if (level != NULL && *level != '\0') {
        if (!log_level_parse(str_of(level), &least))
            return wrong(r, "%s is '%s', but must be debug, info, warn, error or off", "TRESTLE_LOG_LEVEL",
                         level);
        log_set_level(least);
    }
    uint64_t access = 0, tasks = 0, connections = 0;
    if (!read_limit(r, "TRESTLE_ACCESS_LOG", 0, 1, &access) ||
        !read_limit(r, "TRESTLE_MAX_TASKS", 1, 30000, &tasks) ||
        !read_limit(r, "TRESTLE_MAX_CONNECTIONS", 1, 100000, &connections) ||
        !read_limit(r, "TRESTLE_HEAD_TIMEOUT_MS", 100, 600000, &o->head_ms) ||
        !read_limit(r, "TRESTLE_DRAIN_MS", 1, 600000, &o->drain_ms))
        return false;
    o->access_log = access == 1;
    o->tasks_max = tasks;
    o->connections_max = connections;
    return true;
}

/* What must be known before local.settings.json can be read: where it is, and whether it is ours to read. */
static bool read_place(reading *r)
{
    const char *root = getenv("AzureWebJobsScriptRoot");
    if (root != NULL && *root != '\0')
        r->c->serve.root = root;
    return read_host_port(r);
}

/* Under the host its Values are in the environment already. */
static bool read_settings_file(reading *r, arena *a)
{
    str why;
    if (r->c->serve.under_host || settings_load(a, r->c->serve.root, &why) == RES_OK)
        return true;
    return wrong(r, "%.*s", STR_ARG(why));
}

static bool choose_store(reading *r, arena *a)
{
    str why;
    if (r->c->command == COMMAND_ROUTES ||
        store_choose(a, r->storage, r->data, r->c->serve.under_host, settings_came_from_file, &r->c->store,
                     &why) == RES_OK)
        return true;
    return wrong(r, "%.*s", STR_ARG(why));
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What others can reach must ask for a key. */
static bool may_listen(reading *r)
{
    const serve_options *o = &r->c->serve;
    if (r->c->command != COMMAND_SERVE || o->under_host || is_loopback(o->listen) || o->function_key.len > 0)
        return true;
    return wrong(r,
                 "--listen '%s' can be reached by others: set TRESTLE_FUNCTION_KEY, which functions with a "
                 "key then ask for",
                 o->listen);
}

res config_read(arena *a, int argc, char **argv, config *ret, char *error, size_t error_size)
{
    *ret = (config){.serve = {.root = ".", .listen = "127.0.0.1", .port = SERVE_PORT_UNSAID},
                    .copy = {.parts = STORE_COPY_ALL}};
    reading r = {.c = ret, .error = error, .error_size = error_size};
    if (!read_place(&r) || !read_arguments(&r, argc, argv))
        return RES_INVALID;
    if (ret->command == COMMAND_HELP || ret->command == COMMAND_VERSION)
        return RES_OK;
    if (!read_settings_file(&r, a))
        return RES_CONFIG;
    if (!read_environment(&r) || !may_listen(&r))
        return RES_INVALID;
    return choose_store(&r, a) ? RES_OK : RES_CONFIG;
}
