# Which folder may include which, and no source files that depend on each other.
set -eu
"$ROOT/tools/includes"
"$ROOT/tools/cycles" "$BUILD"
