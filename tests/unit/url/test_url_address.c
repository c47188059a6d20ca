/* IPv4 and IPv6 against inet_ntop and inet_pton where those agree with the standard. */
#include "test_url_random.h"
#include "test_url_vectors.h"

#include <arpa/inet.h>

static void ipv4_round_trip(void **state)
{
    (void)state;
    random_start("ipv4_round_trip");
    for (int i = 0; i < 20000; i++) {
        uint32_t address = (uint32_t)random_next() >> random_below(32), back = 0;
        unsigned a = address >> 24, b = address >> 16 & 255, c = address >> 8 & 255,
                 d = address & 255;
        char text[16], other[64];
        size_t len = sn_url_print_ipv4(address, text);
        snprintf(other, sizeof other, "%u.%u.%u.%u", a, b, c, d);
        assert_int_equal(len, strlen(other));
        assert_memory_equal(text, other, len);
        const char *spellings[] = {"%u.%u.%u.%u", "0x%x.0%o.%u.%u", "00%o.%u.0x%x.0%o."};
        for (int j = 0; j < 3; j++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            len = (size_t)snprintf(other, sizeof other, spellings[j], a, b, c, d);
#pragma GCC diagnostic pop
            assert_true(sn_url_ends_in_number(other, len));
            assert_true(sn_url_read_ipv4(other, len, &back));
            assert_int_equal(back, address);
        }
        len = (size_t)snprintf(other, sizeof other, "%u.0x%x", a, address & 0xffffff);
        assert_true(sn_url_read_ipv4(other, len, &back));
        assert_int_equal(back, address);
    }
}

static void ends_in_number(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "1.", "a.1", "a.1.", "0x", "a.0x", "0xff", "08", "a.08"};
    static const char *const no[] = {"",    ".",  "..", "a",  "1.a", "1..",   "a.",
                                     "0xg", "a1", "1a", "x1", "-1",  "a.1..", "1.0y"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!sn_url_ends_in_number(yes[i], strlen(yes[i])))
            fail_msg("%s ends in a number", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (sn_url_ends_in_number(no[i], strlen(no[i])))
            fail_msg("%s does not end in a number", no[i]);
}

static void ipv6_round_trip(void **state)
{
    (void)state;
    random_start("ipv6_round_trip");
    for (int i = 0; i < 100000; i++) {
        uint16_t pieces[8], back[8] = {0};
        struct in6_addr address, read;
        for (int j = 0; j < 8; j++) {
            pieces[j] =
                (uint16_t)(random_below(2) ? 0 : (random_next() & 0xffff) >> random_below(16));
            address.s6_addr[2 * j] = (uint8_t)(pieces[j] >> 8);
            address.s6_addr[2 * j + 1] = (uint8_t)pieces[j];
        }
        char text[41], other[INET6_ADDRSTRLEN];
        size_t len = sn_url_print_ipv6(pieces, text);
        text[len] = '\0';
        inet_ntop(AF_INET6, &address, other, sizeof other);
        /* inet_ntop writes some addresses with a dotted end; the standard writes none so. */
        if (!strchr(other, '.'))
            assert_string_equal(text, other);
        assert_int_equal(inet_pton(AF_INET6, text, &read), 1);
        assert_memory_equal(&read, &address, sizeof read);
        assert_true(sn_url_read_ipv6(other, strlen(other), back));
        assert_memory_equal(back, pieces, sizeof back);
    }
}

/* What a text of the right letters is, inet_pton says the same. */
static void ipv6_any_text(void **state)
{
    (void)state;
    static const char letters[] = "::::::0011fF..23:::::";
    int valid = 0;
    random_start("ipv6_any_text");
    for (int i = 0; i < 1000000; i++) {
        char text[24];
        size_t len = random_below(sizeof text - 1);
        for (size_t j = 0; j < len; j++)
            text[j] = letters[random_below(sizeof letters - 1)];
        text[len] = '\0';
        struct in6_addr address;
        uint16_t pieces[8] = {0};
        bool theirs = inet_pton(AF_INET6, text, &address) == 1;
        if (sn_url_read_ipv6(text, len, pieces) != theirs)
            fail_msg("%s: %s", text, theirs ? "refused" : "accepted");
        valid += theirs;
        for (int j = 0; theirs && j < 8; j++)
            assert_int_equal(pieces[j], address.s6_addr[2 * j] << 8 | address.s6_addr[2 * j + 1]);
    }
    printf("%d valid\n", valid);
    assert_true(valid > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4_round_trip),
        cmocka_unit_test(ends_in_number),
        cmocka_unit_test(ipv6_round_trip),
        cmocka_unit_test(ipv6_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
