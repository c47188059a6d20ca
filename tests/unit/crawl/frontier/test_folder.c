/* The state folder: a checkpoint with any wrong byte is refused; one crawler at a time. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/crawl.h"
#include "crawl/frontier/checkpoint.h"
#include "crawl/frontier/failures.h"
#include "crawl/frontier/folder.h"

static char folder_name[] = "/tmp/seen-state.XXXXXX";

/* A crawl that is stopped before its first request leaves a complete state. */
static void make_crawl(const char *state)
{
    static const char *const start[] = {"http://127.0.0.1:1/"};
    sn_crawl_options options;
    sn_crawl_result result;
    seen_error error;
    atomic_int stop = 1;
    sn_crawl_defaults(&options);
    options.start = (sn_crawl_list){start, 1};
    options.state = state;
    options.max_host_pages = 3;
    if (sn_crawl_run(&options, &stop, NULL, NULL, &result, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(result.end, SN_CRAWL_STOPPED);
    assert_int_equal(result.status.queued, 1);
}

static void notices_every_flip_and_cut(void **state)
{
    seen_error error;
    sn_checkpoint checkpoint;
    uint8_t bytes[4096];
    (void)state;
    make_crawl(folder_name);
    assert_true(sn_crawl_resumable(folder_name));
    int folder = open(folder_name, O_RDONLY | O_DIRECTORY);
    int fd = openat(folder, "checkpoint", O_RDWR);
    ssize_t len = pread(fd, bytes, sizeof bytes, 0);
    assert_in_range(len, 100, 1000);
    assert_int_equal(sn_checkpoint_read(folder, &checkpoint, &error), SEEN_OK);
    assert_int_equal(checkpoint.counts.found, 1);
    assert_int_equal(checkpoint.waiting, 1);
    sn_checkpoint_free(&checkpoint);
    for (ssize_t i = 0; i < len; i++) {
        bytes[i] ^= 4;
        assert_int_equal(pwrite(fd, bytes, (size_t)len, 0), len);
        assert_int_equal(sn_checkpoint_read(folder, &checkpoint, &error), SEEN_ERR_FORMAT);
        bytes[i] ^= 4;
    }
    for (ssize_t cut = len - 1; cut >= 0; cut--) {
        assert_int_equal(ftruncate(fd, cut), 0);
        assert_int_equal(sn_checkpoint_read(folder, &checkpoint, &error), SEEN_ERR_FORMAT);
    }
    assert_int_equal(pwrite(fd, bytes, (size_t)len, 0), len);
    close(fd);
    close(folder);
    make_crawl(folder_name); /* resumes: the start URL is known and still waiting */
}

static void lets_one_in(void **state)
{
    seen_error error;
    int folder, lock, other_folder, other_lock;
    struct stat about;
    (void)state;
    assert_int_equal(sn_folder_lock(folder_name, &folder, &lock, &error), SEEN_OK);
    assert_int_equal(sn_folder_lock(folder_name, &other_folder, &other_lock, &error),
                     SEEN_ERR_EXISTS);
    assert_non_null(strstr(error.message, folder_name));
    assert_int_equal(fstat(lock, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    close(lock);
    close(folder);
    assert_int_equal(sn_folder_lock(folder_name, &folder, &lock, &error), SEEN_OK);
    close(lock);
    close(folder);
    /* A folder of another program. */
    assert_int_equal(sn_folder_lock("/usr", &folder, &lock, &error), SEEN_ERR_EXISTS);
    assert_int_equal(sn_folder_lock("/nonexistent/x", &folder, &lock, &error), SEEN_ERR_NOT_FOUND);
}

static int run_folder(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notices_every_flip_and_cut),
        cmocka_unit_test(lets_one_in),
    };
    if (mkdtemp(folder_name) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder_name);
    return system(command) != 0 || failed;
}

/* ---- failures ---- */

/* The list of failed pages: entries are read back; an unreadable list is an error. */

static seen_status collect(void *user, const sn_frontier_record *record, bool asked,
                           seen_error *error)
{
    char *text = user;
    (void)error;
    sprintf(text + strlen(text), "%u %u %d %.*s %.*s\n", record->depth, record->kind, asked,
            (int)record->len, record->url, (int)record->parent_len, record->parent);
    return SEEN_OK;
}

static void keeps_a_list_that_cannot_be_read(void **state)
{
    (void)state;
    seen_error error = {0};
    /* A folder can be opened, and every read of it fails. */
    sn_failures list = {open(".", O_RDONLY | O_DIRECTORY), open(".", O_RDONLY | O_DIRECTORY), 10};
    assert_true(list.folder >= 0 && list.fd >= 0);
    assert_int_equal(sn_failures_read(&list, collect, NULL, &error), SEEN_ERR_IO);
    assert_non_null(strstr(error.message, "the list of failed pages"));
    assert_int_equal(list.len, 10);
    close(list.folder);
    sn_failures_close(&list);
}

static void reads_what_was_added(void **state)
{
    (void)state;
    char path[] = "/tmp/seen-failures.XXXXXX", text[300] = "", name[64];
    seen_error error;
    sn_failures list;
    assert_non_null(mkdtemp(path));
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(sn_failures_open(&list, folder, 0, &error), SEEN_OK);
    sn_frontier_record page = {
        .url = "http://a/b", .len = 10, .parent = "http://a/", .parent_len = 9};
    sn_frontier_record map = {.url = "http://a/m", .len = 10, .depth = 3, .kind = SN_KIND_SITEMAP};
    sn_frontier_done asked = {
        .record = &page, .outcome = SN_OUTCOME_FAILED, .status = 500, .why = "x y"};
    sn_frontier_done not_asked = {.record = &map,
                                  .outcome = SN_OUTCOME_FAILED,
                                  .status = SN_NOT_REQUESTED,
                                  .why = "host down"};
    assert_int_equal(sn_failures_add(&list, &asked, &error), SEEN_OK);
    uint64_t one = list.len;
    assert_int_equal(sn_failures_add(&list, &not_asked, &error), SEEN_OK);
    assert_int_equal(sn_failures_read(&list, collect, text, &error), SEEN_OK);
    assert_string_equal(text, "0 0 1 http://a/b http://a/\n3 1 0 http://a/m \n");
    /* Entries after the checkpoint are truncated. */
    sn_failures_close(&list);
    assert_int_equal(sn_failures_open(&list, folder, one, &error), SEEN_OK);
    text[0] = '\0';
    assert_int_equal(sn_failures_read(&list, collect, text, &error), SEEN_OK);
    assert_string_equal(text, "0 0 1 http://a/b http://a/\n");
    sn_failures_close(&list);
    close(folder);
    snprintf(name, sizeof name, "%s/failed", path);
    unlink(name);
    rmdir(path);
}

static int run_failures(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_list_that_cannot_be_read),
        cmocka_unit_test(reads_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_folder(), run_failures()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
