/* test_sched_ignite_photo.c -- faces: sent, stored, shown.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base64.h"
#include "domain/sched_suites.h"
#include "domain/sched_table.h"
#include "domain/scheduler/image.h"

#define PHOTO "/api/ignite/photo"

static got look(task *t, const evening *e, str session, str person)
{
    return people_get(t, session,
                      textf(PHOTO "?groupId=%.*s&sessionId=%.*s&personId=%.*s", STR_ARG(e->group),
                            STR_ARG(e->session), STR_ARG(person)));
}

static got send(task *t, const evening *e, str session, const char *mime, str base64)
{
    return people_post(t, session, PHOTO,
                       "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"imageMime\":\"%s\","
                       "\"imageBase64\":\"%.*s\"}",
                       STR_ARG(e->group), STR_ARG(e->session), mime, STR_ARG(base64));
}

/* SCHED-56. */
RIG_TEST(a_photo_is_stored_and_shown_with_the_type_of_its_bytes)
{
    evening e = evening_of(t, "breakout");
    got     joined = evening_scan(t, &e, (str){0}, "gus@example.org");
    str     gus = rig_text(&joined, "sessionId"), key = people_user_key("gus@example.org");
    got     g = look(t, &e, e.ann, key);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("photo_not_found"));
    g = evening_send_photo(t, &e, gus, "image/png", evening_png());
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "personId"), key);
    got meta = evening_meta(t, &e, e.ann);
    ck_str_eq(rig_text(&meta, textf("photoUpdatedAtByPersonId/%.*s", STR_ARG(key))),
              rig_text(&g, "updatedAt"));
    g = look(t, &e, e.ann, key);
    ck_status(g, 200);
    ck_str_eq(g.body, evening_png());
    ck_str_eq(rig_header(&g, "Content-Type"), STR("image/png"));
    ck_str_eq(rig_header(&g, "Cache-Control"), STR("private, max-age=300"));
    ck_str_eq(rig_header(&g, "X-Content-Type-Options"), STR("nosniff"));
    /* One's own alone: the organiser's is another. */
    str url =
        arena_strf(t->arena, "data:image/jpeg;base64,%.*s", STR_ARG(base64_encode(t->arena, evening_jpeg())));
    ck_status(send(t, &e, e.ann, "image/jpeg", url), 200);
    g = look(t, &e, gus, people_user_key("ann@example.org"));
    ck_str_eq(rig_header(&g, "Content-Type"), STR("image/jpeg"));
    g = look(t, &e, gus, key);
    ck_str_eq(g.body, evening_png());
}

RIG_TEST(photos_are_shown_after_the_end_but_not_taken)
{
    evening e = evening_of(t, "breakout");
    str     key = people_user_key("ann@example.org");
    ck_status(evening_send_photo(t, &e, e.ann, "image/png", evening_png()), 200);
    ck_status(people_post(t, e.ann, "/api/ignite/close", "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\"}",
                          STR_ARG(e.group), STR_ARG(e.session)),
              200);
    str before = all_that_is_stored(t);
    got g = evening_send_photo(t, &e, e.ann, "image/jpeg", evening_jpeg());
    ck_status(g, 410);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_closed"));
    g = look(t, &e, e.ann, key);
    ck_status(g, 200);
    ck_str_eq(g.body, evening_png());
    evening other = e;
    other.session = STR("other");
    ck_status(evening_send_photo(t, &other, e.ann, "image/jpeg", evening_jpeg()), 410);
    g = look(t, &other, e.ann, key);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_not_found"));
    ck_str_eq(all_that_is_stored(t), before);
}

/* SCHED-57. */
static const struct {
    const char *mime, *base64, *error;
} bad[] = {
    {"text/plain", "iVBORw0KGgo=", "invalid_image_mime"},
    {"", "iVBORw0KGgo=", "invalid_image_mime"},
    {"image/png", "", "invalid_scan_payload"},
    {"image/png", "  ", "invalid_scan_payload"},
    {"image/png", "iVBORw0KGgo", "invalid_photo"},
    {"image/png", "no base64!", "invalid_photo"},
    {"image/png", "data:image/png;base64", "invalid_photo"},
    {"image/png", "data:image/png,iVBORw0KGgo=", "invalid_photo"},
    {"image/png", "data:image/jpeg;base64,iVBORw0KGgo=", "invalid_photo"},
    {"image/jpeg", "iVBORw0KGgo=", "invalid_photo"}, /* a PNG */
    {"image/svg+xml", "PHN2Zz48L3N2Zz4=", "invalid_photo"},
    {"image/png", "PHNjcmlwdD4=", "invalid_photo"},
};

RIG_TEST(what_is_no_photo_is_refused_and_not_stored)
{
    evening e = evening_of(t, "breakout");
    (void)evening_meta(t, &e, e.ann);
    str before = all_that_is_stored(t);
    got g = send(t, &e, e.ann, bad[i].mime, str_of(bad[i].base64));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), str_of(bad[i].error));
    ck_str_eq(all_that_is_stored(t), before);
}

static str png_of(task *t, size_t bytes)
{
    char *at = arena_zalloc(t->arena, bytes);
    memcpy(at, "\x89PNG\r\n\x1a\n", 8);
    return (str){at, bytes};
}

/* SCHED-57. */
RIG_TEST(a_photo_has_at_most_three_mebibytes)
{
    evening e = evening_of(t, "breakout");
    got     g = evening_send_photo(t, &e, e.ann, "image/png", png_of(t, IMAGE_BYTES_MAX));
    ck_status(g, 200);
    str before = all_that_is_stored(t), large = base64_encode(t->arena, png_of(t, IMAGE_BYTES_MAX + 1));
    g = send(t, &e, e.ann, "image/png", large);
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_photo_too_large"));
    g = people_post(t, (str){0}, "/api/ignite/join",
                    "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"name\":\"gus\",\"email\":"
                    "\"gus@example.org\",\"photoBase64\":\"%.*s\"}",
                    STR_ARG(e.group), STR_ARG(e.session), STR_ARG(large));
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "error"), STR("ignite_photo_too_large"));
    ck_str_eq(all_that_is_stored(t), before);
}

RIG_TEST(a_photo_that_comes_with_the_scan_is_the_guests)
{
    evening e = evening_of(t, "breakout");
    str     key = people_user_key("gus@example.org");
    got     g =
        people_post(t, (str){0}, "/api/ignite/join",
                    "{\"groupId\":\"%.*s\",\"sessionId\":\"%.*s\",\"name\":\"gus\",\"email\":"
                    "\"gus@example.org\",\"photoBase64\":\"%.*s\"}",
                    STR_ARG(e.group), STR_ARG(e.session), STR_ARG(base64_encode(t->arena, evening_png())));
    ck_status(g, 200);
    g = look(t, &e, e.ann, key);
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "Content-Type"), STR("image/png"));
    g = evening_meta(t, &e, e.ann);
    ck_assert(rig_text(&g, textf("photoUpdatedAtByPersonId/%.*s", STR_ARG(key))).len > 0);
}

static const struct {
    const char *query, *error;
} bad_looks[] = {
    {"groupId=x&sessionId=s&personId=p", "invalid_group_id"},
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000&personId=p", "sessionId_required"},
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000&sessionId=s", "personId_required"},
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000&sessionId=s&personId=..%2Fstate", "invalid_person_id"},
    {"groupId=6a1f0c3e-0000-4000-8000-000000000000&sessionId=s&personId=a%00b", "invalid_person_id"},
};

RIG_TEST(a_photo_is_asked_for_with_group_session_and_person)
{
    got g = people_get(t, (str){0}, textf(PHOTO "?%s", bad_looks[i].query));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), str_of(bad_looks[i].error));
}

Suite *suite_sched_ignite_photo(void)
{
    Suite *s = suite_create("sched_ignite_photo");
    TCase *c = live_case("photo");
    tcase_add_test(c, a_photo_is_stored_and_shown_with_the_type_of_its_bytes);
    tcase_add_test(c, photos_are_shown_after_the_end_but_not_taken);
    tcase_add_loop_test(c, what_is_no_photo_is_refused_and_not_stored, 0, sizeof bad / sizeof *bad);
    tcase_add_test(c, a_photo_has_at_most_three_mebibytes);
    tcase_add_test(c, a_photo_that_comes_with_the_scan_is_the_guests);
    tcase_add_loop_test(c, a_photo_is_asked_for_with_group_session_and_person, 0,
                        sizeof bad_looks / sizeof *bad_looks);
    suite_add_tcase(s, c);
    return s;
}
