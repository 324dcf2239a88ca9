"""`podrace explore`: walk the states of a scenario by hand."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import typer

from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import result_console, tolerant_of_closed_pipes
from ...terminal.output import say

if TYPE_CHECKING:
    from ....analysis.own_systems import Budget
    from ....analysis.walk.explorer import Explorer
    from ....analysis.walk.walk import Walk


@app.command(
    help="Walk through the states of a scenario by hand.\n\npodrace shows which steps are possible next, and why others are not. It prints the address of a page on this machine, or works in the terminal (`--tty`, or if stdin is a pipe). You can follow a stored trace and leave it at any step.\n\n"
    "Exit codes: 0 ended, 2 wrong usage or input; with piped commands also if one of them failed.",
    epilog=examples(
        "podrace explore 72124",
        "podrace explore race.json --tty",
        "podrace explore forks.py:Table --size Philosopher=4",
        "printf 'reach S-NOMVIS\\nsave race.json\\n' | podrace explore 72124",
    ),
)
def explore(
    scenario: str,
    release: str | None = None,
    with_fix: list[str] | None = None,
    without_fix: list[str] | None = None,
    gate: list[str] | None = None,
    patch: list[str] | None = None,
    own: list[str] | None = None,
    size: list[str] | None = None,
    time: arg.Time = None,
    slow: list[str] | None = None,
    walk: str = "",
    tty: bool | None = None,
    port: int = 0,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str = "60s",
    jobs: str | None = None,
    no_color: bool = False,
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
