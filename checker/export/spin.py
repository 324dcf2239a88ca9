"""Running SPIN, exactly: every state stored in full, nothing reduced unless asked for, nothing left unvisited.

SPIN turns a model into a C program (`spin -a`), a C compiler turns that into a verifier. See docs/cross-checks.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...model.language import TransitionSystem
from .promela import to_promela, type_of

TOOLS = ("spin", "gcc")
STATE_VECTOR = 1024
"""How many bytes of state SPIN reserves unless told otherwise."""


class ToolFailure(Exception):
    """Another checker did not do what it was asked, so that its answer means nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """What SPIN found. `errors` counts pairs of a state and an invariant that it breaks."""

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
    timeout: float | None = None,
) -> Found:
    """Search the whole of `system` with SPIN; `folder` is for its files.

    `states` is about how many states to expect: it sizes SPIN's hash table, and a run may be that long and half as
    long again. The numbers leave out what only checks the invariants. Raises ToolFailure if the search was not complete.
    """
    began = time.perf_counter()
    (folder / "model.pml").write_text(to_promela(system), encoding="utf-8")
    _run(["spin", "-a", "-o2", "model.pml"], folder, timeout)
    _run(["gcc", "-w", *options, *compiled_for(system, reduction), "-o", "pan", "pan.c"], folder, timeout)
    bits = min(30, max(10, states.bit_length() + 1))
    output = _run(["./pan", "-c0", "-E", "-b", f"-w{bits}", f"-m{states * 3 // 2 + 1000}"], folder, timeout)
    return parse(output, time.perf_counter() - began)


def compiled_for(system: TransitionSystem, reduction: bool = False) -> list[str]:
    """The C compiler's options for an exact search of safety properties."""
    width = 64 + sum({"int": 4, "short": 2}.get(type_of(v)[0], 1 + v.bits // 8) for v in system.variables)
    room = [f"-DVECTORSZ={2 * width}"] if 2 * width > STATE_VECTOR else []
    return ["-DSAFETY", *([] if reduction else ["-DNOREDUCE"]), *room]


def parse(output: str, total: float = 0.0) -> Found:
    """Read what a verifier prints after a search that must have been complete."""
    for trouble in ("max search depth too small", "Search not completed", "out of memory", "DMEMLIM"):
        if trouble in output:
            raise ToolFailure(f"SPIN did not search everything: {trouble}")
    for inexact in ("Bit statespace", "Hash-Compact", "hash-compact"):
        if inexact in output:
            raise ToolFailure(f"SPIN was not exact: {inexact}")
    stored, matched = _number(r"(\d+) states, stored", output), _number(r"(\d+) states, matched", output)
    errors = _number(r"errors: (\d+)", output)
    seconds = re.search(r"elapsed time ([\d.e+-]+) seconds", output)
    memory = re.search(r"([\d.]+)\s+total actual memory usage", output)
    return Found(
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
    return int(found[1])


def _run(command: Sequence[str], folder: Path, timeout: float | None) -> str:
    ran = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        check=False,
    )
    output = ran.stdout + ran.stderr
    # SPIN's own exit code does not tell a syntax error from success in all versions.
    if ran.returncode != 0 or re.search(r"^spin: .*Error", output, re.M):
        raise ToolFailure(f"{' '.join(command)} failed with code {ran.returncode}: {output[-1000:]}")
    return output
