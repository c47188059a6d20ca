/* uniq with a filter on a server that goes away for good.
 * Needs: redis.
 *
 * Each line that was reported as new is written, in every lane and block. */
#include "stream/uniq/uniq.h"
#include "tests/redis/door.h"

enum { LINES = 20000, LONGEST = 16, BLOCK = 4096 };

static seen_status run(seen_set *set, const char *from, int to, seen_error *error)
{
    sn_uniq_options options = {.pipeline = {.waits = true, .block_size = BLOCK, .terminator = '\n'},
                               .filter = set,
                               .remember_first = true,
                               .temp_dir = server.folder};
    sn_uniq_plan plan;
    sn_uniq_result result;
    sn_input *input;
    sn_output *output;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(to, STDOUT_FILENO);
    assert_int_equal(sn_input_open(&from, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_plan_make(&options, input, &plan, NULL), SEEN_OK);
    assert_int_equal(sn_output_open(NULL, '\n', NULL, &output, NULL), SEEN_OK);
    seen_status status = sn_uniq_run(&options, &plan, input, output, NULL, &result, error);
    sn_input_close(input);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return status;
}

/* All remembered lines were written, once, and no others. */
static void compare(const char *path)
{
    static bool written[LINES];
    char direct[96], line[LONGEST];
    seen_set *set;
    seen_error error = {0};
    memset(written, 0, sizeof written);
    FILE *out = fopen(path, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        int number = atoi(line);
        assert_in_range(number, 0, LINES - 1);
        assert_false(written[number]);
        written[number] = true;
    }
    fclose(out);
    snprintf(direct, sizeof direct, "%s/fence", server.url);
    door_must(seen_open(direct, NULL, SEEN_READ_ONLY, &set, &error), &error);
    int remembered = 0;
    for (int i = 0; i < LINES; i++) {
        seen_answer answer;
        int len = snprintf(line, sizeof line, "%d", i);
        door_must(seen_check(set, line, (size_t)len, &answer, &error), &error);
        remembered += answer == SEEN_BEFORE;
        if ((answer == SEEN_BEFORE) != written[i])
            fail_msg("line %d is %s", i, written[i] ? "not remembered" : "lost");
    }
    assert_in_range(remembered, 1, LINES - 1);
    seen_close(set);
}

static void test_lost(void **state)
{
    (void)state;
    char in[128], out[128];
    seen_error error = {0};
    snprintf(in, sizeof in, "%s/in", server.folder);
    snprintf(out, sizeof out, "%s/out", server.folder);
    FILE *file = fopen(in, "w");
    assert_non_null(file);
    for (int i = 0; i < LINES; i++)
        fprintf(file, "%d\n", i);
    fclose(file);
    for (unsigned after = 100; after < LINES; after += 3777) {
        seen_set *set;
        seen_options o = {.size = sizeof o, .capacity = LINES, .error_rate = 1e-9, .retry_ms = 100};
        door_must(seen_create(where, &o, 0, &set, &error), &error);
        /* No key is added after that. */
        meddle_set(&door, 0,
                   (meddle_rule){
                       .match = "BITFIELD\r\n", .skip = after, .reply = "-LOADING for ever\r\n"});
        int fd = open(out, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(run(set, in, fd, &error), SEEN_ERR_SERVER);
        assert_non_null(strstr(error.message, "loading"));
        close(fd);
        meddle_set(&door, 0, (meddle_rule){0});
        seen_close(set);
        compare(out);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {DOOR_TEST(test_lost)};
    return RIG_RUN(tests);
}
