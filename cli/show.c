/* Formats numbers for people. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *sn_show_count(char buffer[SN_TEXT], double value)
{
    char digits[SN_TEXT];
    if (!(value < 1e15)) {
        snprintf(buffer, SN_TEXT, "%.3g", value);
        return buffer;
    }
    int len = snprintf(digits, sizeof digits, "%.0f", value), at = 0;
    for (int i = 0; i < len; i++) {
        buffer[at++] = digits[i];
        if ((len - 1 - i) % 3 == 0 && i < len - 1 && digits[i] != '-')
            buffer[at++] = ',';
    }
    buffer[at] = 0;
    return buffer;
}

char *sn_show_words(char buffer[SN_TEXT], double value)
{
    static const char *const names[] = {"thousand", "million", "billion", "trillion"};
    if (!(value >= 1e5)) /* also what is not a number */
        return sn_show_count(buffer, value);
    size_t i = 0;
    for (value /= 1000; i < 3 && value >= 999.5; i++)
        value /= 1000;
    snprintf(buffer, SN_TEXT, value < 999.5 ? "%.3g %s" : "%.0f %s", value, names[i]);
    return buffer;
}

char *sn_show_short(char buffer[SN_TEXT], uint64_t value)
{
    static const char letters[] = {0, 'k', 'M'};
    size_t i = 0;
    if (value >= 1000000000 && value % 1000000000 == 0) {
        snprintf(buffer, SN_TEXT, "%llue9", (unsigned long long)(value / 1000000000));
        return buffer;
    }
    for (; i < 2 && value && value % 1000 == 0; i++)
        value /= 1000;
    snprintf(buffer, SN_TEXT, "%llu%.1s", (unsigned long long)value, &letters[i]);
    return buffer;
}

char *sn_show_short_size(char buffer[SN_TEXT], uint64_t bytes)
{
    static const char *const binary[] = {"", "KiB", "MiB", "GiB", "TiB"};
    static const char *const decimal[] = {"", "KB", "MB", "GB", "TB"};
    const char *const *names = bytes % 1000 == 0 && bytes % 1024 ? decimal : binary;
    uint64_t step = names == decimal ? 1000 : 1024;
    size_t i = 0;
    for (; i < 4 && bytes && bytes % step == 0; i++)
        bytes /= step;
    snprintf(buffer, SN_TEXT, "%llu%s", (unsigned long long)bytes, names[i]);
    return buffer;
}

char *sn_show_short_rate(char buffer[SN_TEXT], double rate)
{
    char text[SN_TEXT];
    snprintf(text, sizeof text, rate >= 0.001 ? "%.10g" : "%.9e", rate);
    char *e = strchr(text, 'e'), *end = e ? e : text + strlen(text);
    while (e && end[-1] == '0')
        end--;
    if (e && end[-1] == '.')
        end--;
    if (e)
        snprintf(buffer, SN_TEXT, "%.*se%d", (int)(end - text), text, (int)strtol(e + 1, NULL, 10));
    else
        snprintf(buffer, SN_TEXT, "%s", text);
    return buffer;
}

char *sn_show_size(char buffer[SN_TEXT], double bytes)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int i = 0;
    while (i < 5 && bytes >= 1023.5) {
        bytes /= 1024;
        i++;
    }
    const char *unit = i == 0 && bytes >= 0.5 && bytes < 1.5 ? "byte" : names[i];
    int digits = i == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(buffer, SN_TEXT, "%.*f %s", digits, bytes, unit);
    return buffer;
}

char *sn_show_rate(char buffer[SN_TEXT], double rate)
{
    char text[SN_TEXT];
    if (rate > 0 && rate < 1e-15)
        snprintf(buffer, SN_TEXT, "below 1e-15");
    else if (rate == 0 || rate >= 0.0001)
        snprintf(buffer, SN_TEXT, rate == 0 ? "0" : "%.3g%%", rate * 100);
    else { /* 9.2e-5, not 9.20e-05 */
        snprintf(text, sizeof text, "%.2e", rate);
        sn_show_short_rate(buffer, strtod(text, NULL));
    }
    return buffer;
}

char *sn_show_number_of(char buffer[SN_TEXT], uint64_t count, const char *what)
{
    char number[SN_TEXT];
    snprintf(buffer, SN_TEXT, "%.24s %.20s%s", sn_show_count(number, (double)count), what,
             count == 1 ? "" : "s");
    return buffer;
}

char *sn_show_expected(char buffer[SN_TEXT], double expected)
{
    char number[SN_TEXT];
    if (expected < 0.01)
        snprintf(buffer, SN_TEXT, "fewer than 0.01");
    else if (expected < 9.5)
        snprintf(buffer, SN_TEXT, "about %.*f", expected < 0.095 ? 2 : 1, expected);
    else
        snprintf(buffer, SN_TEXT, "about %.40s", sn_show_words(number, round(expected)));
    return buffer;
}

char *sn_show_seconds(char buffer[SN_TEXT], double seconds)
{
    if (!(seconds < 1e9))
        snprintf(buffer, SN_TEXT, "?");
    else if (seconds < 9.95)
        snprintf(buffer, SN_TEXT, "%.1f s", seconds);
    else if (seconds < 59.5)
        snprintf(buffer, SN_TEXT, "%.0f s", seconds);
    else if (seconds < 3570)
        snprintf(buffer, SN_TEXT, "%.0fm%02.0fs", floor((seconds + 0.5) / 60),
                 floor(fmod(seconds + 0.5, 60)));
    else if (seconds >= 2 * 86400)
        snprintf(buffer, SN_TEXT, "%.3g days", seconds / 86400);
    else
        snprintf(buffer, SN_TEXT, "%.0fh%02.0fm", floor((seconds + 30) / 3600),
                 floor(fmod(seconds + 30, 3600) / 60));
    return buffer;
}
