/* Hosts and internationalized names: limits, and Punycode with the samples of RFC 3492. */
#include <arpa/inet.h>

#include "test_url.h"

static seen_url_result put(const char *host, size_t len, char *out, size_t capacity,
                           size_t *out_len)
{
    sn_url_out o = {out, capacity, 0, 0};
    seen_url_result result = sn_url_put_host(&o, host, len);
    *out_len = o.len;
    return result;
}

static void long_hosts(void **state)
{
    (void)state;
    enum { LONG = 5000 };
    char host[LONG], out[LONG];
    size_t len = 0;
    memset(host, 'A', sizeof host);
    assert_int_equal(put(host, LONG, out, LONG, &len), SEEN_URL_OK);
    assert_int_equal(len, LONG);
    assert_int_equal(out[LONG - 1], 'a');
    assert_int_equal(put(host, LONG, out, LONG - 1, &len), SEEN_URL_TOO_LONG);
    memset(host, '1', sizeof host);
    assert_int_equal(put(host, LONG, out, LONG, &len), SEEN_URL_INVALID);
    memset(host, '0', sizeof host);
    assert_int_equal(put(host, LONG, out, LONG, &len), SEEN_URL_OK);
    assert_int_equal(len, strlen("0.0.0.0"));
    memset(host, ':', sizeof host);
    host[0] = '[';
    host[LONG - 1] = ']';
    assert_int_equal(put(host, LONG, out, LONG, &len), SEEN_URL_INVALID);
    for (size_t i = 0; i + 2 <= LONG; i += 2)
        memcpy(host + i, "\xc3\xa9", 2);
    assert_int_equal(put(host, LONG, out, LONG, &len), SEEN_URL_INVALID);
}

static void idn_limits(void **state)
{
    (void)state;
    char host[4096], out[4096];
    size_t len = 0;
    if (!has_idn()) {
        printf("skipped: this build has no IDN\n");
        skip();
    }
    /* 255 bytes are the DNS limit, for any label lengths. */
    size_t at = (size_t)sprintf(host, "\u00e9");
    while (at < 300)
        at += (size_t)sprintf(host + at, ".abcdefghi");
    assert_int_equal(put(host, 240, out, sizeof out, &len), SEEN_URL_OK);
    assert_int_equal(put(host, 250, out, sizeof out, &len), SEEN_URL_OK);
    assert_int_equal(len, SN_URL_IDN_MAX);
    host[250] = '.';
    assert_int_equal(put(host, 251, out, sizeof out, &len), SEEN_URL_INVALID);
    assert_int_equal(put(host, 300, out, sizeof out, &len), SEEN_URL_INVALID);
    assert_int_equal(put(host, 240, out, 241, &len), SEEN_URL_TOO_LONG);
    /* A soft hyphen is mapped to nothing, but the number of them is limited. */
    for (at = 0; at < 3000; at += 2)
        memcpy(host + at, "\u00ad", 2);
    memcpy(host, "a", 1);
    memcpy(host + 1, "b", 1);
    assert_int_equal(put(host, 2000, out, sizeof out, &len), SEEN_URL_OK);
    assert_int_equal(len, 2);
    assert_int_equal(put(host, 3000, out, sizeof out, &len), SEEN_URL_INVALID);
}

static void punycode(void **state)
{
    (void)state;
    static const struct {
        uint32_t points[40];
        const char *text;
    } samples[] = {
        {{0xfc}, "tda"},
        {{'b', 0xfc, 'c', 'h', 'e', 'r'}, "bcher-kva"},
        {{0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587},
         "ihqwcrb4cv8a8dqg056pqjye"},
        {{0x33, 0x5e74, 0x42, 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f}, "3B-ww4c5e180e575a65lsy2b"},
        {{0x305d, 0x306e, 0x30b9, 0x30d4, 0x30fc, 0x30c9, 0x3067}, "d9juau41awczczp"},
        {{0x644, 0x64a, 0x647, 0x645, 0x627, 0x628, 0x62a, 0x643, 0x644, 0x645, 0x648, 0x634, 0x639,
          0x631, 0x628, 0x64a, 0x61f},
         "egbpdaj6bu4bxfgehfvwxn"},
        {{0x1f4a9}, "ls8h"},
        {{'a', 'b'}, "ab-"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char out[64];
        size_t count = 0;
        while (samples[i].points[count])
            count++;
        sn_url_out o = {out, sizeof out, 0, 0};
        assert_true(sn_url_put_punycode(&o, samples[i].points, count));
        assert_int_equal(o.len, strlen(samples[i].text));
        assert_memory_equal(out, samples[i].text, o.len);
        for (size_t capacity = 0; capacity < strlen(samples[i].text); capacity++) {
            o = (sn_url_out){out, capacity, 0, 0};
            assert_false(sn_url_put_punycode(&o, samples[i].points, count));
        }
    }
    uint32_t many[SN_URL_LABEL_MAX + 1] = {0};
    char out[1024];
    sn_url_out o = {out, sizeof out, 0, 0};
    assert_false(sn_url_put_punycode(&o, many, SN_URL_LABEL_MAX + 1));
}

static int run_url_host(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_hosts),
        cmocka_unit_test(idn_limits),
        cmocka_unit_test(punycode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_address ---- */

/* IPv4 and IPv6, compared with inet_ntop and inet_pton as far as those agree with the standard. */

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
        /* inet_ntop writes some addresses with a dotted end; the standard does not. */
        if (!strchr(other, '.'))
            assert_string_equal(text, other);
        assert_int_equal(inet_pton(AF_INET6, text, &read), 1);
        assert_memory_equal(&read, &address, sizeof read);
        assert_true(sn_url_read_ipv6(other, strlen(other), back));
        assert_memory_equal(back, pieces, sizeof back);
    }
}

/* For random text of valid characters the result is that of inet_pton. */
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

static int run_url_address(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4_round_trip),
        cmocka_unit_test(ends_in_number),
        cmocka_unit_test(ipv6_round_trip),
        cmocka_unit_test(ipv6_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_url_host(), run_url_address()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
