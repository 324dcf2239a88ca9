"""`podrace check --on-code`: the tours of what was checked, after the model's verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....base.problems import UsageProblem
from ....reports.filtered import to_json
from ...terminal.console import print_form, result_console, tolerant_of_closed_pipes

if TYPE_CHECKING:
    from pathlib import Path

    from ....analysis.own_systems import Budget
    from ....analysis.request.method import Watcher
    from ....analysis.request.plan import Run
    from ....reports.document import Finding
    from ....reports.tours import Tour
    from ....reproduce.request import Code
    from ...terminal.output import Output

FORMS = ("text", "json")
CHANGING = ("with_fix", "without_fix", "patch")
"""The parameters of the options that make the model that of no version."""

INCONCLUSIVE = 3


def code_of(
    text: str, release: str | None, form: str, changes: Sequence[str], scheduler: str | None = None
) -> Code:
    """Whose code is meant, with the user's `scheduler`. `changes` are options that make the model that of no version. Raises UsageProblem."""
    from ....reproduce.request import with_own
    from ....reproduce.tours.request import parse_code

    if changes:
        raise UsageProblem(f"--on-code: a version is compared with its own model: leave out {changes[0]}")
    if form not in FORMS:
        raise UsageProblem(f"--on-code: the forms of its report are text and json: leave out -o {form}")
    return with_own(parse_code(text, release), scheduler)


def tours_of(
    runs: Sequence[Run], code: Code, budget: Budget, watcher: Watcher, cache: Path | None
) -> list[Tour]:
    """The tour of each scenario once; what is taken is kept in the folder `cache`. Raises UsageProblem, GoProblem."""
    from ....reproduce.modules.toolchain import find_go
    from ....reproduce.running import built_for
    from ....reproduce.tours.request import is_timed, tour_of

    watcher.start(f"on the code of {code.version}")
    built = built_for(code.version, find_go(), watcher.say)
    by_time = sorted(runs, key=lambda run: not is_timed(run.scenario))  # the widest comes last
    one_each = {(run.scenario.file, run.composition.label): run for run in by_time}
    return [
        tour_of(run.scenario, run.composition, code, built, budget, watcher.say, cache)
        for run in one_each.values()
    ]


def report_tours(findings: Sequence[Finding], tours: Sequence[Tour], out: Output, code: int) -> int:
    """Print the tours after the findings, or within the document; gives the exit code, given that of the findings."""
    import json

    from ....reports.text.tours_text import print_tours

    with tolerant_of_closed_pipes():
        if out.form == "json":
            from ....reports.formats.forms import FORMS as ALL

            document = json.loads(ALL["json"](out.timed(findings), out.style()))
            print_form(to_json({"findings": document, "on_code": [_told(tour) for tour in tours]}))
        else:
            verdicts = {
                tour.scenario: [f.verdict for f in findings if f.scenario == tour.scenario] for tour in tours
            }
            holds = [name for name, words in verdicts.items() if set(words) == {"HOLDS"}]
            violated = [name for name, words in verdicts.items() if "VIOLATED" in words]
            print_tours(result_console(out.no_color), tours, holds, violated)
    return code or (INCONCLUSIVE if any(tour.verdict != "IN STEP" for tour in tours) else 0)


def _told(tour: Tour) -> object:
    import msgspec

    return {"verdict": tour.verdict, **msgspec.to_builtins(tour)}
