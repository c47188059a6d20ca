/* The pipeline: N workers, each taking one block at a time through all steps.
 *
 * Reading is serial and numbers the blocks; `decide` and `emit` are executed in the order of the
 * numbers, enforced by turnstiles. A waiting worker holds only its own block, so memory is bounded
 * by workers times block size. A line that needs a much larger block is read after all earlier
 * blocks are done, and the next block after it: there is only one at a time.
 *
 *     worker 1   read 0  scan hash  decide 0  select  emit 0  read 2 …
 *     worker 2           read 1  scan hash   decide 1  select  emit 1 … */
#include "stream/pipeline/pipeline.h"

#include "base/error.h"
#include "base/thread.h"
#include "stream/io/reader.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/turn.h"
#include "stream/record/frame.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 256 << 10, THREADS_MAX = 1024 };

typedef struct run {
    const sn_pipeline_options *options;
    const sn_pipeline_steps *steps;
    char terminator;

    pthread_mutex_t read_turn; /* protects the next four */
    sn_reader reader;
    uint64_t next_number;
    bool ended;
    bool stopped;

    sn_turn lane_turn[SN_PIPELINE_LANES];
    sn_turn decide_turn;
    sn_turn emit_turn;
    uint64_t lines; /* protected by decide_turn, as are the next two */
    size_t file;
    uint64_t file_first; /* its first line */

    /* The first block in input order that failed; later blocks are not processed. */
    _Atomic uint64_t failed_at;
    pthread_mutex_t failure; /* protects the next two, and decreasing failed_at */
    seen_status status;
    seen_error error;
} run;

unsigned sn_pipeline_threads(const sn_pipeline_options *options)
{
    enum { WAITING = 3 }; /* one in each of two lanes, and one that prepares the next block */
    unsigned threads = options->threads ? options->threads : sn_thread_cpus();
    if (options->waits && !options->threads && threads < WAITING)
        threads = WAITING;
    return threads > THREADS_MAX ? THREADS_MAX : threads;
}

static size_t block_size(const sn_pipeline_options *options)
{
    return options->block_size ? options->block_size : BLOCK_SIZE;
}

size_t sn_pipeline_memory(const sn_pipeline_options *options, bool lanes)
{
    /* Bytes, the second buffer for redirected lines, and columns for lines of 32 bytes. */
    size_t size = block_size(options), columns = sizeof(uint32_t) + sizeof(seen_hash) + 1;
    return sn_pipeline_threads(options) * (2 * size + size / 32 * columns * (lanes ? 2 : 1));
}

static void note_failure(run *r, uint64_t number, seen_status status, const seen_error *error)
{
    pthread_mutex_lock(&r->failure);
    if (number < atomic_load(&r->failed_at)) {
        atomic_store(&r->failed_at, number);
        r->status = status;
        r->error = *error;
    }
    pthread_mutex_unlock(&r->failure);
}

/* Steps are skipped for blocks after a failure, so that the output is a prefix of the input. */
static bool is_behind_failure(run *r, const sn_block *block)
{
    return block->number >= atomic_load_explicit(&r->failed_at, memory_order_acquire);
}

static void do_step(run *r, sn_pipeline_step *step, sn_block *block)
{
    if (!step || is_behind_failure(r, block))
        return;
    seen_error error = {0};
    seen_status status = step(r->steps->context, block, &error);
    if (status != SEEN_OK)
        note_failure(r, block->number, status, &error);
}

static void do_lane(run *r, sn_block *block, unsigned lane)
{
    sn_turn_wait(&r->lane_turn[lane], block->number);
    if (!is_behind_failure(r, block)) {
        seen_error error = {0};
        seen_status status = r->steps->lookup(r->steps->context, block, lane, &error);
        if (status != SEEN_OK)
            note_failure(r, block->number, status, &error);
    }
    sn_turn_pass(&r->lane_turn[lane]);
}

/* Reads the next block; false if there is none. */
static bool read_block(run *r, sn_block *block)
{
    seen_error error = {0};
    bool got = false;
    pthread_mutex_lock(&r->read_turn);
    if (!r->ended && sn_stop_get(r->options->stop) != SN_STOP_NONE) {
        r->ended = true;
        r->stopped = true;
    }
    if (!r->ended && atomic_load(&r->failed_at) != UINT64_MAX)
        r->ended = true;
    if (!r->ended) {
        block->number = r->next_number;
        seen_status status = sn_reader_fill(&r->reader, block, &got, &error);
        if (status != SEEN_OK) {
            note_failure(r, block->number, status, &error);
            got = false;
        }
        if (got)
            r->next_number++;
        else {
            r->ended = true;
            r->stopped = status == SEEN_OK && sn_stop_get(r->options->stop) != SN_STOP_NONE;
        }
    }
    pthread_mutex_unlock(&r->read_turn);
    return got;
}

static void find_records(run *r, sn_block *block)
{
    seen_error error = {0};
    block->lines = 0;
    if (is_behind_failure(r, block))
        return;
    seen_status status = sn_frame_split(r->options->record, block, &error);
    if (status == SEEN_OK && r->options->rewrite)
        status = sn_keys_rewrite(r->options->rewrite, block, &error);
    if (status != SEEN_OK)
        note_failure(r, block->number, status, &error);
}

static void wait_until_alone(void *context, const sn_block *block)
{
    run *r = context;
    sn_turn_wait(&r->emit_turn, block->number);
}

static void take_through(run *r, sn_block *block)
{
    find_records(r, block);
    do_step(r, r->steps->prepare, block);

    for (unsigned lane = 0; lane < r->steps->lanes; lane++)
        do_lane(r, block, lane);

    sn_turn_wait(&r->decide_turn, block->number);
    if (block->file != r->file) {
        r->file = block->file;
        r->file_first = r->lines;
    }
    block->first_line = r->lines;
    block->line_in_file = r->lines - r->file_first;
    r->lines += block->lines;
    do_step(r, r->steps->decide, block);
    sn_turn_pass(&r->decide_turn);

    size_t length = block->length;
    do_step(r, r->steps->render, block);

    sn_turn_wait(&r->emit_turn, block->number);
    do_step(r, r->steps->emit, block);
    sn_meter *meter = r->options->meter;
    if (meter) {
        atomic_fetch_add_explicit(&meter->bytes, length, memory_order_relaxed);
        atomic_fetch_add_explicit(&meter->lines, block->lines, memory_order_relaxed);
    }
    sn_reader_release(&r->reader, block);
    sn_turn_pass(&r->emit_turn);
}

static void *work(void *argument)
{
    run *r = argument;
    sn_block block;
    sn_block_init(&block, r->terminator);
    while (read_block(r, &block))
        take_through(r, &block);
    sn_block_free(&block);
    return NULL;
}

unsigned sn_pipeline_start(pthread_t *threads, unsigned wanted, void *(*work_on)(void *),
                           void *first, size_t step)
{
    unsigned started = 0;
    while (started < wanted &&
           sn_thread_start(&threads[started], work_on, (char *)first + started * step))
        started++;
    return started;
}

seen_status sn_pipeline_run(sn_input *input, const sn_pipeline_options *options,
                            const sn_pipeline_steps *steps, bool *stopped, seen_error *error)
{
    unsigned wanted = sn_pipeline_threads(options) - 1;
    pthread_t *threads = wanted ? malloc(wanted * sizeof *threads) : NULL;
    if (wanted && !threads)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %u threads", wanted);
    run r = {.options = options, .steps = steps, .terminator = options->terminator};
    sn_reader_init(&r.reader, input, block_size(options), options->line_max, options->terminator);
    sn_framing framing;
    if (sn_frame_reader(options->record, &framing))
        sn_reader_frame(&r.reader, &framing);
    r.reader.alone = wait_until_alone;
    r.reader.context = &r;
    atomic_init(&r.failed_at, UINT64_MAX);
    assert(steps->lanes <= SN_PIPELINE_LANES);
    for (unsigned lane = 0; lane < steps->lanes; lane++)
        sn_turn_init(&r.lane_turn[lane]);
    sn_turn_init(&r.decide_turn);
    sn_turn_init(&r.emit_turn);
    pthread_mutex_init(&r.read_turn, NULL);
    pthread_mutex_init(&r.failure, NULL);

    unsigned started = threads ? sn_pipeline_start(threads, wanted, work, &r, 0) : 0;
    work(&r);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);

    pthread_mutex_destroy(&r.read_turn);
    pthread_mutex_destroy(&r.failure);
    sn_reader_free(&r.reader);
    free(threads);
    if (stopped)
        *stopped = r.stopped;
    if (r.status != SEEN_OK && error)
        *error = r.error;
    return r.status;
}
