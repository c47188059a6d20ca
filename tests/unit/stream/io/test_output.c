/* Outputs are replaced atomically.
 * Needs: compression.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>

#include "stream/io/input.h"
#include "stream/io/output.h"
#include "test_stream.h"

static unsigned files_in_scratch(void)
{
    unsigned count = 0;
    DIR *dir = opendir(scratch_dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return count;
}

static void test_appears_at_the_end(void **state)
{
    (void)state;
    const char *path = scratch("out");
    sn_output *output;
    mode_t before = umask(027);
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_true(sn_output_is_deferred(output));
    assert_true(sn_output_is_file(output));
    assert_int_equal(sn_output_write(output, "a\nb\n", 4, NULL), SEEN_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    umask(before);
    assert_file_is(path, "a\nb\n", 4);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(files_in_scratch(), 1);
    unlink(path);
}

/* A partial output is kept next to the path, with the permissions of the file there, and replaces
 * nothing. */
static void test_kept(void **state)
{
    (void)state;
    const char *path = scratch("kept");
    char *name;
    sn_output *output;
    write_file(path, "old\n", 4);
    chmod(path, 0600);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
        assert_int_equal(sn_output_write(output, i ? "b\n" : "a\n", 2, NULL), SEEN_OK);
        name = sn_output_keep(output);
        assert_non_null(name);
        assert_string_equal(strstr(name, "/kept") + 5, i ? ".partial.2" : ".partial");
        assert_file_is(name, i ? "b\n" : "a\n", 2);
        struct stat info;
        assert_int_equal(stat(name, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        assert_int_equal(files_in_scratch(), 2 + i);
        free(name);
    }
    assert_file_is(path, "old\n", 4);
    unlink(scratch("kept.partial"));
    unlink(scratch("kept.partial.2"));
    /* Compressed: complete up to its end. Nothing written: nothing kept. */
    assert_int_equal(sn_output_open(scratch("kept.gz"), '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "a\n", 2, NULL), SEEN_OK);
    name = sn_output_keep(output);
    assert_non_null(name);
    char command[300];
    snprintf(command, sizeof command, "[ \"$(gzip -cd < '%s')\" = a ]", name);
    assert_int_equal(system(command), 0);
    unlink(name);
    free(name);
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_null(sn_output_keep(output));
    unlink(path);
    assert_int_equal(files_in_scratch(), 0);
}

static void test_replaces(void **state)
{
    (void)state;
    const char *path = scratch("old");
    sn_output *output;
    write_file(path, "old\n", 4);
    chmod(path, 0604);
    /* Only root can create a file owned by another user. */
    uid_t owner = geteuid() == 0 ? 12345 : geteuid();
    assert_int_equal(chown(path, owner, geteuid() == 0 ? 23456 : getegid()), 0);
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "new\n", 4, NULL), SEEN_OK);
    assert_file_is(path, "old\n", 4);
    sn_output_abandon(output);
    assert_file_is(path, "old\n", 4);
    assert_int_equal(files_in_scratch(), 1);

    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "new\n", 4, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    assert_file_is(path, "new\n", 4);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
    assert_int_equal(info.st_uid, owner);
    assert_int_equal(info.st_gid, geteuid() == 0 ? 23456 : getegid());
    unlink(path);
}

static void test_through_a_link(void **state)
{
    (void)state;
    const char *path = scratch("real"), *by_link = scratch("by-link");
    sn_output *output;
    write_file(path, "old\n", 4);
    assert_int_equal(symlink("real", by_link), 0);
    assert_int_equal(sn_output_open(by_link, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "new\n", 4, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    assert_file_is(path, "new\n", 4);
    struct stat info;
    assert_int_equal(lstat(by_link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(path);
    unlink(by_link);
}

static void test_open_line(void **state)
{
    (void)state;
    const char *path = scratch("open");
    sn_output *output;
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "a", 1, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "", 0, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "b\nc", 3, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    assert_file_is(path, "a\nb\nc\n", 6);
    unlink(path);
}

static void round_trip(const char *name)
{
    const char *path = scratch(name);
    sn_output *output;
    sn_input *input;
    size_t length, got = 0, part;
    char *text = random_text(20000, 100, &length);
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    for (size_t at = 0; at < length; at += part) {
        part = random_below(5000) + 1;
        part = part < length - at ? part : length - at;
        /* Pieces of whole lines only, as the engine writes. */
        while (at + part < length && text[at + part - 1] != '\n')
            part++;
        assert_int_equal(sn_output_write(output, text + at, part, NULL), SEEN_OK);
    }
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true((size_t)info.st_size < length);
    char *back = malloc(length + 2);
    assert_non_null(back);
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    do {
        assert_int_equal(sn_input_read(input, back + got, length + 2 - got, &part, NULL), SEEN_OK);
        got += part;
    } while (part);
    assert_true(sn_input_is_compressed(input));
    sn_input_close(input);
    /* The last line always ends with a newline. */
    if (text[length - 1] != '\n')
        assert_int_equal(back[--got], '\n');
    assert_int_equal(got, length);
    assert_memory_equal(back, text, length);
    free(back);
    free(text);
    unlink(path);
}

static void test_compressed(void **state)
{
    (void)state;
    round_trip("x.gz");
    round_trip("x.zst");
    /* An empty output is still a complete file. */
    const char *path = scratch("empty.gz");
    sn_output *output;
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    sn_input *input;
    char to[4];
    size_t got;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_read(input, to, 4, &got, NULL), SEEN_OK);
    assert_int_equal(got, 0);
    assert_true(sn_input_is_compressed(input));
    sn_input_close(input);
    unlink(path);
}

static void test_closed_pipe(void **state)
{
    (void)state;
    int ends[2];
    sn_stop stop;
    sn_output *output;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    char name[64];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    assert_int_equal(sn_output_open(name, '\n', &stop, &output, NULL), SEEN_OK);
    assert_false(sn_output_is_deferred(output));
    assert_int_equal(sn_output_write(output, "a\n", 2, NULL), SEEN_OK);
    assert_int_equal(sn_stop_get(&stop), SN_STOP_CLOSED);
    assert_int_equal(sn_output_write(output, "b\n", 2, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    sn_stop_free(&stop);
    close(ends[1]);
}

static void *read_slowly(void *argument)
{
    static char bytes[1 << 16];
    size_t *sum = argument;
    int fd = (int)*sum;
    *sum = 0;
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0; usleep(500))
        *sum += (size_t)got;
    return NULL;
}

/* A non-blocking pipe, as some parents leave it, is waited for. */
static void test_pipe_that_does_not_wait(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    int ends[2];
    sn_output *output;
    pthread_t thread;
    char *text = calloc(1, BYTES);
    text[BYTES - 1] = '\n';
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    fcntl(ends[0], F_SETFL, 0);
    size_t sum = (size_t)ends[0];
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &sum), 0);
    int standard = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    seen_status opened = sn_output_open(NULL, '\n', NULL, &output, NULL);
    seen_status written = sn_output_write(output, text, BYTES, NULL);
    seen_status finished = sn_output_finish(output, NULL);
    dup2(standard, STDOUT_FILENO);
    close(standard);
    assert_int_equal(opened, SEEN_OK);
    assert_int_equal(written, SEEN_OK);
    assert_int_equal(finished, SEEN_OK);
    pthread_join(thread, NULL);
    assert_int_equal(sum, BYTES);
    close(ends[0]);
    free(text);
}

/* More than is buffered before write-back. */
static void test_large(void **state)
{
    (void)state;
    enum { PART = 1 << 20, PARTS = 70 };
    sn_output *output;
    char *text = malloc(PART);
    memset(text, '\n', PART);
    const char *path = scratch("large");
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(sn_output_write(output, text, PART, NULL), SEEN_OK);
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, PART * PARTS);
    unlink(path);
    free(text);
}

static void test_full_disk(void **state)
{
    (void)state;
    sn_output *output;
    seen_error error;
    assert_int_equal(sn_output_open("/dev/full", '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "a\n", 2, &error), SEEN_ERR_SPACE);
    assert_non_null(strstr(error.message, "/dev/full"));
    sn_output_abandon(output);
}

/* A file that this user may not write is left unchanged, although its folder would allow replacing
 * it. */
static void test_forbidden(void **state)
{
    (void)state;
    write_file(scratch("sealed"), "a\n", 2);
    assert_int_equal(chmod(scratch("sealed"), 0444), 0);
    /* As another user: root may write everything. */
    uid_t user = getuid();
    if (user == 0)
        assert_int_equal(setreuid(65534, (uid_t)-1), 0);
    sn_output *output = NULL;
    seen_error error = {0};
    seen_status status = sn_output_open(scratch("sealed"), '\n', NULL, &output, &error);
    if (user == 0)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
    assert_int_equal(status, SEEN_ERR_PERMISSION);
    assert_null(output);
    assert_non_null(strstr(error.message, "cannot replace"));
    assert_file_is(scratch("sealed"), "a\n", 2);
}

static void test_refused(void **state)
{
    (void)state;
    sn_output *output;
    seen_error error;
    assert_int_equal(sn_output_open(scratch_dir, '\n', NULL, &output, &error), SEEN_ERR_ARGUMENT);
    assert_int_equal(sn_output_open(scratch("no/such/folder"), '\n', NULL, &output, &error),
                     SEEN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "no/such/folder"));
    assert_int_equal(files_in_scratch(), 0);
}

static int run_output(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appears_at_the_end),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_replaces),
        cmocka_unit_test(test_through_a_link),
        cmocka_unit_test(test_open_line),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_pipe_that_does_not_wait),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* ---- output_faults ---- */

/* Outputs without memory, and a disk that reports an error only on close. */

static bool close_fails, nameless_fails, malloc_fails, link_fails;

static int faulty_linkat(int from, const char *old, int to, const char *name, int flags)
{
    if (!link_fails)
        return linkat(from, old, to, name, flags);
    errno = EPERM;
    return -1;
}

static int faulty_close(int fd)
{
    int result = close(fd);
    if (!close_fails)
        return result;
    errno = EDQUOT;
    return -1;
}

static int faulty_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (nameless_fails && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return open(path, flags, mode);
}

static void *faulty_malloc(size_t size)
{
    return malloc_fails ? NULL : malloc(size);
}

/* Includes the sources, with calls that fail on demand. */
#define close faulty_close
#define open faulty_open
#define malloc faulty_malloc
#define linkat faulty_linkat
#include "base/newfile.c"

#include "stream/io/output.c"
#undef close
#undef open
#undef malloc
#undef linkat

static void test_close_fails(void **state)
{
    (void)state;
    sn_output *output;
    seen_error error = {0};
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_write(output, "a\n", 2, NULL), SEEN_OK);
    close_fails = true;
    assert_int_equal(sn_output_finish(output, &error), SEEN_ERR_SPACE);
    close_fails = false;
    assert_non_null(strstr(error.message, "/out: cannot write: "));
}

static void test_no_memory_for_a_name(void **state)
{
    (void)state;
    sn_output *output = NULL;
    seen_error error = {0};
    nameless_fails = true;
    assert_int_equal(sn_output_open(scratch("other"), '\n', NULL, &output, NULL), SEEN_OK);
    sn_output_abandon(output);
    output = NULL;
    malloc_fails = true;
    assert_int_equal(sn_output_open(scratch("other"), '\n', NULL, &output, &error),
                     SEEN_ERR_MEMORY);
    nameless_fails = malloc_fails = false;
    assert_null(output);
    assert_non_null(strstr(error.message, "out of memory"));
    assert_int_not_equal(access(scratch("other"), F_OK), 0);
}

/* FAT and similar: no files without a name, and no hard links. */
static void test_keep_without_links(void **state)
{
    (void)state;
    nameless_fails = link_fails = true;
    for (int i = 1; i <= 2; i++) {
        sn_output *output = NULL;
        assert_int_equal(sn_output_open(scratch("part"), '\n', NULL, &output, NULL), SEEN_OK);
        assert_int_equal(sn_output_write(output, i == 1 ? "a\n" : "b\n", 2, NULL), SEEN_OK);
        char *name = sn_output_keep(output);
        assert_non_null(name);
        assert_string_equal(strrchr(name, '/'), i == 1 ? "/part.partial" : "/part.partial.2");
        assert_file_is(name, i == 1 ? "a\n" : "b\n", 2);
        free(name);
    }
    nameless_fails = link_fails = false;
}

static int run_output_faults(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_fails),
        cmocka_unit_test(test_no_memory_for_a_name),
        cmocka_unit_test(test_keep_without_links),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

int main(void)
{
    int status[] = {run_output(), run_output_faults()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
