/* Hand-written sitemaps, each read whole and byte by byte. Expected URLs are joined by "|", those
 * of an index are marked with "@". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/html/sitemap.h"

static char out[1 << 16];

static void collect(void *user, sn_sitemap_kind kind, const char *url, size_t len)
{
    (void)user;
    size_t at = strlen(out);
    assert_true(at + len + 3 < sizeof out);
    sprintf(out + at, "%s%s%.*s", at > 0 ? "|" : "", kind == SN_SITEMAP_INDEX ? "@" : "", (int)len,
            url);
}

static uint64_t read_sitemap(const char *text, size_t len, size_t piece)
{
    sn_sitemap sitemap;
    out[0] = '\0';
    sn_sitemap_begin(&sitemap, collect, NULL);
    for (size_t at = 0; at < len; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, text + at, n);
        sn_sitemap_feed(&sitemap, copy, n);
        free(copy);
    }
    sn_sitemap_end(&sitemap);
    return sitemap.dropped;
}

static uint64_t expect(const char *text, const char *want)
{
    read_sitemap(text, strlen(text), 1);
    assert_string_equal(out, want);
    uint64_t dropped = read_sitemap(text, strlen(text), strlen(text) + 1);
    assert_string_equal(out, want);
    return dropped;
}

#define SET "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
#define LOC(x) SET "<url><loc>" x "</loc></url></urlset>"

static void test_pages(void **state)
{
    (void)state;
    expect(SET "<url><loc>http://a/</loc><lastmod>2026-01-01</lastmod></url>\n"
               "<url><priority>1</priority><loc>\n http://a/b \t</loc></url></urlset>",
           "http://a/|http://a/b");
    expect("\xef\xbb\xbf \n" LOC("http://a/"), "http://a/");
    expect("<s:urlset><s:url><s:loc a='>' b=\"/>\">x</s:loc></s:url></s:urlset>", "x");
    expect("<urlset><url><loc>a</loc><image:image><image:loc>b</image:loc></image:image></url>"
           "<url><loc>c</loc></url></urlset>",
           "a|c");
    expect("<urlset><url><a><loc>x</loc></a><b/><c d='/'/><loc>y</loc></url></urlset>", "y");
    expect("<urlset><loc>x</loc><url/><loc>y</loc><url></url><loc>z</loc></urlset>", "");
    expect("<urlset><url><loc/></url><url><loc></loc></url><url><loc> </loc></url></urlset>", "");
    expect("<urlset><url><loc>a</loc", "");
    expect("<html><body><p>404</p></body></html>", "");
    expect("", "");
}

static void test_index(void **state)
{
    (void)state;
    expect("<sitemapindex><sitemap><loc>http://a/1.xml.gz</loc></sitemap>"
           "<sitemap><loc>http://a/2</loc></sitemap></sitemapindex>",
           "@http://a/1.xml.gz|@http://a/2");
}

static void test_references(void **state)
{
    (void)state;
    expect(LOC("a?b=1&amp;c&#38;d&#x26;e&lt;&gt;&quot;&apos;"), "a?b=1&c&d&e<>\"'");
    expect(LOC("a&#233;&#x1F600;"), "a\xc3\xa9\xf0\x9f\x98\x80");
    expect(LOC("a?b&c=d&unknown;&#0;&#xd800;&#x110000;&#;&#x;&;&"),
           "a?b&c=d&unknown;&#0;&#xd800;&#x110000;&#;&#x;&;&");
    expect(LOC("&toolongtobeareference;&amp;&"), "&toolongtobeareference;&&");
    expect(LOC("&amp&amp;"), "&amp&");
}

static void test_sections(void **state)
{
    (void)state;
    expect(LOC("<![CDATA[http://a/?b&amp;c]]>"), "http://a/?b&amp;c");
    expect(LOC("a<![CDATA[<b>]]]x]>]]]]>c"), "a<b>]]]x]>]]c");
    expect(LOC("a<!-- </loc> - -- > --->b"), "ab");
    expect(SET "<!-- <url><loc>x</loc></url> --><url><loc>y</loc></url></urlset>", "y");
    expect(SET "<![CDATA[<url><loc>x</loc></url>]]><url><loc>y</loc></url></urlset>", "y");
    expect("<!DOCTYPE urlset>" LOC("y"), "y");
    expect("<!-x>" LOC("y"), "y");
    expect("<![CDAT>" LOC("y"), "y");
    expect("<!>" LOC("y"), "y");
}

static void test_lines(void **state)
{
    (void)state;
    expect("http://a/1\nhttp://a/2\r\n\r\n  http://a/3  \nhttp://a/?a&amp;b", //
           "http://a/1|http://a/2|http://a/3|http://a/?a&amp;b");
    expect("\xef\xbb\xbfhttp://a/1\n", "http://a/1");
    expect("{\n \"error\": \"no such page\"\n}\n", "");
    expect("Not found", "");
    expect("/a\nHTTPS://a/b\nhttp:/c\nhttp\n\n", "HTTPS://a/b");
}

static void test_long(void **state)
{
    (void)state;
    for (int over = 0; over <= 1; over++) {
        static char text[3 * SN_SITEMAP_URL_MAX], url[SN_SITEMAP_URL_MAX + 2];
        memset(url, 'x', sizeof url);
        memcpy(url, "http://", 7);
        url[SN_SITEMAP_URL_MAX + over] = '\0';
        snprintf(text, sizeof text, "<urlset><url><loc> %s </loc></url></urlset>", url);
        assert_int_equal(expect(text, over ? "" : url), over);
        snprintf(text, sizeof text, "%s \nhttp://b", url);
        if (over)
            assert_int_equal(expect(text, "http://b"), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),      cmocka_unit_test(test_index),
        cmocka_unit_test(test_references), cmocka_unit_test(test_sections),
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
