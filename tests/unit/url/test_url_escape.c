/* The table of classes against the words of the standards, and escaping by hand. */
#include "test_url_vectors.h"

static bool among(int c, const char *list)
{
    return c != 0 && strchr(list, c) != NULL;
}

static bool is_alnum(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void classes(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool c0_control = c < 0x20 || c > 0x7e;
        bool query = c0_control || among(c, " \"#<>");
        bool special_query = query || c == '\'';
        bool path = query || among(c, "?^`{}");
        bool userinfo = path || among(c, "/:;=@[\\]|");
        bool forbidden = c <= 0x20 || c == 0x7f || among(c, "#/:<>?@[\\]^|%");
        unsigned expected = 0;
        expected |= path || among(c, "%/\\") ? 0 : SN_URL_PATH;
        expected |= special_query || c == '%' ? 0 : SN_URL_QUERY;
        expected |= userinfo || c == '%' ? 0 : SN_URL_USER;
        expected |= is_alnum(c) || among(c, "-._~") ? SN_URL_UNRESERVED : 0;
        expected |= among(c, "0123456789abcdefABCDEF") ? SN_URL_HEX : 0;
        expected |= among(c, "\t\n\r") ? SN_URL_SKIP : 0;
        expected |= forbidden || c > 0x7f ? 0 : SN_URL_DOMAIN;
        expected |= (is_alnum(c) && !(c >= 'A' && c <= 'Z')) || c == '_' ? SN_URL_SCAN_HOST : 0;
        if (((expected & SN_URL_PATH) || c == '/') && c != '.')
            expected |= SN_URL_SCAN_PATH;
        assert_int_equal(sn_url_class[c], expected);
    }
}

static void every_escape(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char in[2][4], out[8], expected[8];
        snprintf(in[0], sizeof in[0], "%%%02x", c);
        snprintf(in[1], sizeof in[1], "%%%02X", c);
        if (sn_url_is((char)c, SN_URL_UNRESERVED))
            snprintf(expected, sizeof expected, "%c", (int)c);
        else
            memcpy(expected, in[1], sizeof in[1]);
        for (int i = 0; i < 2; i++) {
            size_t next = 0;
            sn_url_out o = {out, sizeof out, 0, 0};
            assert_int_equal(sn_url_escape_at(in[i], 3, 0, &next), c);
            assert_int_equal(next, 3);
            assert_int_equal(sn_url_escape_at(in[i], 2, 0, &next), -1);
            assert_true(sn_url_put_escaped(&o, in[i], 3, SN_URL_PATH));
            assert_int_equal(o.len, strlen(expected));
            assert_memory_equal(out, expected, o.len);
        }
    }
}

static void no_room(void **state)
{
    (void)state;
    char out[4] = "....";
    sn_url_out o = {out, 2, 0, 0};
    assert_false(sn_url_put_escaped(&o, "a b", 3, SN_URL_PATH));
    assert_memory_equal(out, "a...", 4);
    assert_true(sn_url_put(&o, 'b'));
    assert_false(sn_url_put(&o, 'c'));
    assert_true(sn_url_put_all(&o, "", 0));
    assert_false(sn_url_put_all(&o, "d", 1));
    assert_memory_equal(out, "ab..", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(every_escape),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
