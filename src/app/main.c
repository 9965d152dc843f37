/* main.c -- the program: reads the command line, runs one command, returns its exit code.
 *
 * Exit codes: 0 done (serve: only after SIGTERM or SIGINT), 1 failed, 2 wrong command line or setting; import
 * has its own beside these (bulk_import.h). Never 200, which the Functions host takes as "restart at once".
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config.h"
#include "app/handlers.h"
#include "app/store_hooks.h"
#include "domain/actions.h"
#include "domain/service.h"
#include "runtime/fetch.h"
#include "version.h"

enum { EXIT_USAGE = 2, COMMAND_MEMORY = 64 * MIB };

static const char help[] =
    "trestle " TRESTLE_VERSION " - an Azure Functions custom handler that also runs by itself\n"
    "\n"
    "usage:\n"
    "  trestle [serve] [options]   serve the app; the default\n"
    "  trestle routes [options]    list the functions with methods and URLs\n"
    "  trestle store export DIR [options]   copy all tables, blobs and queues to files in DIR\n"
    "  trestle store import DIR [options]   copy them from there into the store; run it again to go on after "
    "a stop\n"
    "  trestle import FILE… --to URL [options]   load records into the Actions catalogue of the app at URL\n"
    "  trestle --version           print versions of the program and its libraries\n"
    "  trestle --help              print this\n"
    "\n"
    "options:\n"
    "  --port N         port to listen on (7071; 0: any free one)\n"
    "  --listen ADDR    address to listen on (127.0.0.1); others than loopback need TRESTLE_FUNCTION_KEY\n"
    "  --root DIR       folder of host.json and the functions (AzureWebJobsScriptRoot, else the current "
    "one)\n"
    "  --data DIR       folder of the embedded store (TRESTLE_DATA_DIR, else .trestle)\n"
    "  --storage KIND   embedded or azure (TRESTLE_STORAGE, else by the connection strings that are set)\n"
    "  --only LIST      store: of tables,blobs,queues only these\n"
    "\n"
    "options of import, whose FILEs are NDJSON or one JSON array, plain or gzip; - is standard input:\n"
    "  --to URL         the app, as http://127.0.0.1:7071; with or without /api at its end\n"
    "  --key KEY        function key; better TRESTLE_IMPORT_KEY, which no list of processes shows\n"
    "  --concurrency N  batches under way at once (4)\n"
    "  --batch N        records in a batch at most (100)\n"
    "  --failed FILE    where failed records go, with the reasons (FILE.failed.ndjson beside the input)\n"
    "  --retry-for S    for so many seconds a server that does not answer is tried again (60)\n"
    "  --restart        begins anew, also where an earlier run was stopped\n"
    "  --dry-run        says what would change, and sends nothing\n"
    "  Exit codes: 0 all are in; 1 some failed, or it was given up; 2 wrong usage; 130 or 143 stopped by a\n"
    "  signal. The same command goes on where it was stopped.\n"
    "\n"
    "Under the Functions host (FUNCTIONS_CUSTOMHANDLER_PORT set) the port is the host's. Settings: see "
    "README.md.\n";

static int print_version(arena *a)
{
    str curl = fetch_library_version(a);
    printf("trestle %s\n%.*s\n", TRESTLE_VERSION, STR_ARG(curl));
    return EXIT_SUCCESS;
}

static int print_routes(arena *a, const serve_options *o)
{
    function_app *app;
    str           error;
    if (functions_load(a, o->root, o->rows, o->row_count, &app, &error) != RES_OK) {
        fprintf(stderr, "trestle: %.*s\n", STR_ARG(error));
        return EXIT_FAILURE;
    }
    buf text;
    buf_init(&text, a, 1 * MIB);
    functions_print(app, arena_strf(a, "http://%s:%d", o->listen, serve_port(o, app)), &text);
    (void)fwrite(text.at, 1, text.len, stdout); /* a reader that left is no failure */
    return EXIT_SUCCESS;
}

static int serve_app(arena *a, const serve_options *o)
{
    str error = {0};
    if (actions_check_settings(a, &error) == RES_OK)
        return serve(o);
    fprintf(stderr, "trestle: %.*s\n", STR_ARG(error));
    return EXIT_USAGE;
}

static int run(arena *a, const config *c)
{
    switch (c->command) {
    case COMMAND_HELP:
        (void)fputs(help, stdout);
        return EXIT_SUCCESS;
    case COMMAND_VERSION:
        return print_version(a);
    case COMMAND_ROUTES:
        return print_routes(a, &c->serve);
    case COMMAND_STORE:
        return store_copy_run(&c->store, &c->copy);
    case COMMAND_IMPORT:
        return bulk_import_run(&c->bulk);
    case COMMAND_SERVE:
        break;
    }
    return serve_app(a, &c->serve);
}

int main(int argc, char **argv)
{
    char   error[512];
    config c;
    arena *a = arena_new(COMMAND_MEMORY);
    if (a == NULL)
        return EXIT_FAILURE;
    res r = config_read(a, argc, argv, &c, error, sizeof error);
    if (r != RES_OK) {
        fprintf(stderr, "trestle: %s\n", error);
        arena_free(a);
        return r == RES_INVALID ? EXIT_USAGE : EXIT_FAILURE;
    }
    c.serve.rows = handlers;
    c.serve.row_count = handler_count;
    c.serve.shapes = error_shapes;
    c.serve.shape_count = error_shape_count;
    c.serve.version = TRESTLE_VERSION;
    c.serve.store = store_hooks(&c.store);
    c.serve.queues = &store_queues;
    const char *sha = getenv("BUILD_SHA");
    service_set_version(sha != NULL && *sha != '\0' ? sha : TRESTLE_VERSION);
    int code = run(a, &c);
    arena_free(a);
    return code;
}
