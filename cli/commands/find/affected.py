"""`podrace check --affected`: a row for each run of versions with one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....base.problems import UsageProblem
from ....reports.filtered import to_json
from ...terminal.console import print_answer
from ...terminal.output import Output, exit_code
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from rich.console import Console

    from ....analysis.affected import Answered
    from ....analysis.own_systems import Budget
    from ....analysis.request.method import Method
    from ....analysis.request.plan import Selection
    from ....analysis.request.representative_cluster import Represented


def print_affected(
    selection: Selection,
    budget: Budget,
    method: Method,
    out: Output,
    seconds: float,
    represented: Represented | None,
) -> int:
    """Ask all versions and print the answers; gives the exit code."""
    from ....analysis.affected import affected

    if out.form not in ("text", "json"):
        raise UsageProblem(f"--affected prints text or json: leave out --output {out.form}")
    if out.graph is not None or out.save_trace is not None or out.report is not None:
        raise UsageProblem("--affected prints one table: leave out --graph, --save-trace and --report")
    with progress_display(out.no_color) as display:
        answers = affected(selection, budget, method, display, seconds, represented)
    forms = {"json": lambda answers: to_json([answered.as_row() for answered in answers])}
    print_answer(answers, out.form, out.no_color, _print, forms)
    return exit_code([answered.finding for answered in answers], out.style())


WORDS = {"VIOLATED": "affected", "HOLDS": "not affected", "INCONCLUSIVE": "not decided"}


def _print(console: Console, answers: Sequence[Answered]) -> None:
    for line in lines_of(answers):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def lines_of(answers: Sequence[Answered]) -> list[str]:
    """The answers for people: a heading for each property of a scenario, a line for each run of versions."""
    from ....reports.scheduler_version import in_part

    lines, heading = [], ""
    for answered in answers:
        if (asked := f"{answered.scenario}: {answered.property}") != heading:
            heading = asked
            lines.append(f"{asked}. {answered.finding.sentence}")
        if answered.turn:
            lines.append(f"{' ' * 16}{answered.versions[0]}: {answered.turn}")
        word = WORDS.get(answered.finding.verdict, answered.finding.verdict)
        lines.append(f"  {word:<13} {answered.span:<20} {answered.words()}")
    if not answers:
        return ["No version of the model has what is asked about."]
    return lines + in_part(answered.last.version for answered in answers)
