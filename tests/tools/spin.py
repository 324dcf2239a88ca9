"""Running SPIN, exactly: every state stored in full, nothing reduced unless asked for, nothing left unvisited.

SPIN turns a model into a C program (`spin -a`), a C compiler turns that into a verifier. See docs/notebook/cross-checks.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from podrace.model.language import TransitionSystem
from tests.tools.export.promela import to_promela, type_of

TOOLS = ("spin", "gcc")
STATE_VECTOR = 1024
"""How many bytes of state SPIN reserves unless told otherwise."""


FIGURE = r"(?<![\d.])(\d[\d.]*(?:e\+\d+)?)"
"""A number of states, which SPIN prints as %9.8g: from 100,000,000 on it is rounded to eight figures, and has an exponent."""


class ToolFailure(Exception):
    """Another checker did not do what it was asked, so that its answer means nothing."""


@dataclass(frozen=True, slots=True)
class SpinAnswer:
    """What SPIN found. `errors` counts pairs of a state and an invariant that it breaks.

    Numbers from 100,000,000 on are rounded, as SPIN prints them. `search` is SPIN's own figure in seconds, `total` that of the whole command or commands; `memory` is in megabytes.
    """

    states: int
    transitions: int
    errors: int
    search: float
    total: float
    memory: float

    @property
    def holds(self) -> bool:
        """Whether no invariant is ever broken."""
        return self.errors == 0


def verdict(system: TransitionSystem, found: SpinAnswer) -> Literal["HOLDS", "VIOLATED"] | None:
    """What an answer says of all properties of a system together; None where it leaves that open.

    SPIN was asked for invariants only. Of a resettability it knows nothing; of a liveness that is checked, it knows the runs that
    come to rest, which are an invariant of their own, and nothing of those that go on for ever.
    """
    if not found.holds:
        return "VIOLATED"
    return None if system.resettabilities or system.livenesses else "HOLDS"


def missing_tools() -> list[str]:
    """The programs that are needed but not installed."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def run_spin(
    system: TransitionSystem,
    folder: Path,
    *,
    states: int,
    reduction: bool = False,
    options: Sequence[str] = ("-O1",),
) -> SpinAnswer:
    """Search the whole of `system` with SPIN; `folder` is for its files, `options` are the C compiler's.

    `states` is about how many states to expect (see `search`). Raises ToolFailure.
    """
    began = time.perf_counter()
    build(system, folder, reduction=reduction, options=options)
    found = search(folder, states=states)
    return replace(found, total=time.perf_counter() - began)


def build(
    system: TransitionSystem,
    folder: Path,
    *,
    reduction: bool = False,
    options: Sequence[str] = ("-O1",),
    promela: str | None = None,
) -> None:
    """Make the verifier `pan` of a system in `folder`, or of what is written of it in `promela`; `reduction` is SPIN's partial-order reduction."""
    (folder / "model.pml").write_text(promela or to_promela(system), encoding="utf-8")
    _run(["spin", "-a", "-o2", "model.pml"], folder)
    _run(["gcc", "-w", *options, *compiled_for(system, reduction), "-o", "pan", "pan.c"], folder)


def search(folder: Path, *, states: int, to_first_error: bool = False) -> SpinAnswer:
    """Run the verifier in `folder`, to the end unless it may stop at the first error.

    `states` is about how many states to expect: it sizes SPIN's hash table, and a run may be that long and half as
    long again. The numbers leave out what only checks the invariants. Raises ToolFailure if the search was not complete.
    """
    began = time.perf_counter()
    bits = min(30, max(10, states.bit_length() + 1))
    go_on = [] if to_first_error else ["-c0"]
    output = _run(["./pan", *go_on, "-E", "-b", f"-w{bits}", f"-m{states * 3 // 2 + 1000}"], folder)
    return parse(output, time.perf_counter() - began, to_first_error)


def compiled_for(system: TransitionSystem, reduction: bool = False) -> list[str]:
    """The C compiler's options for an exact search of safety properties."""
    width = 64 + sum({"int": 4, "short": 2}.get(type_of(v)[0], 1 + v.bits // 8) for v in system.variables)
    room = [f"-DVECTORSZ={2 * width}"] if 2 * width > STATE_VECTOR else []
    return ["-DSAFETY", *([] if reduction else ["-DNOREDUCE"]), *room]


def parse(output: str, total: float = 0.0, to_first_error: bool = False) -> SpinAnswer:
    """Read what a verifier prints after a search that must have been complete, or have ended at the first error."""
    for trouble in ("max search depth too small", "Search not completed", "out of memory", "DMEMLIM"):
        stopped = to_first_error and trouble == "Search not completed" and "assertion violated" in output
        if trouble in output and not stopped:
            raise ToolFailure(f"SPIN did not search everything: {trouble}")
    for inexact in ("Bit statespace", "Hash-Compact", "hash-compact"):
        if inexact in output:
            raise ToolFailure(f"SPIN was not exact: {inexact}")
    stored = _number(rf"{FIGURE} states, stored", output)
    matched = _number(rf"{FIGURE} states, matched", output)
    errors = _number(r"errors: (\d+)", output)
    seconds = re.search(r"elapsed time ([\d.e+-]+) seconds", output)
    memory = re.search(r"([\d.]+)\s+total actual memory usage", output)
    return SpinAnswer(
        states=stored,
        # The initial state is stored without a transition, and each error is a transition that leads nowhere.
        transitions=stored - 1 + matched - errors,
        errors=errors,
        search=float(seconds[1]) if seconds else 0.0,
        total=total,
        memory=float(memory[1]) if memory else 0.0,
    )


def _number(pattern: str, output: str) -> int:
    found = re.search(pattern, output)
    if found is None:
        raise ToolFailure(f"SPIN's output has no `{pattern}`: {output[-500:]}")
    return round(float(found[1]))


def _run(command: Sequence[str], folder: Path) -> str:
    ran = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    output = ran.stdout + ran.stderr
    # SPIN's own exit code does not tell a syntax error from success in all versions.
    if ran.returncode != 0 or re.search(r"^spin: .*Error", output, re.M):
        raise ToolFailure(f"{' '.join(command)} failed with code {ran.returncode}: {output[-1000:]}")
    return output
