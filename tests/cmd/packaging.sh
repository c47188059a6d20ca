# The Homebrew formula and the AUR recipe are well formed, have the current version and every library that the build
# needs, and packaging/update writes the right values into them.
set -eu
cp -r "$ROOT/packaging" packaging
cd packaging
version=$(sed -n 's/^project(seen VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")
grep -q "/seen-$version.tar.gz\"" homebrew/seen.rb || { echo "seen.rb: not version $version"; exit 1; }
grep -q "^pkgver=$version$" aur/PKGBUILD || { echo "PKGBUILD: not version $version"; exit 1; }

# Every library of CMakeLists.txt, with its package names.
libraries=$(sed -n 's/.*pkg_check_modules([A-Z0-9]* \(REQUIRED \)\?IMPORTED_TARGET \(.*\))/\2/p' "$ROOT/CMakeLists.txt" | tr ' ' '\n' | sort -u)
[ "$(echo "$libraries" | wc -w)" -ge 10 ]
for library in $libraries; do
    case $library in
    libcurl) brew=curl arch=curl ;;
    liblz4) brew=lz4 arch=lz4 ;;
    liblzma) brew=xz arch=xz ;;
    libzstd) brew=zstd arch=zstd ;;
    libxxhash) brew=xxhash arch=xxhash ;;
    libbrotlidec) brew=brotli arch=brotli ;;
    openssl) brew=openssl@3 arch=openssl ;;
    cmocka) continue ;;
    *) brew=$library arch=$library ;;
    esac
    grep -q "\"$brew\"" homebrew/seen.rb || { echo "seen.rb: no $brew for $library"; exit 1; }
    grep -q "'$arch'" aur/PKGBUILD || { echo "PKGBUILD: no $arch for $library"; exit 1; }
done

if command -v ruby > /dev/null; then
    ruby -wc homebrew/seen.rb > said 2>&1 || { cat said; exit 1; }
fi
bash -n aur/PKGBUILD
if command -v shellcheck > /dev/null; then
    shellcheck -s bash -e SC2034,SC2154,SC2164 aur/PKGBUILD update
fi
(
    # shellcheck disable=SC1091
    . aur/PKGBUILD
    # shellcheck disable=SC2154
    [ "${#source[@]}" = "${#sha256sums[@]}" ] && [ "${source[0]}" = "$url/seen-$version.tar.gz" ]
    [ "$(type -t build) $(type -t check) $(type -t package)" = "function function function" ]
)

# The output of update: the checksum and the version of an archive.
printf 'x' > seen-9.8.7.tar.gz
PACKAGING=$PWD ./update seen-9.8.7.tar.gz
sum=$(sha256sum < seen-9.8.7.tar.gz | cut -d' ' -f1)
[ "$(grep -c "$sum" homebrew/seen.rb)" = 1 ] && [ "$(grep -c "$sum" aur/PKGBUILD)" = 1 ]
grep -q '^pkgver=9.8.7$' aur/PKGBUILD && grep -q '/seen-9.8.7.tar.gz"' homebrew/seen.rb
if ./update nothing 2> said; then echo "this must fail: line $LINENO"; exit 1; fi
grep -q usage said

# Plain make installs nothing: it prints the command. The stubs simulate a machine without any dependency.
mkdir -p ../bare/bin ../bare/tools
cd ../bare
cp "$ROOT/tools/deps" tools/
for tool in bash cat rm grep sed env id dirname tail mv chmod head; do
    ln -s "$(command -v $tool)" bin/$tool
done
printf '#!/bin/sh\nexit 1\n' > bin/dpkg-query
printf '#!/bin/sh\ncase $1 in madison) echo x ;; esac\n' > bin/apt-cache
printf '#!/bin/sh\necho "$@" >> %s/asked\n' "$PWD" > bin/apt-get
printf '#!/bin/sh\nexit 1\n' > bin/sudo
chmod +x bin/dpkg-query bin/apt-cache bin/apt-get bin/sudo
make=$(command -v make)
for goal in '' build install; do
    # shellcheck disable=SC2086
    status=0; PATH=$PWD/bin "$make" -f "$ROOT/Makefile" $goal > said 2>&1 || status=$?
    [ $status = 2 ] || { echo "make $goal: status $status"; cat said; exit 1; }
    grep -q "apt-get install -y --no-install-recommends gcc .*libxxhash-dev" said || { cat said; exit 1; }
    [ ! -e asked ] || { echo "make $goal installed something"; exit 1; }
done
