# uniq, count, common and except compared with a slow reference (reference.py).
set -eu
python3 "$ROOT/tests/cmd/reference.py" "$SEEN" 5
