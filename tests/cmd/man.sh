# The manual pages are well-formed and complete.
set -eu
fail() { echo "man: $*" >&2; exit 1; }
"$SEEN" help --man > seen.1
commands=$("$SEEN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    "$SEEN" help --man "$command" > "seen-$command.1"
    grep -q "^\.TH SEEN\\\\-$(echo "$command" | tr a-z A-Z) 1 " "seen-$command.1" || fail "$command: no heading"
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES "EXIT STATUS" "SEE ALSO"; do
        grep -qx "\.SH $part" "seen-$command.1" || fail "$command: no section $part"
    done
    grep -q "^\.BR seen\\\\-$command (1)" seen.1 || fail "seen(1) does not list $command"
done
cp "$ROOT/man/libseen.3" "$ROOT/man/seen-format.5" .
command -v mandoc > /dev/null || { echo "no mandoc: not checked"; exit 77; }
# Style remarks are ignored: long input lines, and pages that are not installed here.
for page in *.1 *.3 *.5; do
    mandoc -T lint -W warning "$page" > lint 2>&1 || true
    [ ! -s lint ] || fail "$page: $(cat lint)"
    mandoc -T utf8 "$page" > /dev/null || fail "$page is not rendered"
done
# The functions in libseen(3) are those of the header, with their arguments.
grep -oE 'seen_[a-z_]+' libseen.3 | sort -u | while read -r name; do
    grep -q "\b$name\b" "$ROOT/include/seen.h" || fail "libseen(3) names $name, which is not in the header"
done
