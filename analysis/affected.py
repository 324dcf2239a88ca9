"""Which versions of the scheduler violate a property in a scenario: `podrace check --affected`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec

from ..base.problems import NotInRelease, UsageProblem
from ..base.text import counted
from ..checker.core.exploration import Budget
from ..reports.document import Finding
from ..reports.verdict_words import time_words
from .chain import verdicts
from .findings import was_cut_short
from .request.in_release import refusal_of
from .request.method import NOBODY, Method, Watcher
from .request.plan import Run, Selection, plan
from .request.release_names import known_releases


class Answered(msgspec.Struct, frozen=True):
    """One property of one scenario in versions that follow each other and give one answer, of which the first was searched."""

    scenario: str
    property: str
    versions: tuple[str, ...]
    finding: Finding

    @builtins.property
    def span(self) -> str:
        """For example `1.29.0 to 1.33.13`."""
        first, last = self.versions[0], self.versions[-1]
        return first if first == last else f"{first} to {last}"

    def as_row(self) -> dict[str, Any]:
        """For programs."""
        found = self.finding
        steps = None if found.trace is None else len(found.trace) + len(found.cycle)
        return {
            "scenario": self.scenario, "property": self.property, "versions": list(self.versions),
            "verdict": found.verdict, "steps": steps, "states": found.states,
            **{name: found.scope[name] for name in ("time", "slow") if name in found.scope},
        }  # fmt: skip

    def words(self) -> str:
        """The answer, and what it rests on."""
        found = self.finding
        if found.trace is not None:
            return f"{found.headline} after {counted(len(found.trace) + len(found.cycle), 'step')}"
        slow = str(found.scope.get("slow", ""))
        assumed = f", assumed: {time_words(slow)}" if "time" in found.scope else ""
        return f"{found.marked}, {found.states:,} states{assumed}"


def affected(
    selection: Selection, budget: Budget, method: Method, watcher: Watcher = NOBODY
) -> list[Answered]:
    """The answers of all versions of the model that have what is asked about, the newest last. Raises Problem.

    A version is searched once for each scheduler that it is: patch versions without a change that is modelled are one.
    """
    if selection.release is not None:
        raise UsageProblem("--affected asks all versions: leave out --release")
    if not selection.names and not selection.given:
        raise UsageProblem("--affected asks all versions about one race or scenario: name it")
    known: dict[Any, Finding | None] = {}
    rows: list[tuple[str, str, str, Any]] = []
    cut = False
    for version in known_releases():
        for run in _runs_of(selection, version):
            time = run.scenario.spec.scope.time
            key = run.scenario.file, run.property, run.composition.classes, time
            if key not in known and cut:
                continue
            if key not in known:
                known[key] = found = _answer(run, budget, method, watcher)
                cut = found is not None and was_cut_short(found)
            rows.append((run.scenario.name, run.property, version, key))
    return list(_grouped([row for row in rows if known[row[3]] is not None], known))


def _runs_of(selection: Selection, version: str) -> Sequence[Run]:
    """What is asked of one version; nothing where it does not have what the scenario asks for."""
    try:
        runs = plan(replace(selection, release=version))
    except NotInRelease:
        return ()
    return [run for run in runs if refusal_of(run.scenario, run.composition) is None and not run.ignored]


def _answer(run: Run, budget: Budget, method: Method, watcher: Watcher) -> Finding | None:
    try:
        return verdicts([run], budget, method, watcher)[0]
    except NotInRelease:
        return None


def _grouped(
    rows: Sequence[tuple[str, str, str, Any]], known: dict[Any, Finding | None]
) -> Iterator[Answered]:
    """Versions that follow each other with one verdict and one assumption together, a scenario and property after the other."""
    of_questions = sorted(dict.fromkeys((scenario, name) for scenario, name, *_ in rows))
    for scenario, name in of_questions:
        mine = [(version, known[key]) for s, n, version, key in rows if (s, n) == (scenario, name)]
        for _, same in groupby(mine, key=lambda row: _kind(row[1])):
            some = list(same)
            finding = some[0][1]
            assert finding is not None
            yield Answered(scenario, name, tuple(version for version, _ in some), finding)


def _kind(finding: Finding | None) -> Any:
    return finding and (finding.verdict, finding.vacuous, finding.scope.get("time"))
