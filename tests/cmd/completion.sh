# Completion: the scripts are well-formed, and bash completes with them.
set -eu
fail() { echo "completion: $*" >&2; exit 1; }
for shell in bash zsh fish; do
    "$SEEN" help --completion $shell > seen.$shell
    if command -v $shell > /dev/null; then $shell -n seen.$shell || fail "$shell does not read its script"; fi
done
. ./seen.bash
complete_line() { # words..., the last is being typed
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _seen
    echo "${COMPREPLY[*]-}"
}
touch urls.seen other.txt
mkdir folder
[ "$(complete_line seen pl)" = plan ] || fail "pl -> $(complete_line seen pl)"
[ "$(complete_line seen --v)" = --version ] || fail "--v"
[ "$(complete_line seen plan --cap)" = --capacity ] || fail "--cap -> $(complete_line seen plan --cap)"
[ "$(complete_line seen plan --kind c)" = counting ] || fail "--kind c -> $(complete_line seen plan --kind c)"
[ "$(complete_line seen plan --kind = c)" = counting ] || fail "--kind=c"
[ "$(complete_line seen create --growth = "")" ] || fail "--growth= offers nothing"
[ "$(complete_line seen uniq --progress =)" = json ] || fail "--progress= -> $(complete_line seen uniq --progress =)"
[ "$(complete_line seen uniq --progress u)" = urls.seen ] || fail "--progress u -> $(complete_line seen uniq --progress u)"
[ "$(complete_line seen info u)" = urls.seen ] || fail "info u -> $(complete_line seen info u)"
touch "with space.txt"
complete_line seen uniq with > /dev/null
COMP_WORDS=(seen uniq wi) COMP_CWORD=2
_seen
[ "${#COMPREPLY[@]}" = 1 ] && [ "${COMPREPLY[0]}" = "with space.txt" ] || fail "a name with a space"
[ "$(complete_line seen uniq -T f)" = folder ] || fail "-T f"
[ -z "$(complete_line seen plan -n u)" ] || fail "-n offers files"
[ -z "$(complete_line seen plan u)" ] || fail "plan takes no files"
[ "$(complete_line seen help mer)" = merge ] || fail "help mer"
[ -z "$(complete_line seen nosuch -)" ] || fail "nosuch"
if command -v fish > /dev/null; then
    offers() { HOME=$PWD fish --no-config -c "source seen.fish; complete -C '$1'" | cut -f1 | sort | tr '\n' ' '; }
    [ "$(offers 'seen pl')" = "plan " ] || fail "fish: pl -> $(offers 'seen pl')"
    [ "$(offers 'seen plan --cap')" = "--capacity " ] || fail "fish: --cap -> $(offers 'seen plan --cap')"
    [ "$(offers 'seen plan --kind ')" = "bloom counting " ] || fail "fish: --kind -> $(offers 'seen plan --kind ')"
    [ "$(offers 'seen info url')" = "urls.seen " ] || fail "fish: info url -> $(offers 'seen info url')"
fi
