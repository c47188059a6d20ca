/* Why transfers fail. */
#include "crawl/fetch/fetch.h"

const char *sn_fetch_error_text(sn_fetch_error error)
{
    static const char *const text[] = {
        [SN_FETCH_OK] = "ok",
        [SN_FETCH_PRIVATE] = "private address",
        [SN_FETCH_DNS] = "name not resolved",
        [SN_FETCH_CONNECT] = "no connection",
        [SN_FETCH_TIMEOUT] = "timeout",
        [SN_FETCH_TLS] = "TLS failed",
        [SN_FETCH_CA] = "no CA certificates (install ca-certificates, or use --ca-file)",
        [SN_FETCH_SHAKE] = "TLS handshake failed",
        [SN_FETCH_BROKEN] = "connection broke off",
        [SN_FETCH_STALE] = "connection closed by the server",
        [SN_FETCH_HEADERS] = "too many headers",
        [SN_FETCH_ENCODING] = "bad content encoding",
        [SN_FETCH_LATE] = "not sent in time",
        [SN_FETCH_OTHER] = "transfer failed",
    };
    return (size_t)error < sizeof text / sizeof text[0] ? text[error] : "transfer failed";
}

bool sn_fetch_error_passes(sn_fetch_error error)
{
    return error == SN_FETCH_DNS || error == SN_FETCH_CONNECT || error == SN_FETCH_TIMEOUT ||
           error == SN_FETCH_SHAKE || error == SN_FETCH_BROKEN || error == SN_FETCH_STALE ||
           error == SN_FETCH_LATE;
}
