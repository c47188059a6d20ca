/* Five methods to remember a URL, measured on the same list:
 *
 *     build/bench/methods [--markdown FILE] [N...]       (10^6 10^7 10^8 by default)
 *
 *     sqlite    a database with a unique index (SQLite, in a file, one transaction)
 *     strings   a hash set of the strings themselves (open addressing, strings in one arena)
 *     md5       a hash set of their MD5 sums (open addressing, 16 bytes each)
 *     bitmap    a bitmap and one hash, with 10 bits for each key
 *     seen      at error rates 1%, 1e-4 and 1e-6
 *
 * Each method runs in its own process, so that its memory can be measured; it adds the n URLs and
 * then looks up a million others. "Seen" for one of those is a false positive. Methods that would
 * exceed the memory or time limit are skipped, and reported as such. */
#include "seen.h"

#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { URL = 64, BATCH = 4096, ABSENT_KEYS = 1000000, METHODS = 7, SIZES = 8 };

static const char *const NAME[METHODS] = {"SQLite, unique index",
                                          "hash set of strings",
                                          "hash set of MD5",
                                          "bitmap, one hash",
                                          "seen, 1%",
                                          "seen, 1e-4",
                                          "seen, 1e-6"};
static const double MOST[METHODS] = {1e7, 3e7, 1e9, 1e12, 1e12, 1e12, 1e12};

typedef struct result {
    double add_ns, check_ns, bytes; /* per key */
    double wrong, asked;
    int done;
} result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* URL number i: 64 bytes, all distinct. */
static void make_url(char out[URL], uint64_t i)
{
    static const char HEX[] = "0123456789abcdef";
    memcpy(out, "https://shop000.example.org/catalogue/0123456789abcdef/item.html", URL);
    uint64_t x = mix(i);
    for (int c = 0; c < 3; c++)
        out[12 + c] = HEX[x >> (4 * c + 48) & 15];
    for (int c = 0; c < 16; c++)
        out[38 + c] = HEX[x >> (4 * c) & 15];
}

static void die(const char *why)
{
    fprintf(stderr, "methods: %s\n", why);
    exit(2);
}

static void *need(void *p)
{
    if (!p)
        die("out of memory; give smaller numbers");
    return p;
}

/* ---- the methods: each adds or looks up a batch, and counts the answers "seen" ---- */

typedef struct method {
    int kind;
    size_t n;
    seen_set *set;
    seen_hasher hasher;
    sqlite3 *db;
    sqlite3_stmt *insert, *select;
    char file[64];
    uint64_t *bitmap;
    uint64_t bits;
    char *arena;
    size_t used, mask;
    uint32_t *index; /* strings: arena slot + 1 */
    unsigned char (*digest)[16];
    EVP_MD_CTX *md;
} method;

static size_t power_above(size_t n)
{
    size_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static void begin(method *m, int kind, size_t n)
{
    *m = (method){.kind = kind, .n = n};
    seen_hasher_random(SEEN_XXH3, &m->hasher, NULL);
    if (kind == 0) {
        snprintf(m->file, sizeof m->file, "/tmp/seen-methods-%ld.db", (long)getpid());
        if (sqlite3_open(m->file, &m->db) != SQLITE_OK)
            die("cannot open a database in /tmp");
        sqlite3_exec(m->db,
                     "pragma journal_mode=off; pragma synchronous=off; pragma cache_size=-1048576;"
                     "create table t(u text primary key) without rowid; begin",
                     NULL, NULL, NULL);
        sqlite3_prepare_v2(m->db, "insert or ignore into t values(?)", -1, &m->insert, NULL);
        sqlite3_prepare_v2(m->db, "select 1 from t where u=?", -1, &m->select, NULL);
    } else if (kind == 1) {
        m->mask = power_above(n * 4 / 3) - 1;
        m->index = need(calloc(m->mask + 1, sizeof *m->index));
        m->arena = need(malloc(n * URL));
    } else if (kind == 2) {
        m->mask = power_above(n * 4 / 3) - 1;
        m->digest = need(calloc(m->mask + 1, 16));
        m->md = EVP_MD_CTX_new();
    } else if (kind == 3) {
        m->bits = (n * 10 + 63) / 64 * 64;
        m->bitmap = need(calloc(m->bits / 64, 8));
    } else {
        seen_options o = {.size = sizeof o,
                          .capacity = n,
                          .when_full = SEEN_FULL_GO_ON,
                          .error_rate = kind == 4   ? 0.01
                                        : kind == 5 ? 1e-4
                                                    : 1e-6};
        if (seen_create(NULL, &o, 0, &m->set, NULL) != SEEN_OK)
            die("out of memory; give smaller numbers");
    }
}

static bool ask_sqlite(method *m, const char *url, bool add)
{
    sqlite3_stmt *s = add ? m->insert : m->select;
    sqlite3_bind_text(s, 1, url, URL, SQLITE_STATIC);
    int code = sqlite3_step(s);
    bool before = add ? sqlite3_changes(m->db) == 0 : code == SQLITE_ROW;
    sqlite3_reset(s);
    return before;
}

static bool ask_strings(method *m, const char *url, bool add)
{
    seen_hash h = seen_hash_key(&m->hasher, url, URL);
    for (size_t i = h.lo & m->mask;; i = (i + 1) & m->mask) {
        if (!m->index[i]) {
            if (add) {
                memcpy(m->arena + m->used * URL, url, URL);
                m->index[i] = (uint32_t)++m->used;
            }
            return false;
        }
        if (memcmp(m->arena + (size_t)(m->index[i] - 1) * URL, url, URL) == 0)
            return true;
    }
}

static bool ask_md5(method *m, const char *url, bool add)
{
    static const unsigned char EMPTY[16];
    unsigned char d[16];
    unsigned len;
    uint64_t at;
    EVP_DigestInit_ex(m->md, EVP_md5(), NULL);
    EVP_DigestUpdate(m->md, url, URL);
    EVP_DigestFinal_ex(m->md, d, &len);
    memcpy(&at, d, 8);
    for (size_t i = at & m->mask;; i = (i + 1) & m->mask) {
        if (memcmp(m->digest[i], EMPTY, 16) == 0) {
            if (add)
                memcpy(m->digest[i], d, 16);
            return false;
        }
        if (memcmp(m->digest[i], d, 16) == 0)
            return true;
    }
}

static bool ask_bitmap(method *m, const char *url, bool add)
{
    uint64_t at = seen_hash_key(&m->hasher, url, URL).lo % m->bits, bit = UINT64_C(1) << (at % 64);
    bool before = m->bitmap[at / 64] & bit;
    if (add)
        m->bitmap[at / 64] |= bit;
    return before;
}

static size_t ask(method *m, const char *urls, size_t count, bool add)
{
    size_t before = 0;
    if (m->set) {
        static seen_key keys[BATCH];
        static seen_answer answers[BATCH];
        for (size_t i = 0; i < count; i++)
            keys[i] = (seen_key){urls + i * URL, URL};
        if ((add ? seen_add_many(m->set, keys, count, answers, NULL)
                 : seen_check_many(m->set, keys, count, answers, NULL)) != SEEN_OK)
            die("the filter failed");
        for (size_t i = 0; i < count; i++)
            before += answers[i] == SEEN_BEFORE;
        return before;
    }
    for (size_t i = 0; i < count; i++) {
        const char *url = urls + i * URL;
        before += m->kind == 0   ? ask_sqlite(m, url, add)
                  : m->kind == 1 ? ask_strings(m, url, add)
                  : m->kind == 2 ? ask_md5(m, url, add)
                                 : ask_bitmap(m, url, add);
    }
    return before;
}

static double resident(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss * 1024;
}

/* Returns seconds; *before is set to the number of answers "seen". */
static double run_list(method *m, uint64_t from, size_t count, bool add, size_t *before)
{
    static char urls[BATCH * URL];
    double spent = 0;
    *before = 0;
    for (size_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? count - at : BATCH;
        for (size_t i = 0; i < n; i++)
            make_url(urls + i * URL, from + at + i);
        double start = now();
        *before += ask(m, urls, n, add);
        spent += now() - start;
    }
    return spent;
}

static result measure(int kind, size_t n)
{
    method m;
    size_t lost, wrong, before;
    double base = resident();
    begin(&m, kind, n);
    double add = run_list(&m, 0, n, true, &before);
    double hit = run_list(&m, 0, n < ABSENT_KEYS ? n : ABSENT_KEYS, false, &lost);
    double miss = run_list(&m, UINT64_C(1) << 40, ABSENT_KEYS, false, &wrong);
    size_t asked = (n < ABSENT_KEYS ? n : ABSENT_KEYS);
    double bytes = resident() - base;
    if (kind == 0) {
        sqlite3_exec(m.db, "commit", NULL, NULL, NULL);
        FILE *f = fopen(m.file, "rb");
        if (f && fseek(f, 0, SEEK_END) == 0)
            bytes = (double)ftell(f); /* its memory is a cache: the file is its size */
        if (f)
            fclose(f);
        sqlite3_finalize(m.insert);
        sqlite3_finalize(m.select);
        sqlite3_close(m.db);
        unlink(m.file);
    }
    if (lost != asked)
        die("a method forgot a URL");
    return (result){.add_ns = add / (double)n * 1e9,
                    .check_ns = (hit + miss) / (double)(asked + ABSENT_KEYS) * 1e9,
                    .bytes = bytes / (double)n,
                    .wrong = (double)wrong,
                    .asked = ABSENT_KEYS,
                    .done = 1};
}

/* In a child, so that the memory of methods is measured separately. */
static result measure_apart(int kind, size_t n)
{
    int pipes[2];
    result r = {0};
    if (pipe(pipes) != 0)
        die("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        r = measure(kind, n);
        _exit(write(pipes[1], &r, sizeof r) != (ssize_t)sizeof r);
    }
    close(pipes[1]);
    if (read(pipes[0], &r, sizeof r) != (ssize_t)sizeof r)
        r.done = 0;
    close(pipes[0]);
    waitpid(pid, NULL, 0);
    return r;
}

/* ---- text and pictures ---- */

static void print_table(FILE *out, const size_t *sizes, int count, result r[SIZES][METHODS])
{
    for (int s = 0; s < count; s++) {
        fprintf(out, "\n**%zu million URLs**\n\n", sizes[s] / 1000000);
        fprintf(out, "| method | bytes per URL | in all | add, ns | look up, ns | false positives "
                     "per million |\n");
        fprintf(out, "| --- | ---: | ---: | ---: | ---: | ---: |\n");
        for (int k = 0; k < METHODS; k++) {
            const result *x = &r[s][k];
            if (x->done)
                fprintf(out, "| %s | %.1f | %.0f MB | %.0f | %.0f | %.0f |\n", NAME[k], x->bytes,
                        x->bytes * (double)sizes[s] / 1e6, x->add_ns, x->check_ns, x->wrong);
            else
                fprintf(out, "| %s | not run: too slow or too large | | | | |\n", NAME[k]);
        }
    }
}

int main(int argc, char **argv)
{
    size_t sizes[SIZES] = {1000000, 10000000, 100000000};
    int count = 0;
    const char *markdown = NULL;
    static result r[SIZES][METHODS];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--markdown") == 0 && i + 1 < argc)
            markdown = argv[++i];
        else if (count < SIZES && strtod(argv[i], NULL) >= 1e6)
            sizes[count++] = (size_t)strtod(argv[i], NULL);
        else
            die("usage: methods [--markdown FILE] [N...]   (N at least 1e6)");
    }
    count = count ? count : 3;
    for (int s = 0; s < count; s++)
        for (int k = 0; k < METHODS; k++)
            if ((double)sizes[s] <= MOST[k])
                r[s][k] = measure_apart(k, sizes[s]);
    print_table(stdout, sizes, count, r);
    FILE *f;
    if (markdown && (f = fopen(markdown, "w"))) {
        print_table(f, sizes, count, r);
        fclose(f);
    }
    return 0;
}
