/* Tracks whether the parser is inside <svg> or <math>.
 *
 * Inside <svg> and <math>, <title> and <style> are ordinary elements, and CDATA exists. A tree
 * builder knows where it is. Here a stack holds the elements opened since the outermost <svg> or
 * <math>: foreign elements, the integration points within them where HTML begins again
 * (<foreignObject>, <desc> and <title> of svg, <mi> etc. of math), and the HTML within those. For
 * the HTML around it only a count per name is kept, to decide whether an end tag inside <svg>
 * closes an element outside of it.
 *
 * The result differs from a tree builder for elements closed without an end tag (<p> before <div>),
 * for formatting elements with a block between them and <svg> (<b><div><svg></b>), for elements
 * nested deeper than SN_FOREIGN_MAX, and for <font>, which is always treated as foreign. */
#include "crawl/html/internal.h"

static bool name_in(const sn_links_name *name, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        if (sn_links_name_is(name, *texts))
            return true;
    return false;
}

/* Start tags that end foreign content. */
static const char *const html_only[] = {
    "b",   "big",  "blockquote", "body",  "br",   "center", "code",  "dd",      "div",
    "dl",  "dt",   "em",         "embed", "h1",   "h2",     "h3",    "h4",      "h5",
    "h6",  "head", "hr",         "i",     "img",  "li",     "menu",  "listing", "meta",
    "ol",  "nobr", "p",          "pre",   "ruby", "s",      "small", "span",    "strong",
    "sub", "tt",   "strike",     "sup",   "u",    "ul",     "table", "var",     NULL,
};

/* Start tags that open no element: void, or ignored at an integration point. */
static const char *const opens_nothing[] = {
    "body",  "caption", "colgroup", "head",  "html",   "tbody", "td",    "tfoot", "th",
    "thead", "tr",      "area",     "base",  "br",     "col",   "embed", "hr",    "img",
    "input", "link",    "meta",     "param", "source", "track", "wbr",   "frame", NULL,
};

/* Elements not closed by an end tag of another name. */
static const char *const special[] = {
    "address", "article", "aside",      "blockquote", "body",   "button",   "center",  "dd",
    "details", "dir",     "div",        "dl",         "dt",     "fieldset", "figure",  "footer",
    "form",    "h1",      "h2",         "h3",         "h4",     "h5",       "h6",      "header",
    "hgroup",  "li",      "figcaption", "listing",    "main",   "marquee",  "menu",    "nav",
    "object",  "ol",      "p",          "pre",        "search", "section",  "summary", "table",
    "tbody",   "td",      "template",   "tfoot",      "th",     "thead",    "tr",      "ul",
    "select",  "applet",  "caption",    NULL,
};

static const char *const svg_points[] = {"foreignobject", "desc", "title", NULL};
static const char *const math_points[] = {"mi", "mo", "mn", "ms", "mtext", NULL};

/* ---- Surrounding HTML ----------------------------------------------------------------------- */

uint8_t *sn_links_open_count(sn_links *t, const uint8_t *name, size_t len)
{
    uint32_t at = (uint32_t)sn_html_lower(name[0]) << 24 |
                  (uint32_t)sn_html_lower(name[len - 1]) << 16 |
                  (uint32_t)sn_html_lower(name[len / 2]) << 8 | (uint32_t)len;
    return &t->open[(at * UINT32_C(2654435769)) >> (32 - SN_OPEN_BITS)];
}

static uint8_t *count_of(sn_links *t)
{
    const sn_links_name *name = &t->tag_name;
    uint8_t text[SN_NAME_MAX];
    size_t len = name->len > SN_NAME_MAX ? SN_NAME_MAX : name->len;
    for (size_t i = 0; i < len; i++) {
        size_t tail = len > 8 ? len - 8 : 0;
        size_t head = len - tail;
        uint64_t shifted =
            i < head ? name->head >> 8 * (head - 1 - i) : name->tail >> 8 * (len - 1 - i);
        text[i] = (uint8_t)shifted;
    }
    return sn_links_open_count(t, text, len);
}

void sn_links_count_open(sn_links *t)
{
    if (t->tag_name.len == 0 || t->tag_name.len > SN_NAME_MAX)
        return;
    uint8_t *count = count_of(t);
    if (!t->end_tag && *count < UINT8_MAX)
        ++*count;
    else if (t->end_tag && *count > 0)
        --*count;
}

/* ---- Stack ---------------------------------------------------------------------------------- */

static bool is_foreign(const sn_links_foreign *element)
{
    return element->kind != SN_FOREIGN_HTML;
}

bool sn_links_in_foreign(const sn_links *t)
{
    return t->depth > 0 && t->foreign[t->depth - 1].kind <= SN_FOREIGN_MATH;
}

static bool is_named(const sn_links *t, uint32_t i)
{
    return t->foreign[i].head == t->tag_name.head && t->foreign[i].tail == t->tag_name.tail;
}

static void push(sn_links *t, uint8_t kind)
{
    if (t->depth == SN_FOREIGN_MAX) {
        t->too_deep += is_named(t, t->depth - 1);
        return;
    }
    t->foreign[t->depth++] = (sn_links_foreign){t->tag_name.head, t->tag_name.tail, kind};
}

static bool is_special(const sn_links_foreign *element)
{
    sn_links_name name = {element->head, element->tail, 1};
    while (name.len < 8 && element->head >> 8 * name.len != 0)
        name.len++;
    for (uint32_t i = 0; name.len >= 8 && i < 8 && element->tail >> 8 * i != 0; i++)
        name.len++;
    return name_in(&name, special);
}

/* <annotation-xml>, in which <svg> is svg. Like an integration point it hides the elements around
 * it. */
static bool is_annotation(const sn_links_foreign *element)
{
    return element->kind != SN_FOREIGN_SVG &&
           element->head == N8('a', 'n', 'n', 'o', 't', 'a', 't', 'i') &&
           element->tail == N6('o', 'n', '-', 'x', 'm', 'l');
}

/* Pops to the nearest HTML element or integration point. */
static void pop_to_html(sn_links *t)
{
    while (sn_links_in_foreign(t))
        t->depth--;
    t->too_deep = 0;
}

/* Handles an end tag by the rules of HTML, for elements at or below `i`. Elements outside of the
 * integration points cannot be closed. */
static void end_html(sn_links *t, uint32_t i)
{
    bool reaches = name_in(&t->tag_name, special);
    for (; i-- > 0;) {
        if (t->foreign[i].kind == SN_FOREIGN_HTML && is_named(t, i)) {
            t->depth = i;
            return;
        }
        if (t->foreign[i].kind == SN_FOREIGN_POINT ||
            (!reaches && t->foreign[i].kind == SN_FOREIGN_HTML && is_special(&t->foreign[i])))
            return;
    }
    uint8_t *count = count_of(t);
    if (*count == 0 || name_in(&t->tag_name, opens_nothing))
        return;
    --*count;
    t->depth = 0;
}

void sn_links_leave_foreign(sn_links *t)
{
    uint32_t i = t->depth;
    if (t->tag_name.len == 0 || t->tag_name.len > SN_NAME_MAX)
        return;
    if (t->too_deep > 0) {
        t->too_deep -= is_named(t, t->depth - 1);
        return;
    }
    if (!is_foreign(&t->foreign[i - 1])) {
        end_html(t, i);
        return;
    }
    if (sn_links_name_is(&t->tag_name, "br") || sn_links_name_is(&t->tag_name, "p")) {
        pop_to_html(t);
        return;
    }
    bool behind_point = false;
    for (; i > 0 && is_foreign(&t->foreign[i - 1]); i--) {
        if (is_named(t, i - 1)) {
            t->depth = i - 1;
            return;
        }
        behind_point = behind_point || t->foreign[i - 1].kind == SN_FOREIGN_POINT ||
                       is_annotation(&t->foreign[i - 1]);
    }
    if (!behind_point)
        end_html(t, i);
}

/* ---- Start tags ----------------------------------------------------------------------------- */

/* The kind of a foreign element. `within`: inside another one. */
static uint8_t kind_of(const sn_links *t, bool within)
{
    sn_html_text encoding;
    if (!within)
        return t->tag == TAG_SVG ? SN_FOREIGN_SVG : SN_FOREIGN_MATH;
    if (t->foreign[t->depth - 1].kind == SN_FOREIGN_SVG)
        return name_in(&t->tag_name, svg_points) ? SN_FOREIGN_POINT : SN_FOREIGN_SVG;
    if (t->tag == TAG_SVG && is_annotation(&t->foreign[t->depth - 1]))
        return SN_FOREIGN_SVG;
    if (name_in(&t->tag_name, math_points))
        return SN_FOREIGN_POINT;
    bool point = sn_links_name_is(&t->tag_name, "annotation-xml") &&
                 sn_links_get(t, ATTR_ENCODING, &encoding) &&
                 (sn_html_text_is(encoding, "text/html") ||
                  sn_html_text_is(encoding, "application/xhtml+xml"));
    return point ? SN_FOREIGN_POINT : SN_FOREIGN_MATH;
}

bool sn_links_enter_foreign(sn_links *t)
{
    bool root = t->tag == TAG_SVG || t->tag == TAG_MATH, within = sn_links_in_foreign(t);
    if (within && name_in(&t->tag_name, html_only)) {
        pop_to_html(t);
        within = false;
        if (t->depth == 0)
            sn_links_count_open(t);
    }
    if (within || root) {
        if (!t->self_closing)
            push(t, kind_of(t, within));
        return true;
    }
    bool raw = t->tag != TAG_OTHER && t->tag != TAG_A; /* or void */
    if (t->depth > 0 && !raw && !name_in(&t->tag_name, opens_nothing))
        push(t, SN_FOREIGN_HTML);
    return false;
}
