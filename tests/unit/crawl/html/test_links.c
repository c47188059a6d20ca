/* Links of small hand-written pages according to the WHATWG rules, each read whole, byte by byte
 * and split at random. The expected links are written as "kind:href" joined by "|". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "crawl/html/internal.h"
#include "crawl/html/links.h"

enum { OUT_MAX = 1 << 20 };

typedef struct out {
    char *text;
    size_t len;
} out;

static void collect(void *user, const sn_html_link *link)
{
    static const char *const kinds[] = {"a", "area", "next", "refresh", "frame", "base"};
    out *o = user;
    char head[32];
    int n = snprintf(head, sizeof head, "%s%s%s:", o->len > 0 ? "|" : "", kinds[link->kind],
                     link->rel & SN_REL_NOFOLLOW ? "!" : "");
    assert_true(o->len + (size_t)n + link->len < OUT_MAX);
    memcpy(o->text + o->len, head, (size_t)n);
    memcpy(o->text + o->len + n, link->href, link->len);
    o->len += (size_t)n + link->len;
    o->text[o->len] = '\0';
}

static uint64_t seed = 1;

static uint64_t dice(uint64_t sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % sides;
}

enum cut { WHOLE, BYTES, RANDOM };

static const char *type; /* of the page, if known */

static sn_links_page read_page(const char *page, size_t len, enum cut cut, out *o)
{
    o->len = 0;
    o->text[0] = '\0';
    sn_links_options options = {collect, o, "seenbot", true};
    sn_links *links = sn_links_create(&options);
    assert_non_null(links);
    if (type != NULL)
        sn_links_declare(links, type);
    for (size_t at = 0, n; at < len; at += n) {
        n = cut == WHOLE ? len : cut == BYTES ? 1 : 1 + (size_t)dice(7);
        if (n > len - at)
            n = len - at;
        /* A separate copy, so that a sanitizer detects reads beyond the piece. */
        char *piece = malloc(n);
        assert_non_null(piece);
        memcpy(piece, page + at, n);
        assert_true(sn_links_feed(links, piece, n));
        free(piece);
    }
    sn_links_page about = *sn_links_end(links);
    sn_links_destroy(links);
    return about;
}

static sn_links_page expect_bytes(const char *page, size_t len, const char *want, size_t want_len)
{
    out o = {malloc(OUT_MAX), 0};
    assert_non_null(o.text);
    sn_links_page about = {0};
    for (int cut = WHOLE; cut <= RANDOM; cut++) {
        about = read_page(page, len, (enum cut)cut, &o);
        if (o.len != want_len || memcmp(o.text, want, want_len) != 0)
            fail_msg("cut %d of %s\n  found %s\n  not   %s", cut, page, o.text, want);
    }
    free(o.text);
    return about;
}

static sn_links_page expect(const char *page, const char *want)
{
    return expect_bytes(page, strlen(page), want, strlen(want));
}

static void test_attributes(void **state)
{
    (void)state;
    expect("<a href=x>", "a:x");
    expect("<A HREF='x'>", "a:x");
    expect("<a href=\"x\">", "a:x");
    expect("<a\thref\n=\r\f\"x y\"\n>", "a:x y");
    expect("<a class=b href=x id=c>", "a:x");
    expect("<a class='>' href=x>", "a:x");
    expect("<a title=\"a'b\" href='c\"d'>", "a:c\"d");
    expect("<a href=x/>", "a:x/");
    expect("<a/href=x>", "a:x");
    expect("<a/ /href=x/ >", "a:x/");
    expect("<a href=\"x\"class=y>", "a:x");
    expect("<a class=\"y\"href=x>", "a:x");
    expect("<a href>", "a:");
    expect("<a href=>", "a:");
    expect("<a href=''>", "a:");
    expect("<a href =>", "a:");
    expect("<a href = x>", "a:x");
    expect("<a =href=x>", "");
    expect("<a = href=x>", "a:x");
    expect("<a ==x href=y>", "a:y");
    expect("<a \"href=x>", "");
    expect("<a href=x\"y'z<=`>", "a:x\"y'z<=`");
    expect("<a hrefs=x>", "");
    expect("<a hre f=x>", "");
    expect("<a data-href=x>", "");
    expect("<ahref=x>", "");
    expect("<ab href=x>", "");
    expect("< a href=x>", "");
    expect("<a href=x", "");
    expect("<a href='x>", "");
    expect("<a href='x'", "");
    expect("<a href=x><a href=y>", "a:x|a:y");
    expect("a > b <a href=x> c < d <a href=y>", "a:x|a:y");
    expect("<<a href=x>", "a:x");
    expect("<a<a href=x>", "");
    expect("<a href=x <a href=y>", "a:x");
    expect("</a href=x>", "");
    expect("</a title='>' ><a href=y>", "a:y");
    expect("<b x=y/><a href=1>", "a:1");
    expect("<img alt=<a href=x>", "");
}

static void test_first_attribute_wins(void **state)
{
    (void)state;
    expect("<a href=x href=y>", "a:x");
    expect("<a href href=y>", "a:");
    expect("<a HREF=x href=y Href=z>", "a:x");
    expect("<a rel=x rel=nofollow href=y>", "a:y");
}

static void test_newlines_and_nul(void **state)
{
    (void)state;
    expect("<a href='a\r\nb\rc\nd\r\r\n\n'>", "a:a\nb\nc\nd\n\n\n");
    expect("<a href=a\rb>", "a:a");
    static const char page[] = "<a href='a\0b'><a hr\0ef=x><a\0 href=y><a \0href=z>\0<a href=c\0d>";
    static const char want[] = "a:a\xef\xbf\xbd"
                               "b|a:c\xef\xbf\xbd"
                               "d";
    expect_bytes(page, sizeof page - 1, want, sizeof want - 1);
}

static void test_references(void **state)
{
    (void)state;
    expect("<a href='?a&amp;b'>", "a:?a&b");
    expect("<a href='?a&ampb'>", "a:?a&ampb");
    expect("<a href='?a&amp=b'>", "a:?a&amp=b");
    expect("<a href='?a&amp'>", "a:?a&");
    expect("<a href=?a&amp>", "a:?a&");
    expect("<a href='?a&amp b'>", "a:?a& b");
    expect("<a href='?a=1&copy=2&lt;&lt=3'>", "a:?a=1&copy=2<&lt=3");
    expect("<a href='&copy-&copy;'>", "a:\xc2\xa9-\xc2\xa9");
    expect("<a href='&notin;&notit;&not;'>", "a:\xe2\x88\x89&notit;\xc2\xac");
    expect("<a href='&ngE;'>", "a:\xe2\x89\xa7\xcc\xb8");
    expect("<a href='&fjlig;&zwj;&zwnj;&AElig;'>", "a:fj\xe2\x80\x8d\xe2\x80\x8c\xc3\x86");
    expect("<a href='&CounterClockwiseContourIntegral;'>", "a:\xe2\x88\xb3");
    expect("<a href='&CounterClockwiseContourIntegralX;'>", "a:&CounterClockwiseContourIntegralX;");
    expect("<a href='&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;&amp;'>",
           "a:&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;&");
    expect("<a href='& &; && &'>", "a:& &; && &");
    expect("<a href='&&amp;&'>", "a:&&&");
    expect("<a href='&Amp;'>", "a:&Amp;");
    expect("<a href='&apos;&quot;&gt;'>", "a:'\">");
    expect("<a href='&#65;&#x41;&#X4a;&#65&#x42g'>", "a:AAJABg");
    expect("<a href='&#;&#x;&#xg;&#'>", "a:&#;&#x;&#xg;&#");
    expect("<a href='&#0;&#xd800;&#x110000;&#99999999999999999999;'>",
           "a:\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    expect("<a href='&#128;&#x9f;&#x81;'>", "a:\xe2\x82\xac\xc5\xb8\xc2\x81");
    expect("<a href='&#000000000000000000000000000000000000000000000000000000065;'>", "a:A");
    expect("<a href='&#x1F600;&#x10ffff;'>", "a:\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
    expect("<a href=&quot;x&quot;>", "a:\"x\"");
    expect("<a href='a&#10;b'>", "a:a\nb");
    expect("<a title='&quot;&lt;' href=x>", "a:x");
}

static void test_comments(void **state)
{
    (void)state;
    expect("<!-- <a href=x> --><a href=y>", "a:y");
    expect("<!--><a href=y>-->", "a:y");
    expect("<!---><a href=y>-->", "a:y");
    expect("<!----><a href=y>-->", "a:y");
    expect("<!-----><a href=y>-->", "a:y");
    expect("<!-- --!><a href=y>-->", "a:y");
    expect("<!----!><a href=y>-->", "a:y");
    expect("<!-- --!-><a href=x>--><a href=y>", "a:y");
    expect("<!-- --!--><a href=y>", "a:y");
    expect("<!-- - -> -- > <a href=x>--><a href=y>", "a:y");
    expect("<!-- <!-- <a href=x> --><a href=y> -->", "a:y");
    expect("<!-- <!--><a href=y>", "a:y");
    expect("<!-- <!---><a href=y>", "a:y");
    expect("<!-- <!-><a href=x>--><a href=y>", "a:y");
    expect("<!-- <a href=x>", "");
    expect("<!- <a href=y>", "");
    expect("<!-<a href=x><a href=y>", "a:y");
    expect("<!><a href=y>", "a:y");
    expect("<! <a href=x> <a href=y>", "a:y");
    expect("<?php echo '<a href=x>' ?><a href=y>", "a:y");
    expect("</ <a href=x><a href=y>", "a:y");
    expect("</><a href=y>", "a:y");
    expect("</3><a href=y>", "a:y");
    expect("<3 <a href=y>", "a:y");
    expect("<!doctype html><a href=y>", "a:y");
    expect("<!DOCTYPE html PUBLIC \"a>b\" <a href=x><a href=y>", "a:x|a:y");
    expect("<!DOCTYPE html SYSTEM '><a href=y>", "a:y");
    expect("<![CDATA[ <a href=x> ]]><a href=y>", "a:y");
    expect("<![CDATA[ > <a href=x> ]]><a href=y>", "a:x|a:y");
}

static void test_raw_text(void **state)
{
    (void)state;
    static const char *const names[] = {"script", "style",   "xmp",      "iframe",
                                        "title",  "noembed", "noframes", "textarea"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char page[512];
        snprintf(page, sizeof page,
                 "<%s x='>'><a href=1></a><b></%sx></ %s></%.2s></%s <a href=2> <a href=3></%s/"
                 "a='<a href=4>'><a href=5>",
                 names[i], names[i], names[i], names[i], names[i], names[i]);
        expect(page, "a:3|a:5");
    }
    expect("<STYLE><a href=1></sTyLe><a href=2>", "a:2");
    expect("<style></styl</style><a href=2>", "a:2");
    expect("<style><</style><a href=2>", "a:2");
    expect("<style></</style><a href=2>", "a:2");
    expect("<style><!-- </style><a href=2>", "a:2");
    expect("<title>&lt;/title></title><a href=2>", "a:2");
    expect("<style/><a href=1></style><a href=2>", "a:2");
    expect("<script><a href=1>", "");
    expect("<plaintext><a href=1></plaintext><a href=2>", "");
    expect("<noscript><a href=1></noscript>", "a:1");
    expect("<template><a href=1></template>", "a:1");
    expect("<styles><a href=1>", "a:1");
}

static void test_scripts(void **state)
{
    (void)state;
    expect("<script>document.write('<a href=1><\\/a>')</script><a href=2>", "a:2");
    expect("<script>if (a<b) x()</script><a href=2>", "a:2");
    expect("<script><!-- <a href=1> --></script><a href=2>", "a:2");
    expect("<script><!-- </script><a href=2>", "a:2");
    expect("<script><!-- <script> </script><a href=1> --></script><a href=2>", "a:2");
    expect("<script><!-- <script> </script> </script><a href=2>", "a:2");
    expect("<script><!-- <script> --></script><a href=2>", "a:2");
    expect("<script><!-- <script> <script> </script> </script><a href=2>", "a:2");
    expect("<script><!-- <scripts> </script><a href=2>", "a:2");
    expect("<script><!-- <scrip> </script><a href=2>", "a:2");
    expect("<script><!-- <SCRIPT/ </scripts></script\n<a href=1></script x><a href=2>", "a:2");
    expect("<script><!-- < script> </script><a href=2>", "a:2");
    expect("<script><!-- <script </script><a href=2>", "");
    expect("<script><!-- <script-x> </script><a href=2>", "a:2");
    expect("<script><!-- <script> </script-></script> </script> <a href=2>", "a:2");
    expect("<script><!-- <script> -- ></script> <a href=1> </script><a href=2>", "a:2");
    expect("<script><!--><script></script><a href=2>", "a:2");
    expect("<script><!---><script></script><a href=2>", "a:2");
    expect("<script><!- <script></script><a href=2>", "a:2");
    expect("<script><! <script></script><a href=2>", "a:2");
    expect("<script>< !--<script></script><a href=2>", "a:2");
    expect("<script><!--<</script><a href=2>", "a:2");
    expect("<script><!--</scrip</script><a href=2>", "a:2");
    expect("<script><!--<script></</script></script><a href=2>", "a:2");
    expect("<script><!-- <script> --->-<script></script><a href=2>", "a:2");
    expect("<style><!-- <style> </style><a href=2>", "a:2");
}

static void test_foreign(void **state)
{
    (void)state;
    expect("<svg><a href=1></a></svg><a href=2>", "a:1|a:2");
    expect("<svg><a xlink:href=1></a></svg><a xlink:href=2>", "a:1");
    expect("<svg><a xlink:href=1 href=2></a></svg>", "a:2");
    expect("<svg><style><a href=1></style></svg><style><a href=2></style>", "a:1");
    expect("<svg><title><a href=1></title></svg><title><a href=2></title>", "a:1");
    expect("<svg><title>t</title><style><a href=1></style></svg>", "a:1");
    expect("<svg><title><style><a href=1></style></title></svg>", "");
    expect("<svg><script><a href=1></script></svg>", "a:1");
    expect("<svg/><style><a href=1></style><a href=2>", "a:2");
    expect("<svg><title/><style><a href=1></style></svg>", "a:1");
    expect("<svg><foreignObject><style><a href=1></style></foreignObject><style><a href=2>", "a:2");
    expect("<svg><![CDATA[<a href=1>]]><a href=2></svg><![CDATA[<a href=3>]]>", "a:2");
    expect("<svg><![CDATA[ > <a href=1> ] ]> ]]]><a href=2></svg>", "a:2");
    expect("<svg><![CDATA <a href=1>><a href=2></svg>", "a:2");
    expect("<svg><desc><![CDATA[<a href=1>]]></desc></svg>", "");
    expect("<svg><p><![CDATA[><a href=1>]]>", "a:1");
    expect("<svg></p><style><a href=1></style>", "");
    expect("<div><svg><path></div><style><a href=1></style>", "");
    expect("<svg><svg></svg><style><a href=1></style></svg><style><a href=2></style>", "a:1");
    expect("<math><mi><style><a href=1></style></mi><style><a href=2></style></math>", "a:2");
    expect("<math><annotation-xml encoding=TEXT/html><style><a href=1></style>", "");
    expect("<math><annotation-xml encoding=x><style><a href=1></style>", "a:1");
    expect("<math><annotation-xml><style><a href=1></style>", "a:1");
    expect("<svg><base href=1><area href=2><link rel=next href=3><iframe src=4></svg>", "");
    expect("<svg><plaintext><a href=1>", "a:1");
    expect("<svg><foreignObject><svg></foreignObject><style><a href=1></style></svg>"
           "<style><a href=2></style>",
           "a:1");
    expect("<svg><title><title>x</title></title><style><a href=1></style>", "a:1");
}

/* Nested deeper than the stack: links are still found, and what follows is HTML again. */
static void test_foreign_depth(void **state)
{
    (void)state;
    enum { DEPTH = 100 };
    char page[DEPTH * 11 + 256] = "";
    for (int i = 0; i < DEPTH; i++)
        strcat(page, "<svg>");
    strcat(page, "<style><a href=1></style>");
    for (int i = 0; i < DEPTH; i++)
        strcat(page, "</svg>");
    strcat(page, "<style><a href=2></style><a href=3>");
    expect(page, "a:1|a:3");
}

static void test_kinds(void **state)
{
    (void)state;
    expect("<area href=1><map><area shape=rect HREF=2 rel=nofollow></map>", "area:1|area!:2");
    expect("<link rel=next href=1><link rel='x NEXT' href=2><link rel=stylesheet href=3>"
           "<link href=4><link rel=nextx href=5>",
           "next:1|next:2");
    expect("<a rel='external nofollow' href=1><a rel=NoFollow href=2><a rel=no-follow href=3>",
           "a!:1|a!:2|a:3");
    expect("<a href=1 rel=\"a\n\tnofollow\r\nb\">", "a!:1");
    expect("<frameset><frame src=1></frameset><iframe src=2><a href=3></iframe>",
           "frame:1|frame:2");
    expect("<base><base target=x><base href=1><base href=2><a href=3>", "base:1|a:3");
    expect("<a name=x><a>", "");
}

static void test_frames_only_when_asked(void **state)
{
    (void)state;
    out o = {malloc(OUT_MAX), 0};
    assert_non_null(o.text);
    o.text[0] = '\0';
    sn_links *links = sn_links_create(&(sn_links_options){.sink = collect, .user = &o});
    assert_non_null(links);
    static const char page[] = "<iframe src=1></iframe><a href=2>";
    assert_true(sn_links_feed(links, page, sizeof page - 1));
    assert_string_equal(o.text, "a:2");
    sn_links_reset(links);
    assert_true(sn_links_feed(links, page, sizeof page - 1));
    assert_int_equal(sn_links_end(links)->links, 1);
    sn_links_destroy(links);
    free(o.text);
}

static void test_refresh(void **state)
{
    (void)state;
#define REFRESH(content) "<meta http-equiv=refresh content=\"" content "\">"
    expect(REFRESH("0;url=x"), "refresh:x");
    expect(REFRESH("0; URL = 'x y' z"), "refresh:x y");
    expect(REFRESH(" 5 , x"), "refresh:x");
    expect(REFRESH("5 x"), "refresh:x");
    expect(REFRESH(".5;x"), "refresh:x");
    expect(REFRESH("1.5.2;x"), "refresh:x");
    expect(REFRESH("0;url='x"), "refresh:x");
    expect(REFRESH("0;&quot;x&quot;"), "refresh:x");
    expect(REFRESH("0;urlx"), "refresh:urlx");
    expect(REFRESH("0;ur"), "refresh:ur");
    expect(REFRESH("0;url"), "refresh:url");
    expect(REFRESH("0;u='x'"), "refresh:u='x'");
    expect(REFRESH("0;url=url=x"), "refresh:url=x");
    expect(REFRESH("0;url="), "refresh:");
    expect(REFRESH("0"), "");
    expect(REFRESH("0;"), "");
    expect(REFRESH("0 ; "), "");
    expect(REFRESH("x"), "");
    expect(REFRESH("0x"), "");
    expect(REFRESH(""), "");
    expect("<meta content='0;url=x' HTTP-EQUIV=Refresh>", "refresh:x");
    expect("<meta name=refresh content='0;url=x'>", "");
    expect("<meta http-equiv=refresh>", "");
}

static void test_page(void **state)
{
    (void)state;
    sn_links_page about = expect("<meta name=robots content='index, NOFOLLOW'><a href=x>", "a:x");
    assert_true(about.nofollow);
    assert_false(about.noindex);
    assert_int_equal(about.links, 1);
    about = expect("<META CONTENT=none NAME=Robots>", "");
    assert_true(about.nofollow && about.noindex);
    about = expect("<meta name=googlebot content=none><meta name=robots content=all>", "");
    assert_false(about.nofollow || about.noindex);
    about = expect("<meta name=SeenBot content=noindex>", "");
    assert_true(about.noindex && !about.nofollow);
    assert_string_equal(about.charset, "");
    about = expect("<meta charset=' utf-8 '><meta charset=x>", "");
    assert_string_equal(about.charset, "utf-8");
    about = expect("<meta http-equiv=Content-Type content='text/html; charset = koi8-r; x'>", "");
    assert_string_equal(about.charset, "koi8-r");
    about = expect("<meta http-equiv=content-type content='charset charset=\"a b\"'>", "");
    assert_string_equal(about.charset, "a");
    about = expect("<meta http-equiv=content-type content='charset=&quot;a'>", "");
    assert_string_equal(about.charset, "");
    about = expect("<meta name=x content='charset=y'>", "");
    assert_string_equal(about.charset, "");
    about = expect("<title><meta charset=x></title><!--<meta name=robots content=none>-->", "");
    assert_string_equal(about.charset, "");
    assert_false(about.nofollow);
}

/* A URL of exactly the maximum length is reported; a longer one is dropped and counted, not
 * truncated. */
static void test_long_values(void **state)
{
    (void)state;
    for (int over = 0; over <= 1; over++) {
        size_t n = SN_LINKS_URL_MAX + (size_t)over;
        char *page = malloc(4 * n), *want = malloc(2 * n);
        assert_non_null(page);
        assert_non_null(want);
        int head = sprintf(page, "<a rel=nofollow href='");
        memset(page + head, 'x', n);
        sprintf(page + head + n, "' href=z><a href=y>");
        int start = sprintf(want, "a!:");
        memset(want + start, 'x', n);
        sprintf(want + start + n, "|a:y");
        sn_links_page about = expect(page, over ? "a:y" : want);
        assert_int_equal(about.dropped, over);
        assert_int_equal(about.links, 2 - over);

        head = sprintf(page, "<base href='");
        memset(page + head, 'x', n);
        sprintf(page + head + n, "'><base href=y>");
        if (over)
            assert_true(expect(page, "").base_lost);

        head = sprintf(page, "<meta http-equiv=refresh content='0;url=");
        memset(page + head, 'x', n);
        sprintf(page + head + n, "'><a href=y>");
        assert_int_equal(expect(page, "a:y").dropped, 1);

        head = sprintf(page, "<a href='&amp;");
        memset(page + head, 'x', n - 2);
        sprintf(page + head + n - 2, "&lt;'><a rel='");
        head = (int)strlen(page);
        memset(page + head, 'r', SN_LINKS_WORD_MAX);
        sprintf(page + head + SN_LINKS_WORD_MAX, " nofollow' href=&lt;>");
        start = sprintf(want, "a:&");
        memset(want + start, 'x', n - 2);
        sprintf(want + start + n - 2, "<|a:<");
        assert_int_equal(expect(page, over ? "a:<" : want).dropped, over);
        free(page);
        free(want);
    }
}

static size_t put_utf16(uint8_t *to, uint32_t code, bool big)
{
    size_t n = 0;
    uint32_t units[2] = {code, 0};
    size_t count = 1;
    if (code > 0xffff) {
        units[0] = 0xd800 + ((code - 0x10000) >> 10);
        units[1] = 0xdc00 + ((code - 0x10000) & 0x3ff);
        count = 2;
    }
    for (size_t i = 0; i < count; i++) {
        to[n++] = (uint8_t)(big ? units[i] >> 8 : units[i]);
        to[n++] = (uint8_t)(big ? units[i] : units[i] >> 8);
    }
    return n;
}

static void test_utf16(void **state)
{
    (void)state;
    static const uint32_t codes[] = {'x', 0xe9, 0x20ac, 0x1f600, 0xd800, 'y', 0xdc00, 0xd801, '>'};
    static const char want[] = "a:x\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdy\xef\xbf\xbd"
                               "\xef\xbf\xbd";
    for (int big = 0; big <= 1; big++) {
        uint8_t page[4096];
        size_t n = put_utf16(page, 0xfeff, big);
        for (int i = 0; i < 700; i++)
            n += put_utf16(page + n, ' ', big);
        for (const char *c = "<a href="; *c != '\0'; c++)
            n += put_utf16(page + n, (uint8_t)*c, big);
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            n += put_utf16(page + n, codes[i], big);
        page[n++] = '<';
        expect_bytes((const char *)page, n, want, sizeof want - 1);
    }
}

/* ASCII as UTF-16, with or without a byte order mark. */
static void expect_utf16(const char *content_type, bool mark, bool big, const char *text,
                         const char *want)
{
    uint8_t page[256];
    size_t n = mark ? put_utf16(page, 0xfeff, big) : 0;
    for (const char *c = text; *c != '\0'; c++)
        n += put_utf16(page + n, (uint8_t)*c, big);
    type = content_type;
    expect_bytes((const char *)page, n, want, strlen(want));
    type = NULL;
}

static void test_declared_utf16(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        bool little, big; /* whether it is read as such */
    } cases[] = {
        {NULL, false, false},
        {"", false, false},
        {"text/html", false, false},
        {"text/html; charset=utf-8", false, false},
        {"text/html; charset=utf-16", true, false},
        {"text/html;charset=UTF-16LE", true, false},
        {"text/html; charset=\"utf-16le\"; x=y", true, false},
        {"text/html; x=y;\tCharset=unicode , text/html", true, false},
        {"text/html; charset=ucs-2", true, false},
        {"text/html; charset=utf-16be", false, true},
        {"text/html; charset=UnicodeFFFE", false, true},
        {"text/html; charset=utf-8; charset=utf-16", false, false},
        {"text/html; xcharset=utf-16", false, false},
        {"text/html; charset=", false, false},
        {"text/html; charset=utf-16x", false, false},
        {"charset=utf-16", false, false},
    };
    static const char page[] = "<p><a href=x>", none[] = "";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_utf16(cases[i].type, false, false, page, cases[i].little ? "a:x" : none);
        expect_utf16(cases[i].type, false, true, page, cases[i].big ? "a:x" : none);
        expect_utf16(cases[i].type, true, false, page, "a:x");
        expect_utf16(cases[i].type, true, true, page, "a:x");
    }
    /* A UTF-8 byte order mark takes precedence, too, and a short page has no end to wait for. */
    type = "text/html; charset=utf-16";
    expect("\xef\xbb\xbf<a href=x>", "a:x");
    expect("\xef\xbb", "");
    type = NULL;
}

/* The beginning of an XML declaration decides if nothing else does. */
static void test_utf16_declaration(void **state)
{
    (void)state;
    for (int big = 0; big <= 1; big++) {
        expect_utf16(NULL, false, big, "<?xml?><a href=x>", "a:x");
        expect_utf16("text/html", false, big, "<?x><a href=x>", "a:x");
        expect_utf16("text/html; charset=utf-8", false, big, "<?xml?><a href=x>", "");
        expect_utf16(NULL, false, big, "<?y?><a href=x>", "");
        expect_utf16(NULL, false, big, "<?", "");
    }
    expect("<?x?><a href=x>", "a:x");
    expect_bytes("\0<a href=x>", 11, "a:x", 3);
    expect_bytes("<\0a href=x><a href=y>", 21, "a:y", 3);
}

static void test_byte_order_marks(void **state)
{
    (void)state;
    expect("\xef\xbb\xbf<a href=x>", "a:x");
    expect("\xff<a href=x>", "a:x");
    expect("\xfe<a href=x>", "a:x");
    expect("\xff", "");
    expect("\xff\xfe", "");
    expect("<a href='\xff\xfe\x80'>", "a:\xff\xfe\x80");
}

/* Irrelevant tags are skipped as a whole: a link in what looks like a value is a link. */
static void test_plain_tags(void **state)
{
    (void)state;
    /* The first byte of a page is read separately, to detect its encoding. */
    expect(".<p class=\"<a href=x>\"><a href=y>", "a:y");
    expect(".<p class='\"' id=\"'\"><a href=x>", "a:x");
    expect(".<p =\"><a href=x>\">", "a:x");
    expect(".<p a\"b><a href=x>\">", "a:x");
    expect(".<p a =\"><a href=x>\"><a href=y>", "a:y");
    expect(".<p a= \"><a href=x>\"><a href=y>", "a:y");
    expect(".<p a=\"\"b=\"><a href=x>\"><a href=y>", "a:y");
    expect(".<p a=\"\"/b=\"><a href=x>\"><a href=y>", "a:y");
    expect(".<br/><br /><br x/><br a=\"/>\"/><a href=x>", "a:x");
    expect(".</p a=\"><a href=x>\"><a href=y>", "a:y");
    expect(".<p><b><A href=x></b></p><aa href=y>", "a:x");
    expect(".<p a=\"<a href=x>", "");
}

/* Links in plain tags, and only they, are taken by the fast path. */
static void test_plain_links(void **state)
{
    (void)state;
    expect(".<a href=\"x\">", "a:x");
    expect(".<A HREF='x' title=\"y\"/>", "a:x");
    expect(".<a class=\"c\" href=\"x\" href=\"y\">", "a:x");
    expect(".<a href=\"\">", "a:");
    expect(".<a name=\"x\"><a><a hrefs=\"x\"><a hre=\"x\"><a xlink:href=\"x\">", "");
    expect(".<a href=\"x\" rel=\"nofollow\">", "a!:x");
    expect(".<a REL='nofollow' href=\"x\">", "a!:x");
    expect(".<a href=\"x\" rev=\"nofollow\"><a href=\"y\" relx=\"nofollow\">", "a:x|a:y");
    expect(".<a href=\"x\" download><a href=\"y\" href><a href>", "a:x|a:y|a:");
    expect(".<a href/>", "a:");
    expect(".<a href=\"?a&amp;b\">", "a:?a&b");
    expect(".<a href=\"0123456789abcdef?a&amp;b\">", "a:0123456789abcdef?a&b");
    expect(".<a href=\"&amp;0123456789abcdef0123456789abcdef\">",
           "a:&0123456789abcdef0123456789abcdef");
    expect(".<a href=\"a\r\nb\">", "a:a\nb");
    expect(".<a href=\"a\r0123456789abcdef\">", "a:a\n0123456789abcdef");
    expect(".<a href=\"a\nb\tc\">", "a:a\nb\tc");
    expect(".<a title=\"a&amp;b\" href=\"x\">", "a:x");
    expect(".<svg><a xlink:href=\"x\"></svg><a xlink:href=\"y\" href=\"z\">", "a:x|a:z");
    static const char page[] = ".<a href=\"a\0b\"><a href=\"\0000123456789abcdef\">";
    static const char want[] = "a:a\xef\xbf\xbd"
                               "b|a:\xef\xbf\xbd"
                               "0123456789abcdef";
    expect_bytes(page, sizeof page - 1, want, sizeof want - 1);
    /* Texts and values longer than what the fast path searches inline. */
    char long_page[600];
    for (int len = 1; len < 100; len++) {
        char value[101], expected[110];
        memset(value, 'v', sizeof value);
        value[len] = '\0';
        snprintf(long_page, sizeof long_page, ".%s<a title=\"%s\" href=\"%s\">%s", value, value,
                 value, value);
        snprintf(expected, sizeof expected, "a:%s", value);
        expect(long_page, expected);
    }
}

/* Random pages of awkward pieces: the links do not depend on how they are split. */
static void test_any_split(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "<a href=", "<a ",     "href",     "=",         "\"",        "'",          ">",
        "/",        " ",       "\r\n",     "\r",        "&amp;",     "&amp",       "&#x41",
        "&#",       "&not",    "<!--",     "-->",       "--!>",      "-",          "<script",
        "</script", "<style>", "</style>", "<!",        "<?",        "</",         "<svg>",
        "</svg>",   "<title>", "</title",  "<![CDATA[", "]]>",       "]",          "<base ",
        "rel=next", "<link ",  "<meta ",   "content",   "x",         "http-equiv", "refresh",
        "0;url=",   "<math>",  "<mi>",     "<p>",       "\xc3\xa9",  "\xff",       "<p ",
        "</td>",    "<br",     "/>",       "class=\"",  "<span i='",
    };
    out whole = {malloc(OUT_MAX), 0}, cut = {malloc(OUT_MAX), 0};
    assert_non_null(whole.text);
    assert_non_null(cut.text);
    const char *given = getenv("SEEN_TEST_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : 20260101;
    print_message("seed %llu (SEEN_TEST_SEED)\n", (unsigned long long)seed);
    size_t links = 0;
    for (int round = 0; round < 20000; round++) {
        char page[1024] = ".";
        size_t len = dice(2);
        for (uint64_t n = dice(60); n > 0; n--) {
            const char *part = parts[dice(sizeof parts / sizeof *parts)];
            memcpy(page + len, part, strlen(part));
            len += strlen(part);
        }
        sn_links_page a = read_page(page, len, WHOLE, &whole);
        sn_links_page b = read_page(page, len, round % 2 ? BYTES : RANDOM, &cut);
        links += a.links;
        if (whole.len != cut.len || memcmp(whole.text, cut.text, cut.len) != 0 ||
            a.links != b.links || a.nofollow != b.nofollow)
            fail_msg("%.*s\n  whole %s\n  cut   %s", (int)len, page, whole.text, cut.text);
    }
    assert_true(links > 1000);
    free(whole.text);
    free(cut.text);
}

/* Pathological pages: a parser that is not linear would need minutes or gigabytes. bench/links has
 * the figures. */
static void test_hostile(void **state)
{
    (void)state;
    static const struct {
        const char *head, *part, *tail;
        size_t n;
    } cases[] = {
        {"<a ", "x=1 ", ">", 100000},
        {"<a ", "href='x", ">", 300000},
        {"", "<b>", "", 300000},
        {"", "<svg>", "", 300000},
        {"", "<svg><title>", "", 300000},
        {"", "<", "", 1000000},
        {"<!--", "--!- <!--", "", 300000},
        {"<script>", "<!--<script></scrip", "", 300000},
        {"<a href='", "xxxxxxxxxxxxxxxx", "'>", 1000000},
        {"<meta name='x' content='", "&amp;&ampx&#x", "'>", 500000},
        {"<", "aaaaaaaaaaaaaaaa", "", 500000},
        {"<meta http-equiv=content-type content='", "charset ", "'>", 8000},
    };
    time_t from = time(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        out o = {malloc(OUT_MAX), 0};
        assert_non_null(o.text);
        sn_links *links = sn_links_create(&(sn_links_options){.sink = collect, .user = &o});
        assert_non_null(links);
        assert_true(sn_links_feed(links, cases[i].head, strlen(cases[i].head)));
        for (size_t k = 0; k < cases[i].n; k++)
            assert_true(sn_links_feed(links, cases[i].part, strlen(cases[i].part)));
        assert_true(sn_links_feed(links, cases[i].tail, strlen(cases[i].tail)));
        assert_true(links->room <= 4 * SN_LINKS_URL_MAX + 8 * SN_LINKS_WORD_MAX);
        sn_links_destroy(links);
        free(o.text);
    }
    assert_true(time(NULL) - from < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_first_attribute_wins),
        cmocka_unit_test(test_newlines_and_nul),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_raw_text),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_foreign_depth),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_frames_only_when_asked),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_utf16),
        cmocka_unit_test(test_declared_utf16),
        cmocka_unit_test(test_utf16_declaration),
        cmocka_unit_test(test_byte_order_marks),
        cmocka_unit_test(test_plain_tags),
        cmocka_unit_test(test_plain_links),
        cmocka_unit_test(test_any_split),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
