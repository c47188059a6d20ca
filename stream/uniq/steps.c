/* The steps shared by all strategies of uniq. */
#include "stream/uniq/steps.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define TABLE_MIN ((uint64_t)1 << 20)

/* Only one long line is in memory at a time; this much is reserved for it. */
uint64_t sn_uniq_line_memory(const sn_uniq_options *options)
{
    return options->memory / 16;
}

uint64_t sn_uniq_table_memory(const sn_uniq_options *options)
{
    uint64_t memory = options->memory ? options->memory : sn_memory_free() / 2;
    bool lanes = sn_pipeline_threads(&options->pipeline) > 1;
    uint64_t blocks = sn_pipeline_memory(&options->pipeline, lanes) + sn_uniq_line_memory(options);
    return memory > blocks + TABLE_MIN ? memory - blocks : TABLE_MIN;
}

seen_status sn_uniq_hash(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    return sn_keys_hash(&u->options->keys, &u->hasher, block, error);
}

/* Writes a file name, for CSV as a field: in quotes if needed. At most 2 * strlen(name) + 2
 * bytes. */
static size_t write_name(char *to, const char *name, char column)
{
    const char special[] = {'"', '\n', '\r', column, 0};
    size_t length = strlen(name), at = 0;
    if (!column || !strpbrk(name, special)) {
        memcpy(to, name, length);
        return length;
    }
    to[at++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"')
            to[at++] = '"';
        to[at++] = name[i];
    }
    to[at++] = '"';
    return at;
}

seen_status sn_uniq_render_source(const sn_uniq *u, sn_block *block, size_t lines,
                                  seen_error *error)
{
    enum { NUMBER = 24 };
    const char *name = sn_input_name(u->input, block->file);
    if (!strcmp(name, "standard input"))
        name = "-";
    char column = u->options->column, end = column ? column : ':';
    size_t chosen = 0, bytes = 0, length = 2 * strlen(name) + 2;
    for (size_t i = 0; i < lines; i++)
        if (block->answer[i] == u->keep) {
            chosen++;
            bytes += block->start[i + 1] - block->start[i];
        }
    seen_status status = sn_block_second(block, bytes + chosen * (length + NUMBER) + 1, error);
    if (status != SEEN_OK)
        return status;
    char *to = block->second;
    for (size_t i = 0; i < lines; i++) {
        size_t size;
        const char *line = sn_block_line(block, i, &size);
        if (block->answer[i] != u->keep)
            continue;
        to += write_name(to, name, column);
        unsigned long long number = block->line_in_file + i + 1;
        to += snprintf(to, NUMBER, "%c%llu%c", end, number, end);
        memcpy(to, line, size);
        to += size;
        *to++ = block->terminator;
    }
    block->out = block->second;
    block->out_length = (size_t)(to - block->second);
    block->number_out = chosen;
    return SEEN_OK;
}

seen_status sn_uniq_select(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    if (u->output && u->options->source)
        return sn_uniq_render_source(u, block, block->lines, error);
    if (u->output)
        return sn_block_select(block, u->keep, u->dropped != NULL, error);
    uint64_t count = 0;
    for (size_t i = 0; i < block->lines; i++)
        count += block->answer[i] == u->keep;
    block->number_out = count;
    return SEEN_OK;
}

seen_status sn_uniq_write(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    seen_status status = SEEN_OK;
    if (u->output)
        status = sn_output_block(u->output, block, error);
    if (status == SEEN_OK && u->dropped)
        status = sn_output_write(u->dropped, block->second, block->second_length, error);
    if (status != SEEN_OK)
        return status;
    u->result->lines += block->lines;
    u->result->written += block->number_out;
    if (u->options->pipeline.meter)
        atomic_store_explicit(&u->options->pipeline.meter->kept, u->result->written,
                              memory_order_relaxed);
    return SEEN_OK;
}

seen_status sn_uniq_pass(sn_uniq *u, const sn_pipeline_steps *steps, seen_error *error)
{
    bool stopped = false;
    u->result->readings++;
    seen_status status = sn_pipeline_run(u->input, &u->options->pipeline, steps, &stopped, error);
    u->result->stopped |= stopped;
    return status;
}

seen_status sn_uniq_pass_again(sn_uniq *u, sn_copy *copy, const sn_pipeline_steps *steps,
                               seen_error *error)
{
    seen_status status;
    if (!copy->temp) {
        status = sn_input_rewind(u->input, error);
        return status == SEEN_OK ? sn_uniq_pass(u, steps, error) : status;
    }
    sn_input *given = u->input;
    status = sn_copy_input(copy, u->options->pipeline.stop, &u->input, error);
    if (status == SEEN_OK) {
        sn_input_take_header(u->input, sn_input_header(given));
        u->result->temporary += sn_temp_length(copy->temp);
        status = sn_uniq_pass(u, steps, error);
        sn_input_close(u->input);
    }
    u->input = given;
    return status;
}

seen_status sn_uniq_finish(sn_uniq *u, seen_error *error)
{
    seen_status status = SEEN_OK;
    sn_output *outputs[] = {u->output, u->dropped};
    u->output = u->dropped = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (!outputs[i])
            continue;
        /* An incomplete deferred file is not renamed into place. */
        bool half = u->result->stopped && sn_output_is_deferred(outputs[i]);
        if (status == SEEN_OK && !half)
            status = sn_output_finish(outputs[i], error);
        else
            sn_output_abandon(outputs[i]);
    }
    return status;
}
