"""`podrace explain`: a stored trace in any form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..analysis.stored.replayed import read_trace, replayed
from ..model.history import Patch
from ..properties import Property
from .check import Output, draw, report
from .console import message_console
from .replay import GONE, warn_of_change

SHOWN = 0


def explain(
    path: Path, own: Mapping[str, type[Property]], output: Output, patches: Sequence[Patch] = ()
) -> int:
    """Print the counterexample; gives the exit code. What cannot be executed again is not shown. Raises TraceProblem."""
    found = replayed(read_trace(path), own, str(path), patches)
    warn_of_change(found, path, output.no_color)
    if not found.violated:
        message_console(output.no_color).print(f"podrace: {path}: {found.obstacle}", soft_wrap=True)
        return GONE
    finding = found.finding()
    report([finding], output)
    if output.graph is not None:
        draw([finding], output.graph, output.no_color)
    return SHOWN
