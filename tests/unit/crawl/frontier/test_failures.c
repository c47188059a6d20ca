/* The list of failed pages: what was added is read again; a list that cannot be read is an error.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/frontier/failures.h"

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
    /* A folder opens, and every read of it fails. */
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
    sn_frontier_done asked = {.record = &page, .fate = SN_FATE_FAILED, .status = 500, .why = "x y"};
    sn_frontier_done not_asked = {
        .record = &map, .fate = SN_FATE_FAILED, .status = SN_NOT_ASKED, .why = "host down"};
    assert_int_equal(sn_failures_add(&list, &asked, &error), SEEN_OK);
    uint64_t one = list.len;
    assert_int_equal(sn_failures_add(&list, &not_asked, &error), SEEN_OK);
    assert_int_equal(sn_failures_read(&list, collect, text, &error), SEEN_OK);
    assert_string_equal(text, "0 0 1 http://a/b http://a/\n3 1 0 http://a/m \n");
    /* What a checkpoint does not count is cut off. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_list_that_cannot_be_read),
        cmocka_unit_test(reads_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
