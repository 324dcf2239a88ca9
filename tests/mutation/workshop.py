"""A copy of the tree in which one mutant at a time is tested; the checkout stays as it is.

Each run of pytest is a fork of this process, which has the large libraries loaded and nothing of podrace. The copy is the
podrace that a fork imports: its folder is called so, and stands first on the path.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MUTATED = ("checker", "model")
LIBRARIES = ("hypothesis", "llvmlite.binding", "msgspec", "numpy", "pytest", "rich", "typer", "yaml", "z3")
MOST_MEMORY = 6 << 30
MOST_OF_A_TEST = {"fast": 15.0, "ci": 90.0}
"""Seconds of the processor that one test may take, by profile: without a mutant, hardly one takes half as long."""

Reached = dict[str, set[str]]
"""For each file the names of functions that ran, or of which native code was made."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of some test files came to. `end`: passed, failed, or timeout."""

    end: str
    failed: str
    seconds: float
    reached: Mapping[str, set[str]] = field(default_factory=dict)


def preload() -> None:
    """Load what every run needs."""
    for name in LIBRARIES:
        __import__(name)


@contextlib.contextmanager
def workshop() -> Iterator[Workshop]:
    """A fresh copy of what git knows of the tree, changed files included."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) / "podrace"
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
        )  # fmt: skip
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
        subprocess.run([sys.executable, "-m", "compileall", "-q", *(tree / f for f in ("checker", "model", "tests"))])  # fmt: skip
        yield Workshop(tree)


class Workshop:
    """The copy."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree

    def run(
        self,
        files: Sequence[str],
        seconds: float,
        profile: str = "fast",
        *,
        without: Sequence[str] = (),
        recording: bool = False,
    ) -> Outcome:
        """Run these test files, without some tests, up to the first failure, for so many seconds of the processor."""
        shutil.rmtree(self.tree / ".hypothesis", ignore_errors=True)
        note = self.tree.parent / "note.json"
        for old in (note, note.with_suffix(".test")):
            old.unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._work(
                [*files, *(f"--deselect={test}" for test in without)], seconds, profile, recording, note
            )
        signalled = _waited(child, seconds)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if signalled in (signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL):
            begun = note.with_suffix(".test")
            return Outcome("timeout", begun.read_text() if begun.exists() else "", used)
        if not note.exists():
            return Outcome("failed", "died", used)
        told = json.loads(note.read_text())
        reached = {file: set(names) for file, names in told["reached"].items()}
        return Outcome("failed" if told["failed"] or told["status"] not in (0, 5) else "passed", told["failed"], used, reached)  # fmt: skip

    def _work(self, files: Sequence[str], seconds: float, profile: str, recording: bool, note: Path) -> None:
        """The life of a fork."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        output = os.open(note.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(self.tree)
        os.environ.update(
            PODRACE_TESTS=profile, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=f"{self.tree.parent}"
        )
        sys.dont_write_bytecode = True
        sys.path[:] = [str(self.tree.parent), *(p for p in sys.path if p not in ("", str(ROOT)))]
        for name in [n for n in sys.modules if n.partition(".")[0] in ("tests", "podrace")]:
            del sys.modules[name]
        sys.modules["__main__"] = ModuleType(
            "__main__"
        )  # else processes that tests start would begin with this one's
        import hypothesis
        import pytest

        # Nobody reads the examples: the first one that fails is enough.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")
        recorder = _Recorder(self.tree)
        watcher = _Watcher(
            note.with_suffix(".test"),
            MOST_OF_A_TEST["ci" if recording else profile],
            recorder if recording else None,
        )
        chosen = "not campaign and not nightly and not real and not lockstep" + (
            " and not ci" if profile == "fast" else ""
        )
        status = pytest.main(
            ["-q", "-x", "--tb=line", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-m", chosen, *files],
            plugins=[watcher],
        )
        sys.settrace(None)
        note.write_text(
            json.dumps({"status": int(status), "failed": watcher.failed, "reached": recorder.told()})
        )
        os._exit(0)


def _waited(child: int, seconds: float) -> int:
    """Wait for a fork: the signal that ended it, or 0. Who takes far longer than its processor time is ended, with all that it started."""
    deadline = time.monotonic() + 6 * seconds + 60
    done, status = 0, 0
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class _Watcher:
    """A plug-in for pytest that notes which test began last, and which failed first."""

    def __init__(self, begun: Path, most: float, recorder: _Recorder | None) -> None:
        self.failed = ""
        self._begun = begun
        self._most = most
        self._recorder = recorder

    def pytest_runtest_setup(self, item: Any) -> None:
        self._begun.write_text(item.nodeid)
        # Whatever runs then, native code too, is ended: the signal's default.
        signal.setitimer(signal.ITIMER_PROF, self._most)
        if self._recorder is not None:
            self._recorder.start()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (import)"


class _Recorder:
    """Notes each function of the mutated folders that is called, and each kernel that is compiled.

    Of each test the first calls alone: that is what tells files apart, and a call takes ten times as long while it is watched.
    """

    MOST_CALLS = 300_000

    def __init__(self, tree: Path) -> None:
        self._tree = f"{tree}{os.sep}"
        self._seen: set[Any] = set()
        self._left = 0

    def start(self) -> None:
        """Watch the calls of one more test."""
        self._left = self.MOST_CALLS
        threading.settrace(self)
        sys.settrace(self)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        self._left -= 1
        if self._left < 0:
            sys.settrace(None)
        if code.co_name == "_tree_of":
            kernel = frame.f_locals.get("function")
            self._seen.add(getattr(kernel, "__code__", code))
        self._seen.add(code)

    def told(self) -> dict[str, list[str]]:
        """The functions by file; one is known by its name and its first line."""
        found: dict[str, set[str]] = {}
        for code in self._seen:
            name = os.path.realpath(code.co_filename).removeprefix(os.path.realpath(self._tree) + os.sep)
            if name.startswith(MUTATED):
                found.setdefault(name, set()).add(f"{code.co_name}:{code.co_firstlineno}")
        return {name: sorted(functions) for name, functions in found.items()}
