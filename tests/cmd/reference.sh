# uniq, count, common and except write what a slow reference writes (reference.py).
set -eu
python3 "$ROOT/tests/cmd/reference.py" "$SEEN" 5
