# One table of options: --help, the manual page and the three completions have the same options.
set -eu
fail() { echo "options: $*" >&2; exit 1; }
"$SEEN" help --completion bash > seen.bash
"$SEEN" help --completion zsh > seen.zsh
"$SEEN" help --completion fish > seen.fish
commands=$("$SEEN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 12 ] || fail "few commands: $commands"
for command in $commands; do
    # Letters and names, one per line.
    "$SEEN" help --all "$command" | sed -n '/^Examples:/q; s/^  -\(.\), --\([a-z-]*\).*/\1\n\2/p;
        s/^      --\([a-z-]*\).*/\1/p' | sort > help
    # The short help also names all of them, except those of omitted sections.
    "$SEEN" "$command" --help=all | sed -n '/^Examples:/q; /^Redis and TLS:/,/^$/d; /^Hash:/,/^$/d; p' | grep -oE -- '^ .*--[a-z-]+' |
        grep -oE -- '--[a-z-]+' | sort -u > all
    "$SEEN" "$command" --help | sed '/^Examples:/,$d' | grep -oE -- '--[a-z-]+' | sort -u > short
    missing=$(comm -23 all short | tr '\n' ' ')
    [ -z "$missing" ] || fail "$command --help does not name $missing"
    "$SEEN" help --man "$command" | sed -n '/^\.SH EXAMPLES/q; s/^\\fB\\-\([^\\]\)\\fR, .*/\1/p
        ' > man
    "$SEEN" help --man "$command" | sed -n '/^\.SH EXAMPLES/q; s/\\-/-/g
        s/^\(\\fB-.\\fR, \)*\\fB--\([a-z-]*\)\\fR.*/\2/p' >> man
    sort -o man man
    sed -n "/^        $command)$/,/operands=/p" seen.bash | sed -n "s/.*options='\(.*\)' operands.*/\1/p" |
        tr ' ' '\n' | sed '/^$/d; s/^--*//' | sort > bash
    sed -n "/^        $command) _arguments/,/;;/p" seen.zsh |
        sed -n "s/^ *'(-\(.\) --\([a-z-]*\))'.*/\1\n\2/p; s/^ *'--\([a-z-]*\).*/\1/p" | sort > zsh
    grep "__fish_seen_subcommand_from $command'" seen.fish |
        grep -oE -- " -(s .|l [a-z-]+)" | sed 's/^ -[sl] //' | sort > fish
    [ "$(wc -l < help)" -ge 2 ] || fail "$command: help lists no options"
    for other in man bash zsh fish; do
        cmp -s help $other || fail "$command: help and $other differ: $(diff help $other | tr '\n' ' ')"
    done
    # Every option in the help is accepted.
    while read -r name; do
        [ ${#name} -gt 1 ] || continue
        "$SEEN" "$command" "--$name" 2>&1 < /dev/null > /dev/null | grep -q 'has no option' &&
            fail "$command: --$name is in the help but not accepted"
    done < <(grep -vx help help)
done

# Those of the parts of a command too.
for part in $("$SEEN" help crawl 2> /dev/null | sed -n 's/^ *seen crawl \([a-z|]*\) .*/\1/p' | tr '|' ' '); do
    "$SEEN" help --all crawl "$part" | sed -n '/^Examples:/q; s/^  \(-.,\|   \) --\([a-z-]*\).*/\2/p' | sort > help
    sed -n "s/.*options='\(.*\)' operands.*/\1/p" <(sed -n "/^        crawl-$part)$/,/operands=/p" seen.bash) | tr ' ' '\n' |
        sed -n 's/^--//p' | sort > bash
    sed -n "/^        crawl-$part) _arguments/,/;;/p" seen.zsh | sed -n "s/^ *'(-. --\([a-z-]*\))'.*/\1/p; s/^ *'--\([a-z-]*\).*/\1/p" |
        sort > zsh
    [ "$(wc -l < help)" -ge 4 ] && cmp help bash && cmp help zsh || fail "crawl $part: $(diff help bash; diff help zsh)"
done

# Completion: the scripts are well-formed, and bash completes with them.
for shell in bash zsh fish; do
    if command -v $shell > /dev/null; then $shell -n seen.$shell || fail "$shell does not read its script"; fi
done
. ./seen.bash
complete_line() { # words..., the last one is incomplete
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _seen
    echo "${COMPREPLY[*]-}"
}
touch urls.seen other.txt
mkdir folder
[ "$(complete_line seen pl)" = plan ] || fail "pl -> $(complete_line seen pl)"
[ "$(complete_line seen --v)" = --version ] || fail "--v"
[ "$(complete_line seen plan --cap)" = --capacity ] || fail "--cap -> $(complete_line seen plan --cap)"
[ "$(complete_line seen plan --kind c)" = counting ] || fail "--kind c -> $(complete_line seen plan --kind c)"
[ "$(complete_line seen plan --kind = c)" = counting ] || fail "--kind=c"
[ "$(complete_line seen create --growth = "")" ] || fail "--growth= offers nothing"
[ "$(complete_line seen uniq --progress =)" = json ] || fail "--progress= -> $(complete_line seen uniq --progress =)"
[ "$(complete_line seen uniq --progress u)" = urls.seen ] || fail "--progress u -> $(complete_line seen uniq --progress u)"
[ "$(complete_line seen info u)" = urls.seen ] || fail "info u -> $(complete_line seen info u)"
touch "with space.txt"
complete_line seen uniq with > /dev/null
COMP_WORDS=(seen uniq wi) COMP_CWORD=2
_seen
[ "${#COMPREPLY[@]}" = 1 ] && [ "${COMPREPLY[0]}" = "with space.txt" ] || fail "a name with a space"
[ "$(complete_line seen uniq -T f)" = folder ] || fail "-T f"
[ -z "$(complete_line seen plan -n u)" ] || fail "-n offers files"
[ -z "$(complete_line seen plan u)" ] || fail "plan takes no files"
if "$SEEN" help crawl > /dev/null 2>&1; then
    [ "$(complete_line seen crawl sta)" = status ] || fail "crawl sta -> $(complete_line seen crawl sta)"
    [ "$(complete_line seen crawl status --w)" = --watch ] || fail "crawl status --w"
    [ -z "$(complete_line seen crawl pause x --d)" ] || fail "crawl pause --d -> $(complete_line seen crawl pause x --d)"
fi
[ "$(complete_line seen help mer)" = merge ] || fail "help mer"
[ -z "$(complete_line seen nosuch -)" ] || fail "nosuch"
if command -v fish > /dev/null; then
    offers() { HOME=$PWD fish --no-config -c "source seen.fish; complete -C '$1'" | cut -f1 | sort | tr '\n' ' '; }
    [ "$(offers 'seen pl')" = "plan " ] || fail "fish: pl -> $(offers 'seen pl')"
    [ "$(offers 'seen plan --cap')" = "--capacity " ] || fail "fish: --cap -> $(offers 'seen plan --cap')"
    [ "$(offers 'seen plan --kind ')" = "bloom counting " ] || fail "fish: --kind -> $(offers 'seen plan --kind ')"
    [ "$(offers 'seen info url')" = "urls.seen " ] || fail "fish: info url -> $(offers 'seen info url')"
fi
