/* TLS connections: records that must wait, all kinds of connection ends, and every allocation
 * failing. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int until_failure = -1;

static bool fails(void)
{
    return until_failure-- == 0;
}

#define calloc(n, size) (fails() ? NULL : (calloc)(n, size))
#define SSL_CTX_new(method) (fails() ? NULL : (SSL_CTX_new)(method))
#define SSL_CTX_set_default_verify_paths(c) (!fails() && (SSL_CTX_set_default_verify_paths)(c))
#define SSL_new(context) (fails() ? NULL : (SSL_new)(context))
#define BIO_new(method) (fails() ? NULL : (BIO_new)(method))
#define BIO_meth_new(type, name) (fails() ? NULL : (BIO_meth_new)(type, name))
#define BIO_meth_set_ctrl(method, f) (!fails() && (BIO_meth_set_ctrl)(method, f))
#ifndef SEEN_WITH_TLS
#define SEEN_WITH_TLS 1
#endif
#include "redis/client/tls.c"
#undef calloc
#undef SSL_CTX_new
#undef SSL_new

static const sn_redis_address address = {.tls = true, .shown = "rediss://h/x"};
static char ca_path[] = "/tmp/seen-tls.XXXXXX";

/* ---- A server on the other end of a socket pair ---- */

typedef enum part { READ_LATE, SAY_GOODBYE, GO, TALK_PLAINLY, BE_SILENT } part;

enum { LONG = 4 << 20 };

static SSL_CTX *server_context;
static int ends[2];
static pthread_t server;
static bool running;
static pthread_barrier_t barrier;
static size_t got;
static bool intact = true;

static void wait_here(void)
{
    pthread_barrier_wait(&barrier);
}

static void *serve(void *as)
{
    part play = *(part *)as;
    SSL *ssl = SSL_new(server_context);
    SSL_set_fd(ssl, ends[1]);
    if (play == TALK_PLAINLY && send(ends[1], "-ERR what?\r\n", 12, MSG_NOSIGNAL) != 12)
        abort();
    if (play == BE_SILENT || play == TALK_PLAINLY) {
        wait_here();
    } else if (SSL_accept(ssl) == 1) {
        wait_here();
        char buffer[10000];
        for (int n; play == READ_LATE && got < LONG && (n = SSL_read(ssl, buffer, 10000)) > 0;)
            for (int i = 0; i < n; i++, got++)
                intact = intact && buffer[i] == (char)(got * 7 % 251);
        if (play == SAY_GOODBYE)
            SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    close(ends[1]);
    return NULL;
}

static void start(part *play)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    int flags = fcntl(ends[1], F_GETFL);
    assert_int_equal(fcntl(ends[1], F_SETFL, flags & ~O_NONBLOCK), 0);
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&server, NULL, serve, play), 0);
    running = true;
}

static void join_server(void)
{
    if (running)
        pthread_join(server, NULL);
    running = false;
}

static void stop(sn_tls *tls, sn_tls_trust *trust)
{
    join_server();
    pthread_barrier_destroy(&barrier);
    sn_tls_close(tls);
    sn_tls_trust_close(trust);
    close(ends[0]);
}

static sn_tls_trust *make_trust(void)
{
    sn_client_options o = {.tls_ca = ca_path};
    sn_tls_trust *trust = NULL;
    assert_int_equal(sn_tls_trust_open(&address, &o, &trust, NULL), SEEN_OK);
    return trust;
}

/* Connects to a server that runs this function. */
static sn_tls *meet(part *play, sn_tls_trust **trust)
{
    seen_error e = {0};
    sn_tls *tls = NULL;
    *trust = make_trust();
    start(play);
    if (sn_tls_open(*trust, ends[0], "host.example", &address, 10000, &tls, &e) != SEEN_OK)
        fail_msg("%s", e.message);
    return tls;
}

static void wait_to(bool write)
{
    sn_connection link = {.fd = ends[0]};
    assert_true(sn_connection_wait(&link, write, 10000));
}

static ssize_t receive(sn_tls *tls)
{
    char buffer[100];
    ssize_t n;
    while ((n = sn_tls_receive(tls, buffer, sizeof buffer)) < 0 && errno == EAGAIN)
        wait_to(false);
    return n;
}

/* ---- Tests ---- */

/* The server reads nothing until the socket is full: pending data is sent again from its new
 * address, and nothing is lost or sent twice. */
static void sends_what_had_to_wait(void **state)
{
    (void)state;
    part play = READ_LATE;
    sn_tls_trust *trust;
    sn_tls *tls = meet(&play, &trust);
    size_t sent = 0, waits = 0;
    while (sent < LONG) {
        char record[16 << 10]; /* at another address each time, depending on the stack */
        size_t len = LONG - sent < sizeof record ? LONG - sent : sizeof record;
        for (size_t i = 0; i < len; i++)
            record[i] = (char)((sent + i) * 7 % 251);
        ssize_t n = sn_tls_send(tls, record, len);
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        assert_int_equal(errno, EAGAIN);
        if (waits++ == 0)
            wait_here(); /* now it may read */
        wait_to(true);
    }
    assert_true(waits > 0);
    stop(tls, trust);
    assert_int_equal(got, LONG);
    assert_true(intact);
}

static void reports_how_it_ended(void **state)
{
    (void)state;
    for (part play = SAY_GOODBYE; play <= GO; play++) {
        sn_tls_trust *trust;
        sn_tls *tls = meet(&play, &trust);
        wait_here();
        assert_int_equal(receive(tls), -1);
        assert_string_equal(sn_tls_error(tls), "the server closed the connection");
        stop(tls, trust);
    }
}

static void raises_no_signal(void **state)
{
    (void)state;
    part play = GO;
    sn_tls_trust *trust;
    sn_tls *tls = meet(&play, &trust);
    wait_here();
    join_server();
    assert_int_equal(sn_tls_send(tls, "x", 1), -1);
    assert_string_equal(sn_tls_error(tls), strerror(EPIPE));
    stop(tls, trust);
}

/* Opens a connection that fails with `wanted` and a message. */
static sn_tls_trust *open_in_vain(part *play, const char *host, uint32_t ms, seen_status wanted,
                                  const char *why)
{
    sn_tls_trust *trust = make_trust();
    sn_tls *tls = NULL;
    seen_error e = {0};
    start(play);
    assert_int_equal(sn_tls_open(trust, ends[0], host, &address, ms, &tls, &e), wanted);
    assert_non_null(strstr(e.message, why));
    assert_null(tls);
    return trust;
}

static void refuses_what_is_no_tls(void **state)
{
    (void)state;
    static const char *const why[] = {
        [TALK_PLAINLY] = "wrong version number", [BE_SILENT] = "no answer in time"};
    for (part play = TALK_PLAINLY; play <= BE_SILENT; play++) {
        sn_tls_trust *trust = open_in_vain(&play, "h", 200, SEEN_ERR_NETWORK, why[play]);
        wait_here();
        stop(NULL, trust);
    }
}

static void looks_at_the_name(void **state)
{
    (void)state;
    part play = GO;
    sn_tls_trust *trust =
        open_in_vain(&play, "other.example", 10000, SEEN_ERR_PERMISSION, "ostname mismatch");
    stop(NULL, trust);
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    sn_client_options o = {0};
    seen_status status = SEEN_ERR_MEMORY;
    int n;
    for (n = 0; status != SEEN_OK; n++) {
        sn_tls_trust *trust = NULL;
        seen_error e = {0};
        until_failure = n;
        status = sn_tls_trust_open(&address, &o, &trust, &e);
        until_failure = -1;
        assert_true(status == SEEN_OK || (status == SEEN_ERR_MEMORY && !trust));
        assert_true(status == SEEN_OK || strstr(e.message, "rediss://h/x: out of memory"));
        sn_tls_trust_close(trust);
    }
    assert_int_equal(n, 6);
    sn_tls_trust *trust = make_trust();
    for (n = 0; n < 3; n++) {
        sn_tls *tls = NULL;
        until_failure = n;
        status = sn_tls_open(trust, -1, "h", &address, 10, &tls, NULL);
        until_failure = -1;
        assert_int_equal(status, SEEN_ERR_MEMORY);
        assert_null(tls);
    }
    sn_tls_trust_close(trust);
}

/* ---- A certificate for host.example ---- */

static int make_certificate(void **state)
{
    (void)state;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    X509_NAME *name = X509_NAME_new();
    server_context = SSL_CTX_new(TLS_server_method());
    int fd = mkstemp(ca_path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!key || !cert || !name || !server_context || !file)
        return 1;
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"host.example", -1,
                               -1, 0);
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_subject_name(cert, name);
    X509_set_issuer_name(cert, name);
    X509_set_pubkey(cert, key);
    bool good = X509_sign(cert, key, EVP_sha256()) && PEM_write_X509(file, cert) &&
                SSL_CTX_use_certificate(server_context, cert) == 1 &&
                SSL_CTX_use_PrivateKey(server_context, key) == 1;
    fclose(file);
    X509_NAME_free(name);
    X509_free(cert);
    EVP_PKEY_free(key);
    return good ? 0 : 1;
}

static int drop_certificate(void **state)
{
    (void)state;
    SSL_CTX_free(server_context);
    return unlink(ca_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_what_had_to_wait), cmocka_unit_test(reports_how_it_ended),
        cmocka_unit_test(raises_no_signal),       cmocka_unit_test(refuses_what_is_no_tls),
        cmocka_unit_test(looks_at_the_name),      cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, make_certificate, drop_certificate);
}
