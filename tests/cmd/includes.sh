# Who may include whom.
"$ROOT/tools/includes"
