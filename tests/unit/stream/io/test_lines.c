/* Finding line ends: the fast scan agrees with the reference. */
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

#include "stream/io/block.h"
#include "stream/io/lines.h"
#include "stream/io/stop.h"
#include "test_stream.h"

/* Includes the source, to test every scan, also those not used on this CPU. */
#include "stream/io/lines.c"

static void compare(const char *bytes, size_t length, char terminator)
{
    uint32_t *slow = malloc((length + 1) * sizeof *slow), *fast = malloc((length + 80) * 4);
    size_t scanned;
    size_t wanted = sn_lines_scan_plain(bytes, length, terminator, slow, length);
    size_t found = sn_lines_scan(bytes, length, terminator, fast, length + 1, &scanned);
    assert_int_equal(scanned, length);
    assert_int_equal(found, wanted);
    assert_memory_equal(fast, slow, wanted * sizeof *slow);
    memset(fast, 0, (length + 80) * 4);
    found = scan_words(bytes, length, terminator, fast, length + 1, &scanned);
    assert_int_equal(scanned, length);
    assert_int_equal(found, wanted);
    assert_memory_equal(fast, slow, wanted * sizeof *slow);
    free(slow);
    free(fast);
}

static void test_scan(void **state)
{
    (void)state;
    char bytes[700 + SN_BLOCK_SLACK];
    for (int round = 0; round < 3000; round++) {
        size_t length = random_below(700);
        unsigned density = (unsigned)random_below(70) + 1;
        char terminator = round % 3 ? '\n' : '\0';
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = random_below(density) ? (char)random_next() : terminator;
        compare(bytes, length, terminator);
    }
}

static void test_every_position(void **state)
{
    (void)state;
    char bytes[200 + SN_BLOCK_SLACK];
    for (size_t length = 0; length < 200; length++) {
        memset(bytes, 'x', sizeof bytes);
        /* The terminators after the end must be ignored. */
        memset(bytes + length, '\n', sizeof bytes - length);
        compare(bytes, length, '\n');
        for (size_t at = 0; at < length; at++) {
            bytes[at] = '\n';
            compare(bytes, length, '\n');
            bytes[at] = 'x';
        }
    }
}

static void test_scan_stops_at_room(void **state)
{
    (void)state;
    char bytes[1000 + SN_BLOCK_SLACK];
    uint32_t ends[100 + 80];
    memset(bytes, '\n', sizeof bytes);
    size_t scanned, found = sn_lines_scan(bytes, 1000, '\n', ends, 100, &scanned);
    assert_in_range(found, 100, 164);
    assert_int_equal(scanned, found);
    for (size_t i = 0; i < found; i++)
        assert_int_equal(ends[i], i + 1);
}

static void fill(sn_block *block, const char *text, size_t length)
{
    assert_int_equal(sn_block_reserve(block, length + 1, NULL), SEEN_OK);
    memcpy(block->bytes, text, length);
    block->length = length;
    assert_int_equal(sn_lines_split(block, NULL), SEEN_OK);
}

static void test_split(void **state)
{
    (void)state;
    sn_block block;
    sn_block_init(&block, '\n');
    fill(&block, "a\n\nbc\r\nd", 8);
    assert_int_equal(block.lines, 4);
    assert_true(block.unfinished);
    static const char *const wanted[] = {"a", "", "bc\r", "d"};
    for (size_t i = 0; i < 4; i++) {
        size_t len;
        const char *line = sn_block_line(&block, i, &len);
        assert_int_equal(len, strlen(wanted[i]));
        assert_memory_equal(line, wanted[i], len);
    }
    fill(&block, "a\n", 2);
    assert_int_equal(block.lines, 1);
    assert_false(block.unfinished);
    /* Nothing but line ends: many more than estimated. */
    char *many = malloc(100000);
    memset(many, '\n', 100000);
    fill(&block, many, 100000);
    assert_int_equal(block.lines, 100000);
    for (size_t i = 0; i <= 100000; i++)
        assert_int_equal(block.start[i], i);
    free(many);
    sn_block_free(&block);
}

static void test_split_random(void **state)
{
    (void)state;
    sn_block block;
    sn_block_init(&block, '\n');
    for (int round = 0; round < 200; round++) {
        size_t length;
        char *text = random_text(random_below(500) + 1, 300, &length);
        fill(&block, text, length);
        size_t at = 0, i = 0;
        for (; at < length; i++) {
            const char *end = memchr(text + at, '\n', length - at);
            size_t next = end ? (size_t)(end - text) + 1 : length;
            assert_int_equal(block.start[i], at);
            at = next;
        }
        assert_int_equal(block.lines, i);
        assert_int_equal(block.start[i], length);
        assert_int_equal(block.unfinished, length && text[length - 1] != '\n');
        free(text);
    }
    sn_block_free(&block);
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(sn_lines_count("a\nb\n", 4, '\n'), 2);
    assert_int_equal(sn_lines_last_end("a\nb", 3, '\n'), 2);
    assert_int_equal(sn_lines_last_end("ab", 2, '\n'), 0);
}

static int run_lines(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_every_position),
        cmocka_unit_test(test_scan_stops_at_room),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_random),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- block ---- */

/* Selecting lines of a block, compared with a simple implementation. */

static void check_select(seen_answer keep, bool apart)
{
    sn_block block;
    sn_block_init(&block, '\n');
    for (int round = 0; round < 300; round++) {
        size_t length;
        char *text = random_text(random_below(300) + 1, round % 3 ? 40 : 2000, &length);
        char *kept = malloc(length + 1), *rest = malloc(length + 1);
        size_t kept_length = 0, rest_length = 0, kept_lines = 0;
        assert_int_equal(sn_block_reserve(&block, length + 1, NULL), SEEN_OK);
        memcpy(block.bytes, text, length);
        block.length = length;
        assert_int_equal(sn_lines_split(&block, NULL), SEEN_OK);
        size_t rarity = random_below(6) + 1;
        for (size_t i = 0; i < block.lines; i++) {
            seen_answer answer = random_below(rarity) ? SEEN_BEFORE : SEEN_NEW;
            if (random_below(20) == 0)
                answer = SEEN_UNKNOWN;
            block.answer[i] = answer;
            size_t len = block.start[i + 1] - block.start[i];
            if (answer == keep) {
                memcpy(kept + kept_length, text + block.start[i], len);
                kept_length += len;
                kept_lines++;
            } else if (answer != SEEN_UNKNOWN) {
                memcpy(rest + rest_length, text + block.start[i], len);
                rest_length += len;
            }
        }
        assert_int_equal(sn_block_select(&block, keep, apart, NULL), SEEN_OK);
        assert_int_equal(block.out_length, kept_length);
        assert_int_equal(block.number_out, kept_lines);
        assert_memory_equal(block.out, kept, kept_length);
        if (apart) {
            assert_int_equal(block.second_length, rest_length);
            assert_memory_equal(block.second, rest, rest_length);
        }
        free(text);
        free(kept);
        free(rest);
    }
    sn_block_free(&block);
}

static void test_select(void **state)
{
    (void)state;
    check_select(SEEN_NEW, false);
    check_select(SEEN_BEFORE, false);
}

static void test_select_apart(void **state)
{
    (void)state;
    check_select(SEEN_NEW, true);
    check_select(SEEN_BEFORE, true);
}

static void test_reserve_keeps_bytes(void **state)
{
    (void)state;
    sn_block block;
    sn_block_init(&block, '\n');
    assert_int_equal(sn_block_reserve(&block, 4, NULL), SEEN_OK);
    memcpy(block.bytes, "abcd", 4);
    assert_int_equal(sn_block_reserve(&block, 100000, NULL), SEEN_OK);
    assert_memory_equal(block.bytes, "abcd", 4);
    seen_error error;
    assert_int_equal(sn_block_reserve(&block, SIZE_MAX / 2, &error), SEEN_ERR_MEMORY);
    assert_memory_equal(block.bytes, "abcd", 4);
    sn_block_free(&block);
}

static int run_block(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_select_apart),
        cmocka_unit_test(test_reserve_keeps_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- stop ---- */

/* Stop requests: once, and if no descriptor is available. */

static void test_first_reason_stays(void **state)
{
    (void)state;
    sn_stop stop;
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    assert_int_equal(sn_stop_get(&stop), SN_STOP_NONE);
    struct pollfd fd = {.fd = stop.fd, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 0), 0);
    errno = 77;
    sn_stop_set(&stop, SN_STOP_REQUESTED);
    sn_stop_set(&stop, SN_STOP_CLOSED);
    assert_int_equal(errno, 77);
    assert_int_equal(sn_stop_get(&stop), SN_STOP_REQUESTED);
    assert_int_equal(poll(&fd, 1, 0), 1);
    sn_stop_set(NULL, SN_STOP_REQUESTED);
    sn_stop_free(&stop);
    assert_int_equal(stop.fd, -1);
    sn_stop_free(&stop);
}

static void test_no_descriptor(void **state)
{
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    sn_stop stop;
    seen_error error = {0};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    seen_status status = sn_stop_init(&stop, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(status, SEEN_OK);
    assert_int_equal(status, error.status);
    assert_non_null(strstr(error.message, "event descriptor"));
    sn_stop_free(&stop);
}

static int run_stop(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reason_stays),
        cmocka_unit_test(test_no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_lines(), run_block(), run_stop()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
