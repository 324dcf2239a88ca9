"""`podrace races` and `podrace properties`: what is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from ....base.problems import UsageProblem
from ....base.text import one_line
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import print_answer, print_json, result_console, tolerant_of_closed_pipes
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from rich.console import Console

UPSTREAM = "kubernetes/kubernetes#"

Rows = list[dict[str, Any]]


@app.command(
    help="List the known races, fixed upstream or not.\n\n"
    "--release lists only races whose fix this version does not have. To check one, use `podrace check NAME --release X.Y`.",
    epilog=examples("podrace races", "podrace races preemption --release latest", "podrace hazards"),
)
def races(
    words: list[str] | None = None,
    release: str | None = None,
    output: arg.Form = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.known import races

    print_answer(_matching(races(words or (), release), words), output, no_color, _print_races)


@app.command(
    help="List the races that are open in current releases.\n\n"
    "With --release, podrace checks each hazard in one version, and lists the violated ones. The first search takes minutes, later searches seconds. The exit code is then 3 if --timeout ended a search.",
    epilog=examples(
        "podrace hazards", "podrace hazards taint --release 1.36", "podrace check gone-victim --affected"
    ),
)
def hazards(
    words: list[str] | None = None,
    release: str | None = None,
    timeout: str | None = None,
    output: arg.Form = "text",
    no_color: bool = False,
) -> None:
    if release is not None:
        raise typer.Exit(_open_in(words or [], release, timeout or "30s", output, no_color))
    if timeout is not None:
        raise UsageProblem("--timeout is for the searches of --release: name a version with --release")
    from ....analysis.known import hazards

    print_answer(_matching(hazards(words or ()), words), output, no_color, _print_races)


def _open_in(words: list[str], release: str, timeout: str, output: str, no_color: bool) -> int:
    """Print the races that are open in a version, each as it is found; gives the exit code."""
    from ....analysis.affected import open_in
    from ....analysis.known import hazards_that_say
    from ....analysis.request.method import Method, budget_of, cache_folder
    from ....analysis.request.release_names import full_name

    scenarios = {scenario.name: scenario for scenario in _matching(hazards_that_say(words), words)}
    version = full_name(release)
    budget, method = budget_of(None, None, timeout, None), Method("native", cache_folder(None, False), True)
    counts = {"VIOLATED": 0, "HOLDS": 0, "INCONCLUSIVE": 0}
    rows = []
    console = result_console(no_color)
    with tolerant_of_closed_pipes(), progress_display(no_color) as display:
        for found in open_in(release, scenarios.values(), budget, method, display):
            counts[found.verdict] += 1
            steps = len(found.trace or ()) + len(found.cycle)
            rows.append({"scenario": found.scenario, "property": found.property, "release": found.release, "verdict": found.verdict, "steps": steps or None})  # fmt: skip
            if output == "json" or found.verdict == "HOLDS":
                continue
            said = f"open, violated after {steps} steps" if steps else f"not decided in {timeout}"
            _heading(console, found.scenario, scenarios[found.scenario].title)
            _detail(console, f"{found.property}: {said}; {scenarios[found.scenario].file}")
        if output == "json":
            print_json(rows)
        else:
            sums = f"{counts['VIOLATED']} open, {counts['INCONCLUSIVE']} not decided, {counts['HOLDS']} hold in their clusters"
            console.print(f"{version}: {sums}. `podrace check NAME --release {version}` tells one.", soft_wrap=True, highlight=False, markup=False)  # fmt: skip
    return 3 if counts["INCONCLUSIVE"] else 0


def _matching(found: list[Any], words: Sequence[str] | None) -> list[Any]:
    """What was found. Raises UsageProblem if words were given and nothing has them all."""
    if words and not found:
        raise UsageProblem(
            f"no race matches all of `{one_line(' '.join(words))}`; without words, all are listed"
        )
    return found


def _print_races(console: Console, rows: Rows) -> None:
    for row in rows:
        _print_race(console, row)
    if not rows:
        console.print("No known race is open in this version.", soft_wrap=True)


@app.command(help="List the properties, or explain some.")
def properties(
    names: list[str] | None = None,
    own: list[str] | None = None,
    output: arg.Form = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.known import properties
    from ....analysis.request.own_properties import own_properties

    rows = properties(names or (), own_properties(own or ()))
    print_answer(rows, output, no_color, _explain_properties if names else _list_properties)


@app.command(
    help="List the upstream changes of --with-fix and --without-fix.",
    epilog=examples("podrace fixes", "podrace fixes 72259", "podrace check 72124 --with-fix 72259"),
)
def fixes(
    names: list[str] | None = None,
    output: arg.Form = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.known import fixes

    def tell(console: Console, rows: Rows) -> None:
        for row in rows:
            _print_fix(console, row, explained=bool(names))

    print_answer(fixes(names or ()), output, no_color, tell)


def _print_fix(console: Console, row: dict[str, Any], explained: bool) -> None:
    _heading(console, row["key"], row["title"])
    races = f"; closes {', '.join(row['races'])}" if row["races"] else ""
    others = (
        f"; with others closes what is left of {', '.join(row['with_others'])}" if row["with_others"] else ""
    )
    _detail(console, f"{row['where']}{races}{others}")
    if not explained:
        return
    for paragraph in row["before"]:
        _detail(console, f"Before it: {' '.join(paragraph.split())}")
    if row["gate"]:
        _detail(console, f"behind the feature gate {row['gate']}: see `podrace gates`")
    pages = [row["key"], *map(str, row["issues"])] if row["key"].isdigit() else [*map(str, row["issues"])]
    if pages:
        _detail(console, "see " + ", ".join(f"{UPSTREAM}{number}" for number in dict.fromkeys(pages)))


def _print_race(console: Console, row: dict[str, Any]) -> None:
    _heading(console, row["name"], row["title"])
    if row["issue"] is not None:
        fixes = ", ".join(UPSTREAM + key if key.isdigit() else key for key in row["fixes"])
        _detail(console, f"issue {UPSTREAM}{row['issue']}, fixed by {fixes}")
    if row["residual"]:
        closed_by = ", ".join(row["residual"]["closed_by"])
        _detail(console, f"still open after the fix: {row['residual']['property']}, closed by {closed_by}")
    also = f" (also: {', '.join(row['also'])})" if row["also"] else ""
    _detail(
        console,
        f"checked on {row['release']}; properties: {', '.join(row['properties'])}{also}; {row['file']}",
    )


def _explain_properties(console: Console, rows: Rows) -> None:
    for row in rows:
        _print_property(console, row, explained=True)


def _list_properties(console: Console, rows: Rows) -> None:
    for group, listed in groupby(rows, key=lambda row: row["group"] or "Your own"):
        console.print(f"{group}:", style="bold", highlight=False)
        for row in listed:
            _print_property(console, row, explained=False)


def _print_property(console: Console, row: dict[str, Any], explained: bool) -> None:
    title = row["title"][:1].upper() + row["title"][1:]
    _heading(console, title or row["id"], f"{row['id']}, {row['kind']}" if title else row["kind"])
    _detail(console, row["sentence"])
    if not explained:
        return
    for paragraph in row["explanation"]:
        _detail(console, paragraph)
    if row["concerns"]:
        _detail(console, f"to ignore this property, set `ignore` on {row['concerns']}")
    if row["issues"]:
        _detail(console, "see " + ", ".join(f"{UPSTREAM}{number}" for number in row["issues"]))
    if row["scenarios"]:
        _detail(console, f"scenarios: {', '.join(row['scenarios'])}")


def _heading(console: Console, name: str, rest: str) -> None:
    from rich.text import Text

    console.print(Text(name, "bold").append(f"  {rest}", "not bold"), soft_wrap=True)


def _detail(console: Console, text: str) -> None:
    from rich.text import Text

    for line in Text(text).wrap(console, max(console.width - 4, 20)):
        line.rstrip()
        console.print(Text("    ").append_text(line), soft_wrap=True)
