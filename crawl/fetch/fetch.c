/* Libcurl's multi interface driven by epoll. */
#include "crawl/fetch/fetch.h"

#include "base/clock.h"
#include "base/error.h"
#include "crawl/fetch/address.h"
#include "crawl/fetch/arrival.h"
#include "crawl/fetch/proxies.h"
#include "crawl/fetch/request.h"
#include "crawl/fetch/unpack.h"
#include "crawl/robots/robots.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MAX 1000000000 /* seconds of a Retry-After: some 30 years */
#define ARRIVAL_MS 20       /* between two looks whether a request has arrived */

/* What the callbacks of one easy handle need, and its URL. */
typedef struct slot {
    sn_fetch *fetch;
    sn_transfer *transfer;
    sn_request_url url;
    sn_unpack unpack;
    sn_unpack_result unpacked; /* the last piece of the body */
    bool begun;                /* the body has begun */
    bool opened;               /* a new connection was opened for it */
    bool fresh;                /* the option is set */
    uint64_t pace_ms;          /* see sn_fetch_request */
    int fd;                    /* its connection; -1: none, or closed */
    int64_t arrived;           /* when it was closed: the time of the arrival; 0: unknown */
    bool sent;                 /* the request was sent, or is about to be */
    bool stale;                /* it was not sent a second time */
    bool late;                 /* it was not sent: start_until was over */
    bool withdrawn;            /* it did not arrive in time */
} slot;

/* State of a socket in epoll and libcurl. A socket that libcurl no longer waits for is usually kept
 * open for the next request, so it stays in epoll until an event arrives that is not wanted. */
enum { WATCH_OURS = 1, WATCH_WANTED = 2, WATCH_IN = 4, WATCH_OUT = 8, WATCH_PREPARED = 16 };

struct sn_fetch {
    sn_fetch_options options;
    CURLM *multi;
    struct curl_slist *extra;
    CURLSH *share; /* cookies; NULL: none */
    sn_proxies proxies;
    int epoll;
    uint8_t *watch; /* by descriptor, WATCH_ flags */
    size_t watch_room;
    int64_t timer; /* when libcurl wants to be called; -1: never */
    size_t active;
    size_t slot_count;
    slot *slots;
    sn_transfer *transfers;
    sn_transfer **idle;
    size_t idle_count;
    sn_transfer **sent; /* paced, not reported yet: perhaps not arrived */
    size_t sent_count;
};

int64_t sn_fetch_now(void)
{
    return (int64_t)sn_clock_ms();
}

/* ---- Callbacks ---- */

static bool on_piece(void *user, const char *bytes, size_t len)
{
    slot *s = user;
    sn_transfer *t = s->transfer;
    size_t room = t->limit - t->bytes < len ? (size_t)(t->limit - t->bytes) : len;
    t->bytes += room;
    if (room > 0 && !s->fetch->options.body(t, bytes, room))
        t->truncated = true;
    if (room < len)
        t->truncated = true;
    return !t->truncated;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    slot *s = user;
    size_t len = size * count;
    s->begun = true;
    s->unpacked = sn_unpack_feed(&s->unpack, bytes, len, on_piece, s);
    return s->unpacked == SN_UNPACK_OK ? len : 0;
}

/* The value of a header line if it has this name, without white space around it. */
static const char *header_value(const char *line, size_t len, const char *name, size_t *value_len)
{
    size_t name_len = strlen(name);
    if (len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
        return NULL;
    const char *at = line + name_len + 1, *end = line + len;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (unsigned char)end[-1] <= ' ')
        end--;
    *value_len = (size_t)(end - at);
    return at;
}

static void begin_answer(sn_transfer *t)
{
    t->status = 0;
    t->type[0] = '\0';
    t->nofollow = false;
    free(t->location);
    t->location = NULL;
    t->headers_len = 0;
}

/* The status is needed when the body begins, before libcurl reports it. */
static void begin_status(sn_transfer *t, const char *line, size_t len)
{
    begin_answer(t);
    const char *space = memchr(line, ' ', len);
    size_t at = space ? (size_t)(space - line) + 1 : len;
    for (size_t end = at + 3; at < end && at < len && line[at] >= '0' && line[at] <= '9'; at++)
        t->status = t->status * 10 + (line[at] - '0');
}

static bool keep_header(sn_transfer *t, const char *line, size_t len)
{
    if (t->headers_len + len > t->headers_room) {
        size_t room = (t->headers_len + len) * 2 + 1024;
        char *more = realloc(t->headers, room);
        if (!more)
            return false;
        t->headers = more;
        t->headers_room = room;
    }
    memcpy(t->headers + t->headers_len, line, len);
    t->headers_len += len;
    return true;
}

static void take_link(const slot *s, const char *line, size_t len)
{
    size_t value_len;
    sn_transfer *t = s->transfer;
    if (s->begun || t->status / 100 != 2 || !s->fetch->options.link)
        return;
    const char *value = header_value(line, len, "link", &value_len);
    bool refresh = !value;
    if (refresh)
        value = header_value(line, len, "refresh", &value_len);
    if (value)
        s->fetch->options.link(t, refresh, value, value_len);
}

/* An answer came. Other requests may be on their way on the same connection. */
static void relax(const sn_fetch *f, int fd)
{
    if (fd < 0 || !(f->watch[fd] & WATCH_PREPARED))
        return;
    for (size_t i = 0; i < f->sent_count; i++)
        if (f->slots[f->sent[i]->slot].fd == fd && f->sent[i]->headers_seen == 0)
            return;
    sn_arrival_relax(fd);
    f->watch[fd] &= (uint8_t)~WATCH_PREPARED;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    slot *s = user;
    sn_transfer *t = s->transfer;
    size_t len = size * count, value_len;
    t->headers_seen += len;
    if (t->headers_seen > SN_FETCH_HEADERS_MAX)
        return 0;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        begin_status(t, line, len);
        relax(s->fetch, s->fd);
        sn_unpack_begin(&s->unpack);
    }
    /* Trailers do not apply to the body. */
    const char *value = s->begun ? NULL : header_value(line, len, "content-encoding", &value_len);
    if (value && !sn_unpack_header(&s->unpack, value, value_len))
        return 0;
    value = header_value(line, len, "content-type", &value_len);
    if (value && t->type[0] == '\0') {
        size_t keep = value_len < sizeof t->type ? value_len : sizeof t->type - 1;
        memcpy(t->type, value, keep);
        t->type[keep] = '\0';
    }
    value = header_value(line, len, "x-robots-tag", &value_len);
    if (value && sn_robots_nofollow(value, value_len, s->fetch->options.agent))
        t->nofollow = true;
    value = header_value(line, len, "location", &value_len);
    if (value && !t->location && value_len <= SN_FETCH_LOCATION_MAX) {
        t->location = malloc(value_len + 1);
        if (!t->location)
            return 0;
        memcpy(t->location, value, value_len);
        t->location[value_len] = '\0';
        t->location_len = value_len;
    }
    take_link(s, line, len);
    if (s->fetch->options.keep_headers && !keep_header(t, line, len))
        return 0;
    return len;
}

static uint8_t *watch_of(sn_fetch *f, int fd)
{
    size_t at = (size_t)fd;
    if (at >= f->watch_room) {
        size_t room = at * 2 + 64;
        uint8_t *more = realloc(f->watch, room);
        if (!more)
            return NULL;
        memset(more + f->watch_room, 0, room - f->watch_room);
        f->watch = more;
        f->watch_room = room;
    }
    return &f->watch[at];
}

/* The only safe place to refuse an address: connect() gets exactly this one. */
static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    slot *s = user;
    (void)purpose;
    if (s->pace_ms > 0 && s->sent) {
        s->stale = true;
        return CURL_SOCKET_BAD;
    }
    if (!s->fetch->options.allow_private && !sn_address_public(&address->addr) &&
        !sn_proxies_have(&s->fetch->proxies, &address->addr)) {
        s->transfer->refused = true;
        sn_address_text(&address->addr, s->transfer->address, sizeof s->transfer->address);
        return CURL_SOCKET_BAD;
    }
    s->opened = true;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    uint8_t *watch = fd < 0 ? NULL : watch_of(s->fetch, fd);
    if (watch)
        *watch = WATCH_OURS;
    return fd;
}

static bool is_late(const sn_fetch *f)
{
    struct timespec now;
    if (!f->options.start_until)
        return false;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 >=
           atomic_load(f->options.start_until);
}

/* Called after connecting, right before the request is written: the last check. */
static int on_request(void *user, char *to, char *from, int to_port, int from_port)
{
    slot *s = user;
    sn_fetch *f = s->fetch;
    (void)to, (void)from, (void)to_port, (void)from_port;
    s->late = is_late(f);
    s->stale = s->stale || (s->pace_ms > 0 && s->sent);
    if (s->late || s->stale)
        return CURL_PREREQFUNC_ABORT;
    s->sent = true;
    if (s->pace_ms > 0)
        f->sent[f->sent_count++] = s->transfer;
    return CURL_PREREQFUNC_OK;
}

/* The last moment to learn when the requests on this connection have arrived. */
static void note_arrivals(const sn_fetch *f, int fd)
{
    for (size_t i = 0; i < f->sent_count; i++) {
        const sn_transfer *t = f->sent[i];
        slot *s = &f->slots[t->slot];
        if (s->fd == fd && t->sent != 0)
            s->arrived = sn_arrival_time(fd, t->headers_seen > 0, t->sent, sn_arrival_now());
    }
}

/* The kernel removes a closed socket from epoll. */
static int on_close(void *user, curl_socket_t fd)
{
    sn_fetch *f = user;
    note_arrivals(f, fd);
    if ((size_t)fd < f->watch_room)
        f->watch[fd] = 0;
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].fd == fd)
            f->slots[i].fd = -1;
    return close(fd);
}

static bool watch_for(sn_fetch *f, int fd, uint8_t *watch, unsigned want)
{
    unsigned have = *watch & (WATCH_IN | WATCH_OUT);
    *watch = (uint8_t)((*watch & (WATCH_OURS | WATCH_PREPARED)) | WATCH_WANTED | want);
    if (have == want)
        return true;
    struct epoll_event event = {.data.fd = fd};
    event.events = (want & WATCH_IN ? EPOLLIN : 0u) | (want & WATCH_OUT ? EPOLLOUT : 0u);
    return epoll_ctl(f->epoll, have != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0;
}

static void forget(sn_fetch *f, int fd, uint8_t *watch)
{
    epoll_ctl(f->epoll, EPOLL_CTL_DEL, fd, NULL);
    *watch &= WATCH_OURS | WATCH_PREPARED;
}

/* libcurl has no other way to tell the connection of a transfer before its end. */
static void note_connection(CURL *easy, int fd)
{
    char *user = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &user);
    ((slot *)(void *)user)->fd = fd;
}

static int on_interest(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    sn_fetch *f = user;
    (void)known;
    uint8_t *watch = watch_of(f, fd);
    if (!watch)
        return -1;
    if (*watch & WATCH_OURS && what != CURL_POLL_REMOVE)
        note_connection(easy, fd);
    if (what == CURL_POLL_REMOVE) {
        /* Sockets of libcurl's resolver are closed without a call of on_close. */
        if (*watch & WATCH_OURS)
            *watch &= (uint8_t)~WATCH_WANTED;
        else
            forget(f, fd, watch);
        return 0;
    }
    unsigned want = (what & CURL_POLL_IN ? WATCH_IN : 0u) | (what & CURL_POLL_OUT ? WATCH_OUT : 0u);
    return watch_for(f, fd, watch, want) ? 0 : -1;
}

static int on_timer(CURLM *multi, long milliseconds, void *user)
{
    sn_fetch *f = user;
    (void)multi;
    f->timer = milliseconds < 0 ? -1 : sn_fetch_now() + milliseconds;
    return 0;
}

/* ---- Setting up ---- */

static bool set_up(sn_fetch *f, CURL *easy, slot *s)
{
    const sn_fetch_options *o = &f->options;
    bool ok = true;
#define SET(option, value) (ok = ok && curl_easy_setopt(easy, option, value) == CURLE_OK)
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    if (o->proxy)
        SET(CURLOPT_PROXY, o->proxy);
    SET(CURLOPT_NETRC, (long)(o->netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
    if (o->netrc) {
        SET(CURLOPT_NETRC_FILE, o->netrc);
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    }
    if (o->cookies) {
        SET(CURLOPT_SHARE, f->share);
        SET(CURLOPT_COOKIEFILE, s == f->slots ? o->cookies : "");
    }
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_HTTPHEADER, f->extra);
    SET(CURLOPT_BUFFERSIZE, 65536L);
    if (o->ca_file)
        SET(CURLOPT_CAINFO, o->ca_file);
    SET(CURLOPT_TIMEOUT_MS, (long)o->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)o->low_speed);
    SET(CURLOPT_LOW_SPEED_TIME, (long)((o->low_speed_ms + 999) / 1000));
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, s);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, s);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* a proxy's answer is not the host's */
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, s);
    SET(CURLOPT_CLOSESOCKETFUNCTION, on_close);
    SET(CURLOPT_CLOSESOCKETDATA, f);
    SET(CURLOPT_PREREQFUNCTION, on_request);
    SET(CURLOPT_PREREQDATA, s);
    SET(CURLOPT_PRIVATE, s);
#undef SET
    return ok;
}

static bool make_slots(sn_fetch *f)
{
    size_t n = f->options.connections;
    f->transfers = calloc(n, sizeof *f->transfers);
    f->idle = calloc(n, sizeof(sn_transfer *));
    f->sent = calloc(n, sizeof(sn_transfer *));
    f->slots = calloc(n, sizeof *f->slots);
    if (!f->transfers || !f->idle || !f->sent || !f->slots)
        return false;
    for (size_t i = 0; i < n; i++) {
        CURL *easy = curl_easy_init();
        if (!easy)
            return false;
        f->transfers[i].easy = easy;
        f->transfers[i].slot = i;
        f->slots[i].fetch = f;
        f->slots[i].transfer = &f->transfers[i];
        f->slot_count++;
        if (!sn_request_url_create(&f->slots[i].url) || !set_up(f, easy, &f->slots[i]))
            return false;
    }
    for (size_t i = n; i-- > 0;)
        f->idle[f->idle_count++] = &f->transfers[i];
    return true;
}

seen_status sn_fetch_create(const sn_fetch_options *options, sn_fetch **fetch, seen_error *error)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sn_error_memory(error);
    sn_fetch *f = calloc(1, sizeof *f);
    if (!f)
        return sn_error_memory(error);
    f->options = *options;
    if (f->options.at_once == 0 || f->options.at_once > SN_FETCH_EVENTS)
        f->options.at_once = SN_FETCH_EVENTS;
    f->timer = -1;
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    f->multi = curl_multi_init();
    f->extra = sn_request_headers(options->agent, options->headers, options->header_count);
    f->share = options->cookies ? curl_share_init() : NULL;
    if (f->share)
        curl_share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    sn_proxies_find(&f->proxies, options->proxy);
    if (f->epoll < 0 || !f->multi || !f->extra || (options->cookies && !f->share)) {
        sn_fetch_destroy(f);
        return sn_error_memory(error);
    }
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, (long)options->keep);
    if (!make_slots(f)) {
        sn_fetch_destroy(f);
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "libcurl cannot be set up: is it older than 7.85?");
    }
    *fetch = f;
    return SEEN_OK;
}

void sn_fetch_destroy(sn_fetch *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->slot_count; i++) {
        sn_transfer *t = &f->transfers[i];
        curl_multi_remove_handle(f->multi, t->easy);
        curl_easy_cleanup(t->easy);
        sn_request_url_free(&f->slots[i].url);
        sn_unpack_begin(&f->slots[i].unpack);
        free(t->location);
        free(t->headers);
    }
    curl_multi_cleanup(f->multi);
    curl_share_cleanup(f->share);
    curl_slist_free_all(f->extra);
    if (f->epoll >= 0)
        close(f->epoll);
    free(f->watch);
    free(f->slots);
    free(f->transfers);
    free(f->idle);
    free(f->sent);
    free(f);
}

/* ---- Transfers ---- */

bool sn_fetch_room(const sn_fetch *f)
{
    return f->idle_count > 0;
}

size_t sn_fetch_active(const sn_fetch *f)
{
    return f->active;
}

static void clear(sn_transfer *t)
{
    begin_answer(t);
    t->error = SN_FETCH_OK;
    t->bytes = 0;
    t->truncated = t->cut = t->refused = false;
    t->wait_ms = 0;
    t->sent = 0;
    t->headers_seen = 0;
    t->address[0] = '\0';
}

static bool set_fresh(slot *s, bool fresh)
{
    if (s->fresh == fresh)
        return true;
    s->fresh = fresh;
    return curl_easy_setopt(s->transfer->easy, CURLOPT_FRESH_CONNECT, (long)fresh) == CURLE_OK;
}

seen_status sn_fetch_start(sn_fetch *f, const sn_fetch_request *request, sn_transfer **transfer,
                           seen_error *error)
{
    sn_transfer *t = f->idle[f->idle_count - 1];
    slot *s = &f->slots[t->slot];
    clear(t);
    s->begun = s->opened = s->sent = s->stale = s->late = s->withdrawn = false;
    s->pace_ms = request->pace_ms;
    s->fd = -1;
    s->arrived = 0;
    s->unpacked = SN_UNPACK_OK;
    t->user = request->user;
    t->limit = request->limit;
    t->began = sn_fetch_now();
    if (!set_fresh(s, request->fresh) || !sn_request_url_set(&s->url, t->easy, request->url) ||
        curl_multi_add_handle(f->multi, t->easy) != CURLM_OK)
        return sn_error_memory(error);
    f->idle_count--;
    f->active++;
    *transfer = t;
    return SEEN_OK;
}

seen_status sn_fetch_watch(sn_fetch *f, int fd, seen_error *error)
{
    /* An entry in the table without flags: its events are ignored. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
    if (!watch_of(f, fd))
        return sn_error_memory(error);
    if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return sn_error_cannot(error, errno, "wait for", "the network");
    return SEEN_OK;
}

static void prepare(const sn_fetch *f, int fd)
{
    if (fd < 0 || f->watch[fd] & WATCH_PREPARED)
        return;
    sn_arrival_prepare(fd, f->options.withdraw_ms);
    f->watch[fd] |= WATCH_PREPARED;
}

/* libcurl would take it for a connection that the server closed. */
static void note_failure(sn_fetch *f, int fd)
{
    if (!(f->watch[fd] & WATCH_PREPARED) || !sn_arrival_failed(fd))
        return;
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].fd == fd)
            f->slots[i].withdrawn = true;
}

/* Lets libcurl handle an event. A request that it sent in the meantime was written by the time it
 * returns: that time is an upper bound, however long this thread had to wait for a processor
 * before. */
static void act(sn_fetch *f, curl_socket_t fd, int what)
{
    int running;
    size_t before = f->sent_count;
    curl_multi_socket_action(f->multi, fd, what, &running);
    if (f->sent_count == before)
        return;
    int64_t now = sn_arrival_now();
    for (; before < f->sent_count; before++) {
        f->sent[before]->sent = now;
        prepare(f, f->slots[f->sent[before]->slot].fd);
    }
}

/* Waits, and passes the events to libcurl. */
static seen_status take_events(sn_fetch *f, int64_t wait, bool *any, seen_error *error)
{
    struct epoll_event events[SN_FETCH_EVENTS];
    int n = epoll_wait(f->epoll, events, (int)f->options.at_once, (int)wait);
    if (n < 0 && errno != EINTR)
        return sn_error_cannot(error, errno, "wait for", "the network");
    *any = n > 0;
    for (int i = 0; i < n; i++) {
        int what = 0, fd = events[i].data.fd;
        if (!(f->watch[fd] & WATCH_WANTED)) {
            if (f->watch[fd] & (WATCH_IN | WATCH_OUT))
                forget(f, fd, &f->watch[fd]);
            continue;
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP))
            what |= CURL_CSELECT_IN;
        if (events[i].events & EPOLLOUT)
            what |= CURL_CSELECT_OUT;
        if (events[i].events & EPOLLERR) {
            what |= CURL_CSELECT_ERR;
            note_failure(f, fd);
        }
        act(f, fd, what);
    }
    if (f->timer >= 0 && sn_fetch_now() >= f->timer) {
        f->timer = -1;
        act(f, CURL_SOCKET_TIMEOUT, 0);
        *any = true;
    }
    return SEEN_OK;
}

/* When to look whether a request has arrived: no earlier than it matters. */
static int64_t look_at(const sn_fetch *f, const sn_transfer *t)
{
    return t->sent + (int64_t)f->slots[t->slot].pace_ms;
}

seen_status sn_fetch_poll(sn_fetch *f, bool *any, seen_error *error)
{
    return take_events(f, 0, any, error);
}

seen_status sn_fetch_wait(sn_fetch *f, int64_t milliseconds, seen_error *error)
{
    bool any;
    int64_t wait = milliseconds;
    if (f->timer >= 0) {
        int64_t left = f->timer - sn_fetch_now();
        if (left < wait)
            wait = left < 0 ? 0 : left;
    }
    for (size_t i = 0; i < f->sent_count; i++) {
        int64_t left = look_at(f, f->sent[i]) - sn_fetch_now();
        left = left > 0 ? left : ARRIVAL_MS;
        wait = left < wait ? left : wait;
    }
    return take_events(f, wait, &any, error);
}

/* A transfer that a callback ended. */
static sn_fetch_error classify_ended(const slot *s)
{
    const sn_transfer *t = s->transfer;
    if (t->truncated || s->unpacked == SN_UNPACK_OVER)
        return SN_FETCH_OK;
    if (s->unpacked == SN_UNPACK_BAD)
        return SN_FETCH_ENCODING;
    return t->headers_seen > SN_FETCH_HEADERS_MAX ? SN_FETCH_HEADERS : SN_FETCH_OTHER;
}

/* A host that drops packets is as unreachable as one that refuses connections. */
static sn_fetch_error classify_timeout(const slot *s)
{
    curl_off_t connected = 0;
    curl_easy_getinfo(s->transfer->easy, CURLINFO_CONNECT_TIME_T, &connected);
    return s->opened && connected == 0 ? SN_FETCH_CONNECT : SN_FETCH_TIMEOUT;
}

static bool has_broken(CURLcode code)
{
    return code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR ||
           code == CURLE_RECV_ERROR || code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
}

/* Libcurl repeats a request on a connection that turned out to be closed, but counts these over all
 * transfers of a handle and gives up at the sixth. */
static sn_fetch_error classify(const slot *s, CURLcode code)
{
    if (s->late)
        return SN_FETCH_LATE;
    if (s->withdrawn)
        return SN_FETCH_TIMEOUT;
    if (s->stale || (s->sent && !s->opened && s->transfer->headers_seen == 0 && has_broken(code)))
        return SN_FETCH_STALE;
    switch (code) {
    case CURLE_OK:
        return SN_FETCH_OK;
    case CURLE_WRITE_ERROR:
        return classify_ended(s);
    case CURLE_COULDNT_RESOLVE_HOST:
        return SN_FETCH_DNS;
    case CURLE_COULDNT_CONNECT:
        return s->transfer->refused ? SN_FETCH_PRIVATE : SN_FETCH_CONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return classify_timeout(s);
    case CURLE_SSL_CONNECT_ERROR:
        return SN_FETCH_SHAKE;
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
        return SN_FETCH_TLS;
    case CURLE_SSL_CACERT_BADFILE:
        return SN_FETCH_CA;
    default:
        return has_broken(code) ? SN_FETCH_BROKEN : SN_FETCH_OTHER;
    }
}

/* An answer shows that the request has arrived, but not when: at the latest now. */
static bool has_arrived(const sn_fetch *f, sn_transfer *t, int64_t now)
{
    const slot *s = &f->slots[t->slot];
    bool answered = t->headers_seen > 0;
    if (!answered && now < look_at(f, t))
        return false;
    int64_t at = s->fd < 0 ? s->arrived : sn_arrival_time(s->fd, answered, t->sent, now);
    if (at == 0 && answered)
        at = now;
    if (at > 0)
        t->sent = at;
    return at > 0;
}

sn_transfer *sn_fetch_sent(sn_fetch *f)
{
    int64_t now = f->sent_count > 0 ? sn_arrival_now() : 0;
    for (size_t i = 0; i < f->sent_count; i++) {
        sn_transfer *t = f->sent[i];
        if (!has_arrived(f, t, now))
            continue;
        f->sent[i] = f->sent[--f->sent_count];
        return t;
    }
    return NULL;
}

/* It is over, without an answer, and its connection is closed: it may have arrived until now. */
static void end_sent(sn_fetch *f, sn_transfer *t)
{
    for (size_t i = 0; i < f->sent_count; i++)
        if (f->sent[i] == t) {
            f->sent[i] = f->sent[--f->sent_count];
            t->sent = sn_arrival_now();
            return;
        }
}

sn_transfer *sn_fetch_finished(sn_fetch *f)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(f->multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        char *user = NULL;
        char *address = NULL;
        long status = 0;
        curl_off_t wait = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &user);
        slot *s = (slot *)(void *)user;
        sn_transfer *t = s->transfer;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
        curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);
        t->status = (int)status;
        t->wait_ms = wait <= 0 ? 0 : 1000 * (wait < WAIT_MAX ? (uint64_t)wait : WAIT_MAX);
        t->error = classify(s, code);
        t->cut = t->error == SN_FETCH_OK && !t->truncated && !sn_unpack_end(&s->unpack);
        t->truncated = t->truncated || t->cut;
        t->encoded = s->unpack.unknown || s->unpack.refused;
        sn_unpack_begin(&s->unpack);
        t->ms = sn_fetch_now() - t->began;
        if (address && t->error != SN_FETCH_PRIVATE)
            strncpy(t->address, address, sizeof t->address - 1);
        curl_multi_remove_handle(f->multi, easy);
        end_sent(f, t);
        f->active--;
        if (f->options.over)
            f->options.over(t);
        return t;
    }
    return NULL;
}

void sn_fetch_release(sn_fetch *f, sn_transfer *t)
{
    free(t->location);
    t->location = NULL;
    f->idle[f->idle_count++] = t;
}
