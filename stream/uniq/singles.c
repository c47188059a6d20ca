/* Only the lines that never repeat: two readings.
 *
 * The first reading adds every key to one set, and those that were there already to a second set of
 * repeated keys. The second reading writes the lines that are not in the second set. As a set never
 * forgets, no line that repeats is written; a mistake drops a single line, at the chosen rate. What
 * comes from a pipe is kept in a temporary file for the second reading. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "stream/uniq/internal.h"

typedef struct singles_way {
    sn_cascade repeated;
    sn_copy copy;      /* of an input that cannot be read again */
    seen_hash *hashes; /* of one block's repeats; guarded by the decide turn */
    seen_answer *answers;
    size_t room;
} singles_way;

static seen_status find_repeats(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    singles_way *way = u->way;
    seen_status status =
        sn_cascade_add(&u->cascade, block->hash, block->lines, block->answer, error);
    if (status != SEEN_OK)
        return status;
    if (block->lines > way->room) {
        free(way->hashes);
        free(way->answers);
        way->hashes = malloc(block->lines * sizeof *way->hashes);
        way->answers = malloc(block->lines);
        way->room = way->hashes && way->answers ? block->lines : 0;
        if (!way->room)
            return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu lines", block->lines);
    }
    size_t count = 0;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_BEFORE)
            way->hashes[count++] = block->hash[i];
    u->fresh += block->lines - count;
    return sn_cascade_add(&way->repeated, way->hashes, count, way->answers, error);
}

static seen_status keep_bytes(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    singles_way *way = u->way;
    if (!way->copy.temp)
        return SEEN_OK;
    return sn_copy_add(&way->copy, block->bytes, block->length, block->terminator, error);
}

/* Nothing is added any more, so each worker may ask when it likes. */
static seen_status hash_and_ask(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    singles_way *way = u->way;
    seen_status status = sn_uniq_hash(u, block, error);
    return status == SEEN_OK
               ? sn_cascade_check(&way->repeated, block->hash, block->lines, block->answer, error)
               : status;
}

static seen_status make_sets(sn_uniq *u, seen_error *error)
{
    singles_way *way = u->way;
    seen_status status = sn_cascade_open(&u->cascade, &u->plan->set, error);
    if (status != SEEN_OK)
        return status;
    u->hasher = u->cascade.hasher;
    sn_cascade_options repeated = u->plan->set;
    repeated.hasher = &u->hasher;
    if (!repeated.memory)
        repeated.capacity = (repeated.capacity + 3) / 4;
    status = sn_cascade_open(&way->repeated, &repeated, error);
    if (status == SEEN_OK && !sn_input_can_reread(u->input))
        status = sn_copy_open(&way->copy, u->options->temp_dir, error);
    return status;
}

static seen_status second_reading(sn_uniq *u, seen_error *error)
{
    singles_way *way = u->way;
    sn_pipeline_steps steps = {
        .context = u, .prepare = hash_and_ask, .render = sn_uniq_select, .emit = sn_uniq_write};
    return sn_uniq_pass_again(u, &way->copy, &steps, error);
}

static void fill_result(sn_uniq *u)
{
    singles_way *way = u->way;
    sn_uniq_result *result = u->result;
    result->distinct = u->fresh;
    result->memory = sn_cascade_memory(&u->cascade) + sn_cascade_memory(&way->repeated);
    result->layers = (uint32_t)u->cascade.count;
    double first = sn_cascade_rate_now(&u->cascade), second = sn_cascade_rate_now(&way->repeated);
    result->error_rate = fmin(1, fmax(2 * sn_uniq_promise(u), first + second));
    /* Of the singles the share 1 - second was printed. */
    double more = second < 1 ? (double)result->written * second / (1 - second) : INFINITY;
    result->wrong = sn_cascade_expect_wrong(&u->cascade) + more;
}

seen_status sn_uniq_run_singles(sn_uniq *u, seen_error *error)
{
    singles_way way = {0};
    u->way = &way;
    seen_status status = make_sets(u, error);
    if (status == SEEN_OK) {
        sn_pipeline_steps steps = {
            .context = u, .prepare = sn_uniq_hash, .decide = find_repeats, .emit = keep_bytes};
        status = sn_uniq_pass(u, &steps, error);
    }
    /* A line that came once so far may come again: a prefix of the input has no answer. */
    if (status == SEEN_OK && !u->result->stopped)
        status = second_reading(u, error);
    fill_result(u);
    sn_cascade_close(&u->cascade);
    sn_cascade_close(&way.repeated);
    sn_copy_close(&way.copy);
    free(way.hashes);
    free(way.answers);
    return status;
}
