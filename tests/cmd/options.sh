# One table: --help, the manual page and the three completions name the same options.
set -eu
fail() { echo "options: $*" >&2; exit 1; }
"$SEEN" help --completion bash > seen.bash
"$SEEN" help --completion zsh > seen.zsh
"$SEEN" help --completion fish > seen.fish
commands=$("$SEEN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 12 ] || fail "few commands: $commands"
for command in $commands; do
    # Letters and names, one per line.
    "$SEEN" help "$command" | sed -n '/^Examples:/q; s/^  -\(.\), --\([a-z-]*\).*/\1\n\2/p;
        s/^      --\([a-z-]*\).*/\1/p' > help
    # Some are listed by name only.
    "$SEEN" help "$command" | sed -n '/^Examples:/q; /^  --[a-z]/p' | grep -oE -- '--[a-z-]+' | sed 's/^--//' >> help || true
    sort -o help help
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
    # Every option that help names is one that is taken.
    while read -r name; do
        [ ${#name} -gt 1 ] || continue
        "$SEEN" "$command" "--$name" 2>&1 < /dev/null > /dev/null | grep -q 'has no option' &&
            fail "$command: --$name is in the help and is not taken"
    done < <(grep -vx help help)
done
true
