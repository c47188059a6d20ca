# help: every command has help; typing errors get suggestions; exit status 2 for errors.
set -eu
fail() { echo "help: $*" >&2; exit 1; }
status() { local s=0; "$@" > out 2> words || s=$?; echo "$s"; }

[ "$(status "$SEEN")" = 2 ] || fail "seen alone: not status 2"
[ ! -s out ] && grep -q '^Commands:' words || fail "seen alone does not print an overview"
[ "$(status "$SEEN" --version)" = 0 ] || fail "--version fails"
grep -q '^seen [0-9]*\.[0-9]*\.[0-9]* (filter format [0-9]*)$' out || fail "--version prints $(cat out)"
"$SEEN" help > overview
cmp -s overview <("$SEEN" --help) || fail "--help and help differ"
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' overview)
for command in plan create info merge copy rotate drop help uniq add check remove; do
    echo "$commands" | grep -qx "$command" || fail "$command is not in the overview"
done
for command in $commands; do
    "$SEEN" help "$command" > a || fail "help $command fails"
    "$SEEN" "$command" --help > b || fail "$command --help fails"
    "$SEEN" "$command" -h > c || fail "$command -h fails"
    cmp a b && cmp a c || fail "$command: help and --help differ"
    grep -q "^Usage: seen $command" a || fail "$command: no usage line"
    grep -q '^Examples:' a || fail "$command: no examples"
    [ "$(awk '/^Examples:/ { exit } length > 80' a | wc -l)" = 0 ] || fail "$command: help wider than 80"
    [ "$(status "$SEEN" "$command" --no-such-option)" = 2 ] || fail "$command accepts any option"
    grep -q "seen: $command has no option --no-such-option" words || fail "$command: $(cat words)"
done

# The help of a command fits on a screen: common options with text, the others by name. --help=all and the manual
# describe every option.
for command in $commands; do
    case $command in crawl | create) most=60 ;; *) most=50 ;; esac
    "$SEEN" help $command > a
    [ "$(wc -l < a)" -le $most ] || fail "help $command has $(wc -l < a) lines"
    "$SEEN" $command --help=all > all || fail "$command --help=all fails"
    cmp -s all <("$SEEN" $command --help all) || fail "$command --help all differs from --help=all"
    cmp -s all <("$SEEN" help --all $command) || fail "help --all $command differs from --help=all"
    [ "$(awk '/^Examples:/ { exit } length > 80' all | wc -l)" = 0 ] || fail "$command: --help=all wider than 80"
done
[ "$(status "$SEEN" uniq --help=most)" = 2 ] || fail "--help accepts anything"
for command in uniq add check create common; do
    "$SEEN" help $command | grep -q -- '--connect-timeout TIME' && fail "help $command explains --connect-timeout"
    "$SEEN" help $command | grep -q '^Redis and TLS' || fail "help $command does not point to the Redis options"
    "$SEEN" help --all $command | grep -q 'Redis connection timeout (default 2s)' || fail "$command: --help=all has no --connect-timeout"
    "$SEEN" help --man $command | grep -q 'Redis connection timeout (default 2s)' || fail "$command: the manual has no --connect-timeout"
done
"$SEEN" help uniq | grep -q -- '-o, --output FILE .*\.gz, \.zst compress' || fail "no output compression in the help"
"$SEEN" help crawl | grep -q -- '--scope host|domain|all .*(default host)' || fail "--scope: no values or no default"
# An option with a value shows its default, except for those in this list, which have none.
for command in $commands; do
    "$SEEN" help --all $command | sed '/^Examples:/,$d' |
        awk '/^ +(-., )?--/ { print text; text = $0; next } /^ {20}/ { text = text " " $0; next } { print text; text = "" } END { print text }' |
        sed -nE '/\(default /!s/^ +(-., )?(--[a-z-]+) [^ ].*/\2/p'
done | sort -u > without
cat > may <<'END'
--assume-lines
--capacity
--completion
--cookies
--dropped
--edges
--exclude
--exec
--expression
--filter
--growth
--header
--html
--include
--input
--join
--like
--drop
--netrc
--parts
--state
--svg
--tls-cert
--tls-key
--urls
--warc
--window
END
undocumented=$(comm -23 without <(sort may) | tr '\n' ' ')
[ -z "$undocumented" ] || fail "no default in the help of $undocumented"
"$SEEN" help --man crawl | grep -q 'scope.*host|domain|all' || fail "the manual has no values of --scope"

# Colour: on a terminal or on request; with NO_COLOR only on request.
color=$(printf '\033\\[')
"$SEEN" uniq --help --color always | grep -q "${color}1mExamples:${color}m" || fail "--color always: no colour"
"$SEEN" uniq --help | grep -q "$color" && fail "colour in a pipe"
on_terminal() { script -qec "$1" /dev/null < /dev/null; }
if command -v script > /dev/null; then
    TERM=xterm on_terminal "$SEEN help" | grep -q "$color" || fail "no colour on a terminal"
    TERM=xterm NO_COLOR=1 on_terminal "$SEEN help" | grep -q "$color" && fail "colour despite NO_COLOR"
    TERM=xterm on_terminal "$SEEN help --color never" | grep -q "$color" && fail "colour despite --color never"
    TERM=xterm on_terminal "$SEEN info no-such-file" | grep -q "${color}1;31mseen:${color}m" || fail "an error without colour"
fi
[ "$(status "$SEEN" uniq --color sometimes)" = 2 ] || fail "--color accepts anything"

# Suggestions.
[ "$(status "$SEEN" pln)" = 2 ] && grep -q "did you mean 'plan'" words || fail "pln: $(cat words)"
# Names that other tools use; each suggestion is a command.
for pair in dedup:uniq distinct:uniq intersect:common diff:except union:merge version:--version; do
    [ "$(status "$SEEN" ${pair%:*} x)" = 2 ] && grep -q "did you mean '${pair#*:}'" words || fail "$pair: $(cat words)"
done
for name in $(sed -n '/other_name/,/^}/s/{"\([a-z]*\)", "\([a-z]*\)[^}]*}/\n\2\n/gp' "$ROOT/cli/help.c" | grep -x '[a-z][a-z]*' | grep -vx crawl | sort -u); do
    "$SEEN" help "$name" > /dev/null || fail "a suggestion is no command: $name"
done
[ "$(status "$SEEN" help uinq)" = 2 ] && grep -q "did you mean 'uniq'" words || fail "uinq: $(cat words)"
# The parts of a command have help and options of their own.
if echo "$commands" | grep -qx crawl; then
    parts=$("$SEEN" help crawl | sed -n 's/^ *seen crawl \([a-z|]*\) .*/\1/p' | tr '|' ' ')
    [ "$(echo "$parts" | wc -w)" = 8 ] || fail "parts of crawl: $parts"
    for part in $parts; do
        "$SEEN" help crawl "$part" > a && "$SEEN" crawl "$part" --help > b && cmp a b || fail "help of crawl $part"
        grep -q "^Usage: seen crawl $part" a && grep -q '^Examples:' a || fail "help of crawl $part: $(cat a)"
        [ "$(wc -l < a)" -le 30 ] || fail "help crawl $part has $(wc -l < a) lines"
        "$SEEN" help --man crawl | grep -q "^\.SS seen crawl $part " || fail "crawl $part is not in the manual"
        [ "$(status "$SEEN" crawl "$part")" = 2 ] && grep -q "crawl $part needs an operand" words || fail "$part: $(cat words)"
        [ "$(status "$SEEN" crawl "$part" x --depth 1)" = 2 ] && grep -q "crawl $part has no option --depth" words ||
            fail "$part --depth: $(cat words)"
    done
    [ "$(status "$SEEN" crawl stauts x)" = 2 ] && grep -q "did you mean 'crawl status'" words || fail "stauts: $(cat words)"
    [ "$(status "$SEEN" help crawl stauts)" = 2 ] && grep -q "did you mean 'crawl status'" words || fail "help stauts: $(cat words)"
fi
[ "$(status "$SEEN" help plan x)" = 2 ] && grep -q "unknown command 'plan x'" words || fail "help plan x: $(cat words)"
[ "$(status "$SEEN" plan --eror-rate 1%)" = 2 ] && grep -q 'did you mean --error-rate' words ||
    fail "--eror-rate: $(cat words)"
[ "$(status "$SEEN" --capacity 5)" = 2 ] || fail "an option before the command was accepted"
[ "$(status "$SEEN" zzz)" = 2 ] && grep -q "seen help" words || fail "zzz: $(cat words)"

# No terminal control characters.
for name in $'a\nb' $'\x1b[31m' $'\xff\xfe' $'\xc2\x9b' $'x\ry'; do
    for what in "$name" plan; do
        if [ "$what" = plan ]; then "$SEEN" plan "--$name" 2> words || true
        else "$SEEN" "$name" 2> words || true; fi
        "$SEEN" info "$name" 2>> words || true
        "$SEEN" drop -f "$name" 2>> words || true
        if LC_ALL=C tr -d '\n' < words | LC_ALL=C grep -q $'[\x01-\x1f\x7f\x80-\x9f\xff]'; then
            fail "a raw control character: $(od -c words | head)"
        fi
        grep -vq '^seen: ' words && fail "a line that is not ours: $(cat words)"
    done
done
true
