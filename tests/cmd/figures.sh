# The tables of figures are those that the benchmarks printed.
python3 "$ROOT/tools/figures" --check
