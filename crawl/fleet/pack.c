/* Elements: front-coded, deflated URLs. See pack.h. */
#include "crawl/fleet/pack.h"

#include <zlib.h>

enum { DEFLATED = 1, OP_PARENT = 0, OP_URL = 1, OP_URL_WITH = 2, BODY_MAX = 16 << 20 };

/* What comes last is cheapest to refer to. Part of the format. */
static const char dictionary[] =
    ".php?id=&page=index/category/product/article/archive/author/images/static/search/forum/thread/"
    "user/news/blog/wiki/tag/20192020202120222023202420252026/index.html.aspx.jsp.xml.pdf.htm.html/"
    "en/de/fr/es.co.uk/.de/.net/.org/.com/http://https://www.";

struct sn_packer {
    z_stream deflate, inflate;
    sn_buffer plain, packed;
};

sn_packer *sn_packer_create(void)
{
    sn_packer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    /* Elements are short: a small window makes the reset before each one cheap. */
    if (deflateInit2(&p->deflate, 6, Z_DEFLATED, -12, 5, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(p);
        return NULL;
    }
    if (inflateInit2(&p->inflate, -15) != Z_OK) {
        deflateEnd(&p->deflate);
        free(p);
        return NULL;
    }
    return p;
}

void sn_packer_destroy(sn_packer *p)
{
    if (!p)
        return;
    deflateEnd(&p->deflate);
    inflateEnd(&p->inflate);
    sn_buffer_free(&p->plain);
    sn_buffer_free(&p->packed);
    free(p);
}

/* ---- packing ---- */

typedef struct last {
    const char *text;
    size_t len;
} last;

static void put_string(sn_buffer *out, last *before, const char *text, size_t len)
{
    size_t shared = 0, most = len < before->len ? len : before->len;
    while (shared < most && text[shared] == before->text[shared])
        shared++;
    sn_buffer_varint(out, shared);
    sn_buffer_varint(out, len - shared);
    sn_buffer_put(out, text + shared, len - shared);
    *before = (last){text, len};
}

static void put_body(sn_buffer *out, const sn_packer_url *urls, size_t count, size_t origin)
{
    last before = {urls[0].url, origin};
    const sn_packer_url *with = NULL, *parent = NULL;
    sn_buffer_varint(out, count);
    sn_buffer_varint(out, origin);
    sn_buffer_put(out, urls[0].url, origin);
    for (const sn_packer_url *u = urls; u < urls + count; u++) {
        bool same_page = parent ? parent->parent_len == u->parent_len &&
                                      memcmp(parent->parent, u->parent, u->parent_len) == 0
                                : u->parent_len == 0;
        if (!same_page) {
            sn_buffer_byte(out, OP_PARENT);
            put_string(out, &before, u->parent, u->parent_len);
        }
        parent = u;
        bool same =
            with && with->depth == u->depth && with->hops == u->hops && with->kind == u->kind;
        sn_buffer_byte(out, same ? OP_URL : OP_URL_WITH);
        if (!same) {
            sn_buffer_varint(out, u->depth);
            sn_buffer_byte(out, u->hops);
            sn_buffer_byte(out, u->kind);
            with = u;
        }
        put_string(out, &before, u->url, u->len);
    }
}

bool sn_packer_pack(sn_packer *p, const sn_packer_url *urls, size_t count, size_t origin,
                    sn_buffer *out)
{
    sn_buffer *plain = &p->plain, *packed = &p->packed;
    plain->len = packed->len = 0;
    put_body(plain, urls, count, origin);
    if (plain->failed || !sn_buffer_reserve(packed, plain->len))
        return false;
    z_stream *z = &p->deflate;
    deflateReset(z);
    deflateSetDictionary(z, (const Bytef *)dictionary, sizeof dictionary - 1);
    z->next_in = (Bytef *)plain->data;
    z->avail_in = (uInt)plain->len;
    z->next_out = (Bytef *)packed->data;
    z->avail_out = (uInt)plain->len;
    bool shorter = deflate(z, Z_FINISH) == Z_STREAM_END;
    sn_buffer_byte(out, shorter ? DEFLATED : 0);
    if (shorter)
        sn_buffer_put(out, packed->data, plain->len - z->avail_out);
    else
        sn_buffer_put(out, plain->data, plain->len);
    return !out->failed;
}

/* ---- unpacking ---- */

typedef struct input {
    const uint8_t *at, *end;
    bool bad;
} input;

static uint64_t get_varint(input *in)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 35 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return n;
    }
    in->bad = true;
    return 0;
}

static uint8_t get_byte(input *in)
{
    if (in->at == in->end) {
        in->bad = true;
        return 0;
    }
    return *in->at++;
}

/* Inflates into p->plain; the size of what comes out is bounded. */
static bool inflate_body(sn_packer *p, const uint8_t *bytes, size_t len)
{
    z_stream *z = &p->inflate;
    sn_buffer *plain = &p->plain;
    plain->len = 0;
    inflateReset(z);
    inflateSetDictionary(z, (const Bytef *)dictionary, sizeof dictionary - 1);
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)len;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (plain->len > BODY_MAX || !sn_buffer_reserve(plain, 4096))
            return false;
        size_t room = plain->room - plain->len;
        z->next_out = (Bytef *)plain->data + plain->len;
        z->avail_out = (uInt)room;
        status = inflate(z, Z_NO_FLUSH);
        plain->len += room - z->avail_out;
        if (status != Z_STREAM_END && (status != Z_OK || (z->avail_in == 0 && z->avail_out > 0)))
            return false;
    }
    return true;
}

/* One string, built behind those before it. There is room: text_size has counted. */
static last get_string(input *in, char **to, last before)
{
    uint64_t shared = get_varint(in), len = get_varint(in);
    if (in->bad || shared > before.len || len > (uint64_t)(in->end - in->at) ||
        shared + len > UINT16_MAX) {
        in->bad = true;
        return before;
    }
    last made = {*to, (size_t)(shared + len)};
    memcpy(*to, before.text, shared);
    memcpy(*to + shared, in->at, len);
    *to += made.len;
    in->at += len;
    return made;
}

/* The room that the strings of a body need: front coding makes it more than its length. */
static size_t text_size(input in, uint64_t count, size_t origin)
{
    size_t sum = origin;
    for (uint64_t urls = 0; urls < count && !in.bad;) {
        uint8_t op = get_byte(&in);
        if (op == OP_URL_WITH) {
            get_varint(&in);
            get_byte(&in);
            get_byte(&in);
        }
        uint64_t shared = get_varint(&in), len = get_varint(&in);
        if (op > OP_URL_WITH || in.bad || len > (uint64_t)(in.end - in.at) || shared > UINT16_MAX)
            return SIZE_MAX;
        in.at += len;
        sum += (size_t)(shared + len);
        urls += op != OP_PARENT;
        if (sum > BODY_MAX)
            return SIZE_MAX;
    }
    return in.bad ? SIZE_MAX : sum;
}

static void get_url(input *in, sn_packer_urls *u, char **to, last *before, sn_packer_url *like)
{
    uint8_t op = get_byte(in);
    if (op == OP_URL_WITH) {
        like->depth = (uint16_t)get_varint(in);
        like->hops = get_byte(in);
        like->kind = get_byte(in);
    }
    *before = get_string(in, to, *before);
    if (op == OP_PARENT) {
        like->parent = before->text;
        like->parent_len = (uint32_t)before->len;
        return;
    }
    like->url = before->text;
    like->len = (uint32_t)before->len;
    if (before->len <= u->origin_len || memcmp(before->text, u->origin, u->origin_len) != 0)
        in->bad = true;
    else
        u->url[u->count++] = *like;
}

static sn_packer_urls *unpack_body(input in)
{
    uint64_t count = get_varint(&in), origin = get_varint(&in);
    if (in.bad || count < 1 || count > SN_PACKER_URLS || origin < 1 ||
        origin > (uint64_t)(in.end - in.at))
        return NULL;
    size_t head = sizeof(sn_packer_urls) + (size_t)count * sizeof(sn_packer_url);
    input rest = {in.at + origin, in.end, false};
    size_t size = text_size(rest, count, (size_t)origin);
    sn_packer_urls *u = size == SIZE_MAX ? NULL : malloc(head + size);
    if (!u)
        return NULL;
    char *text = (char *)u + head, *to = text + origin;
    memcpy(text, in.at, (size_t)origin);
    *u = (sn_packer_urls){.origin = text, .origin_len = (size_t)origin};
    last before = {text, (size_t)origin};
    sn_packer_url like = {.parent = ""};
    while (u->count < count && !rest.bad)
        get_url(&rest, u, &to, &before, &like);
    if (rest.bad || rest.at != rest.end) {
        free(u);
        return NULL;
    }
    return u;
}

sn_packer_urls *sn_packer_unpack(sn_packer *p, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    if (len < 2 || at[0] > DEFLATED || len > BODY_MAX)
        return NULL;
    if (at[0] == 0)
        return unpack_body((input){at + 1, at + len, false});
    if (!inflate_body(p, at + 1, len - 1))
        return NULL;
    const uint8_t *plain = (const uint8_t *)p->plain.data;
    return unpack_body((input){plain, plain + p->plain.len, false});
}
