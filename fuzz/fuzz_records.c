/* Records: any text as CSV and as JSON. Oracles: CSV split 64 bytes at a time, in two pieces at any
 * position, has the records of the bytewise reference, and the values of each field are those of a
 * simple state machine; a JSON text that is accepted stays accepted, with the same value, with
 * white space around it, and not with other data after it.
 *
 * The first byte selects the delimiter and the position of the split; the rest is the text. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stream/record/csv.h"
#include "stream/record/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

/* The value of a raw field, byte by byte. */
static size_t plain_value(const char *raw, size_t length, char *to)
{
    size_t put = 0;
    bool inside = length && raw[0] == '"';
    for (size_t i = inside; i < length; i++) {
        bool quote = inside && raw[i] == '"';
        bool doubled = quote && i + 1 < length && raw[i + 1] == '"';
        if (quote && !doubled) {
            inside = false;
            continue;
        }
        i += doubled;
        to[put++] = raw[i];
    }
    return put;
}

static void check_fields(const sn_block *block, char *room, char *other)
{
    for (size_t i = 0; i < block->lines; i++)
        for (size_t k = 0; k < sn_csv_fields(block, i); k++) {
            size_t length, got, wanted;
            const char *raw = sn_csv_raw(block, i, k, &length);
            const char *value = sn_csv_value(raw, length, room, &got);
            wanted = plain_value(raw, length, other);
            need(got == wanted && memcmp(value, other, got) == 0);
        }
}

static void check_csv(const char *text, size_t size, char delimiter, size_t cut)
{
    sn_block block;
    bool quoted;
    uint32_t *ends = malloc((size + 1) * sizeof *ends);
    char *room = malloc(2 * size + 2);
    need(ends && room);
    size_t count = sn_csv_ends_plain(text, size, delimiter, ends, size + 1, &quoted);
    sn_block_init(&block, '\n');
    need(sn_block_reserve(&block, size + 1, NULL) == SEEN_OK);
    memcpy(block.bytes, text, size);
    block.length = size;
    sn_csv_state state = 0;
    cut = size ? cut % size : 0;
    size_t first = sn_csv_last_end(block.bytes, 0, cut, delimiter, &state);
    size_t last = sn_csv_last_end(block.bytes, cut, size, delimiter, &state);
    need((last ? last : first) == (count ? ends[count - 1] : 0));
    need(sn_csv_is_quoted(state) == quoted);
    need(sn_csv_split(&block, delimiter, NULL) == SEEN_OK);
    need(block.lines == count + block.unfinished);
    for (size_t i = 0; i < count; i++)
        need(block.start[i + 1] == ends[i]);
    check_fields(&block, room, room + size + 1);
    sn_block_free(&block);
    free(room);
    free(ends);
}

static void check_json(const char *text, size_t size)
{
    enum { AROUND = 3, BEHIND = 20 };
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    sn_record_json_span span[SN_KEY_PARTS], again[SN_KEY_PARTS];
    char *padded = malloc(size + AROUND + BEHIND), *room = malloc(2 * size + 2);
    need(padded && room && sn_spec_add(&spec, "a,b.0,a.b", NULL) == SEEN_OK);
    memset(padded, ' ', size + AROUND + BEHIND);
    memcpy(padded + AROUND, text, size);
    bool good = !sn_record_json_find(&spec, padded + AROUND, size, span);
    need(good == !sn_record_json_find(&spec, padded, size + AROUND + 1, again));
    for (size_t p = 0; p < spec.parts && good; p++) {
        size_t length;
        need(!span[p].at == !again[p].at && span[p].length == again[p].length);
        if (!span[p].at)
            continue;
        need(span[p].at >= padded + AROUND && span[p].length > 0 &&
             span[p].at + span[p].length <= padded + AROUND + size);
        (void)sn_record_json_value(span[p], room, &length);
        need(length <= span[p].length);
    }
    padded[AROUND + size] = '}';
    bool blank = true;
    for (size_t i = 0; i < size; i++)
        blank = blank && strchr(" \t\n\r", text[i]) && text[i];
    need(!good || blank || sn_record_json_find(&spec, padded + AROUND, size + 1, again) != NULL);
    sn_spec_free(&spec);
    free(padded);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    check_csv(text, size - 1, data[0] & 1 ? ';' : ',', data[0] / 2);
    check_json(text, size - 1);
    return 0;
}
