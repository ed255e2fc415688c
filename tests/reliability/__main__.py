"""``python tests/reliability``: the scorecard; see ``--help``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The modules of this folder are those of a package; ebbmem may be installed, or built in place.
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if p != str(HERE)), str(HERE.parents[1])]

from reliability.scorecard import main  # noqa: E402 - the path first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
