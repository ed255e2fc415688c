"""Build the two native modules.

``EBBMEM_BUILD`` chooses a build: ``release`` (default), ``debug``, ``asan`` (address
and undefined behaviour), ``tsan`` or ``coverage``.  No file gets flags of its own:
instruction sets are chosen inside the sources, by target regions.
"""

import os
import sys
from glob import glob
from runpy import run_path

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
from setuptools import Extension, setup

VERSION = run_path("ebbmem/_version.py")["__version__"]

COMMON = ["-ffp-contract=off", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra"]
BUILDS: dict[str, tuple[list[str], list[str]]] = {
    "release": (["-O3", "-g0"], []),
    "debug": (["-O0", "-g"], []),
    "asan": (
        [
            *("-O1", "-g1", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS"),
            "-fsanitize=address,undefined,float-cast-overflow",
            # Python's own -fwrapv would give every overflow a meaning, and none was reported.
            "-fno-wrapv",
        ],
        ["-fsanitize=address,undefined"],
    ),
    "tsan": (["-O1", "-g", "-fsanitize=thread"], ["-fsanitize=thread"]),
    "coverage": (["-O0", "-g", "--coverage"], ["--coverage"]),
}


def flags() -> tuple[list[str], list[str]]:
    """Return compile and link flags of the build that EBBMEM_BUILD names."""
    build = os.environ.get("EBBMEM_BUILD", "release")
    if build not in BUILDS:
        raise SystemExit(f"EBBMEM_BUILD must be one of {sorted(BUILDS)}, got {build!r}")
    if sys.platform == "win32":
        return ["/O2", "/fp:precise"], []
    compile_flags, link_flags = BUILDS[build]
    if sys.platform == "linux":
        link_flags = ["-pthread", *link_flags, "-Wl,--version-script=csrc/bindings/export.map"]
    elif sys.platform == "darwin":
        link_flags = [*link_flags, "-Wl,-exported_symbol,_PyInit_*"]
    return [*COMMON, *compile_flags], link_flags


compile_flags, link_flags = flags()
standard = "/std:c++17" if sys.platform == "win32" else "-std=c++17"
headers = sorted(glob("csrc/*/*.h") + glob("csrc/*/*.inl") + glob("csrc/*/*.map"))
# Each extension gets lists of its own: Pybind11Extension adds C++ flags to the one it is given.
core = Pybind11Extension(
    "ebbmem._core",
    sorted(glob("csrc/*/*.cpp")),
    depends=headers,
    include_dirs=["csrc"],
    define_macros=[("EBB_VERSION", f'"{VERSION}"')],
    cxx_std=17,
    extra_compile_args=[*compile_flags],
    extra_link_args=[*link_flags],
)
tokenize = Extension(
    "ebbmem._tokenize",
    ["ebbmem/_tokenize.pyx"],
    depends=[*headers, "ebbmem/_tokenize.pxd"],
    include_dirs=["csrc"],
    language="c++",
    extra_compile_args=[*compile_flags, standard],
    extra_link_args=[*link_flags],
)

ParallelCompile("EBBMEM_BUILD_JOBS", default=0).install()
# Generated C goes to the temporary build folder, never beside the source.
setup(
    ext_modules=[core, tokenize],
    options={"build_ext": {"cython_c_in_temp": True}},
)
