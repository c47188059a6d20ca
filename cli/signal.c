/* Signals: the first one stops a command cleanly, the second at once. */
#include "base/clock.h"
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int stop_signal;
static const char *_Atomic exit_message;

static void write_all(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* The first signal lets the command finish what must be whole; a second one ends it at once. But
 * timeout(1) signals a process and then the group that it is in: that is one request, not two. */
static void on_stop(int number)
{
    enum { SAME_REQUEST_MS = 100 };
    static atomic_llong requested; /* time of the first one; 0: none */
    long long before = 0, now = (long long)sn_clock_ms() + 1;
    bool first = atomic_compare_exchange_strong(&requested, &before, now);
    if (!first && now - before <= SAME_REQUEST_MS)
        return;
    atomic_store(&stop_signal, number);
    if (!first) {
        const char *words = atomic_load(&exit_message);
        if (words)
            write_all(words);
        signal(number, SIG_DFL);
        raise(number);
    }
}

void sn_signal_set_message(const char *text)
{
    atomic_store(&exit_message, text);
}

/* A mapped file was truncated and cannot be read; printing the message is all that is safe here. */
static void on_bus_error(int number)
{
    (void)number;
    write_all("seen: a file was truncated by another program, or its disk failed, while it was in "
              "use\n");
    _exit(SN_EXIT_ERROR);
}

/* nohup(1) ignores SIGHUP for commands that must outlive their terminal. */
static bool hangups_ignored(void)
{
    struct sigaction action;
    return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void sn_signal_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    /* No SA_RESTART: a read that waits for a pipe must return to check the flag. SA_NODEFER so that
     * the second signal is delivered when the handler raises it. */
    action.sa_flags = SA_NODEFER;
    action.sa_handler = on_stop;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!hangups_ignored())
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_bus_error;
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* past the file size limit a write fails with an error */
}

void sn_signal_at_once(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (!hangups_ignored())
        signal(SIGHUP, SIG_DFL);
}

bool sn_signal_stopped(void)
{
    return atomic_load(&stop_signal) != 0;
}

int sn_signal_number(void)
{
    return atomic_load(&stop_signal);
}

const atomic_int *sn_signal_flag(void)
{
    return &stop_signal;
}
