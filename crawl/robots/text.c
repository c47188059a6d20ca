/* Writes the rules for us as a robots.txt, to be stored. */
#include "crawl/robots/internal.h"

#include <stdio.h>
#include <stdlib.h>

char *sn_robots_text(const sn_robots *r, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);
    if (!out)
        return NULL;
    fputs("User-agent: *\n", out);
    for (size_t i = 0; i < r->rule_count; i++)
        fprintf(out, "%s: %.*s\n", r->rules[i].allow ? "Allow" : "Disallow", (int)r->rules[i].len,
                r->text + r->rules[i].at);
    if (r->has_delay)
        fprintf(out, "Crawl-delay: %llu.%03llu\n", (unsigned long long)(r->delay / 1000),
                (unsigned long long)(r->delay % 1000));
    for (size_t i = 0; i < r->sitemap_count; i++)
        fprintf(out, "Sitemap: %.*s\n", (int)r->sitemaps[i].len, r->text + r->sitemaps[i].at);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
