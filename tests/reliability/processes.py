"""Processes of a harness: forked from one that has ebbmem loaded and never had a store open."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any

from reliability import plants
from reliability.results import Result

HERE = Path(__file__).resolve().parent
_SET_DEATH_SIGNAL = 1
_SHARED_MEMORY = Path("/dev/shm")
TELL_STACKS = signal.SIGUSR1
"""Lets a process write down where each of its threads is, also one inside native code."""
TELLING_S = 0.5
STARTS_S = 60
"""What a harness may take to start and to judge, beside the time that it is given."""


class WorkerFailed(Exception):
    """A worker raised; the message is its traceback."""


class Worker:
    """A forked process that runs ``work(pipe)`` and ends.

    Parameters
    ----------
    work : callable
        Gets its end of a two-way pipe.
    planted : bool
        Whether the fault that was chosen for this run is planted in it.
    """

    def __init__(self, work: Callable[[Connection], None], *, planted: bool = True) -> None:
        self.pipe, theirs = Pipe()
        self._stacks: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self.pid = os.fork()
        if self.pid == 0:
            self.pipe.close()
            faulthandler.register(TELL_STACKS, self._stacks)
            _run(work, theirs, planted)
        theirs.close()
        self.status: int | None = None
        self.silent = False
        """Whether it has said its last word, and that was heard."""

    def receive(self, timeout_s: float = 120.0) -> Any:
        """Return the next message.

        Raises
        ------
        WorkerFailed
            If the worker raised, ended or said nothing for so long; then the message tells where
            its threads are.
        """
        if not self.pipe.poll(timeout_s):
            said = f"process {self.pid} said nothing for {timeout_s:g} s"
            raise WorkerFailed(f"{said}\n{self.stacks()}")
        try:
            message = self.pipe.recv()
        except (EOFError, OSError) as exc:
            raise WorkerFailed(f"process {self.pid} ended") from exc
        if isinstance(message, _Raised):
            raise WorkerFailed(message.text)
        return message

    def waiting(self) -> Iterator[Any]:
        """Yield the messages that are there; what a killed worker cut short is left out."""
        try:
            while not self.silent and self.pipe.poll():
                message = self.pipe.recv()
                if isinstance(message, _Raised):
                    raise WorkerFailed(message.text)
                yield message
        except (EOFError, OSError):
            self.silent = True

    def signal(self, number: int) -> None:
        """Send a signal, if the process is there."""
        if self.status is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once, and wait until it has ended."""
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self, timeout_s: float = 120.0) -> int:
        """Wait for the end of the process; return its exit code, -9 for a kill."""
        deadline = time.monotonic() + timeout_s
        nap_s = 0.0005
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                stacks = self.stacks()
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.status = -signal.SIGKILL
                said = f"process {self.pid} did not end within {timeout_s:g} s"
                raise WorkerFailed(f"{said}\n{stacks}")
            else:
                time.sleep(nap_s)
                nap_s = min(2 * nap_s, 0.01)
        return self.status

    def stacks(self) -> str:
        """Return where each thread of the process is now."""
        self.signal(TELL_STACKS)
        time.sleep(TELLING_S)
        self._stacks.seek(0)
        return self._stacks.read().decode(errors="replace")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.pipe.close()
        self._stacks.close()


class _Raised:
    """What a worker says when it raised."""

    def __init__(self, text: str) -> None:
        self.text = text


def _run(work: Callable[[Connection], None], pipe: Connection, planted: bool) -> None:
    """Run a worker in a process that was just forked, and end it."""
    status = 1
    try:
        end_with_parent()
        if planted:
            plants.plant_chosen()
        work(pipe)
        status = 0
    except BaseException:  # noqa: BLE001 - told to the parent
        with suppress(OSError, ValueError):
            pipe.send(_Raised(traceback.format_exc()))
    finally:
        os._exit(status)


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that forked it dies."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def answer_of(work: Callable[[], Any], timeout_s: float = 120.0) -> Any:
    """Return what ``work()`` returns in a fresh process without a planted fault."""

    def answer(pipe: Connection) -> None:
        pipe.send(work())

    with Worker(answer, planted=False) as worker:
        return worker.receive(timeout_s)


@contextmanager
def folder() -> Iterator[Path]:
    """Yield an empty folder, in memory where the system has one for that; removed at the end."""
    where = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    path = Path(tempfile.mkdtemp(prefix="ebbmem-", dir=where))
    owner = os.getpid()
    try:
        yield path
    finally:
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)


def python(*arguments: str, plant: str | None = None, **options: Any) -> subprocess.Popen[str]:
    """Start a fresh Python process that finds what this one finds."""
    environment = {k: v for k, v in os.environ.items() if k != plants.VARIABLE}
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    if plant is not None:
        environment[plants.VARIABLE] = plant
    return subprocess.Popen([sys.executable, *arguments], env=environment, text=True, **options)


def apart(figure: str, *, plant: str | None = None, **options: Any) -> Result:
    """Run ``measure(**options)`` of a module of this package in a process of its own.

    So it may fork: the process that asks may have threads, and stores open.

    Raises
    ------
    WorkerFailed
        If it raised, or had not ended long after the ``seconds`` that it was given.
    """
    asked = ["--call", figure, "measure", json.dumps(options)]
    process = python(str(HERE), *asked, plant=plant, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # Longer than the longest wait for a worker, whose stacks it then tells.
        out, err = process.communicate(timeout=options["seconds"] + 4 * STARTS_S)
    except subprocess.TimeoutExpired:
        process.send_signal(TELL_STACKS)
        time.sleep(TELLING_S)
        process.kill()
        _, err = process.communicate()
        raise WorkerFailed(f"{figure} did not end\n{err}") from None
    if process.returncode:
        raise WorkerFailed(err)
    return Result.from_json(out.splitlines()[-1])
