/* The Link header. */
#include "crawl/html/header_link.h"

#include <string.h>
#include <strings.h>

typedef struct text {
    const char *at, *end;
} text;

static void skip_spaces(text *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
        in->at++;
}

static bool skip(text *in, char c)
{
    skip_spaces(in);
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

static text token(text *in)
{
    skip_spaces(in);
    text out = {in->at, in->at};
    while (in->at < in->end && !strchr(" \t;,=\"<>", *in->at))
        in->at++;
    out.end = in->at;
    return out;
}

/* Reads a quoted string, without the quotes. Backslashes are kept: no relation has one. */
static bool quoted(text *in, text *out)
{
    out->at = in->at;
    for (; in->at < in->end && *in->at != '"'; in->at++)
        if (*in->at == '\\' && in->at + 1 < in->end)
            in->at++;
    out->end = in->at;
    return skip(in, '"');
}

static bool is(text name, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(name.end - name.at) == len && strncasecmp(name.at, word, len) == 0;
}

static bool has_word(text list, const char *word)
{
    while (list.at < list.end) {
        skip_spaces(&list);
        text one = {list.at, list.at};
        while (list.at < list.end && *list.at != ' ' && *list.at != '\t')
            list.at++;
        one.end = list.at;
        if (is(one, word))
            return true;
    }
    return false;
}

/* Reads the parameters of one link; the first of several rel is used. False: syntax error. */
static bool read_parameters(text *in, text *rel, bool *elsewhere)
{
    bool has_rel = false;
    while (skip(in, ';')) {
        text name = token(in), value = {NULL, NULL};
        if (skip(in, '=')) {
            if (!skip(in, '"'))
                value = token(in);
            else if (!quoted(in, &value))
                return false;
        }
        if (is(name, "anchor"))
            *elsewhere = true;
        if (is(name, "rel") && !has_rel) {
            has_rel = true;
            *rel = value;
        }
    }
    return true;
}

void sn_header_link(const char *value, size_t len, sn_header_link_sink *sink, void *user)
{
    text in = {value, value + len};
    for (;;) {
        while (skip(&in, ','))
            ;
        if (!skip(&in, '<'))
            return;
        text href = {in.at, memchr(in.at, '>', (size_t)(in.end - in.at))};
        if (!href.end)
            return;
        in.at = href.end + 1;
        text rel = {NULL, NULL};
        bool elsewhere = false;
        if (!read_parameters(&in, &rel, &elsewhere))
            return;
        if (!elsewhere && has_word(rel, "next"))
            sink(user, href.at, (size_t)(href.end - href.at), has_word(rel, "nofollow"));
        skip_spaces(&in);
        if (in.at < in.end && *in.at != ',')
            return;
    }
}
