/* TLS with OpenSSL. hiredis supports it only in later versions, and does not check host names; here
 * a connection owns its socket, so that TLS can be put in between. OpenSSL would write to a closed
 * socket with a plain write, which raises SIGPIPE: it gets its own BIO. */
#include "redis/client/tls.h"

#include "base/clock.h"
#include "base/error.h"
#include "redis/client/connection.h"

#ifdef SEEN_WITH_TLS

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct sn_tls_trust {
    SSL_CTX *context;
    BIO_METHOD *socket;
};

struct sn_tls {
    SSL *ssl;
    int fd;
    const char *why; /* the last error; NULL: none */
};

/* ---- the socket, as a BIO for OpenSSL ---- */

static bool may_wait(int why)
{
    return why == EAGAIN || why == EWOULDBLOCK || why == EINTR;
}

static int socket_write(BIO *bio, const char *bytes, int len)
{
    sn_tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = send(tls->fd, bytes, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && may_wait(errno))
        BIO_set_retry_write(bio);
    else if (n < 0)
        tls->why = strerror(errno);
    return (int)n;
}

static int socket_read(BIO *bio, char *buffer, int room)
{
    sn_tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = recv(tls->fd, buffer, (size_t)room, MSG_DONTWAIT);
    if (n < 0 && may_wait(errno))
        BIO_set_retry_read(bio);
    else if (n <= 0)
        tls->why = n < 0 ? strerror(errno) : "the server closed the connection";
    return (int)n;
}

static long socket_control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_socket(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "seen");
    if (method &&
        (!BIO_meth_set_write(method, socket_write) || !BIO_meth_set_read(method, socket_read) ||
         !BIO_meth_set_ctrl(method, socket_control))) {
        BIO_meth_free(method);
        return NULL;
    }
    return method;
}

/* ---- trust ---- */

/* The last error of OpenSSL, which is cleared. */
static const char *reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return text ? text : "out of memory";
}

static seen_status no_memory(const sn_redis_address *address, seen_error *error)
{
    ERR_clear_error();
    return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", address->shown);
}

static seen_status bad_file(const sn_redis_address *address, const char *what, const char *path,
                            seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: cannot use %s %s: %s; give a PEM file",
                        address->shown, what, path, reason());
}

static seen_status read_files(SSL_CTX *context, const sn_redis_address *address,
                              const sn_client_options *o, seen_error *error)
{
    if (!o->tls_cert != !o->tls_key)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: a certificate needs its key, and a key its certificate",
                            address->shown);
    if (!o->tls_ca && !SSL_CTX_set_default_verify_paths(context))
        return no_memory(address, error);
    if (o->tls_ca && !SSL_CTX_load_verify_locations(context, o->tls_ca, NULL))
        return bad_file(address, "the certificates of", o->tls_ca, error);
    if (o->tls_cert && !SSL_CTX_use_certificate_chain_file(context, o->tls_cert))
        return bad_file(address, "the certificate", o->tls_cert, error);
    if (o->tls_key && !SSL_CTX_use_PrivateKey_file(context, o->tls_key, SSL_FILETYPE_PEM))
        return bad_file(address, "the key", o->tls_key, error);
    return SEEN_OK;
}

seen_status sn_tls_trust_open(const sn_redis_address *address, const sn_client_options *options,
                              sn_tls_trust **out, seen_error *error)
{
    ERR_clear_error();
    sn_tls_trust *trust = calloc(1, sizeof *trust);
    if (!trust)
        return no_memory(address, error);
    seen_status status = SEEN_OK;
    trust->context = SSL_CTX_new(TLS_client_method());
    trust->socket = make_socket();
    if (!trust->context || !trust->socket ||
        !SSL_CTX_set_min_proto_version(trust->context, TLS1_2_VERSION))
        status = no_memory(address, error);
    else
        status = read_files(trust->context, address, options, error);
    if (status != SEEN_OK) {
        sn_tls_trust_close(trust);
        return status;
    }
    SSL_CTX_set_verify(trust->context, SSL_VERIFY_PEER, NULL);
    /* Unsent data is sent again from its current address, possibly with more after it. */
    SSL_CTX_set_mode(trust->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    *out = trust;
    return SEEN_OK;
}

void sn_tls_trust_close(sn_tls_trust *trust)
{
    if (!trust)
        return;
    SSL_CTX_free(trust->context);
    BIO_meth_free(trust->socket);
    free(trust);
}

/* ---- a connection ---- */

/* Handles a result that is not success. */
static ssize_t fall_short(sn_tls *tls, int result)
{
    int what = SSL_get_error(tls->ssl, result);
    bool wait = what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE;
    if (what == SSL_ERROR_ZERO_RETURN)
        tls->why = "the server closed the connection";
    else if (!wait && !tls->why)
        tls->why = reason();
    ERR_clear_error();
    errno = wait ? EAGAIN : EPROTO;
    return -1;
}

const char *sn_tls_error(const sn_tls *tls)
{
    return tls->why ? tls->why : "";
}

ssize_t sn_tls_send(sn_tls *tls, const void *bytes, size_t len)
{
    ERR_clear_error();
    int n = SSL_write(tls->ssl, bytes, len < INT_MAX ? (int)len : INT_MAX);
    return n > 0 ? n : fall_short(tls, n);
}

ssize_t sn_tls_receive(sn_tls *tls, void *buffer, size_t room)
{
    ERR_clear_error();
    int n = SSL_read(tls->ssl, buffer, room < INT_MAX ? (int)room : INT_MAX);
    return n > 0 ? n : fall_short(tls, n);
}

void sn_tls_close(sn_tls *tls)
{
    if (!tls)
        return;
    ERR_clear_error();
    if (SSL_is_init_finished(tls->ssl))
        (void)SSL_shutdown(tls->ssl);
    ERR_clear_error();
    SSL_free(tls->ssl);
    free(tls);
}

/* The name or address that must be in the certificate. */
static bool expect_host(SSL *ssl, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static sn_tls *make_tls(const sn_tls_trust *trust, int fd, const char *host)
{
    sn_tls *tls = calloc(1, sizeof *tls);
    BIO *bio = NULL;
    if (!tls)
        return NULL;
    tls->fd = fd;
    tls->ssl = SSL_new(trust->context);
    bio = tls->ssl ? BIO_new(trust->socket) : NULL;
    if (!bio || !expect_host(tls->ssl, host))
        goto out;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    return tls;
out:
    BIO_free(bio);
    SSL_free(tls->ssl);
    free(tls);
    return NULL;
}

static seen_status refuse(const sn_tls *tls, const char *host, const sn_redis_address *address,
                          seen_error *error)
{
    long verdict = SSL_get_verify_result(tls->ssl);
    if (verdict != X509_V_OK)
        return sn_error_set(error, SEEN_ERR_PERMISSION,
                            "%s: the certificate of %s is not trusted: %s; name the file with the "
                            "certificate of its authority (--tls-ca)",
                            address->shown, host, X509_verify_cert_error_string(verdict));
    return sn_error_set(error, SEEN_ERR_NETWORK,
                        "%s: no TLS with %s: %s; does the server speak TLS at this port?",
                        address->shown, host, sn_tls_error(tls));
}

seen_status sn_tls_open(const sn_tls_trust *trust, int fd, const char *host,
                        const sn_redis_address *address, uint32_t ms, sn_tls **out,
                        seen_error *error)
{
    ERR_clear_error();
    sn_tls *tls = make_tls(trust, fd, host);
    if (!tls)
        return no_memory(address, error);
    uint64_t now, end = sn_clock_ms() + ms;
    int done;
    while ((done = SSL_connect(tls->ssl)) != 1) {
        bool write = SSL_want_write(tls->ssl);
        (void)fall_short(tls, done);
        if (errno != EAGAIN)
            break;
        sn_connection conn = {.fd = fd};
        now = sn_clock_ms();
        if (now >= end || !sn_connection_wait(&conn, write, (uint32_t)(end - now))) {
            tls->why = "no answer in time";
            break;
        }
    }
    if (done == 1) {
        *out = tls;
        return SEEN_OK;
    }
    seen_status status = refuse(tls, host, address, error);
    sn_tls_close(tls);
    return status;
}

#else

seen_status sn_tls_trust_open(const sn_redis_address *address, const sn_client_options *options,
                              sn_tls_trust **trust, seen_error *error)
{
    (void)options, (void)trust;
    return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                        "%s: this build has no TLS; build with -DSEEN_WITH_TLS=ON, or run a tunnel "
                        "such as stunnel on this machine",
                        address->shown);
}

/* Without a trust there is no connection, and none of these is called. */
void sn_tls_trust_close(sn_tls_trust *trust)
{
    (void)trust;
}

seen_status sn_tls_open(const sn_tls_trust *trust, int fd, const char *host,
                        const sn_redis_address *address, uint32_t ms, sn_tls **tls,
                        seen_error *error)
{
    (void)trust, (void)fd, (void)host, (void)ms, (void)tls;
    return sn_tls_trust_open(address, NULL, NULL, error);
}

void sn_tls_close(sn_tls *tls)
{
    (void)tls;
}

ssize_t sn_tls_send(sn_tls *tls, const void *bytes, size_t len)
{
    (void)tls, (void)bytes, (void)len;
    return -1;
}

ssize_t sn_tls_receive(sn_tls *tls, void *buffer, size_t room)
{
    (void)tls, (void)buffer, (void)room;
    return -1;
}

const char *sn_tls_error(const sn_tls *tls)
{
    (void)tls;
    return "";
}

#endif
