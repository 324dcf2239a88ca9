"""`podrace check --affected`: a row for each run of versions with one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....base.problems import UsageProblem

if TYPE_CHECKING:
    from ....analysis.affected import Answered
    from ....analysis.own_systems import Budget
    from ....analysis.request.method import Method
    from ....analysis.request.plan import Selection
    from ....analysis.request.representative_cluster import Represented
    from ...terminal.output import Output


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
    from ...terminal.console import print_json, result_console, tolerant_of_closed_pipes
    from ...terminal.output import exit_code
    from ...terminal.progress_display import progress_display

    if out.form not in ("text", "json"):
        raise UsageProblem(f"--affected prints text or json: leave out --output {out.form}")
    if out.graph is not None or out.save_trace is not None or out.report is not None:
        raise UsageProblem("--affected prints one table: leave out --graph, --save-trace and --report")
    with progress_display(out.no_color) as display:
        answers = affected(selection, budget, method, display, seconds, represented)
    with tolerant_of_closed_pipes():
        if out.form == "json":
            print_json([answered.as_row() for answered in answers])
        else:
            console = result_console(out.no_color)
            for line in lines_of(answers):
                console.print(line, soft_wrap=True, highlight=False, markup=False)
    return exit_code([answered.finding for answered in answers], out.style())


WORDS = {"VIOLATED": "affected", "HOLDS": "not affected", "INCONCLUSIVE": "not decided"}


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
