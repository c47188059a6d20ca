/* The commands about a crawl, without crawling: `seen crawl status` and so on. */
#include "cli/crawl.h"
#include "cli/crawl_fleet.h"

#define AT(field) offsetof(sn_cli_crawl_part, field)

static const sn_option html_options[] = {
    {.name = "html",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(html),
     .choices = "FILE",
     .help = "write the report to this file; - is stdout"},
};
static const sn_option watch_options[] = {
    {.name = "watch",
     .type = SN_FLAG,
     .offset = AT(watch),
     .help = "repeat every second until the end"},
};
static const sn_option resume_options[] = {
    {.name = "delay",
     .argument = "TIME",
     .type = SN_DURATION,
     .offset = AT(delay_ms),
     .help = "change the delay of a crawl without live workers",
     .preset = "unchanged"},
    {.name = "frontier-memory",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = AT(frontier_memory),
     .help = "change the limit of the queued URLs; 0: no limit",
     .preset = "unchanged"},
};
static const sn_option failed_options[] = {
    {.name = "retry-failed",
     .type = SN_FLAG,
     .offset = AT(retry_failed),
     .help = "put them back into the queue"},
};
static const sn_option drop_options[] = {
    {.name = "force", .type = SN_FLAG, .offset = AT(force), .help = "also while workers are live"},
};
static const sn_option connect_options[] = {
    {.name = "redis-password-file",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(password_file),
     .choices = "FILE",
     .help = "Redis password: the first line of this file",
     .preset = "$REDISCLI_AUTH"},
    {.name = "ca-file",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = AT(ca_file),
     .choices = "FILE",
     .help = "certificates to trust",
     .preset = "the system's"},
};

#define GROUP(title_, list)                                                                        \
    {                                                                                              \
        .title = title_, .options = list, .count = sizeof list / sizeof list[0], .own = true       \
    }
static const sn_group html_group = GROUP("What to write", html_options);
static const sn_group watch_group = GROUP("What to print", watch_options);
static const sn_group resume_group = GROUP("What to change", resume_options);
static const sn_group failed_group = GROUP("What to do", failed_options);
static const sn_group drop_group = GROUP("What to drop", drop_options);
static const sn_group connect_group = GROUP("Connection", connect_options);

static int run_report(sn_args *args)
{
    const sn_cli_crawl_part *own = args->own;
    if (own->password_file && !sn_password_read(own->password_file))
        return SN_EXIT_ERROR;
    return sn_cli_report_run(args, own->html, own->ca_file);
}

#define PART                                                                                       \
    .operands = "", .min_operands = 1, .max_operands = 1, .own_size = sizeof(sn_cli_crawl_part)
#define FLEET PART, .synopsis = "ADDRESS [OPTION]...", .run = sn_cli_fleet_run

static const sn_cli_command report = {
    .name = "crawl report",
    .summary = "write a page about a crawl",
    PART,
    .synopsis = "STATE|FILE.jsonl|ADDRESS --html FILE",
    .about = "Writes a page about a crawl: statuses, depths, hosts, the slowest pages, broken "
             "links. The crawl is a state folder, a file of JSON lines, or the address of a shared "
             "crawl.",
    .groups = {&html_group, &connect_group, &sn_group_quiet},
    .examples = {{"Write a report", "seen crawl report crawl.dir --html report.html", "-"}},
    .run = run_report,
};

static const sn_cli_command status = {
    .name = "crawl status",
    .summary = "show a shared crawl and its workers",
    FLEET,
    .about = "Prints the state of a shared crawl and of its workers, and if nothing is fetched, "
             "why. The rate needs two readings, a second apart.",
    .groups = {&watch_group, &connect_group, &sn_group_json, &sn_group_quiet},
    .examples = {{"Watch a crawl", "seen crawl status redis://host/NAME --watch", "-"}},
};

static const sn_cli_command pause_part = {
    .name = "crawl pause",
    .summary = "make all workers of a shared crawl wait",
    FLEET,
    .about = "Makes all workers of a shared crawl wait, until resume.",
    .groups = {&connect_group, &sn_group_quiet},
    .examples = {{"Pause a crawl", "seen crawl pause redis://host/NAME", "-"}},
};

static const sn_cli_command resume = {
    .name = "crawl resume",
    .summary = "continue a shared crawl",
    FLEET,
    .about = "Continues a shared crawl that was paused or stopped. After stop, workers must join "
             "again. Can change two of its settings.",
    .groups = {&resume_group, &connect_group, &sn_group_quiet},
    .examples = {{"Continue with another delay", "seen crawl resume redis://host/NAME --delay 2s",
                  "-"}},
};

static const sn_cli_command stop = {
    .name = "crawl stop",
    .summary = "make all workers of a shared crawl leave",
    FLEET,
    .about = "Makes all workers of a shared crawl finish their transfers and leave.",
    .groups = {&connect_group, &sn_group_quiet},
    .examples = {{"Stop a crawl", "seen crawl stop redis://host/NAME", "-"}},
};

static const sn_cli_command failed = {
    .name = "crawl failed",
    .summary = "list the pages that a shared crawl has given up",
    FLEET,
    .about = "Prints the pages that a shared crawl has given up, one per line: depth, kind, "
             "status, reason, URL and parent, separated by tabs.",
    .groups = {&failed_group, &connect_group, &sn_group_json, &sn_group_quiet},
    .examples = {{"Fetch them once more", "seen crawl failed redis://host/NAME --retry-failed",
                  "-"}},
};

static const sn_cli_command export_part = {
    .name = "crawl export",
    .summary = "list the URLs that are queued in a shared crawl",
    FLEET,
    .about = "Prints the URLs that are queued in a shared crawl, one per line.",
    .groups = {&connect_group, &sn_group_quiet},
    .examples = {{"List the queue", "seen crawl export redis://host/NAME", "-"}},
};

static const sn_cli_command drop = {
    .name = "crawl drop",
    .summary = "delete a shared crawl",
    FLEET,
    .about = "Deletes a shared crawl and what it has seen. Refused while workers are live.",
    .groups = {&drop_group, &connect_group, &sn_group_quiet},
    .examples = {{"Delete a crawl", "seen crawl drop redis://host/NAME", "-"}},
};

const sn_cli_command *const sn_cli_crawl_parts[] = {
    &report, &status, &pause_part, &resume, &stop, &failed, &export_part, &drop, NULL};
