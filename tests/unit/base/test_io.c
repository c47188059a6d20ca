/* Complete reads and writes, locks, reserved space, and atomic file replacement. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/newfile.h"
#include "base/text.h"
#include "test_trust.h"

static int scratch_fd(const char *name)
{
    int fd = open(at(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void test_read_write(void **state)
{
    (void)state;
    int fd = scratch_fd("rw");
    char data[5000], back[5000];
    memset(data, 'x', sizeof data);
    assert_true(sn_io_write(fd, data, sizeof data, 100));
    assert_true(sn_io_read(fd, back, sizeof back, 100));
    assert_memory_equal(data, back, sizeof data);
    errno = 99;
    assert_false(sn_io_read(fd, back, sizeof back, 101));
    assert_int_equal(errno, 0);
    assert_true(sn_io_read(fd, back, 0, 1000000));
    close(fd);
    assert_false(sn_io_read(fd, back, 1, 0));
    assert_int_equal(errno, EBADF);
    assert_false(sn_io_write(fd, back, 1, 0));
    assert_int_equal(errno, EBADF);
    fd = open("/dev/full", O_RDWR);
    if (fd >= 0) {
        assert_false(sn_io_write(fd, data, 1, 0));
        assert_int_equal(errno, ENOSPC);
        close(fd);
    }
    unlink(at("rw"));
}

static void test_clear(void **state)
{
    (void)state;
    int fd = scratch_fd("clear");
    static char data[70000], back[70000];
    memset(data, 'y', sizeof data);
    assert_true(sn_io_write(fd, data, sizeof data, 0));
    assert_true(sn_io_clear(fd, 1000, 60000));
    assert_true(sn_io_read(fd, back, sizeof back, 0));
    for (size_t i = 0; i < sizeof back; i++)
        assert_int_equal(back[i], i < 1000 || i >= 61000 ? 'y' : 0);
    assert_false(sn_io_clear(fd, 69000, 2000)); /* beyond the end */
    assert_true(sn_io_clear(fd, 69000, 0));
    close(fd);
    unlink(at("clear"));
}

/* A lock belongs to an open file description: it excludes another one of the same process. */
static void test_lock(void **state)
{
    (void)state;
    int one = scratch_fd("lock"), two = open(at("lock"), O_RDWR);
    assert_true(sn_io_lock(one, 0, F_WRLCK, false));
    assert_true(sn_io_lock(one, 0, F_WRLCK, true));
    assert_false(sn_io_lock(two, 0, F_WRLCK, false));
    assert_true(errno == EAGAIN || errno == EACCES);
    assert_false(sn_io_lock(two, 0, F_RDLCK, false));
    assert_true(sn_io_lock(two, 1, F_RDLCK, false));
    assert_true(sn_io_lock(one, 1, F_RDLCK, false));
    assert_false(sn_io_lock(one, 1, F_WRLCK, false));
    assert_true(sn_io_lock(one, 0, F_UNLCK, false));
    assert_true(sn_io_lock(two, 0, F_WRLCK, false));
    close(two); /* releases the lock */
    assert_true(sn_io_lock(one, 1, F_WRLCK, false));
    close(one);
    unlink(at("lock"));
}

static void test_reserve(void **state)
{
    (void)state;
    int fd = scratch_fd("reserve");
    struct stat st;
    OK(sn_io_reserve(fd, "name", 8192, 100000, error));
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 108192);
    assert_true(st.st_blocks * 512 >= 100000);
    seen_error e;
    seen_status status = sn_io_reserve(fd, "na\nme", 0, UINT64_C(1) << 60, &e);
    assert_true(status == SEEN_ERR_SPACE || status == SEEN_ERR_IO);
    assert_non_null(strstr(e.message, "na\\nme"));
    close(fd);
    FAILS(SEEN_ERR_IO, sn_io_reserve(fd, "name", 0, 10, error));
    unlink(at("reserve"));
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void check_temp(bool nameless)
{
    sn_newfile temp;
    struct stat st;
    mode_t mask = umask(027);
    OK(sn_newfile_open(at("file"), nameless, &temp, error));
    assert_int_equal(scratch_count(), !nameless);
    assert_int_equal(fstat(temp.fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640); /* the umask is applied */
    umask(mask);
    sn_newfile_drop(&temp);
    assert_int_equal(scratch_count(), 0);
    OK(sn_newfile_open(at("file"), nameless, &temp, error));
    assert_true(sn_io_write(temp.fd, "one", 3, 0));
    OK(sn_newfile_publish(&temp, at("file"), false, error));
    assert_int_equal(scratch_count(), 1);
    /* Exists: left unchanged, and the temporary file is gone. */
    OK(sn_newfile_open(at("file"), nameless, &temp, error));
    assert_true(sn_io_write(temp.fd, "two", 3, 0));
    FAILS(SEEN_ERR_EXISTS, sn_newfile_publish(&temp, at("file"), false, error));
    assert_int_equal(scratch_count(), 1);
    size_t size;
    unsigned char *data = file_bytes(at("file"), &size);
    assert_int_equal(size, 3);
    assert_memory_equal(data, "one", 3);
    free(data);
    OK(sn_newfile_open(at("file"), nameless, &temp, error));
    assert_true(sn_io_write(temp.fd, "three", 5, 0));
    OK(sn_newfile_publish(&temp, at("file"), true, error));
    data = file_bytes(at("file"), &size);
    assert_int_equal(size, 5);
    free(data);
    /* A FIFO cannot be replaced. */
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    OK(sn_newfile_open(at("fifo"), nameless, &temp, error));
    FAILS(SEEN_ERR_ARGUMENT, sn_newfile_publish(&temp, at("fifo"), true, error));
    assert_true(S_ISFIFO(mode_of(at("fifo"))));
    assert_int_equal(unlink(at("fifo")), 0);
    /* A symbolic link itself is replaced; its target is left unchanged. */
    assert_int_equal(symlink("file", at("sym")), 0);
    OK(sn_newfile_open(at("sym"), nameless, &temp, error));
    OK(sn_newfile_publish(&temp, at("sym"), true, error));
    assert_true(S_ISREG(mode_of(at("sym"))));
    data = file_bytes(at("file"), &size);
    assert_int_equal(size, 5);
    free(data);
    FAILS(SEEN_ERR_NOT_FOUND, sn_newfile_open(at("no/such/file"), nameless, &temp, error));
    unlink(at("sym"));
    unlink(at("file"));
}

static void test_temp(void **state)
{
    (void)state;
    check_temp(false);
    /* The file has no name until it is in place, if the file system supports that. */
    int fd = open(scratch_path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        check_temp(true);
    }
}

/* A folder that cannot be opened cannot be synced: the file is not put in place. */
static void test_folder(void **state)
{
    (void)state;
    if (geteuid() == 0) { /* root may open anything: run as another user, in another process */
        assert_int_equal(chmod(scratch_path, 0755), 0);
        pid_t child = fork();
        if (child == 0) {
            char folder[600], file[700];
            snprintf(folder, sizeof folder, "/tmp/seen-folder-%d", (int)getpid());
            snprintf(file, sizeof file, "%s/file", folder);
            if (setgid(65534) != 0 || setuid(65534) != 0 || mkdir(folder, 0300) != 0)
                _exit(77);
            sn_newfile temp;
            seen_error e = {0};
            seen_status status = sn_newfile_open(file, false, &temp, &e);
            if (status == SEEN_OK)
                status = sn_newfile_publish(&temp, file, false, &e);
            struct stat st;
            bool gone = lstat(file, &st) != 0 && errno == ENOENT;
            bool empty = rmdir(folder) == 0;
            _exit(status == SEEN_ERR_PERMISSION && gone && empty ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip();
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static int run_io(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_write), cmocka_unit_test(test_clear),
        cmocka_unit_test(test_lock),       cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_temp),       cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* ---- text ---- */

/* Escaping of text for terminals. */

static void escaped(const char *text, size_t len, const char *want)
{
    char out[200];
    size_t got = sn_text_escape(out, sizeof out, text, len);
    out[got] = 0;
    assert_string_equal(out, want);
}

static void terminal(void **state)
{
    (void)state;
    escaped("plain name", 10, "plain name");
    escaped("a\nb\tc\rd", 7, "a\\nb\\tc\\rd");
    escaped("\x1b[31mred", 8, "\\x1b[31mred");
    escaped("\0\x07\x7f", 3, "\\x00\\x07\\x7f");
    escaped("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
    escaped("\xe2\x82\xac \xf0\x9f\x98\x80", 8, "\xe2\x82\xac \xf0\x9f\x98\x80");
    escaped("\xff\xc3", 2, "\\xff\\xc3");
    escaped("\xc0\xaf", 2, "\\xc0\\xaf");                   /* overlong */
    escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");          /* a surrogate */
    escaped("\xc2\x9b", 2, "\\xc2\\x9b");                   /* CSI as one character */
    escaped("\xe2\x80\xae", 3, "\\xe2\\x80\\xae");          /* right-to-left override */
    escaped("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* past the last character */
}

static void bounded(void **state)
{
    (void)state;
    char out[20];
    memset(out, 'x', sizeof out);
    size_t got = sn_text_escape(out, 10, "\x1b\x1b\x1b\x1b\x1b\x1b", 6);
    assert_true(got <= 10);
    assert_int_equal(out[10], 'x');
}

/* JSON needs valid UTF-8, not printable text. */
static void well_formed(void **state)
{
    (void)state;
    assert_int_equal(sn_text_utf8("\x1b", 1), 1);
    assert_int_equal(sn_text_utf8("\xe2\x80\xae", 3), 3);
    assert_int_equal(sn_text_utf8("\xe2\x80", 2), 0);
    assert_int_equal(sn_text_utf8("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(sn_text_utf8("", 0), 0);
}

static int run_text(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal),
        cmocka_unit_test(bounded),
        cmocka_unit_test(well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_io(), run_text()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
