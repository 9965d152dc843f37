/* sched_appointments.c -- see sched_appointments.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_appointments.h"

#include "domain/scheduler/settings.h"

desk desk_open(task *t)
{
    desk d = {.session = people_named(t, "ann@example.org")};
    d.group = people_group(t, d.session, "Family");
    d.by.user_key = people_user_key("ann@example.org");
    d.by.member_key = auth_member_key_of(scratch(), d.by.user_key);
    return d;
}

when desk_when(task *t, const char *date, const char *start, int minutes)
{
    when w;
    OK(when_make(t->arena, str_of(date), str_of(start), minutes, zone_find(STR("UTC")), &w));
    return w;
}

appointment desk_add(task *t, const desk *d, const char *title, const char *start)
{
    appointment        p;
    appointment_change c = {.set = SET_TITLE, .title = str_of(title), .start_zone = STR("UTC")};
    if (*start != '\0') {
        c.set |= SET_TIME;
        c.time = desk_when(t, "2026-03-05", start, 60);
    }
    OK(appointment_create(t, d->group, (str){0}, &c, &d->by, &p));
    return p;
}

void desk_put_document(task *t, str group, str id, str text)
{
    OK(blobs_put(t, sched_settings_get()->documents, place_appointment_blob(t->arena, group, id), text,
                 &(blob_put){0}, NULL));
}

str desk_document(task *t, str group, str id)
{
    blob_got found;
    OK(blobs_get(t, sched_settings_get()->documents, place_appointment_blob(t->arena, group, id),
                 &(blob_get){0}, &found));
    return found.body;
}

void desk_put_row(task *t, entity *row)
{
    OK(tables_upsert_replace(t, place_table(PLACE_APPOINTMENTS_INDEX), row));
}

entity_page desk_rows(task *t, str group)
{
    entity_page page;
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, group)};
    OK(tables_query(t, place_table(PLACE_APPOINTMENTS_INDEX), &q, &page));
    return page;
}
