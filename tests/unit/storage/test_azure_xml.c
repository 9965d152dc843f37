/* test_azure_xml.c -- documents as a line of events: "a( b( )b:text )a: ." with the names of elements, the
 * texts before closing tags, and at the end '.' or what is wrong.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buf.h"
#include "storage/azure/xml.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define BOM "\xEF\xBB\xBF"

static const char *events_of(str document)
{
    xml       x;
    xml_event event;
    buf       out;
    buf_init(&out, scratch(), MIB);
    xml_init(&x, document);
    while ((event = xml_next(&x, scratch())) == XML_OPEN || event == XML_CLOSE) {
        if (event == XML_OPEN)
            buf_addf(&out, "%.*s( ", STR_ARG(x.name));
        else
            buf_addf(&out, ")%.*s:%.*s ", STR_ARG(x.name), STR_ARG(x.text));
    }
    buf_add(&out, event == XML_END ? STR(".") : str_of(x.why));
    ck_assert_int_eq((int)xml_next(&x, scratch()), (int)event); /* and so for ever */
    return textf("%.*s", STR_ARG(buf_str(&out)));
}

/* ---- what is read ---- */

static const struct {
    const char *document, *events;
} good[] = {
    {"<a/>", "a( )a: ."},
    {"<a />", "a( )a: ."},
    {"<a></a >", "a( )a: ."},
    {"<a>x</a>", "a( )a:x ."},
    {"<a> x </a>", "a( )a: x  ."},
    {" \r\n<a/>\n ", "a( )a: ."},
    {BOM "<?xml version=\"1.0\"?>\r\n<a>x</a>", "a( )a:x ."},
    {"<a>1<b>2</b>3<c/>4</a>", "a( b( )b:2 c( )c: )a:4 ."},
    {"<a><a>x</a></a>", "a( a( )a:x )a: ."},
    {"<a b=\"/>\" c='\"'>x</a>", "a( )a:x ."},
    {"<a b=\"x\"/>", "a( )a: ."},
    {"<a>&amp;&lt;&gt;&quot;&apos;</a>", "a( )a:&<>\"' ."},
    {"<a>&amp;lt;</a>", "a( )a:&lt; ."},
    {"<a>x&#38;y&#x26;z</a>", "a( )a:x&y&z ."},
    {"<a>&#x41;&#xdf;&#x20AC;&#x1F600;&#x10FFFF;</a>",
     "a( )a:A\xC3\x9F\xE2\x82\xAC\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF ."},
    {"<a>&#127;&#128;&#2047;&#2048;&#65535;&#65536;</a>",
     "a( )a:\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80 ."},
    {"<a>&#1;</a>", "a( )a:\x01 ."}, /* not XML 1.0, but services write it */
    {"<a>x\r\ny\rz&#13;</a>", "a( )a:x\ny\nz\r ."},
    {"<a><![CDATA[<b>&amp;]]></a>", "a( )a:<b>&amp; ."},
    {"<a>x<![CDATA[]]>y</a>", "a( )a:xy ."},
    {"<a>&lt;<![CDATA[&lt;]]]]><![CDATA[>]]>&gt;</a>", "a( )a:<&lt;]]>> ."},
    {"<a>x<!-- <b> & -- -->y<?p <c>?>z</a>", "a( )a:xyz ."},
    {"<!-- x --><a/><!-- y --><?p?>", "a( )a: ."},
    {"<a><!-->x--></a>", "a( )a: ."}, /* the comment begins with '>': it does not end there */
    {"<a><!--->x--></a>", "a( )a: ."},
    {"<a><?>x?></a>", "a( )a: ."},
    {"<a>\xC3\xBC</a>", "a( )a:\xC3\xBC ."},
};

/* STORE-41 (the reading half): the text of a message is what its writer meant. */
START_TEST(a_document_is_read_as_its_elements_and_texts)
{
    ck_assert_str_eq(events_of(str_of(good[_i].document)), good[_i].events);
}
END_TEST

/* ---- what is refused ---- */

#define NO_TEXT   "a text is not well-formed"
#define NO_ASIDE  "a declaration or comment is refused or has no end"
#define NOT_LAST  "an element is closed that was not the last one opened"
#define CUT       "the document breaks off"
#define NO_OPEN   "an opening tag has no end"
#define NO_CLOSE  "a closing tag has no end"
#define NO_ENTITY "<!DOCTYPE a [<!ENTITY b \"x\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>"

static const struct {
    const char *document, *why;
} bad[] = {
    {"", "there is no element"},
    {" \n", "there is no element"},
    {BOM, "there is no element"},
    {"<!-- x -->", "there is no element"},
    {"{\"a\":1}", NO_TEXT},
    {"x<a/>", NO_TEXT},
    {"<a/>x", NO_TEXT},
    {"<a/><b/>", "there is a second root element"},
    {"<a/></a>", NOT_LAST},
    {"</a>", NOT_LAST},
    {"<a><b></a></b>", NOT_LAST},
    {"<a></b>", NOT_LAST},
    {"<a></>", NOT_LAST},
    {"<a>", CUT},
    {"<a>x", CUT},
    {"<a><b/>", CUT},
    {"<", "an element has no name"},
    {"<>", "an element has no name"},
    {"< a/>", "an element has no name"},
    {"<a", NO_OPEN},
    {"<a/", NO_OPEN},
    {"<a b=\"x>", NO_OPEN},
    {"<a b='x\">", NO_OPEN},
    {"<a <b/>", NO_OPEN},
    {"<a<b></a<b>", NO_OPEN},
    {"<a></a", NO_CLOSE},
    {"<a></a x>", NO_CLOSE},
    {"<a></a<", NO_CLOSE},
    {"<a></", NO_CLOSE},
    {"<a>&</a>", NO_TEXT},
    {"<a>&amp</a>", NO_TEXT},
    {"<a>&;</a>", NO_TEXT},
    {"<a>&AMP;</a>", NO_TEXT},
    {"<a>&nbsp;</a>", NO_TEXT},
    {"<a>&#;</a>", NO_TEXT},
    {"<a>&#x;</a>", NO_TEXT},
    {"<a>&#0;</a>", NO_TEXT},
    {"<a>&#x0;</a>", NO_TEXT},
    {"<a>&#-1;</a>", NO_TEXT},
    {"<a>&#a;</a>", NO_TEXT},
    {"<a>&#xg;</a>", NO_TEXT},
    {"<a>&#xD800;</a>", NO_TEXT},
    {"<a>&#xDFFF;</a>", NO_TEXT},
    {"<a>&#x110000;</a>", NO_TEXT},
    {"<a>&#4294967334;</a>", NO_TEXT}, /* 38 after 2^32 */
    {"<a>&#99999999999999999999;</a>", NO_TEXT},
    {"<!-- x", NO_ASIDE},
    {"<!-->", NO_ASIDE},
    {"<!--->", NO_ASIDE},
    {"<?xml", NO_ASIDE},
    {"<?>", NO_ASIDE},
    {"<a><![CDATA[x]]", NO_ASIDE},
    {"<![CDATA[x]]><a/>", NO_ASIDE},
    {"<!DOCTYPE a><a/>", NO_ASIDE},
    {NO_ENTITY, NO_ASIDE},
    {"<a>\xFF</a>", "the text is not UTF-8"},
    {"<a>\xC3</a>", "the text is not UTF-8"},
    {"\xFF\xFE<", "the text is not UTF-8"},
};

START_TEST(what_is_no_document_ends_with_what_is_wrong)
{
    const char *events = events_of(str_of(bad[_i].document));
    ck_assert_msg(str_ends(str_of(events), str_of(bad[_i].why)), "'%s' gives %s", bad[_i].document, events);
}
END_TEST

/* Whoever cuts it anywhere, nobody takes the rest for a whole document. */
START_TEST(no_beginning_of_a_document_is_a_document)
{
    str whole = STR(BOM "<?xml version=\"1.0\"?><!-- c --><a b=\"c\"><d>x&amp;<![CDATA[y]]></d><e/></a>");
    for (size_t len = 0; len < whole.len; len++) {
        str         cut = {memcpy(arena_alloc(scratch(), len + 1), whole.at, len), len};
        const char *events = events_of(cut);
        ck_assert_msg(!str_ends(str_of(events), STR(".")), "%zu bytes: %s", len, events);
    }
    ck_assert_str_eq(events_of(whole), "a( d( )d:x&y e( )e: )a: .");
}
END_TEST

static str nested(size_t depth)
{
    buf out;
    buf_init(&out, scratch(), MIB);
    for (size_t i = 0; i < depth; i++)
        buf_add(&out, STR("<a>"));
    for (size_t i = 0; i < depth; i++)
        buf_add(&out, STR("</a>"));
    return buf_str(&out);
}

START_TEST(elements_nest_to_the_limit_and_not_beyond)
{
    ck_assert(str_ends(str_of(events_of(nested(XML_DEPTH_MAX))), STR(")a: .")));
    ck_assert(str_ends(str_of(events_of(nested(XML_DEPTH_MAX + 1))), STR("elements are nested too deep")));
}
END_TEST

/* ---- questions about where we are ---- */

START_TEST(the_root_the_parent_and_attributes_are_known)
{
    xml x;
    xml_init(&x, STR("<r a='1' b = \"2>\" c=''><s a=\"3\"/><t a b='4'/><u a=5/></r>"));
    ck_assert(!xml_root_is(&x, "r") && !xml_is_in(&x, "r"));
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_OPEN);
    ck_assert(str_eq(xml_attribute(&x, "a"), STR("1")) && str_eq(xml_attribute(&x, "b"), STR("2>")));
    ck_assert(str_eq(xml_attribute(&x, "c"), STR("")) && str_eq(xml_attribute(&x, "d"), STR("")));
    ck_assert(xml_is_in(&x, "r") && !xml_is_in(&x, "s"));
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_OPEN);
    ck_assert(str_eq(xml_attribute(&x, "a"), STR("3")) && str_eq(xml_attribute(&x, "b"), STR("")));
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_CLOSE);
    ck_assert(str_eq(x.name, STR("s")) && xml_is_in(&x, "r"));
    for (int i = 0; i < 2; i++) { /* attributes that are none give nothing */
        ck_assert_int_eq((int)xml_next(&x, scratch()), XML_OPEN);
        ck_assert(xml_attribute(&x, "a").len == 0 && xml_attribute(&x, "b").len == 0);
        ck_assert_int_eq((int)xml_next(&x, scratch()), XML_CLOSE);
    }
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_CLOSE);
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_END);
    ck_assert(xml_root_is(&x, "r") && !xml_root_is(&x, "u") && !xml_is_in(&x, "r"));
}
END_TEST

START_TEST(a_plain_text_is_not_copied)
{
    str document = STR("<a>plain</a>");
    xml x;
    xml_init(&x, document);
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_OPEN);
    arena_fail_at(1);
    ck_assert_int_eq((int)xml_next(&x, scratch()), XML_CLOSE);
    ck_assert(arena_fail_pending());
    arena_fail_at(0);
    ck_assert_ptr_eq(x.text.at, document.at + 3);
}
END_TEST

START_TEST(a_text_for_which_there_is_no_memory_is_not_read_in_part)
{
    xml    x;
    arena *a = arena_new(MIB);
    xml_init(&x, STR("<a>x&amp;y</a>"));
    ck_assert_int_eq((int)xml_next(&x, a), XML_OPEN);
    arena_fail_at(1);
    ck_assert_int_eq((int)xml_next(&x, a), XML_BAD);
    arena_fail_at(0);
    arena_free(a);
}
END_TEST

/* ---- writing ---- */

static const struct {
    const char *text, *escaped;
} texts[] = {
    {"", ""},
    {"plain", "plain"},
    {"<", "&lt;"},
    {"<&>", "&lt;&amp;&gt;"},
    {"a<b>c&d", "a&lt;b&gt;c&amp;d"},
    {"&amp;", "&amp;amp;"},
    {"]]>", "]]&gt;"},
    {"\r\n\r", "&#13;\n&#13;"},
    {"\"'\t\n ", "\"'\t\n "},
    {"\xC3\xBC\xF0\x9F\x98\x80", "\xC3\xBC\xF0\x9F\x98\x80"},
};

/* STORE-41: `<&>` and letters beyond ASCII. */
START_TEST(what_is_escaped_is_read_as_it_was)
{
    str         escaped = xml_escape(scratch(), str_of(texts[_i].text));
    const char *document = textf("<a>%.*s</a>", STR_ARG(escaped));
    ck_assert_str_eq(textf("%.*s", STR_ARG(escaped)), texts[_i].escaped);
    ck_assert_str_eq(events_of(str_of(document)), textf("a( )a:%s .", texts[_i].text));
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

Suite *suite_azure_xml(void)
{
    Suite *s = suite_create("azure_xml");
    TCase *c = tcase_create("xml");
    LOOP(c, a_document_is_read_as_its_elements_and_texts, good);
    LOOP(c, what_is_no_document_ends_with_what_is_wrong, bad);
    tcase_add_test(c, no_beginning_of_a_document_is_a_document);
    tcase_add_test(c, elements_nest_to_the_limit_and_not_beyond);
    tcase_add_test(c, the_root_the_parent_and_attributes_are_known);
    tcase_add_test(c, a_plain_text_is_not_copied);
    tcase_add_test(c, a_text_for_which_there_is_no_memory_is_not_read_in_part);
    LOOP(c, what_is_escaped_is_read_as_it_was, texts);
    suite_add_tcase(s, c);
    return s;
}
