# common and except against Python's sets: every strategy, every kind of input, one thread and
# several.
set -eu
oracle() { python3 "$ROOT/tests/cmd/sets_oracle.py" "$@"; }
fail() { echo "FAIL: $*" >&2; exit 1; }
# The output may lack the last terminator if A does.
same() { { cat "$1"; } | tr -d "$3" | cmp -s - <(tr -d "$3" < "$2"); }

oracle make .
for a in *.a; do
    name=${a%.a}
    z=; end='\n'
    if [ "$name" = nul ]; then z=-z; end='\0'; fi
    for what in common except; do
        for flags in "" -u --all "-u --all"; do
            files="$name.a $name.b"
            case "$flags/$name" in
                *--all/random | *--all/blank | *--all/empty-* | *--all/same) files="$files $name.c" ;;
                *--all/*) continue ;;
            esac
            # shellcheck disable=SC2086
            oracle $what $z $flags $files > want
            for strategy in "" "table of B" "table of A" filter spill "filtered spill"; do
                case "$what$flags/$strategy" in except-u*/*filter*) continue ;; esac
                threads=$((threads_next = (${threads_next:-0} + 1) % 3 + 1))
                # shellcheck disable=SC2086
                SEEN_JOIN_STRATEGY=$strategy "$SEEN" $what -q -m 64M -j $threads $z $flags $files > got ||
                    fail "$what $flags $files ($strategy): exit status"
                ! cmp -s want got || continue
                # With NUL as terminator lines may contain newlines, which are kept.
                same want got "$end" || fail "$what $flags $files ($strategy, $threads threads)"
                [ "$(tr -dc "$end" < want | wc -c)" -le $(($(tr -dc "$end" < got | wc -c) + 1)) ] ||
                    fail "$what $flags $files ($strategy): lines were joined"
            done
        done
    done
done

# Compared with sort and comm.
sort -u random.a > sa; sort -u random.b > sb
"$SEEN" common -q -u random.a random.b | sort | cmp - <(comm -12 sa sb) || fail "comm -12"
"$SEEN" except -q -u random.a random.b | sort | cmp - <(comm -23 sa sb) || fail "comm -23"

# Several B: in any of them.
oracle common random.a random.b random.c > want
"$SEEN" common -q random.a random.b random.c | cmp - want || fail "any of two"

# A share of 0 or 1.
for share in 0 100% 1; do
    "$SEEN" common -q --share $share same.a same.b | cmp - same.a || fail "--share $share"
done

# except: lines that are not in B, in A's order, with repeats.
mkdir except
cd except
fail() { echo "FAIL: $*" >&2; exit 1; }
expect() { # the lines joined by commas, then the command
    local want=$1 got; shift
    got=$("$@" | tr '\n' ,)
    [ "$got" = "$want" ] || fail "$*: '$got' instead of '$want'"
}
printf 'd\na\nb\na\n\nc\nd' > a
printf 'b\nc\n' > b
printf 'c\na\n' > c
: > empty
expect "d,a,a,,d," "$SEEN" except -q a b
expect "d,a,," "$SEEN" except -q -u a b
expect "d,,d," "$SEEN" except -q a b c
expect "d,a,b,a,,d," "$SEEN" except -q --all a b c
expect "d,a,b,," "$SEEN" except -q -u --all a b c
expect "d,a,b,a,,c,d," "$SEEN" except -q a empty
expect "" "$SEEN" except -q empty a
expect "" "$SEEN" except -q a a
expect "b,c," "$SEEN" except -q b empty
"$SEEN" except --summary a b 2> err > out
grep -q "^seen: 7 lines, 5 not in B (table of [AB]; " err || fail "summary: $(cat err)"
"$SEEN" except -q a b | head -n 1 | grep -qx d || fail "a closed pipe is trouble"
"$SEEN" except -q --approx -p 1e-6 a b > out || fail "--approx"
[ "$(tr '\n' , < out)" = "d,a,a,,d," ] || fail "--approx: $(cat out)"
if "$SEEN" except a 2> err; then fail "one file was accepted"; fi
grep -q "two files" err || fail "message: $(cat err)"
