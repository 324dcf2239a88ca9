"""Which feature gates a source tree has otherwise than the version that it is held against."""

import re
from pathlib import Path

from ...model.history.versions import canonical
from ...model.history.versions.gates import gates
from .go_gates import FILES, GateChange, differing, read_gates
from .source_tree import files_below, read_source, scheduler_in

_USED = re.compile(r"\bfeatures\.([A-Z]\w+)")
_NO_GATES = {"Features", "FeatureGate"}


def gate_changes(directory: Path, version: str) -> list[GateChange]:
    """The gates that concern the scheduler and are not what they were in a version, and those that it asks for and the table of gates
    does not have; none if the tree does not register gates. Raises UsageProblem."""
    root = scheduler_in(directory)
    folder = root.parent / "features"
    name = canonical(version)
    if name is None or not (folder / FILES[0]).is_file():
        return []
    found = read_gates(folder)
    unknown = (g for g in sorted(_used(root) & found.keys()) if g not in gates())
    return differing(name, found) + [
        GateChange(g, f"{g}: {found[g].words}, not in the table of gates") for g in unknown
    ]


def _used(root: Path) -> set[str]:
    """The gates that the scheduler names, tests apart."""
    return {gate for path in files_below(root) for gate in _USED.findall(read_source(path))} - _NO_GATES
