#!/usr/bin/env bash
# Builds the extension against a build folder of libseen, in place under OUT:
#     build.sh BUILD OUT [extra compiler arguments]
# OUT/seen is then the package (PYTHONPATH=OUT). Used by make python; packagers use setup.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 out=$2
shift 2
python=${PYTHON:-/usr/bin/python3}
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
mkdir -p "$out/seen"
cp "$here"/seen/*.py "$here"/seen/*.pyi "$here"/seen/py.typed "$out/seen/"
"${CC:-cc}" -std=c17 -O2 -g -Wall -Wextra -Werror -Wno-cast-function-type -fPIC -shared -fvisibility=hidden \
    -I"$include" -I"$here/../../include" "$here"/src/*.c -o "$out/seen/_seen.abi3.so" \
    -L"$build" -Wl,-rpath,"$build" -lseen "$@"
