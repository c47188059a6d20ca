/* Any page: the same links are found however it is split, none longer than the maximum, and the
 * same again when the page (its ASCII part) is in UTF-16. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/html/links.h"

/* Everything that was reported, as one byte string. */
typedef struct record {
    uint8_t *bytes;
    size_t len, room;
} record;

static void put(record *r, const void *bytes, size_t len)
{
    if (r->room - r->len < len) {
        r->room = 2 * (r->len + len);
        r->bytes = realloc(r->bytes, r->room);
        assert(r->bytes != NULL);
    }
    if (len > 0)
        memcpy(r->bytes + r->len, bytes, len);
    r->len += len;
}

static void collect(void *user, const sn_html_link *link)
{
    assert(link->len <= SN_LINKS_URL_MAX);
    put(user, &link->kind, sizeof link->kind);
    put(user, &link->rel, sizeof link->rel);
    put(user, &link->len, sizeof link->len);
    put(user, link->href, link->len);
}

static void put_page(record *r, const sn_links_page *page)
{
    bool flags[] = {page->nofollow, page->noindex, page->base_lost};
    put(r, flags, sizeof flags);
    put(r, page->charset, sizeof page->charset);
    put(r, &page->links, sizeof page->links);
    put(r, &page->dropped, sizeof page->dropped);
}

/* piece: bytes at a time; 0: as many as the data itself determines. */
static record read_page(const uint8_t *data, size_t size, size_t piece)
{
    record r = {0};
    sn_links *links = sn_links_create(&(sn_links_options){collect, &r, "bot", true});
    assert(links != NULL);
    for (size_t at = 0, n; at < size; at += n) {
        n = piece > 0 ? piece : (size_t)1 + data[at] % 13;
        if (n > size - at)
            n = size - at;
        uint8_t *copy = malloc(n);
        assert(copy != NULL);
        memcpy(copy, data + at, n);
        assert(sn_links_feed(links, copy, n));
        free(copy);
    }
    put_page(&r, sn_links_end(links));
    sn_links_destroy(links);
    return r;
}

static void expect_same(const record *a, record b)
{
    assert(a->len == b.len && memcmp(a->bytes, b.bytes, b.len) == 0);
    free(b.bytes);
}

static void check_utf16(const uint8_t *data, size_t size, bool big)
{
    uint8_t *ascii = malloc(size + 1), *wide = malloc(2 * size + 4);
    assert(ascii != NULL && wide != NULL);
    wide[0] = big ? 0xfe : 0xff;
    wide[1] = big ? 0xff : 0xfe;
    for (size_t i = 0; i <= size; i++) {
        /* A leading space, so that the bytes behind it are not detected as UTF-16. */
        ascii[i] = i == 0 ? ' ' : data[i - 1] & 0x7f;
        wide[2 + 2 * i] = big ? 0 : ascii[i];
        wide[3 + 2 * i] = big ? ascii[i] : 0;
    }
    record whole = read_page(ascii, size + 1, size + 1);
    expect_same(&whole, read_page(wide, 2 * size + 4, 0));
    free(whole.bytes);
    free(ascii);
    free(wide);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    record whole = read_page(data, size, size + 1);
    expect_same(&whole, read_page(data, size, 1));
    expect_same(&whole, read_page(data, size, 0));
    free(whole.bytes);
    check_utf16(data, size, size % 2);
    return 0;
}
