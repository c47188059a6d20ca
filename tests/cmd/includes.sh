# Allowed includes between folders, and no cyclic dependencies between source files.
set -eu
"$ROOT/tools/includes"
"$ROOT/tools/cycles" "$BUILD"
