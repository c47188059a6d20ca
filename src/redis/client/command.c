/* Writes commands in protocol format: *ARGS, then $LENGTH and bytes for each argument. */
#include "redis/client/channel.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 20, COMMANDS_MAX = 1 << 20 };

char *sn_channel_reserve(sn_channel *ch, size_t more)
{
    size_t need = ch->used + more;
    if (need <= ch->room)
        return ch->text + ch->used;
    char *text = need > TEXT_MAX ? NULL : sn_memory_grow(ch->text, &ch->room, need, 1);
    if (!text) {
        ch->no_memory = true;
        return NULL;
    }
    ch->text = text;
    return text + ch->used;
}

static void count(sn_channel *ch, size_t bytes)
{
    ch->used += bytes;
    ch->command[ch->commands - 1].len += bytes;
}

/* Decimal digits, backwards from `end`; returns where they begin. */
static char *digits(char *end, uint64_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

void sn_command_raw(sn_channel *ch, const char *bytes, size_t len)
{
    char *to = ch->no_memory ? NULL : sn_channel_reserve(ch, len);
    if (!to)
        return;
    memcpy(to, bytes, len);
    count(ch, len);
}

void sn_command_begin(sn_channel *ch, uint32_t tag, uint16_t slot, unsigned args)
{
    if (ch->commands == ch->command_room) {
        sn_command *command = NULL;
        if (ch->commands < COMMANDS_MAX)
            command =
                sn_memory_grow(ch->command, &ch->command_room, ch->commands + 1, sizeof *command);
        if (!command) {
            ch->no_memory = true;
            return;
        }
        ch->command = command;
    }
    ch->command[ch->commands++] = (sn_command){.at = ch->used, .tag = tag, .slot = slot};
    char head[32] = "*", *end = head + 24, *from = digits(end, args);
    memmove(head + 1, from, (size_t)(end - from));
    size_t n = 1 + (size_t)(end - from);
    memcpy(head + n, "\r\n", 2);
    sn_command_raw(ch, head, n + 2);
}

void sn_command_arg(sn_channel *ch, const void *arg, size_t len)
{
    char number[24], *end = number + sizeof number, *from = digits(end, len);
    size_t n = (size_t)(end - from);
    char *to = ch->no_memory ? NULL : sn_channel_reserve(ch, len + n + 5);
    if (!to)
        return;
    *to++ = '$';
    memcpy(to, from, n);
    memcpy(to + n, "\r\n", 2);
    memcpy(to + n + 2, arg, len);
    memcpy(to + n + 2 + len, "\r\n", 2);
    count(ch, len + n + 5);
}

void sn_command_text(sn_channel *ch, const char *arg)
{
    sn_command_arg(ch, arg, strlen(arg));
}

void sn_command_number(sn_channel *ch, uint64_t number)
{
    char text[24], *end = text + sizeof text, *from = digits(end, number);
    size_t n = (size_t)(end - from);
    char *to = ch->no_memory ? NULL : sn_channel_reserve(ch, n + 7);
    if (!to)
        return;
    /* At most twenty digits. */
    size_t head = 2;
    to[0] = '$';
    if (n > 9) {
        to[1] = (char)('0' + n / 10);
        to[2] = (char)('0' + n % 10);
        head = 3;
    } else {
        to[1] = (char)('0' + n);
    }
    memcpy(to + head, "\r\n", 2);
    memcpy(to + head + 2, from, n);
    memcpy(to + head + 2 + n, "\r\n", 2);
    count(ch, head + 4 + n);
}

void sn_command_signed(sn_channel *ch, int64_t number)
{
    char text[24], *end = text + sizeof text;
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *from = digits(end, size);
    if (number < 0)
        *--from = '-';
    sn_command_arg(ch, from, (size_t)(end - from));
}

void sn_command_once(sn_channel *ch)
{
    if (!ch->no_memory)
        ch->command[ch->commands - 1].once = true;
}
