/* bench/redis [KEYS [COMMAND [PART...]]]: sets in Redis compared with the textbook client, which
 * pipelines k = 7 SETBITs or GETBITs per key. Starts its own redis-server; both sides use one
 * connection and batches of the same size, one after the other on the same server. Prints keys per
 * second and the server's CPU time per key, which is the steadier figure. COMMAND is the path of
 * `seen`: with it, `seen uniq -f` is timed too, against one pipelined round trip per key. PARTs are
 * keys, network, memory, commands and uniq; all if none is named. */
#include "seen.h"
#include "tests/redis/relay.h"
#include "tests/redis/server.h"

#include <math.h>
#include <sched.h>

/* ---- the spy ---- */

/* How long each command occupies the server's thread, which is how long other clients wait.
 *
 * The proxy is between clients and a server. It forwards one command at a time, waits for the reply
 * and until the server's thread sleeps again, and reads the CPU time the thread has used by then.
 * Unlike a command's time in SLOWLOG this does not grow when the machine is busy; a PING measured
 * in the same way shows the overhead of forwarding. */

enum { SPY_KINDS = 64, SPY_NAME = 40 };

typedef struct spy_kind {
    char name[SPY_NAME]; /* of the command; a script is identified by its beginning */
    unsigned long count;
    double sum, most; /* ms */
} spy_kind;

typedef struct spy {
    test_relay relay;
    pid_t server;
    pthread_mutex_t lock; /* one command at a time; protects the following */
    spy_kind kind[SPY_KINDS];
    unsigned kinds;
} spy;

/* CPU time of the server's main thread in ms. The kernel updates it when the thread goes to
 * sleep. */
static inline double spy_cpu(pid_t server)
{
    char path[64], state = 0;
    unsigned long long ns = 0;
    for (int i = 0; i < 2000 && state != 'S'; i++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", server, server);
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (f)
            fclose(f);
        if (state != 'S')
            usleep(50);
    }
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", server, server);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%llu", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return (double)ns * 1e-6;
}

static inline void spy_note(spy *s, const char *name, double ms)
{
    unsigned i = 0;
    while (i < s->kinds && strcmp(s->kind[i].name, name) != 0)
        i++;
    if (i == SPY_KINDS)
        return;
    if (i == s->kinds)
        snprintf(s->kind[s->kinds++].name, SPY_NAME, "%s", name);
    s->kind[i].count++;
    s->kind[i].sum += ms;
    if (ms > s->kind[i].most)
        s->kind[i].most = ms;
}

static inline bool spy_watch(void *context, const char *command, size_t len, int client, int server)
{
    spy *s = context;
    char name[SPY_NAME];
    const char *word, *script;
    size_t n, script_len;
    relay_command(command, len, 0, &word, &n);
    relay_command(command, len, 1, &script, &script_len);
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (strcmp(name, "EVAL") == 0)
        snprintf(name, sizeof name, "EVAL %.30s", script);
    pthread_mutex_lock(&s->lock);
    double before = spy_cpu(s->server);
    bool good = test_send_all(server, command, len) && relay_answer(server, client);
    spy_note(s, name, spy_cpu(s->server) - before);
    pthread_mutex_unlock(&s->lock);
    return good;
}

static inline bool spy_start(spy *s, const test_server *server)
{
    *s = (spy){.server = server->pid,
               .relay = {.hook = spy_watch, .context = s, .upstream = server->port}};
    pthread_mutex_init(&s->lock, NULL);
    return test_relay_start(&s->relay);
}

/* ---- the benchmark ---- */

enum { HASHES = 7, BATCH_MAX = 4096, ROUNDS = 3 };

static test_server server;
static redisContext *plain;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "bench/redis: %s\n", what);
    test_server_stop(&server);
    exit(2);
}

/* CPU time used by the server, in seconds. */
static double server_cpu(void)
{
    redisReply *r = test_ask(&server, "INFO cpu");
    if (!r || r->type != REDIS_REPLY_STRING)
        die("no INFO");
    double user = atof(strstr(r->str, "used_cpu_user:") + 14);
    double sys = atof(strstr(r->str, "used_cpu_sys:") + 13);
    freeReplyObject(r);
    return user + sys;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static seen_hash hash_number(uint64_t n)
{
    return (seen_hash){.lo = mix(n), .hi = mix(n ^ 0x5555555555555555u)};
}

/* ---- the textbook client: k positions by double hashing over one bitmap ---- */

static char text[BATCH_MAX * HASHES * 96];

static size_t put_command(char *to, const char *name, bool set, uint64_t bit)
{
    char number[24];
    int n = snprintf(number, sizeof number, "%llu", (unsigned long long)bit);
    int len = sprintf(to, "*%d\r\n$6\r\n%s\r\n$8\r\ntextbook\r\n$%d\r\n%s\r\n", set ? 4 : 3, name,
                      n, number);
    if (set)
        len += sprintf(to + len, "$1\r\n1\r\n");
    return (size_t)len;
}

static void textbook(bool set, uint64_t bits, const seen_hash *h, size_t count, seen_answer *out)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < HASHES; j++)
            used += put_command(text + used, set ? "SETBIT" : "GETBIT", set,
                                (h[i].lo + j * h[i].hi) % bits);
    redisAppendFormattedCommand(plain, text, used);
    for (size_t i = 0; i < count; i++) {
        out[i] = SEEN_BEFORE;
        for (int j = 0; j < HASHES; j++) {
            void *reply;
            if (redisGetReply(plain, &reply) != REDIS_OK)
                die(plain->errstr);
            if (((redisReply *)reply)->integer == 0)
                out[i] = SEEN_NEW;
            freeReplyObject(reply);
        }
    }
}

/* ---- one measurement ---- */

typedef enum job { ADD, CHECK, STREAM } job;

typedef struct figure {
    double rate, cpu;
    uint64_t reported_new;
} figure;

/* STREAM: one key of ten is new, the others are random earlier ones. */
static bool is_first(uint64_t i)
{
    return i == 0 || mix(i) % 10 == 0;
}

static seen_hash pick(job what, uint64_t i)
{
    if (what != STREAM || is_first(i))
        return hash_number(i);
    uint64_t j = mix(i * 3) % i;
    while (!is_first(j))
        j--;
    return hash_number(j);
}

static figure measure(job what, seen_set *set, uint64_t bits, uint64_t first, uint64_t keys,
                      size_t batch)
{
    seen_hash h[BATCH_MAX];
    seen_answer answers[BATCH_MAX];
    seen_error error;
    figure f = {0};
    double cpu = server_cpu(), start = now();
    for (uint64_t at = 0; at < keys; at += batch) {
        size_t n = keys - at < batch ? keys - at : batch;
        for (size_t i = 0; i < n; i++)
            h[i] = pick(what, first + at + i);
        seen_status status = SEEN_OK;
        if (!set)
            textbook(what != CHECK, bits, h, n, answers);
        else if (what == CHECK)
            status = seen_check_hashes(set, h, n, answers, &error);
        else
            status = seen_add_hashes(set, h, n, answers, &error);
        if (status != SEEN_OK)
            die(error.message);
        for (size_t i = 0; i < n; i++)
            f.reported_new += answers[i] == SEEN_NEW;
    }
    f.rate = (double)keys / (now() - start);
    f.cpu = (server_cpu() - cpu) / (double)keys * 1e6;
    return f;
}

static seen_set *make_set(uint64_t keys)
{
    seen_options o = {
        .size = sizeof o, .capacity = keys, .hashes = HASHES, .when_full = SEEN_FULL_GO_ON};
    seen_set *set;
    seen_error error;
    char where[128];
    snprintf(where, sizeof where, "%s/bench", server.url);
    if (seen_create(where, &o, SEEN_REPLACE, &set, &error) != SEEN_OK)
        die(error.message);
    return set;
}

static double better(figure *best, figure f)
{
    if (f.rate > best->rate)
        best->rate = f.rate;
    if (best->cpu == 0 || f.cpu < best->cpu)
        best->cpu = f.cpu;
    best->reported_new = f.reported_new;
    return best->rate;
}

static void compare(const char *name, job what, uint64_t keys, size_t batch, double bar)
{
    figure ours = {0}, theirs = {0};
    uint64_t bits = 0;
    for (int round = 0; round < ROUNDS; round++) {
        seen_set *set = make_set(2 * keys);
        seen_info info = {.size = sizeof info};
        if (seen_get_shape(set, &info, NULL) != SEEN_OK)
            die("no shape");
        bits = info.bits;
        freeReplyObject(test_ask(&server, "DEL textbook"));
        freeReplyObject(test_ask(&server, "SETBIT textbook %llu 0", (unsigned long long)bits - 1));
        if (what == CHECK) {
            measure(ADD, set, bits, 0, keys / 2, BATCH_MAX);
            measure(ADD, NULL, bits, 0, keys / 2, BATCH_MAX);
        }
        better(&theirs, measure(what, NULL, bits, 0, keys, batch));
        better(&ours, measure(what, set, bits, 0, keys, batch));
        seen_close(set);
    }
    printf("%-22s %5zu %10.0f %10.0f %6.2f %8.2f %8.2f %6.2f   %4.1f %s\n", name, batch,
           theirs.rate, ours.rate, ours.rate / theirs.rate, theirs.cpu, ours.cpu,
           theirs.cpu / ours.cpu, bar,
           ours.rate / theirs.rate >= bar ? "kept"
           : theirs.cpu / ours.cpu >= bar ? "kept (CPU)"
                                          : "MISSED");
    fflush(stdout);
}

/* ---- network ---- */

static double server_bytes(const char *field)
{
    redisReply *r = test_ask(&server, "INFO stats");
    const char *at = r && r->type == REDIS_REPLY_STRING ? strstr(r->str, field) : NULL;
    if (!at)
        die("no INFO");
    double bytes = atof(at + strlen(field));
    freeReplyObject(r);
    return bytes;
}

/* Bytes per key, in batches of 1024. */
static void network(const char *name, job what, uint64_t keys)
{
    static const char in[] = "total_net_input_bytes:", out[] = "total_net_output_bytes:";
    seen_set *set = make_set(2 * keys);
    if (what == CHECK)
        measure(ADD, set, 0, 0, keys / 2, BATCH_MAX);
    double sent = server_bytes(in), received = server_bytes(out);
    measure(what, set, 0, 0, keys, 1024);
    printf("network, %s: %.0f bytes to the server and %.0f back per key\n", name,
           (server_bytes(in) - sent) / (double)keys, (server_bytes(out) - received) / (double)keys);
    seen_close(set);
}

/* ---- memory, and the longest commands ---- */

static void weigh(uint64_t keys)
{
    seen_set *set = make_set(keys);
    seen_info info = {.size = sizeof info};
    if (seen_get_shape(set, &info, NULL) != SEEN_OK)
        die("no shape");
    redisReply *r = test_ask(&server, "KEYS seen:{bench:*");
    double used = 0;
    for (size_t i = 0; i < r->elements; i++)
        used += (double)test_number(&server, "MEMORY USAGE %s", r->element[i]->str);
    freeReplyObject(r);
    printf("memory of %.3g keys in %llu shards: %.2f%% above the plan (bar 3%%)\n", (double)keys,
           (unsigned long long)info.shards, 100 * (used / (double)info.bytes - 1));
    seen_close(set);
}

/* By the server's own clock, which includes the time of other processes: the longest trivial
 * command, one cell of the textbook's bitmap, shows how much that is. */
static void slowest(void)
{
    redisReply *r = test_ask(&server, "SLOWLOG GET 100000");
    long long most = 0, harmless = 0;
    char what[64] = "none above 0.2 ms";
    for (size_t i = 0; r && i < r->elements; i++) {
        redisReply *e = r->element[i], *words = e->element[3];
        const char *name = words->element[0]->str;
        long long us = e->element[2]->integer;
        bool cell = strcmp(name, "GETBIT") == 0 ||
                    (strcmp(name, "SETBIT") == 0 && strcmp(words->element[3]->str, "1") == 0);
        if (cell)
            harmless = us > harmless ? us : harmless;
        else if (us > most && strcmp(name, "SETBIT") != 0 && strcmp(name, "KEYS") != 0 &&
                 strcmp(name, "SLOWLOG") != 0) {
            most = us;
            snprintf(what, sizeof what, "%s", name);
        }
    }
    printf("by SLOWLOG the longest command took %.1f ms (%s), the longest SETBIT or GETBIT of one "
           "cell %.1f ms\n",
           (double)most / 1000, what, (double)harmless / 1000);
    freeReplyObject(r);
}

static seen_set *make_at(const spy *s, const char *name, const seen_options *o)
{
    seen_set *set;
    seen_error error;
    char where[128];
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/%s", s->relay.port, name);
    if (seen_create(where, o, SEEN_REPLACE, &set, &error) != SEEN_OK)
        die(error.message);
    return set;
}

static void must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        die(error->message);
}

/* The capacity at which a filter has eight shards of the maximum size. */
static uint64_t eight_shards(seen_kind kind, double rate)
{
    seen_parameters parameters = {.size = sizeof parameters,
                                  .kind = kind,
                                  .error_rate = rate,
                                  .bits = UINT64_C(8) * 4092 * 512};
    seen_plan plan;
    seen_error e;
    must(seen_plan_make(&parameters, &plan, &e), &e);
    return plan.capacity;
}

/* All operations of a set, on the largest shards, in fresh memory, where creating them takes
 * longest. */
static void exercise(const spy *s)
{
    enum { KEYS = 200, GENERATIONS = 4 };
    const double rate = 0.01;
    seen_options fixed = {
        .size = sizeof fixed, .capacity = eight_shards(SEEN_BLOOM, rate), .error_rate = rate};
    seen_options window = {.size = sizeof window,
                           .capacity =
                               (GENERATIONS - 1) * eight_shards(SEEN_BLOOM, rate / GENERATIONS),
                           .error_rate = rate,
                           .growth = SEEN_WINDOW,
                           .generations = GENERATIONS};
    seen_options counts = {.size = sizeof counts,
                           .capacity = eight_shards(SEEN_COUNTING, rate),
                           .error_rate = rate,
                           .kind = SEEN_COUNTING};
    seen_options other = {.size = sizeof other, .retry_ms = 1000};
    seen_hash h[KEYS];
    seen_answer answers[KEYS];
    seen_error e;
    char where[128];
    for (int i = 0; i < KEYS; i++)
        h[i] = hash_number((uint64_t)i);
    seen_set *a = make_at(s, "a", &fixed), *w = make_at(s, "w", &window),
             *c = make_at(s, "c", &counts), *b;
    seen_info info = {.size = sizeof info};
    must(seen_get_shape(a, &info, &e), &e);
    printf("each command alone, on shards of %.0f KiB:\n",
           (double)info.bytes / (double)info.shards / 1024);
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/b", s->relay.port);
    must(seen_create_like(where, a, NULL, SEEN_REPLACE, &b, &e), &e);
    must(seen_add_hashes(a, h, KEYS, answers, &e), &e);
    must(seen_check_hashes(a, h, KEYS, answers, &e), &e);
    must(seen_merge(b, a, &e), &e);
    must(seen_copy(b, where, SEEN_REPLACE, &other, &e), &e);
    must(seen_get_info(a, &info, &e), &e);
    for (int i = 0; i < 5; i++) {
        must(seen_add_hashes(w, h, KEYS, answers, &e), &e);
        must(seen_rotate(w, &e), &e);
    }
    must(seen_add_hashes(c, h, KEYS, answers, &e), &e);
    must(seen_remove_hashes(c, h, KEYS, answers, &e), &e);
    seen_close(a);
    seen_close(b);
    seen_close(w);
    seen_close(c);
    must(seen_drop(where, &other, &e), &e);
}

static void commands(void)
{
    static spy s;
    test_server fresh = {0};
    if (!test_server_start(&fresh, NULL) || !spy_start(&s, &fresh))
        die("cannot start redis-server");
    redisContext *c = redisConnect("127.0.0.1", s.relay.port);
    for (int i = 0; c && !c->err && i < 1000; i++)
        freeReplyObject(redisCommand(c, "PING"));
    exercise(&s);
    double most = 0;
    for (unsigned i = 0; i < s.kinds; i++) {
        const spy_kind *k = &s.kind[i];
        printf("  %-*s %6lu times, CPU of the server: %.3f ms on average, %.3f at most\n", SPY_NAME,
               k->name, k->count, k->sum / (double)k->count, k->most);
        most = k->most > most ? k->most : most;
    }
    printf("no command kept the server longer than %.2f ms (bar 5 ms): %s\n", most,
           most <= 5 ? "kept" : "MISSED");
    redisFree(c);
    test_relay_stop(&s.relay);
    test_server_stop(&fresh);
}

/* ---- seen uniq -f ---- */

/* Lines per second of `seen uniq -f`, on a set created with `create`, or, if that is NULL, on one
 * created by uniq (it grows if there are more lines than estimated). */
static double uniq_rate(const char *command, const char *create, int round, uint64_t lines,
                        const char *path)
{
    char run[700];
    const char *name = create ? "made" : "grown";
    if (create) {
        snprintf(run, sizeof run, "'%s' create -q %s/%s%d %s", command, server.url, name, round,
                 create);
        if (system(run) != 0)
            die("seen create failed");
    }
    snprintf(run, sizeof run, "'%s' uniq -q -f %s/%s%d -n %llu -p 0.01 %s > /dev/null", command,
             server.url, name, round, (unsigned long long)lines, path);
    if (create)
        snprintf(run, sizeof run, "'%s' uniq -q -f %s/%s%d %s > /dev/null", command, server.url,
                 name, round, path);
    double start = now();
    if (system(run) != 0)
        die("seen uniq failed");
    return (double)lines / (now() - start);
}

/* Keys per second with one pipelined round trip for each. `together`: client and server share one
 * processor, which minimizes wake-up costs; which one is faster depends on the machine. */
static double one_by_one(bool together, uint64_t lines)
{
    enum { FEW = 50000 };
    cpu_set_t mine, both;
    CPU_ZERO(&both);
    CPU_SET((size_t)sched_getcpu(), &both);
    sched_getaffinity(0, sizeof mine, &mine);
    if (together && (sched_setaffinity(0, sizeof both, &both) != 0 ||
                     sched_setaffinity(server.pid, sizeof both, &both) != 0))
        return 0;
    double start = now();
    for (uint64_t i = 0; i < FEW; i++) {
        seen_hash h = hash_number(i);
        seen_answer answer;
        textbook(true, 10 * lines, &h, 1, &answer);
    }
    double rate = FEW / (now() - start);
    sched_setaffinity(0, sizeof mine, &mine);
    sched_setaffinity(server.pid, sizeof mine, &mine);
    return rate;
}

static int slower_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_rates(const char *which, double made, double grown, double theirs)
{
    printf("  %-6s %.0f/s on a fixed set, %.0f/s on a growing one; one round trip per key: %.0f/s; "
           "%.1f and %.1f times\n",
           which, made, grown, theirs, made / theirs, grown / theirs);
}

static void uniq(const char *command, uint64_t lines)
{
    char path[128], numbers[64];
    snprintf(path, sizeof path, "%s/urls", server.folder);
    snprintf(numbers, sizeof numbers, "-n %llu -p 0.01", (unsigned long long)lines);
    FILE *f = fopen(path, "w");
    for (uint64_t i = 0; f && i < lines; i++)
        fprintf(f, "https://www.example.org/path/%llx/page-%llu.html\n",
                (unsigned long long)mix(mix(i) % (lines / 2)) % 100000000,
                (unsigned long long)(mix(i) % (lines / 2)));
    if (!f || fclose(f) != 0)
        die("no room for the URLs");
    double made[ROUNDS], grown[ROUNDS], theirs[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        made[round] = uniq_rate(command, numbers, round, lines, path);
        grown[round] = uniq_rate(command, NULL, round, lines, path);
        theirs[round] = fmax(one_by_one(false, lines), one_by_one(true, lines));
    }
    qsort(made, ROUNDS, sizeof *made, slower_first);
    qsort(grown, ROUNDS, sizeof *grown, slower_first);
    qsort(theirs, ROUNDS, sizeof *theirs, slower_first);
    printf("uniq -f of %.3g URLs, 57%% repeats, %d rounds, each of all three in turn (bar 15):\n",
           (double)lines, ROUNDS);
    print_rates("best", made[ROUNDS - 1], grown[ROUNDS - 1], theirs[ROUNDS - 1]);
    print_rates("median", made[ROUNDS / 2], grown[ROUNDS / 2], theirs[ROUNDS / 2]);
}

static bool wanted(int argc, char **argv, const char *part)
{
    bool found = argc <= 3;
    for (int i = 3; i < argc; i++)
        found |= strcmp(argv[i], part) == 0;
    return found;
}

static void compare_all(uint64_t keys)
{
    printf("                       batch   textbook       seen  ratio   CPU us   CPU us  ratio    "
           "bar\n");
    compare("add, all new", ADD, keys, 64, 1.3);
    compare("add, all new", ADD, keys, 1024, 1.3);
    compare("check, half there", CHECK, keys, 64, 3);
    compare("check, half there", CHECK, keys, 1024, 3);
    compare("add, nine of ten seen", STREAM, keys, 64, 3);
    compare("add, nine of ten seen", STREAM, keys, 1024, 3);
}

int main(int argc, char **argv)
{
    uint64_t keys = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
    static const char *const extra[] = {"--slowlog-log-slower-than", "200", "--slowlog-max-len",
                                        "100000", NULL};
    if (keys < 1000)
        die("give at least 1000 keys");
    if (!test_server_start(&server, extra))
        die("cannot start redis-server");
    struct timeval limit = {.tv_sec = 30};
    plain = redisConnectWithTimeout("127.0.0.1", server.port, limit);
    if (!plain || plain->err)
        die("cannot connect");
    if (wanted(argc, argv, "keys"))
        compare_all(keys);
    if (wanted(argc, argv, "network")) {
        network("add, all new", ADD, keys);
        network("check, half there", CHECK, keys);
        network("add, nine of ten seen", STREAM, keys);
    }
    if (wanted(argc, argv, "memory"))
        weigh(100 * keys);
    if (wanted(argc, argv, "keys") || wanted(argc, argv, "memory"))
        slowest();
    if (wanted(argc, argv, "commands"))
        commands();
    if (argc > 2 && wanted(argc, argv, "uniq"))
        uniq(argv[2], 10 * keys);
    redisFree(plain);
    test_server_stop(&server);
    return 0;
}
