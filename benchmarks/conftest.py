"""What every benchmark shares: the instruction set, the machine, and how a call is timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from processor import processor_name
from timing import Timed

import ebbmem
from ebbmem import _core


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--isa``."""
    parser.addoption("--isa", default="", choices=["", *_core.isas()], help="instruction set")


@pytest.fixture(scope="session", autouse=True)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the benchmarks on one instruction set, by default the best."""
    before = _core.isa()
    _core.choose_isa(request.config.getoption("--isa"))
    yield _core.isa()
    _core.choose_isa(before)


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(
    config: pytest.Config, machine_info: dict[str, Any]
) -> None:
    """Say in saved baselines what they were taken with."""
    machine_info["ebbmem"] = ebbmem.__version__
    machine_info["isa"] = config.getoption("--isa") or _core.isas()[0]
    machine_info["numpy"] = np.__version__
    machine_info["cpu_model"] = processor_name()


@pytest.fixture
def timed(benchmark: Any) -> Timed:
    """Return what times a call and reports per unit."""
    return Timed(benchmark)
