/* WARC 1.1 records, one gzip member each. */
#include "crawl/output/warc.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <zlib.h>

/* ---- SHA-1 (FIPS 180-4): payload digests, not for security ---- */

#define SHA1_BYTES 20

typedef struct sha1 {
    uint32_t state[5];
    uint64_t len;
    uint8_t block[64];
} sha1;

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static uint32_t mix(int t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void sha1_block(sha1 *s, const uint8_t *p)
{
    uint32_t w[80], a = s->state[0], b = s->state[1], c = s->state[2], d = s->state[3],
                    e = s->state[4];
    for (int t = 0; t < 16; t++, p += 4)
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->state[0] += a;
    s->state[1] += b;
    s->state[2] += c;
    s->state[3] += d;
    s->state[4] += e;
}

static void sha1_begin(sha1 *s)
{
    *s = (sha1){{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}, 0, {0}};
}

static void sha1_add(sha1 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    while (len > 0) {
        size_t at = (size_t)(s->len % 64), n = 64 - at < len ? 64 - at : len;
        if (n == 64) {
            sha1_block(s, p);
        } else {
            memcpy(s->block + at, p, n);
            if (at + n == 64)
                sha1_block(s, s->block);
        }
        s->len += n;
        p += n;
        len -= n;
    }
}

static void sha1_end(sha1 *s, uint8_t out[SHA1_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = s->len * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha1_add(s, padding, 1 + (size_t)((119 - s->len % 64) % 64));
    sha1_add(s, length, 8);
    for (int i = 0; i < SHA1_BYTES; i++)
        out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- records ---- */

#define PIECE (32u << 10)

#define ORIGINALS 16384  /* bodies remembered for revisit records */
#define REVISIT_MIN 128u /* shorter bodies are always written */

/* The first page with a given body. */
typedef struct original {
    uint8_t digest[SHA1_BYTES];
    char *url;
    time_t date;
} original;

struct sn_warc {
    original originals[ORIGINALS];
    sn_sink *sink;
    z_stream stream;
    uint8_t out[PIECE];
    uint8_t piece[PIECE];
};

sn_warc *sn_warc_create(sn_sink *sink)
{
    sn_warc *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->sink = sink;
    /* 15 + 16: the largest window, in a gzip wrapper. */
    if (deflateInit2(&w->stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(w);
        return NULL;
    }
    return w;
}

void sn_warc_destroy(sn_warc *w)
{
    if (!w)
        return;
    deflateEnd(&w->stream);
    for (size_t i = 0; i < ORIGINALS; i++)
        free(w->originals[i].url);
    free(w);
}

static void squeeze(sn_warc *w, const void *bytes, size_t len, int flush)
{
    /* zlib does not write through next_in; it only lacks the const. */
    union {
        const void *from;
        uint8_t *to;
    } in = {bytes};
    w->stream.next_in = in.to;
    w->stream.avail_in = (uInt)len;
    do {
        w->stream.next_out = w->out;
        w->stream.avail_out = PIECE;
        deflate(&w->stream, flush);
        sn_sink_put(w->sink, w->out, PIECE - w->stream.avail_out);
    } while (w->stream.avail_out == 0);
}

static void put(sn_warc *w, const char *text)
{
    squeeze(w, text, strlen(text), Z_NO_FLUSH);
}

static void put_id(sn_warc *w)
{
    uint8_t r[16];
    char text[80];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        memset(r, 0, sizeof r);
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    snprintf(text, sizeof text,
             "WARC-Record-ID: <urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x>\r\n",
             r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13],
             r[14], r[15]);
    put(w, text);
}

static void put_date(sn_warc *w, const char *name, time_t date)
{
    char value[64];
    struct tm parts;
    gmtime_r(&date, &parts);
    strftime(value, sizeof value, ": %Y-%m-%dT%H:%M:%SZ\r\n", &parts);
    put(w, name);
    put(w, value);
}

static void begin(sn_warc *w, const char *type, time_t date)
{
    deflateReset(&w->stream);
    put(w, "WARC/1.1\r\nWARC-Type: ");
    put(w, type);
    put(w, "\r\n");
    put_id(w);
    put_date(w, "WARC-Date", date);
}

static void put_length(sn_warc *w, uint64_t length)
{
    char text[64];
    snprintf(text, sizeof text, "Content-Length: %llu\r\n", (unsigned long long)length);
    put(w, text);
}

static void finish(sn_warc *w)
{
    squeeze(w, "\r\n\r\n", 4, Z_FINISH);
}

void sn_warc_info(sn_warc *w, const char *agent)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "software: seen %s\r\nformat: WARC File Format 1.1\r\n"
                     "http-header-user-agent: %.512s\r\nrobots: obey\r\n",
                     seen_version(), agent);
    begin(w, "warcinfo", time(NULL));
    put(w, "Content-Type: application/warc-fields\r\n");
    put_length(w, (uint64_t)n);
    put(w, "\r\n");
    put(w, text);
    finish(w);
}

/* ---- HTTP headers --------------------------------------------------------------------------- */

typedef struct text {
    char *bytes;
    size_t len;
} text;

static void append(text *t, const char *bytes, size_t len)
{
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

static bool has_name(const char *line, size_t len, const char *name)
{
    size_t n = strlen(name);
    return len > n && line[n] == ':' && strncasecmp(line, name, n) == 0;
}

/* "HTTP/2 200" has no reason phrase and no minor version, which WARC readers expect. */
static void append_status(text *t, const char *line, size_t len)
{
    if (len >= 7 && memcmp(line, "HTTP/2 ", 7) == 0) {
        append(t, "HTTP/1.1 ", 9);
        line += 7;
        len -= 7;
    }
    append(t, line, len);
}

/* Rewrites the headers for a body of this length; bytes is NULL if out of memory. */
static text rewrite(const char *headers, size_t headers_len, uint64_t body, bool encoded)
{
    /* A line grows by at most 15 bytes, and is at least 2 long. */
    text t = {malloc(headers_len * 9 + 128), 0};
    if (!t.bytes)
        return t;
    for (size_t at = 0; at < headers_len;) {
        const char *line = headers + at;
        const char *end = memchr(line, '\n', headers_len - at);
        size_t len = end ? (size_t)(end - line) + 1 : headers_len - at;
        at += len;
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            len--;
        if (len == 0 || has_name(line, len, "content-length"))
            continue;
        if ((!encoded && has_name(line, len, "content-encoding")) ||
            has_name(line, len, "transfer-encoding"))
            append(&t, "X-Archive-Orig-", 15);
        if (line == headers)
            append_status(&t, line, len);
        else
            append(&t, line, len);
        append(&t, "\r\n", 2);
    }
    char last[64];
    int n = snprintf(last, sizeof last, "Content-Length: %llu\r\n\r\n", (unsigned long long)body);
    append(&t, last, (size_t)n);
    return t;
}

/* ---- Digests ---- */

/* The SHA-1 of the body, as written by other tools. */
static bool digest_body(sn_warc *w, const sn_spool *spool, uint8_t out[SHA1_BYTES])
{
    sha1 sha;
    sha1_begin(&sha);
    for (uint64_t at = 0, body = sn_spool_length(spool); at < body;) {
        long n = sn_spool_read(spool, at, w->piece, PIECE);
        if (n <= 0)
            return false;
        sha1_add(&sha, w->piece, (size_t)n);
        at += (uint64_t)n;
    }
    sha1_end(&sha, out);
    return true;
}

/* 20 bytes are exactly 32 letters. */
static void put_digest(sn_warc *w, const uint8_t digest[SHA1_BYTES])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char base32[33] = "";
    for (int i = 0; i < 32; i++) {
        int bit = i * 5, byte = bit / 8, shift = 11 - bit % 8;
        unsigned two =
            (unsigned)digest[byte] << 8 | (byte + 1 < SHA1_BYTES ? digest[byte + 1] : 0u);
        base32[i] = letters[two >> shift & 31];
    }
    put(w, "WARC-Payload-Digest: sha1:");
    put(w, base32);
    put(w, "\r\n");
}

/* An earlier page with the same body; NULL: none. Records this page. */
static const original *find_original(sn_warc *w, const sn_warc_page *page,
                                     const uint8_t digest[SHA1_BYTES])
{
    uint32_t at;
    memcpy(&at, digest, sizeof at);
    original *o = &w->originals[at % ORIGINALS];
    if (o->url && memcmp(o->digest, digest, SHA1_BYTES) == 0)
        return o;
    char *url = strndup(page->url, page->url_len);
    if (!url)
        return NULL;
    free(o->url);
    *o = (original){.url = url, .date = page->date};
    memcpy(o->digest, digest, SHA1_BYTES);
    return NULL;
}

static void put_original(sn_warc *w, const original *o)
{
    put(w, "WARC-Profile: "
           "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n");
    put(w, "WARC-Refers-To-Target-URI: ");
    put(w, o->url);
    put(w, "\r\n");
    put_date(w, "WARC-Refers-To-Date", o->date);
}

seen_status sn_warc_response(sn_warc *w, const sn_warc_page *page, seen_error *error)
{
    uint8_t digest[SHA1_BYTES];
    uint64_t body = sn_spool_length(page->body);
    if (!digest_body(w, page->body, digest))
        return sn_error_cannot_in(error, errno, -1, "read", "a temporary file");
    const original *seen =
        body < REVISIT_MIN || page->truncated ? NULL : find_original(w, page, digest);
    text headers = rewrite(page->headers, page->headers_len, body, page->encoded);
    if (!headers.bytes)
        return sn_error_memory(error);
    begin(w, seen ? "revisit" : "response", page->date);
    if (seen)
        put_original(w, seen);
    put_digest(w, digest);
    body = seen ? 0 : body;
    put(w, "WARC-Target-URI: ");
    squeeze(w, page->url, page->url_len, Z_NO_FLUSH);
    put(w, "\r\n");
    if (page->address[0] != '\0') {
        put(w, "WARC-IP-Address: ");
        put(w, page->address);
        put(w, "\r\n");
    }
    if (page->truncated) {
        put(w, "WARC-Truncated: ");
        put(w, page->truncated);
        put(w, "\r\n");
    }
    put(w, "Content-Type: application/http; msgtype=response\r\n");
    put_length(w, headers.len + body);
    put(w, "\r\n");
    squeeze(w, headers.bytes, headers.len, Z_NO_FLUSH);
    free(headers.bytes);
    for (uint64_t at = 0; at < body;) {
        long n = sn_spool_read(page->body, at, w->piece, PIECE);
        if (n <= 0)
            return sn_error_cannot_in(error, errno, -1, "read", "a temporary file");
        squeeze(w, w->piece, (size_t)n, Z_NO_FLUSH);
        at += (uint64_t)n;
    }
    finish(w);
    return SEEN_OK;
}
