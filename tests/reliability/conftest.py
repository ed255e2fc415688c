"""Where processes cannot be forked there is nothing to run here."""

from __future__ import annotations

import os

collect_ignore_glob = [] if hasattr(os, "fork") else ["test_*.py"]
