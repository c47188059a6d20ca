/* A small JSON writer: what it writes is always valid JSON and valid UTF-8. */
#include "base/text.h"
#include "cli/cli.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sn_json_open(sn_json *json, FILE *out, bool one_line)
{
    *json = (sn_json){.out = out, .one_line = one_line};
}

static void put_string(FILE *out, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    putc('"', out);
    for (size_t i = 0; i < len;) {
        size_t n = sn_text_utf8(s + i, len - i);
        if (n == 0) {
            fputs("\\ufffd", out);
            n = 1;
        } else if (s[i] == '"' || s[i] == '\\') {
            putc('\\', out);
            putc(s[i], out);
        } else if (s[i] < 0x20 || s[i] == 0x7f) {
            fprintf(out, "\\u%04x", s[i]);
        } else {
            fwrite(s + i, 1, n, out);
        }
        i += n;
    }
    putc('"', out);
}

static void indent(sn_json *json)
{
    if (json->one_line)
        return;
    putc('\n', json->out);
    for (unsigned i = 0; i < json->depth; i++)
        fputs("  ", json->out);
}

/* The comma and the name before a value. */
static void lead(sn_json *json, const char *name)
{
    if (json->any[json->depth])
        fputs(json->one_line ? ", " : ",", json->out);
    json->any[json->depth] = true;
    if (json->depth > 0)
        indent(json);
    if (name) {
        put_string(json->out, name, strlen(name));
        fputs(": ", json->out);
    }
}

static void nest(sn_json *json, const char *name, bool array)
{
    lead(json, name);
    assert(json->depth + 1 < sizeof json->any / sizeof *json->any);
    putc(array ? '[' : '{', json->out);
    json->depth++;
    json->any[json->depth] = false;
    json->array[json->depth] = array;
}

void sn_json_object(sn_json *json, const char *name)
{
    nest(json, name, false);
}

void sn_json_array(sn_json *json, const char *name)
{
    nest(json, name, true);
}

void sn_json_end(sn_json *json)
{
    assert(json->depth > 0);
    bool any = json->any[json->depth];
    char close = json->array[json->depth] ? ']' : '}';
    json->depth--;
    if (any)
        indent(json);
    putc(close, json->out);
    if (json->depth == 0)
        putc('\n', json->out);
}

void sn_json_string(sn_json *json, const char *name, const char *text)
{
    sn_json_bytes(json, name, text, strlen(text));
}

void sn_json_bytes(sn_json *json, const char *name, const char *text, size_t len)
{
    lead(json, name);
    put_string(json->out, text, len);
}

void sn_json_u64(sn_json *json, const char *name, uint64_t value)
{
    lead(json, name);
    fprintf(json->out, "%llu", (unsigned long long)value);
}

void sn_json_number(sn_json *json, const char *name, double value)
{
    char text[40];
    lead(json, name);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    /* The fewest digits that parse to the same number. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, json->out);
}

void sn_json_bool(sn_json *json, const char *name, bool value)
{
    lead(json, name);
    fputs(value ? "true" : "false", json->out);
}
