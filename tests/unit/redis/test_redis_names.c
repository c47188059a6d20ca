/* Names of keys, and slots. */
#include "redis/client/slot.h"
#include "redis/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* From the specification of Redis Cluster. */
static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(sn_slot_of("123456789", 9), 0x31c3);
    assert_int_equal(sn_slot_of("foo", 3), 12182);
    assert_int_equal(sn_slot_of("{foo}bar", 8), 12182);
    assert_int_equal(sn_slot_of("x{foo}{bar}", 11), 12182);
    assert_int_equal(sn_slot_of("{foo", 4), sn_slot_of("{foo", 4));
    assert_int_not_equal(sn_slot_of("{}foo", 5), sn_slot_of("{}bar", 5));
}

static void expect(const sn_redis_key *key, const char *text)
{
    assert_int_equal(key->len, strlen(text));
    assert_memory_equal(key->text, text, key->len);
    assert_int_equal(key->slot, sn_slot_of(text, strlen(text)));
}

static void test_names(void **state)
{
    (void)state;
    sn_redis_address a = {.name = "a{b}%", .name_len = 5};
    sn_redis_view view = {.id = "0123456789abcdef"};
    view.image.layers = 2;
    view.image.layer[1].generation = 7;
    sn_redis_key key;
    sn_redis_key_meta(&a, &key);
    expect(&key, "seen:a%7Bb%7D%25");
    sn_redis_key_added(&a, &view, &key);
    expect(&key, "seen:{a%7Bb%7D%25:0123456789abcdef}:added");
    sn_redis_namer open, closed;
    sn_redis_namer_begin(&open, &a, &view, 1, false);
    sn_redis_namer_begin(&closed, &a, &view, 1, true);
    expect(sn_redis_namer_shard(&open, 120), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:120}");
    expect(sn_redis_namer_shard(&open, 0), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:0}");
    expect(sn_redis_namer_shard(&closed, 0), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:0}:closed");
    assert_int_equal(open.key.slot, closed.key.slot);
    view.layout = SEEN_LAYOUT_BITMAP;
    sn_redis_namer_begin(&open, &a, &view, 0, false);
    expect(sn_redis_namer_shard(&open, 0), "a{b}%");
}

/* A piece lies in the slot of its shard, under a name of ours. */
static void test_pieces(void **state)
{
    (void)state;
    const char *const names[][2] = {
        {"seen:{x:0123:0.1:5}", "seen:{x:0123:0.1:5}:merge"},
        {"seen:{x:0123:0.1:5}:closed", "seen:{x:0123:0.1:5}:closed:merge"},
        {"plain", "seen:{plain}:merge"},
        {"seen:plain", "seen:{seen:plain}:merge"},
        {"a{tag}b", "seen:a{tag}b:merge"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_redis_key shard = {.len = strlen(names[i][0])}, piece;
        memcpy(shard.text, names[i][0], shard.len);
        shard.slot = sn_slot_of(shard.text, shard.len);
        sn_redis_key_piece(&shard, &piece);
        expect(&piece, names[i][1]);
        assert_int_equal(piece.slot, shard.slot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
