/* The special-purpose registries of IANA (RFC 6890 and its updates) as a table.
 *
 * Wrongly refusing an address loses a page; wrongly allowing one lets a page on the web make this
 * machine connect to its neighbours. So of IPv6 only the global unicast block 2000::/3 is allowed,
 * and ranges that are globally reachable according to the registry but used by no site are
 * refused. */
#include "crawl/fetch/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

typedef struct range4 {
    uint32_t base;
    unsigned bits;
} range4;

#define IP4(a, b, c, d)                                                                            \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const range4 special4[] = {
    {IP4(0, 0, 0, 0), 8},       /* this network */
    {IP4(10, 0, 0, 0), 8},      /* private */
    {IP4(100, 64, 0, 0), 10},   /* shared by carriers; also clouds' metadata */
    {IP4(127, 0, 0, 0), 8},     /* loopback */
    {IP4(169, 254, 0, 0), 16},  /* link-local */
    {IP4(172, 16, 0, 0), 12},   /* private */
    {IP4(192, 0, 0, 0), 24},    /* protocol assignments */
    {IP4(192, 0, 2, 0), 24},    /* documentation */
    {IP4(192, 31, 196, 0), 24}, /* AS112 */
    {IP4(192, 52, 193, 0), 24}, /* AMT */
    {IP4(192, 88, 99, 0), 24},  /* 6to4 relays */
    {IP4(192, 168, 0, 0), 16},  /* private */
    {IP4(192, 175, 48, 0), 24}, /* AS112 */
    {IP4(198, 18, 0, 0), 15},   /* benchmarking */
    {IP4(198, 51, 100, 0), 24}, /* documentation */
    {IP4(203, 0, 113, 0), 24},  /* documentation */
    {IP4(224, 0, 0, 0), 4},     /* multicast */
    {IP4(240, 0, 0, 0), 4},     /* reserved, broadcast */
};

typedef struct range6 {
    uint8_t base[16];
    unsigned bits;
} range6;

static const range6 special6[] = {
    {{0x20, 0x01, 0x00}, 23},             /* protocol assignments; Teredo, ORCHID, benchmarking */
    {{0x20, 0x01, 0x0d, 0xb8}, 32},       /* documentation */
    {{0x26, 0x20, 0x00, 0x4f, 0x80}, 48}, /* AS112 */
    {{0x3f, 0xff, 0x00}, 20},             /* documentation */
};

bool sn_address_public_v4(uint32_t address)
{
    for (size_t i = 0; i < sizeof special4 / sizeof special4[0]; i++)
        if ((address ^ special4[i].base) >> (32 - special4[i].bits) == 0)
            return false;
    return true;
}

static bool prefix_matches(const uint8_t *address, const uint8_t *base, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(address, base, whole) != 0)
        return false;
    return rest == 0 || (uint8_t)(address[whole] ^ base[whole]) >> (8 - rest) == 0;
}

static uint32_t read4(const uint8_t *bytes)
{
    return IP4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

bool sn_address_public_v6(const uint8_t address[16])
{
    static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t nat64[16] = {0x00, 0x64, 0xff, 0x9b};
    if (prefix_matches(address, mapped, 96) || prefix_matches(address, nat64, 96))
        return sn_address_public_v4(read4(address + 12));
    if (address[0] == 0x20 && address[1] == 0x02) /* 6to4 */
        return sn_address_public_v4(read4(address + 2));
    if (address[0] >> 5 != 1) /* 2000::/3 */
        return false;
    for (size_t i = 0; i < sizeof special6 / sizeof special6[0]; i++)
        if (prefix_matches(address, special6[i].base, special6[i].bits))
            return false;
    return true;
}

bool sn_address_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return sn_address_public_v4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof in);
        return sn_address_public_v6(in.sin6_addr.s6_addr);
    }
    return false;
}

void sn_address_text(const struct sockaddr *address, char *out, size_t room)
{
    const void *bytes = NULL;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    if (address->sa_family == AF_INET) {
        memcpy(&in, address, sizeof in);
        bytes = &in.sin_addr;
    } else if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        bytes = &in6.sin6_addr;
    }
    if (!bytes || !inet_ntop(address->sa_family, bytes, out, (socklen_t)room))
        out[0] = '\0';
}
