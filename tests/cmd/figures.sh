# The tables of figures are those that the benchmarks printed.
set -eu
python3 "$ROOT/tools/figures" --check
