"""A log of spaced-repetition reviews."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path

from ebbmem.calibrate import Review


def reviews(path: Path) -> list[Review]:
    """Read the file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Review(
                row["card_id"],
                datetime.fromisoformat(row["review_time"]),
                int(row["review_rating"]),
            )
            for row in csv.DictReader(file)
        ]
