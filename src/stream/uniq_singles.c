/* Only the lines that never repeat: two readings.
 *
 * The first reading adds every key to one set, and those that were there already to a second set of
 * repeated keys. The second reading writes the lines that are not in the second set. As a set never
 * forgets, no line that repeats is written; a mistake drops a single line, at the chosen rate. What
 * comes from a pipe is kept in a temporary file for the second reading. */
#include <stdlib.h>

#include "stream/fail.h"
#include "stream/temp.h"
#include "stream/uniq_inside.h"

typedef struct singles_way {
    seen_set *repeated;
    sn_temp *kept; /* NULL: the input can be read again */
    bool open_line;
    seen_hash *hashes; /* of one block's repeats; guarded by the decide turn */
    size_t room;
} singles_way;

static seen_status find_repeats(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    singles_way *way = u->way;
    seen_status status = seen_add_hashes(u->set, block->hash, block->lines, block->answer, error);
    if (status != SEEN_OK)
        return status;
    if (block->lines > way->room) {
        seen_hash *hashes = realloc(way->hashes, block->lines * sizeof *hashes);
        if (!hashes)
            return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for %zu lines", block->lines);
        way->hashes = hashes;
        way->room = block->lines;
    }
    size_t count = 0;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_BEFORE)
            way->hashes[count++] = block->hash[i];
    u->fresh += block->lines - count;
    return seen_add_hashes(way->repeated, way->hashes, count, NULL, error);
}

static seen_status keep_bytes(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    singles_way *way = u->way;
    seen_status status = SEEN_OK;
    if (!way->kept)
        return SEEN_OK;
    if (way->open_line)
        status = sn_temp_write(way->kept, &block->terminator, 1, error);
    way->open_line = block->unfinished;
    return status == SEEN_OK ? sn_temp_write(way->kept, block->bytes, block->length, error)
                             : status;
}

/* Nothing is added any more, so each worker may ask when it likes. */
static seen_status hash_and_ask(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    singles_way *way = u->way;
    seen_status status = sn_uniq_hash(u, block, error);
    return status == SEEN_OK
               ? seen_check_hashes(way->repeated, block->hash, block->lines, block->answer, error)
               : status;
}

static seen_status make_sets(sn_uniq *u, seen_error *error)
{
    singles_way *way = u->way;
    seen_status status = seen_create(NULL, &u->plan->set, 0, &u->set, error);
    if (status != SEEN_OK)
        return status;
    u->hasher = seen_hasher_of(u->set);
    seen_options repeated = u->plan->set;
    repeated.hash = u->hasher.kind;
    repeated.seed_given = true;
    repeated.seed[0] = u->hasher.seed[0];
    repeated.seed[1] = u->hasher.seed[1];
    if (repeated.growth == SEEN_GROWING)
        repeated.capacity = repeated.capacity / 8 + 1024;
    status = seen_create(NULL, &repeated, 0, &way->repeated, error);
    if (status == SEEN_OK && !sn_input_can_reread(u->input))
        status = sn_temp_open(u->options->temp_dir, 0, &way->kept, error);
    return status;
}

static seen_status second_reading(sn_uniq *u, seen_error *error)
{
    singles_way *way = u->way;
    sn_pipeline_steps steps = {u, hash_and_ask, NULL, sn_uniq_select, sn_uniq_write};
    if (!way->kept) {
        seen_status status = sn_input_rewind(u->input, error);
        return status == SEEN_OK ? sn_uniq_pass(u, &steps, error) : status;
    }
    seen_status status = sn_temp_flush(way->kept, error);
    if (status != SEEN_OK)
        return status;
    u->result->temporary = sn_temp_length(way->kept);
    sn_input *given = u->input;
    status = sn_input_open_fd(sn_temp_fd(way->kept), "the copy of the input",
                              u->options->pipeline.stop, &u->input, error);
    if (status == SEEN_OK) {
        status = sn_uniq_pass(u, &steps, error);
        sn_input_close(u->input);
    }
    u->input = given;
    return status;
}

static seen_status fill_result(sn_uniq *u, seen_error *error)
{
    singles_way *way = u->way;
    seen_info first = {.size = sizeof first}, second = {.size = sizeof second};
    seen_status status = seen_get_shape(u->set, &first, error);
    if (status == SEEN_OK)
        status = seen_get_shape(way->repeated, &second, error);
    sn_uniq_result *result = u->result;
    result->distinct = u->fresh;
    result->memory = first.bytes + second.bytes;
    result->layers = first.layers;
    result->error_rate = first.error_rate + second.error_rate;
    result->wrong = sn_uniq_expect_wrong(&first, (double)u->fresh) +
                    (double)result->written * second.error_rate;
    return status;
}

seen_status sn_uniq_run_singles(sn_uniq *u, seen_error *error)
{
    singles_way way = {0};
    u->way = &way;
    seen_status status = make_sets(u, error);
    if (status == SEEN_OK) {
        sn_pipeline_steps steps = {u, sn_uniq_hash, find_repeats, NULL, keep_bytes};
        status = sn_uniq_pass(u, &steps, error);
    }
    /* A line that came once so far may come again: a prefix of the input has no answer. */
    if (status == SEEN_OK && !u->result->stopped)
        status = second_reading(u, error);
    if (status == SEEN_OK)
        status = fill_result(u, error);
    seen_close(u->set);
    seen_close(way.repeated);
    sn_temp_close(way.kept);
    free(way.hashes);
    return status;
}
