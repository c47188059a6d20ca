/* Runs a long job with progress. */
#include "cli/watch.h"

#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

enum { POLL_MS = 100 };

typedef struct job {
    sn_watch_job *run;
    void *context;
    seen_error *error;
    seen_status status;
    sem_t done;
} job;

bool sn_watch_begin(sn_watch *watch, const char *what)
{
    seen_error error = {0};
    *watch = (sn_watch){.what = what};
    if (sn_stop_init(&watch->stop, &error) == SEEN_OK)
        return true;
    sn_message_report(&error);
    return false;
}

void sn_watch_end(sn_watch *watch)
{
    sn_stop_free(&watch->stop);
}

static void *work(void *argument)
{
    job *j = argument;
    j->status = j->run(j->context, j->error);
    sem_post(&j->done);
    return NULL;
}

/* True when the job is done; false after a moment, or after a signal. */
static bool wait_a_moment(job *j)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return sem_timedwait(&j->done, &until) == 0;
}

static uint64_t bytes_so_far(sn_watch *watch)
{
    uint64_t emitted = atomic_load_explicit(&watch->meter.bytes, memory_order_relaxed);
    uint64_t size = watch->input ? sn_input_size(watch->input) : UINT64_MAX;
    /* For a compressed file the total counts bytes on disk. */
    if (size != UINT64_MAX && sn_input_is_compressed(watch->input))
        return sn_input_position(watch->input);
    return emitted;
}

static double fill_so_far(sn_watch *watch)
{
    if (!watch->capacity)
        return -1;
    double fill = (double)atomic_load_explicit(&watch->meter.kept, memory_order_relaxed) /
                  (double)watch->capacity;
    return fill > 1 ? 1 : fill;
}

seen_status sn_watch_run(sn_watch *watch, const sn_args *args, sn_watch_job *run, void *context,
                         seen_error *error)
{
    job j = {.run = run, .context = context, .error = error};
    sn_progress progress;
    pthread_t thread;
    uint64_t total = watch->total == UINT64_MAX ? 0 : watch->total;
    sem_init(&j.done, 0, 0);
    sn_progress_begin(&progress, args, watch->what, total);
    if (!sn_thread_start(&thread, work, &j)) {
        sem_destroy(&j.done);
        return run(context, error);
    }
    while (!wait_a_moment(&j)) {
        if (sn_signal_stopped())
            sn_stop_set(&watch->stop, SN_STOP_REQUESTED);
        sn_progress_show(&progress, bytes_so_far(watch),
                         atomic_load_explicit(&watch->meter.lines, memory_order_relaxed),
                         fill_so_far(watch));
    }
    pthread_join(thread, NULL);
    sn_progress_end(&progress, bytes_so_far(watch),
                    atomic_load_explicit(&watch->meter.lines, memory_order_relaxed),
                    fill_so_far(watch));
    sem_destroy(&j.done);
    return j.status;
}

sn_pipeline_options sn_args_pipeline(const sn_args *args, const char *filter, sn_watch *watch)
{
    return (sn_pipeline_options){.threads = (unsigned)args->threads,
                                 .waits = filter && sn_where_is_redis(filter),
                                 .terminator = args->null ? '\0' : '\n',
                                 .record = sn_args_record_spec(args),
                                 .rewrite = sn_args_rewrite(args),
                                 .stop = &watch->stop,
                                 .meter = &watch->meter};
}
