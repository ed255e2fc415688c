"""What the columns derive from themselves keeps step with them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem.columns import ALWAYS_US, NEVER_US, Columns
from ebbmem.decay import Ebbinghaus
from ebbmem.records.base import IndexRow

S = 1_000_000
NOW_US = 1_700_000_000 * S


def row(row_id: int) -> IndexRow:
    return IndexRow(
        row_id=row_id,
        memory_type="episodic",
        importance=float(row_id % 10 + 1),
        emotional_valence=0.0,
        emotional_intensity=0.0,
        storage_strength=0.1,
        r_anchor=0.55,
        anchored_at=NOW_US,
        access_count=1,
        created_at=NOW_US - 100 * S * row_id,
        valid_from=None,
        valid_to=None,
        expires_at=None,
        pinned=0,
        tier=0,
        superseded_by=None,
        run_id=None,
    )


def weights(columns: Columns, rate: float) -> list[float]:
    fading = columns.fading()
    return fading.log_weights(np.arange(fading.size), NOW_US, rate).tolist()


def lawful(columns: Columns, rate: float) -> list[float]:
    """The law's own column, with the dead forgotten altogether."""
    law = Ebbinghaus(rate)
    known = np.where(columns.alive, law.log_weights(columns.traces(), NOW_US), -math.inf)
    return [float(weight) for weight in known]


def test_fading_lines_start_with_what_is_there_and_follow_every_change() -> None:
    columns = Columns()
    assert columns.fading().size == 0
    columns.append([row(n) for n in range(1, 90)])
    columns.drop([3, 17])
    assert weights(columns, 0.05) == lawful(columns, 0.05)
    columns.append([row(n) for n in range(90, 300)])
    columns.drop([3, 120])
    assert weights(columns, 0.001) == lawful(columns, 0.001)


def test_fading_lines_asked_for_late_are_the_same() -> None:
    columns = Columns()
    columns.append([row(n) for n in range(1, 90)])
    columns.drop([5])
    before = columns.bytes
    assert weights(columns, 0.05) == lawful(columns, 0.05)
    assert columns.bytes > before


def test_a_mask_that_is_handed_out_again_cannot_be_written_to() -> None:
    columns = Columns()
    mask = columns.mask(0, as_of_us=None, run=None, archive=False)
    with pytest.raises(ValueError, match="read-only"):
        mask[:] = True


SELDOM = {
    "valid_from": (None, -5, 0, NOW_US),
    "valid_to": (None, 0, NOW_US),
    "expires_at": (None, 0, NOW_US),
    "superseded_by": (None, 1, 9),
    "emotional_valence": (0.0, -0.5, 1.0),
    "memory_type": ("episodic", "semantic", "r"),
    "run_id": (None, "r", "s"),
    "pinned": (0, 1),
}
batches = st.lists(
    st.lists(st.fixed_dictionaries({k: st.sampled_from(v) for k, v in SELDOM.items()}), max_size=12)
    | st.lists(st.just({}), max_size=12),
    max_size=6,
)
changes = st.lists(
    st.tuples(st.sampled_from(("tier", "successor", "kind")), st.integers(0, 3)), max_size=3
)


class PlainColumns:
    """The oracle: rows in a list, each column read off them."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []
        self.dead: set[int] = set()

    def append(self, rows: list[IndexRow]) -> None:
        self.rows += [row._asdict() for row in rows]

    def names(self, slots: Iterable[int]) -> set[object]:
        """Return the types and runs of some."""
        return {self.rows[slot][key] for slot in slots for key in ("memory_type", "run_id")}

    def told(self) -> dict[str, list[object]]:
        def each(name: str, missing: object = None) -> list[object]:
            return [missing if row[name] is None else row[name] for row in self.rows]

        return {
            "row": each("row_id"),
            "created_us": each("created_at"),
            "importance": each("importance"),
            "intensity": each("emotional_intensity"),
            "valence": each("emotional_valence"),
            "strength": each("storage_strength"),
            "tier": each("tier"),
            "valid_from_us": each("valid_from", ALWAYS_US),
            "valid_to_us": each("valid_to", NEVER_US),
            "expires_us": each("expires_at", NEVER_US),
            "successor": each("superseded_by", 0),
            "pinned": [bool(row["pinned"]) for row in self.rows],
            "alive": [slot not in self.dead for slot in range(len(self.rows))],
        }


@given(batches, changes, st.sets(st.integers(0, 30)))
def test_columns_are_the_rows_read_downwards(taken, changed, dropped):
    columns, plain, last = Columns(), PlainColumns(), 0
    for batch in taken:
        rows = [row(last + n)._replace(**values) for n, values in enumerate(batch, 1)]
        last += len(batch)
        assert columns.append(rows) == len(plain.rows)
        plain.append(rows)
        for name, value in changed if plain.rows else []:
            codes = {"episodic": columns.code("episodic"), "semantic": columns.code("semantic")}
            word = ("episodic", "semantic")[value % 2]
            columns.set(last // 2, **{name: codes[word] if name == "kind" else value})
            key, told = {"kind": ("memory_type", word), "successor": ("superseded_by", value)}.get(
                name, (name, value)
            )
            plain.rows[last // 2][key] = told
        gone = [slot for slot in dropped if slot < last]
        columns.drop(gone)
        plain.dead.update(gone)
        told = plain.told()
        assert {name: getattr(columns, name).tolist() for name in told} == told
        live = [slot for slot in range(len(plain.rows)) if slot not in plain.dead]
        for name, key in (("kind", "memory_type"), ("run", "run_id")):
            codes = [columns.code(plain.rows[slot][key]) for slot in live]
            assert getattr(columns, name)[live].tolist() == codes
        # The test itself asks for the codes of the other two.
        erased = plain.names(plain.dead) - plain.names(live) - {"episodic", "semantic"}
        assert erased.isdisjoint(columns.names)
        assert list(columns.names.values()) == list(range(len(columns.names)))
        assert len(columns) == len(plain.rows)
        assert columns.any_superseded >= any(told["successor"])


def test_columns_of_usual_values_take_66_bytes_a_memory():
    columns = Columns()
    columns.append([row(n) for n in range(1, 1_001)])
    beside = 130  # the name of their one type
    assert columns.bytes == 66 * 1_000 + 10 * 250 + beside
    columns.append([row(1_001)])
    assert columns.bytes == 66 * 1_258 + 10 * 250 + beside
    columns.set(7, successor=0)
    assert columns.bytes == 66 * 1_258 + 10 * 250 + beside
    columns.set(7, successor=9)
    assert columns.bytes == 74 * 1_258 + 11 * 250 + beside


def test_memories_that_cannot_be_taken_in_leave_everything_as_it_was():
    columns = Columns()
    columns.append([row(1), row(2)])
    for bad in ({"importance": "much"}, {"valid_from": 1 << 70}, {"emotional_valence": "sad"}):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            columns.append([row(3), row(4)._replace(**bad)])
        assert (len(columns), columns.row.tolist(), columns.live) == (2, [1, 2], 2)
    assert columns.append([row(3)]) == 2
    assert columns.row.tolist() == [1, 2, 3]
    assert columns.valid_from_us.tolist() == [ALWAYS_US] * 3
    assert columns.valence.tolist() == [0.0] * 3


def test_a_column_that_takes_no_memory_cannot_be_written_to():
    columns = Columns()
    columns.append([row(1)])
    with pytest.raises(ValueError, match="read-only"):
        columns.successor[0] = 5
