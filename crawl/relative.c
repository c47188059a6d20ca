/* The plainest links, resolved without parsing.
 *
 * Nearly all links within a site are like "../b/c.html": nothing in them is escaped, nothing can be
 * a scheme, a host or a query. Against a canonical base, whose path has no dot segments, they are
 * resolved by copying and by going back from slash to slash. */
#include "crawl/relative.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint8_t unreserved[256] = {
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
    ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,
    ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
    ['y'] = 1, ['z'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1,
    ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1,
    ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1,
    ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1,
    ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['-'] = 1, ['.'] = 1,
    ['_'] = 1, ['~'] = 1,
};

/* Where the path of a canonical URL begins, at its slash. */
static size_t find_path(const char *url, size_t len)
{
    size_t host = sizeof "http://" - 1;
    if (len <= host)
        return 0;
    host += url[4] == 's';
    const char *slash = memchr(url + host, '/', len - host);
    return slash == NULL ? 0 : (size_t)(slash - url);
}

/* The end of the base's folder: behind the last slash of its path. */
static size_t find_folder(const char *url, size_t len, size_t path)
{
    const char *query = memchr(url + path, '?', len - path);
    size_t end = query == NULL ? len : (size_t)(query - url);
    while (url[end - 1] != '/')
        end--;
    return end;
}

size_t sn_relative_resolve(const char *href, size_t len, const char *base, size_t base_len,
                           char *out)
{
    size_t path = find_path(base, base_len);
    if (len == 0 || path == 0)
        return 0;
    size_t at = 0;
    size_t n = href[0] == '/' ? path + ++at : find_folder(base, base_len, path);
    memcpy(out, base, n);
    while (at < len) {
        size_t from = at;
        while (at < len && unreserved[(uint8_t)href[at]])
            at++;
        size_t segment = at - from;
        /* An empty segment ("a//b", or a host: "//b") is for the parser, as is any other byte. */
        if (segment == 0 || (at < len && href[at] != '/'))
            return 0;
        at += at < len;
        if (segment == 1 && href[from] == '.')
            continue;
        if (segment == 2 && href[from] == '.' && href[from + 1] == '.') {
            if (n > path + 1)
                for (n--; out[n - 1] != '/';)
                    n--;
            continue;
        }
        memcpy(out + n, href + from, at - from);
        n += at - from;
    }
    return n;
}
