/* Files that are damaged, truncated, not filters, or modified while they are open. */
#include <sys/syscall.h>

#include "base/bytes.h"
#include "hash/hash.h"
#include "set/image.h"
#include "set/store.h"
#include "test_file.h"

/* Every byte of a small file flipped in turn: refused, or the same answers if the byte is in a
 * checksummed page; in the lines a flip changes the answer of at most one key, and never
 * crashes. */
static void test_flips(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        seen_options options = plain_options(SEEN_BLOOM, (seen_growth)growth, 60, 0.01);
        options.generations = 2;
        seen_set *set = create("f", options, 0);
        add_range(set, 0, 59);
        seen_close(set);
        size_t size;
        unsigned char *good = file_bytes(at("f"), &size);
        assert_true(size < (growth == SEEN_GROWING ? 400000 : 64000));
        uint64_t refused = 0, other = 0;
        for (size_t i = 0; i < size; i += i < 8192 || i >= 16384 ? 1 : 7) {
            if (size > 64000 && i >= 16384 && good[i] == 0 && i % 97 != 0)
                continue; /* an empty slot like all others */
            unsigned char bad = (unsigned char)(good[i] ^ (i < 16384 ? 1u << i % 8 : 255u));
            write_at("f", &bad, 1, (off_t)i);
            seen_error e;
            seen_status status = seen_open(at("f"), NULL, SEEN_READ_ONLY, &set, &e);
            if (status == SEEN_OK) {
                size_t there = count_there(set, 0, 59);
                assert_true(i < 16384 ? there == 59 : there >= 20);
                other += there != 59;
                seen_close(set);
            } else {
                assert_int_equal(status, SEEN_ERR_FORMAT);
                refused++;
            }
            write_at("f", good + i, 1, (off_t)i);
        }
        assert_int_equal(refused, 0); /* one page is always valid */
        assert_true(other > 10);
        /* Both pages: refused, and the file is left unchanged. */
        for (size_t i = 0; i < 4096; i += 5) {
            unsigned char bad = (unsigned char)(good[i] ^ 0x10);
            write_at("f", &bad, 1, (off_t)i);
            write_at("f", &bad, 1, (off_t)i + 4096);
            FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
            write_at("f", good + i, 1, (off_t)i);
            write_at("f", good + i, 1, (off_t)i + 4096);
        }
        size_t again;
        unsigned char *after = file_bytes(at("f"), &again);
        assert_int_equal(size, again);
        assert_memory_equal(good, after, size);
        free(after);
        free(good);
        drop("f");
    }
}

static void test_truncations(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 60, 0.01);
    seen_set *set = layered_create(at("f"), &options);
    add_range(set, 0, 200);
    sn_image image;
    OK(set->ops->image(set, &image, error));
    const sn_layer *last = &image.layer[image.layers - 1];
    uint64_t need = last->offset + sn_geometry_bytes(&last->geometry);
    seen_close(set);
    size_t size;
    unsigned char *good = file_bytes(at("f"), &size);
    for (size_t cut = 0; cut<size; cut += cut % 512> 2 && cut % 512 < 500 ? 61 : 1) {
        assert_int_equal(truncate(at("f"), (off_t)cut), 0);
        if (cut >= need)
            break;
        FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
        struct stat st;
        assert_int_equal(stat(at("f"), &st), 0);
        assert_int_equal(st.st_size, cut);
        file_put(at("f"), good, size);
    }
    file_put(at("f"), good, size);
    set = open_set("f", 0);
    assert_int_equal(count_there(set, 0, 200), 200);
    seen_close(set);
    free(good);
    drop("f");
}

/* Also if only the padding after the last line is missing. */
static void test_cut_padding(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        seen_set *set = create("f", plain_options(SEEN_BLOOM, (seen_growth)growth, 60, 0.01), 0);
        struct stat st;
        seen_close(set);
        assert_int_equal(stat(at("f"), &st), 0);
        assert_int_equal(st.st_size % 4096, 0);
        assert_int_equal(truncate(at("f"), st.st_size - 1), 0);
        FAILS(SEEN_ERR_FORMAT, seen_open(at("f"), NULL, 0, &set, error));
        unlink(at("f"));
    }
}

static void test_foreign(void **state)
{
    (void)state;
    seen_set *set = NULL;
    file_put(at("text"), "hello\n", 6);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    static char zero[100000];
    file_put(at("text"), zero, sizeof zero);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    file_put(at("text"), zero, 0);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("text"), NULL, 0, &set, error));
    unlink(at("text"));
    FAILS(SEEN_ERR_FORMAT, seen_open("/dev/null", NULL, 0, &set, error));
    FAILS(SEEN_ERR_IO, seen_open(scratch_path, NULL, 0, &set, error));
    FAILS(SEEN_ERR_FORMAT, seen_open(scratch_path, NULL, SEEN_READ_ONLY, &set, error));
    assert_null(set);
    /* A name with terminal control characters. */
    seen_error e;
    assert_int_equal(seen_open(at("a\x1b[31m\nb"), NULL, 0, &set, &e), SEEN_ERR_NOT_FOUND);
    for (const char *p = e.message; *p; p++)
        assert_true(*p >= 0x20);
    assert_non_null(strstr(e.message, "a\\x1b[31m\\nb"));
}

/* The file is overwritten while it is open: detected, or without effect on open handles. */
static void test_changed_underneath(void **state)
{
    (void)state;
    static const char JUNK[8192] = "junk";
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 100, 1e-6);
    seen_set *set = layered_create(at("f"), &options), *other;
    add_range(set, 0, 50);
    seen_set *reader = open_set("f", SEEN_READ_ONLY);
    size_t size, large;
    unsigned char *good = file_bytes(at("f"), &size);
    write_at("f", JUNK, sizeof JUNK, 0);
    hashes_from(0, 3, batch);
    FAILS(SEEN_ERR_CHANGED, seen_check_hashes(reader, batch, 3, reported, error));
    assert_int_equal(reported[2], SEEN_UNKNOWN);
    FAILS(SEEN_ERR_CHANGED, seen_add_hashes(set, batch, 3, reported, error));
    assert_int_equal(reported[0], SEEN_UNKNOWN);
    FAILS(SEEN_ERR_CHANGED, seen_copy(set, at("copy"), 0, NULL, error));
    write_at("f", good, size, 0);
    OK(seen_check_hashes(reader, batch, 3, reported, error));
    /* Another filter is written over it, in place. */
    options.capacity = 5000;
    other = layered_create(at("other"), &options);
    add_range(other, 0, 6000 < MANY ? 6000 : MANY);
    OK(seen_close_checked(other, error));
    unsigned char *foreign = file_bytes(at("other"), &large);
    foreign[88] = 77; /* another sequence */
    sn_store64(foreign + 4088, sn_hash_checksum(foreign, 4088));
    write_at("f", foreign, large, 0);
    FAILS(SEEN_ERR_CHANGED, seen_check_hashes(reader, batch, 3, reported, error));
    FAILS(SEEN_ERR_CHANGED, seen_add_hashes(set, batch, 3, reported, error));
    free(good);
    free(foreign);
    seen_close(reader);
    seen_close(set);
    unlink(at("other"));
    unlink(at("f"));
    assert_int_equal(scratch_count(), 0);
}

/* Additions to a file that has no name any more are lost when it is closed: sync does not report
 * success. */
static void test_replaced(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 1e-6);
    for (int removed = 0; removed < 2; removed++) {
        seen_set *set = create("f", options, 0);
        add_range(set, 0, 50);
        OK(seen_sync(set, error));
        if (removed)
            OK(seen_drop(at("f"), NULL, error));
        else
            OK(seen_copy(set, at("f"), SEEN_REPLACE, NULL, error));
        add_range(set, 100, 50);
        assert_int_equal(count_there(set, 100, 50), 50);
        FAILS(SEEN_ERR_CHANGED, seen_sync(set, error));
        FAILS(SEEN_ERR_CHANGED, seen_close_checked(set, error));
        if (removed)
            continue;
        set = open_set("f", 0);
        assert_int_equal(count_there(set, 0, 50), 50);
        assert_int_equal(count_there(set, 100, 50), 0);
        OK(seen_close_checked(set, error));
        drop("f");
    }
    assert_int_equal(scratch_count(), 0);
}

/* Opening a FIFO must not block. */
static void test_fifo(void **state)
{
    (void)state;
    seen_set *set = NULL;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    FAILS(SEEN_ERR_FORMAT, seen_open(at("fifo"), NULL, 0, &set, error));
    FAILS(SEEN_ERR_FORMAT, seen_open(at("fifo"), NULL, SEEN_READ_ONLY, &set, error));
    unlink(at("fifo"));
}

static int run_file_damage(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_cut_padding),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_changed_underneath),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_fifo),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* ---- file_open ---- */

/* Opening a file: concurrent changes, and the effects of other programs or of a power failure. */

/* ---- changes between reading the image and taking the lock ---- */

static void (*meanwhile)(void);

/* When it queries the folder, the library has read the image and holds no lock yet. */
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

static void another_rotates_it(void)
{
    seen_set *other = open_set("f", 0);
    for (int i = 0; i < 3; i++)
        OK(seen_rotate(other, error));
    add_range(other, 1000, 1000);
    seen_close(other);
}

/* An exclusive handle does not check again whether the file has grown: it must know all layers from
 * the beginning, or it puts its next layer over one that others have filled. */
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
        meanwhile = window ? another_rotates_it : another_grows_it;
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

/* A copy of a filter with holes in place of zeros, as some programs create them. */
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

/* Without disk space for a hole, writing into it would kill the process with SIGBUS. (On a file
 * system without sparse files this holds trivially.) */
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

/* A read-only file is not repaired; a merge does not trust its counters either. */
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
        hashes_from(5000, MANY, batch); /* 900 are present: about a hundred more fit */
        FAILS(SEEN_ERR_FULL, seen_add_hashes(into, batch, 300, reported, error));
        seen_close(from);
        seen_close(into);
        unlink(at("from"));
        drop("into");
    }
}

static int run_file_open(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_before_alone),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_counters_of_read_only),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

int main(void)
{
    int status[] = {run_file_damage(), run_file_open()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
