# URL modes: which URLs are equal, in every command that reads lines.
set -eu
fail() { echo "url: $*" >&2; exit 1; }
uniq_is() { # EXPECTED-NUMBER OPTIONS...; lines on stdin
    want=$1; shift
    "$SEEN" uniq -q "$@" > out
    [ "$(wc -l < out)" = "$want" ] || fail "$*: $(cat out)"
}
printf 'HTTP://A.com:80/x/../y#f\nhttp://a.com/y\n' | uniq_is 1 --url
printf 'http://a/?x=1&y=2\nhttp://a/?y=2&x=1\n' | uniq_is 2 --url
printf 'http://a/?x=1&y=2\nhttp://a/?y=2&x=1\n' | uniq_is 1 --sort-query
printf 'http://a/?utm_source=x\nhttp://a/\n' | uniq_is 1 --drop-tracking
printf 'http://a/;jsessionid=1\nhttp://a/?PHPSESSID=3\nhttp://a/\n' | uniq_is 1 --drop-sessions
printf 'http://www.a.b/\nhttp://a.b/\n' | uniq_is 1 --drop-www
printf 'http://a/x/\nhttp://a/x\n' | uniq_is 1 --drop-slash
printf 'http://a/?t=1\nhttp://a/?u1=5\nhttp://a/\n' | uniq_is 1 --drop t --drop 'u*'
printf 'http://a/\nhttps://a/\nhttps://a:80/\nhttp://a:443/\n' | uniq_is 1 --any-scheme
printf 'http://a/?x=1&y=2\nhttp://a/?y=7&x&x=3\nhttp://a/?x\n' | uniq_is 2 --ignore-values
printf 'http://a/1/c\nhttp://a/22/c\nhttp://a/x/c\nhttp://a/1.html\nhttp://a/2.html\n' | uniq_is 3 --similar
# Printed in canonical form, from files and pipes, by every command that prints lines.
printf 'HTTP://A.com/x\nhttp://a.com/x\nno url\nhttp://b.com' > in
printf 'http://a.com/x\nno url\nhttp://b.com/\n' > want
"$SEEN" uniq -q --print canonical in | cmp - want || fail "uniq --print"
"$SEEN" uniq -q --print canonical < in | cmp - want || fail "uniq --print, a pipe"
"$SEEN" uniq -u --print canonical < in | cmp - <(printf 'no url\nhttp://b.com/\n') || fail "uniq -u --print"
printf 'http://a.com/x\n' > b
[ "$("$SEEN" common -q --print canonical in b | sort -u)" = http://a.com/x ] || fail "common --print"
"$SEEN" count --print canonical in > out; grep -qx "$(printf '2\thttp://a.com/x')" out || fail "count --print: $(cat out)"
# The printed URL exists: options that only define equality do not change it.
printf 'HTTPS://a.com/page/17?id=5&b=2\nhttp://a.com/page/18?b=1&id=6\n' > in
"$SEEN" uniq -q --similar --ignore-values --any-scheme --print canonical in > out
[ "$(cat out)" = 'https://a.com/page/17?id=5&b=2' ] || fail "--similar --print: $(cat out)"
"$SEEN" uniq -q --similar --ignore-values --any-scheme --sort-query --drop b --print canonical in > out
[ "$(cat out)" = 'https://a.com/page/17?id=5' ] || fail "--drop --similar --print: $(cat out)"
# A filter: a URL added in one form is found in another.
"$SEEN" create -q f.seen -n 100 -p 1e-9
printf 'http://a/?b&a\n' | "$SEEN" add -q --sort-query f.seen
[ "$(printf 'HTTP://a/?a&b\n' | "$SEEN" check --sort-query f.seen)" = 'HTTP://a/?a&b' ] || fail "check"
# Fields and columns.
printf 'u,n\nhttp://www.a.b/,1\nHTTP://a.b,2\n' | "$SEEN" uniq -q --csv -k u --drop-www > out
[ "$(wc -l < out)" = 2 ] || fail "--csv: $(cat out)"
code=0; "$SEEN" uniq --print canonical -k 1 in 2> words || code=$?
[ $code = 2 ] && grep -q 'leave -k' words || fail "--print with -k: $(cat words)"
