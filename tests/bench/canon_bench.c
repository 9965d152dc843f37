/* canon_bench.c -- how fast a file is canonicalised, with and without hashing the outcome.
 *
 *     canon_bench FILE SECONDS
 *
 * prints, each measured for so many seconds in a fresh arena per document:
 *
 *     canon FILE: N MB/s, M us/doc
 *     canon+sha256 FILE: N MB/s, M us/doc
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/arena.h"
#include "core/canon.h"
#include "core/hash.h"

enum { ARENA_BYTES = 512 * MIB, DOCS_PER_LOOK = 16, FILE_BYTES_MAX = 64 * MIB };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    char *text = f != NULL ? malloc(FILE_BYTES_MAX) : NULL;
    if (text != NULL)
        *ret_len = fread(text, 1, FILE_BYTES_MAX, f);
    if (f != NULL)
        fclose(f);
    return text;
}

/* One document; false when it is not JSON. The digest's first byte is used so that it is not optimised away.
 */
static bool run_once(arena *a, str text, bool hashed, unsigned *sink)
{
    str         canonical;
    canon_error err;
    arena_reset(a);
    if (canon_json(a, text, &canonical, &err) != RES_OK) {
        fprintf(stderr, "offset %zu: %s\n", err.offset, err.text);
        return false;
    }
    *sink += hashed ? hash_sha256(canonical).at[0] : (unsigned)canonical.len;
    return true;
}

static bool measure(const char *name, const char *path, str text, double seconds, bool hashed)
{
    arena   *a = arena_new(ARENA_BYTES);
    unsigned sink = 0;
    size_t   docs = 0;
    double   start, took;
    bool     ok = a != NULL;

    for (int i = 0; ok && i < DOCS_PER_LOOK; i++)
        ok = run_once(a, text, hashed, &sink);
    start = now_s();
    do {
        for (int i = 0; ok && i < DOCS_PER_LOOK; i++)
            ok = run_once(a, text, hashed, &sink);
        docs += DOCS_PER_LOOK;
        took = now_s() - start;
    } while (ok && took < seconds);
    if (ok)
        printf("%s %s: %.0f MB/s, %.2f us/doc\n", name, path, (double)docs * (double)text.len / took * 1e-6,
               took / (double)docs * 1e6);
    arena_free(a);
    return ok && sink != UINT32_MAX;
}

int main(int argc, char **argv)
{
    double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
    if (!(seconds > 0)) {
        fprintf(stderr, "usage: canon_bench FILE SECONDS\n");
        return EXIT_FAILURE;
    }
    size_t len = 0;
    char  *text = read_file(argv[1], &len);
    if (text == NULL) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    bool ok = measure("canon", argv[1], (str){text, len}, seconds, false) &&
              measure("canon+sha256", argv[1], (str){text, len}, seconds, true);
    free(text);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
