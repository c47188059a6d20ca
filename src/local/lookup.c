/* Processes one batch in the layers of a set. See lookup.h. */
#include "local/lookup.h"

#include "set/layers.h"

static void check_layer(const sn_kernel *kernel, const sn_view *view, uint32_t i,
                        const seen_hash *h, size_t count, seen_answer *answers)
{
    kernel->check(&view->image.layer[i].geometry, view->bits[i], h, count, answers);
}

/* Collects the keys whose answer is `wanted`, and their indices. */
static size_t pick(const seen_hash *h, size_t count, const seen_answer *answers, seen_answer wanted,
                   seen_hash *picked, uint16_t *place)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        picked[n] = h[i];
        place[n] = (uint16_t)i;
        n += answers[i] == wanted;
    }
    return n;
}

void sn_lookup_check(const sn_kernel *kernel, const sn_view *view, const seen_hash *h, size_t count,
                     seen_answer *answers)
{
    uint32_t layers = view->image.layers;
    for (uint32_t n = 1; n <= layers; n++) {
        uint32_t i = (view->image.current + n) % layers;
        if (sn_layers_live(&view->image, i))
            check_layer(kernel, view, i, h, count, answers);
        if (view->image.growth == SEEN_WINDOW)
            sn_lookup_order();
    }
}

/* All answers are SEEN_NEW or SEEN_BEFORE, 0 or 1: one multiplication sums eight of them. */
uint64_t sn_lookup_count_new(const seen_answer *answers, size_t count)
{
    uint64_t before = 0, eight;
    size_t i = 0;
    for (; i + sizeof eight <= count; i += sizeof eight) {
        memcpy(&eight, answers + i, sizeof eight);
        before += eight * 0x0101010101010101u >> 56;
    }
    for (; i < count; i++)
        before += answers[i];
    return count - before;
}

static uint64_t add_current(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                            size_t count, seen_answer *answers)
{
    uint32_t c = view->image.current;
    kernel->add(&view->image.layer[c].geometry, view->bits[c], h, count, answers);
    return sn_lookup_count_new(answers, count);
}

static uint64_t add_growing(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                            size_t count, seen_answer *answers)
{
    seen_hash rest[SN_LOOKUP_MAX];
    uint16_t place[SN_LOOKUP_MAX];
    seen_answer got[SN_LOOKUP_MAX];
    memset(answers, SEEN_NEW, count);
    for (uint32_t i = 0; i < view->image.current; i++)
        check_layer(kernel, view, i, h, count, answers);
    size_t n = pick(h, count, answers, SEEN_NEW, rest, place);
    uint64_t fresh = add_current(kernel, view, rest, n, got);
    for (size_t i = 0; i < n; i++)
        answers[place[i]] = got[i];
    return fresh;
}

/* The layers of a counting set: each key is counted in the first layer that has it. */
static uint64_t add_growing_counting(const sn_kernel *kernel, const sn_view *view,
                                     const seen_hash *h, size_t count, seen_answer *answers)
{
    uint64_t fresh = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = 0;
        for (; i < view->image.current; i++) {
            seen_answer there = SEEN_NEW;
            check_layer(kernel, view, i, h + k, 1, &there);
            if (there == SEEN_BEFORE)
                break;
        }
        kernel->add(&view->image.layer[i].geometry, view->bits[i], h + k, 1, answers + k);
        fresh += answers[k] == SEEN_NEW;
    }
    return fresh;
}

/* Adds the keys that are not in an older generation. */
static uint64_t add_absent(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                           size_t count, const seen_answer *older, seen_answer *answers)
{
    seen_hash absent[SN_LOOKUP_MAX];
    seen_answer answer[SN_LOOKUP_MAX];
    size_t n = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        if (older[i] == SEEN_NEW)
            absent[n++] = h[i];
    uint64_t fresh = n ? add_current(kernel, view, absent, n, answer) : 0;
    for (size_t i = 0; i < count; i++)
        answers[i] = older[i] == SEEN_NEW ? answer[at++] : SEEN_BEFORE;
    return fresh;
}

static uint64_t add_window(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                           size_t count, seen_answer *answers)
{
    seen_answer older[SN_LOOKUP_MAX];
    memset(older, SEEN_NEW, count);
    for (uint32_t i = 0; i < view->image.layers; i++)
        if (i != view->image.current && sn_layers_live(&view->image, i))
            check_layer(kernel, view, i, h, count, older);
    if (!view->image.renew)
        return add_absent(kernel, view, h, count, older, answers);
    uint64_t fresh = add_current(kernel, view, h, count, answers);
    for (size_t i = 0; i < count; i++)
        answers[i] |= older[i];
    return fresh;
}

uint64_t sn_lookup_add(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                       size_t count, seen_answer *answers)
{
    if (count == 0)
        return 0;
    if (view->image.growth == SEEN_WINDOW)
        return add_window(kernel, view, h, count, answers);
    if (view->image.current == 0)
        return add_current(kernel, view, h, count, answers);
    if (view->image.kind == SEEN_COUNTING)
        return add_growing_counting(kernel, view, h, count, answers);
    return add_growing(kernel, view, h, count, answers);
}

bool sn_lookup_direct(const sn_kernel *kernel, const sn_view *view)
{
    return kernel->add_picked && view->image.growth != SEEN_WINDOW && view->image.current == 0;
}

void sn_lookup_add_picked(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                          const uint16_t *picks, size_t count, seen_answer *answers)
{
    kernel->add_picked(&view->image.layer[0].geometry, view->bits[0], h, picks, count, answers);
}

void sn_lookup_remove(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                      size_t count, seen_answer *answers, uint64_t *added)
{
    for (size_t k = 0; k < count; k++) {
        answers[k] = SEEN_NEW;
        for (uint32_t i = 0; i < view->image.layers && answers[k] == SEEN_NEW; i++) {
            kernel->remove(&view->image.layer[i].geometry, view->bits[i], h + k, 1, answers + k);
            if (answers[k] != SEEN_BEFORE)
                continue;
            /* The counter counts distinct keys: it decreases when the last addition is removed. */
            seen_answer still = SEEN_NEW;
            check_layer(kernel, view, i, h + k, 1, &still);
            if (still == SEEN_NEW && __atomic_load_n(&added[i], __ATOMIC_RELAXED) > 0)
                __atomic_fetch_sub(&added[i], 1, __ATOMIC_RELAXED);
        }
    }
}

size_t sn_lookup_present(const sn_kernel *kernel, const sn_view *view, const seen_hash *h,
                         size_t count, seen_answer *answers)
{
    size_t known = 0;
    bool all = true;
    memset(answers, SEEN_NEW, count);
    sn_lookup_check(kernel, view, h, count, answers);
    for (size_t i = 0; i < count; i++) {
        all &= answers[i] == SEEN_BEFORE;
        known += all;
        if (answers[i] != SEEN_BEFORE)
            answers[i] = SEEN_UNKNOWN;
    }
    return known;
}
