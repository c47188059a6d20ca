/* Handles a complete tag: links, properties of the page, and changes to raw text. */
#include "crawl/html/internal.h"

#define BIT(attr) (1u << (attr))

static enum sn_links_tag_id which_tag(const sn_links_name *name)
{
    if (name->len > 8)
        return sn_links_name_is(name, "plaintext") ? TAG_PLAINTEXT : TAG_OTHER;
    switch (name->head) {
    case N1('a'):
        return TAG_A;
    case N3('s', 'v', 'g'):
        return TAG_SVG;
    case N3('x', 'm', 'p'):
        return TAG_XMP;
    case N4('a', 'r', 'e', 'a'):
        return TAG_AREA;
    case N4('b', 'a', 's', 'e'):
        return TAG_BASE;
    case N4('l', 'i', 'n', 'k'):
        return TAG_LINK;
    case N4('m', 'e', 't', 'a'):
        return TAG_META;
    case N4('m', 'a', 't', 'h'):
        return TAG_MATH;
    case N5('f', 'r', 'a', 'm', 'e'):
        return TAG_FRAME;
    case N5('s', 't', 'y', 'l', 'e'):
        return TAG_STYLE;
    case N5('t', 'i', 't', 'l', 'e'):
        return TAG_TITLE;
    case N6('i', 'f', 'r', 'a', 'm', 'e'):
        return TAG_IFRAME;
    case N6('s', 'c', 'r', 'i', 'p', 't'):
        return TAG_SCRIPT;
    case N7('n', 'o', 'e', 'm', 'b', 'e', 'd'):
        return TAG_NOEMBED;
    case N8('n', 'o', 'f', 'r', 'a', 'm', 'e', 's'):
        return TAG_NOFRAMES;
    case N8('t', 'e', 'x', 't', 'a', 'r', 'e', 'a'):
        return TAG_TEXTAREA;
    default:
        return TAG_OTHER;
    }
}

static const uint16_t wanted[] = {
    [TAG_A] = BIT(ATTR_HREF) | BIT(ATTR_XLINK_HREF) | BIT(ATTR_REL),
    [TAG_AREA] = BIT(ATTR_HREF) | BIT(ATTR_REL),
    [TAG_BASE] = BIT(ATTR_HREF),
    [TAG_LINK] = BIT(ATTR_HREF) | BIT(ATTR_REL),
    [TAG_META] = BIT(ATTR_NAME) | BIT(ATTR_CONTENT) | BIT(ATTR_HTTP_EQUIV) | BIT(ATTR_CHARSET),
    [TAG_FRAME] = BIT(ATTR_SRC),
    [TAG_IFRAME] = BIT(ATTR_SRC),
    [TAG_PLAINTEXT] = 0,
};

void sn_links_tag_named(sn_links *t)
{
    t->tag_name = t->name;
    t->tag = (uint8_t)which_tag(&t->name);
    t->self_closing = false;
    t->want = t->have = t->over = 0;
    t->used = 0;
    if (t->end_tag)
        return;
    t->want = wanted[t->tag];
    if (t->depth > 0 && sn_links_name_is(&t->name, "annotation-xml"))
        t->want = BIT(ATTR_ENCODING);
}

uint8_t sn_links_attr_named(const sn_links *t)
{
    const sn_links_name *name = &t->name;
    if (name->len > 8) {
        if (sn_links_name_is(name, "http-equiv"))
            return ATTR_HTTP_EQUIV;
        return sn_links_name_is(name, "xlink:href") ? ATTR_XLINK_HREF : ATTR_NONE;
    }
    /* Leading NUL bytes would not change the number of a name. */
    if (name->len == 0 || name->head >> 8 * (name->len - 1) == 0)
        return ATTR_NONE;
    switch (name->head) {
    case N4('h', 'r', 'e', 'f'):
        return ATTR_HREF;
    case N3('r', 'e', 'l'):
        return ATTR_REL;
    case N3('s', 'r', 'c'):
        return ATTR_SRC;
    case N4('n', 'a', 'm', 'e'):
        return ATTR_NAME;
    case N7('c', 'o', 'n', 't', 'e', 'n', 't'):
        return ATTR_CONTENT;
    case N7('c', 'h', 'a', 'r', 's', 'e', 't'):
        return ATTR_CHARSET;
    case N8('e', 'n', 'c', 'o', 'd', 'i', 'n', 'g'):
        return ATTR_ENCODING;
    default:
        return ATTR_NONE;
    }
}

static unsigned rel_flags(const sn_links *t)
{
    sn_html_text list, word;
    unsigned flags = 0;
    if (!sn_links_get(t, ATTR_REL, &list))
        return 0;
    while (sn_html_text_word(&list, false, &word)) {
        if (sn_html_text_is(word, "nofollow"))
            flags |= SN_REL_NOFOLLOW;
        if (sn_html_text_is(word, "ugc"))
            flags |= SN_REL_UGC;
        if (sn_html_text_is(word, "sponsored"))
            flags |= SN_REL_SPONSORED;
        if (sn_html_text_is(word, "next"))
            flags |= SN_REL_NEXT;
    }
    return flags;
}

void sn_links_report(sn_links *t, sn_html_link_kind kind, sn_html_text href, unsigned rel)
{
    sn_html_link link = {.kind = kind, .rel = rel, .href = href.at, .len = href.len};
    t->page.links += kind != SN_LINK_BASE;
    t->options.sink(t->options.user, &link);
}

static void report_attr(sn_links *t, sn_html_link_kind kind, enum sn_links_attr_id id, unsigned rel)
{
    sn_html_text href;
    if (sn_links_get(t, id, &href))
        sn_links_report(t, kind, href, rel);
    else if (t->over >> id & 1)
        t->page.dropped++;
}

static void base(sn_links *t)
{
    sn_html_text href;
    if (t->base_seen || !(t->have >> ATTR_HREF & 1))
        return;
    t->base_seen = true;
    if (sn_links_get(t, ATTR_HREF, &href))
        sn_links_report(t, SN_LINK_BASE, href, 0);
    else
        t->page.base_lost = true;
}

static void begin_raw(sn_links *t, const char *name)
{
    t->state = AT_RAW;
    t->raw = name;
    t->in_title = t->tag == TAG_TITLE && !t->title_seen;
    t->title_seen = t->title_seen || t->in_title;
    t->script = t->tag == TAG_SCRIPT;
}

static void link_in_foreign(sn_links *t)
{
    bool href = t->have >> ATTR_HREF & 1;
    if (t->tag == TAG_A)
        report_attr(t, SN_LINK_A, href ? ATTR_HREF : ATTR_XLINK_HREF, rel_flags(t));
}

static void frame(sn_links *t)
{
    if (t->options.frames)
        report_attr(t, SN_LINK_FRAME, ATTR_SRC, 0);
    if (t->tag == TAG_IFRAME)
        begin_raw(t, "iframe");
}

void sn_links_tag_done(sn_links *t)
{
    static const char *const raw[] = {
        [TAG_SCRIPT] = "script",     [TAG_STYLE] = "style",       [TAG_XMP] = "xmp",
        [TAG_NOEMBED] = "noembed",   [TAG_NOFRAMES] = "noframes", [TAG_TITLE] = "title",
        [TAG_TEXTAREA] = "textarea", [TAG_PLAINTEXT] = NULL,
    };
    if (t->depth == 0 && (t->tag == TAG_OTHER || t->tag == TAG_A))
        sn_links_count_open(t);
    if (t->end_tag) {
        if (t->depth > 0)
            sn_links_leave_foreign(t);
        return;
    }
    if ((t->depth > 0 || t->tag == TAG_SVG || t->tag == TAG_MATH) && sn_links_enter_foreign(t)) {
        link_in_foreign(t);
        return;
    }
    switch (t->tag) {
    case TAG_A:
        report_attr(t, SN_LINK_A, ATTR_HREF, rel_flags(t));
        break;
    case TAG_AREA:
        report_attr(t, SN_LINK_AREA, ATTR_HREF, rel_flags(t));
        break;
    case TAG_LINK: {
        unsigned rel = rel_flags(t);
        if (rel & SN_REL_NEXT)
            report_attr(t, SN_LINK_NEXT, ATTR_HREF, rel);
        break;
    }
    case TAG_BASE:
        base(t);
        break;
    case TAG_META:
        sn_links_meta(t);
        break;
    case TAG_FRAME:
    case TAG_IFRAME:
        frame(t);
        break;
    case TAG_PLAINTEXT:
        t->state = AT_PLAINTEXT;
        break;
    default:
        if (raw[t->tag])
            begin_raw(t, raw[t->tag]);
        break;
    }
}
