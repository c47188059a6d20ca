/* An open filter file: its header pages, its locks, its name. See mapped.h. */
#include "local/mapped.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- header pages ---- */

static const char *why_short(int fd)
{
    unsigned char magic[8];
    return sn_io_read(fd, magic, sizeof magic, 0) && sn_image_is_magic(magic, sizeof magic)
               ? "it is truncated" SN_IMAGE_RESTORE
               : "it is not a seen filter; check the name";
}

/* A page may be read while another process writes it; then the other page is valid. Very rarely
 * each page is read while being written: only an unchanged page is damaged. *why is NULL if errno
 * is set. */
bool sn_mapped_read(int fd, const unsigned char boot[SN_BOOT_BYTES], sn_image *image,
                    const char **why)
{
    enum { TRIES = 100 };
    unsigned char pages[2][2 * SN_IMAGE_BYTES];
    for (int try = 0; try < TRIES; try++) {
        unsigned char *now = pages[try % 2];
        struct stat st;
        *why = NULL;
        bool whole = sn_io_read(fd, now, sizeof pages[0], 0);
        if (!whole && errno)
            return false;
        /* Called after reading: a growing file is extended before its pages are written. */
        if (fstat(fd, &st) != 0)
            return false;
        if (!whole || st.st_size < SN_IMAGE_DATA_AT) {
            *why = why_short(fd);
            return false;
        }
        if (sn_image_choose(now, (uint64_t)st.st_size, boot, image, why))
            return true;
        if (try > 0 && memcmp(pages[0], pages[1], sizeof pages[0]) == 0)
            return false;
    }
    return false;
}

seen_status sn_mapped_write_page(int fd, const char *name, const unsigned char *page, uint64_t at,
                                 seen_error *error)
{
    if (!sn_io_write(fd, page, SN_IMAGE_BYTES, at))
        return sn_error_system(error, errno, name, "write the header");
    if (fdatasync(fd) != 0)
        return sn_error_system(error, errno, name, "sync");
    return SEEN_OK;
}

seen_status sn_mapped_write(int fd, const char *name, const sn_image *image, seen_error *error)
{
    unsigned char page[SN_IMAGE_BYTES];
    sn_image_encode(image, page);
    seen_status status = sn_mapped_write_page(fd, name, page, 0, error);
    return status == SEEN_OK ? sn_mapped_write_page(fd, name, page, SN_IMAGE_BYTES, error) : status;
}

/* Changes with every boot, so that it differs after a power failure. */
void sn_mapped_boot(unsigned char boot[SN_BOOT_BYTES])
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    size_t n = 0;
    memset(boot, 0, SN_BOOT_BYTES);
    for (ssize_t i = 0; i < len && n < (size_t)2 * SN_BOOT_BYTES; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
        if (digit < 16) {
            boot[n / 2] = (unsigned char)((unsigned)boot[n / 2] << 4 | digit);
            n++;
        }
    }
    if (fd >= 0)
        close(fd);
}

/* ---- locks ---- */

/* The lock belongs to the open file description, so the threads of this process share it. Late
 * threads wait if the others have held it for long, so that other processes are not starved. */
static bool held_long(const sn_mapped *f)
{
    return sn_clock_ms() - f->since >= 5;
}

seen_status sn_mapped_enter(sn_mapped *m, seen_status (*refresh)(void *set, seen_error *error),
                            void *set, seen_error *error)
{
    if (m->alone)
        return refresh(set, error);
    pthread_mutex_lock(&m->gate);
    while (m->inside > 0 && held_long(m))
        pthread_cond_wait(&m->opened, &m->gate);
    seen_status status = SEEN_OK;
    if (m->inside == 0) {
        if (!sn_io_lock(m->fd, 0, F_WRLCK, true))
            status = sn_error_system(error, errno, m->name, "lock");
        else if ((status = refresh(set, error)) != SEEN_OK)
            sn_io_lock(m->fd, 0, F_UNLCK, false);
        m->since = sn_clock_ms();
    }
    m->inside += status == SEEN_OK;
    pthread_mutex_unlock(&m->gate);
    return status;
}

void sn_mapped_leave(sn_mapped *m)
{
    if (m->alone)
        return;
    pthread_mutex_lock(&m->gate);
    if (--m->inside == 0) {
        sn_io_lock(m->fd, 0, F_UNLCK, false);
        pthread_cond_broadcast(&m->opened);
    }
    pthread_mutex_unlock(&m->gate);
}

static seen_status lock_writers(sn_mapped *f, seen_error *error)
{
    if (f->read_only)
        return SEEN_OK;
    if (sn_io_lock(f->fd, 1, f->alone ? F_WRLCK : F_RDLCK, false))
        return SEEN_OK;
    if (errno != EAGAIN && errno != EACCES)
        return sn_error_system(error, errno, f->name, "lock");
    return sn_error_set(
        error, SEEN_ERR_PERMISSION,
        f->alone ? "%s: another process has it open for writing; close it first"
                 : "%s: another process has opened it exclusively; wait until it is done",
        f->name);
}

/* A file without a name is deleted when the last process closes it. A file whose name was taken by
 * another exists elsewhere, but no process will look for it there. */
seen_status sn_mapped_check_name(const sn_mapped *f, seen_error *error)
{
    struct stat st;
    if (fstat(f->fd, &st) != 0)
        return sn_error_system(error, errno, f->name, "sync");
    if (st.st_nlink > 0 && !(f->path && sn_io_replaced(f->fd, f->path)))
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: was removed or replaced while it was open; keys added since then are "
                        "lost: open it again, and add them again",
                        f->name);
}

/* ---- opening ---- */

seen_status sn_mapped_open(sn_mapped *m, int fd, const char *name, const char *path, unsigned flags,
                           const sn_image *image, seen_error *error)
{
    m->fd = fd;
    m->name = name;
    m->read_only = flags & SEEN_READ_ONLY;
    m->alone = !m->read_only && (flags & SEEN_ALONE);
    sn_mapped_boot(m->boot);
    pthread_mutex_init(&m->gate, NULL);
    pthread_cond_init(&m->opened, NULL);
    m->path = sn_io_absolute(path);
    if (!m->path && errno == ENOMEM)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", name);
    seen_status status = lock_writers(m, error);
    if (status == SEEN_OK && !m->read_only)
        status = sn_io_fill_holes(fd, name, sn_image_end(image), error);
    if (status != SEEN_OK)
        return status;
    int protection = PROT_READ | (m->read_only ? 0 : PROT_WRITE);
    void *head = mmap(NULL, SN_IMAGE_DATA_AT, protection, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return sn_error_system(error, errno, name, "map");
    m->head = head;
    return SEEN_OK;
}

void sn_mapped_close(sn_mapped *m)
{
    if (m->head)
        munmap(m->head, SN_IMAGE_DATA_AT);
    if (m->fd >= 0)
        close(m->fd);
    if (m->name) {
        pthread_mutex_destroy(&m->gate);
        if (!m->forked)
            pthread_cond_destroy(&m->opened);
    }
    free(m->path);
}
