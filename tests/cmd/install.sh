# An installed copy can be used with pkg-config and with CMake, shared and static.
set -eu
prefix=$TMP/prefix
cmake --install "$BUILD" --prefix "$prefix" > install.log
# Every command has its manual page.
for command in $("$SEEN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    [ -s "$prefix/share/man/man1/seen-$command.1" ] || { echo "no manual page of $command is installed"; exit 1; }
done
cat > ten.c <<'C'
#include <seen.h>
#include <stdio.h>
int main(void)
{
    seen_options options = {.size = sizeof options, .capacity = 1000, .error_rate = 0.01};
    seen_set *set;
    seen_answer first, second;
    if (seen_create(NULL, &options, 0, &set, NULL) != SEEN_OK) return 1;
    seen_add(set, "key", 3, &first, NULL); seen_add(set, "key", 3, &second, NULL); seen_close(set);
    return printf("%s %s %s\n", first == SEEN_NEW ? "new" : "seen", second == SEEN_NEW ? "new" : "seen", seen_version()) < 0;
}
C
sanitize=$(sed -n 's/^SEEN_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$BUILD/CMakeCache.txt")
libdir=$(dirname "$(find "$prefix" -name libseen.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
[ "$(pkg-config --cflags seen)" = "-I$prefix/include " ] || [ "$(pkg-config --cflags seen)" = "-I$prefix/include" ] ||
    { echo "pkg-config --cflags has more than our own folder: $(pkg-config --cflags seen)"; exit 1; }
# shellcheck disable=SC2046,SC2086
cc $sanitize -o ten ten.c $(pkg-config --cflags --libs seen)
[ "$(LD_LIBRARY_PATH=$libdir ./ten)" = "new seen 0.1.0" ] || { echo "shared: wrong answer"; exit 1; }
# shellcheck disable=SC2046,SC2086
cc $sanitize -o ten-static ten.c -I"$prefix/include" "$libdir/libseen.a" $(pkg-config --static --libs-only-l seen | sed 's/-lseen //')
[ "$(./ten-static)" = "new seen 0.1.0" ] || { echo "static: wrong answer"; exit 1; }

# C++ programs can include the header.
cat > ten.cc <<'C'
#include <seen.h>
#include <cstdio>
int main()
{
    seen_options options = {};
    options.size = sizeof options;
    options.capacity = 1000;
    options.error_rate = 0.01;
    seen_set *set = nullptr;
    seen_answer first, second;
    seen_error error = {};
    if (seen_create(nullptr, &options, 0, &set, &error) != SEEN_OK) return 1;
    seen_add(set, "key", 3, &first, &error);
    seen_add(set, "key", 3, &second, &error);
    seen_close(set);
    return std::printf("%s %s %s\n", first == SEEN_NEW ? "new" : "seen", second == SEEN_NEW ? "new" : "seen", seen_version()) < 0;
}
C
# shellcheck disable=SC2046,SC2086
c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $sanitize -o ten-c++ ten.cc $(pkg-config --cflags --libs seen)
[ "$(LD_LIBRARY_PATH=$libdir ./ten-c++)" = "new seen 0.1.0" ] || { echo "C++: wrong answer"; exit 1; }
cat > CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.18)
project(ten C)
find_package(seen 0.1 REQUIRED)
add_executable(ten ten.c)
target_link_libraries(ten seen::seen)
C
cmake -S . -B b -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$sanitize" > cmake.log && cmake --build b > build.log || { cat cmake.log build.log; exit 1; }
[ "$(b/ten)" = "new seen 0.1.0" ] || { echo "cmake: wrong answer"; exit 1; }
# The shared library exports only seen_ symbols, and has a SONAME.
if nm -D --defined-only "$libdir"/libseen.so | awk '{print $3}' | grep -v -e '^seen_' -e '^__' -e '^_init$' -e '^_fini$' | grep .; then
    echo "symbols leak from libseen.so"; exit 1
fi
readelf -d "$libdir/libseen.so" | grep -q 'SONAME.*libseen.so.0' || { echo "no SONAME"; exit 1; }
[ "$(ls "$prefix/include")" = seen.h ] || { echo "more than seen.h was installed"; exit 1; }

# The Makefile runs ldconfig only for a real installation, and uninstalls from where it installed. The build and install
# commands are stubs.
mkdir -p errand/build errand/tools errand/bin errand/usr/bin
cd errand || exit 1
printf '#!/bin/sh\nexit 0\n' > tools/deps
cp tools/deps bin/cmake
printf '#!/bin/sh\necho 0\n' > bin/id
printf '#!/bin/sh\ntouch %s/told\n' "$PWD" > bin/ldconfig
chmod +x tools/deps bin/*
errand() { PATH=$PWD/bin:$PATH make -s -f "$ROOT/Makefile" "$@" > said 2>&1; }
errand install DESTDIR="$PWD/stage one" || { cat said; exit 1; }
[ ! -e told ] || { echo "ldconfig was run for DESTDIR"; exit 1; }
errand install || { cat said; exit 1; }
[ -e told ] || { echo "ldconfig was not run"; exit 1; }
errand uninstall && { echo "uninstall without a list of files"; exit 1; }
touch usr/bin/seen
mkdir -p "stage one$PWD/usr/bin"
touch "stage one$PWD/usr/bin/seen"
printf '%s' "$PWD/usr/bin/seen" > build/install_manifest.txt
errand uninstall DESTDIR="$PWD/stage one" || { cat said; exit 1; }
[ -e usr/bin/seen ] || { echo "uninstall from DESTDIR removed the real file"; exit 1; }
[ ! -e "stage one$PWD/usr/bin/seen" ] || { echo "uninstall left the file in DESTDIR"; exit 1; }
errand uninstall || { cat said; exit 1; }
[ ! -e usr/bin/seen ] || { echo "uninstall left the file"; exit 1; }
