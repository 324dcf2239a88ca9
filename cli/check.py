"""`podrace check`: run, report, and give the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis.files import beside, refuse_unwritable, write_text
from ..analysis.options import UsageProblem
from ..analysis.plan import Run, Selection, plan, refuse_all_ignored
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay

if TYPE_CHECKING:
    from ..analysis.execute import Method
    from ..checker.core.exploration import Budget
    from ..reports.document import Finding
    from ..reports.graphs import Kind
    from ..reports.outcome import Style

HOLDS, VIOLATED, INCONCLUSIVE = 0, 1, 3


@dataclass(frozen=True, slots=True)
class Output:
    """How and where to report. `timings`: forms for programs say how long searches took; then equal input no longer
    gives equal bytes. `account` is said before everything else.
    """

    form: str = "text"
    graph: Path | None = None
    no_color: bool = False
    fail_on_vacuous: bool = False
    graph_kind: Kind = "lanes"
    timings: bool = False
    report: Path | None = None
    save_trace: Path | None = None
    account: Sequence[str] = ()

    def refuse_unusable(self) -> None:
        """Find out before a long search that something could not be written. Raises UsageProblem or RenderError."""
        if self.graph is None and self.graph_kind != "lanes":
            raise UsageProblem("--graph-kind says how to draw: name the file with --graph FILE")
        if self.graph is not None:
            from ..reports.graphs.render import format_of

            format_of(self.graph)
            refuse_unwritable("--graph", self.graph)
        if self.save_trace is not None:
            refuse_unwritable("--save-trace", self.save_trace)
        if self.report is not None:
            from .report_dir import refuse_unusable

            refuse_unusable(self.report)

    def style(self) -> Style:
        """How reports are to be written."""
        from importlib.metadata import version

        from ..reports.outcome import Style

        return Style(version("podrace"), self.fail_on_vacuous)

    def timed(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with how long they took only if that was asked for."""
        import msgspec

        if self.timings:
            return list(findings)
        return [msgspec.structs.replace(finding, seconds=None) for finding in findings]


def check(selection: Selection, budget: Budget, method: Method, output: Output) -> int:
    """Carry out a whole `podrace check`; gives the exit code."""
    output.refuse_unusable()
    runs = plan(selection)
    if budget.disk is not None and len(runs) > 1:
        raise UsageProblem(
            f"--disk keeps one search, and this asks for {len(runs)}: name one scenario, and one property with --property"
        )
    if output.account:
        from .manifests import print_account

        print_account(output.account, output.form, output.no_color)
    findings = run_all(runs, budget, method, output)
    with tolerant_of_closed_pipes():
        report(findings, output)
    if output.graph is not None:
        draw(findings, output.graph, output.no_color, output.graph_kind)
    if output.save_trace is not None:
        save_traces(runs, findings, output.save_trace, output.no_color)
    write_directory(runs, findings, output)
    return exit_code(findings, output.style())


def run_all(runs: Sequence[Run], budget: Budget, method: Method, output: Output) -> list[Finding]:
    """Carry out the runs one after the other."""
    from ..analysis.execute import execute, ignored

    refuse_all_ignored(runs)
    findings = []
    with ProgressDisplay(message_console(output.no_color)) as display:
        for number, run in enumerate(runs, 1):
            count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
            display.start(f"{count}{run.scenario.name} {run.composition.label} {run.property}")
            findings.append(ignored(run) if run.ignored else execute(run, budget, method, display.watch))
    return findings


def report(findings: Sequence[Finding], output: Output) -> None:
    """Print the result on stdout; in a step of GitHub Actions, the form `github` also adds to the step's summary."""
    if output.form != "text":
        from ..reports.formats.forms import FORMS

        findings = output.timed(findings)
        sys.stdout.write(FORMS[output.form](findings, output.style()))
        if output.form == "github":
            from .step_summary import add_to_step_summary

            add_to_step_summary(FORMS["markdown"](findings, output.style()))
    else:
        from ..reports.text.findings import print_report

        print_report(result_console(output.no_color), findings)


def write_directory(runs: Sequence[Run], findings: Sequence[Finding], output: Output) -> None:
    """Write the report directory, if one is asked for."""
    if output.report is None:
        return
    from ..analysis.stored.cross_release import with_retraced
    from .report_dir import write_report

    compared = with_retraced(runs, output.timed(findings))
    written = write_report(output.report, runs, compared, output.style())
    message_console(output.no_color).print(f"wrote {output.report}: {len(written)} files", soft_wrap=True)


def draw(findings: Sequence[Finding], path: Path, no_color: bool = False, kind: Kind = "lanes") -> list[Path]:
    """Draw every counterexample: the first into `path`, the others beside it with a number.

    What cannot be drawn as this kind of drawing is named on stderr.
    """
    from ..reports.graphs import to_dot
    from ..reports.graphs.render import write_graph
    from ..reports.graphs.style import NotDrawn

    messages = message_console(no_color)
    violated = [finding for finding in findings if finding.trace is not None]
    if not violated:
        messages.print(f"no counterexample to draw: {path} was not written", soft_wrap=True)
    written = []
    for number, finding in enumerate(violated, 1):
        target = beside(path, number)
        try:
            dot = to_dot(finding, kind)
        except NotDrawn as problem:
            messages.print(f"not drawn: {problem}", soft_wrap=True)
            continue
        write_graph(dot, target)
        written.append(target)
        where = f"{finding.scenario}, {finding.label}: {finding.property}"
        messages.print(f"wrote {target} ({where})", soft_wrap=True)
    return written


def save_traces(runs: Sequence[Run], findings: Sequence[Finding], path: Path, no_color: bool = False) -> None:
    """Store every counterexample: the first in `path`, the others beside it with a number."""
    from ..analysis.stored.keep import stored_trace
    from ..reports.outcome import subject
    from ..reports.stored import format_trace

    messages = message_console(no_color)
    violated = [
        (run, finding) for run, finding in zip(runs, findings, strict=True) if finding.trace is not None
    ]
    if not violated:
        messages.print(f"no counterexample to store: {path} was not written", soft_wrap=True)
    for number, (run, finding) in enumerate(violated, 1):
        target = beside(path, number)
        write_text("--save-trace", target, format_trace(stored_trace(run, finding)))
        messages.print(f"wrote {target} ({subject(finding)})", soft_wrap=True)


def exit_code(findings: Sequence[Finding], style: Style) -> int:
    """0 holds, 1 violated, 3 inconclusive; where outcomes were expected, 0 means as expected."""
    outcomes = {style.outcome(finding) for finding in findings}
    return VIOLATED if "failed" in outcomes else INCONCLUSIVE if "undecided" in outcomes else HOLDS
