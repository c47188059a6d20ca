/* tests/oracle/links_oracle: compares the links we find with those of gumbo and libxml2.
 *
 *     links_oracle [-s STEP] [-r ROUNDS] [-g 1] [DIR...]
 *
 * Two comparisons, each of sets of "kind href":
 *   pages   every STEPth page of the directories (by default Debian's documentation packages):
 *           gumbo must agree exactly, libxml2 on <a href>. Pages that are not UTF-8 are skipped and
 *           counted, because gumbo changes their bytes. -g 1: without libxml2, which only knows the
 *           character references of HTML 4.
 *   soup    ROUNDS random pages of awkward pieces, compared with gumbo. The soup omits what only a
 *           tree builder can decide: <select>, <frameset>, svg left open within other HTML.
 *
 * Exit status: 0 they agree, 1 they differ, 77 no pages are installed (a skipped test). */
#include <gumbo.h>
#include <libxml/HTMLparser.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/html/links.h"
#include "tests/oracle/pages.h"

/* ---- sets of links ---- */

typedef struct set {
    char **items;
    size_t count, room;
} set;

static void add(set *s, const char *kind, const char *href, size_t len)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + 64;
        s->items = realloc(s->items, s->room * sizeof *s->items);
        if (s->items == NULL)
            abort();
    }
    size_t head = strlen(kind);
    char *item = malloc(head + 1 + len + 1);
    if (item == NULL)
        abort();
    memcpy(item, kind, head);
    item[head] = ' ';
    memcpy(item + head + 1, href, len);
    item[head + 1 + len] = '\0';
    s->items[s->count++] = item;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void settle(set *s)
{
    if (s->count == 0)
        return;
    qsort(s->items, s->count, sizeof *s->items, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (kept > 0 && strcmp(s->items[kept - 1], s->items[i]) == 0)
            free(s->items[i]);
        else
            s->items[kept++] = s->items[i];
    }
    s->count = kept;
}

static void clear(set *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i]);
    free(s->items);
    *s = (set){0};
}

static bool same(const set *a, const set *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static void show_difference(const char *name, const set *ours, const set *theirs)
{
    size_t i = 0, j = 0;
    while (i < ours->count || j < theirs->count) {
        int order = i == ours->count     ? 1
                    : j == theirs->count ? -1
                                         : strcmp(ours->items[i], theirs->items[j]);
        if (order < 0)
            fprintf(stderr, "  only ours: %s\n", ours->items[i++]);
        else if (order > 0)
            fprintf(stderr, "  only %s: %s\n", name, theirs->items[j++]);
        else
            i++, j++;
    }
}

/* ---- ours ---- */

static bool only_a;

static void found(void *user, const sn_html_link *link)
{
    static const char *const kinds[] = {"a", "area", "next", NULL, "frame", "base"};
    if (kinds[link->kind] == NULL || (only_a && link->kind != SN_LINK_A))
        return;
    add(user, kinds[link->kind], link->href, link->len);
}

static void ours(const char *bytes, size_t len, set *s)
{
    sn_links *links =
        sn_links_create(&(sn_links_options){.sink = found, .user = s, .frames = true});
    if (links == NULL || !sn_links_feed(links, bytes, len))
        abort();
    sn_links_end(links);
    sn_links_destroy(links);
    settle(s);
}

/* ---- gumbo ---- */

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = list; *p != '\0';) {
        size_t n = strcspn(p, " \t\r\n\f");
        if (n == len && strncasecmp(p, word, n) == 0)
            return true;
        p += n + (p[n] != '\0');
    }
    return false;
}

static const char *attribute(const GumboElement *element, const char *name)
{
    const GumboAttribute *a = gumbo_get_attribute(&element->attributes, name);
    return a != NULL ? a->value : NULL;
}

static bool base_found;

static void gumbo_element(const GumboElement *element, set *s)
{
    const char *href = attribute(element, "href"), *src = attribute(element, "src");
    const char *rel = attribute(element, "rel");
    bool html = element->tag_namespace == GUMBO_NAMESPACE_HTML;
    if (element->tag == GUMBO_TAG_A && href != NULL)
        add(s, "a", href, strlen(href));
    if (!html)
        return;
    if (element->tag == GUMBO_TAG_AREA && href != NULL)
        add(s, "area", href, strlen(href));
    if (element->tag == GUMBO_TAG_LINK && href != NULL && rel != NULL && has_word(rel, "next"))
        add(s, "next", href, strlen(href));
    if ((element->tag == GUMBO_TAG_FRAME || element->tag == GUMBO_TAG_IFRAME) && src != NULL)
        add(s, "frame", src, strlen(src));
    if (element->tag == GUMBO_TAG_BASE && href != NULL && !base_found) {
        base_found = true;
        add(s, "base", href, strlen(href));
    }
}

static void walk(const GumboNode *node, set *s)
{
    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
        return;
    gumbo_element(&node->v.element, s);
    for (unsigned i = 0; i < node->v.element.children.length; i++)
        walk(node->v.element.children.data[i], s);
}

static void gumbos(const char *bytes, size_t len, set *s)
{
    GumboOutput *out = gumbo_parse_with_options(&kGumboDefaultOptions, bytes, len);
    base_found = false;
    walk(out->root, s);
    gumbo_destroy_output(&kGumboDefaultOptions, out);
    settle(s);
}

/* ---- libxml2 ---- */

static void start_element(void *user, const xmlChar *name, const xmlChar **attrs)
{
    if (strcmp((const char *)name, "a") != 0)
        return;
    for (; attrs != NULL && attrs[0] != NULL; attrs += 2)
        if (strcmp((const char *)attrs[0], "href") == 0) {
            const char *value = attrs[1] != NULL ? (const char *)attrs[1] : "";
            add(user, "a", value, strlen(value));
        }
}

static void libxml2s(const char *bytes, size_t len, set *s)
{
    htmlSAXHandler sax = {.startElement = start_element};
    htmlParserCtxtPtr ctxt =
        htmlCreatePushParserCtxt(&sax, s, bytes, (int)len, NULL, XML_CHAR_ENCODING_UTF8);
    if (ctxt == NULL)
        abort();
    htmlParseChunk(ctxt, NULL, 0, 1);
    htmlFreeParserCtxt(ctxt);
    settle(s);
}

/* ---- pages ---- */

static bool only_gumbo;
static size_t step = 25, seen_pages, compared, links, excluded_bytes, wrong;

static bool is_utf8(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t more = p[i] < 0x80       ? 0
                      : p[i] >> 5 == 6  ? 1
                      : p[i] >> 4 == 14 ? 2
                      : p[i] >> 3 == 30 ? 3
                                        : 9;
        if (more == 9 || i + more >= len)
            return false;
        for (i++; more > 0; more--, i++)
            if (p[i] >> 6 != 2)
                return false;
    }
    return true;
}

static bool compare(const char *name, const char *what, const char *bytes, size_t len,
                    void (*theirs)(const char *, size_t, set *), bool a_only)
{
    set a = {0}, b = {0};
    only_a = a_only;
    ours(bytes, len, &a);
    theirs(bytes, len, &b);
    bool agree = same(&a, &b);
    if (!agree) {
        fprintf(stderr, "%s: we and %s differ\n", what, name);
        show_difference(name, &a, &b);
        wrong++;
    }
    links += a.count;
    clear(&a);
    clear(&b);
    return agree;
}

static int one_page(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    size_t n = strlen(path), len = (size_t)st->st_size;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".html") != 0)
        return 0;
    if (seen_pages++ % step != 0)
        return 0;
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(len + 1);
    if (file != NULL && bytes != NULL && fread(bytes, 1, len, file) == len) {
        if (!is_utf8((const uint8_t *)bytes, len)) {
            excluded_bytes++;
        } else {
            compared++;
            compare("gumbo", path, bytes, len, gumbos, false);
            if (!only_gumbo)
                compare("libxml2", path, bytes, len, libxml2s, true);
        }
    }
    free(bytes);
    if (file != NULL)
        fclose(file);
    return 0;
}

/* ---- soup ---- */

static uint64_t seed = 42;

static uint64_t dice(uint64_t sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % sides;
}

static const char *const parts[] = {
    "<a href=",  "<a ",        " href",      "=",           "\"",
    "'",         ">",          "/",          " ",           "\r\n",
    "\r",        "&amp;",      "&amp",       "&#x41",       "&#",
    "&not",      "&notin;",    "&copy",      "&#128;",      "&lt",
    ";",         "-",          "->",         "<!--",        "-->",
    "--!>",      "<!-->",      "<script>",   "<script",     "</script",
    "</script>", "<style>",    "</style>",   "</style ",    "<title>",
    "</title>",  "</title/",   "<textarea>", "</textarea>", "<xmp>",
    "</xmp>",    "<!",         "<?",         "</",          "<",
    "<!doctype", "x",          "href",       "<area href=", "<iframe src='y'>",
    "</iframe>", "<noscript>", "<p>",        "</p>",        "<b>",
    "<noembed>", "</noembed>", "\t",         "<a href='",   "<a href=\"",
    "'>",        "\">",        "\xc3\xa9",   "&AElig",      "&ngE;",
};

static void soup(unsigned rounds)
{
    for (unsigned round = 0; round < rounds && wrong < 10; round++) {
        char page[2048] = "<!doctype html><body>";
        size_t len = strlen(page);
        for (uint64_t n = dice(40); n > 0; n--) {
            const char *part = parts[dice(sizeof parts / sizeof *parts)];
            memcpy(page + len, part, strlen(part));
            len += strlen(part);
        }
        page[len] = '\0';
        compare("gumbo", page, page, len, gumbos, false);
    }
}

int main(int argc, char **argv)
{
    unsigned rounds = 20000;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (argv[at][1] == 's')
            step = strtoul(argv[at + 1], NULL, 10);
        if (argv[at][1] == 'g')
            only_gumbo = true;
        if (argv[at][1] == 'r')
            rounds = (unsigned)strtoul(argv[at + 1], NULL, 10);
    }
    if (step == 0)
        step = 1;
    if (at == argc)
        visit_documentation(one_page);
    for (; at < argc; at++)
        nftw(argv[at], one_page, 32, FTW_PHYS);
    size_t page_links = links;
    soup(rounds);
    printf("%zu pages (%zu links) and %u soups (%zu links) compared, %zu differ; "
           "%zu pages left out because they are not UTF-8\n",
           compared, page_links, rounds, links - page_links, wrong, excluded_bytes);
    xmlCleanupParser();
    if (wrong > 0)
        return 1;
    if (compared > 0)
        return 0;
    printf("skipped: no pages; install documentation: tools/deps bench\n");
    return 77;
}
