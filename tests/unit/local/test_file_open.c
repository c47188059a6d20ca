/* Opening a file: what happens meanwhile, and what other programs or a power cut made of it. */
#include "test_file.h"

#include <sys/syscall.h>

/* ---- something happens between reading the image and taking the lock ---- */

static void (*meanwhile)(void);

/* Asked for the folder, the library has read the image and has no lock yet. */
char *getcwd(char *out, size_t room)
{
    static char here[4096];
    void (*happens)(void) = meanwhile;
    meanwhile = NULL;
    if (happens)
        happens();
    if (syscall(SYS_getcwd, out ? out : here, out ? room : sizeof here) < 0)
        return NULL;
    return out ? out : strdup(here);
}

static void another_grows_it(void)
{
    seen_set *other = open_set("f", SEEN_ALONE);
    add_range(other, 1000, 1000);
    seen_close(other);
}

static void another_turns_it(void)
{
    seen_set *other = open_set("f", 0);
    for (int i = 0; i < 3; i++)
        OK(seen_rotate(other, error));
    add_range(other, 1000, 1000);
    seen_close(other);
}

/* Who has a file for itself does not look again whether it has grown: it must know all that there
 * is from the beginning, or it puts its next layer in the place of one that others have filled. */
static void test_changed_before_alone(void **state)
{
    (void)state;
    char here[1000];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_path), 0);
    for (int window = 0; window < 2; window++) {
        seen_options options = plain_options(SEEN_BLOOM, window ? SEEN_WINDOW : SEEN_GROWING,
                                             window ? 9000 : 50, 1e-6);
        seen_set *set = NULL;
        seen_close(create("f", options, 0));
        meanwhile = window ? another_turns_it : another_grows_it;
        OK(seen_open("f", NULL, SEEN_ALONE, &set, error));
        assert_null(meanwhile);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        add_range(set, 5000, MANY);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        seen_close(set);
        set = open_set("f", 0);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        assert_int_equal(count_there(set, 5000, MANY), MANY);
        seen_close(set);
        drop("f");
    }
    assert_int_equal(chdir(here), 0);
}

/* ---- holes ---- */

static blkcnt_t blocks_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(at(name), &st), 0);
    return st.st_blocks;
}

/* A copy of a filter with holes where it is zero, as some programs make them. */
static void copy_with_holes(const char *from, const char *to)
{
    static const unsigned char ZERO[4096];
    size_t size;
    unsigned char *bytes = file_bytes(at(from), &size);
    int fd = open(at(to), O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    for (size_t i = 0; i + sizeof ZERO <= size; i += sizeof ZERO)
        if (memcmp(bytes + i, ZERO, sizeof ZERO) != 0)
            assert_int_equal(pwrite(fd, bytes + i, sizeof ZERO, (off_t)i), sizeof ZERO);
    close(fd);
    free(bytes);
}

/* A disk without room for what is to be written into a hole would kill the process. (On a file
 * system without holes all of it is true from the beginning.) */
static void test_holes(void **state)
{
    (void)state;
    size_t size, again;
    seen_set *set = create("f", plain_options(SEEN_BLOOM, SEEN_FIXED, 1000000, 0.01), 0);
    add_range(set, 0, 10);
    OK(seen_close_checked(set, error));
    copy_with_holes("f", "holes");
    blkcnt_t whole = blocks_of("f"), few = blocks_of("holes");
    seen_close(open_set("holes", SEEN_READ_ONLY));
    assert_int_equal(blocks_of("holes"), few);
    set = open_set("holes", 0);
    assert_true(blocks_of("holes") >= whole);
    assert_int_equal(count_there(set, 0, 10), 10);
    seen_close(set);
    unsigned char *one = file_bytes(at("f"), &size), *two = file_bytes(at("holes"), &again);
    assert_int_equal(size, again);
    assert_memory_equal(one, two, size);
    free(one);
    free(two);
    unlink(at("holes"));
    drop("f");
}

/* ---- counters that were lost ---- */

/* What is opened for reading only is not mended; a union does not believe its counters either. */
static void test_counters_of_read_only(void **state)
{
    (void)state;
    static const unsigned char WRONG[][8] = {{0}, {255, 255, 255, 255, 255, 255, 255, 255}};
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 0.01);
    for (size_t i = 0; i < 2; i++) {
        seen_set *into = create("into", options, 0), *from = create("from", options, 0);
        add_range(into, 0, 900);
        add_range(from, 2000, 900);
        seen_close(from);
        write_at("from", WRONG[i], 8, 8192);
        from = open_set("from", SEEN_READ_ONLY);
        FAILS(SEEN_ERR_FULL, seen_merge(into, from, error));
        assert_int_equal(count_there(into, 0, 900), 900);
        seen_close(from);
        seen_close(into);
        into = create("into", options, SEEN_REPLACE);
        add_range(into, 0, 100);
        from = create("from", options, SEEN_REPLACE);
        add_range(from, 2000, 800);
        seen_close(from);
        write_at("from", WRONG[i], 8, 8192);
        from = open_set("from", SEEN_READ_ONLY);
        OK(seen_merge(into, from, error));
        hashes_from(5000, MANY, batch); /* 900 are there: about a hundred more fit */
        FAILS(SEEN_ERR_FULL, seen_add_hashes(into, batch, 300, told, error));
        seen_close(from);
        seen_close(into);
        unlink(at("from"));
        drop("into");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_before_alone),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_counters_of_read_only),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
