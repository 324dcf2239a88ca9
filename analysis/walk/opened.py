"""What a walk begins with: a scenario in any release, a stored trace, or a system of one's own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...base.problems import UsageProblem
from ...reports.stored import MAX_BYTES, is_trace
from ..own_systems import names_own_system, own_system
from ..request.plan import Selection
from ..stored.replayed import read_trace
from .explorer import Explorer, ScenarioExplorer
from .own_explorer import OwnExplorer
from .stored_walk import explorer_of
from .walk import Walk
from .walked import walked_run


def opened(selection: Selection, line: str = "", sizes: Sequence[str] = ()) -> tuple[Explorer, Walk]:
    """The system that a selection of one scenario, trace or system of one's own means, and the walk that the trace and `line` tell. Raises Problem."""
    (name,) = selection.names
    explorer: Explorer
    walk = Walk()
    if names_own_system(name):
        if replace(selection, names=()) != Selection():
            raise UsageProblem(
                f"{name}: a system of your own has no releases, changes and gates: leave out these options"
            )
        explorer = OwnExplorer(own_system(name, sizes))
    elif sizes:
        raise UsageProblem("--size is for a system of your own: leave it out")
    elif _is_trace(Path(name)):
        if replace(selection, names=(), own={}, patches=()) != Selection():
            raise UsageProblem(
                f"{name}: a trace has the release, the fixes and the gates that it was found with: leave out these options"
            )
        explorer, walk = explorer_of(read_trace(Path(name)), name, selection.own, selection.patches)
    else:
        explorer = ScenarioExplorer(walked_run(selection))
    return explorer, explorer.along(walk, line) if line else walk


def _is_trace(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return is_trace(stream.read(MAX_BYTES))
    except OSError:
        return False
