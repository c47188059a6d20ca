/* Serialized sets: the bytes of a file, from every growth and kind, and back; damage is refused. */
#include "test_file.h"

#include <sys/stat.h>

typedef struct buffer {
    unsigned char *data;
    size_t len, room, at; /* read so far */
    size_t limit;         /* 0: none; otherwise the writer fails there */
    size_t piece;         /* the most that one read returns; 0: all that is requested */
} buffer;

static seen_status append(void *context, const void *data, size_t len)
{
    buffer *b = context;
    if (b->limit && b->len + len > b->limit)
        return SEEN_ERR_SPACE;
    if (b->len + len > b->room) {
        b->room = 2 * (b->len + len);
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return SEEN_OK;
}

static seen_status take(void *context, void *data, size_t len, size_t *got)
{
    buffer *b = context;
    size_t n = b->len - b->at < len ? b->len - b->at : len;
    if (b->piece && n > b->piece)
        n = b->piece;
    if (n)
        memcpy(data, b->data + b->at, n);
    b->at += n;
    *got = n;
    return SEEN_OK;
}

static const seen_options ALL[] = {
    {.size = sizeof(seen_options), .capacity = 1000},
    {.size = sizeof(seen_options), .capacity = 3000, .kind = SEEN_COUNTING},
    {.size = sizeof(seen_options), .growth = SEEN_GROWING, .capacity = 100, .error_rate = 1e-4},
    {.size = sizeof(seen_options), .growth = SEEN_WINDOW, .capacity = 2000, .generations = 4},
    {.size = sizeof(seen_options), .bits = 8192, .hashes = 3},
};
enum { KINDS = sizeof ALL / sizeof *ALL };

static buffer bytes_of_file(const char *name)
{
    buffer b = {0};
    char chunk[4096];
    FILE *f = fopen(at(name), "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        append(&b, chunk, n);
    fclose(f);
    return b;
}

static void bytes_equal_file(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++)
        for (int file = 0; file < 2; file++) {
            seen_set *set;
            buffer saved = {0};
            OK(seen_create(file ? at("s") : NULL, &ALL[i], 0, &set, error));
            add_range(set, 0, 900);
            OK(seen_save(set, append, &saved, error));
            OK(seen_copy(set, at("c"), 0, NULL, error));
            buffer copy = bytes_of_file("c");
            assert_int_equal(saved.len, copy.len);
            assert_memory_equal(saved.data, copy.data, copy.len);
            free(saved.data);
            free(copy.data);
            seen_close(set);
            OK(seen_drop(at("c"), NULL, error));
            if (file)
                drop("s");
        }
}

static void loaded_set_answers_and_continues(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        seen_set *set, *back;
        buffer saved = {.piece = 1000}, again = {0};
        OK(seen_create(NULL, &ALL[i], 0, &set, error));
        add_range(set, 0, 900);
        OK(seen_save(set, append, &saved, error));
        OK(seen_load(take, &saved, &back, error));
        assert_int_equal(saved.at, saved.len);
        assert_null(seen_where(back));
        assert_int_equal(count_there(back, 0, 900), 900);
        assert_true(count_there(back, 100000, 900) < 60);
        OK(seen_save(back, append, &again, error));
        assert_int_equal(again.len, saved.len);
        assert_memory_equal(again.data, saved.data, saved.len);
        /* Counters and layers are restored: both accept the same keys from here on. */
        seen_answer mine[600], theirs[600];
        hashes_from(900, 600, batch);
        memset(mine, SEEN_UNKNOWN, sizeof mine);
        memset(theirs, SEEN_UNKNOWN, sizeof theirs);
        seen_status one = seen_add_hashes(set, batch, 600, mine, NULL);
        assert_int_equal(one, seen_add_hashes(back, batch, 600, theirs, NULL));
        assert_memory_equal(mine, theirs, sizeof mine);
        OK(seen_merge(back, set, error));
        seen_close(set);
        seen_close(back);
        free(saved.data);
        free(again.data);
    }
}

static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    seen_set *set, *back = NULL;
    buffer saved = {0};
    OK(seen_create(NULL, &ALL[0], 0, &set, error));
    OK(seen_save(set, append, &saved, error));
    size_t whole = saved.len;
    for (size_t cut = 0; cut < whole; cut += cut < 20 ? 1 : 997) {
        saved.len = cut;
        saved.at = 0;
        FAILS(SEEN_ERR_FORMAT, seen_load(take, &saved, &back, error));
    }
    saved.len = whole - 1;
    saved.at = 0;
    FAILS(SEEN_ERR_FORMAT, seen_load(take, &saved, &back, error));
    saved.len = whole;
    saved.data[40] ^= 1; /* page A; B is valid */
    saved.at = 0;
    OK(seen_load(take, &saved, &back, error));
    seen_close(back);
    saved.data[4096 + 40] ^= 1;
    saved.at = 0;
    back = NULL;
    FAILS(SEEN_ERR_FORMAT, seen_load(take, &saved, &back, error));
    assert_null(back);
    free(saved.data);
    seen_close(set);
}

static void status_of_callback_is_returned(void **state)
{
    (void)state;
    seen_set *set;
    buffer small = {.limit = 10000};
    OK(seen_create(NULL, &ALL[0], 0, &set, error));
    FAILS(SEEN_ERR_SPACE, seen_save(set, append, &small, error));
    free(small.data);
    seen_close(set);
}

static void where_names_the_store(void **state)
{
    (void)state;
    seen_set *set;
    OK(seen_create(NULL, NULL, 0, &set, error));
    assert_null(seen_where(set));
    seen_close(set);
    set = create("w", ALL[0], 0);
    assert_string_equal(seen_where(set), at("w"));
    seen_close(set);
    drop("w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_equal_file),
        cmocka_unit_test(loaded_set_answers_and_continues),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(status_of_callback_is_returned),
        cmocka_unit_test(where_names_the_store),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
