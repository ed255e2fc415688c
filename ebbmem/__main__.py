"""``python -m ebbmem``: the command line, where its packages are installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_NEEDED = ("typer", "rich", "click")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 for success, 1 for an error, 2 for wrong usage, 130 after Ctrl-C.
    """
    try:
        from ebbmem.cli import run  # noqa: PLC0415
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        sys.stderr.write(
            f"ebbmem: the command line needs {error.name}; pip install 'ebbmem[cli]'\n"
        )
        return 2
    except KeyboardInterrupt:
        return 130
    return run(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
