/* The log: order, void and done URLs, segments, and every possible truncation. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/frontier/log.h"
#include "crawl/frontier/queue.h"

static char folder_name[] = "/tmp/seen-frontier.XXXXXX";
static int folder = -1;

static void empty_folder(void)
{
    DIR *dir = opendir(folder_name);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(folder, entry->d_name, 0);
    closedir(dir);
}

static int set_up(void **state)
{
    (void)state;
    if (folder < 0) {
        if (mkdtemp(folder_name) == NULL)
            return -1;
        folder = open(folder_name, O_RDONLY | O_DIRECTORY);
    }
    empty_folder();
    return folder < 0;
}

static int tear_down(void **state)
{
    (void)state;
    empty_folder();
    close(folder);
    return rmdir(folder_name);
}

static void ok(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

/* Adds the URLs u<from> ... u<to-1>; those divisible by `twice` are void (0: none). */
static void add(sn_log *f, unsigned from, unsigned to, unsigned twice)
{
    seen_error error;
    seen_answer answers[SN_BATCH_URLS];
    char url[32], parent[32];
    for (unsigned i = from; i < to; i++) {
        if ((i - from) % 10 == 0) {
            int n = snprintf(parent, sizeof parent, "parent%u", i / 10);
            ok(sn_log_put_page(f, parent, (size_t)n, &error), &error);
        }
        int n = snprintf(url, sizeof url, "u%u", i);
        sn_frontier_record record = {.url = url, .len = (size_t)n, .depth = (uint16_t)(i / 100)};
        ok(sn_log_put(f, &record, &error), &error);
        answers[i - from] = twice != 0 && i % twice == 0 ? SEEN_BEFORE : SEEN_NEW;
    }
    assert_int_equal(sn_log_batch(f, NULL), to - from);
    ok(sn_log_write(f, &error), &error);
    ok(sn_log_answer(f, answers, &error), &error);
}

/* Parses 17 from "u17", which is not terminated. */
static int number_of(const sn_frontier_record *record)
{
    char text[32] = "";
    assert_in_range(record->len, 2, sizeof text - 1);
    assert_int_equal(record->url[0], 'u');
    memcpy(text, record->url, record->len);
    return (int)strtol(text + 1, NULL, 10);
}

/* Reads the next URL; -1: none. */
static int next(sn_log *f, sn_frontier_place *place)
{
    seen_error error;
    sn_frontier_record record;
    bool got;
    ok(sn_log_next(f, &record, &got, &error), &error);
    if (!got)
        return -1;
    if (place != NULL)
        *place = record.place;
    return number_of(&record);
}

static void gives_urls_in_order(void **state)
{
    seen_error error;
    sn_log *f;
    sn_frontier_place places[300];
    (void)state;
    ok(sn_log_create(&(sn_log_options){.folder = -1}, &f, &error), &error);
    assert_int_equal(next(f, NULL), -1);
    add(f, 0, 100, 0);
    add(f, 100, 300, 7);
    unsigned count = 0;
    for (int i = 0; i < 300; i++)
        if (i < 100 || i % 7 != 0)
            assert_int_equal(next(f, &places[count++]), i);
    assert_int_equal(next(f, NULL), -1);
    assert_int_equal(sn_log_waiting(f), count);
    sn_frontier_record record;
    ok(sn_log_load(f, places[150], &record, &error), &error);
    assert_int_equal(record.depth, 1);
    assert_int_equal(strncmp(record.parent, "parent1", 7), 0);
    for (unsigned i = 0; i < count; i++)
        ok(sn_log_done(f, places[i].ordinal, &error), &error);
    assert_int_equal(sn_log_waiting(f), 0);
    add(f, 300, 301, 0);
    assert_int_equal(next(f, NULL), 300);
    sn_log_close(f);
}

typedef struct replayed {
    unsigned batches, urls, unanswered;
} replayed;

static seen_status count_replay(void *user, const sn_frontier_record *records, size_t count,
                                bool unanswered, seen_answer *answers, seen_error *error)
{
    replayed *r = user;
    (void)error;
    r->batches++;
    r->urls += (unsigned)count;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(records[i].url[0], 'u');
    if (unanswered) {
        r->unanswered++;
        memset(answers, SEEN_NEW, count);
    }
    return SEEN_OK;
}

/* A copy of a mark, because the log modifies its own. */
static sn_log_mark copy_mark(const sn_log *f, uint64_t *done)
{
    sn_log_mark mark = sn_log_get_mark(f);
    for (size_t i = 0; i < mark.done_count; i++)
        done[i] = mark.done[i];
    mark.done = done;
    return mark;
}

static void goes_on_from_a_checkpoint(void **state)
{
    seen_error error;
    sn_log *f;
    sn_frontier_place places[100];
    uint64_t done[200];
    sn_log_options options = {.folder = folder};
    (void)state;
    ok(sn_log_create(&options, &f, &error), &error);
    add(f, 0, 100, 0);
    for (int i = 0; i < 100; i++)
        next(f, &places[i]);
    for (int i = 0; i < 100; i += 2)
        ok(sn_log_done(f, places[i].ordinal, &error), &error);
    sn_log_mark mark = copy_mark(f, done);
    /* After the mark: more found, more done, then a power failure. */
    add(f, 100, 150, 0);
    ok(sn_log_done(f, places[1].ordinal, &error), &error);
    sn_log_close(f);

    replayed r = {0};
    ok(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error), &error);
    assert_int_equal(r.urls, 50);
    assert_int_equal(r.unanswered, 0);
    assert_int_equal(sn_log_waiting(f), 50);
    for (int i = 1; i < 100; i += 2)
        assert_int_equal(next(f, NULL), i);
    for (int i = 100; i < 150; i++)
        assert_int_equal(next(f, NULL), i);
    assert_int_equal(next(f, NULL), -1);
    sn_log_close(f);
    r = (replayed){0};
    ok(sn_log_open(&options, &mark, true, count_replay, &r, &f, &error), &error);
    assert_int_equal(r.urls, 150);
    assert_int_equal(sn_log_waiting(f), 50);
    sn_log_close(f);
}

/* Truncated at any byte after the mark: complete batches are present, and the log can be
 * continued. */
static void survives_every_cut(void **state)
{
    seen_error error;
    sn_log *f;
    sn_log_options options = {.folder = folder};
    (void)state;
    ok(sn_log_create(&options, &f, &error), &error);
    add(f, 0, 3, 0);
    sn_log_mark mark = sn_log_get_mark(f);
    add(f, 3, 6, 0);
    uint64_t second = sn_log_get_mark(f).end;
    add(f, 6, 9, 0);
    uint64_t end = sn_log_get_mark(f).end;
    sn_log_close(f);
    char path[64], bytes[4096];
    snprintf(path, sizeof path, "%s/frontier.000001", folder_name);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, bytes, sizeof bytes, 0), end);
    for (uint64_t cut = mark.end; cut <= end; cut++) {
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bytes, cut, 0), cut);
        replayed r = {0};
        ok(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error), &error);
        int count = 0;
        while (next(f, NULL) == count)
            count++;
        /* Batches are complete or absent. */
        assert_int_equal(count % 3, 0);
        assert_in_range(count, cut >= end ? 9 : cut >= second ? 6 : 3, 9);
        assert_int_equal(r.urls, count - 3);
        add(f, 100, 101, 0);
        assert_int_equal(next(f, NULL), 100);
        sn_log_close(f);
    }
    /* Nothing may be missing before the mark. */
    assert_int_equal(ftruncate(fd, (off_t)mark.end - 1), 0);
    replayed r = {0};
    assert_int_equal(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error),
                     SEEN_ERR_FORMAT);
    close(fd);
}

/* Every byte of the log flipped in turn: refused or, after the mark, truncated; never accepted. */
static void notices_every_flip(void **state)
{
    seen_error error;
    sn_log *f;
    sn_log_options options = {.folder = folder};
    (void)state;
    ok(sn_log_create(&options, &f, &error), &error);
    add(f, 0, 3, 0);
    sn_log_mark mark = sn_log_get_mark(f);
    add(f, 3, 6, 0);
    uint64_t end = sn_log_get_mark(f).end;
    sn_log_close(f);
    char path[64], bytes[4096];
    snprintf(path, sizeof path, "%s/frontier.000001", folder_name);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, bytes, sizeof bytes, 0), end);
    for (uint64_t at = 0; at < end; at++) {
        char flipped = (char)(bytes[at] ^ 0x10);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bytes, end, 0), end);
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
        replayed r = {0};
        f = NULL;
        seen_status status = sn_log_open(&options, &mark, false, count_replay, &r, &f, &error);
        int count = 0;
        bool got = status == SEEN_OK;
        while (got && status == SEEN_OK) {
            sn_frontier_record record;
            status = sn_log_next(f, &record, &got, &error);
            if (status == SEEN_OK && got)
                assert_int_equal(number_of(&record), count++);
        }
        if (at < mark.end)
            assert_int_equal(status, SEEN_ERR_FORMAT);
        else
            assert_true(status == SEEN_OK && (count == 3 || count == 6));
        sn_log_close(f);
    }
    close(fd);
}

static int count_segments(void)
{
    int count = 0;
    DIR *dir = opendir(folder_name);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "frontier.", 9) == 0;
    closedir(dir);
    return count;
}

static void deletes_finished_segments(void **state)
{
    seen_error error;
    sn_log *f;
    sn_log_options options = {.folder = folder, .segment_size = 1000};
    static uint64_t done[2000];
    static sn_frontier_place places[1000];
    (void)state;
    ok(sn_log_create(&options, &f, &error), &error);
    for (unsigned i = 0; i < 1000; i += 50)
        add(f, i, i + 50, 0);
    int segments = count_segments();
    assert_in_range(segments, 10, 40);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(next(f, &places[i]), i);
    for (int i = 0; i < 500; i++)
        ok(sn_log_done(f, places[i].ordinal, &error), &error);
    sn_log_mark mark = copy_mark(f, done);
    assert_true(mark.first_segment > 1);
    ok(sn_log_settle(f, &error), &error);
    assert_true(count_segments() <= segments / 2 + 1);
    sn_frontier_record record;
    ok(sn_log_load(f, places[777], &record, &error), &error);
    assert_int_equal(number_of(&record), 777);
    sn_log_close(f);
    replayed r = {0};
    ok(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error), &error);
    for (int i = 500; i < 1000; i++)
        assert_int_equal(next(f, NULL), i);
    assert_int_equal(next(f, NULL), -1);
    sn_log_close(f);
}

/* A segment whose header was incomplete at a power failure is recreated; one that the mark refers
 * to is not discarded like that. */
static void recreates_a_torn_segment(void **state)
{
    seen_error error;
    sn_log *f;
    sn_log_options options = {.folder = folder, .segment_size = 200};
    (void)state;
    ok(sn_log_create(&options, &f, &error), &error);
    add(f, 0, 20, 0);
    add(f, 20, 40, 0);
    sn_log_mark mark = sn_log_get_mark(f);
    sn_log_close(f);
    int segments = count_segments();
    assert_int_equal(segments, mark.last_segment);
    char path[64], torn[64], head[32];
    snprintf(path, sizeof path, "%s/frontier.%06u", folder_name, mark.last_segment);
    snprintf(torn, sizeof torn, "%s/frontier.%06u", folder_name, mark.last_segment + 1);
    int fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, head, sizeof head, 0), sizeof head);
    close(fd);
    /* Truncated at every byte, and complete but of another segment. */
    for (size_t cut = 0; cut <= sizeof head; cut++) {
        fd = open(torn, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, head, cut), cut);
        close(fd);
        assert_int_equal(count_segments(), segments + 1);
        replayed r = {0};
        ok(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error), &error);
        assert_int_equal(count_segments(), segments);
        for (int i = 0; i < 40; i++)
            assert_int_equal(next(f, NULL), i);
        assert_int_equal(next(f, NULL), -1);
        if (cut == sizeof head) {
            add(f, 40, 50, 0);
            assert_int_equal(count_segments(), segments + 1);
            assert_int_equal(next(f, NULL), 40);
        }
        sn_log_close(f);
    }
    assert_int_equal(truncate(path, 31), 0);
    replayed r = {0};
    assert_int_equal(sn_log_open(&options, &mark, false, count_replay, &r, &f, &error),
                     SEEN_ERR_FORMAT);
    assert_int_equal(access(path, F_OK), 0);
}

/* URLs and pages longer than the read buffer, loaded in any order. */
static void loads_long_urls(void **state)
{
    enum { COUNT = 40 };
    seen_error error;
    sn_log *f;
    sn_frontier_place places[COUNT];
    seen_answer answers[COUNT];
    static char text[SN_FRONTIER_URL_MAX];
    (void)state;
    memset(text, 'x', sizeof text);
    ok(sn_log_create(&(sn_log_options){.folder = folder}, &f, &error), &error);
    for (size_t i = 0; i < COUNT; i++) {
        answers[i] = SEEN_NEW;
        sn_frontier_record record = {.url = text, .len = 1 + i * 1601};
        if (i % 3 == 0)
            ok(sn_log_put_page(f, text, i * 1500, &error), &error);
        ok(sn_log_put(f, &record, &error), &error);
    }
    ok(sn_log_write(f, &error), &error);
    ok(sn_log_answer(f, answers, &error), &error);
    for (size_t i = 0; i < COUNT; i++) {
        sn_frontier_record record;
        bool got;
        ok(sn_log_next(f, &record, &got, &error), &error);
        assert_true(got);
        places[i] = record.place;
    }
    for (size_t turn = 0; turn < 3 * COUNT; turn++) {
        size_t i = turn < COUNT       ? turn
                   : turn < 2 * COUNT ? 2 * COUNT - 1 - turn
                                      : turn * 17 % COUNT;
        sn_frontier_record record;
        ok(sn_log_load(f, places[i], &record, &error), &error);
        assert_int_equal(record.len, 1 + i * 1601);
        assert_int_equal(record.parent_len, (i - i % 3) * 1500);
        assert_memory_equal(record.url, text, record.len);
        assert_memory_equal(record.parent, text, record.parent_len);
    }
    sn_log_close(f);
}

static int run_log(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gives_urls_in_order, set_up),
        cmocka_unit_test_setup(goes_on_from_a_checkpoint, set_up),
        cmocka_unit_test_setup(survives_every_cut, set_up),
        cmocka_unit_test_setup(notices_every_flip, set_up),
        cmocka_unit_test_setup(deletes_finished_segments, set_up),
        cmocka_unit_test_setup(recreates_a_torn_segment, set_up),
        cmocka_unit_test_setup(loads_long_urls, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}

/* ---- queue ---- */

/* Queues: many at once, first in first out, with little memory. */

static void keeps_the_order(void **state)
{
    enum { QUEUES = 5, STEPS = 200000 };
    sn_queues *queues = sn_queues_create(-1);
    sn_queue queue[QUEUES] = {{0}};
    uint64_t in[QUEUES] = {0}, out[QUEUES] = {0};
    seen_error error;
    uint32_t random = 12345;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        unsigned q = random >> 8 & 0xff, i = q % QUEUES;
        /* Fills for a while, then empties. */
        bool push = (random >> 20 & 7) < (step / 50000 % 2 == 0 ? 5 : 2);
        if (push) {
            sn_frontier_place place = {in[i]++, i};
            assert_int_equal(sn_queue_push(queues, &queue[i], place, &error), SEEN_OK);
        } else {
            sn_frontier_place place;
            bool got;
            assert_int_equal(sn_queue_pop(queues, &queue[i], &place, &got, &error), SEEN_OK);
            assert_int_equal(got, out[i] < in[i]);
            if (got) {
                assert_int_equal(place.at, out[i]++);
                assert_int_equal(place.ordinal, i);
            }
        }
        assert_int_equal(queue[i].count, in[i] - out[i]);
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        bool got = true;
        while (got) {
            sn_frontier_place place;
            assert_int_equal(sn_queue_pop(queues, &queue[i], &place, &got, &error), SEEN_OK);
            if (got)
                assert_int_equal(place.at, out[i]++);
        }
        assert_int_equal(in[i], out[i]);
        assert_null(queue[i].head);
    }
    sn_queues_destroy(queues);
}

static int run_queue(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_log(), run_queue()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
