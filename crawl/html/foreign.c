/* Whether the parser is inside <svg> or <math>.
 *
 * Inside <svg> and <math> a <title> or <style> is an element like any other, and CDATA exists. A
 * tree builder knows where it is; here a short stack holds the elements that decide it: <svg>,
 * <math>, and the points within them where HTML begins again (<foreignObject>, <desc> and <title>
 * of svg, <mi> and its like of math). An end tag closes the nearest of its name with all above
 * it; a tag that is HTML only, such as <div> or </p>, closes what is not HTML. Differences to a
 * tree builder remain where such elements are left open within other HTML, or nested deeper than
 * SN_FOREIGN_MAX, and for <font>, which is taken for foreign whatever its attributes. */
#include "crawl/html/internal.h"

/* The number of the name "svg". */
#define SVG ((uint64_t)'s' << 16 | 'v' << 8 | 'g')

static bool name_in(const sn_links_name *name, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        if (sn_links_name_is(name, *texts))
            return true;
    return false;
}

bool sn_links_in_foreign(const sn_links *t)
{
    return t->depth > 0 && !t->foreign[t->depth - 1].html;
}

static const char *const html_only[] = {
    "b",   "big",  "blockquote", "body",  "br",   "center", "code",  "dd",      "div",
    "dl",  "dt",   "em",         "embed", "h1",   "h2",     "h3",    "h4",      "h5",
    "h6",  "head", "hr",         "i",     "img",  "li",     "menu",  "listing", "meta",
    "ol",  "nobr", "p",          "pre",   "ruby", "s",      "small", "span",    "strong",
    "sub", "tt",   "strike",     "sup",   "u",    "ul",     "table", "var",     NULL,
};

static const char *const svg_points[] = {"foreignobject", "desc", "title", NULL};
static const char *const math_points[] = {"mi", "mo", "mn", "ms", "mtext", NULL};

static bool begins_html(const sn_links *t)
{
    sn_text encoding;
    if (t->foreign[t->depth - 1].head == SVG)
        return name_in(&t->tag_name, svg_points);
    if (name_in(&t->tag_name, math_points))
        return true;
    return sn_links_name_is(&t->tag_name, "annotation-xml") &&
           sn_links_get(t, ATTR_ENCODING, &encoding) &&
           (sn_text_is(encoding, "text/html") || sn_text_is(encoding, "application/xhtml+xml"));
}

static void push(sn_links *t, bool html)
{
    if (t->depth == SN_FOREIGN_MAX) {
        t->too_deep++;
        return;
    }
    sn_links_foreign *top = &t->foreign[t->depth++];
    top->head = t->tag_name.head;
    top->tail = t->tag_name.tail;
    top->html = html;
}

static void pop_to_html(sn_links *t)
{
    while (sn_links_in_foreign(t))
        t->depth--;
    t->too_deep = 0;
}

void sn_links_leave_foreign(sn_links *t)
{
    const sn_links_name *name = &t->tag_name;
    if (name->len == 0)
        return;
    for (uint32_t i = t->depth; i-- > 0;) {
        if (t->foreign[i].head != name->head || t->foreign[i].tail != name->tail)
            continue;
        if (t->too_deep > 0)
            t->too_deep--;
        else
            t->depth = i;
        return;
    }
    if (sn_links_in_foreign(t) && name_in(name, html_only))
        pop_to_html(t);
}

bool sn_links_enter_foreign(sn_links *t)
{
    bool root = t->tag == TAG_SVG || t->tag == TAG_MATH;
    bool within = sn_links_in_foreign(t);
    if (within && !root && name_in(&t->tag_name, html_only)) {
        pop_to_html(t);
        return false;
    }
    if (!t->self_closing) {
        if (root)
            push(t, false);
        else if (within && begins_html(t))
            push(t, true);
    }
    return within || root;
}
