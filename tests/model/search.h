/* The search of a model: every state that can be reached, each once, breadth first.
 *
 * A model defines, before it includes this file, the types `state` (compared byte by byte: no
 * padding that is not zero) and `config` (with `name`, `faulty`, `large`), `enum action` and
 * `action_names`; after it the functions that are declared here, its configurations, and main. */
#ifndef TEST_MODEL_SEARCH_H
#define TEST_MODEL_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const config *config;
    state *states;
    uint32_t *parent;
    uint8_t *action;
    uint32_t count, room;
    uint32_t *table;
    uint32_t mask;
    uint32_t at;      /* the state being expanded */
    uint32_t follows; /* states that follow it without a failure */
    uint64_t ends;
    const char *fault;
    uint32_t limit;
} search;

static void begin(search *x);                  /* reaches the first state */
static void expand(search *x, const state *s); /* reaches those that follow */
static void at_end(search *x, const state *s); /* only failures follow */
static bool is_failure(enum action action);

static uint64_t hash_state(const state *s)
{
    const unsigned char *p = (const unsigned char *)s;
    uint64_t h = 1469598103934665603u, word = 0;
    size_t i = 0;
    for (; i + sizeof word <= sizeof *s; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    for (; i < sizeof *s; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h ^ h >> 29;
}

static void *grow(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);
    if (!more) {
        fprintf(stderr, "the model is out of memory\n");
        exit(2);
    }
    return more;
}

static void rehash(search *x)
{
    uint32_t slots = (x->mask + 1) * 2;
    free(x->table);
    x->table = grow(NULL, slots * sizeof *x->table);
    memset(x->table, 0xff, slots * sizeof *x->table);
    x->mask = slots - 1;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t at = (uint32_t)hash_state(&x->states[i]) & x->mask;
        while (x->table[at] != UINT32_MAX)
            at = (at + 1) & x->mask;
        x->table[at] = i;
    }
}

static void reach(search *x, const state *s, enum action action, unsigned who)
{
    if (x->count > 0 && memcmp(s, &x->states[x->at], sizeof *s) == 0)
        return;
    x->follows += !is_failure(action);
    uint32_t at = (uint32_t)hash_state(s) & x->mask;
    for (; x->table[at] != UINT32_MAX; at = (at + 1) & x->mask)
        if (memcmp(&x->states[x->table[at]], s, sizeof *s) == 0)
            return;
    if (x->count == x->room) {
        x->room = x->room ? x->room * 2 : 1 << 16;
        x->states = grow(x->states, x->room * sizeof *x->states);
        x->parent = grow(x->parent, x->room * sizeof *x->parent);
        x->action = grow(x->action, x->room);
    }
    x->states[x->count] = *s;
    x->parent[x->count] = x->at;
    x->action[x->count] = (uint8_t)((unsigned)action * 4 + who);
    x->table[at] = x->count++;
    if (x->count * 2 > x->mask)
        rehash(x);
}

static bool off(const search *x, unsigned rule)
{
    return (x->config->off & rule) != 0;
}

/* A fault found while a step is computed. */
static void fault(search *x, const char *what)
{
    if (!x->fault)
        x->fault = what;
}

static void print_trace(const search *x)
{
    uint32_t path[400];
    size_t n = 0;
    for (uint32_t at = x->at; at != 0 && n < 400; at = x->parent[at])
        path[n++] = at;
    while (n-- > 0) {
        unsigned a = x->action[path[n]];
        printf("    %u %s\n", a % 4, action_names[a / 4]);
    }
}

/* True: the search was complete, or found what it had to find. A fault that is not expected is
 * printed with the steps that lead to it; `trace`: also one that is. */
static bool run(const config *c, bool trace)
{
    search x = {.config = c, .mask = (1 << 17) - 1, .limit = c->large ? 60000000 : 6000000};
    x.table = grow(NULL, ((size_t)x.mask + 1) * sizeof *x.table);
    memset(x.table, 0xff, ((size_t)x.mask + 1) * sizeof *x.table);
    begin(&x);
    for (x.at = 0; x.at < x.count && !x.fault && x.count < x.limit; x.at++) {
        state s = x.states[x.at];
        x.follows = 0;
        expand(&x, &s);
        if (x.follows == 0) {
            x.ends++;
            at_end(&x, &s);
        }
        if (x.fault)
            break;
    }
    bool complete = x.at == x.count, ok = c->faulty ? x.fault != NULL : complete && !x.fault;
    printf("%-14s %9u states, %llu ends: %s%s\n", c->name, x.count, (unsigned long long)x.ends,
           x.fault    ? x.fault
           : complete ? "complete, no fault"
                      : "STATE LIMIT REACHED",
           ok ? "" : "   <-- WRONG");
    if (x.fault && (trace || !c->faulty))
        print_trace(&x);
    fflush(stdout);
    free(x.states);
    free(x.parent);
    free(x.action);
    free(x.table);
    return ok;
}

/* Runs the configurations that are named; without a name those that are not large, with --all all
 * of them. Returns the exit status. */
static int run_wanted(const config *configs, size_t count, int argc, char **argv)
{
    unsigned wrong = 0, ran = 0;
    for (size_t i = 0; i < count; i++) {
        bool wanted = argc < 2 && !configs[i].large, named = false;
        for (int k = 1; k < argc; k++) {
            named = named || strcmp(argv[k], configs[i].name) == 0;
            wanted = wanted || named || strcmp(argv[k], "--all") == 0;
        }
        if (!wanted)
            continue;
        ran++;
        wrong += !run(&configs[i], named);
    }
    if (ran == 0)
        fprintf(stderr, "no configuration of that name\n");
    return wrong > 0 || ran == 0;
}

#endif
