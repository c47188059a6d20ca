/* `seen`: finds the command, parses its options, runs it. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifndef SEEN_VERSION_TEXT
#define SEEN_VERSION_TEXT seen_version()
#endif

static int print_version(void)
{
    printf("seen %s (filter format %d)\n", SEEN_VERSION_TEXT, SEEN_FORMAT_VERSION);
    printf("built with:"
#ifdef SEEN_WITH_REDIS
           " redis"
#endif
#ifdef SEEN_WITH_TLS
           " tls"
#endif
#ifdef SEEN_WITH_CRAWL
           " crawl"
#endif
#ifdef SEEN_WITH_COMPRESSION
           " gzip zstd xz bzip2 lz4"
#endif
#ifdef SEEN_WITH_SIPHASH
           " siphash"
#endif
#ifdef SEEN_WITH_IDN
           " idn"
#endif
           "\n");
    return sn_message_finish_stdout(SN_EXIT_OK);
}

/* A closed stdin, stdout or stderr would give its number to the first file opened, which could
 * then be written by mistake. What holds the number can be neither read nor written: nothing to
 * read is not the end of a file, and lines that no process reads must not be recorded as printed.
 */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
            return;
}

static int run_command(int argc, char **argv)
{
    const char *name = argv[0];
    const sn_cli_command *command = sn_commands_find(name);
    if (!command)
        return name[0] == '-' ? sn_message_error("unknown option %s before the command; "
                                                 "see 'seen help'",
                                                 name)
                              : sn_help_unknown_command(name);
    const sn_cli_command *part = argc > 1 ? sn_cli_part_find(command, argv[1]) : NULL;
    if (part) {
        command = part;
        argc--;
        argv++;
    }
    sn_args args;
    sn_help help = SN_HELP_NONE;
    int status = sn_args_parse(command, argc, argv, &args, &help);
    sn_message_color_choose((sn_message_color_when)args.color);
    if (!status && help) {
        sn_help_command(stdout, command, help);
        status = sn_message_finish_stdout(SN_EXIT_OK);
    } else if (!status && args.redis_password_file && !sn_password_read(args.redis_password_file)) {
        status = SN_EXIT_ERROR;
    } else if (!status) {
        if (command->at_once)
            sn_signal_at_once();
        sn_busy busy;
        if (command->unmeasured)
            sn_busy_begin(&busy, &args, command->name);
        status = command->run(&args);
        if (command->unmeasured)
            sn_busy_end(&busy);
    }
    sn_args_free(&args);
    return status;
}

int main(int argc, char **argv)
{
    hold_standard_files();
    sn_signal_install();
    if (argc < 2) {
        sn_help_overview(stderr);
        return SN_EXIT_ERROR;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return print_version();
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        sn_help_overview(stdout);
        return sn_message_finish_stdout(SN_EXIT_OK);
    }
    int status = run_command(argc - 1, argv + 1);
    if (status == SN_EXIT_ERROR && sn_signal_stopped()) {
        /* Ends by the same signal, so that a shell loop around the command ends too. */
        signal(sn_signal_number(), SIG_DFL);
        raise(sn_signal_number());
    }
    return status;
}
