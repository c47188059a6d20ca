# The memory limit holds for every strategy; with too little memory the strategy changes.
set -eu
fail() { echo "FAIL: $*" >&2; exit 1; }
if grep -q -e __asan_init -e __tsan_init "$SEEN"; then
    echo "memory cannot be measured under a sanitizer"
    exit 77
fi
bound() { # MiB allowed, command
    python3 "$ROOT/tests/cmd/sets_oracle.py" rss "$@" 2> err || fail "$*: $(cat err)"
}
seq 1 5000000 > a
seq 2500001 7500000 > b
for strategy in "" "table of B" "table of A" filter spill "filtered spill"; do
    SEEN_JOIN_STRATEGY=$strategy bound 80 "$SEEN" common -q -m 64M -j 2 a b
done
bound 80 "$SEEN" common -q -m 64M -j 2 a a
bound 80 "$SEEN" except -q -u -m 64M -j 2 a b
bound 80 "$SEEN" common -q --approx -p 1e-9 -m 64M -j 2 a b
bound 48 "$SEEN" common -q -m 32M -j 2 a b
bound 112 "$SEEN" common -q -m 96M -j 2 a b

seq 2500001 5000000 > want
for strategy in "table of B" "table of A" filter; do
    SEEN_JOIN_STRATEGY=$strategy "$SEEN" common --json -m 24M -j 2 a b > got 2> err
    cmp got want || fail "$strategy, too little memory"
    grep -q '"strategy_changes": *[12]' err || fail "$strategy: the strategy was not changed: $(cat err)"
done

# With --all every B is a separate input, and a thousand of them need no more memory than one.
mkdir many
seq 1000000001 1016000000 | split -a 3 -l 20000 - many/
bound 80 "$SEEN" except -q --all -m 64M -j 2 many/aaa many/*
