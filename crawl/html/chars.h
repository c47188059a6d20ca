/* Character classes of HTML and XML. */
#ifndef SN_CRAWL_HTML_CHARS_H
#define SN_CRAWL_HTML_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sn_html_is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static inline uint8_t sn_html_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static inline bool sn_html_is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

/* Writes a character as UTF-8 and returns its length (utf16.c). */
size_t sn_html_put_utf8(uint32_t code, char out[4]);

#endif
