"""Check what a source distribution and the wheel built from it hold."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_WHEEL_BYTES = 3 * 1024 * 1024
SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".h", ".inl", ".map", ".pyx", ".pxd")


def expected_sources() -> set[str]:
    """Return what cannot be built or read without."""
    folders = [ROOT / "csrc", ROOT / "ebbmem"]
    suffixes = {".cpp", ".h", ".inl", ".map", ".py", ".pyi", ".pxd", ".pyx", ".sql", ".typed"}
    found = [path for folder in folders for path in folder.rglob("*")]
    wanted = [p for p in found if p.suffix in suffixes or p.name == "py.typed"]
    top = [ROOT / name for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE")]
    return {path.relative_to(ROOT).as_posix() for path in [*wanted, *top]}


def check_sdist(path: Path) -> list[str]:
    """Return what is wrong with a source distribution."""
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    generated = [name for name in held if name.endswith((".c", ".so"))]
    missing = [f"sdist lacks {name}" for name in sorted(expected_sources() - held)]
    return missing + [f"sdist holds {name}, which is generated" for name in generated]


def check_wheel(path: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as archive:
        held = set(archive.namelist())
    wrong = [f"wheel holds {name}" for name in sorted(held) if name.endswith(SOURCE_SUFFIXES)]
    tops = {name.partition("/")[0] for name in held}
    wrong += [f"wheel holds {top}" for top in tops if not top.startswith("ebbmem")]
    package = {name for name in expected_sources() if name.startswith("ebbmem/")}
    needed = {name for name in package if not name.endswith((".pxd", ".pyx"))}
    wrong += [f"wheel lacks {name}" for name in sorted(needed - held)]
    native = sorted(name.split(".")[0] for name in held if name.endswith((".so", ".pyd")))
    if native != ["ebbmem/_core", "ebbmem/_tokenize"]:
        wrong.append(f"wheel has native modules {native}")
    if path.stat().st_size > MOST_WHEEL_BYTES:
        wrong.append(f"wheel has {path.stat().st_size} bytes, more than {MOST_WHEEL_BYTES}")
    return wrong


def main() -> None:
    """Check the two files named on the command line; end with 1 where something is wrong."""
    sdist, wheel = (Path(name) for name in sys.argv[1:3])
    wrong = check_sdist(sdist) + check_wheel(wheel)
    for line in wrong:
        print(line)
    print(f"{sdist.name}: {sdist.stat().st_size} bytes, {wheel.name}: {wheel.stat().st_size} bytes")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
