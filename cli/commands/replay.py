"""The options of `podrace replay`."""

from __future__ import annotations

import typer

from ..app import app
from ..arguments import NoColor, Own, Patches, TraceFile


@app.command(
    help="Execute a stored counterexample again, step by step, in the reference interpreter.\n\n"
    "Exit codes: 0 the run is possible and violates the property, 1 it is no longer possible or violates it no longer, "
    "2 the trace cannot be read."
)
def replay(trace: TraceFile, own: Own = None, patch: Patches = None, no_color: NoColor = False) -> None:
    from ...analysis.own.own_properties import own_properties
    from ...analysis.own.patches import patches_of
    from ..console import tolerant_of_closed_pipes
    from ..replay import replay as run_replay

    patches = patches_of(patch or ())
    chosen = own_properties(own or ())
    with tolerant_of_closed_pipes():
        code = run_replay(trace, chosen, no_color, patches)
    raise typer.Exit(code)
