/* Helpers: names as numbers, attribute values, lists of words. */
#include "crawl/html/internal.h"

bool sn_links_name_is(const sn_links_name *name, const char *text)
{
    uint64_t head = 0, tail = 0;
    uint32_t len = 0;
    for (; text[len] != '\0'; len++) {
        uint64_t *word = len < 8 ? &head : &tail;
        *word = *word << 8 | (uint8_t)text[len];
    }
    return name->len == len && name->head == head && name->tail == tail;
}

bool sn_links_get(const sn_links *t, enum sn_links_attr_id id, sn_html_text *out)
{
    if (!((t->have & ~t->over) >> id & 1))
        return false;
    out->at = t->value[id].len > 0 ? t->bytes + t->value[id].at : "";
    out->len = t->value[id].len;
    return true;
}

bool sn_html_text_is(sn_html_text a, const char *b)
{
    size_t i = 0;
    while (i < a.len && b[i] != '\0' &&
           sn_html_lower((uint8_t)a.at[i]) == sn_html_lower((uint8_t)b[i]))
        i++;
    return i == a.len && b[i] == '\0';
}

sn_html_text sn_html_text_skip_spaces(sn_html_text in)
{
    while (in.len > 0 && sn_html_is_space((uint8_t)*in.at)) {
        in.at++;
        in.len--;
    }
    return in;
}

sn_html_text sn_html_text_skip(sn_html_text in, size_t n)
{
    return (sn_html_text){in.at + n, in.len - n};
}

bool sn_html_text_word(sn_html_text *list, bool commas, sn_html_text *word)
{
    size_t i = 0;
    while (list->len > 0 && (sn_html_is_space((uint8_t)*list->at) || (commas && *list->at == ',')))
        *list = sn_html_text_skip(*list, 1);
    while (i < list->len && !sn_html_is_space((uint8_t)list->at[i]) &&
           !(commas && list->at[i] == ','))
        i++;
    *word = (sn_html_text){list->at, i};
    *list = sn_html_text_skip(*list, i);
    return i > 0;
}
