/* Settings: saved values are restored; invalid files are refused. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/frontier/folder.h"
#include "crawl/settings.h"

static char folder_name[] = "/tmp/seen-settings.XXXXXX";

static void comes_back(void **state)
{
    sn_crawl_options in, out;
    seen_error error;
    void *keep;
    static const char *const patterns[] = {"a\nb\\", "", "c d"};
    (void)state;
    sn_crawl_defaults(&in);
    in.include = (sn_crawl_list){patterns, 3};
    in.agent = "x/1 (\x1b\\x41)";
    in.filter = "redis://h/n";
    in.max_depth = UINT64_MAX - 1;
    in.delay_ms = 0;
    in.error_rate = 1.0 / 3;
    in.exact = true;
    int folder = open(folder_name, O_RDONLY | O_DIRECTORY);
    assert_int_equal(sn_settings_save(folder, &in, &error), SEEN_OK);
    out = (sn_crawl_options){.state = "s"};
    assert_int_equal(sn_crawl_load(folder_name, &out, &keep, &error), SEEN_OK);
    assert_string_equal(out.state, "s");
    assert_string_equal(out.agent, in.agent);
    assert_string_equal(out.filter, in.filter);
    assert_int_equal(out.include.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(out.include.items[i], patterns[i]);
    assert_int_equal(out.exclude.count, 0);
    assert_true(out.max_depth == in.max_depth && out.delay_ms == 0 && out.exact);
    assert_true(out.error_rate == in.error_rate);
    assert_null(out.warc);
    free(keep);
    static const char *const wrong[] = {"nonsense 1\n", "max-depth x\n", "max-depth\n", "\n"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sn_folder_replace(folder, "settings", wrong[i], strlen(wrong[i]), &error),
                         SEEN_OK);
        assert_int_equal(sn_crawl_load(folder_name, &out, &keep, &error), SEEN_ERR_FORMAT);
    }
    assert_false(sn_crawl_resumable(folder_name));
    unlinkat(folder, "settings", 0);
    close(folder);
}

/* A truncated or hand-written file: an escape needs both digits, and a line needs its end. */
static void reads_what_is_whole(void **state)
{
    static const struct {
        const char *written, *read;
    } cases[] = {
        {"a\\x41b", "aAb"}, {"a\\x5", "a\\x5"}, {"a\\x", "a\\x"},   {"a\\", "a\\"},
        {"\\x4g", "\\x4g"}, {"\\x 4", "\\x 4"}, {"\\x-1", "\\x-1"}, {"\\X41", "\\X41"},
    };
    sn_crawl_options out = {0};
    seen_error error;
    void *keep = NULL;
    char text[64];
    (void)state;
    int folder = open(folder_name, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "agent %s\n", cases[i].written);
        assert_int_equal(sn_folder_replace(folder, "settings", text, len, &error), SEEN_OK);
        assert_int_equal(sn_crawl_load(folder_name, &out, &keep, &error), SEEN_OK);
        assert_string_equal(out.agent, cases[i].read);
        free(keep);
        assert_int_equal(sn_folder_replace(folder, "settings", text, len - 1, &error), SEEN_OK);
        assert_int_equal(sn_crawl_load(folder_name, &out, &keep, &error), SEEN_ERR_FORMAT);
    }
    unlinkat(folder, "settings", 0);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(reads_what_is_whole),
    };
    if (mkdtemp(folder_name) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder_name);
    return failed;
}
