"""`podrace drift`: what became of the functions that the model stands for, in another tree of upstream's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ....analysis.request.method import budget_of, cache_folder
from ....base.problems import UsageProblem
from ....reports.filtered import to_json
from ...configuration import arguments as arg
from ...configuration.app import app
from ...terminal.console import print_answer
from ...terminal.output import say
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from rich.console import Console

    from ....analysis.upstream.drifted import Drift
    from ....analysis.upstream.held import HeldAgainst
    from ....reports.reproduction import Reproduction

NOTHING, SOMETHING = 0, 1


@app.command(
    help="Say what has changed in a kubernetes source tree.\n\npodrace lists the functions of kube-scheduler that have changed, and says which of these changes you have to read. "
    "docs/notebook/functions.md names the functions that are in the model. Changes that only rename, move, log or count are listed separately. For functions that the model does not have, podrace prints only their number.\n\n"
    "With --run instead of DIR, podrace runs every known race and hazard on a version of the real scheduler, and says whether the race is "
    "reproduced, gone, or different from the model. Needs Go 1.26 or later.\n\n"
    "Exit codes: 0 nothing to read, or all results are those of the model; 1 something to read, or another result; 2 no such tree or "
    "version."
)
def drift(
    directory: Path | None = None,
    run: bool = False,
    kubernetes: str | None = None,
    since: str = "",
    update: bool = False,
    release: str = "",
    record: Path | None = None,
    output: arg.Form = "text",
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    cache: Path | None = None,
    no_cache: bool = False,
    no_color: bool = False,
) -> None:
    if run:
        from ....reports.reproduction import is_as_modelled

        if directory is not None or since or update or record is not None:
            raise UsageProblem(
                "--run: leave out DIR (write --kubernetes DIR to run a tree), --since, --update and --record"
            )
        limits = (max_states, max_memory, timeout, jobs)
        found = _run(kubernetes, limits, cache_folder(cache, no_cache), release, no_color)
        print_answer(found, output, no_color, _print_runs)
        raise typer.Exit(NOTHING if all(map(is_as_modelled, found)) else SOMETHING)
    if directory is None:
        raise UsageProblem("name a kubernetes source tree, or run a version with --run")
    if kubernetes is not None:
        raise UsageProblem("--kubernetes is for --run: a tree says itself which version it is")
    _held(directory, since, update, release, record, output, no_color)


def _held(
    directory: Path, since: str, update: bool, release: str, record: Path | None, output: str, no_color: bool
) -> None:
    from ....analysis.upstream.held import hold, write_record

    found = hold(directory, record, since, update)
    print_answer(found, output, no_color, _print_text, {"json": _to_json})
    if update:
        write_record(found, release)
        say(f"wrote {found.file}: {len(found.here)} functions", no_color)
    raise typer.Exit(SOMETHING if found.to_read and not update else NOTHING)


def _run(
    kubernetes: str | None,
    limits: tuple[str | None, str | None, str | None, str | None],
    kept: Path | None,
    release: str,
    no_color: bool,
) -> list[Reproduction]:
    from ....analysis.request.method import Method
    from ....analysis.request.release_names import known_releases
    from ....reproduce.across import across, everything
    from ....reproduce.modules.toolchain import find_go
    from ....reproduce.request import Wanted, code_of

    budget = budget_of(*limits)
    go = find_go()
    wanted = Wanted("", kubernetes or known_releases()[-1], release or None)
    code_of(kubernetes or known_releases()[-1], wanted.release)
    with progress_display(no_color) as display:
        return across(everything(), wanted, go, budget, Method(cache=kept), display)


def _print_runs(console: Console, found: list[Reproduction]) -> None:
    from rich.text import Text

    from ....reports.reproduction import account_of, is_as_modelled
    from ....reports.text.findings_text import print_wrapped
    from ....reports.text.reproduction_text import print_table

    print_table(console, found)
    print_wrapped(console, Text(account_of(found), "bold"))
    for one in found:
        if not is_as_modelled(one):
            print_wrapped(console, Text(f"{one.name} {one.property}: {one.words}", "yellow"))


def _to_json(found: HeldAgainst) -> str:
    from ....analysis.upstream.drifted import counted

    return to_json(
        {
            "release": found.since,
            "functions": len(found.here),
            "counts": {"same": found.same, **counted(found.drifted), "gates": len(found.gates)},
            "not_compared": found.missing,
            "gates": [{"name": gate.name, "what": gate.words} for gate in found.gates],
            "drifted": [
                {
                    "place": d.place,
                    "what": d.what,
                    "reading": d.reading.value,
                    "where": d.where or None,
                    "model": d.elements,
                    "reason": d.reason or None,
                }
                for d in found.drifted
                if d.is_followed
            ],
        }
    )


def _print_text(console: Console, found: HeldAgainst) -> None:
    from rich.text import Text

    from ....analysis.upstream.drifted import counted
    from ....reports.text.findings_text import print_wrapped

    followed = [d for d in found.drifted if d.is_followed]
    _print_drifts(console, "cannot matter", [d for d in followed if not d.is_to_be_read])
    _print_drifts(console, "read this", [d for d in followed if d.is_to_be_read])
    if found.gates:
        print_wrapped(console, Text("gates", "bold"))
        for gate in found.gates:
            print_wrapped(console, Text(gate.words, "bold red"))
    counts = counted(found.drifted)
    told = ", ".join(f"{number} {kind}" for kind, number in counts.items() if kind != "outside")
    since = f" since {found.since}" if found.since else ""
    print_wrapped(
        console,
        Text(
            f"{found.same} of {len(found.compared)} functions are the same{since}: {told}; gates: {len(found.gates)}; "
            f"outside of the model: {counts['outside']}",
            "bold",
        ),
    )
    if found.missing:
        print_wrapped(
            console, Text(f"not compared, as this tree lacks them: {', '.join(found.missing)}", "yellow")
        )


def _print_drifts(console: Console, heading: str, found: list[Drift]) -> None:
    from rich.text import Text

    from ....reports.text.findings_text import INDENT, print_wrapped

    if not found:
        return
    print_wrapped(console, Text(heading, "bold"))
    for d in found:
        print_wrapped(console, Text(d.words, "bold red" if d.is_to_be_read else "yellow"))
        if d.is_to_be_read:
            print_wrapped(console, _stands_for(d), INDENT)


def _stands_for(d: Drift) -> str:
    if d.elements:
        return f"in the model: {', '.join(d.elements)}"
    if d.reason:
        return f"not modelled: {d.reason}"
    return (
        "a value of its package"
        if d.is_value
        else "nobody has decided about it: docs/notebook/functions.md does not have it"
    )
