/* From records to keys to hashes.
 *
 * Whole lines and plain fields are substrings of the block and are hashed in place, a few hundred
 * at a time, so that the list of keys stays in the L1 cache. Keys that have to be built (several
 * values, case folding, URLs) are appended to the block's scratch buffer and discarded after
 * hashing: everything after this stage sees only hashes. */
#include "stream/pipeline/keys.h"

#include "stream/io/lines.h"
#include "stream/record/values.h"

#include <string.h>

enum { BATCH = 256, SCRATCH_MAX = 256 << 10 };

/* The key of a record whose only value is missing. Not valid UTF-8, so no text equals it. */
static const char MISSING[] = "\xff\xff\xff\xff missing";

static bool is_changed(const sn_keys_options *options)
{
    return options->fold || options->url;
}

static void fold_ascii(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        to[i] = (char)(c | (unsigned char)((unsigned char)(c - 'A') < 26 ? 0x20 : 0));
    }
}

size_t sn_keys_bound(const sn_keys_options *options, size_t length)
{
    return options->url ? SEEN_URL_BOUND(length, 0) : length;
}

size_t sn_keys_parts(const sn_keys_options *options, size_t others)
{
    size_t made = options->url ? SEEN_URL_BOUND(1, 0) - SEEN_URL_BOUND(0, 0) : options->fold;
    const sn_record_spec *record = options->record;
    if (record && record->kind != SN_RECORD_LINES)
        made += 2; /* unquoted values, and their concatenation */
    return 1 + made + others;
}

const char *sn_keys_of_value(const sn_keys_options *options, const char *value, size_t length,
                             char *scratch, size_t *key_length)
{
    if (options->url) {
        const seen_url_options *given = options->url_options.size ? &options->url_options : NULL;
        size_t made = 0;
        seen_url_result result = seen_url_canonical(value, length, NULL, 0, given, scratch,
                                                    sn_keys_bound(options, length), &made);
        if (result == SEEN_URL_OK) {
            value = scratch;
            length = made;
        }
    }
    if (options->fold) {
        fold_ascii(scratch, value, length);
        value = scratch;
    }
    *key_length = length;
    return value;
}

/* ---- Plain lines and fields ----------------------------------------------------------------- */

static inline const char *find_field(const sn_record_spec *record, const char *line, size_t *length)
{
    const char *end = line + *length, *at = line;
    sn_columns want = record->part[0].columns;
    for (uint32_t i = 1; i < want.first; i++) {
        at = at < end ? memchr(at, record->delimiter, (size_t)(end - at)) : NULL;
        if (!at) {
            *length = 0;
            return end;
        }
        at++;
    }
    const char *stop = at;
    for (uint32_t i = want.first; stop && i <= want.last; i++) {
        stop = stop < end ? memchr(stop, record->delimiter, (size_t)(end - stop)) : NULL;
        stop = stop ? stop + 1 : NULL;
    }
    *length = (size_t)((stop ? stop - 1 : end) - at);
    return at;
}

static bool is_span(const sn_keys_options *options)
{
    const sn_record_spec *record = options->record;
    return !is_changed(options) &&
           (!record || (record->kind == SN_RECORD_LINES && record->parts <= 1));
}

static void note_quote(const sn_keys_options *options, bool quoted)
{
    if (quoted && options->quoted)
        atomic_store_explicit(options->quoted, true, memory_order_relaxed);
}

static seen_status hash_spans(const sn_keys_options *options, const seen_hasher *hasher,
                              sn_block *block)
{
    const sn_record_spec *fields =
        options->record && options->record->parts ? options->record : NULL;
    bool crlf = options->record && options->record->crlf;
    seen_key keys[BATCH];
    bool quoted = false;
    for (size_t first = 0; first < block->lines; first += BATCH) {
        size_t count = block->lines - first < BATCH ? block->lines - first : BATCH;
        for (size_t i = 0; i < count; i++) {
            size_t length;
            const char *line = sn_block_line(block, first + i, &length);
            length -= crlf && length && line[length - 1] == '\r';
            if (fields) {
                line = find_field(fields, line, &length);
                quoted |= length && *line == '"';
            }
            keys[i] = (seen_key){line, length};
        }
        seen_hash_many(hasher, keys, count, block->hash + first);
    }
    note_quote(options, quoted);
    return SEEN_OK;
}

/* ---- Built keys ----------------------------------------------------------------------------- */

/* Keys to be hashed together. */
typedef struct batch {
    const seen_hasher *hasher;
    sn_block *block;
    size_t first, count;
    size_t used; /* of the scratch */
    seen_key
        key[BATCH]; /* data NULL: at `offset` of the scratch buffer, which moves when it grows */
    size_t offset[BATCH];
} batch;

static void hash_batch(batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (!b->key[i].data)
            b->key[i].data = (const char *)b->block->scratch + b->offset[i];
    seen_hash_many(b->hasher, b->key, b->count, b->block->hash + b->first);
    b->first += b->count;
    b->count = b->used = 0;
}

/* Appends the bytes of one value to the current key. */
static seen_status put_value(batch *b, const sn_keys_options *options, const sn_value *value,
                             size_t *length, seen_error *error)
{
    size_t made = value->length;
    seen_status status =
        sn_block_scratch_grow(b->block, b->used + sn_keys_bound(options, made) + 8, error);
    if (status != SEEN_OK)
        return status;
    char *to = (char *)b->block->scratch + b->used;
    const char *key = sn_keys_of_value(options, value->at, value->length, to, &made);
    if (key != to && made)
        memcpy(to, key, made);
    b->used += made;
    *length = made;
    return SEEN_OK;
}

static seen_status put_length(batch *b, uint32_t length, seen_error *error)
{
    seen_status status = sn_block_scratch_grow(b->block, b->used + sizeof length, error);
    if (status == SEEN_OK)
        memcpy((char *)b->block->scratch + b->used, &length, sizeof length);
    b->used += sizeof length;
    return status;
}

/* The same for values that need no conversion. */
static seen_status copy_list(batch *b, const sn_values *values, seen_error *error)
{
    size_t need = b->used;
    for (size_t i = 0; i < values->count; i++)
        need += sizeof(uint32_t) + values->value[i].length;
    seen_status status = sn_block_scratch_grow(b->block, need, error);
    if (status != SEEN_OK)
        return status;
    char *to = (char *)b->block->scratch + b->used;
    for (size_t i = 0; i < values->count; i++) {
        const sn_value *value = &values->value[i];
        uint32_t length = value->at ? (uint32_t)value->length : UINT32_MAX;
        memcpy(to, &length, sizeof length);
        to += sizeof length;
        if (value->at)
            memcpy(to, value->at, value->length);
        to += value->length;
    }
    b->used = need;
    return SEEN_OK;
}

/* Appends each value, preceded by its length. */
static seen_status make_list(batch *b, const sn_keys_options *options, const sn_values *values,
                             seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < values->count && status == SEEN_OK; i++) {
        const sn_value *value = &values->value[i];
        size_t at = b->used, length;
        status = put_length(b, UINT32_MAX, error);
        if (status != SEEN_OK || !value->at)
            continue;
        status = put_value(b, options, value, &length, error);
        if (status != SEEN_OK)
            break;
        uint32_t short_length = (uint32_t)length; /* a record is shorter than 4 GiB */
        memcpy((char *)b->block->scratch + at, &short_length, sizeof short_length);
    }
    return status;
}

/* Adds the key of a record to the batch. */
static seen_status make_key(batch *b, const sn_keys_options *options, const sn_values *values,
                            bool in_text, seen_error *error)
{
    const sn_value *only = values->value;
    size_t from = b->used;
    bool single = !options->record || sn_spec_is_single(options->record);
    seen_status status = SEEN_OK;
    b->offset[b->count] = from;
    b->key[b->count].data = NULL;
    if (!single) {
        status = is_changed(options) ? make_list(b, options, values, error)
                                     : copy_list(b, values, error);
        b->key[b->count].len = b->used - from;
    } else if (!only->at)
        b->key[b->count] = (seen_key){MISSING, sizeof MISSING - 1};
    else if (!is_changed(options) && !in_text)
        b->key[b->count] = (seen_key){only->at, only->length};
    else
        status = put_value(b, options, only, &b->key[b->count].len, error);
    b->count++;
    return status;
}

static seen_status hash_made(const sn_keys_options *options, const seen_hasher *hasher,
                             sn_block *block, seen_error *error)
{
    static const sn_record_spec whole = {.kind = SN_RECORD_LINES};
    const sn_record_spec *record = options->record ? options->record : &whole;
    batch b = {.hasher = hasher, .block = block};
    sn_values values = {0};
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        status = sn_values_get(&values, record, block, i, error);
        if (status == SEEN_OK)
            status = make_key(&b, options, &values, values.text_used > 0, error);
        if (b.count == BATCH || b.used > SCRATCH_MAX || i + 1 == block->lines)
            hash_batch(&b);
    }
    note_quote(options, values.quoted);
    sn_values_free(&values);
    return status;
}

/* Looks at a few lines of the block only. Lines of other bytes than text may end with a CR by
 * chance: it counts if all of these do. */
static void note_line_ends(const sn_keys_options *options, const sn_block *block)
{
    enum { FEW = 4 };
    const sn_record_spec *record = options->record;
    bool lines = !record || (record->kind == SN_RECORD_LINES && !record->crlf);
    if (!options->line_ends || !lines || block->terminator != '\n')
        return;
    size_t count = block->lines < FEW ? block->lines : FEW, with = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *line = sn_block_line(block, i, &length);
        with += length && line[length - 1] == '\r';
    }
    if (count && (with == 0 || with == count))
        atomic_fetch_or_explicit(options->line_ends, with ? SN_KEYS_CRLF : SN_KEYS_LF,
                                 memory_order_relaxed);
}

seen_status sn_keys_hash(const sn_keys_options *options, const seen_hasher *hasher, sn_block *block,
                         seen_error *error)
{
    note_line_ends(options, block);
    return is_span(options) ? hash_spans(options, hasher, block)
                            : hash_made(options, hasher, block, error);
}

seen_status sn_keys_rewrite(const seen_url_options *url, sn_block *block, seen_error *error)
{
    const sn_keys_options options = {.url = true, .url_options = *url};
    size_t used = 0;
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        size_t length, made;
        const char *line = sn_block_line(block, i, &length);
        status = sn_block_scratch_grow(block, used + sn_keys_bound(&options, length) + 1, error);
        if (status != SEEN_OK)
            return status;
        char *to = (char *)block->scratch + used;
        const char *key = sn_keys_of_value(&options, line, length, to, &made);
        if (key != to)
            memcpy(to, key, made);
        used += made;
        if (!(block->unfinished && i + 1 == block->lines))
            ((char *)block->scratch)[used++] = block->terminator;
    }
    status = sn_block_reserve(block, used + 1, error);
    if (status != SEEN_OK)
        return status;
    memcpy(block->bytes, block->scratch, used);
    block->length = used;
    return sn_lines_split(block, error);
}
