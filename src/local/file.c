/* Layers in a mapped file: fixed sets, windows, counting sets, and growing sets of version 1.
 *
 *     8192    counters: keys added, one u64 per layer; a hint, verified against the bits on open
 *     16384   the lines of layer 0, then of layer 1, ... each at a multiple of 4096
 *
 * To change the image (a new layer, a new generation), the space is reserved and synced, then page
 * A is written and synced, then page B, and only then is the layer used. If a crash left page B
 * older than page A, it is updated first. At any time at least one page is valid and describes
 * everything that was acknowledged. Pages and locks: mapped.h. */
#include "base/error.h"
#include "base/io.h"
#include "base/newfile.h"
#include "hash/hash.h"
#include "local/local.h"
#include "local/mapped.h"
#include "local/tag_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct file_set {
    sn_local local;
    sn_mapped file;
    atomic_bool doubt; /* a page may have been written without success: read it again */
} file_set;

static file_set *of(sn_local *l)
{
    return (file_set *)l;
}

static const char *name_of(const sn_local *l)
{
    return l->base.where;
}

/* ---- mapping ---- */

/* Layers begin at multiples of 4096, but pages may be larger: this many bytes before a layer are
 * mapped, too. */
static size_t lead_of(const sn_layer *layer)
{
    return (size_t)(layer->offset % sn_io_page());
}

static char *map_layer(file_set *f, const sn_layer *layer, bool read_only)
{
    int protection = PROT_READ | (read_only ? 0 : PROT_WRITE);
    size_t lead = lead_of(layer), bytes = (size_t)sn_geometry_bytes(&layer->geometry) + lead;
    void *p = mmap(NULL, bytes, protection, MAP_SHARED, f->file.fd,
                   (off_t)(layer->offset - (uint64_t)lead));
    if (p == MAP_FAILED)
        return NULL;
    (void)madvise(p, bytes, MADV_RANDOM);
    return (char *)p + lead;
}

static void unmap_layer(const sn_view *view, uint32_t i)
{
    const sn_layer *layer = &view->image.layer[i];
    size_t lead = lead_of(layer);
    munmap(view->bits[i] - lead, (size_t)sn_geometry_bytes(&layer->geometry) + lead);
}

static bool sync_layer(const sn_view *view, uint32_t i)
{
    const sn_layer *layer = &view->image.layer[i];
    size_t lead = lead_of(layer), bytes = (size_t)sn_geometry_bytes(&layer->geometry) + lead;
    return msync(view->bits[i] - lead, bytes, MS_SYNC) == 0;
}

/* Installs a view of `image`; layers that are already mapped keep their mapping. */
static seen_status install_image(file_set *f, const sn_image *image, seen_error *error)
{
    sn_local *l = &f->local;
    const sn_view *old = atomic_load(&l->view);
    sn_view *view = sn_view_take(l);
    if (!view)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", name_of(l));
    view->image = *image;
    uint32_t kept = old ? old->image.layers : 0;
    for (uint32_t i = 0; i < image->layers; i++) {
        if (i < kept) {
            view->bits[i] = old->bits[i];
            continue;
        }
        view->bits[i] = map_layer(f, &image->layer[i], l->base.read_only);
        if (!view->bits[i]) {
            seen_status status = sn_error_system(error, errno, name_of(l), "map");
            while (i-- > kept)
                unmap_layer(view, i);
            sn_view_return(l, view);
            return status;
        }
    }
    sn_view_install(l, view);
    return SEEN_OK;
}

/* ---- reading and writing the image ---- */

/* While page A is being written, page B must describe the current image. */
static seen_status secure_page_b(file_set *f, const sn_image *image, seen_error *error)
{
    unsigned char page[SN_IMAGE_BYTES], have[SN_IMAGE_BYTES];
    sn_image_encode(image, page);
    if (sn_io_read(f->file.fd, have, SN_IMAGE_BYTES, SN_IMAGE_BYTES) &&
        memcmp(page, have, SN_IMAGE_BYTES) == 0)
        return SEEN_OK;
    return sn_mapped_write_page(f->file.fd, name_of(&f->local), page, SN_IMAGE_BYTES, error);
}

/* Holds the gate, so that a checking thread does not adopt the new image, and map the new layer a
 * second time, before the view is installed. */
static seen_status publish(sn_local *l, sn_view *view, seen_error *error)
{
    file_set *f = of(l);
    pthread_mutex_lock(&f->file.gate);
    const sn_view *old = atomic_load(&l->view);
    seen_status status = secure_page_b(f, &old->image, error);
    if (status == SEEN_OK) {
        status = sn_mapped_write(f->file.fd, name_of(l), &view->image, error);
        if (status != SEEN_OK)
            atomic_store(&f->doubt, true);
    }
    if (status == SEEN_OK)
        sn_view_install(l, view);
    else if (view->image.layers > old->image.layers)
        unmap_layer(view, old->image.layers);
    pthread_mutex_unlock(&f->file.gate);
    return status;
}

/* Clears what follows the last layer: bytes appended by another program, or left by a crash. */
static bool clear_rest(int fd, uint64_t at, uint64_t bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    uint64_t there = (uint64_t)st.st_size > at ? (uint64_t)st.st_size - at : 0;
    return sn_io_clear(fd, at, there < bytes ? there : bytes);
}

static seen_status open_layer(sn_local *l, sn_layer *layer, char **bits, seen_error *error)
{
    file_set *f = of(l);
    const sn_image *image = &atomic_load(&l->view)->image;
    layer->offset = sn_image_end(image);
    uint64_t bytes = sn_geometry_bytes(&layer->geometry);
    if (!clear_rest(f->file.fd, layer->offset, bytes))
        return sn_error_system(error, errno, name_of(l), "clear");
    uint64_t whole = (bytes + SN_IMAGE_ALIGN - 1) / SN_IMAGE_ALIGN * SN_IMAGE_ALIGN;
    seen_status status = sn_io_reserve(f->file.fd, name_of(l), layer->offset, whole, error);
    if (status != SEEN_OK)
        return status;
    if (fsync(f->file.fd) != 0)
        return sn_error_system(error, errno, name_of(l), "sync");
    *bits = map_layer(f, layer, false);
    if (!*bits)
        return sn_error_system(error, errno, name_of(l), "map");
    return SEEN_OK;
}

/* ---- other processes ---- */

static seen_status refresh_locked(file_set *f, seen_error *error)
{
    sn_local *l = &f->local;
    const sn_view *view = atomic_load(&l->view);
    sn_image image;
    const char *why;
    if (!sn_mapped_read(f->file.fd, f->file.boot, &image, &why))
        return !why ? sn_error_system(error, errno, name_of(l), "read")
                    : sn_error_set(error, SEEN_ERR_CHANGED, "%s: changed while it was open: %s",
                                   name_of(l), why);
    atomic_store(&f->doubt, false);
    if (image.sequence == view->image.sequence)
        return SEEN_OK;
    for (uint32_t i = 0; i < view->image.layers; i++)
        if (i >= image.layers || image.layer[i].offset != view->image.layer[i].offset ||
            sn_geometry_bytes(&image.layer[i].geometry) !=
                sn_geometry_bytes(&view->image.layer[i].geometry))
            return sn_error_set(error, SEEN_ERR_CHANGED,
                                "%s: was replaced by another filter while it was open", name_of(l));
    return install_image(f, &image, error);
}

static bool stale(file_set *f)
{
    if (atomic_load_explicit(&f->doubt, memory_order_relaxed))
        return true;
    if (f->file.alone)
        return false;
    const uint64_t *sequence = (const uint64_t *)(const void *)(f->file.head + 88);
    uint64_t now = le64toh(__atomic_load_n(sequence, __ATOMIC_ACQUIRE));
    return now != atomic_load(&f->local.sequence);
}

static seen_status refresh(sn_local *l, seen_error *error)
{
    file_set *f = of(l);
    if (!stale(f))
        return SEEN_OK;
    pthread_mutex_lock(&f->file.gate);
    seen_status status = refresh_locked(f, error);
    pthread_mutex_unlock(&f->file.gate);
    return status;
}

static seen_status refresh_if_stale(void *set, seen_error *error)
{
    file_set *f = set;
    return stale(f) ? refresh_locked(f, error) : SEEN_OK;
}

static bool locks(const sn_local *l)
{
    return !((const file_set *)(const void *)l)->file.alone;
}

static seen_status enter(sn_local *l, seen_error *error)
{
    file_set *f = of(l);
    return f->file.alone ? refresh(l, error)
                         : sn_mapped_enter(&f->file, refresh_if_stale, f, error);
}

static void leave(sn_local *l)
{
    sn_mapped_leave(&of(l)->file);
}

/* ---- durability ---- */

static seen_status sync_view(file_set *f, const sn_view *view, seen_error *error)
{
    for (uint32_t i = 0; i < view->image.layers; i++)
        if (!sync_layer(view, i))
            return sn_error_system(error, errno, name_of(&f->local), "sync");
    if (msync(f->file.head, SN_IMAGE_DATA_AT, MS_SYNC) != 0 || fdatasync(f->file.fd) != 0)
        return sn_error_system(error, errno, name_of(&f->local), "sync");
    return SEEN_OK;
}

static seen_status sync_file(sn_local *l, seen_error *error)
{
    if (l->base.read_only)
        return SEEN_OK;
    seen_status status = sn_mapped_check_name(&of(l)->file, error);
    if (status != SEEN_OK)
        return status;
    sn_view *view = sn_view_acquire(l);
    status = sync_view(of(l), view, error);
    sn_view_release(l, view);
    return status;
}

static void free_set(sn_local *l)
{
    file_set *f = of(l);
    const sn_view *view = atomic_load(&l->view);
    for (uint32_t i = 0; view && i < view->image.layers; i++)
        unmap_layer(view, i);
    f->file.forked = l->base.forked;
    sn_mapped_close(&f->file);
    sn_local_destroy(l);
    free(f);
}

static const sn_local_backing FILE_BACKING = {.store = "file",
                                              .open_layer = open_layer,
                                              .publish = publish,
                                              .locks = locks,
                                              .enter = enter,
                                              .leave = leave,
                                              .refresh = refresh,
                                              .sync = sync_file,
                                              .free = free_set};

/* ---- opening ---- */

static seen_status check_counters(file_set *f, seen_error *error)
{
    sn_local *l = &f->local;
    seen_status status = enter(l, error);
    if (status != SEEN_OK)
        return status;
    const sn_view *view = atomic_load(&l->view);
    for (uint32_t i = 0; i < view->image.layers; i++) {
        uint64_t stored = __atomic_load_n(&l->added[i], __ATOMIC_RELAXED);
        uint64_t checked = sn_sample_check_counter(l, view, i, stored);
        if (checked != stored)
            __atomic_store_n(&l->added[i], checked, __ATOMIC_RELAXED);
    }
    leave(l);
    return SEEN_OK;
}

void sn_file_recount(seen_set *set, sn_image *image)
{
    if (set->ops != &sn_file_ops || !set->read_only)
        return;
    sn_local *l = (sn_local *)set;
    sn_view *view = sn_view_acquire(l);
    for (uint32_t i = 0; i < image->layers && i < view->image.layers; i++)
        image->layer[i].added = sn_sample_check_counter(l, view, i, image->layer[i].added);
    sn_view_release(l, view);
}

/* Takes ownership of fd, which is closed even on failure. */
static seen_status attach(int fd, const char *path, const sn_image *image, unsigned flags,
                          seen_set **set, seen_error *error)
{
    if (sn_image_has_tags(image))
        return sn_tag_file_attach(fd, path, image, flags, set, error);
    file_set *f = calloc(1, sizeof *f);
    if (!f) {
        close(fd);
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", path);
    }
    f->local.base.read_only = flags & SEEN_READ_ONLY;
    f->file.fd = fd;
    seen_status status = sn_local_init(&f->local, &FILE_BACKING, image, path, error);
    if (status != SEEN_OK)
        goto out;
    status = sn_mapped_open(&f->file, fd, name_of(&f->local), path, flags, image, error);
    if (status != SEEN_OK)
        goto out;
    f->local.few &= f->file.alone;
    /* The image was read before the lock was taken: another process may have changed it since. */
    atomic_store(&f->doubt, f->file.alone);
    f->local.added = (uint64_t *)(void *)(f->file.head + SN_IMAGE_COUNTERS_AT);
    status = install_image(f, image, error);
    if (status != SEEN_OK)
        goto out;
    f->local.base.ops = &sn_file_ops;
    if (!f->local.base.read_only)
        status = check_counters(f, error);
    if (status != SEEN_OK)
        goto out;
    *set = &f->local.base;
    return SEEN_OK;
out:
    free_set(&f->local);
    return status;
}

static void close_set(seen_set *set)
{
    if (set)
        set->ops->close(set);
}

seen_status sn_file_open(const char *path, unsigned flags, seen_set **set, seen_error *error)
{
    /* O_NONBLOCK: do not wait for the writer of a FIFO, which is refused. */
    int fd = open(path, (flags & SEEN_READ_ONLY ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sn_error_system(error, errno, path, "open");
    sn_image image;
    const char *why;
    struct stat st;
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        close(fd);
        return sn_error_set(error, SEEN_ERR_FORMAT, "%s: not a regular file; check the name", path);
    }
    unsigned char boot[SN_BOOT_BYTES];
    sn_mapped_boot(boot);
    if (!sn_mapped_read(fd, boot, &image, &why)) {
        seen_status status =
            why ? sn_error_set(error, SEEN_ERR_FORMAT, "%s: refused: %s", path, why)
                : sn_error_system(error, errno, path, "read");
        close(fd);
        return status;
    }
    if (!sn_hash_supported(image.hash)) {
        close(fd);
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "%s: uses SipHash, which is not included in this build; build with "
                            "SEEN_WITH_SIPHASH=ON",
                            path);
    }
    return attach(fd, path, &image, flags, set, error);
}

/* ---- creation ---- */

/* Creates a file of the right size next to `path`, with both pages written. */
static seen_status make_file(const char *path, bool nameless, sn_image *image, sn_newfile *temp,
                             seen_error *error)
{
    uint64_t bytes = sn_image_lay_out(image);
    seen_status status = sn_newfile_open(path, nameless, temp, error);
    if (status != SEEN_OK)
        return status;
    status = sn_io_reserve(temp->fd, path, 0, bytes, error);
    if (status == SEEN_OK)
        status = sn_mapped_write(temp->fd, path, image, error);
    uint32_t counters = sn_image_has_tags(image) ? 1 : image->layers;
    for (uint32_t i = 0; status == SEEN_OK && i < counters; i++) {
        unsigned char counter[8];
        sn_store64(counter, sn_image_has_tags(image) ? image->sequence : image->layer[i].added);
        if (!sn_io_write(temp->fd, counter, 8, SN_IMAGE_COUNTERS_AT + 8 * i))
            status = sn_error_system(error, errno, path, "write");
    }
    if (status == SEEN_OK && fsync(temp->fd) != 0)
        status = sn_error_system(error, errno, path, "sync");
    if (status != SEEN_OK)
        sn_newfile_drop(temp);
    return status;
}

seen_status sn_file_create(const char *path, const sn_image *image, unsigned flags, seen_set **set,
                           seen_error *error)
{
    sn_image mine = *image;
    sn_newfile temp;
    seen_status status = make_file(path, false, &mine, &temp, error);
    if (status != SEEN_OK)
        return status;
    int fd = fcntl(temp.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        status = sn_error_system(error, errno, path, "open");
        sn_newfile_drop(&temp);
        return status;
    }
    seen_set *made = NULL;
    status = attach(fd, path, &mine, flags, &made, error);
    if (status != SEEN_OK) {
        sn_newfile_drop(&temp);
        return status;
    }
    status = sn_newfile_publish(&temp, path, flags & SEEN_REPLACE, error);
    if (status != SEEN_OK) {
        close_set(made);
        return status;
    }
    *set = made;
    return SEEN_OK;
}

static void empty(seen_set *set)
{
    const sn_view *view = atomic_load(&((sn_local *)set)->view);
    for (uint32_t i = 0; i < view->image.layers; i++)
        memset(view->bits[i], 0, (size_t)sn_geometry_bytes(&view->image.layer[i].geometry));
}

/* Copies `from` into an empty file that no other process has open. *image is set to the copied
 * image: if a window rotates during the copy, it is copied again. */
static seen_status copy_lines(seen_set *into, seen_set *from, sn_image *image, seen_error *error)
{
    enum { TRIES = 100 };
    bool rotated = true;
    for (int i = 0; i < TRIES && rotated; i++) {
        sn_image now;
        if (i > 0)
            empty(into);
        seen_status status = sn_store_copy_lines(into, from, image, 0, error);
        if (status == SEEN_OK)
            status = sn_store_rotated(from, image, &now, &rotated, error);
        if (status != SEEN_OK)
            return status;
        if (rotated)
            *image = now;
    }
    if (!rotated)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: the window rotates faster than it can be copied; try again later",
                        from->where);
}

static seen_status copy_parts(seen_set *into, seen_set *from, seen_error *error)
{
    seen_status status = sn_store_copy_parts(into, from, error);
    return status == SEEN_OK ? sn_tag_file_sync(into, error) : status;
}

static seen_status copy_layers(seen_set *into, seen_set *from, sn_image *image, int fd,
                               const char *path, seen_error *error)
{
    uint64_t sequence = image->sequence;
    seen_status status = copy_lines(into, from, image, error);
    if (status == SEEN_OK && image->sequence != sequence) {
        sn_image_lay_out(image);
        status = sn_mapped_write(fd, path, image, error);
    }
    sn_local *l = (sn_local *)into;
    for (uint32_t i = 0; status == SEEN_OK && i < image->layers; i++)
        l->added[i] = image->layer[i].added;
    /* Not seen_sync, as it may have no name yet. */
    return status == SEEN_OK ? sync_view(of(l), atomic_load(&l->view), error) : status;
}

seen_status sn_file_copy(const char *path, unsigned flags, seen_set *from, seen_error *error)
{
    sn_image image;
    seen_status status = from->ops->image(from, &image, error);
    if (status != SEEN_OK)
        return status;
    sn_newfile temp;
    status = make_file(path, true, &image, &temp, error);
    if (status != SEEN_OK)
        return status;
    seen_set *into = NULL;
    int fd = fcntl(temp.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        status = sn_error_system(error, errno, path, "open");
    else
        status = attach(fd, path, &image, 0, &into, error);
    if (into)
        status = sn_image_has_tags(&image) ? copy_parts(into, from, error)
                                           : copy_layers(into, from, &image, temp.fd, path, error);
    close_set(into);
    if (status != SEEN_OK) {
        sn_newfile_drop(&temp);
        return status;
    }
    return sn_newfile_publish(&temp, path, flags & SEEN_REPLACE, error);
}

static int fd_of(const seen_set *set)
{
    if (set->ops == &sn_tag_file_ops)
        return sn_tag_file_fd(set);
    return set->ops == &sn_file_ops ? ((const file_set *)(const void *)set)->file.fd : -1;
}

bool sn_file_same(const seen_set *a, const seen_set *b)
{
    struct stat one, two;
    int first = fd_of(a), second = fd_of(b);
    return first >= 0 && second >= 0 && fstat(first, &one) == 0 && fstat(second, &two) == 0 &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

seen_status sn_file_drop(const char *path, seen_error *error)
{
    seen_set *set = NULL;
    struct stat st;
    /* Removing the link would keep the filter, and removing the filter would leave a dangling
     * link. */
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: not removed: it is a symbolic link; give the path of its target",
                            path);
    /* Opening it first verifies that it is a filter. */
    seen_status status = sn_file_open(path, SEEN_READ_ONLY, &set, error);
    if (status != SEEN_OK)
        return status;
    close_set(set);
    if (unlink(path) != 0)
        return sn_error_system(error, errno, path, "remove");
    return SEEN_OK;
}
