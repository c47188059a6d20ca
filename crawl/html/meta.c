/* Handles <meta>: refresh, encoding, robots. */
#include "crawl/html/internal.h"

#include <string.h>

static bool refresh_separator(uint8_t c)
{
    return c == ';' || c == ',' || sn_html_is_space(c);
}

/* Skips "url =" before the URL; if it is incomplete, the letters belong to the URL. */
static sn_html_text skip_url_word(sn_html_text in, bool *quotable)
{
    static const char url[] = "url";
    sn_html_text rest = in;
    size_t i = 0;
    while (i < 3 && rest.len > 0 && sn_html_lower((uint8_t)*rest.at) == (uint8_t)url[i]) {
        rest = sn_html_text_skip(rest, 1);
        i++;
    }
    *quotable = i == 0;
    if (i < 3)
        return in;
    rest = sn_html_text_skip_spaces(rest);
    if (rest.len == 0 || *rest.at != '=')
        return in;
    *quotable = true;
    return sn_html_text_skip_spaces(sn_html_text_skip(rest, 1));
}

/* The "shared declarative refresh steps" of the standard. False: no URL, the page reloads
 * itself. */
static bool refresh_url(sn_html_text in, sn_html_text *url)
{
    in = sn_html_text_skip_spaces(in);
    if (in.len == 0 || !((*in.at >= '0' && *in.at <= '9') || *in.at == '.'))
        return false;
    while (in.len > 0 && ((*in.at >= '0' && *in.at <= '9') || *in.at == '.'))
        in = sn_html_text_skip(in, 1);
    if (in.len == 0 || !refresh_separator((uint8_t)*in.at))
        return false;
    in = sn_html_text_skip_spaces(in);
    if (in.len > 0 && (*in.at == ';' || *in.at == ','))
        in = sn_html_text_skip_spaces(sn_html_text_skip(in, 1));
    if (in.len == 0)
        return false;
    bool quotable;
    in = skip_url_word(in, &quotable);
    if (quotable && in.len > 0 && (*in.at == '"' || *in.at == '\'')) {
        char quote = *in.at;
        in = sn_html_text_skip(in, 1);
        const char *close = in.len > 0 ? memchr(in.at, quote, in.len) : NULL;
        if (close)
            in.len = (size_t)(close - in.at);
    }
    *url = in;
    return true;
}

bool sn_links_refresh(const char *content, size_t len, const char **url, size_t *url_len)
{
    sn_html_text found;
    if (!refresh_url((sn_html_text){content, len}, &found))
        return false;
    *url = found.at;
    *url_len = found.len;
    return true;
}

static void set_charset(sn_links *t, sn_html_text label)
{
    sn_html_text word;
    if (t->page.charset[0] != '\0' || !sn_html_text_word(&label, false, &word))
        return;
    if (word.len >= sizeof t->page.charset || memchr(word.at, '\0', word.len))
        return;
    memcpy(t->page.charset, word.at, word.len);
}

/* The label after "charset=" in the content of <meta http-equiv=content-type>. */
static void content_charset(sn_links *t, sn_html_text in)
{
    static const char word[] = "charset";
    enum { LEN = sizeof word - 1 };
    for (; in.len >= LEN; in = sn_html_text_skip(in, 1)) {
        if (!sn_html_text_is((sn_html_text){in.at, LEN}, word))
            continue;
        sn_html_text rest = sn_html_text_skip_spaces(sn_html_text_skip(in, LEN));
        if (rest.len == 0 || *rest.at != '=')
            continue;
        rest = sn_html_text_skip_spaces(sn_html_text_skip(rest, 1));
        bool quoted = rest.len > 0 && (*rest.at == '"' || *rest.at == '\'');
        char quote = quoted ? *rest.at : ';';
        if (quoted)
            rest = sn_html_text_skip(rest, 1);
        const char *close = rest.len > 0 ? memchr(rest.at, quote, rest.len) : NULL;
        if (quoted && !close)
            return;
        if (close)
            rest.len = (size_t)(close - rest.at);
        set_charset(t, rest);
        return;
    }
}

static void meta_robots(sn_links *t, sn_html_text list)
{
    sn_html_text word;
    while (sn_html_text_word(&list, true, &word)) {
        bool none = sn_html_text_is(word, "none");
        t->page.nofollow |= none || sn_html_text_is(word, "nofollow");
        t->page.noindex |= none || sn_html_text_is(word, "noindex");
    }
}

void sn_links_meta(sn_links *t)
{
    sn_html_text name, content, equiv, label, word, url;
    bool has_content = sn_links_get(t, ATTR_CONTENT, &content);
    bool has_equiv = sn_links_get(t, ATTR_HTTP_EQUIV, &equiv);
    bool refresh = has_equiv && sn_html_text_is(equiv, "refresh");
    if (sn_links_get(t, ATTR_CHARSET, &label))
        set_charset(t, label);
    if (refresh && (t->over >> ATTR_CONTENT & 1))
        t->page.dropped++;
    if (!has_content)
        return;
    if (refresh && refresh_url(content, &url))
        sn_links_report(t, SN_LINK_REFRESH, url, 0);
    if (has_equiv && sn_html_text_is(equiv, "content-type"))
        content_charset(t, content);
    if (!sn_links_get(t, ATTR_NAME, &name) || !sn_html_text_word(&name, false, &word))
        return;
    const char *mine = t->options.robots_name;
    if (sn_html_text_is(word, "robots") || (mine && sn_html_text_is(word, mine)))
        meta_robots(t, content);
}
