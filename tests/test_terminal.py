"""How things look in a terminal: numbers, texts, and lines that are counted."""

from __future__ import annotations

import io

import pytest

from ebbmem.terminal import console, figure, visible, watched


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0"), (0.25, "0.250"), (5.7888, "5.789"), (0.0004, "4.0e-04"), (-0.5, "-0.500")],
)
def test_numbers_show_what_they_are(value: float, written: str) -> None:
    assert figure(value) == written


def test_ordinary_text_is_shown_as_it_is() -> None:
    assert visible("Ånna 👩‍👧 ☕ naïve") == "Ånna 👩‍👧 ☕ naïve"


def test_lines_pass_a_progress_bar_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [b"one\n", b"two\n"]

    with watched(io.BytesIO(b"".join(lines)), 8) as taken:
        assert list(taken) == lines

    assert capsys.readouterr() == ("", "")
    assert not console().is_terminal
