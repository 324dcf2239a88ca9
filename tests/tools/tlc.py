"""Running TLC, the model checker of TLA+. It stores 64-bit fingerprints of states, not the states themselves."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from podrace.model.language import TransitionSystem
from tests.tools.export.tlaplus import to_tlaplus
from tests.tools.spin import ToolFailure


@dataclass(frozen=True, slots=True)
class TlcAnswer:
    """What TLC found. `depth` is podrace's: the initial state is at 0. Unless `complete`, it stopped at a violation.

    `run` is the number of steps of the last counterexample that it prints, which is a shortest one: it searches breadth-first.
    `transitions` are told only if it is complete.
    """

    complete: bool
    states: int
    depth: int
    violated: frozenset[str]
    run: int | None = None
    transitions: int | None = None


def run_tlc(
    system: TransitionSystem,
    folder: Path,
    jar: Path,
    *,
    go_on: bool = False,
) -> TlcAnswer:
    """Search the whole of `system` with TLC, or up to the first violation unless told to `go_on`.

    `folder` is for its files. Of the invariants that one state breaks TLC names the first. Raises ToolFailure
    if it does neither reach the end nor find a violation.
    """
    module = to_tlaplus(system, name="model")
    (folder / "model.tla").write_text(module.text, encoding="utf-8")
    (folder / "model.cfg").write_text(f"{module.configuration}INVARIANT Type\n", encoding="utf-8")
    command = [
        "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", f"-Djava.io.tmpdir={folder}", "-cp", str(jar),
        "tlc2.TLC", *(["-continue"] if go_on else []), "-workers", "1", "-config", "model.cfg", "model.tla",
    ]  # fmt: skip
    ran = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return parse(ran.stdout + ran.stderr)


def parse(output: str) -> TlcAnswer:
    """Read what TLC prints after a search that must have ended."""
    counts = re.search(r"(\d+) states generated, (\d+) distinct states found, (\d+) states left", output)
    depth = re.search(r"depth of the complete state graph search is (\d+)", output)
    violated = frozenset(re.findall(r"Invariant (\w+) is violated", output))
    complete = counts is not None and counts[3] == "0" and depth is not None
    if not (complete or violated) or "Type" in violated:
        raise ToolFailure(f"TLC did not search everything: {output[-1500:]}")
    return TlcAnswer(
        complete=complete,
        states=int(counts[2]) if counts else 0,
        depth=int(depth[1]) - 1 if depth else 0,
        violated=violated,
        run=int(numbers[-1]) - 1 if (numbers := re.findall(r"^State (\d+):", output, re.M)) else None,
        # The initial state is generated, too.
        transitions=int(counts[1]) - 1 if counts and complete else None,
    )
