"""`--report DIR`: every form of a report as a file, and for each counterexample its trace, its drawings and its states.

The same findings give the same bytes.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...base.files import is_draft
from ...base.problems import UsageProblem
from ...reports.audit_report import AuditReport
from ...reports.ci_outcome import Style
from ...reports.document import Finding
from ...reports.formats.audit_forms import FORMS as AUDIT_FORMS
from ...reports.formats.forms import FORMS, Form
from ...reports.graphs import Kind, to_dot
from ...reports.graphs.render import render
from ...reports.graphs.style import NotDrawn
from ...reports.stored import format_trace
from ..request.option_files import OutputDirectory, links_in, refuse_file
from ..request.plan import Run
from .saved_trace import stored_trace

FILES: Mapping[str, Form] = {
    "report.html": FORMS["html"],
    "report.json": FORMS["json"],
    "junit.xml": FORMS["junit"],
    "report.sarif": FORMS["sarif"],
    "summary.md": FORMS["markdown"],
}
"""The files about all findings."""

AUDIT_FILES: Mapping[str, Callable[[AuditReport], str]] = {
    "report.html": AUDIT_FORMS["html"],
    "report.json": AUDIT_FORMS["json"],
    "summary.md": AUDIT_FORMS["markdown"],
}
"""The same about audit logs."""

Drawing = Callable[[Finding, Style], str | bytes]

DRAWINGS: Mapping[str, Drawing] = {
    ".dot": lambda finding, style: to_dot(finding, "lanes"),
    ".svg": lambda finding, style: _drawn(finding, "lanes", style),
    ".cluster.svg": lambda finding, style: _drawn(finding, "cluster", style),
    ".lasso.svg": lambda finding, style: _drawn(finding, "lasso", style),
    ".mmd": lambda finding, style: FORMS["mermaid"]([finding], style),
}
"""The files about one counterexample, by their ending; its trace is beside them as `.trace.json`.

Where there is nothing to draw (no lasso), there is no such file.
"""

FOLDER = "counterexamples"
OPTION = "--report"


def refuse_unusable(folder: Path) -> None:
    """Find out before a long search that there can be no report in this directory. Raises UsageProblem.

    A directory with anything but an earlier report in it is left alone.
    """
    refuse_file(OPTION, folder)
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not os.access(existing, os.W_OK):
        raise UsageProblem(f"{OPTION}: cannot write into `{existing}`: permission denied")
    foreign = sorted(path.name for path in folder.iterdir() if not _is_ours(path)) if folder.exists() else []
    if foreign:
        raise UsageProblem(f"{OPTION}: `{folder}` holds other things (`{foreign[0]}`): name a new directory")
    if links := links_in(folder):
        raise UsageProblem(f"{OPTION}: `{links[0]}` is a link, and podrace writes through none: remove it")


def _is_ours(path: Path) -> bool:
    if path.name == FOLDER and path.is_dir():
        ours = (*DRAWINGS, ".trace.json")
        return all(inner.name.endswith(ours) or is_draft(inner.name) for inner in path.iterdir())
    return path.name in FILES or is_draft(path.name)


def write_report(folder: Path, runs: Sequence[Run], findings: Sequence[Finding], style: Style) -> list[Path]:
    """Write all files; what an earlier report left of counterexamples is removed. Raises UsageProblem, RenderError."""
    with OutputDirectory(OPTION, folder) as outer:
        stems = _stems(findings)
        style = replace(style, pictures={at: f"{FOLDER}/{stem}.svg" for at, stem in stems.items()})
        written = [outer.write(name, form(findings, style)) for name, form in FILES.items()]
        if stems or outer.has(FOLDER):
            with OutputDirectory(OPTION, folder / FOLDER, outer) as inner:
                inner.clear()
                for at, stem in stems.items():
                    written += _write_counterexample(inner, stem, runs[at], findings[at], style)
        return written


def write_audit_report(folder: Path, report: AuditReport) -> list[Path]:
    """Write every form of what audit logs say; what an earlier report left of counterexamples is removed. Raises UsageProblem."""
    with OutputDirectory(OPTION, folder) as outer:
        written = [outer.write(name, form(report)) for name, form in AUDIT_FILES.items()]
        if outer.has(FOLDER):
            with OutputDirectory(OPTION, folder / FOLDER, outer) as inner:
                inner.clear()
        return written


def _stems(findings: Sequence[Finding]) -> dict[int, str]:
    """How the files about each counterexample begin, by the number of the finding."""
    found: dict[int, str] = {}
    stems: Counter[str] = Counter()
    for at, finding in enumerate(findings):
        if finding.trace is not None:
            stem = file_stem(finding)
            stems[stem] += 1  # scenarios in different files may have the same name
            found[at] = stem if stems[stem] == 1 else f"{stem}-{stems[stem]}"
    return found


def _write_counterexample(
    inner: OutputDirectory, stem: str, run: Run, finding: Finding, style: Style
) -> list[Path]:
    written = [inner.write(f"{stem}.trace.json", format_trace(stored_trace(run, finding)))]
    for ending, draw in DRAWINGS.items():
        try:
            drawn = draw(finding, style)
        except NotDrawn:
            continue
        written.append(inner.write(stem + ending, drawn if isinstance(drawn, str) else drawn.decode()))
    return written


def _drawn(finding: Finding, kind: Kind, style: Style) -> bytes:
    return render(to_dot(finding, kind), "svg")


def file_stem(finding: Finding) -> str:
    """The beginning of the names of the files about one finding, such as `mine_1.13+72259_S-NOM`."""
    parts = (finding.scenario, finding.label.replace(" ", ""), finding.property)
    return "_".join(re.sub(r"[^A-Za-z0-9.+-]", "-", part) for part in parts)
