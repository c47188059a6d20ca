/* Scripts by their digest: EVALSHA, and EVAL if the server does not have the script yet. */
#include "redis/client/channel.h"

#include <stdio.h>
#include <string.h>

/* ---- SHA-1 (FIPS 180-4): the name that Redis gives a script ---- */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static void add_block(uint32_t state[5], const unsigned char block[64])
{
    static const uint32_t K[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t next = rotate(a, 5) + f + e + K[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void sn_script_init(sn_script *script, const char *text)
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t len = strlen(text), at = 0;
    unsigned char last[128] = {0};
    for (; len - at >= 64; at += 64)
        add_block(state, (const unsigned char *)text + at);
    memcpy(last, text + at, len - at);
    last[len - at] = 0x80;
    size_t end = len - at < 56 ? 64 : 128;
    for (unsigned i = 0; i < 8; i++)
        last[end - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    add_block(state, last);
    if (end == 128)
        add_block(state, last + 64);
    script->text = text;
    for (unsigned i = 0; i < 5; i++)
        snprintf(script->sha + 8 * i, 9, "%08x", state[i]);
}

/* ---- calls ---- */

void sn_script_begin(sn_channel *ch, uint32_t tag, uint16_t slot, const sn_script *script,
                     unsigned keys, unsigned args)
{
    sn_command_begin(ch, tag, slot, 3 + keys + args);
    sn_command_text(ch, "EVALSHA");
    sn_command_text(ch, script->sha);
    if (!ch->no_memory)
        ch->command[ch->commands - 1].script = script->text;
    sn_command_number(ch, keys);
}

/* Writes the command once more with the text in place of its digest:
 * *N $7 EVALSHA $40 digest REST  ->  *N $4 EVAL $length text REST */
bool sn_script_expand(sn_channel *ch, sn_command *c)
{
    static const char CALL[] = "\r\n$7\r\nEVALSHA\r\n$40\r\n";
    size_t script = strlen(c->script), at = ch->used;
    char *to = sn_channel_reserve(ch, c->len + script + 64);
    if (!to)
        return false;
    const char *old = ch->text + c->at, *end = memchr(old, '\r', c->len);
    size_t skip = (size_t)(end - old) + sizeof CALL - 1 + 40;
    size_t n = (size_t)sprintf(to, "%.*s\r\n$4\r\nEVAL\r\n$%zu\r\n", (int)(end - old), old, script);
    memcpy(to + n, c->script, script);
    memcpy(to + n + script, old + skip, c->len - skip);
    n += script + c->len - skip;
    ch->used += n;
    c->at = at;
    c->len = n;
    c->script = NULL;
    return true;
}
