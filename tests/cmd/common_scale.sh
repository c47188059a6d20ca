# docs/scale.md says what the planner says.
set -eu
doc=$ROOT/docs/scale.md
count=0
while IFS= read -r line; do
    # shellcheck disable=SC2086
    set -- ${line#"    $ seen "}
    awk -v head="$line" '
        $0 == head { on = 1; next }
        on && !/^    / { exit }
        on { print substr($0, 5) }' "$doc" > want
    "$SEEN" "$@" > got
    diff want got || { echo "FAIL: docs/scale.md is not what '$*' says" >&2; exit 1; }
    count=$((count + 1))
done < <(grep '^    \$ seen ' "$doc")
[ $count -ge 3 ] || { echo "FAIL: no commands in docs/scale.md" >&2; exit 1; }
# The other strategy, in the table.
for strategy in spill; do
    SEEN_JOIN_STRATEGY=$strategy "$SEEN" common --explain --assume-lines 5e9 --assume-bytes 64 -m 4GB -j 8 > got
    read=$(sed -n 's/^in all *reads \(.*\), writes .*/\1/p' got)
    time=$(sed -n 's/^time *about \(.*\) with .*/\1/p' got)
    grep -q "| $read | .* | $time |" "$doc" || {
        echo "FAIL: docs/scale.md does not have $read and $time for $strategy" >&2
        exit 1
    }
done
