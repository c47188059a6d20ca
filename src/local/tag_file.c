/* Tag lines in a mapped file.
 *
 *     0       page A   the durable image
 *     4096    page B   the durable image, or a newer one that is valid until the next boot
 *     8192    sequence of the current image; at 8256 + 16 p: tags and stash words of partition p, a
 *             hint that is verified on open
 *     16384   partitions, each at a multiple of 4096, with gaps between them
 *
 * A partition grows every few thousand keys, so growth does not wait for the disk. The new image is
 * written to page B with the boot ID of the system, and not synced: other processes, and those that
 * open the file after a kill, use it; after a power failure the boot ID differs and page A is used.
 * Extents in page A are never overwritten: an extent is reused only if it is in neither image. Sync
 * makes all extents durable, then writes the image to page B without a boot ID, syncs, and then to
 * page A. So after a power failure the file contains everything that was synced.
 *
 * Growth triggers a sync when extents that only page A needs take too much of the file. Closing a
 * set after growth syncs too, so that the file can be copied to another machine. */
#include "base/error.h"
#include "base/io.h"
#include "local/mapped.h"
#include "local/tag_set.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEGMENTS = 64,
    COUNTS_AT = SN_IMAGE_COUNTERS_AT + SN_LINE_BYTES,
    SEQUENCE_AT = SN_IMAGE_COUNTERS_AT,
    PAGE_SEQUENCE_AT = 88,
    SLACK = 64 << 20, /* a file may exceed its partitions by this much plus a quarter */
    SAMPLE_BLOCKS = 2,
};

/* A mapped range of the file, starting at the page before `at`. */
typedef struct segment {
    char *memory;
    uint64_t at, bytes;
} segment;

typedef struct file_set {
    sn_tag_set tags;
    sn_mapped file;
    unsigned segments;
    segment segment[SEGMENTS]; /* not unmapped before the set is closed, because lookups may read
                                * them */
    bool dirty;                /* page A is older than the image */
    pthread_mutex_t syncing;   /* one sync at a time */
} file_set;

static file_set *of(sn_tag_set *s)
{
    return (file_set *)s;
}

static const char *name_of(const sn_tag_set *s)
{
    return s->base.where;
}

/* ---- mapping ---- */

/* The address of the file range at `at`; NULL: it cannot be mapped (errno). A new mapping extends
 * far beyond what is needed, and beyond the end of the file, which will grow. */
static char *map_range(file_set *f, uint64_t at, uint64_t bytes)
{
    uint64_t page = sn_io_page(), end = SN_IMAGE_DATA_AT;
    for (unsigned i = 0; i < f->segments; i++) {
        segment *g = &f->segment[i];
        if (at >= g->at && at + bytes <= g->at + g->bytes)
            return g->memory + (at - g->at);
        end = g->at + g->bytes > end ? g->at + g->bytes : end;
    }
    if (f->segments == SEGMENTS) {
        errno = ENOMEM;
        return NULL;
    }
    uint64_t from = at / page * page, size = at + bytes - from;
    if (f->segments < SEGMENTS / 2 && size < end)
        size = end;
    size = (size + page - 1) / page * page;
    int protection = PROT_READ | (f->file.read_only ? 0 : PROT_WRITE);
    void *memory = mmap(NULL, (size_t)size, protection, MAP_SHARED, f->file.fd, (off_t)from);
    if (memory == MAP_FAILED) {
        size = (at + bytes - from + page - 1) / page * page;
        memory = mmap(NULL, (size_t)size, protection, MAP_SHARED, f->file.fd, (off_t)from);
    }
    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, (size_t)size, MADV_RANDOM);
    f->segment[f->segments++] = (segment){memory, from, size};
    return (char *)memory + (at - from);
}

static bool same_extent(const sn_extent *a, const sn_extent *b)
{
    return a->offset == b->offset && a->homes == b->homes && a->stash_words == b->stash_words;
}

/* Applies the image, which was announced with this sequence. Holds `publishing`, or has exclusive
 * access. */
static seen_status adopt(file_set *f, const sn_image *image, uint64_t announced, bool all,
                         seen_error *error)
{
    sn_tag_set *s = &f->tags;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        const sn_extent *extent = &image->part[p];
        if (!all && same_extent(extent, &s->image.part[p]))
            continue;
        char *lines = map_range(f, extent->offset, sn_extent_bytes(extent));
        if (!lines)
            return sn_error_system(error, errno, name_of(s), "map");
        if (!sn_tag_set_install(s, p, extent, lines))
            return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", name_of(s));
        s->image.part[p] = *extent;
    }
    s->image = *image;
    f->dirty = memcmp(image->boot, (unsigned char[SN_BOOT_BYTES]){0}, SN_BOOT_BYTES) != 0;
    __atomic_store_n(&s->adopted, announced, __ATOMIC_RELEASE);
    return SEEN_OK;
}

/* ---- other processes ---- */

/* Reads the current image. A page may be read while it is being written; then the other one is
 * valid but older than the announced sequence: read again. If that does not help, the announced
 * sequence was left by a power failure. */
static bool read_announced(file_set *f, uint64_t *announced, sn_image *image, const char **why)
{
    enum { TRIES = 100 };
    const uint64_t *at = (const uint64_t *)(const void *)(f->file.head + SEQUENCE_AT);
    for (int i = 0; i < TRIES; i++) {
        *announced = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        if (!sn_mapped_read(f->file.fd, f->file.boot, image, why))
            return false;
        if (image->sequence >= *announced)
            return true;
    }
    return true;
}

static seen_status refresh_locked(file_set *f, seen_error *error)
{
    sn_tag_set *s = &f->tags;
    sn_image image;
    const char *why;
    uint64_t announced;
    if (__atomic_load_n(s->sequence, __ATOMIC_ACQUIRE) == s->adopted)
        return SEEN_OK;
    if (!read_announced(f, &announced, &image, &why))
        return !why ? sn_error_system(error, errno, name_of(s), "read")
                    : sn_error_set(error, SEEN_ERR_CHANGED, "%s: changed while it was open: %s",
                                   name_of(s), why);
    if (image.extra != s->image.extra)
        return sn_error_set(error, SEEN_ERR_CHANGED,
                            "%s: was replaced by another filter while it was open", name_of(s));
    return adopt(f, &image, announced, false, error);
}

static seen_status refresh(sn_tag_set *s, seen_error *error)
{
    pthread_mutex_lock(&s->publishing);
    seen_status status = refresh_locked(of(s), error);
    pthread_mutex_unlock(&s->publishing);
    return status;
}

static seen_status refresh_entering(void *set, seen_error *error)
{
    sn_tag_set *s = set;
    if (__atomic_load_n(s->sequence, __ATOMIC_ACQUIRE) ==
        __atomic_load_n(&s->adopted, __ATOMIC_ACQUIRE))
        return SEEN_OK;
    return refresh(s, error);
}

static seen_status enter(sn_tag_set *s, seen_error *error)
{
    return sn_mapped_enter(&of(s)->file, refresh_entering, s, error);
}

static bool locks(const sn_tag_set *s)
{
    return !((const file_set *)(const void *)s)->file.alone;
}

static void leave(sn_tag_set *s)
{
    sn_mapped_leave(&of(s)->file);
}

/* ---- growth ---- */

/* Announces the change to lookups, in this process and in others. */
static void announce(sn_tag_set *s)
{
    __atomic_store_n(&s->adopted, s->image.sequence, __ATOMIC_RELEASE);
    __atomic_store_n(s->sequence, s->image.sequence, __ATOMIC_RELEASE);
}

/* After a kill page B may have a sequence that was never announced, but that a reader has seen. */
static uint64_t sequence_of_page_b(const file_set *f)
{
    const void *at = f->file.head + SN_IMAGE_BYTES + PAGE_SEQUENCE_AT;
    return le64toh(__atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED));
}

static seen_status publish(sn_tag_set *s, seen_error *error)
{
    file_set *f = of(s);
    unsigned char page[SN_IMAGE_BYTES];
    uint64_t there = sequence_of_page_b(f);
    if (s->image.sequence <= there)
        s->image.sequence = there + 1;
    memcpy(s->image.boot, f->file.boot, SN_BOOT_BYTES);
    sn_image_encode(&s->image, page);
    if (!sn_io_write(f->file.fd, page, sizeof page, SN_IMAGE_BYTES))
        return sn_error_system(error, errno, name_of(s), "write the header");
    f->dirty = true;
    announce(s);
    return SEEN_OK;
}

/* The durable image, as it is in page A now: another process may have synced. */
static bool read_page_a(file_set *f, sn_image *image)
{
    unsigned char page[SN_IMAGE_BYTES];
    const char *why;
    return sn_io_read(f->file.fd, page, sizeof page, 0) && sn_image_decode(page, 0, image, &why);
}

/* All extents that must not be overwritten: of the image, of page A, and of growth in progress. */
static size_t used_extents(file_set *f, sn_extent used[3 * SN_TAGS_PARTS], uint64_t *live)
{
    const sn_tag_set *s = &f->tags;
    sn_image durable;
    size_t count = 2 * (size_t)SN_TAGS_PARTS;
    memcpy(used, s->image.part, sizeof s->image.part);
    memcpy(used + SN_TAGS_PARTS, s->pending, sizeof s->pending);
    *live = 0;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        *live += sn_extent_bytes(&s->image.part[p]);
    if (f->dirty && read_page_a(f, &durable)) {
        memcpy(used + count, durable.part, sizeof durable.part);
        count += SN_TAGS_PARTS;
    }
    sn_tag_extents_sort(used, count);
    return count;
}

static seen_status make_durable(file_set *f, seen_error *error);

static seen_status take(sn_tag_set *s, sn_extent *extent, char **lines, seen_error *error)
{
    file_set *f = of(s);
    sn_extent used[3 * SN_TAGS_PARTS];
    uint64_t bytes = sn_extent_bytes(extent), live;
    size_t count = used_extents(f, used, &live);
    uint64_t at =
        sn_tag_extents_fit(used, count, SN_IMAGE_DATA_AT, UINT64_MAX / 4, bytes, SN_IMAGE_ALIGN);
    if (f->dirty && at + bytes > live + live / 4 + SLACK) {
        seen_status status = make_durable(f, error);
        if (status != SEEN_OK)
            return status;
        count = used_extents(f, used, &live);
        at = sn_tag_extents_fit(used, count, SN_IMAGE_DATA_AT, UINT64_MAX / 4, bytes,
                                SN_IMAGE_ALIGN);
    }
    /* The file ends at a multiple of the alignment, as it did when it was created. */
    uint64_t whole = (bytes + SN_IMAGE_ALIGN - 1) / SN_IMAGE_ALIGN * SN_IMAGE_ALIGN;
    seen_status status = sn_io_reserve(f->file.fd, name_of(s), at, whole, error);
    if (status != SEEN_OK)
        return status;
    extent->offset = at;
    *lines = map_range(f, at, bytes);
    return *lines ? SEEN_OK : sn_error_system(error, errno, name_of(s), "map");
}

/* The extent becomes a gap in the file, for a later partition. Its pages are released from memory,
 * not from the file: a lookup that still reads it gets them back. */
static void give_back(sn_tag_set *s, const sn_extent *extent)
{
    file_set *f = of(s);
    uint64_t page = sn_io_page(), end = extent->offset + sn_extent_bytes(extent);
    uint64_t from = (extent->offset + page - 1) / page * page, to = end / page * page;
    for (unsigned i = 0; i < f->segments && from < to; i++) {
        segment *g = &f->segment[i];
        if (from >= g->at && to <= g->at + g->bytes)
            (void)madvise(g->memory + (from - g->at), (size_t)(to - from), MADV_DONTNEED);
    }
}

/* ---- durability ---- */

static bool sync_extent(file_set *f, const sn_extent *extent)
{
    uint64_t page = sn_io_page(), from = extent->offset / page * page;
    uint64_t bytes = extent->offset + sn_extent_bytes(extent) - from;
    char *lines = map_range(f, from, bytes);
    return lines && msync(lines, (size_t)bytes, MS_SYNC) == 0;
}

static seen_status sync_extents(file_set *f, const sn_extent *part, const sn_extent *done,
                                seen_error *error)
{
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        if (!(done && same_extent(&part[p], &done[p])) && !sync_extent(f, &part[p]))
            return sn_error_system(error, errno, name_of(&f->tags), "sync");
    return SEEN_OK;
}

/* Makes the image the durable one. Its extents have been synced. Holds `publishing`; other
 * processes are locked out. */
static seen_status write_durable(file_set *f, seen_error *error)
{
    sn_tag_set *s = &f->tags;
    unsigned char page[SN_IMAGE_BYTES];
    sn_image image = s->image;
    if (image.sequence <= sequence_of_page_b(f))
        image.sequence = sequence_of_page_b(f) + 1;
    memset(image.boot, 0, sizeof image.boot);
    sn_image_encode(&image, page);
    if (msync(f->file.head + SN_IMAGE_COUNTERS_AT, SN_IMAGE_DATA_AT - SN_IMAGE_COUNTERS_AT,
              MS_SYNC) != 0 ||
        fdatasync(f->file.fd) != 0)
        return sn_error_system(error, errno, name_of(s), "sync");
    seen_status status = sn_mapped_write_page(f->file.fd, name_of(s), page, SN_IMAGE_BYTES, error);
    if (status == SEEN_OK)
        status = sn_mapped_write_page(f->file.fd, name_of(s), page, 0, error);
    if (status != SEEN_OK)
        return status;
    s->image = image;
    f->dirty = false;
    announce(s);
    return SEEN_OK;
}

/* Holds `publishing`; other processes are locked out. */
static seen_status make_durable(file_set *f, seen_error *error)
{
    seen_status status = sync_extents(f, f->tags.image.part, NULL, error);
    return status == SEEN_OK ? write_durable(f, error) : status;
}

/* Syncs most extents without a lock; then those that have grown in between, and the pages. */
static seen_status sync_all(file_set *f, seen_error *error)
{
    sn_tag_set *s = &f->tags;
    sn_extent part[SN_TAGS_PARTS];
    seen_status status = refresh(s, error);
    pthread_mutex_lock(&s->publishing);
    memcpy(part, s->image.part, sizeof part);
    for (unsigned p = 0; status == SEEN_OK && p < SN_TAGS_PARTS; p++) /* mapped before unlocking */
        if (!map_range(f, part[p].offset / sn_io_page() * sn_io_page(),
                       part[p].offset % sn_io_page() + sn_extent_bytes(&part[p])))
            status = sn_error_system(error, errno, name_of(s), "map");
    pthread_mutex_unlock(&s->publishing);
    if (status == SEEN_OK)
        status = sync_extents(f, part, NULL, error);
    if (status == SEEN_OK)
        status = enter(s, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&s->publishing);
    if (f->dirty) {
        status = sync_extents(f, s->image.part, part, error);
        if (status == SEEN_OK)
            status = write_durable(f, error);
    } else if (msync(f->file.head, SN_IMAGE_DATA_AT, MS_SYNC) != 0 || fdatasync(f->file.fd) != 0) {
        status = sn_error_system(error, errno, name_of(s), "sync");
    }
    pthread_mutex_unlock(&s->publishing);
    leave(s);
    return status;
}

static seen_status sync_file(sn_tag_set *s, seen_error *error)
{
    file_set *f = of(s);
    if (f->file.read_only)
        return SEEN_OK;
    seen_status status = sn_mapped_check_name(&f->file, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&f->syncing);
    status = sync_all(f, error);
    pthread_mutex_unlock(&f->syncing);
    return status;
}

static void free_set(sn_tag_set *s)
{
    file_set *f = of(s);
    f->file.forked = s->base.forked;
    if (f->file.head && !f->file.read_only && f->dirty && !s->base.forked)
        (void)sync_all(f, NULL);
    for (unsigned i = 0; i < f->segments; i++)
        munmap(f->segment[i].memory, (size_t)f->segment[i].bytes);
    sn_mapped_close(&f->file);
    pthread_mutex_destroy(&f->syncing);
    sn_tag_set_destroy(s);
    free(f);
}

static const sn_tag_backing FILE_BACKING = {.take = take,
                                            .publish = publish,
                                            .give_back = give_back,
                                            .enter = enter,
                                            .leave = leave,
                                            .locks = locks,
                                            .refresh = refresh,
                                            .sync = sync_file,
                                            .free = free_set};

/* ---- opening ---- */

/* The counters are not checksummed, and after a power failure may be older than the lines. A
 * counter that contradicts a sample of the lines is replaced by an estimate. */
static void check_counts(sn_tag_set *s)
{
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        bool exact;
        const sn_tags_part *part = s->part[p];
        double blocks = (double)part->homes / SN_TAGS_HOMES;
        double tags = sn_tags_estimate(&s->shape, part, SAMPLE_BLOCKS, &exact);
        double unit = exact ? 1 : blocks / SAMPLE_BLOCKS; /* tags represented by one tag of the
                                                           * sample */
        double off = exact ? 0 : 6 * sqrt(unit * (tags + unit));
        if (s->counts[p][1] > part->stash_words)
            s->counts[p][1] = 0;
        double have = (double)s->counts[p][0];
        if (have < tags - off || have > tags + off + (double)s->counts[p][1])
            s->counts[p][0] = (uint64_t)tags;
    }
}

/* Page A must hold the durable image while page B is overwritten, and the sequence that lookups
 * compare must be that of the image. */
static seen_status begin_writing(file_set *f, seen_error *error)
{
    sn_tag_set *s = &f->tags;
    sn_image a;
    seen_status status = enter(s, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&s->publishing);
    check_counts(s);
    if (!f->dirty && (!read_page_a(f, &a) || a.sequence != s->image.sequence)) {
        unsigned char page[SN_IMAGE_BYTES];
        sn_image_encode(&s->image, page);
        status = sn_mapped_write_page(f->file.fd, name_of(s), page, 0, error);
    }
    if (__atomic_load_n(s->sequence, __ATOMIC_ACQUIRE) != s->image.sequence)
        announce(s);
    pthread_mutex_unlock(&s->publishing);
    leave(s);
    return status;
}

seen_status sn_tag_file_attach(int fd, const char *path, const sn_image *image, unsigned flags,
                               seen_set **set, seen_error *error)
{
    file_set *f = calloc(1, sizeof *f);
    sn_image now;
    const char *why;
    uint64_t announced;
    if (!f) {
        close(fd);
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", path);
    }
    sn_tag_set *s = &f->tags;
    f->file.fd = fd;
    pthread_mutex_init(&f->syncing, NULL);
    s->base.read_only = flags & SEEN_READ_ONLY;
    seen_status status = sn_tag_set_init(s, &FILE_BACKING, image, path, &sn_tag_file_ops, error);
    if (status == SEEN_OK)
        status = sn_mapped_open(&f->file, fd, name_of(s), path, flags, image, error);
    if (status != SEEN_OK)
        goto out;
    s->sequence = (uint64_t *)(void *)(f->file.head + SEQUENCE_AT);
    s->counts = (uint64_t(*)[2])(void *)(f->file.head + COUNTS_AT);
    /* The image was read before the locks were taken: another process may have changed it. */
    if (!read_announced(f, &announced, &now, &why))
        status = !why ? sn_error_system(error, errno, name_of(s), "read")
                      : sn_error_set(error, SEEN_ERR_FORMAT, "%s: refused: %s", path, why);
    if (status == SEEN_OK)
        status = adopt(f, &now, announced, true, error);
    if (status == SEEN_OK && !s->base.read_only)
        status = begin_writing(f, error);
    if (status != SEEN_OK)
        goto out;
    *set = &s->base;
    return SEEN_OK;
out:
    f->dirty = false;
    free_set(s);
    return status;
}

seen_status sn_tag_file_sync(seen_set *set, seen_error *error)
{
    return sync_all(of((sn_tag_set *)set), error);
}

int sn_tag_file_fd(const seen_set *set)
{
    return ((const file_set *)(const void *)set)->file.fd;
}
