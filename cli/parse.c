/* Parses a command line into sn_args: -n5e9, -n 5e9, --capacity=5e9, --capacity 5e9, -zi for -z -i,
 * options and operands in any order, -- to end the options. Long names cannot be abbreviated, so
 * that a new option never changes the meaning of a script. */
#include "cli/cli.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An option of a command, and its position. */
typedef struct place {
    const sn_option *option;
    const sn_group *group;
    size_t index;
} place;

/* Finds an option by its letter, or if that is 0 by its long name of `len` bytes. */
static bool find_option(const sn_cli_command *command, const char *name, size_t len, char letter,
                        place *found)
{
    place at = {0};
    for (; (at.option = sn_option_at(command, at.index, &at.group)); at.index++) {
        const char *long_name = at.option->name;
        if (letter ? at.option->letter == letter
                   : strlen(long_name) == len && !memcmp(long_name, name, len)) {
            *found = at;
            return true;
        }
    }
    return false;
}

static bool takes_argument(const sn_option *option)
{
    return option->type != SN_FLAG && option->type != SN_MAYBE;
}

/* The index of `word` among "a|b|c", or -1. */
static int find_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (int i = 0;; i++) {
        size_t n = strcspn(choices, "|");
        if (n == len && !memcmp(choices, word, n))
            return i;
        if (!choices[n])
            return -1;
        choices += n + 1;
    }
}

static const char *show_bound(char buffer[SN_TEXT], const sn_option *option, uint64_t bound)
{
    if (option->type == SN_SIZE)
        return sn_show_size(buffer, (double)bound);
    if (option->type == SN_DURATION)
        return sn_show_seconds(buffer, (double)bound / 1000);
    return sn_show_count(buffer, (double)bound);
}

static bool within(const sn_option *option, const char *text, uint64_t value, sn_number_error *why)
{
    char bound[SN_TEXT];
    if (value == 0 && option->min > 0)
        snprintf(why->text, sizeof why->text, "'%.60s' must be more than 0", text);
    else if (value < option->min)
        snprintf(why->text, sizeof why->text, "'%.60s' is too small: at least %s", text,
                 show_bound(bound, option, option->min));
    else if (option->max && value > option->max)
        snprintf(why->text, sizeof why->text, "'%.60s' is too large: at most %s", text,
                 show_bound(bound, option, option->max));
    else
        return true;
    return false;
}

static bool set_choice(const sn_option *option, const char *text, int *target, sn_number_error *why)
{
    int choice = find_choice(option->choices, text);
    if (choice < 0) {
        snprintf(why->text, sizeof why->text, "'%.60s' is none of %s", text, option->choices);
        return false;
    }
    *target = option->type == SN_MAYBE ? choice + 2 : choice;
    return true;
}

static bool append(sn_args_list *list, const char *text, sn_number_error *why)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) {
        snprintf(why->text, sizeof why->text, "out of memory");
        return false;
    }
    items[list->count++] = text;
    list->items = items;
    return true;
}

/* Stores one option's value at its target. */
static bool set_value(const sn_option *option, void *base, const char *text, sn_number_error *why)
{
    assert(base); /* a group of its own needs own_size */
    void *target = (char *)base + option->offset;
    uint64_t number;
    bool ok = false;
    switch (option->type) {
    case SN_FLAG:
        *(bool *)target = true;
        return true;
    case SN_COUNT:
        ok = sn_number_parse_count(text, &number, why) && within(option, text, number, why);
        break;
    case SN_SIZE:
        ok = sn_number_parse_size(text, &number, why) && within(option, text, number, why);
        break;
    case SN_DURATION:
        ok = sn_number_parse_duration(text, &number, why) && within(option, text, number, why);
        break;
    case SN_RATE:
        return sn_number_parse_rate(text, target, why);
    case SN_SHARE:
        return sn_number_parse_share(text, target, why);
    case SN_NUMBER:
        return sn_number_parse(text, target, why);
    case SN_STRING:
        /* An empty DIR is the default: TMPDIR may be empty. */
        if (!*text && option->choices && !strcmp(option->choices, "FILE")) {
            snprintf(why->text, sizeof why->text, "the name is empty");
            return false;
        }
        *(const char **)target = text;
        return true;
    case SN_LIST:
        return append(target, text, why);
    case SN_CHAR:
        return sn_number_parse_char(text, target, why);
    case SN_CHOICE:
        return set_choice(option, text, target, why);
    case SN_MAYBE:
        *(int *)target = 1;
        return !text || set_choice(option, text, target, why);
    case SN_SEED:
        return sn_number_parse_seed(text, target, why);
    }
    if (ok)
        *(uint64_t *)target = number;
    return ok;
}

/* The state of a parse. */
typedef struct parse {
    const sn_cli_command *command;
    sn_args *args;
    char **argv;
    int argc, next;
    sn_help help;
} parse;

/* --help, --help=all, and also --help all. */
static int take_help(parse *p, const char *value)
{
    bool next = !value && p->next < p->argc && !strcmp(p->argv[p->next], "all");
    if (value && strcmp(value, "all") != 0)
        return sn_message_error("--help: '%s' is not all", value);
    p->next += next;
    p->help = value || next ? SN_HELP_ALL : SN_HELP_PAGE;
    return SN_EXIT_OK;
}

/* `spelled` is what the user wrote ("-n" or "--capacity"), `value` what was attached or NULL. */
static int take_option(parse *p, const place *at, const char *spelled, const char *value)
{
    sn_number_error why;
    if (!strcmp(at->option->name, "help"))
        return take_help(p, value);
    if (at->option->type == SN_FLAG && value)
        return sn_message_error("%s takes no value", spelled);
    if (takes_argument(at->option) && !value) {
        if (p->next == p->argc)
            return sn_message_error("%s needs a value: %s %s", spelled, spelled,
                                    sn_option_argument(at->option));
        value = p->argv[p->next++];
    }
    if (!set_value(at->option, at->group->own ? p->args->own : p->args, value, &why))
        return sn_message_error("%s: %s", spelled, why.text);
    p->args->given[at->index / 64] |= UINT64_C(1) << (at->index % 64);
    return SN_EXIT_OK;
}

/* Options of earlier versions, and what replaced them. */
static const struct {
    const char *before, *name, *now;
} moved[] = {
    {"-d", "delimiter", "-t (--delimiter) for the field separator"},
    {"--field", "key", "-k (--key) for the field to compare"},
    {"-k", "hashes", "--hashes for the number of bits per key"},
    {"-U", "unique", "-u"},
    {"--singles", "unique", "-u (--unique)"},
    {"--repeated", "duplicates", "--duplicates"},
};

static int unknown_option(const parse *p, const char *word)
{
    const char *names[260], *near;
    place at;
    size_t count = 0;
    const sn_option *option;
    for (; count < 259 && (option = sn_option_at(p->command, count, NULL)); count++)
        names[count] = option->name;
    names[count] = NULL;
    near = word[1] == '-' ? sn_suggest_word(word + 2, names) : NULL;
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (!strcmp(word, moved[i].before) &&
            find_option(p->command, moved[i].name, strlen(moved[i].name), 0, &at))
            return sn_message_error("%s has no option %s; use %s", p->command->name, word,
                                    moved[i].now);
    if (near)
        return sn_message_error("%s has no option %s; did you mean --%s?", p->command->name, word,
                                near);
    return sn_message_error("%s has no option %s; 'seen help %s' lists them", p->command->name,
                            word, p->command->name);
}

static int take_long(parse *p, char *word)
{
    place at;
    char *equals = strchr(word, '=');
    if (equals)
        *equals = 0;
    int status = find_option(p->command, word + 2, strlen(word + 2), 0, &at)
                     ? take_option(p, &at, word, equals ? equals + 1 : NULL)
                     : unknown_option(p, word);
    if (equals)
        *equals = '=';
    return status;
}

static int take_letters(parse *p, const char *word)
{
    place at;
    for (const char *letter = word + 1; *letter; letter++) {
        char spelled[3] = {'-', *letter, 0};
        if (!find_option(p->command, NULL, 0, *letter, &at))
            return unknown_option(p, spelled);
        bool rest = letter[1] && takes_argument(at.option);
        int status = take_option(p, &at, spelled, rest ? letter + 1 : NULL);
        if (status || rest)
            return status;
    }
    return SN_EXIT_OK;
}

static int check_operands(const sn_args *args)
{
    const sn_cli_command *command = args->command;
    size_t count = args->operand_count;
    if (count < command->min_operands)
        return sn_message_error("%s needs %s: seen %s %s", command->name,
                                count ? "more than that" : "an operand", command->name,
                                command->synopsis);
    if (count > command->max_operands)
        return sn_message_error("%s does not take '%s': seen %s %s", command->name,
                                args->operands[command->max_operands], command->name,
                                command->synopsis);
    return SN_EXIT_OK;
}

int sn_args_parse(const sn_cli_command *command, int argc, char **argv, sn_args *args,
                  sn_help *help)
{
    parse p = {.command = command, .args = args, .argv = argv, .argc = argc, .next = 1};
    *args = (sn_args){.command = command, .delimiter = -1};
    args->operands = calloc((size_t)argc + 1, sizeof *args->operands);
    args->own = command->own_size ? calloc(1, command->own_size) : NULL;
    if (!args->operands || (command->own_size && !args->own))
        return sn_message_error("out of memory");
    bool options_over = false;
    while (p.next < argc) {
        char *word = argv[p.next++];
        int status = SN_EXIT_OK;
        if (!word[0])
            status = sn_message_error("an operand of %s is an empty name", command->name);
        else if (options_over || word[0] != '-' || !word[1])
            args->operands[args->operand_count++] = word;
        else if (!strcmp(word, "--"))
            options_over = true;
        else if (word[1] == '-')
            status = take_long(&p, word);
        else
            status = take_letters(&p, word);
        if (status)
            return status;
    }
    *help = p.help;
    if (p.help)
        return SN_EXIT_OK;
    int status = sn_args_record(args);
    return status ? status : check_operands(args);
}

void sn_args_free(sn_args *args)
{
    const sn_group *group;
    const sn_option *option;
    if (!args->command)
        return;
    for (size_t i = 0; (option = sn_option_at(args->command, i, &group)); i++) {
        char *base = group->own ? args->own : (char *)args;
        if (option->type == SN_LIST && base)
            free(((sn_args_list *)(void *)(base + option->offset))->items);
    }
    sn_spec_free(&args->record);
    free(args->remembered);
    free(args->own);
    free(args->operands);
    *args = (sn_args){0};
}

seen_options sn_args_options(const sn_args *args)
{
    seen_options options = {
        .size = sizeof options,
        .kind = (seen_kind)args->kind,
        .growth = args->window_ms ? SEEN_WINDOW : (seen_growth)args->growth,
        .hash = (seen_hash_kind)args->hash,
        .when_full = (seen_when_full)args->when_full,
        .capacity = args->capacity,
        .error_rate = args->error_rate,
        .bits = args->memory * 8,
        .hashes = (uint32_t)args->hashes,
        .seed_given = args->seed.given,
        .seed = {args->seed.word[0], args->seed.word[1]},
        .generations = (uint32_t)args->generations,
        .window_seconds = args->window_ms / 1000,
        .renew = args->renew,
        .layout = (seen_layout)args->layout,
        .ttl_seconds = args->ttl_ms / 1000,
        .connect_ms = (uint32_t)args->connect_ms,
        .command_ms = (uint32_t)args->command_ms,
        .retry_ms = (uint32_t)args->retry_ms,
        .tls_ca = args->tls_ca,
        .tls_cert = args->tls_cert,
        .tls_key = args->tls_key,
    };
    return options;
}
