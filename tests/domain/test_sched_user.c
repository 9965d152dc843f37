/* test_sched_user.c -- a person's own profile, photo and preferences.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/image.h"
#include "domain/scheduler/profiles.h"
#include "storage/blobs.h"

#define PROFILE "/api/user/profile"
#define PHOTO   "/api/user/profile-photo"
#define PREFS   "/api/user/preferences"
#define ANN     "ann@example.org"
#define NONE    ((str){0})
#define GROUP   "6a1f0c3e-8a55-4b0e-9d6f-0c8f1a2b3c4d"
#define JPEG    "\xff\xd8\xff\xe0\x00\x10JFIF\x00 a photo of Ann"
#define PNG     "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR another one"
#define WEBP    "RIFF\x10\x00\x00\x00WEBPVP8 and a third"

static container state(void)
{
    return (container){STORE_MAIN, str_of(getenv("STATE_CONTAINER"))};
}

/* ---- profile ---- */

RIG_TEST(a_name_is_collapsed_stored_and_given_back)
{
    str ann = people_sign_in(t, ANN);
    got g = people_get(t, ann, PROFILE);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "displayName"), STR(""));
    ck_assert(!rig_bool(&g, "hasPhoto"));
    ck_assert_ptr_null(rig_at(&g, "photoUpdatedAt"));
    g = people_put(t, ann, PROFILE, "{\"displayName\":\"  Ann \\t Lee\\n\"}");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "displayName"), STR("Ann Lee"));
    ck_str_eq(rig_text(&g, "email"), STR(ANN));
    g = people_get(t, ann, PROFILE);
    ck_str_eq(rig_text(&g, "displayName"), STR("Ann Lee"));
}

RIG_TEST(a_name_that_is_none_changes_nothing)
{
    static const char *const bodies[] = {"{}", "{\"displayName\":\" \\n \"}", "{\"displayName\":5}",
                                         "{\"displayName\":null}",
                                         "{\"displayName\":\"12345678901234567890123456789012345678901\"}"};
    str                      ann = people_sign_in(t, ANN);
    ck_status(people_put(t, ann, PROFILE, "{\"displayName\":\"Ann\"}"), 200);
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        got g = people_put(t, ann, PROFILE, "%s", bodies[n]);
        ck_status(g, 400);
        ck_str_eq(rig_text(&g, "error"), STR("VALIDATION_ERROR"));
        ck_str_eq(rig_text(&g, "field"), STR("displayName"));
        ck_assert(!rig_bool(&g, "ok"));
    }
    got g = people_put(t, ann, PROFILE, "{\"displayName\":");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("VALIDATION_ERROR"));
    g = people_get(t, ann, PROFILE);
    ck_str_eq(rig_text(&g, "displayName"), STR("Ann"));
}

/* SCHED-93. */
RIG_TEST(profiles_lie_under_the_member_key_and_keep_their_beginning)
{
    str ann = people_sign_in(t, ANN), guest = people_guest(t, ANN, STR(GROUP));
    ck_status(people_put(t, ann, PROFILE, "{\"displayName\":\"Ann\"}"), 200);
    ck_status(people_put(t, guest, PROFILE, "{\"displayName\":\"Guest\"}"), 200);
    str    key = arena_strf(t->arena, "auth:%.*s", STR_ARG(people_user_key(ANN)));
    entity mine = people_row(t, PLACE_USER_PROFILES, key, STR("profile"));
    entity theirs = people_row(t, PLACE_USER_PROFILES, arena_strf(t->arena, "guest:%.*s", STR_ARG(guest)),
                               STR("profile"));
    ck_str_eq(entity_str(&mine, "displayName", NONE), STR("Ann"));
    ck_str_eq(entity_str(&theirs, "displayName", NONE), STR("Guest"));
    ck_status(people_put(t, ann, PROFILE, "{\"displayName\":\"Anna\"}"), 200);
    entity later = people_row(t, PLACE_USER_PROFILES, key, STR("profile"));
    ck_str_eq(entity_str(&later, "displayName", NONE), STR("Anna"));
    ck_assert_uint_eq(entity_str(&mine, "createdAt", NONE).len, 24);
    ck_str_eq(entity_str(&later, "createdAt", NONE), entity_str(&mine, "createdAt", NONE));
}

RIG_TEST(without_a_session_nothing_is_given_or_taken)
{
    static const char *const targets[] = {PROFILE, PHOTO, PREFS};
    for (size_t n = 0; n < 3; n++) {
        got g = people_get(t, NONE, targets[n]);
        ck_status(g, 401);
        ck_str_eq(rig_text(&g, "error"), STR("unauthorized"));
    }
    ck_status(people_put(t, NONE, PROFILE, "{\"displayName\":\"Ann\"}"), 401);
    ck_status(people_put(t, NONE, PHOTO, "x"), 401);
    ck_status(people_post(t, NONE, PREFS, "{\"emailUpdatesEnabled\":true}"), 401);
}

/* ---- photo ---- */

/* Photos hold zero bytes, which no format can print. */
static str form_of(task *t, const char *name, const char *type, str bytes)
{
    buf b;
    buf_init(&b, t->arena, 8 * MIB);
    (void)buf_addf(&b,
                   "--b0undary\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"me.jpg\"\r\n"
                   "Content-Type: %s\r\n\r\n",
                   name, type);
    (void)buf_add(&b, bytes);
    (void)buf_add(&b, STR("\r\n--b0undary--\r\n"));
    return buf_str(&b);
}

static got put_form(task *t, str session, str content_type, str body)
{
    http_header headers[] = {{STR("Content-Type"), content_type}, {STR("x-session-id"), session}};
    return rig_call(t, "PUT", PHOTO, body, headers, 2);
}

static got put_photo(task *t, str session, const char *name, const char *type, str bytes)
{
    return put_form(t, session, STR("multipart/form-data; boundary=b0undary"), form_of(t, name, type, bytes));
}

static const struct {
    const char *type;
    str         bytes;
    const char *served;
} photos[] = {{"image/jpeg", STR_INIT(JPEG), "image/jpeg"},
              {"image/jpg", STR_INIT(JPEG), "image/jpeg"},
              {"image/png", STR_INIT(PNG), "image/png"}};

/* SCHED-84. */
RIG_TEST(a_photo_comes_back_as_it_was_with_its_true_type)
{
    str ann = people_sign_in(t, ANN);
    got g = people_get(t, ann, PHOTO);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("profile_photo_not_found"));
    g = put_photo(t, ann, "file", photos[i].type, photos[i].bytes);
    ck_status(g, 200);
    str at = rig_text(&g, "updatedAtUtc");
    g = people_get(t, ann, PHOTO);
    ck_status(g, 200);
    ck_str_eq(g.body, photos[i].bytes);
    ck_str_eq(rig_header(&g, "Content-Type"), str_of(photos[i].served));
    ck_str_eq(rig_header(&g, "X-Content-Type-Options"), STR("nosniff"));
    ck_assert(str_has(rig_header(&g, "Cache-Control"), STR("private")));
    blob_info info;
    str name = arena_strf(t->arena, "familyscheduler/users/%.*s/profile.jpg", STR_ARG(people_user_key(ANN)));
    OK(blobs_head(t, state(), name, &info));
    ck_str_eq(info.content_type, str_of(photos[i].served));
    g = people_get(t, ann, PROFILE);
    ck_assert(rig_bool(&g, "hasPhoto"));
    ck_str_eq(rig_text(&g, "photoUpdatedAt"), at);
}

static const struct {
    const char *what, *name, *type;
    str         bytes;
    int         status;
    const char *error;
} lies[] = {
    {"text", "file", "text/plain", STR_INIT("hello"), 400, "invalid_image_mime"},
    {"text as jpeg", "file", "image/jpeg", STR_INIT("<script>alert(1)</script>"), 400, "invalid_image_mime"},
    {"png as jpeg", "file", "image/jpeg", STR_INIT(PNG), 400, "invalid_image_mime"},
    {"jpeg as png", "file", "image/png", STR_INIT(JPEG), 400, "invalid_image_mime"},
    {"webp", "file", "image/webp", STR_INIT(WEBP), 400, "invalid_image_mime"},
    {"svg", "file", "image/svg+xml", STR_INIT("<svg/>"), 400, "invalid_image_mime"},
    {"no type", "file", "", STR_INIT(JPEG), 400, "invalid_image_mime"},
    {"another part", "photo", "image/jpeg", STR_INIT(JPEG), 400, "missing_file"},
    {"nothing", "file", "image/jpeg", STR_INIT(""), 400, "missing_file"},
};

RIG_TEST(images_that_lie_are_refused_and_not_stored)
{
    str ann = people_sign_in(t, ANN);
    got g = put_photo(t, ann, lies[i].name, lies[i].type, lies[i].bytes);
    ck_assert_msg(g.status == lies[i].status, "%s: %d", lies[i].what, g.status);
    ck_str_eq(rig_text(&g, "error"), str_of(lies[i].error));
    ck_status(people_get(t, ann, PHOTO), 404);
    g = people_get(t, ann, PROFILE);
    ck_assert(!rig_bool(&g, "hasPhoto"));
}

RIG_TEST(a_photo_of_3_mib_is_taken_and_one_byte_more_is_not)
{
    str   ann = people_sign_in(t, ANN);
    char *bytes = arena_zalloc(t->arena, IMAGE_BYTES_MAX + 1);
    bytes[0] = (char)0xff, bytes[1] = (char)0xd8, bytes[2] = (char)0xff;
    ck_status(put_photo(t, ann, "file", "image/jpeg", (str){bytes, IMAGE_BYTES_MAX}), 200);
    got g = put_photo(t, ann, "file", "image/jpeg", (str){bytes, IMAGE_BYTES_MAX + 1});
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "error"), STR("image_too_large"));
    g = people_get(t, ann, PHOTO);
    ck_assert_uint_eq(g.body.len, IMAGE_BYTES_MAX);
    char *huge = arena_zalloc(t->arena, 5 * MIB);
    ck_status(put_photo(t, ann, "file", "image/jpeg", (str){huge, 5 * MIB}), 413);
}

/* Thousands of parts, or of lines in one: refused, not worked through. */
RIG_TEST(multipart_bombs_are_refused)
{
    str type = STR("multipart/form-data; boundary=b");
    str ann = people_sign_in(t, ANN);
    str part = STR("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n");
    str line = STR("X-Y: z\r\n");
    str bombs[] = {
        NONE,
        STR("--b"),
        STR("--b\r\n\r\n--b--"),
        STR("garbage"),
        live_repeat(t->arena, part, 60000),
        live_repeat(t->arena, STR("--b\r\n"), 600000),
        live_repeat(t->arena, STR("\r\n--b"), 600000),
        arena_strf(t->arena, "--b\r\n%.*s\r\nx\r\n--b--", STR_ARG(live_repeat(t->arena, line, 300000))),
        arena_strf(t->arena, "--b\r\nContent-Disposition: form-data; name=\"%.*s\"\r\n\r\nx\r\n--b--",
                   STR_ARG(live_repeat(t->arena, STR("n"), 2 * MIB))),
    };
    for (size_t n = 0; n < sizeof bombs / sizeof *bombs; n++) {
        got g = put_form(t, ann, type, bombs[n]);
        ck_assert_msg(g.status == 400, "%zu: %d", n, g.status);
        ck_str_eq(rig_text(&g, "error"), STR("invalid_multipart"));
    }
    ck_status(put_form(t, ann, STR("application/json"), STR("{}")), 400);
    ck_status(put_form(t, ann, STR("multipart/form-data"), part), 400);
}

/* A guest's address is not verified: what lies under it is not the guest's. */
RIG_TEST(a_guest_sees_and_changes_nothing_of_the_person_whose_address_it_gave)
{
    str ann = people_sign_in(t, ANN), guest = people_guest(t, ANN, STR(GROUP));
    ck_status(people_put(t, ann, PROFILE, "{\"displayName\":\"Ann\"}"), 200);
    ck_status(put_photo(t, ann, "file", "image/jpeg", STR(JPEG)), 200);
    ck_status(people_post(t, ann, PREFS, "{\"emailUpdatesEnabled\":false}"), 200);
    got g = people_get(t, guest, PROFILE);
    ck_str_eq(rig_text(&g, "displayName"), STR(""));
    ck_assert(!rig_bool(&g, "hasPhoto"));
    ck_status(people_get(t, guest, PHOTO), 404);
    g = people_get(t, guest, PREFS);
    ck_assert(rig_bool(&g, "emailUpdatesEnabled"));
    g = put_photo(t, guest, "file", "image/png", STR(PNG));
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "code"), STR("AUTH_SESSION_SCOPE_VIOLATION"));
    g = people_post(t, guest, PREFS, "{\"emailUpdatesEnabled\":true}");
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "code"), STR("AUTH_SESSION_SCOPE_VIOLATION"));
    g = people_get(t, ann, PHOTO);
    ck_str_eq(g.body, STR(JPEG));
}

/* ---- preferences ---- */

static void prefs_are(const got *g, bool updates, const char *muted)
{
    ck_status(*g, 200);
    ck_assert(rig_bool(g, "ok"));
    ck_assert_int_eq(rig_bool(g, "emailUpdatesEnabled"), updates);
    ck_str_eq(json_print_val(scratch(), rig_at(g, "mutedGroupIds")), str_of(muted));
}

/* SCHED-85. */
RIG_TEST(preferences_begin_with_defaults_and_change_by_member)
{
    str ann = people_sign_in(t, ANN);
    got g = people_get(t, ann, PREFS);
    prefs_are(&g, true, "[]");
    g = people_post(t, ann, PREFS,
                    "{\"mutedGroupIds\":[\"6A1F0C3E-8A55-4B0E-9D6F-0C8F1A2B3C4D\",\"" GROUP "\"]}");
    prefs_are(&g, true, "[\"" GROUP "\"]");
    g = people_post(t, ann, PREFS, "{\"emailUpdatesEnabled\":false}");
    prefs_are(&g, false, "[\"" GROUP "\"]");
    g = people_post(t, ann, PREFS, "{\"mutedGroupIds\":[]}");
    prefs_are(&g, false, "[]");
    g = people_get(t, ann, PREFS);
    prefs_are(&g, false, "[]");
}

/* SCHED-85. */
RIG_TEST(five_hundred_groups_may_be_muted_and_no_more)
{
    buf ids;
    str ann = people_sign_in(t, ANN);
    buf_init(&ids, t->arena, 64 * KIB);
    for (int n = 0; n < 500; n++)
        (void)buf_addf(&ids, "%s\"6a1f0c3e-8a55-4b0e-9d6f-0c8f1a2b%04d\"", n > 0 ? "," : "", n);
    got g = people_post(t, ann, PREFS, "{\"mutedGroupIds\":[%.*s]}", STR_ARG(buf_str(&ids)));
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "mutedGroupIds")), 500);
    g = people_post(t, ann, PREFS, "{\"mutedGroupIds\":[%.*s,\"" GROUP "\"]}", STR_ARG(buf_str(&ids)));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_request"));
    g = people_get(t, ann, PREFS);
    ck_assert_uint_eq(json_len(rig_at(&g, "mutedGroupIds")), 500);
}

/* Before the session is looked at. */
RIG_TEST(preferences_that_are_none_are_refused)
{
    static const char *const bodies[] = {"{}",
                                         "{\"emailUpdatesEnabled\":\"yes\"}",
                                         "{\"emailUpdatesEnabled\":null}",
                                         "{\"mutedGroupIds\":\"" GROUP "\"}",
                                         "{\"mutedGroupIds\":[5]}",
                                         "{\"mutedGroupIds\":[\"../../x\"]}",
                                         "{\"emailUpdatesEnabled\":true,\"mutedGroupIds\":{}}"};
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        got g = people_post(t, NONE, PREFS, "%s", bodies[n]);
        ck_status(g, 400);
        ck_str_eq(rig_text(&g, "error"), STR("invalid_request"));
    }
    got g = people_post(t, NONE, PREFS, "[]");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_json"));
}

RIG_TEST(preferences_that_cannot_be_read_count_as_defaults_and_are_replaced)
{
    static const char *const texts[] = {"", "garbage", "[1]", "{\"emailUpdatesEnabled\":5}",
                                        "{\"mutedGroupIds\":[\"x\"]}"};
    str                      ann = people_sign_in(t, ANN);
    str name = arena_strf(t->arena, "familyscheduler/users/%.*s/prefs.json", STR_ARG(people_user_key(ANN)));
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        OK(blobs_put(t, state(), name, str_of(texts[n]), &(blob_put){0}, NULL));
        got g = people_get(t, ann, PREFS);
        prefs_are(&g, true, "[]");
        g = people_post(t, ann, PREFS, "{\"emailUpdatesEnabled\":false}");
        prefs_are(&g, false, "[]");
    }
}

/* ---- keys ---- */

static res has_no_at(task *t, const entity *e, void *ctx)
{
    unsigned *rows = ctx;
    (void)t;
    ck_assert(!str_has(e->partition, STR("@")) && !str_has(e->row, STR("@")));
    ++*rows;
    return RES_OK;
}

/* SCHED-10: of the rows that these calls write; blob names too. */
RIG_TEST(no_key_and_no_name_holds_an_address)
{
    unsigned  rows = 0;
    blob_page page;
    str       ann = people_named(t, ANN), guest = people_guest(t, "bob@example.org", STR(GROUP));
    ck_status(people_put(t, guest, PROFILE, "{\"displayName\":\"Bob\"}"), 200);
    ck_status(put_photo(t, ann, "file", "image/jpeg", STR(JPEG)), 200);
    ck_status(people_post(t, ann, PREFS, "{\"emailUpdatesEnabled\":false}"), 200);
    for (int p = 0; p < PLACE_COUNT; p++)
        OK(tables_each(t, place_table((place)p), &(table_query){0}, has_no_at, &rows));
    ck_assert_uint_eq(rows, 2);
    OK(blobs_list(t, state(), NONE, '\0', 1000, NONE, &page));
    ck_assert_uint_eq(page.len, 5);
    for (size_t n = 0; n < page.len; n++)
        ck_assert(!str_has(page.at[n].name, STR("@")));
}

/* ---- torture ---- */

static rig_request with_session(task *t, str session, const char *method, const char *target, str type,
                                str body)
{
    http_header *headers = arena_array(t->arena, http_header, 2);
    headers[0] = (http_header){STR("x-session-id"), session};
    headers[1] = (http_header){STR("Content-Type"), type};
    return (rig_request){.method = method,
                         .target = target,
                         .body = body,
                         .headers = headers,
                         .header_count = type.len > 0 ? 2 : 1};
}

RIG_TEST(profiles_survive_every_failure)
{
    str         ann = people_named(t, ANN), body_type = STR("application/json");
    rig_request get = with_session(t, ann, "GET", PROFILE, NONE, NONE);
    rig_request put = with_session(t, ann, "PUT", PROFILE, body_type, STR("{\"displayName\":\"Ann\"}"));
    rig_torture(t, &put, 200, NULL, NULL);
    rig_torture(t, &get, 200, NULL, NULL);
}

RIG_TEST(photos_survive_every_failure)
{
    str         ann = people_named(t, ANN), form = form_of(t, "file", "image/png", STR(PNG));
    rig_request put = with_session(t, ann, "PUT", PHOTO, STR("multipart/form-data; boundary=b0undary"), form);
    rig_request get = with_session(t, ann, "GET", PHOTO, NONE, NONE);
    rig_torture(t, &put, 200, NULL, NULL);
    rig_torture(t, &get, 200, NULL, NULL);
}

RIG_TEST(preferences_survive_every_failure)
{
    str         ann = people_sign_in(t, ANN), body_type = STR("application/json");
    rig_request post = with_session(t, ann, "POST", PREFS, body_type,
                                    STR("{\"emailUpdatesEnabled\":false,\"mutedGroupIds\":[\"" GROUP "\"]}"));
    rig_request get = with_session(t, ann, "GET", PREFS, NONE, NONE);
    rig_torture(t, &post, 200, NULL, NULL);
    rig_torture(t, &get, 200, NULL, NULL);
}

/* ---- a store that fails ---- */

static const char *const ann_session =
    "{\"v\":1,\"email\":\"" ANN "\",\"kind\":\"full\",\"expiresAt\":\"2099-01-01T00:00:00.000Z\"}";

/* Sessions are there; preferences are not to be had. */
static void only_sessions(void *ctx, const wire_request *asked, wire_answer *ret)
{
    str line = str_slice(asked->head, 0, str_find_char(asked->head, '\r'));
    ret->bytes = str_has(line, STR("/sessions/")) ? ctx
                 : str_has(line, STR("/prefs.json"))
                     ? "HTTP/1.1 403 X\r\nx-ms-error-code: AuthorizationFailure\r\nContent-Length: 0\r\n\r\n"
                     : "HTTP/1.1 201 X\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n";
}

static void preferences_say_what_failed(task *t, int i)
{
    (void)i;
    got g = people_get(t, STR("ann"), PREFS);
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("user_preferences_get_failed"));
    g = people_post(t, STR("ann"), PREFS, "{\"emailUpdatesEnabled\":true}");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("user_preferences_set_failed"));
    ck_assert(!str_has(g.body, STR("Authorization")));
}

START_TEST(preferences_that_storage_refuses_are_a_500_of_their_own)
{
    const char *found = textf("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nx-ms-blob-type: BlockBlob\r\nLast-Modified: "
                              "Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Length: %zu\r\n\r\n%s",
                              strlen(ann_session), ann_session);
    wire       *w = wire_start_fn(only_sessions, (void *)found, NULL);
    rig_run(rig_wire_store(w), preferences_say_what_failed, 0);
    wire_stop(w);
}
END_TEST

Suite *suite_sched_user(void)
{
    Suite *s = suite_create("sched_user");
    TCase *c = live_case("user");
    tcase_add_test(c, a_name_is_collapsed_stored_and_given_back);
    tcase_add_test(c, a_name_that_is_none_changes_nothing);
    tcase_add_test(c, profiles_lie_under_the_member_key_and_keep_their_beginning);
    tcase_add_test(c, without_a_session_nothing_is_given_or_taken);
    tcase_add_loop_test(c, a_photo_comes_back_as_it_was_with_its_true_type, 0,
                        (int)(sizeof photos / sizeof *photos));
    tcase_add_loop_test(c, images_that_lie_are_refused_and_not_stored, 0, (int)(sizeof lies / sizeof *lies));
    tcase_add_test(c, a_photo_of_3_mib_is_taken_and_one_byte_more_is_not);
    tcase_add_test(c, multipart_bombs_are_refused);
    tcase_add_test(c, a_guest_sees_and_changes_nothing_of_the_person_whose_address_it_gave);
    tcase_add_test(c, preferences_begin_with_defaults_and_change_by_member);
    tcase_add_test(c, five_hundred_groups_may_be_muted_and_no_more);
    tcase_add_test(c, preferences_that_are_none_are_refused);
    tcase_add_test(c, preferences_that_cannot_be_read_count_as_defaults_and_are_replaced);
    tcase_add_test(c, no_key_and_no_name_holds_an_address);
    tcase_add_test(c, profiles_survive_every_failure);
    tcase_add_test(c, photos_survive_every_failure);
    tcase_add_test(c, preferences_survive_every_failure);
    tcase_add_test(c, preferences_that_storage_refuses_are_a_500_of_their_own);
    suite_add_tcase(s, c);
    return s;
}
