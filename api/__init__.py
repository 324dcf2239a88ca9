"""podrace for Python programs: `from podrace.api import check`.

    findings = check("72124", release="1.13", with_fix="72259", property="S-NOM")
    findings[0].verdict            # "VIOLATED"
    print(text_of(findings))       # what `podrace check` prints

`expect` does the same, and raises an AssertionError with the counterexample if a verdict is not the expected one.
In pytest, the fixture `podrace` has both (see docs/pytest.md).
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..analysis.chain import verdicts
from ..analysis.closing import closings
from ..analysis.request import own_code
from ..analysis.request.method import Method, budget_for, cache_folder
from ..analysis.request.own_properties import by_identifier
from ..analysis.request.plan import Selection, plan
from ..analysis.request.representative_cluster import Manifests, Represented, Size, scenario_from
from ..audit.audit import Asked, audit_logs
from ..audit.checks.check import Window
from ..audit.reading.records import time_of
from ..base.problems import Problem, UsageProblem
from ..base.text import one_line
from ..properties import PROPERTIES
from ..reports.audit_report import Answer, AuditReport
from ..reports.ci_outcome import message, subject
from ..reports.document import Finding, Word, about_of
from ..reports.text.audit_text import print_audit
from ..reports.text.filtered_console import FilteredConsole
from ..reports.text.findings_text import print_report
from .arguments import (
    Cache,
    Chosen,
    Closing,
    Dump,
    Flag,
    Focus,
    Jobs,
    Log,
    Memory,
    Names,
    Namespace,
    Nodes,
    Objects,
    Pods,
    Properties,
    Release,
    Scenario,
    Skew,
    States,
    Steps,
    Time,
    Timeout,
    Verdict,
    as_number,
    checked,
)

_WORDS: dict[Verdict, Word] = {"holds": "HOLDS", "violated": "VIOLATED"}

WIDTH = 100
"""How wide texts are."""


class NotAsExpected(AssertionError):
    """A verdict that is not the expected one. The message has the counterexample, if there is one."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        wrong = [finding for finding in findings if not finding.as_expected]
        lines = [f"{subject(finding)}: {message(finding)}" for finding in wrong]
        super().__init__("\n".join(lines) + "\n\n" + text_of(wrong))


@checked
def check(
    *scenarios: Scenario,
    release: Release = None,
    with_fix: Names = (),
    without_fix: Names = (),
    gate: Names = (),
    property: Properties = (),
    max_states: States = None,
    max_memory: Memory = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    engine: Chosen = "native",
    cache: Cache = True,
    closing: Closing = 0,
    filename: Objects = (),
    recursive: Flag = False,
    strict: Flag = False,
    pods: Pods = 3,
    nodes: Nodes = 2,
    focus: Focus = None,
    controllers: Flag = False,
) -> list[Finding]:
    """Return the verdicts on the properties of scenarios, as `podrace check` does for the same options.

    A scenario is a name, an issue, a fix or a file, as on the command line. A property of your own is its class. Without `property`,
    podrace checks the scenario's own properties. A feature gate is set as in `SchedulerAsyncPreemption=false`.
    `max_memory` is in bytes (default: four fifths of the free memory), `timeout` in seconds. Texts such as "5M", "4G" and "5m" work, too.
    Verdicts are cached where `podrace check` caches them. `cache` names another directory; with False nothing is cached.
    `closing` is the number of seconds for which podrace searches for changes that close the races (`podrace check`: 20). `text_of` prints them.
    `filename` names Kubernetes objects as kubectl prints them. podrace checks a small cluster of them. The arguments from `recursive` to
    `controllers` are the options of the command for these objects (docs/manifests.md). `about` of the findings says which objects were kept.
    Raises Problem for wrong or unknown arguments.
    """
    own_code.watch()
    size = Size(int(pods), int(nodes), controllers)
    represented = _represented(
        Manifests(_paths(filename), recursive, strict, size, focus, None, release, gates=_names(gate))
    )
    selection = _selection(scenarios, release, with_fix, without_fix, gate, property, represented)
    budget = budget_for(as_number(max_states), as_number(max_memory), as_number(timeout), as_number(jobs))
    folder = cache_folder(None if isinstance(cache, bool) else Path(cache), cache is False)
    method = Method(engine, folder)
    runs = plan(selection)
    findings = verdicts(runs, budget, method)
    if remark := own_code.remark():
        findings = [msgspec.structs.replace(finding, notes=(*finding.notes, remark)) for finding in findings]
    if represented is not None:
        findings = represented.tell([run.scenario.file for run in runs], findings)
    seconds = as_number(closing)
    if not seconds:
        return findings
    found = closings(runs, findings, budget, method, seconds)
    return [
        msgspec.structs.replace(finding, closing=tuple(found[number])) if number in found else finding
        for number, finding in enumerate(findings)
    ]


@checked
def expect(
    verdict: Verdict,
    *scenarios: Scenario,
    release: Release = None,
    with_fix: Names = (),
    without_fix: Names = (),
    gate: Names = (),
    property: Properties = (),
    steps: Steps = None,
    max_states: States = None,
    max_memory: Memory = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    cache: Cache = True,
    filename: Objects = (),
    recursive: Flag = False,
    strict: Flag = False,
    pods: Pods = 3,
    nodes: Nodes = 2,
    focus: Focus = None,
    controllers: Flag = False,
) -> list[Finding]:
    """Like `check`, but raises NotAsExpected unless every property has the expected verdict: it holds, or it is violated (after `steps` steps).

    An undecided property is never as expected, and neither is a property that the scenario ignores.
    """
    __tracebackhide__ = True
    if steps is not None and verdict != "violated":
        raise UsageProblem("what holds has no counterexample: leave out `steps`")
    found = check(
        *scenarios,
        release=release,
        with_fix=with_fix,
        without_fix=without_fix,
        gate=gate,
        property=property,
        max_states=max_states,
        max_memory=max_memory,
        timeout=timeout,
        jobs=jobs,
        cache=cache,
        filename=filename,
        recursive=recursive,
        strict=strict,
        pods=pods,
        nodes=nodes,
        focus=focus,
        controllers=controllers,
    )
    told = [msgspec.structs.replace(f, expected=_WORDS[verdict], expected_steps=steps) for f in found]
    if not all(finding.as_expected for finding in told):
        raise NotAsExpected(told)
    return told


@checked
def audit(
    *logs: Log,
    initial: Dump = None,
    complete: Flag = False,
    clock_skew: Skew = 0.05,
    since: Time = None,
    until: Time = None,
    namespace: Namespace = None,
    property: Names = (),
) -> AuditReport:
    """Return what audit logs say about scheduling invariants, as `podrace audit` does for the same options.

    `clock_skew` is in seconds, or a text such as "50ms"; `since` and `until` are RFC 3339. Raises Problem for wrong or unknown arguments.
    """
    times = []
    for name, text in (("since", since), ("until", until)):
        times.append(None if text is None else time_of(text))
        if text is not None and times[-1] is None:
            raise UsageProblem(
                f"{name}: `{one_line(text)}` is no time: write for example 2026-02-01T10:00:00Z"
            )
    return audit_logs(
        Asked(
            [str(log) for log in logs],
            [] if initial is None else [str(initial)],
            complete,
            round((as_number(clock_skew) or 0) * 1_000_000),
            Window(times[0], times[1], namespace),
            _names(property),
        )
    )


class Broken(AssertionError):
    """Audit logs in which an invariant is broken, or may be broken. The message says how."""

    def __init__(self, report: AuditReport, wrong: Sequence[Answer]) -> None:
        self.report = report
        lines = [f"{answer.property} {answer.verdict}: {answer.words}" for answer in wrong]
        super().__init__("\n".join(lines) + "\n\n" + text_of_audit(report))


@checked
def expect_kept(*logs: Log, excluded: Flag = False, **options: Any) -> AuditReport:
    """Like `audit`, but raises Broken if an invariant was HIT. With `excluded`, raises Broken unless every invariant is EXCLUDED."""
    report = audit(*logs, **options)
    fine = ("EXCLUDED",) if excluded else ("EXCLUDED", "NOT EXCLUDED")
    wrong = [answer for answer in report.answers if answer.verdict not in fine]
    if wrong:
        raise Broken(report, wrong)
    return report


def text_of_audit(report: AuditReport, width: int = WIDTH) -> str:
    """The answers as `podrace audit` prints them, without colours."""
    written = io.StringIO()
    print_audit(FilteredConsole(written, width, no_color=True), report)
    return written.getvalue()


def text_of(findings: Sequence[Finding], width: int = WIDTH) -> str:
    """The findings as `podrace check` prints them, without colours."""
    written = io.StringIO()
    console = FilteredConsole(written, width, no_color=True)
    if about := about_of(findings):
        console.print("\n".join(about), "", sep="\n", soft_wrap=True, markup=False)
    # Equal findings give equal texts, however long they took.
    print_report(console, [msgspec.structs.replace(f, seconds=None) for f in findings])
    return written.getvalue()


def _selection(
    scenarios: Sequence[str | Path],
    release: str | None,
    with_fix: Names,
    without_fix: Names,
    gate: Names,
    wanted: Properties,
    represented: Represented | None,
) -> Selection:
    if not scenarios and represented is None:
        raise UsageProblem("name a scenario: what `podrace races` lists, or a YAML file")
    given = [wanted] if isinstance(wanted, (str, type)) else list(wanted)
    own = by_identifier(
        [p for p in dict.fromkeys(given) if isinstance(p, type) and p not in PROPERTIES.values()],
        lambda cls, what: UsageProblem(f"property: {cls.__name__}{what}"),
    )
    return Selection(
        names=[str(scenario) for scenario in scenarios],
        release=release,
        with_fixes=_names(with_fix),
        without_fixes=_names(without_fix),
        properties=[p if isinstance(p, str) else p.id for p in given],
        own=own,
        given=(represented.scenario,) if represented else (),
        remark=represented.caveat if represented else "",
        gates=_names(gate),
    )


def _represented(asked: Manifests) -> Represented | None:
    """What is kept of the objects that are named, if any are."""
    if asked.names:
        return scenario_from(asked, lambda _: None)  # what is to be remarked is told with the findings
    if asked != Manifests([], release=asked.release, gates=asked.gates):
        raise UsageProblem(
            "recursive, strict, pods, nodes, focus and controllers are about Kubernetes objects: name some with filename"
        )
    return None


def _paths(given: Objects) -> list[str]:
    return [str(given)] if isinstance(given, (str, Path)) else [str(one) for one in given]


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


__all__ = [
    "AuditReport",
    "Broken",
    "Finding",
    "NotAsExpected",
    "Problem",
    "UsageProblem",
    "audit",
    "check",
    "expect",
    "expect_kept",
    "text_of",
    "text_of_audit",
]

own_code.watch()  # what a program changes from here on is noticed
