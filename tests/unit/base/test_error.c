/* Messages: status and advice from errno; names cannot send control characters to a terminal. */
#include "test_trust.h"

#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>

static void test_text(void **state)
{
    (void)state;
    for (int i = 0; i <= SEEN_ERR_SPACE; i++) {
        assert_true(strlen(seen_status_text((seen_status)i)) > 2);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(seen_status_text((seen_status)i),
                                    seen_status_text((seen_status)j));
    }
    assert_string_equal(seen_status_text((seen_status)999), "unknown status");
    assert_string_equal(seen_version(), "0.1.0");
}

static void test_escape(void **state)
{
    (void)state;
    seen_error e;
    sn_error_set(&e, SEEN_ERR_IO, "a\x1b[2Jb\nc\r\td\x7f%s", "\xc3\xa4\xff\xc2\x9b");
    assert_string_equal(e.message, "a\\x1b[2Jb\\nc\\r\\td\\x7f\xc3\xa4\\xff\\xc2\\x9b");
    assert_int_equal(e.status, SEEN_ERR_IO);
    /* Overlong, surrogate, beyond Unicode, truncated: all escaped. */
    static const char *const BROKEN[] = {
        "\xc0\xaf",         "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xe2\x82",     "\x80",         "\xf0\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        sn_error_set(&e, SEEN_ERR_IO, "%s", BROKEN[i]);
        for (const char *p = e.message; *p; p++)
            assert_true((unsigned char)*p < 0x7f);
    }
    sn_error_set(&e, SEEN_ERR_IO, "%s", "\xe2\x82\xac \xf0\x9f\x98\x80");
    assert_string_equal(e.message, "\xe2\x82\xac \xf0\x9f\x98\x80");
    assert_int_equal(sn_error_set(NULL, SEEN_ERR_FULL, "x"), SEEN_ERR_FULL);
}

/* For any bytes, a message is terminated, printable and contains only complete characters. */
static void test_escape_any(void **state)
{
    (void)state;
    rng r = {test_seed()};
    char text[700];
    for (int round = 0; round < 20000; round++) {
        char out[64] = "";
        size_t len = rng_below(&r, sizeof text), room = 1 + rng_below(&r, sizeof out);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)(rng_below(&r, 3) ? rng_next(&r) : 0xc0 + rng_below(&r, 64));
        memset(out + room, '#', sizeof out - room);
        sn_text_escape(out, room, text, len);
        assert_true(strlen(out) < room);
        for (size_t i = room; i < sizeof out; i++)
            assert_int_equal(out[i], '#');
        for (const unsigned char *p = (unsigned char *)out; *p; p++)
            assert_true(*p >= 0x20 && *p != 0x7f);
    }
    seen_error e;
    memset(text, '\x01', sizeof text - 1);
    text[sizeof text - 1] = 0;
    sn_error_set(&e, SEEN_ERR_IO, "%s", text);
    assert_true(strlen(e.message) > 480 && strlen(e.message) < sizeof e.message);
}

/* However long a name is, the message still contains the reason. */
static void test_long_names(void **state)
{
    (void)state;
    static const char END[] = "x: cannot open: No such file or directory; check the name";
    static const char *const LETTER[][2] = {
        {"d", "d"}, {"\x01", "\\x01"}, {"\xc3\xa4", "\xc3\xa4"}, {"\xff", "\\xff"}};
    char name[4096];
    for (size_t letter = 0; letter < 4; letter++)
        for (size_t count = 0; count < 1300; count++) {
            const char *shown = LETTER[letter][1];
            size_t size = strlen(LETTER[letter][0]), all = count * strlen(shown) + strlen(END);
            for (size_t i = 0; i < count; i++)
                memcpy(name + i * size, LETTER[letter][0], size);
            memcpy(name + count * size, "x", 2);
            seen_error e;
            assert_int_equal(sn_error_system(&e, ENOENT, name, "open"), SEEN_ERR_NOT_FOUND);
            size_t reported = strlen(e.message);
            assert_string_equal(e.message + reported - strlen(END), END);
            if (count > 0)
                assert_memory_equal(e.message, shown, strlen(shown));
            if (all < sizeof e.message) {
                assert_int_equal(reported, all);
                continue;
            }
            assert_non_null(strstr(e.message, " ... "));
            assert_in_range(reported, sizeof e.message - 8, sizeof e.message - 1);
        }
}

static void test_system(void **state)
{
    (void)state;
    static const struct {
        int number;
        seen_status status;
    } CASES[] = {{ENOENT, SEEN_ERR_NOT_FOUND}, {ENOTDIR, SEEN_ERR_NOT_FOUND},
                 {EEXIST, SEEN_ERR_EXISTS},    {EACCES, SEEN_ERR_PERMISSION},
                 {EPERM, SEEN_ERR_PERMISSION}, {EROFS, SEEN_ERR_PERMISSION},
                 {ENOSPC, SEEN_ERR_SPACE},     {EDQUOT, SEEN_ERR_SPACE},
                 {EFBIG, SEEN_ERR_SPACE},      {ENOMEM, SEEN_ERR_MEMORY},
                 {EIO, SEEN_ERR_IO},           {EISDIR, SEEN_ERR_IO},
                 {ELOOP, SEEN_ERR_IO},         {EMFILE, SEEN_ERR_IO}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        seen_error e = {0};
        seen_status got = sn_error_system(&e, CASES[i].number, "da\nta", "open");
        assert_int_equal(got, CASES[i].status);
        assert_non_null(strstr(e.message, "da\\nta: cannot open: "));
        const char *reason = strstr(e.message, strerror(CASES[i].number));
        assert_non_null(reason);
        /* Advice, if there is any. */
        bool helpless = CASES[i].number == EEXIST || CASES[i].number == EIO;
        assert_true(!strchr(reason, ';') == helpless);
    }
}

static void test_cannot(void **state)
{
    (void)state;
    seen_error e = {0};
    assert_int_equal(sn_error_cannot(&e, ENOSPC, "write", "x"), SEEN_ERR_SPACE);
    assert_string_equal(e.message,
                        "cannot write x: No space left on device; free some space and try again");
    assert_int_equal(sn_error_cannot(NULL, EIO, "write", "x"), SEEN_ERR_IO);
    int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    assert_int_equal(sn_error_cannot_in(&e, ENOENT, folder, "open", "done"), SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "cannot open done in /: No such file"));
    close(folder);
    /* A folder without a name, and the folder of temporary files. */
    sn_error_cannot_in(&e, EIO, folder, "write", "done");
    assert_non_null(strstr(e.message, "cannot write done in the state folder: "));
    setenv("TMPDIR", "/var/tmp", 1);
    sn_error_cannot_in(&e, EIO, -1, "write", "done");
    assert_non_null(strstr(e.message, "cannot write done in /var/tmp: "));
    setenv("TMPDIR", "", 1);
    sn_error_cannot_in(&e, EIO, -1, "write", "done");
    assert_non_null(strstr(e.message, "cannot write done in /tmp: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),       cmocka_unit_test(test_escape),
        cmocka_unit_test(test_escape_any), cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_system),     cmocka_unit_test(test_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
