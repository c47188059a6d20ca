"""Builds seen._seen against libseen.

pkg-config finds an installed libseen. SEEN_INCLUDE and SEEN_LIBRARY name a header folder and a
library file (libseen.so or libseen.a) instead; SEEN_LINK adds linker arguments.
"""
import os
import shlex
import subprocess

from setuptools import Extension, setup
from wheel.bdist_wheel import bdist_wheel


def pkg_config(flag):
    try:
        return shlex.split(subprocess.check_output(["pkg-config", flag, "seen"], text=True))
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("seen: libseen was not found; install it (libseen-dev), or set "
                         "PKG_CONFIG_PATH, or SEEN_INCLUDE and SEEN_LIBRARY")


if "SEEN_LIBRARY" in os.environ:
    compile_args = ["-I" + os.environ["SEEN_INCLUDE"]]
    link_args = [os.environ["SEEN_LIBRARY"]] + shlex.split(os.environ.get("SEEN_LINK", ""))
else:
    compile_args, link_args = pkg_config("--cflags"), pkg_config("--libs")


class abi3_wheel(bdist_wheel):
    """One wheel for Python 3.11 and later."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "cp311", "abi3", platform


setup(
    ext_modules=[Extension(
        "seen._seen",
        ["src/module.c", "src/set.c", "src/batch.c", "src/keys.c"],
        depends=["src/binding.h"],
        extra_compile_args=["-std=c17", "-O2", "-Wall", "-Wextra", "-Wno-cast-function-type",
                            "-fvisibility=hidden"] + compile_args,
        extra_link_args=link_args,
        py_limited_api=True)],
    cmdclass={"bdist_wheel": abi3_wheel})
