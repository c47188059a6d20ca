/* Elements: packing and unpacking returns the same URLs; damaged bytes are refused. */
#include "crawl/fleet/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { COUNT = SN_PACKER_URLS };

typedef struct links {
    char url[COUNT][80], parent[COUNT][60];
    sn_packer_url list[COUNT];
    size_t origin;
} links;

static void make(links *l, size_t count)
{
    l->origin = strlen("https://example.org");
    for (size_t i = 0; i < count; i++) {
        snprintf(l->url[i], sizeof l->url[i], "https://example.org/articles/2024/page-%zu.html", i);
        l->parent[i][0] = '\0';
        if (i >= 3)
            snprintf(l->parent[i], sizeof l->parent[i], "https://other.org/index-%zu", i / 10);
        l->list[i] = (sn_packer_url){.url = l->url[i],
                                     .len = (uint32_t)strlen(l->url[i]),
                                     .parent = l->parent[i],
                                     .parent_len = (uint32_t)strlen(l->parent[i]),
                                     .depth = (uint16_t)(i / 20 * 300),
                                     .hops = (uint8_t)(i == 7),
                                     .kind = (uint8_t)(i == 9)};
    }
}

static void same(const sn_packer_url *a, const sn_packer_url *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->url, b->url, a->len);
    assert_int_equal(a->parent_len, b->parent_len);
    assert_memory_equal(a->parent, b->parent, a->parent_len);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->hops, b->hops);
    assert_int_equal(a->kind, b->kind);
}

static void round_trip(void **state)
{
    (void)state;
    sn_packer *p = sn_packer_create();
    static links l;
    for (size_t count = 1; count <= COUNT; count++) {
        sn_buffer out = {0};
        make(&l, count);
        assert_true(sn_packer_pack(p, l.list, count, l.origin, &out));
        sn_packer_urls *u = sn_packer_unpack(p, out.data, out.len);
        assert_non_null(u);
        assert_int_equal(u->count, count);
        assert_int_equal(u->origin_len, l.origin);
        for (size_t i = 0; i < count; i++)
            same(&l.list[i], &u->url[i]);
        free(u);
        sn_buffer_free(&out);
    }
    sn_packer_destroy(p);
}

/* 64 similar URLs take a few bytes each. */
static void is_small(void **state)
{
    (void)state;
    static links l;
    sn_packer *p = sn_packer_create();
    sn_buffer out = {0};
    make(&l, COUNT);
    assert_true(sn_packer_pack(p, l.list, COUNT, l.origin, &out));
    assert_true(out.len < COUNT * 10);
    sn_buffer_free(&out);
    sn_packer_destroy(p);
}

/* Every truncation and every changed byte: refused, or URLs of the same origin. Never out of
 * bounds. */
static void damaged(void **state)
{
    (void)state;
    static links l;
    sn_packer *p = sn_packer_create();
    for (size_t count = 1; count <= 20; count += 19) {
        sn_buffer out = {0};
        make(&l, count);
        assert_true(sn_packer_pack(p, l.list, count, l.origin, &out));
        for (size_t len = 0; len < out.len; len++)
            assert_null(sn_packer_unpack(p, out.data, len));
        for (size_t at = 0; at < out.len * 255; at++) {
            char *byte = &out.data[at / 255], kept = *byte;
            *byte = (char)(kept + 1 + (int)(at % 255));
            sn_packer_urls *u = sn_packer_unpack(p, out.data, out.len);
            for (size_t i = 0; u && i < u->count; i++)
                assert_memory_equal(u->url[i].url, u->origin, u->origin_len);
            free(u);
            *byte = kept;
        }
        sn_buffer_free(&out);
    }
    sn_packer_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(is_small),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
