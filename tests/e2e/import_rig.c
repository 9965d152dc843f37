/* import_rig.c -- see import_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/import_rig.h"

#include <stdio.h>
#include <unistd.h>

#include "core/buf.h"

#define KEY "a-key-that-nobody-must-see"

const char *import_dir;

void import_open(void)
{
    import_dir = root_empty();
}

void import_close(void)
{
    process_end_all();
    catalogue_stop();
}

/* ---- inputs ---- */

void import_write(const char *name, str bytes)
{
    FILE *f = fopen(textf("%s/%s", import_dir, name), "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes.at, 1, bytes.len, f), bytes.len);
    ck_assert_int_eq(fclose(f), 0);
}

void import_write_text(const char *name, const char *text)
{
    import_write(name, str_of(text));
}

str import_text(const char *name)
{
    FILE *f = fopen(textf("%s/%s", import_dir, name), "r");
    buf   out;
    buf_init(&out, scratch(), 64 * MIB);
    for (int ch; f != NULL && (ch = fgetc(f)) != EOF;)
        buf_add_char(&out, (char)ch);
    if (f != NULL)
        (void)fclose(f);
    return f != NULL ? buf_str(&out) : (str){0};
}

bool import_exists(const char *name)
{
    return access(textf("%s/%s", import_dir, name), F_OK) == 0;
}

/* So many records of so many owners, in an order that mixes them. */
str import_many(int records, int owners)
{
    buf out;
    buf_init(&out, scratch(), 64 * MIB);
    for (int i = 0; i < records; i++)
        buf_addf(&out, "{\"owner\":\"Owner-%d\",\"name\":\"n%d\",\"text\":\"%0*d\"}\n", i % owners, i,
                 20 + i % 90, i);
    return buf_str(&out);
}

/* ---- runs ---- */

process *import_start(const char *file, const char *more, const char *value)
{
    return process_start(
        &(process_spec){.args = LIST(e2e_trestle(), "import", file, "--to", catalogue_url(), more, value),
                        .dir = import_dir});
}

outcome import_run_to(const char *url, const char *file, const char *more, const char *value)
{
    return e2e_run(e2e_trestle(), LIST("import", file, "--to", url, more, value), NULL, import_dir);
}

outcome import_run(const char *file, const char *more, const char *value)
{
    return import_run_to(catalogue_url(), file, more, value);
}

void import_check(const outcome *o, int status, const char *part)
{
    ck_assert_msg(o->status == status, "exit code %d, expected %d: %.*s", o->status, status, STR_ARG(o->err));
    ck_assert_holds(o->err, part);
    ck_assert(!str_has(o->err, STR("Sanitizer")));
}

void import_check_dump(const char *want)
{
    ck_assert_str_is(catalogue_dump(), want);
}
