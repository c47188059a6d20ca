# Who may include whom.
set -eu
"$ROOT/tools/includes"
