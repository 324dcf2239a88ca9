"""How and where the findings of a command are reported: stdout, drawings, stored traces, a directory, the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...analysis.request.option_files import append_text, beside, refuse_unwritable, write_text
from ...base.problems import UsageProblem
from ...base.structs import Data
from .console import message_console, print_form, result_console, tolerant_of_closed_pipes

if TYPE_CHECKING:
    from ...analysis.request.plan import Run
    from ...reports.ci_outcome import Style
    from ...reports.document import Finding
    from ...reports.graphs import Kind
    from ...reports.text.findings_text import Extent


HOLDS, VIOLATED, INCONCLUSIVE = 0, 1, 3


class Output(Data):
    """How and where to report. `timings`: forms for programs say how long searches took; then equal input no longer
    gives equal bytes.
    """

    form: str = "text"
    graph: Path | None = None
    no_color: bool = False
    fail_on_vacuous: bool = False
    graph_kind: Kind = "lanes"
    timings: bool = False
    report: Path | None = None
    save_trace: Path | None = None
    extent: Extent = "usual"

    @property
    def points_into_files(self) -> bool:
        """Whether the report says where in a file the pod is that a violation is about."""
        return self.form in ("sarif", "github", "junit") or self.report is not None

    @property
    def tells_closings(self) -> bool:
        """Whether there is room in the report for what closes a race."""
        return self.form == "text" and self.extent != "brief"

    def refuse_unusable(self) -> None:
        """Find out before a long search that something could not be written. Raises UsageProblem or RenderError."""
        if self.graph is None and self.graph_kind != "lanes":
            raise UsageProblem("--graph-kind says how to draw: name the file with --graph FILE")
        if self.graph is not None:
            from ...reports.graphs.render import format_of

            format_of(self.graph)
            refuse_unwritable("--graph", self.graph)
        if self.save_trace is not None:
            refuse_unwritable("--save-trace", self.save_trace)
        if self.report is not None:
            from ...analysis.stored.report_directory import refuse_unusable

            refuse_unusable(self.report)

    def style(self) -> Style:
        """How reports are to be written."""
        from ...analysis.version import podrace_version
        from ...reports.ci_outcome import Style

        return Style(podrace_version(), self.fail_on_vacuous)

    def style_with_pictures(self, findings: Sequence[Finding]) -> Style:
        """The same where every drawing that is asked for will be made."""
        violated = [at for at, finding in enumerate(findings) if finding.trace is not None]
        if self.graph is None or self.graph.suffix.lower() == ".dot" or self.graph_kind != "lanes":
            return self.style()
        pictures = {at: str(beside(self.graph, number)) for number, at in enumerate(violated, 1)}
        return replace(self.style(), pictures=pictures)

    def timed(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with how long they took only if that was asked for."""
        import msgspec

        if self.timings:
            return list(findings)
        return [msgspec.structs.replace(finding, seconds=None) for finding in findings]


def say(line: str, no_color: bool = False) -> None:
    """A message on stderr."""
    message_console(no_color).print(line, soft_wrap=True)


def report_everywhere(
    runs: Sequence[Run],
    findings: Sequence[Finding],
    output: Output,
    closings: Mapping[int, Sequence[str]] | None = None,
) -> int:
    """The result on stdout, and in the files that are asked for; gives the exit code."""
    with tolerant_of_closed_pipes():
        report(findings, output, closings)
    if output.graph is not None:
        draw(findings, output.graph, output.no_color, output.graph_kind, closings)
    if output.save_trace is not None:
        save_traces(runs, findings, output.save_trace, output.no_color)
    write_directory(runs, findings, output)
    return exit_code(findings, output.style())


def print_account(lines: Sequence[str], output: Output) -> None:
    """Say what of manifests was kept and what was not: before a text on stdout, else on stderr."""
    if output.form != "text":
        for line in lines:
            say(line, output.no_color)
        return
    with tolerant_of_closed_pipes():
        console = result_console(output.no_color)
        for line in lines:
            console.print(line, soft_wrap=True)
        console.print()


def report(
    findings: Sequence[Finding], output: Output, closings: Mapping[int, Sequence[str]] | None = None
) -> None:
    """Print the result on stdout, for people with what closes the races, by the number of the finding; in a step of GitHub Actions, the form `github` also adds to the step's summary."""
    if output.form != "text":
        from ...reports.formats.forms import FORMS

        findings = output.timed(findings)
        text = FORMS[output.form](findings, output.style_with_pictures(findings))
        if output.form != "github":
            print_form(text)
        else:
            sys.stdout.write(text)
            add_to_step_summary(FORMS["markdown"](findings, output.style()))
    else:
        from ...reports.text.findings_text import print_report

        print_report(result_console(output.no_color), findings, output.extent, closings or {})


def write_directory(runs: Sequence[Run], findings: Sequence[Finding], output: Output) -> None:
    """Write the report directory, if one is asked for."""
    if output.report is None:
        return
    from ...analysis.stored.report_directory import write_report

    written = write_report(output.report, runs, output.timed(findings), output.style())
    message_console(output.no_color).print(f"wrote {output.report}: {len(written)} files", soft_wrap=True)


def draw(
    findings: Sequence[Finding],
    path: Path,
    no_color: bool = False,
    kind: Kind = "lanes",
    closings: Mapping[int, Sequence[str]] | None = None,
) -> list[Path]:
    """Draw every counterexample: the first into `path`, the others beside it with a number. `closings` has what closes the
    races, by the number of the finding.

    What cannot be drawn as this kind of drawing is named on stderr.
    """
    from ...reports.graphs import to_dot
    from ...reports.graphs.render import write_graph
    from ...reports.graphs.style import NotDrawn

    messages = message_console(no_color)
    violated = [(at, finding) for at, finding in enumerate(findings) if finding.trace is not None]
    if not violated:
        messages.print(f"no counterexample to draw: {path} was not written", soft_wrap=True)
    written = []
    for number, (at, finding) in enumerate(violated, 1):
        target = beside(path, number)
        try:
            dot = to_dot(finding, kind, (closings or {}).get(at, ()))
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
    from ...analysis.stored.saved_trace import stored_trace
    from ...reports.ci_outcome import subject
    from ...reports.stored import format_trace

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


STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file for the summary of a step."""


def add_to_step_summary(markdown: str) -> None:
    """Append to the summary, where there is one. Raises UsageProblem."""
    name = os.environ.get(STEP_SUMMARY)
    if name:
        append_text(STEP_SUMMARY, Path(name), markdown)
