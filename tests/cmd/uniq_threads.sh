# uniq: any number of threads gives the same bytes, from files, pipes and compressed input.
# Needs: compression.
set -eu
fail() { echo "uniq_threads: $*" >&2; exit 1; }
python3 - <<'P'
import random
r = random.Random(7)
lines = [bytes(r.choices(b"abc/:. \r\0\xe9", k=r.choice((0, 1, 3, 20, 60, 300)))) for _ in range(60000)]
out = [r.choice(lines) for _ in range(150000)]
open("in", "wb").write(b"\n".join(out))
seen, first, repeats = set(), [], []
for i, line in enumerate(out):
    (repeats if line in seen else first).append(line + b"\n")
    seen.add(line)
open("first", "wb").write(b"".join(first))
open("repeats", "wb").write(b"".join(repeats))
P
gzip -k in
for j in 1 2 3 8; do
    for how in "-p 1e-9" "--exact" "--exact -m 2M"; do
        # shellcheck disable=SC2086
        {
            "$SEEN" uniq -q -j $j $how in --dropped drop | cmp - first || fail "-j $j $how"
            cmp drop repeats || fail "-j $j $how: dropped"
            cat in | "$SEEN" uniq -q -j $j $how | cmp - first || fail "-j $j $how, pipe"
            "$SEEN" uniq -q -j $j $how in.gz | cmp - first || fail "-j $j $how, gzip"
        }
    done
done
