/* From lines to keys to hashes.
 *
 * Whole lines and fields are spans of the block and are hashed where they lie, some hundred at a
 * time, so that the list of spans stays in the first-level cache. Folded keys and URLs are made in
 * the block's scratch buffer, one after the other, and forgotten once hashed: everything behind
 * this room sees hashes only. */
#include "stream/pipeline/keys.h"

#include <string.h>

#include "base/error.h"
#ifndef SEEN_URL_BOUND
#include "seen.h"
#endif

enum { BATCH = 256 };

static const char *find_field(const sn_key_options *options, const char *line, size_t *len)
{
    const char *end = line + *len;
    const char *at = line;
    for (uint32_t i = 1; i < options->field; i++) {
        at = at < end ? memchr(at, options->delimiter, (size_t)(end - at)) : NULL;
        if (!at) {
            *len = 0;
            return end;
        }
        at++;
    }
    const char *stop = at < end ? memchr(at, options->delimiter, (size_t)(end - at)) : NULL;
    *len = (size_t)((stop ? stop : end) - at);
    return at;
}

static void fold_ascii(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)from[i];
        to[i] = (char)(c | (unsigned char)((unsigned char)(c - 'A') < 26 ? 0x20 : 0));
    }
}

static bool is_span(const sn_key_options *options)
{
    return !options->fold && !options->url;
}

size_t sn_keys_bound(const sn_key_options *options, size_t len)
{
    return options->url ? SEEN_URL_BOUND(len, 0) : len;
}

size_t sn_keys_parts(const sn_key_options *options, size_t others)
{
    size_t made = options->url ? SEEN_URL_BOUND(1, 0) - SEEN_URL_BOUND(0, 0) : options->fold;
    return 1 + made + others;
}

const char *sn_keys_of_line(const sn_key_options *options, const char *line, size_t len,
                            char *scratch, size_t *key_len)
{
    if (options->field)
        line = find_field(options, line, &len);
    if (options->url) {
        seen_url_options url = {.size = sizeof url, .flags = options->url_flags};
        size_t made = 0;
        seen_url_result result = seen_url_canonical(line, len, NULL, 0, &url, scratch,
                                                    sn_keys_bound(options, len), &made);
        if (result == SEEN_URL_OK) {
            line = scratch;
            len = made;
        }
    }
    if (options->fold) {
        fold_ascii(scratch, line, len);
        line = scratch;
    }
    *key_len = len;
    return line;
}

static seen_status hash_spans(const sn_key_options *options, const seen_hasher *hasher,
                              sn_block *block)
{
    seen_key keys[BATCH];
    for (size_t first = 0; first < block->lines; first += BATCH) {
        size_t count = block->lines - first < BATCH ? block->lines - first : BATCH;
        for (size_t i = 0; i < count; i++) {
            size_t len;
            const char *line = sn_block_line(block, first + i, &len);
            if (options->field)
                line = find_field(options, line, &len);
            keys[i] = (seen_key){line, len};
        }
        seen_hash_many(hasher, keys, count, block->hash + first);
    }
    return SEEN_OK;
}

static seen_status hash_made(const sn_key_options *options, const seen_hasher *hasher,
                             sn_block *block, seen_error *error)
{
    for (size_t i = 0; i < block->lines; i++) {
        size_t len, key_len;
        const char *line = sn_block_line(block, i, &len);
        seen_status status = sn_block_scratch(block, sn_keys_bound(options, len) + 1, error);
        if (status != SEEN_OK)
            return status;
        const char *key = sn_keys_of_line(options, line, len, block->scratch, &key_len);
        block->hash[i] = seen_hash_key(hasher, key, key_len);
    }
    return SEEN_OK;
}

seen_status sn_keys_hash(const sn_key_options *options, const seen_hasher *hasher, sn_block *block,
                         seen_error *error)
{
    return is_span(options) ? hash_spans(options, hasher, block)
                            : hash_made(options, hasher, block, error);
}
