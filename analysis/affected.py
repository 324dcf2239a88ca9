"""Which versions of the scheduler violate a property in a scenario: `podrace check --affected`."""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from time import monotonic
from typing import Any

import msgspec

from ..base.problems import NotInRelease, Problem, UsageProblem
from ..base.structs import Data
from ..base.text import counted
from ..checker.core.exploration import Budget
from ..model.history import CHANGES
from ..reports.document import Finding
from ..reports.scheduler_version import in_part
from ..reports.verdict_words import time_words
from ..scenarios import Scenario
from .chain import verdicts
from .findings import was_cut_short
from .request.in_release import refusal_of
from .request.method import NOBODY, Method, Watcher
from .request.plan import Run, Selection, compose_for, plan
from .request.release_names import known_releases, parse_release, pre_releases
from .request.representative_cluster import Represented


class Answered(msgspec.Struct, frozen=True):
    """One property of one scenario in versions that follow each other and give one answer.

    `finding` is that of the first version, `last` that of the last one. `turn` says which change made this answer differ from the one of the versions before.
    """

    scenario: str
    property: str
    versions: tuple[str, ...]
    finding: Finding
    last: Finding
    turn: str = ""

    @builtins.property
    def span(self) -> str:
        """For example `1.29.0 to 1.33.13`."""
        first, last = self.versions[0], self.versions[-1]
        return first if first == last else f"{first} to {last}"

    def as_row(self) -> dict[str, Any]:
        """For programs."""
        found, steps = self.finding, _steps(self.finding)
        return {
            "scenario": self.scenario, "property": self.property, "versions": list(self.versions),
            "verdict": found.verdict, "steps": steps, "states": found.states, "turn": self.turn or None,
            "steps_in_last": _steps(self.last), "states_in_last": self.last.states,
            **{name: found.scope[name] for name in ("time", "slow") if name in found.scope},
            **({"with_scales": found.with_scales.verdict} if found.with_scales else {}),
            **({"in_part": told} if (told := in_part([self.last.version])) else {}),
        }  # fmt: skip

    def words(self) -> str:
        """The answer, and what it rests on."""
        found, last = self.finding, self.last
        if (steps := _steps(found)) is not None:
            after = f"{found.marked} after {counted(steps, 'step')}"
            return after if _steps(last) == steps else f"{after}, in {self.versions[-1]} after {_steps(last)}"
        slow = str(found.scope.get("slow", ""))
        assumed = f", assumed: {time_words(slow)}" if "time" in found.scope else ""
        others = "" if last.states == found.states else f", in {self.versions[-1]} {last.states:,}"
        return f"{found.marked}, {found.states:,} states{others}{assumed}"


def _steps(finding: Finding) -> int | None:
    return None if finding.trace is None else len(finding.trace) + len(finding.cycle)


def affected(
    selection: Selection,
    budget: Budget,
    method: Method,
    watcher: Watcher = NOBODY,
    seconds: float = 0,
    represented: Represented | None = None,
) -> list[Answered]:
    """The answers of all versions of the model that have what is asked about, the newest last; of the cluster of a dump with what is in doubt in each. Raises Problem.

    A version is searched once for each scheduler that it is: patch versions without a change that is modelled are one. For so many `seconds` in all, the
    change is looked for that opens or closes each range of versions.
    """
    if selection.release is not None:
        raise UsageProblem("--affected asks all versions: leave out --release")
    if not selection.names and not selection.given:
        raise UsageProblem("--affected asks all versions about one race or scenario: name it")
    known: dict[Any, Finding | None] = {}
    rows: list[_Row] = []
    cut = False
    # People ask about new versions, and a search can be cut short.
    for version in reversed((*known_releases(), *pre_releases())):
        for run in _runs_of(selection, version):
            time = run.scenario.spec.scope.time
            key = run.scenario.file, run.property, run.composition.classes, time
            if key not in known and cut:
                continue
            if key not in known:
                known[key] = found = _answer(run, budget, method, watcher)
                cut = found is not None and was_cut_short(found)
            if (finding := known[key]) is not None:
                if represented is not None:
                    (finding,) = represented.on(version).tell([run.scenario.file], [finding])
                rows.append(_Row(run, version, finding))
    rows.reverse()
    turns = _Turns(budget, method, watcher, monotonic() + seconds)
    return list(_grouped(rows, turns if seconds and represented is None else None))


class _Row(Data):
    """What one version was asked, and the answer."""

    run: Run
    version: str
    finding: Finding

    @builtins.property
    def question(self) -> tuple[str, str]:
        return self.run.scenario.name, self.run.property


class _Turns(Data):
    """Looks for the changes that open and close ranges of versions."""

    budget: Budget
    method: Method
    watcher: Watcher
    until: float

    def between(self, before: _Row, after: _Row) -> str:
        """The change that alone turns the answer of a version into that of the next one, in words; else how many changes there are."""
        missed, misses = ({change.key for change in row.run.composition.missing} for row in (before, after))
        candidates = sorted(
            missed ^ misses, key=lambda key: (key not in self._known(before.run), key in missed, key)
        )
        opens = "opened" if after.finding.verdict == "VIOLATED" else "closed"
        undecided = False
        for key in candidates:
            verdict = self._verdict(before.run, key, key in missed) if monotonic() < self.until else ""
            if verdict == after.finding.verdict:
                how = "" if key in missed else ", which was taken back"
                return f"{opens} by {key}{how}: {CHANGES[key].title}"
            undecided = undecided or verdict not in ("HOLDS", "VIOLATED")
        if undecided:
            return f"{opens} by one of {counted(len(candidates), 'change')}, or several together: not found in the time; --closing TIME allows more"
        return f"{opens} by none of {counted(len(candidates), 'change')} alone"

    def _known(self, run: Run) -> tuple[str, ...]:
        race = run.scenario.race
        return () if race is None else (*race.fixes, *(race.residual.closed_by if race.residual else ()))

    def _verdict(self, run: Run, key: str, added: bool) -> str:
        base = run.composition
        removed = tuple(k for k in base.removed if k != key) if added else (*base.removed, key)
        put_in = (*base.added, key) if added else tuple(k for k in base.added if k != key)
        try:
            changed = compose_for(run.scenario, base.release, put_in, removed, dict(base.gates))
            left = max(self.until - monotonic(), 0.1)
            limited = replace(self.budget, timeout=min(left, self.budget.timeout or left))
            found = _answer(replace(run, composition=changed), limited, self.method, self.watcher)
        except Problem:  # a change that needs another one
            return ""
        return "" if found is None else found.verdict


def open_in(
    release: str, scenarios: Iterable[Scenario], budget: Budget, method: Method, watcher: Watcher = NOBODY
) -> Iterator[Finding]:
    """The verdicts of scenarios in a version, one after the other; none for what the version does not have. Raises Problem."""
    version = parse_release(release)
    for scenario in scenarios:
        for run in _runs_of(Selection(given=(scenario,)), version):
            if (found := _answer(run, budget, method, watcher)) is not None:
                yield found


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


def _grouped(rows: Sequence[_Row], turns: _Turns | None) -> Iterator[Answered]:
    """Versions that follow each other with one verdict and one assumption together, a scenario and property after the other."""
    for scenario, name in sorted({row.question for row in rows}):
        before: _Row | None = None
        mine = [row for row in rows if row.question == (scenario, name)]
        for _, same in groupby(mine, key=lambda row: _kind(row.finding)):
            some = list(same)
            words = {before.finding.verdict, some[0].finding.verdict} if before is not None else set()
            turned = turns is not None and words == {"HOLDS", "VIOLATED"}
            turn = turns.between(before, some[0]) if turns and before and turned else ""
            versions = tuple(row.version for row in some)
            yield Answered(scenario, name, versions, some[0].finding, some[-1].finding, turn)
            before = some[-1]


def _kind(finding: Finding) -> Any:
    return (
        finding.verdict,
        finding.vacuous,
        finding.scope.get("time"),
        finding.with_scales and finding.with_scales.verdict,
    )
