/* multipart.c -- reads the answer to a batch (spec 5.2, 5.3).
 *
 *     --batchresponse_B                                        the boundary of the outer Content-Type
 *     Content-Type: multipart/mixed; boundary=changesetresponse_C
 *
 *     --changesetresponse_C                                    the boundary that was just named
 *     Content-Type: application/http
 *
 *     HTTP/1.1 204 No Content                                  one part for each operation; or just one, a
 *     ETag: W/"…"                                              failure, perhaps without the inner multipart
 *
 *     --changesetresponse_C--
 *     --batchresponse_B--
 *
 * Nesting is not followed: a line that begins with either boundary separates, and between two of these the
 * first line that begins with "HTTP/1." is an answer. So a stray boundary, which Azurite puts in front of
 * some status lines, and a changeset that is not there, need no cases of their own. Lines end with CRLF or
 * LF. A JSON body has no line breaks, so no value can pretend to be a boundary.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/multipart.h"

/* ---- lines ---- */

/* Takes the next line off *rest, without its end. False when nothing is left. */
static bool next_line(str *rest, str *ret)
{
    if (rest->len == 0)
        return false;
    size_t end = str_find_char(*rest, '\n');
    *ret = str_slice(*rest, 0, end);
    *rest = str_from(*rest, end + 1);
    if (ret->len > 0 && ret->at[ret->len - 1] == '\r')
        ret->len--;
    return true;
}

/* The value of a header line of that name (in lower case, with its colon); NULL when it is another. */
static str header_value(str line, str name)
{
    if (!str_starts_nocase(line, name))
        return (str){NULL, 0};
    return str_trim(str_from(line, name.len));
}

static bool is_separator(str line, str boundary)
{
    return boundary.len > 0 && str_starts(line, STR("--")) && str_starts(str_from(line, 2), boundary);
}

/* ---- boundaries ---- */

static str unquoted(str value)
{
    if (value.len >= 1 && value.at[0] == '"') {
        value = str_from(value, 1);
        return str_slice(value, 0, str_find_char(value, '"'));
    }
    return value;
}

str multipart_boundary(str content_type)
{
    str rest = content_type, field;
    if (!str_starts_nocase(str_trim(content_type), STR("multipart/")))
        return STR("");
    while (str_next_field(&rest, ';', &field)) {
        str parameter = str_trim(field);
        if (!str_starts_nocase(parameter, STR("boundary=")))
            continue;
        str value = unquoted(str_trim(str_from(parameter, STR("boundary=").len)));
        return value.len <= MULTIPART_BOUNDARY_MAX ? value : STR("");
    }
    return STR("");
}

/* ---- parts ---- */

/* "HTTP/1.1 204 No Content" */
static bool read_status(str line, int *ret)
{
    uint64_t status;
    str      rest = str_from(line, str_find_char(line, ' ') + 1);
    if (!str_to_u64(str_slice(rest, 0, str_find_char(rest, ' ')), &status) || status < 100 || status > 599)
        return false;
    *ret = (int)status;
    return true;
}

typedef struct {
    str             outer, inner; /* boundaries; inner is empty until it has been named */
    multipart_part *part;         /* that is being read; NULL: looking for a status line */
    bool            in_body;
    const char     *body_end;
} walk;

static bool is_any_separator(const walk *w, str line)
{
    return is_separator(line, w->outer) || is_separator(line, w->inner);
}

/* The line end in front of a boundary belongs to the boundary. */
static void end_part(walk *w)
{
    if (w->part != NULL && w->in_body)
        w->part->body = str_trim((str){w->part->body.at, (size_t)(w->body_end - w->part->body.at)});
    w->part = NULL;
    w->in_body = false;
}

static void read_mime_header(walk *w, str line)
{
    str type = header_value(line, STR("content-type:"));
    if (type.at != NULL && w->inner.len == 0)
        w->inner = multipart_boundary(type);
}

/* A line of an answer. `rest` is what follows it. */
static void read_part_line(walk *w, str line, str rest)
{
    str etag = header_value(line, STR("etag:"));
    if (w->in_body) {
        w->body_end = rest.at;
    } else if (line.len == 0) {
        w->in_body = true;
        w->part->body = (str){rest.at, 0};
        w->body_end = rest.at;
    } else if (etag.at != NULL) {
        w->part->etag = etag;
    }
}

res multipart_read(str content_type, str body, multipart_part *parts, size_t most, size_t *ret_count)
{
    walk   w = {.outer = multipart_boundary(content_type)};
    size_t count = 0;
    str    rest = body, line;
    if (w.outer.len == 0)
        return RES_UPSTREAM;

    while (next_line(&rest, &line)) {
        if (is_any_separator(&w, line)) {
            end_part(&w);
        } else if (w.part != NULL) {
            read_part_line(&w, line, rest);
        } else if (!str_starts(line, STR("HTTP/1."))) {
            read_mime_header(&w, line);
        } else {
            if (count == most)
                return RES_UPSTREAM;
            w.part = &parts[count++];
            *w.part = (multipart_part){0};
            if (!read_status(line, &w.part->status))
                return RES_UPSTREAM;
        }
    }
    end_part(&w);
    *ret_count = count;
    return count > 0 ? RES_OK : RES_UPSTREAM;
}

/* ---- failures ---- */

size_t multipart_take_index(str *message)
{
    uint64_t index;
    size_t   colon = str_find_char(*message, ':');
    if (colon == message->len || !str_to_u64(str_slice(*message, 0, colon), &index))
        return 0;
    *message = str_from(*message, colon + 1);
    return (size_t)index;
}
