/* tests/oracle/links_dump: prints the links of pages, for comparison with another parser.
 *
 * Reads pages from standard input, each as a decimal length, a newline and that many bytes. Prints
 * the links of each page, one per line as "kind<TAB>href" with backslash, tab, newline and carriage
 * return escaped, followed by an empty line. */
#include <stdio.h>
#include <stdlib.h>

#include "crawl/html/links.h"

static void put(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        switch (text[i]) {
        case '\\':
            fputs("\\\\", stdout);
            break;
        case '\t':
            fputs("\\t", stdout);
            break;
        case '\n':
            fputs("\\n", stdout);
            break;
        case '\r':
            fputs("\\r", stdout);
            break;
        default:
            putchar(text[i]);
        }
}

static void found(void *user, const sn_html_link *link)
{
    static const char *const kinds[] = {"a", "area", "next", NULL, "frame", "base"};
    (void)user;
    if (kinds[link->kind] == NULL)
        return;
    printf("%s\t", kinds[link->kind]);
    put(link->href, link->len);
    putchar('\n');
}

int main(void)
{
    size_t len;
    sn_links *links = sn_links_create(&(sn_links_options){.sink = found, .frames = true});
    while (links != NULL && scanf("%zu", &len) == 1 && getchar() == '\n') {
        char *page = malloc(len + 1);
        if (page == NULL || fread(page, 1, len, stdin) != len)
            return 1;
        sn_links_reset(links);
        if (!sn_links_feed(links, page, len))
            return 1;
        sn_links_end(links);
        putchar('\n');
        free(page);
    }
    sn_links_destroy(links);
    return 0;
}
