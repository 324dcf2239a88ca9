"""Real counterexamples for tests, each searched once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from podrace.analysis.findings import finding_of
from podrace.analysis.request.plan import Run, Selection, plan
from podrace.analysis.systems import system_of
from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.reports.document import Finding


@dataclass(frozen=True)
class Checked:
    """A finding, and what every variable was in each state of its counterexample."""

    finding: Finding
    states: list[dict[str, Any]]
    run: Run


@cache
def nomination() -> Checked:
    """The seed race 72124."""
    return _checked(Selection(names=("72124",), without_fixes=("72259",)))


@cache
def wiped() -> Checked:
    """A nomination that an older update wipes."""
    return _checked(Selection(names=("wiped-nomination",)))


@cache
def closed() -> Checked:
    """The same with its fix."""
    return _checked(Selection(names=("wiped-nomination",), with_fixes=("77990",)))


@cache
def pair() -> tuple[Finding, ...]:
    """The wiped nomination before and after its fix."""
    return wiped().finding, closed().finding


def _checked(selection: Selection) -> Checked:
    (run,) = plan(selection)
    system = system_of(run)
    (result,) = check(system, [run.property], Budget(jobs=1))
    states = [] if result.trace is None else [system.describe(state) for state in result.trace.states]
    return Checked(finding_of(run, system, result), states, run)
