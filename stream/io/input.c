/* Inputs: files and pipes in order, decompressed.
 *
 * The first bytes of a file are read into `raw` to detect compression. After that a plain file is
 * read directly into the caller's buffer; a compressed one is read through `raw` and its
 * decoder. */
#include "stream/io/input.h"

#include "base/error.h"
#include "stream/io/decode.h"
#include "stream/io/input_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_SIZE = 128 << 10, PIPE_SIZE = 1 << 20 };

typedef struct source {
    char *path; /* NULL: standard input, or a borrowed descriptor */
    char *name;
    int borrowed; /* a descriptor owned by the caller, or -1 */
    bool regular;
    bool positioned; /* read with pread */
    bool known;  /* the identity below was recorded when the file was opened for the first pass */
    off_t begin; /* initial offset of a redirected standard input */
    struct stat stat;
} source;

struct sn_input {
    source *sources;
    size_t count;
    sn_stop *stop;
    sn_header header;
    sn_header *taken; /* the header of the input that this one is a copy of, or NULL */
    bool compressed;
    bool can_reread;
    unsigned pass;
    uint64_t size;

    size_t current;
    int fd;     /* -1: not open */
    bool waits; /* a pipe, terminal or socket: reads may block */
    bool stopped;
    bool file_end; /* end of file reached */
    bool detected; /* the codec is known */
    off_t at;      /* positioned sources */
    sn_decoder *decoder;
    bool more_inside; /* the decoder filled the whole buffer and may have more output */

    uint8_t *raw; /* allocated only while a file is open, as there may be very many inputs */
    size_t raw_at, raw_end;
    _Atomic uint64_t position;
};

/* ---- Opening -------------------------------------------------------------------------------- */

static seen_status look_at(source *s, seen_error *error)
{
    int code = s->path ? stat(s->path, &s->stat) : fstat(s->borrowed, &s->stat);
    if (code != 0)
        return sn_error_cannot(error, errno, "read", s->name);
    if (S_ISDIR(s->stat.st_mode))
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s is a folder, not a file of lines",
                            s->name);
    if (s->path && access(s->path, R_OK) != 0)
        return sn_error_cannot(error, errno, "read", s->name);
    s->regular = S_ISREG(s->stat.st_mode);
    if (s->regular && !s->path && !s->positioned) {
        off_t here = lseek(s->borrowed, 0, SEEK_CUR);
        s->begin = here > 0 ? here : 0;
    }
    return SEEN_OK;
}

static seen_status take_source(source *s, const char *path, seen_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    s->borrowed = standard ? STDIN_FILENO : -1;
    s->name = strdup(standard ? "standard input" : path);
    s->path = standard ? NULL : strdup(path);
    if (!s->name || (!standard && !s->path))
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a list of files");
    return look_at(s, error);
}

static uint64_t size_of(const source *s)
{
    return s->stat.st_size > s->begin ? (uint64_t)(s->stat.st_size - s->begin) : 0;
}

static void add_up(sn_input *input)
{
    input->can_reread = true;
    input->size = 0;
    for (size_t i = 0; i < input->count; i++) {
        const source *s = &input->sources[i];
        if (!s->regular) {
            input->can_reread = false;
            input->size = UINT64_MAX;
        } else if (input->size != UINT64_MAX)
            input->size += size_of(s);
    }
}

static sn_input *make(size_t count, sn_stop *stop)
{
    sn_input *input = calloc(1, sizeof *input);
    if (!input)
        return NULL;
    input->fd = -1;
    input->stop = stop;
    input->sources = calloc(count, sizeof *input->sources);
    if (!input->sources) {
        sn_input_close(input);
        return NULL;
    }
    input->count = count;
    for (size_t i = 0; i < count; i++)
        input->sources[i].borrowed = -1;
    return input;
}

seen_status sn_input_open(const char *const *paths, size_t count, sn_stop *stop, sn_input **input,
                          seen_error *error)
{
    static const char *const standard[] = {"-"};
    if (count == 0) {
        paths = standard;
        count = 1;
    }
    sn_input *made = make(count, stop);
    if (!made)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu inputs", count);
    for (size_t i = 0; i < count; i++) {
        seen_status status = take_source(&made->sources[i], paths[i], error);
        if (status != SEEN_OK) {
            sn_input_close(made);
            return status;
        }
    }
    add_up(made);
    *input = made;
    return SEEN_OK;
}

seen_status sn_input_open_fd(int fd, const char *name, sn_stop *stop, sn_input **input,
                             seen_error *error)
{
    sn_input *made = make(1, stop);
    source *s = made ? made->sources : NULL;
    if (!s || !(s->name = strdup(name))) {
        sn_input_close(made);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to read %s", name);
    }
    s->borrowed = fd;
    s->positioned = true;
    seen_status status = look_at(s, error);
    if (status != SEEN_OK) {
        sn_input_close(made);
        return status;
    }
    add_up(made);
    *input = made;
    return SEEN_OK;
}

static void close_file(sn_input *input)
{
    sn_decoder_close(input->decoder);
    input->decoder = NULL;
    if (input->fd >= 0 && input->sources[input->current].borrowed < 0)
        close(input->fd);
    input->fd = -1;
    free(input->raw);
    input->raw = NULL;
    input->raw_at = input->raw_end = 0;
    input->file_end = input->detected = input->more_inside = false;
    input->at = 0;
}

void sn_input_close(sn_input *input)
{
    if (!input)
        return;
    if (input->sources)
        close_file(input);
    for (size_t i = 0; i < input->count; i++) {
        free(input->sources[i].path);
        free(input->sources[i].name);
    }
    free(input->sources);
    free(input->header.bytes);
    free(input->header.columns);
    free(input);
}

static seen_status fail_changed(const source *s, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s changed while it was read; it must stay as it is between the two "
                        "readings",
                        s->name);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Records the identity of a file when it is first opened and compares it afterwards. Pipes have
 * none. */
static seen_status same_as_before(source *s, int fd, seen_error *error)
{
    struct stat now;
    if (!s->regular)
        return SEEN_OK;
    if (fstat(fd, &now) != 0)
        return sn_error_cannot(error, errno, "read", s->name);
    if (!s->known) {
        s->stat = now;
        s->known = true;
        return SEEN_OK;
    }
    return same_file(&s->stat, &now) ? SEEN_OK : fail_changed(s, error);
}

static seen_status open_current(sn_input *input, seen_error *error)
{
    source *s = &input->sources[input->current];
    int fd = s->borrowed;
    if (!input->raw && !(input->raw = malloc(RAW_SIZE)))
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to read %s", s->name);
    if (fd < 0) {
        /* A FIFO without a writer is waited for in poll, which a stop can interrupt, and not in
         * open. */
        fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (s->regular ? 0 : O_NONBLOCK));
        if (fd < 0)
            return sn_error_cannot(error, errno, "open", s->name);
    }
    input->fd = fd;
    input->waits = !s->regular;
    input->detected = s->positioned;
    if (s->regular)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    else
        fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE); /* fails harmlessly if fd is not a pipe */
    return same_as_before(s, fd, error);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Waits until the descriptor is readable; false after a stop. */
static bool wait_for_bytes(sn_input *input)
{
    struct pollfd fds[2] = {{.fd = input->fd, .events = POLLIN},
                            {.fd = input->stop ? input->stop->fd : -1, .events = POLLIN}};
    for (;;) {
        if (sn_stop_get(input->stop) != SN_STOP_NONE)
            return false;
        int ready = poll(fds, 2, -1);
        if (ready < 0 && errno != EINTR)
            return true; /* read will report the error */
        if (ready > 0 && fds[0].revents)
            return true;
    }
}

/* One read from the descriptor. *got 0: the end, or a stop. */
static seen_status read_raw(sn_input *input, void *to, size_t len, size_t *got, seen_error *error)
{
    source *s = &input->sources[input->current];
    *got = 0;
    if (input->file_end)
        return SEEN_OK;
    if (input->waits && !wait_for_bytes(input)) {
        input->stopped = true;
        return SEEN_OK;
    }
    ssize_t part;
    do
        part = s->positioned ? pread(input->fd, to, len, input->at) : read(input->fd, to, len);
    while (part < 0 && (errno == EINTR || errno == EAGAIN) && wait_for_bytes(input));
    if (part < 0 && sn_stop_get(input->stop) != SN_STOP_NONE) {
        input->stopped = true;
        return SEEN_OK;
    }
    if (part < 0)
        return sn_error_cannot(error, errno, "read", s->name);
    input->file_end = part == 0;
    input->at += part;
    atomic_fetch_add_explicit(&input->position, (uint64_t)part, memory_order_relaxed);
    *got = (size_t)part;
    return SEEN_OK;
}

/* Reads until the first bytes determine whether the file is compressed. */
static seen_status detect(sn_input *input, seen_error *error)
{
    const sn_codec *codec = NULL;
    bool undecided = true;
    do {
        size_t got;
        seen_status status =
            read_raw(input, input->raw + input->raw_end, RAW_SIZE - input->raw_end, &got, error);
        if (status != SEEN_OK || input->stopped)
            return status;
        input->raw_end += got;
        codec = sn_decode_detect(input->raw, input->raw_end, &undecided);
    } while (!codec && undecided && !input->file_end);
    input->detected = true;
    if (!codec)
        return SEEN_OK;
    input->compressed = true;
    return sn_decoder_open(codec, input->sources[input->current].name, &input->decoder, error);
}

static seen_status read_decoded(sn_input *input, void *to, size_t len, size_t *got,
                                seen_error *error)
{
    *got = 0;
    for (;;) {
        if (input->raw_at == input->raw_end && !input->more_inside && !input->file_end) {
            size_t part;
            seen_status status = read_raw(input, input->raw, RAW_SIZE, &part, error);
            if (status != SEEN_OK || input->stopped)
                return status;
            input->raw_at = 0;
            input->raw_end = part;
        }
        size_t have = input->raw_end - input->raw_at, used;
        seen_status status = sn_decoder_step(input->decoder, input->raw + input->raw_at, have,
                                             &used, input->file_end, to, len, got, error);
        if (status != SEEN_OK)
            return status;
        input->raw_at += used;
        input->more_inside = *got == len;
        if (*got || (have == 0 && input->file_end))
            return SEEN_OK;
    }
}

static seen_status read_plain(sn_input *input, void *to, size_t len, size_t *got, seen_error *error)
{
    size_t have = input->raw_end - input->raw_at;
    if (!have)
        return read_raw(input, to, len, got, error);
    *got = have < len ? have : len;
    memcpy(to, input->raw + input->raw_at, *got);
    input->raw_at += *got;
    return SEEN_OK;
}

seen_status sn_input_read(sn_input *input, void *to, size_t len, size_t *got, seen_error *error)
{
    *got = 0;
    input->stopped = false;
    seen_status status = SEEN_OK;
    if (input->fd < 0)
        status = open_current(input, error);
    if (status == SEEN_OK && !input->detected)
        status = detect(input, error);
    if (status != SEEN_OK || input->stopped)
        return status;
    status = input->decoder ? read_decoded(input, to, len, got, error)
                            : read_plain(input, to, len, got, error);
    if (status == SEEN_OK && *got == 0 && !input->stopped && input->pass > 0)
        status = same_as_before(&input->sources[input->current], input->fd, error);
    return status;
}

bool sn_input_stopped(const sn_input *input)
{
    return input->stopped;
}

bool sn_input_would_wait(sn_input *input)
{
    if (!input->waits || input->fd < 0 || input->file_end || input->more_inside ||
        input->raw_at < input->raw_end)
        return false;
    struct pollfd fd = {.fd = input->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

seen_status sn_input_next(sn_input *input, bool *more, seen_error *error)
{
    (void)error;
    close_file(input);
    *more = input->current + 1 < input->count;
    if (*more)
        input->current++;
    return SEEN_OK;
}

seen_status sn_input_rewind(sn_input *input, seen_error *error)
{
    if (!input->can_reread)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a pipe cannot be read twice; give the name of a file");
    close_file(input);
    for (size_t i = 0; i < input->count; i++) {
        source *s = &input->sources[i];
        struct stat now;
        if (s->path ? stat(s->path, &now) : fstat(s->borrowed, &now))
            return fail_changed(s, error);
        if (s->known && !same_file(&s->stat, &now))
            return fail_changed(s, error);
        if (!s->path && !s->positioned && lseek(s->borrowed, s->begin, SEEK_SET) < 0)
            return sn_error_cannot(error, errno, "read again", s->name);
    }
    input->current = 0;
    input->pass++;
    atomic_store_explicit(&input->position, 0, memory_order_relaxed);
    return SEEN_OK;
}

/* ---- Properties ----------------------------------------------------------------------------- */

bool sn_input_can_reread(const sn_input *input)
{
    return input->can_reread;
}

bool sn_input_is_compressed(const sn_input *input)
{
    return input->compressed;
}

uint64_t sn_input_size(const sn_input *input)
{
    return input->size;
}

uint64_t sn_input_position(const sn_input *input)
{
    return atomic_load_explicit(&input->position, memory_order_relaxed);
}

size_t sn_input_count(const sn_input *input)
{
    return input->count;
}

const char *sn_input_name(const sn_input *input, size_t file)
{
    return input->sources[file].name;
}

size_t sn_input_current(const sn_input *input)
{
    return input->current;
}

sn_header *sn_input_header(sn_input *input)
{
    return input->taken ? input->taken : &input->header;
}

bool sn_input_has_own_header(const sn_input *input)
{
    return !input->taken;
}

void sn_input_take_header(sn_input *input, sn_header *header)
{
    input->taken = header;
}

static const char *find_source(const sn_input *input, const struct stat *it)
{
    for (size_t i = 0; i < input->count && S_ISREG(it->st_mode); i++) {
        const struct stat *s = &input->sources[i].stat;
        if (s->st_dev == it->st_dev && s->st_ino == it->st_ino)
            return input->sources[i].name;
    }
    return NULL;
}

const char *sn_input_same_path(const sn_input *input, const char *path)
{
    struct stat it;
    return stat(path, &it) == 0 ? find_source(input, &it) : NULL;
}

const char *sn_input_same_file(const sn_input *input, int fd)
{
    struct stat it;
    return fstat(fd, &it) == 0 ? find_source(input, &it) : NULL;
}

uint64_t sn_input_sample_size(const sn_input *input, size_t file, off_t *begin)
{
    const source *s = &input->sources[file];
    *begin = s->begin;
    return s->regular ? size_of(s) : 0;
}

int sn_input_sample_open(const sn_input *input, size_t file)
{
    const source *s = &input->sources[file];
    return s->borrowed >= 0 ? s->borrowed : open(s->path, O_RDONLY | O_CLOEXEC);
}

void sn_input_sample_close(const sn_input *input, size_t file, int fd)
{
    if (fd >= 0 && input->sources[file].borrowed < 0)
        close(fd);
}

void sn_input_note_compressed(sn_input *input, bool compressed)
{
    input->compressed |= compressed;
}
