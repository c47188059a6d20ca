/* Skipped content: comments, declarations, CDATA, the raw text of <style>, <title> etc., and
 * scripts with their nested comments.
 *
 * Only the end of each has to be found. A doctype ends at the first ">" in all of its states,
 * quotes or not, like a bogus comment; the states of "<" and "<!" within a comment only report
 * errors. So these need no states of their own. */
#include "crawl/html/internal.h"

#include <string.h>

static const uint8_t *find(const uint8_t *p, const uint8_t *end, int byte)
{
    return memchr(p, byte, (size_t)(end - p));
}

/* Changes to a state and consumes this byte. */
static const uint8_t *go(sn_links *t, enum sn_links_state state, const uint8_t *p)
{
    t->state = (uint8_t)state;
    return p + 1;
}

/* Changes to a state that reads this byte again. */
static const uint8_t *again(sn_links *t, enum sn_links_state state, const uint8_t *p)
{
    t->state = (uint8_t)state;
    return p;
}

/* Skips past the next occurrence of a byte. */
static const uint8_t *skip_past(sn_links *t, const uint8_t *p, const uint8_t *end, int byte,
                                enum sn_links_state state)
{
    const uint8_t *found = find(p, end, byte);
    return found ? go(t, state, found) : end;
}

static const uint8_t *in_markup(sn_links *t, const uint8_t *p)
{
    static const char cdata[] = "[CDATA[";
    if (t->state == AT_MARKUP_DASH)
        return *p == '-' ? go(t, AT_COMMENT_START, p) : again(t, AT_BOGUS, p);
    if (t->state == AT_MARKUP_CDATA) {
        if (*p != (uint8_t)cdata[t->matched])
            return again(t, AT_BOGUS, p);
        t->matched++;
        return go(t, cdata[t->matched] == '\0' ? AT_CDATA : AT_MARKUP_CDATA, p);
    }
    if (*p == '-')
        return go(t, AT_MARKUP_DASH, p);
    if (*p != '[' || !sn_links_in_foreign(t))
        return again(t, AT_BOGUS, p);
    t->matched = 1;
    return go(t, AT_MARKUP_CDATA, p);
}

static const uint8_t *in_comment(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_COMMENT_START:
        if (*p == '>')
            return go(t, AT_TEXT, p);
        return *p == '-' ? go(t, AT_COMMENT_START_DASH, p) : again(t, AT_COMMENT, p);
    case AT_COMMENT_START_DASH:
        if (*p == '>')
            return go(t, AT_TEXT, p);
        return *p == '-' ? go(t, AT_COMMENT_DASHES, p) : again(t, AT_COMMENT, p);
    case AT_COMMENT_DASH:
        return *p == '-' ? go(t, AT_COMMENT_DASHES, p) : again(t, AT_COMMENT, p);
    case AT_COMMENT_DASHES:
        if (*p == '>')
            return go(t, AT_TEXT, p);
        if (*p == '!')
            return go(t, AT_COMMENT_BANG, p);
        return *p == '-' ? p + 1 : again(t, AT_COMMENT, p);
    case AT_COMMENT_BANG:
        if (*p == '>')
            return go(t, AT_TEXT, p);
        return *p == '-' ? go(t, AT_COMMENT_DASH, p) : again(t, AT_COMMENT, p);
    default:
        return skip_past(t, p, end, '-', AT_COMMENT_DASH);
    }
}

static const uint8_t *in_cdata(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_CDATA_BRACKET:
        return *p == ']' ? go(t, AT_CDATA_BRACKETS, p) : again(t, AT_CDATA, p);
    case AT_CDATA_BRACKETS:
        if (*p == '>')
            return go(t, AT_TEXT, p);
        return *p == ']' ? p + 1 : again(t, AT_CDATA, p);
    default:
        return skip_past(t, p, end, ']', AT_CDATA_BRACKET);
    }
}

/* After "</" in raw text: only the end tag of the same element ends it. */
static const uint8_t *in_raw_end(sn_links *t, const uint8_t *p)
{
    enum sn_links_state back = t->raw_escaped ? AT_ESCAPED : AT_RAW;
    if (t->raw[t->matched] != '\0') {
        if (sn_html_lower(*p) != (uint8_t)t->raw[t->matched])
            return again(t, back, p);
        t->matched++;
        return p + 1;
    }
    if (*p == '>')
        return go(t, AT_TEXT, p);
    if (*p != '/' && !sn_html_is_space(*p))
        return again(t, back, p);
    /* It may have attributes, like any end tag: it is read as an end tag without a name, which
     * closes nothing else. */
    t->name = (sn_links_name){0, 0, 0};
    t->end_tag = true;
    sn_links_tag_named(t);
    return go(t, *p == '/' ? AT_SELF_CLOSING : AT_BEFORE_ATTR, p);
}

static const uint8_t *in_raw(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_RAW_LT:
        t->matched = 0;
        t->raw_escaped = false;
        if (*p == '/')
            return go(t, AT_RAW_END, p);
        return *p == '!' && t->script ? go(t, AT_SCRIPT_BANG, p) : again(t, AT_RAW, p);
    case AT_RAW_END:
        return in_raw_end(t, p);
    case AT_SCRIPT_BANG:
        return *p == '-' ? go(t, AT_SCRIPT_BANG_DASH, p) : again(t, AT_RAW, p);
    case AT_SCRIPT_BANG_DASH:
        t->double_escaped = false;
        return *p == '-' ? go(t, AT_ESCAPED_DASHES, p) : again(t, AT_RAW, p);
    default:
        if (t->in_title)
            sn_links_title_add(t, p, end);
        return skip_past(t, p, end, '<', AT_RAW_LT);
    }
}

/* After "<" within "<!--" of a script. */
static const uint8_t *in_escaped_lt(sn_links *t, const uint8_t *p)
{
    t->matched = 0;
    t->escape_end = t->double_escaped;
    t->raw_escaped = true;
    if (*p == '/')
        return go(t, t->double_escaped ? AT_ESCAPED_NAME : AT_RAW_END, p);
    if (!t->double_escaped && sn_html_is_letter(*p))
        return again(t, AT_ESCAPED_NAME, p);
    return again(t, AT_ESCAPED, p);
}

/* "<script" within "<!--" opens a nested script, whose "</script" does not close the outer one. */
static const uint8_t *in_escaped_name(sn_links *t, const uint8_t *p)
{
    static const char script[] = "script";
    enum { LETTERS = sizeof script - 1, NOT_IT = 255 };
    if (sn_html_is_letter(*p)) {
        bool goes_on = t->matched < LETTERS && sn_html_lower(*p) == (uint8_t)script[t->matched];
        t->matched = goes_on ? (uint8_t)(t->matched + 1) : NOT_IT;
        return p + 1;
    }
    if (*p != '/' && *p != '>' && !sn_html_is_space(*p))
        return again(t, AT_ESCAPED, p);
    if (t->matched == LETTERS)
        t->double_escaped = !t->escape_end;
    return go(t, AT_ESCAPED, p);
}

static const uint8_t *in_escaped(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_ESCAPED_LT:
        return in_escaped_lt(t, p);
    case AT_ESCAPED_NAME:
        return in_escaped_name(t, p);
    case AT_ESCAPED_DASHES:
        if (*p == '>')
            return go(t, AT_RAW, p);
        if (*p == '-')
            return p + 1;
        break;
    case AT_ESCAPED_DASH:
        if (*p == '-')
            return go(t, AT_ESCAPED_DASHES, p);
        break;
    default:
        break;
    }
    t->state = AT_ESCAPED;
    while (p < end && *p != '-' && *p != '<')
        p++;
    return p == end ? p : go(t, *p == '-' ? AT_ESCAPED_DASH : AT_ESCAPED_LT, p);
}

const uint8_t *sn_links_skip(sn_links *t, const uint8_t *p, const uint8_t *end)
{
    switch (t->state) {
    case AT_MARKUP:
    case AT_MARKUP_DASH:
    case AT_MARKUP_CDATA:
        return in_markup(t, p);
    case AT_BOGUS:
        return skip_past(t, p, end, '>', AT_TEXT);
    case AT_CDATA:
    case AT_CDATA_BRACKET:
    case AT_CDATA_BRACKETS:
        return in_cdata(t, p, end);
    case AT_RAW:
    case AT_RAW_LT:
    case AT_RAW_END:
    case AT_SCRIPT_BANG:
    case AT_SCRIPT_BANG_DASH:
        return in_raw(t, p, end);
    case AT_ESCAPED:
    case AT_ESCAPED_DASH:
    case AT_ESCAPED_DASHES:
    case AT_ESCAPED_LT:
    case AT_ESCAPED_NAME:
        return in_escaped(t, p, end);
    case AT_PLAINTEXT:
        return end;
    default:
        return in_comment(t, p, end);
    }
}
