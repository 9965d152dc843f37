/* curl_load.h -- libcurl, loaded on first use: linked, its 36 libraries would cost every start 4 ms.
 *
 * The functions stand in a struct under their own names without "curl_"; their types are those that
 * <curl/curl.h> declares, so that a wrong call is still a compiler's error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_CURL_LOAD_H
#define TRESTLE_RUNTIME_CURL_LOAD_H

#define CURL_DISABLE_DEPRECATION /* CURLOPT_PROTOCOLS is for libraries older than its successor */
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* Every function that we call: one row each. */
#define CURL_FUNCTIONS(X)  \
    X(easy_cleanup)        \
    X(easy_getinfo)        \
    X(easy_init)           \
    X(easy_pause)          \
    X(easy_reset)          \
    X(easy_setopt)         \
    X(easy_strerror)       \
    X(free)                \
    X(global_cleanup)      \
    X(global_init)         \
    X(multi_add_handle)    \
    X(multi_cleanup)       \
    X(multi_info_read)     \
    X(multi_init)          \
    X(multi_remove_handle) \
    X(multi_setopt)        \
    X(multi_socket_action) \
    X(share_cleanup)       \
    X(share_init)          \
    X(share_setopt)        \
    X(slist_append)        \
    X(slist_free_all)      \
    X(url)                 \
    X(url_cleanup)         \
    X(url_get)             \
    X(url_set)             \
    X(version_info)

typedef struct {
    void *library; /* NULL: not loaded */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member takes none */
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
} curl_functions;

extern curl_functions curl; /* read by the loop's thread alone, and only after curl_load has succeeded */

#define CURL_LIBRARY "libcurl.so.4"

/* Loads and initialises; a second call does nothing. May be called from any thread, and takes milliseconds.
 * False: `why` says in one line what is missing. */
bool curl_load(const char *library_name, char *why, size_t why_size);

/* Undoes the initialisation; the library itself stays mapped, for other threads may still be inside of it. */
void curl_unload(void);

/* A function of one of the libraries that libcurl brought in, e.g. its OpenSSL; NULL when there is none. */
void *curl_load_neighbour(const char *function);

#endif
