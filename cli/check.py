"""`podrace check`: run, report, and give the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .console import message_console, result_console, tolerant_of_closed_pipes
from .options import UsageProblem
from .plan import Run, Selection, plan
from .progress import ProgressDisplay

if TYPE_CHECKING:
    from ..checker.exploration import Budget
    from ..reports.document import Finding
    from ..reports.graphs import Kind
    from .execute import Method

HOLDS, VIOLATED, INCONCLUSIVE = 0, 1, 3


@dataclass(frozen=True, slots=True)
class Output:
    """How and where to report."""

    form: str = "text"
    graph: Path | None = None
    no_color: bool = False
    fail_on_vacuous: bool = False
    graph_kind: Kind = "lanes"


def check(selection: Selection, budget: Budget, method: Method, output: Output) -> int:
    """Carry out a whole `podrace check`; gives the exit code."""
    if output.graph is not None:
        refuse_unwritable(output.graph)
    runs = plan(selection)
    if budget.disk is not None and len(runs) > 1:
        raise UsageProblem(
            f"--disk keeps one search, and this asks for {len(runs)}: name one scenario, and one property with --property"
        )
    findings = run_all(runs, budget, method, output)
    with tolerant_of_closed_pipes():
        report(findings, output)
    if output.graph is not None:
        draw(findings, output.graph, output.no_color, output.graph_kind)
    return exit_code(findings, output.fail_on_vacuous)


def run_all(runs: Sequence[Run], budget: Budget, method: Method, output: Output) -> list[Finding]:
    """Carry out the runs one after the other."""
    from .execute import execute

    findings = []
    with ProgressDisplay(message_console(output.no_color)) as display:
        for number, run in enumerate(runs, 1):
            count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
            display.start(f"{count}{run.scenario.name} {run.composition.label} {run.property}")
            findings.append(execute(run, budget, method, display.watch))
    return findings


def report(findings: Sequence[Finding], output: Output) -> None:
    """Print the result on stdout."""
    if output.form == "json":
        from ..reports.json import to_json

        sys.stdout.write(to_json(findings))
    else:
        from ..reports.text import print_report
        from .words import SCHEDULER_WORDS

        print_report(result_console(output.no_color), findings, SCHEDULER_WORDS)


def refuse_unwritable(path: Path) -> None:
    """Find out before a long search that a drawing could not be written. Raises RenderError or UsageProblem."""
    from ..reports.render import format_of

    format_of(path)
    target = path if path.exists() else path.parent
    if path.is_dir():
        raise UsageProblem(f"--graph: cannot write `{path}`: it is a directory")
    if not path.exists() and not target.is_dir():
        raise UsageProblem(f"--graph: cannot write `{path}`: there is no directory `{target}`")
    if not os.access(target, os.W_OK):
        raise UsageProblem(f"--graph: cannot write `{path}`: permission denied")


def draw(findings: Sequence[Finding], path: Path, no_color: bool = False, kind: Kind = "lanes") -> list[Path]:
    """Draw every counterexample: the first into `path`, the others beside it with a number.

    What cannot be drawn as this kind of drawing is named on stderr.
    """
    from ..reports.graphs import to_dot
    from ..reports.graphs.style import NotDrawn
    from ..reports.render import write_graph
    from .words import SCHEDULER_WORDS

    messages = message_console(no_color)
    violated = [finding for finding in findings if finding.trace is not None]
    if not violated:
        messages.print(f"no counterexample to draw: {path} was not written", soft_wrap=True)
    written = []
    for number, finding in enumerate(violated, 1):
        target = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            dot = to_dot(finding, kind, SCHEDULER_WORDS)
        except NotDrawn as problem:
            messages.print(f"not drawn: {problem}", soft_wrap=True)
            continue
        write_graph(dot, target)
        written.append(target)
        where = f"{finding.scenario}, {finding.label}: {finding.property}"
        messages.print(f"wrote {target} ({where})", soft_wrap=True)
    return written


def exit_code(findings: Sequence[Finding], fail_on_vacuous: bool = False) -> int:
    """0 holds, 1 violated, 3 inconclusive; where outcomes were expected, 0 means as expected."""
    if any(_is_bad(finding) or (fail_on_vacuous and finding.vacuous) for finding in findings):
        return VIOLATED
    if any(finding.verdict == "INCONCLUSIVE" for finding in findings):
        return INCONCLUSIVE
    return HOLDS


def _is_bad(finding: Finding) -> bool:
    if finding.expected is None:
        return finding.verdict == "VIOLATED"
    return finding.verdict not in (finding.expected, "INCONCLUSIVE")
