/* bench/links: the speed of finding links, side by side with libxml2 and gumbo, and whether time
 * stays linear on hostile pages.
 *
 *     build/bench/links [-l] [DIR...]
 *
 * Pages are read into memory first; each figure is the best of several runs, on one thread, in CPU
 * time. The directories are those of Debian's documentation packages unless others are given. -l:
 * only the table of hostile pages. */
#include <gumbo.h>
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crawl/html/links.h"
#include "tests/oracle/pages.h"

enum { PAGES_MAX = 20000, ROUNDS = 5 };
static const size_t total_max = (size_t)400 << 20;

typedef struct page {
    char *bytes;
    size_t len;
} page;

static page pages[PAGES_MAX];
static size_t page_count, page_bytes;

/* CPU time of this thread: other processes are not counted, except that they share caches and
 * cores. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int load(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    size_t len = strlen(path), size = (size_t)st->st_size;
    if (type != FTW_F || len < 5 || strcmp(path + len - 5, ".html") != 0)
        return 0;
    if (page_count == PAGES_MAX || page_bytes + size > total_max)
        return 0;
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(size + 1);
    if (file != NULL && bytes != NULL && fread(bytes, 1, size, file) == size) {
        pages[page_count++] = (page){bytes, size};
        page_bytes += size;
        bytes = NULL;
    }
    free(bytes);
    if (file != NULL)
        fclose(file);
    return 0;
}

/* ---- the three ---- */

static size_t found;

static void count(void *user, const sn_html_link *link)
{
    (void)user;
    found += link->kind == SN_LINK_A;
}

static void ours(const page *p)
{
    static sn_links *links;
    if (links == NULL)
        links = sn_links_create(&(sn_links_options){.sink = count});
    if (links == NULL)
        exit(2);
    sn_links_reset(links);
    for (size_t at = 0; at < p->len; at += 16384)
        sn_links_feed(links, p->bytes + at, p->len - at < 16384 ? p->len - at : 16384);
    sn_links_end(links);
}

static void start_element(void *user, const xmlChar *name, const xmlChar **attrs)
{
    (void)user;
    if (strcmp((const char *)name, "a") != 0)
        return;
    for (; attrs != NULL && attrs[0] != NULL; attrs += 2)
        found += strcmp((const char *)attrs[0], "href") == 0;
}

static void libxml2_sax(const page *p)
{
    htmlSAXHandler sax = {.startElement = start_element};
    htmlParserCtxtPtr ctxt =
        htmlCreatePushParserCtxt(&sax, NULL, p->bytes, (int)p->len, NULL, XML_CHAR_ENCODING_UTF8);
    htmlParseChunk(ctxt, NULL, 0, 1);
    htmlFreeParserCtxt(ctxt);
}

static void walk(const xmlNode *node)
{
    for (; node != NULL; node = node->next) {
        if (node->type != XML_ELEMENT_NODE)
            continue;
        if (strcmp((const char *)node->name, "a") == 0)
            for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
                found += strcmp((const char *)a->name, "href") == 0;
        walk(node->children);
    }
}

static void libxml2_tree(const page *p)
{
    int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING;
    htmlDocPtr doc = htmlReadMemory(p->bytes, (int)p->len, NULL, "utf-8", options);
    if (doc == NULL)
        return;
    walk(xmlDocGetRootElement(doc));
    xmlFreeDoc(doc);
}

static void walk_gumbo(const GumboNode *node)
{
    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
        return;
    const GumboElement *element = &node->v.element;
    if (element->tag == GUMBO_TAG_A)
        found += gumbo_get_attribute(&element->attributes, "href") != 0;
    for (unsigned i = 0; i < element->children.length; i++)
        walk_gumbo(element->children.data[i]);
}

static void gumbo(const page *p)
{
    GumboOutput *out = gumbo_parse_with_options(&kGumboDefaultOptions, p->bytes, p->len);
    walk_gumbo(out->root);
    gumbo_destroy_output(&kGumboDefaultOptions, out);
}

/* ---- real pages ---- */

/* Runs over every `step`th page, the best of `rounds`. */
static double real(const char *name, void (*parse)(const page *), size_t step, int rounds)
{
    double best = 1e9;
    size_t bytes = 0, n = 0;
    for (int round = 0; round < rounds; round++) {
        found = bytes = n = 0;
        double from = now();
        for (size_t i = 0; i < page_count; i += step, n++) {
            parse(&pages[i]);
            bytes += pages[i].len;
        }
        double took = now() - from;
        if (took < best)
            best = took;
    }
    double rate = (double)bytes / best / 1e6;
    printf("%-14s %8zu %9.1f %9.0f %10.0f %10zu\n", name, n, (double)bytes / 1e6, rate,
           (double)n / best, found);
    return rate;
}

/* ---- hostile pages ---- */

static page repeat(const char *head, const char *part, size_t n, const char *tail)
{
    size_t h = strlen(head), m = strlen(part), l = strlen(tail);
    char *bytes = malloc(h + m * n + l + 1);
    if (bytes == NULL)
        exit(2);
    memcpy(bytes, head, h);
    for (size_t i = 0; i < n; i++)
        memcpy(bytes + h + i * m, part, m);
    memcpy(bytes + h + m * n, tail, l);
    return (page){bytes, h + m * n + l};
}

static double time_of(const char *head, const char *part, size_t n, const char *tail)
{
    page p = repeat(head, part, n, tail);
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        ours(&p);
        double took = now() - from;
        if (took < best)
            best = took;
    }
    free(p.bytes);
    return best;
}

static bool hostile(void)
{
    static const struct {
        const char *name, *head, *part, *tail;
        size_t n;
    } cases[] = {
        {"attributes in a tag", "<a ", "x=1 ", ">", 100000},
        {"different attributes", "<a ", "href=a rel=b ", ">", 100000},
        {"nested tags", "", "<b>", "", 300000},
        {"nested svg", "", "<svg>", "", 300000},
        {"a million <", "", "<", "", 1000000},
        {"<! all over", "", "<!", "", 500000},
        {"open comment", "<!--", "--!- ", "", 1000000},
        {"open comment, <!--", "<!--", "<!--", "", 1000000},
        {"open script", "<script>", "</scrip", "", 500000},
        {"script in comments", "<script>", "<!--<script>", "", 300000},
        {"huge attribute", "<a href='", "xxxxxxxx", "'>", 1000000},
        {"huge references", "<a href='", "&amp;&notit;", "'>", 500000},
        {"open reference", "<a href='", "&#0000000", "'>", 500000},
        {"long reference", "<a href='&", "aaaaaaaa", "'>", 500000},
        {"long names", "<", "aaaaaaaa", "", 1000000},
        {"CDATA", "<svg><![CDATA[", "]] ]", "", 500000},
        {"refresh", "<meta http-equiv=refresh content='", "0;url=url=", "'>", 6000},
    };
    bool linear = true;
    printf("\n%-22s %10s %9s %9s %9s   4N/N\n", "hostile page", "bytes at N", "N ms", "2N ms",
           "4N ms");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double t[3];
        for (int k = 0; k < 3; k++)
            t[k] = time_of(cases[i].head, cases[i].part, cases[i].n << k, cases[i].tail);
        printf("%-22s %10zu %9.3f %9.3f %9.3f   %.2f\n", cases[i].name,
               cases[i].n * strlen(cases[i].part), t[0] * 1e3, t[1] * 1e3, t[2] * 1e3, t[2] / t[0]);
        /* Skipped content runs at the speed of the caches, then of memory: no limit for it. */
        double bytes = (double)(4 * cases[i].n * strlen(cases[i].part));
        linear &= t[2] < 8 * t[0] || bytes / t[2] > 1e9;
    }
    printf("linear: %s\n", linear ? "yes" : "NO");
    return linear;
}

int main(int argc, char **argv)
{
    bool only_hostile = argc > 1 && strcmp(argv[1], "-l") == 0;
    for (int i = 1; i < argc && !only_hostile; i++)
        nftw(argv[i], load, 32, FTW_PHYS);
    if (argc == 1)
        visit_documentation(load);
    if (page_count > 0) {
        printf("%-14s %8s %9s %9s %10s %10s\n", "", "pages", "MB", "MB/s", "pages/s", "links");
        double rate = real("seen", ours, 1, ROUNDS);
        double same = real("seen, 1 of 20", ours, 20, ROUNDS);
        double sax = real("libxml2 SAX", libxml2_sax, 20, 2);
        double tree = real("libxml2 tree", libxml2_tree, 20, 2);
        double slow = real("gumbo", gumbo, 20, 2);
        printf(
            "seen is %.0f x libxml2 SAX, %.0f x its tree, %.0f x gumbo; the bar is 500 MB/s: %s\n",
            same / sax, same / tree, same / slow, rate >= 500 ? "kept" : "MISSED");
    } else if (!only_hostile) {
        printf("no pages found: install documentation: tools/deps bench\n");
    }
    xmlCleanupParser();
    return hostile() ? 0 : 1;
}
