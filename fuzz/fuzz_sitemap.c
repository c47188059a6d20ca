/* Any sitemap: the same URLs are found however it is split; and any text written into a sitemap
 * with correct escaping is read back. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/html/sitemap.h"

typedef struct record {
    uint8_t *bytes;
    size_t len, room, urls;
} record;

static void put(record *r, const void *bytes, size_t len)
{
    if (r->room - r->len < len) {
        r->room = 2 * (r->len + len);
        r->bytes = realloc(r->bytes, r->room);
        assert(r->bytes != NULL);
    }
    memcpy(r->bytes + r->len, bytes, len);
    r->len += len;
}

static void collect(void *user, sn_sitemap_kind kind, const char *url, size_t len)
{
    record *r = user;
    assert(len > 0 && len <= SN_SITEMAP_URL_MAX && url[0] != ' ' && url[len - 1] != ' ');
    put(r, &kind, sizeof kind);
    put(r, &len, sizeof len);
    put(r, url, len);
    r->urls++;
}

static record read_sitemap(const uint8_t *data, size_t size, size_t piece)
{
    record r = {0};
    sn_sitemap sitemap;
    sn_sitemap_begin(&sitemap, collect, &r);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        uint8_t *copy = malloc(n);
        assert(copy != NULL);
        memcpy(copy, data + at, n);
        sn_sitemap_feed(&sitemap, copy, n);
        free(copy);
    }
    sn_sitemap_end(&sitemap);
    assert(sitemap.urls == r.urls);
    put(&r, &sitemap.dropped, sizeof sitemap.dropped);
    return r;
}

/* Writes each byte literally, as a numeric reference, or in a CDATA section. */
static void check_round_trip(const uint8_t *data, size_t size)
{
    size_t room = 32 * size + 256;
    char *text = malloc(room), *want = malloc(size + 2);
    assert(text != NULL && want != NULL);
    size_t len = (size_t)sprintf(text, "<urlset><url a='>'><loc>"), n = 0;
    want[n++] = '!';
    len += (size_t)sprintf(text + len, "!");
    for (size_t i = 0; i < size; i++) {
        char c = (char)(33 + data[i] % 94);
        want[n++] = c;
        if (data[i] % 5 == 0 && c != ']')
            len += (size_t)sprintf(text + len, "<![CDATA[%c]]>", c);
        else if (data[i] % 7 == 0 || c == '<' || c == '&')
            len += (size_t)sprintf(text + len, data[i] % 2 ? "&#%d;" : "&#x%x;", c);
        else
            text[len++] = c;
    }
    len += (size_t)sprintf(text + len, "\n </loc></url></urlset>");
    record r = read_sitemap((const uint8_t *)text, len, 1 + size % 9);
    size_t head = sizeof(sn_sitemap_kind) + sizeof(size_t);
    assert(r.urls == 1 && r.len == head + n + sizeof(uint64_t));
    assert(memcmp(r.bytes + head, want, n) == 0);
    free(r.bytes);
    free(text);
    free(want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    record whole = read_sitemap(data, size, size + 1), cut = read_sitemap(data, size, 1);
    assert(whole.len == cut.len && memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    free(whole.bytes);
    free(cut.bytes);
    if (size + 1 < SN_SITEMAP_URL_MAX)
        check_round_trip(data, size);
    return 0;
}
