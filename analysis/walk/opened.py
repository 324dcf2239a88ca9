"""What a walk begins with: a scenario in any release, or a stored trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...base.problems import UsageProblem
from ...reports.stored import MAX_BYTES, is_trace
from ..request.plan import Selection
from ..stored.replayed import read_trace
from .explorer import Explorer
from .stored_walk import explorer_of
from .walk import Walk
from .walked import walked_run


def opened(selection: Selection, line: str = "") -> tuple[Explorer, Walk]:
    """The system that a selection of one scenario or trace means, and the walk that the trace and `line` tell. Raises Problem."""
    (name,) = selection.names
    if _is_trace(Path(name)):
        if replace(selection, names=(), own={}, patches=()) != Selection():
            raise UsageProblem(
                f"{name}: a trace has the release, the fixes and the gates that it was found with: leave out these options"
            )
        explorer, walk = explorer_of(read_trace(Path(name)), name, selection.own, selection.patches)
    else:
        explorer, walk = Explorer(walked_run(selection)), Walk()
    return explorer, explorer.along(walk, line) if line else walk


def _is_trace(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return is_trace(stream.read(MAX_BYTES))
    except OSError:
        return False
