/* client.h -- the other end of the wire: a plain socket, bytes out, HTTP answers in.
 *
 * It sends whatever bytes it is told to, also wrong ones, and reads answers by itself, without any code of
 * the program under test. Every read has a time limit; beyond it the test fails. Answers live in scratch().
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_CLIENT_H
#define TRESTLE_TESTS_CLIENT_H

#include "core/str.h"

enum { CLIENT_LIMIT_MS = 15 * 1000, ANSWER_HEADERS_MAX = 64 };

typedef struct client client;

typedef struct {
    str name, value;
} answer_field;

typedef struct {
    int          status;
    str          head; /* status line and fields, through the empty line */
    answer_field fields[ANSWER_HEADERS_MAX];
    size_t       field_count;
    str          body;
    bool         chunked, sized; /* how it was framed: Transfer-Encoding, Content-Length */
} answer;

client *client_try(int port); /* NULL: refused */
client *client_open(int port);
void    client_close(client *c); /* accepts NULL */
void    client_reset(client *c); /* closes with RST */
void    client_end(client *c);   /* half-close: nothing more to send */

/* False: the peer does not read any more. */
bool client_send(client *c, str bytes);
bool client_sendf(client *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void client_send_slowly(client *c, str bytes); /* one byte a segment */

/* The next answer, whole. Fails the test when it does not come. */
answer client_answer(client *c);
answer client_answer_to_head(client *c);       /* an answer without body, whatever its fields say */
bool   client_answers(client *c, answer *ret); /* false: the peer closed before the end of an answer */
/* Waits until so many bytes are here that no answer was made of, and shows them. Fewer: the peer closed. */
str    client_peek(client *c, size_t at_least);
bool   client_gets(client *c, str text); /* … until they hold that text */
bool   client_closed(client *c);         /* the peer closes, and sends nothing before */
bool   client_silent(client *c, int ms); /* nothing comes in that time, neither bytes nor the end */
size_t client_unread(const client *c);   /* bytes that are here already */

/* One request on a connection of its own. `head` is lines with \r\n, may be empty; a Content-Length is added
 * for a body that is not the empty str with a NULL pointer. */
answer client_call(int port, const char *method, const char *target, const char *head, str body);
answer client_get(int port, const char *target);

str    answer_header(const answer *a, const char *name); /* the first, any case; NULL pointer: none */
size_t answer_count(const answer *a, const char *name);
bool   answer_closes(const answer *a); /* Connection: close */

#endif
