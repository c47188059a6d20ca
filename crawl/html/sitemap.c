/* A byte-by-byte state machine for sitemaps. */
#include "crawl/html/sitemap.h"

#include "crawl/html/chars.h"

#include <string.h>
#include <strings.h>

enum {
    AT_START,
    AT_LINES,
    AT_CONTENT,
    AT_OPEN,    /* after "<" */
    AT_NAME,    /* of a tag */
    AT_REST,    /* of a tag, its attributes */
    AT_QUOTED,  /* within an attribute value */
    AT_BANG,    /* after "<!" */
    AT_COMMENT, /* until "-->" */
    AT_SECTION, /* CDATA, until "]]>" */
    AT_DECLARATION,
    AT_ENTITY
};

/* ---- URL ------------------------------------------------------------------------------------ */

static void keep(sn_sitemap *s, char c)
{
    if (s->len == 0 && sn_html_is_space((uint8_t)c))
        return;
    if (s->len < sizeof s->url)
        s->url[s->len++] = c;
    else if (!sn_html_is_space((uint8_t)c))
        s->too_long = true;
}

static void report(sn_sitemap *s)
{
    while (s->len > 0 && sn_html_is_space((uint8_t)s->url[s->len - 1]))
        s->len--;
    if (s->too_long)
        s->dropped++;
    else if (s->len > 0) {
        s->urls++;
        s->sink(s->user, (sn_sitemap_kind)s->kind, s->url, s->len);
    }
    s->len = 0;
    s->too_long = false;
}

/* ---- References ----------------------------------------------------------------------------- */

static uint32_t number(const char *digits, uint32_t base)
{
    uint32_t code = 0;
    if (*digits == '\0')
        return 0;
    for (; *digits != '\0'; digits++) {
        uint8_t c = sn_html_lower((uint8_t)*digits);
        uint32_t digit = c >= '0' && c <= '9' ? c - (uint32_t)'0'
                         : c >= 'a'           ? c - (uint32_t)'a' + 10
                                              : base;
        if (digit >= base || code > 0x10ffff)
            return 0;
        code = code * base + digit;
    }
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? code : 0;
}

/* The character of a reference, or 0. */
static uint32_t meaning(const char *ref)
{
    static const struct {
        const char *name;
        char c;
    } names[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    if (ref[0] == '#')
        return ref[1] == 'x' ? number(ref + 2, 16) : number(ref + 1, 10);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(ref, names[i].name) == 0)
            return (uint32_t)names[i].c;
    return 0;
}

/* An "&" that does not begin a reference is literal, which tolerates unescaped URLs. */
static void keep_literally(sn_sitemap *s)
{
    keep(s, '&');
    for (uint8_t i = 0; i < s->ref_len; i++)
        keep(s, s->ref[i]);
    s->state = AT_CONTENT;
}

static bool in_entity(sn_sitemap *s, uint8_t c)
{
    if (c == ';') {
        char utf8[4];
        s->ref[s->ref_len] = '\0';
        uint32_t code = meaning(s->ref);
        size_t n = code != 0 ? sn_html_put_utf8(code, utf8) : 0;
        if (n == 0) {
            keep_literally(s);
            return false;
        }
        for (size_t i = 0; i < n; i++)
            keep(s, utf8[i]);
        s->state = AT_CONTENT;
        return true;
    }
    bool part = sn_html_is_letter(c) || (c >= '0' && c <= '9') || c == '#';
    if (!part || s->ref_len == sizeof s->ref - 1) {
        keep_literally(s);
        return false;
    }
    s->ref[s->ref_len++] = (char)c;
    return true;
}

/* ---- Tags ----------------------------------------------------------------------------------- */

static bool is_named(const sn_sitemap *s, const char *name)
{
    return s->name_len == strlen(name) && memcmp(s->name, name, s->name_len) == 0;
}

static void begin_element(sn_sitemap *s)
{
    bool page = is_named(s, "url"), index = is_named(s, "sitemap");
    s->in_loc = s->container > 0 && s->depth == s->container && is_named(s, "loc");
    s->len = 0;
    s->too_long = false;
    if (s->empty_tag) {
        s->in_loc = false;
        return;
    }
    s->depth++;
    if (page || index) {
        s->container = s->depth;
        s->kind = index ? SN_SITEMAP_INDEX : SN_SITEMAP_PAGE;
    }
}

static void end_element(sn_sitemap *s)
{
    if (s->in_loc)
        report(s);
    s->in_loc = false;
    if (s->depth > 0)
        s->depth--;
    if (s->depth < s->container)
        s->container = 0;
}

static void finish_tag(sn_sitemap *s)
{
    s->state = AT_CONTENT;
    if (s->end_tag)
        end_element(s);
    else
        begin_element(s);
}

static void in_name(sn_sitemap *s, uint8_t c)
{
    if (c == ':')
        s->name_len = 0;
    else if (s->name_len < sizeof s->name)
        s->name[s->name_len++] = (char)c;
}

static void in_tag(sn_sitemap *s, uint8_t c)
{
    if (c == '>') {
        finish_tag(s);
        return;
    }
    if (s->state == AT_NAME && c != '/' && !sn_html_is_space(c)) {
        in_name(s, c);
        return;
    }
    s->empty_tag = c == '/';
    s->state = AT_REST;
    if (c == '"' || c == '\'') {
        s->quote = c;
        s->state = AT_QUOTED;
    }
}

static void after_open(sn_sitemap *s, uint8_t c)
{
    s->end_tag = c == '/';
    s->empty_tag = false;
    s->name_len = 0;
    s->matched = 0;
    if (c == '!')
        s->state = AT_BANG;
    else if (c == '?' || c == '>')
        s->state = c == '?' ? AT_DECLARATION : AT_CONTENT;
    else {
        s->state = AT_NAME;
        if (c != '/')
            in_name(s, c);
    }
}

/* After "<!": "--", "[CDATA[" or something that ends at ">". `matched` counts letters of CDATA; 255
 * means one dash. */
static void after_bang(sn_sitemap *s, uint8_t c)
{
    static const char cdata[] = "[CDATA[";
    enum { DASH = 255 };
    bool dash = c == '-' && (s->matched == 0 || s->matched == DASH);
    if (dash && s->matched == DASH) {
        s->state = AT_COMMENT;
        s->matched = 0;
    } else if (dash) {
        s->matched = DASH;
    } else if (s->matched != DASH && c == (uint8_t)cdata[s->matched]) {
        if (cdata[++s->matched] == '\0') {
            s->state = AT_SECTION;
            s->matched = 0;
        }
    } else {
        s->state = c == '>' ? AT_CONTENT : AT_DECLARATION;
    }
}

/* A comment or a CDATA section: `matched` counts the bytes before the ">" that would end it. */
static void in_section(sn_sitemap *s, uint8_t c, bool text)
{
    uint8_t mark = text ? ']' : '-';
    if (c == mark) {
        if (s->matched < 2)
            s->matched++;
        else if (text && s->in_loc)
            keep(s, (char)mark);
        return;
    }
    if (c == '>' && s->matched == 2) {
        s->state = AT_CONTENT;
        return;
    }
    for (; s->matched > 0; s->matched--)
        if (text && s->in_loc)
            keep(s, (char)mark);
    if (text && s->in_loc)
        keep(s, (char)c);
}

/* ---- Dispatch ------------------------------------------------------------------------------- */

static void in_content(sn_sitemap *s, uint8_t c)
{
    if (c == '<') {
        s->state = AT_OPEN;
    } else if (s->in_loc && c == '&') {
        s->state = AT_ENTITY;
        s->ref_len = 0;
    } else if (s->in_loc) {
        keep(s, (char)c);
    }
}

static void at_start(sn_sitemap *s, uint8_t c)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (s->mark < sizeof mark && c == mark[s->mark]) {
        s->mark++;
        return;
    }
    if (sn_html_is_space(c))
        return;
    s->state = c == '<' ? AT_OPEN : AT_LINES;
    if (c != '<')
        keep(s, (char)c);
}

/* A list contains absolute URLs only: other text, such as an error page instead of a sitemap, has
 * lines, too. */
static void end_line(sn_sitemap *s)
{
    static const char *const schemes[] = {"http://", "https://"};
    bool whole = false;
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        whole = whole || (s->len >= len && strncasecmp(s->url, schemes[i], len) == 0);
    }
    if (!whole) {
        s->len = 0;
        s->too_long = false;
    }
    report(s);
}

static void in_lines(sn_sitemap *s, uint8_t c)
{
    if (c == '\n' || c == '\r')
        end_line(s);
    else
        keep(s, (char)c);
}

static void read_byte(sn_sitemap *s, uint8_t c)
{
    switch (s->state) {
    case AT_START:
        at_start(s, c);
        break;
    case AT_LINES:
        in_lines(s, c);
        break;
    case AT_ENTITY:
        if (!in_entity(s, c))
            in_content(s, c);
        break;
    case AT_CONTENT:
        in_content(s, c);
        break;
    case AT_OPEN:
        after_open(s, c);
        break;
    case AT_NAME:
    case AT_REST:
        in_tag(s, c);
        break;
    case AT_QUOTED:
        if (c == s->quote)
            s->state = AT_REST;
        break;
    case AT_BANG:
        after_bang(s, c);
        break;
    case AT_COMMENT:
        in_section(s, c, false);
        break;
    case AT_SECTION:
        in_section(s, c, true);
        break;
    default:
        if (c == '>')
            s->state = AT_CONTENT;
        break;
    }
}

void sn_sitemap_begin(sn_sitemap *sitemap, sn_sitemap_sink *sink, void *user)
{
    memset(sitemap, 0, sizeof *sitemap);
    sitemap->sink = sink;
    sitemap->user = user;
}

void sn_sitemap_feed(sn_sitemap *sitemap, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++)
        read_byte(sitemap, p[i]);
}

void sn_sitemap_end(sn_sitemap *sitemap)
{
    if (sitemap->state == AT_LINES)
        end_line(sitemap);
}
