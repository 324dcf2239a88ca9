"""`podrace test-from`: a stored trace as a regression test."""

from __future__ import annotations

from typing import Annotated

import typer

from ...configuration.app import app, examples
from ...configuration.arguments import TraceFile, WriteFile

WRITTEN, GONE = 0, 1


@app.command(
    "test-from",
    help="Write a regression test for pytest from a stored counterexample.\n\n"
    "The test asserts that the run still violates the property, and that it is gone with the changes that fix it: those "
    "that the scenario names, or those of --with-fix.\n\n"
    "Exit codes: 0 written, 1 the run is no longer possible or violates the property no longer, 2 wrong usage or input.",
    epilog=examples(
        "podrace check 72124 --save-trace race.json", "podrace test-from race.json --write test_race.py"
    ),
)
def regression(
    trace: TraceFile,
    with_fix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N", help="With this change the run must be gone (repeatable; all are put in together)."
        ),
    ] = None,
    write: WriteFile = None,
) -> None:
    from ....analysis.request.option_files import refuse_unwritable, write_text
    from ....analysis.stored.replayed import regression_of
    from ...terminal.console import print_form, tolerant_of_closed_pipes
    from ...terminal.output import say

    if write is not None:
        refuse_unwritable("--write", write)
    text, obstacle = regression_of(trace, with_fix or ())
    if text is None:
        say(f"podrace: {trace}: {obstacle}")
        raise typer.Exit(GONE)
    if write is not None:
        write_text("--write", write, text)
    else:
        with tolerant_of_closed_pipes():
            print_form(text)
    raise typer.Exit(WRITTEN)
