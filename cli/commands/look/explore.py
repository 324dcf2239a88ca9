"""`podrace explore`: walk the states of a scenario by hand."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ....analysis.request.method import budget_of
from ...configuration import arguments as arg
from ...configuration.app import app, examples

if TYPE_CHECKING:
    from ....analysis.own_systems import Budget
    from ....analysis.walk.explorer import Explorer
    from ....analysis.walk.walk import Walk


@app.command(
    help="Walk through the states of a scenario by hand.\n\nIt shows which steps are possible next, and why others are not. It prints the address of a page on this machine, or works in the terminal (`--tty`, or if stdin is a pipe). You can follow a stored trace and leave it at any step.\n\n"
    "Exit codes: 0 ended, 2 wrong usage or input; with piped commands also if one of them failed.",
    epilog=examples(
        "podrace explore 72124",
        "podrace explore race.json --tty",
        "podrace explore forks.py:Table --size Philosopher=4",
        "printf 'reach S-NOMVIS\\nsave race.json\\n' | podrace explore 72124",
    ),
)
def explore(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|TRACE", show_default=False,
            help="A scenario or a system of your own, as for `podrace check`, or a stored trace.",
        ),
    ],
    release: Annotated[
        str | None,
        typer.Option(metavar="X.Y[.Z]", autocompletion=arg.release_names, help="The scheduler's version."),
    ] = None,
    with_fix: arg.WithFix = None,
    without_fix: arg.WithoutFix = None,
    gate: arg.Gates = None,
    patch: arg.Patches = None,
    own: arg.Own = None,
    size: arg.Sizes = None,
    time: arg.Time = None,
    slow: arg.Slow = None,
    walk: Annotated[
        str, typer.Option(metavar="LINE", show_default=False, help="Begin after these steps, in the form that the command `line` prints.")
    ] = "",
    tty: Annotated[
        bool | None,
        typer.Option("--tty/--page", show_default=False, help="Use the terminal, or a page (default: a page, unless stdin is a pipe)."),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, show_default=False, help="The port of the page (default: any free port).")
    ] = 0,
    max_states: arg.MaxStates = None,
    max_memory: arg.MaxMemory = None,
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Time limit of one search for a nearest state.")
    ] = "60s",
    jobs: arg.Jobs = None,
    no_color: arg.NoColor = False,
) -> None:  # fmt: skip
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.patches import patches_of
    from ....analysis.request.plan import Selection
    from ....analysis.walk.opened import opened

    selection = Selection(
        (scenario,), release=release, with_fixes=with_fix or (), without_fixes=without_fix or (), own=own_properties(own or ()),
        patches=patches_of(patch or ()), gates=gate or (), time=time, slow=slow or (),
    )  # fmt: skip
    explorer, start = opened(selection, walk, size or ())
    options = {
        "--release": [release] if release else [], "--with-fix": with_fix, "--without-fix": without_fix, "--gate": gate,
        "--patch": patch, "--properties": own, "--size": size, "--time": [time] if time else [], "--slow": slow,
    }  # fmt: skip
    given = [word for name, values in options.items() for value in values or () for word in (name, value)]
    command = shlex.join(["podrace", "explore", scenario, *given])
    if not sys.stdin.isatty() if tty is None else tty:
        raise typer.Exit(_in_terminal(explorer, start, budget, command, no_color))
    _as_page(explorer, start, budget, command, port, no_color)


def _in_terminal(explorer: Explorer, walk: Walk, budget: Budget, command: str, no_color: bool) -> int:
    from ...terminal.console import result_console, tolerant_of_closed_pipes
    from ...walking.terminal_form import TerminalForm

    form = TerminalForm(explorer, walk, result_console(no_color), budget, command)
    with tolerant_of_closed_pipes():
        form.run(_typed() if sys.stdin.isatty() else sys.stdin)
    return 2 if form.failed and not sys.stdin.isatty() else 0


def _typed():  # type: ignore[no-untyped-def]
    import contextlib

    with contextlib.suppress(EOFError):
        while True:
            yield input("> ")


def _as_page(explorer: Explorer, walk: Walk, budget: Budget, command: str, port: int, no_color: bool) -> None:
    from ....base.problems import UsageProblem
    from ...terminal.output import say
    from ...walking.page_server import Answers, WalkServer

    try:
        server = WalkServer(Answers(explorer, walk, budget, command), port)
    except OSError as error:
        raise UsageProblem(f"--port {port}: {error.strerror}: name another, or none") from None
    with server:
        print(server.address, flush=True)
        say(
            "Open this address in a browser on this machine. It holds a secret: give it to nobody. Ctrl-C ends.",
            no_color,
        )
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("Ended.", no_color)
