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

/* Each difference is reported by its option and with values as they are given. */
static void compares(void **state)
{
    static const char *const words[] = {"foo", "b"};
    static const struct {
        const char *line, *message; /* replaces the line of that name; or adds it */
    } cases[] = {
        {"max-depth 0", "w: --depth: the crawl has 0, this worker no limit; "},
        {"max-pages 7", "w: --max-pages: the crawl has 7, this worker no limit; "},
        {"max-body 100", "w: --max-body: the crawl has 100 bytes, this worker 16777216 bytes; "},
        {"delay-ms 1500", "w: --delay: the crawl has 1.5 s, this worker 1 s; "},
        {"max-delay-ms 0", "w: --max-crawl-delay: the crawl has 0 s, this worker 30 s; "},
        {"scope 2", "w: --scope: the crawl has all, this worker host; "},
        {"error-rate 0.01", "w: --error-rate: the crawl has 0.01, this worker 1e-6; "},
        {"no-parent 1", "w: --no-parent: the crawl has on, this worker off; "},
        {"url-flags 5", "w: --sort-query: the crawl has on, this worker off; "},
        {"url-flags 16", "w: --drop-slash: the crawl has on, this worker off; "},
        {"agent x", "w: --user-agent: the crawl has x, this worker " SN_CRAWL_AGENT "; "},
        {"drop c", "w: --drop: the crawl has foo, b, c, this worker foo, b; "},
        {"include c", "w: --include: the crawl has c, this worker none; "},
        {"filter f", "w: --filter: the crawl has f, this worker none; "},
        {"filter redis://me:word@h/n", "w: --filter: the crawl has redis://h/n, this worker none"},
        {"allow-private 1", "w: this crawl was created with --allow-private, "},
        {"retries 3", NULL},
    };
    sn_crawl_options options;
    seen_error error;
    (void)state;
    sn_crawl_defaults(&options);
    options.drop = (sn_crawl_list){words, 2};
    char *text = sn_settings_shared(&options), changed[4000];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int name = (int)strcspn(cases[i].line, " ") + 1;
        size_t len = 0;
        for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
            if (strncmp(line, cases[i].line, (size_t)name) != 0 || line[0] == 'd')
                len += (size_t)snprintf(changed + len, sizeof changed - len, "%.*s\n",
                                        (int)strcspn(line, "\n"), line);
        snprintf(changed + len, sizeof changed - len, "%s\n", cases[i].line);
        seen_status status = sn_settings_compare(changed, &options, "w", &error);
        assert_int_equal(status, cases[i].message ? SEEN_ERR_MISMATCH : SEEN_OK);
        if (cases[i].message &&
            strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s", cases[i].line, error.message);
    }
    assert_int_equal(sn_settings_compare(text, &options, "w", &error), SEEN_OK);
    options.allow_private = true;
    assert_int_equal(sn_settings_compare(text, &options, "w", &error), SEEN_ERR_MISMATCH);
    assert_string_equal(error.message,
                        "w: this crawl was created without --allow-private: leave it out");
    /* A text of an earlier version. */
    *strstr(text, "allow-private") = '\0';
    assert_int_equal(sn_settings_compare(text, &options, "w", &error), SEEN_OK);
    options.include = (sn_crawl_list){words, 1};
    assert_int_equal(sn_settings_compare(text, &options, "w", &error), SEEN_ERR_MISMATCH);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(reads_what_is_whole),
        cmocka_unit_test(compares),
    };
    if (mkdtemp(folder_name) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder_name);
    return failed;
}
