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

enum { PORT_MAX = 65535, RETRY_MAX_S = 24 * 3600 };

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

/* ---- options of import ---- */

static bool set_to(reading *r, const char *value)
{
    str url = str_of(value);
    if (!str_starts_nocase(url, STR("http://")) && !str_starts_nocase(url, STR("https://")))
        return wrong(r, "--to is '%s', but must be a URL such as http://127.0.0.1:7071", value);
    if (str_find_char(url, '?') < url.len || str_find_char(url, '#') < url.len ||
        str_find_char(url, '@') < url.len)
        return wrong(r, "--to must be a URL without query, fragment and password; a key goes into "
                        "TRESTLE_IMPORT_KEY");
    r->c->bulk.to = value;
    return true;
}

static bool set_key(reading *r, const char *value)
{
    r->c->bulk.key = str_of(value);
    return true;
}

static bool set_failed(reading *r, const char *value)
{
    r->c->bulk.failed = value;
    return true;
}

static bool set_small(reading *r, const char *what, const char *value, uint64_t least, uint64_t most,
                      unsigned *ret)
{
    uint64_t n;
    if (!read_number(r, what, value, least, most, &n))
        return false;
    *ret = (unsigned)n;
    return true;
}

static bool set_concurrency(reading *r, const char *value)
{
    return set_small(r, "--concurrency", value, 1, BULK_CONCURRENCY_MAX, &r->c->bulk.concurrency);
}

static bool set_batch(reading *r, const char *value)
{
    return set_small(r, "--batch", value, 1, BULK_BATCH_MAX, &r->c->bulk.batch);
}

static bool set_retry(reading *r, const char *value)
{
    return set_small(r, "--retry-for", value, 0, RETRY_MAX_S, &r->c->bulk.retry_s);
}

static bool set_restart(reading *r, const char *value)
{
    (void)value;
    r->c->bulk.restart = true;
    return true;
}

static bool set_dry_run(reading *r, const char *value)
{
    (void)value;
    r->c->bulk.dry_run = true;
    return true;
}

typedef struct {
    const char *name;
    option_fn  *set;
    bool        alone; /* takes no value */
} option;

static const option options[] = {
    {"--port", set_port, false},       {"--listen", set_listen, false},
    {"--root", set_root, false},       {"--data", set_data, false},
    {"--storage", set_storage, false}, {"--only", set_only, false},
    {"--to", set_to, false},           {"--key", set_key, false},
    {"--failed", set_failed, false},   {"--concurrency", set_concurrency, false},
    {"--batch", set_batch, false},     {"--retry-for", set_retry, false},
    {"--restart", set_restart, true},  {"--dry-run", set_dry_run, true},
};

/* "--port 80" and "--port=80". Returns how many arguments were taken, 0 on error. */
static int read_option(reading *r, int left, char **argv)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t len = strlen(options[i].name);
        if (strncmp(argv[0], options[i].name, len) != 0)
            continue;
        if (argv[0][len] == '=' && !options[i].alone)
            return options[i].set(r, argv[0] + len + 1) ? 1 : 0;
        if (argv[0][len] != '\0')
            continue;
        if (options[i].alone)
            return options[i].set(r, NULL) ? 1 : 0;
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
    {"--version", COMMAND_VERSION}, {"version", COMMAND_VERSION}, {"import", COMMAND_IMPORT},
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
        /* Behind `import` every word is a file, whatever it is called; "-" is standard input. */
        if (r->c->command == COMMAND_IMPORT && (argv[i][0] != '-' || argv[i][1] == '\0')) {
            r->c->bulk.files[r->c->bulk.file_count++] = argv[i++];
            continue;
        }
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

static bool check_import(reading *r)
{
    bulk_options *o = &r->c->bulk;
    size_t        standard = 0;
    if (r->c->command != COMMAND_IMPORT)
        return true;
    for (size_t i = 0; i < o->file_count; i++)
        standard += strcmp(o->files[i], "-") == 0;
    if (o->file_count == 0)
        return wrong(r, "import needs a FILE, or - for standard input");
    if (standard > 1)
        return wrong(r, "import can read standard input (-) only once");
    if (o->to == NULL)
        return wrong(r, "import needs --to URL, the app that the records go to");
    if (o->key.len == 0)
        o->key = str_of(getenv("TRESTLE_IMPORT_KEY"));
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
    if (r->c->serve.under_host || r->c->command == COMMAND_IMPORT ||
        settings_load(a, r->c->serve.root, &why) == RES_OK)
        return true;
    return wrong(r, "%.*s", STR_ARG(why));
}

static bool choose_store(reading *r, arena *a)
{
    str why;
    if (r->c->command == COMMAND_ROUTES || r->c->command == COMMAND_IMPORT ||
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
                    .copy = {.parts = STORE_COPY_ALL},
                    .bulk = {.files = arena_array(a, const char *, (size_t)argc),
                             .concurrency = BULK_CONCURRENCY,
                             .batch = BULK_BATCH_MAX,
                             .retry_s = BULK_RETRY_S}};
    reading r = {.c = ret, .error = error, .error_size = error_size};
    if (ret->bulk.files == NULL) {
        (void)wrong(&r, "out of memory");
        return RES_MEMORY;
    }
    if (!read_place(&r) || !read_arguments(&r, argc, argv) || !check_import(&r))
        return RES_INVALID;
    if (ret->command == COMMAND_HELP || ret->command == COMMAND_VERSION)
        return RES_OK;
    if (!read_settings_file(&r, a))
        return RES_CONFIG;
    if (!read_environment(&r) || !may_listen(&r))
        return RES_INVALID;
    return choose_store(&r, a) ? RES_OK : RES_CONFIG;
}
