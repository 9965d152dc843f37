/* azure_blobs_cases_list.c -- lists of containers and of blobs: what is asked for, what each element means,
 * and lists that make no sense.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/azure_blobs_rig.h"

#define LIST(inside) "<?xml version=\"1.0\"?><EnumerationResults>" inside "</EnumerationResults>"

static res list_page(task *t, void *ctx)
{
    blobs_rig *r = ctx;
    blob_page  page;
    TRY(azure_blobs.list_blobs(r->e, t, STR("con"), STR("a b"), '/', 7, STR("m&1"), &page));
    ck_assert_uint_eq(page.len, 2);
    ck_assert(str_eq(page.at[0].name, STR("a b&<1>")));
    ck_assert(str_eq(page.at[0].etag, STR("\"0x1\"")));
    ck_assert(str_eq(page.at[0].content_type, STR("text/plain")));
    ck_assert_uint_eq(page.at[0].bytes, 5);
    ck_assert_int_eq(page.at[0].modified_us / 1000000, BLOBS_DATE_S);
    ck_assert(page.at[0].append);
    ck_assert(str_eq(page.at[1].name, STR("a b\x01%zz")));
    ck_assert(str_eq(page.at[1].etag, STR("\"q\"")));
    ck_assert_uint_eq(page.at[1].bytes, 0);
    ck_assert(!page.at[1].append);
    ck_assert_uint_eq(page.prefix_count, 1);
    ck_assert(str_eq(page.prefixes[0], STR("a b/\x02/")));
    ck_assert(str_eq(page.token, STR("next 1")));
    return RES_OK;
}

START_TEST(a_page_of_blobs_has_names_properties_prefixes_and_a_position)
{
    blobs_rig r = blobs_rig_start(
        (wire_answer[]){BLOBS_ENDS(BLOBS_XML(
            LIST("<Blobs><Blob><Name>a b&amp;&lt;1&gt;</Name><Properties><Etag>0x1</Etag>"
                 "<Content-Type>text/plain</Content-Type><Content-Length>5</Content-Length>"
                 "<BlobType>AppendBlob</BlobType><Last-Modified>" BLOBS_DATE "</Last-Modified></Properties>"
                 "<Unknown><Name>no</Name></Unknown></Blob><Blob><Name Encoded=\"true\">a b%01%zz</Name>"
                 "<Properties><Etag>\"q\"</Etag><Content-Length>many</Content-Length></Properties></Blob>"
                 "<BlobPrefix><Name Encoded=\"true\">a b/%02/</Name></BlobPrefix></Blobs>"
                 "<NextMarker>next 1</NextMarker>")))},
        1);
    ck_assert_msg(blobs_rig_run(&r, list_page) == RES_OK, "%s", r.message);
    ck_assert_str_eq(blobs_rig_line(&r, 0), "GET /acct/con?restype=container&comp=list&delimiter=%2F"
                                            "&prefix=a%20b&maxresults=7&marker=m%261 HTTP/1.1");
    blobs_rig_stop(&r);
}
END_TEST

static res list_containers(task *t, void *ctx)
{
    name_page names;
    TRY(azure_blobs.list(((blobs_rig *)ctx)->e, t, STR("c"), 3, STR(""), &names));
    ck_assert_uint_eq(names.count, 2);
    ck_assert(str_eq(names.names[0], STR("con")));
    ck_assert(str_eq(names.names[1], STR("con2")));
    ck_assert_uint_eq(names.next.len, 0);
    return RES_OK;
}

START_TEST(a_page_of_containers_has_their_names)
{
    blobs_rig r = blobs_rig_start(
        (wire_answer[]){BLOBS_ENDS(BLOBS_XML(
            LIST("<Containers><Container><Name>con</Name><Properties><Etag>e</Etag></Properties></Container>"
                 "<Container><Name>con2</Name></Container></Containers><NextMarker />")))},
        1);
    ck_assert_msg(blobs_rig_run(&r, list_containers) == RES_OK, "%s", r.message);
    ck_assert_str_eq(blobs_rig_line(&r, 0), "GET /acct/?comp=list&prefix=c&maxresults=3 HTTP/1.1");
    blobs_rig_stop(&r);
}
END_TEST

static res list_some(task *t, void *ctx)
{
    blob_page page;
    return azure_blobs.list_blobs(((blobs_rig *)ctx)->e, t, STR("con"), STR(""), '\0', 7, STR(""), &page);
}

static const struct {
    const char *answer;
    res         want;
    const char *says;
} bad_lists[] = {
    {BLOBS_XML(""), RES_UPSTREAM, ""},
    {BLOBS_XML("{\"not\":\"xml\"}"), RES_UPSTREAM, ""},
    {BLOBS_XML("<Other></Other>"), RES_UPSTREAM, "it is no list of blobs"},
    {BLOBS_XML(LIST("<Blobs><Blob></Blob></Blobs>")), RES_UPSTREAM, "a blob without a name"},
    {BLOBS_XML(LIST("<Blobs><BlobPrefix/></Blobs>")), RES_UPSTREAM, "a blob without a name"},
    {BLOBS_XML("<EnumerationResults><Blobs>"), RES_UPSTREAM, ""},
    {BLOBS_FAILURE("404", "ContainerNotFound"), RES_UNPROVISIONED, ""},
    {BLOBS_FAILURE("403", "AuthorizationFailure"), RES_CONFIG, ""},
};

START_TEST(a_list_that_makes_no_sense_is_refused_with_the_reason)
{
    blobs_rig r = blobs_rig_start(&(wire_answer)BLOBS_ENDS(bad_lists[_i].answer), 1);
    ck_assert_msg(blobs_rig_run(&r, list_some) == bad_lists[_i].want, "%s %s", res_name(r.result), r.message);
    ck_assert_msg(strstr(r.message, bad_lists[_i].says) != NULL, "%s", r.message);
    ck_assert(str_starts(str_of(r.message), STR("blobs_list")));
    blobs_rig_stop(&r);
}
END_TEST

TCase *azure_blobs_cases_list(void)
{
    TCase *c = tcase_create("listing");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, a_page_of_blobs_has_names_properties_prefixes_and_a_position);
    tcase_add_test(c, a_page_of_containers_has_their_names);
    BLOBS_LOOP(c, a_list_that_makes_no_sense_is_refused_with_the_reason, bad_lists);
    return c;
}
