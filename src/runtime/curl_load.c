/* curl_load.c -- finds libcurl and resolves the functions of curl_load.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/curl_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

curl_functions curl;

/* The first fetch loads from a thread of the pool, and fetch_library_version may ask at the same moment. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* POSIX promises that a function fits into dlsym's void *, ISO C does not: hence the copy. */
static bool resolve(void *library, const char *name, void *function, size_t size)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, size);
    return found != NULL;
}

static const char *resolve_all(curl_functions *f)
{
#define CURL_RESOLVE(name)                                                     \
    if (!resolve(f->library, "curl_" #name, (void *)&f->name, sizeof f->name)) \
        return "curl_" #name;
    CURL_FUNCTIONS(CURL_RESOLVE)
#undef CURL_RESOLVE
    return NULL;
}

static bool load(const char *library_name, char *why, size_t why_size)
{
    curl_functions f = {.library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL)};
    if (f.library == NULL) {
        (void)snprintf(why, why_size, "libcurl cannot be loaded: %s", dlerror());
        return false;
    }

    const char *missing = resolve_all(&f);
    if (missing != NULL) {
        (void)snprintf(why, why_size, "libcurl cannot be used: '%s' has no function '%s'", library_name,
                       missing);
        (void)dlclose(f.library); /* nothing of it was called yet */
        return false;
    }
    CURLcode code = f.global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        (void)snprintf(why, why_size, "libcurl cannot be used: %s", f.easy_strerror(code));
        return false;
    }
    curl = f;
    return true;
}

bool curl_load(const char *library_name, char *why, size_t why_size)
{
    pthread_mutex_lock(&loading);
    bool ok = curl.library != NULL || load(library_name, why, why_size);
    pthread_mutex_unlock(&loading);
    return ok;
}

void curl_unload(void)
{
    pthread_mutex_lock(&loading);
    if (curl.library != NULL)
        curl.global_cleanup();
    curl.library = NULL;
    pthread_mutex_unlock(&loading);
}

void *curl_load_neighbour(const char *function)
{
    return curl.library != NULL ? dlsym(curl.library, function) : NULL;
}
