"""What closes a race: the change, or the later release, with which the property holds. It is found by trying, in bounded time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import get_type_hints

from ..base.problems import Problem, Terminated
from ..base.text import listed
from ..checker.core.exploration import Budget
from ..model.cluster import Cluster
from ..model.history import CHANGES, RELEASES, Composition, version_of
from ..model.history.versions import exact
from ..reports.document import Finding, Word
from ..reports.step import ShownStep
from ..scenarios import selected
from .chain import bare_verdict
from .findings import was_cut_short
from .request.method import NOBODY, Method, Watcher
from .request.plan import Run, compose_for
from .request.release_names import NEWEST

Closings = Mapping[int, Sequence[str]]
"""Sentences about what closes a race, by the number of the finding."""

MOST_STATES = 300_000
"""So far is looked at a release of which it is known already which of its changes closes the race."""

MORE = "--closing TIME allows more."
OVER = f"Not looked for: the time for that is over. {MORE}"


def closings(
    runs: Sequence[Run],
    findings: Sequence[Finding],
    budget: Budget,
    method: Method,
    seconds: float,
    watcher: Watcher = NOBODY,
) -> Closings:
    """For each violated finding what closes its race; all together take so many seconds at most.

    Of a scenario that leaves numbers open, and with patches of the user's own, nothing is said.
    """
    if any(map(was_cut_short, findings)):
        return {}
    until = monotonic() + seconds
    found: dict[int, Sequence[str]] = {}
    for number, (run, finding) in enumerate(zip(runs, findings, strict=True)):
        if finding.trace is None or run.scenario.open or run.composition.patches:
            continue
        search = _Search(run, finding.trace, budget, method, until, watcher)
        try:
            found[number] = search.untried() if monotonic() >= until else search.sentences()
        except Terminated:
            break
    return found


class _Search:
    """What closes one race. Every answer is a verdict of the chain; one that is not in time is none."""

    def __init__(
        self,
        run: Run,
        trace: Sequence[ShownStep],
        budget: Budget,
        method: Method,
        until: float,
        watcher: Watcher,
    ) -> None:
        self._run, self._trace, self._budget, self._method = run, trace, budget, method
        self._until, self._watcher = until, watcher
        self._known: dict[str, Finding] = {}

    def untried(self) -> list[str]:
        """What is said when the time is over: the changes that may close the race, and the versions that have them."""
        known = [f"{key}: {CHANGES[key].title}; {CHANGES[key].where}." for key in self._named()]
        coming = self._coming()
        return [
            OVER,
            *(["This race is known to be fixed by:", *known] if known else []),
            *([f"Changes that no release has yet, not tried: {', '.join(coming)}."] if coming else []),
        ]

    def _coming(self) -> list[str]:
        return sorted(change.key for change in self._base.missing if change.is_coming)

    @property
    def _base(self) -> Composition:
        return self._run.composition

    def sentences(self) -> list[str]:
        """What closes the race, or how far that is known."""
        if catalogued := self._catalogued():
            return catalogued
        named = self._named()
        for keys in dict.fromkeys([*((key,) for key in named), tuple(named)]):
            if keys and self._verdict(with_keys := self._with(keys)) == "HOLDS":
                assert with_keys is not None
                finding = self._known[with_keys.label]
                holds = f"{finding.property} holds in all {finding.states:,} states of the same cluster"
                lines = _closed_by(keys, holds)
                # The system of a release is about as large: where that is too much to look at, nothing would come of it.
                small = self._known[with_keys.label].states <= MOST_STATES
                return [*lines, *self._first_release(keys)] if small else lines
        lines = self._does_not(named)
        return lines if self._is_over else [*lines, *self._by_release()]

    # --- the changes that are named: those that were taken out, and the race's own -------------------------

    def _named(self) -> list[str]:
        """The changes to be tried first: those that were taken out, and those that the race is known by."""
        race = self._run.scenario.race
        residual = race.residual.closed_by if race is not None and race.residual is not None else ()
        known = (*self._base.removed, *(race.fixes if race is not None else ()), *residual)
        missing = {change.key for change in self._base.missing}
        return [key for key in dict.fromkeys(known) if key in missing]

    def _catalogued(self) -> list[str]:
        """The same of a race of the catalogue that is asked as it stands there: its tests search the whole cluster with the fixes."""
        scenario, race, name = self._run.scenario, self._run.scenario.race, self._run.property
        if race is None or scenario.release is None:
            return []
        closed_by: tuple[str, ...] = ()
        if name in scenario.properties:
            closed_by = race.fixes
        elif race.residual is not None and name == race.residual.property:
            closed_by = tuple(dict.fromkeys((*race.fixes, *race.residual.closed_by)))
        if not closed_by:
            return []
        if scenario not in selected(str(race.issue)):
            return []
        if self._base != compose_for(scenario, scenario.release, race.beside, ()):
            return []
        options = " ".join(f"--with-fix {key}" for key in dict.fromkeys((*closed_by, *race.beside)))
        search = f"`podrace check {scenario.name} --property {name} {options}` explores it"
        return _closed_by(closed_by, f"{name} holds in the same cluster; {search}")

    def _first_release(self, keys: Sequence[str]) -> list[str]:
        """What the first release with these changes gives, if there is a later one."""
        last = max((CHANGES[key].first_in for key in keys), key=version_of)
        if last not in _later(self._base.release):
            return []
        verdict = self._verdict(self._at(last), MOST_STATES)
        said = {"HOLDS": "the property holds, too", "VIOLATED": "a run still violates the property"}
        undecided = f"no violation was found within {MOST_STATES:,} states"
        whose = "them" if len(keys) > 1 else "it"
        return [f"In {exact(last)}, the first release with {whose}, {said.get(verdict, undecided)}."]

    def _does_not(self, named: Sequence[str]) -> list[str]:
        lines = []
        for key in named:
            composition = self._with((key,))
            verdict = self._verdict(composition)
            if verdict == "VIOLATED":
                lines.append(f"{key} does not close it by itself: a run still violates the property.")
            elif composition is not None and composition.label in self._known:
                states = self._known[composition.label].states
                lines.append(
                    f"Whether {key} closes it was not decided in the time: no violation was found among {states:,} states. {MORE}"
                )
        return lines or (self.untried() if self._is_over else [])

    @property
    def _is_over(self) -> bool:
        return monotonic() >= self._until

    # --- the later releases -------------------------------------------------------------------------------

    def _by_release(self) -> list[str]:
        later = _later(self._base.release)
        if not later:
            return ["The model has no later release.", *self._by_coming_change()]
        newest = later[-1]
        verdict = self._verdict(self._at(newest))
        if verdict == "VIOLATED":
            return [
                f"It is still there in {exact(newest)}, the newest version.",
                *self._by_coming_change(),
            ]
        if verdict != "HOLDS":
            return [
                f"Not found: {exact(newest)}, the newest version, was not decided in the time.",
                *self._by_coming_change(),
            ]
        low, high = self._base.release, newest
        between = list(later[:-1])
        while between:
            middle = between[len(between) // 2]
            verdict = self._verdict(self._at(middle))
            if verdict == "HOLDS":
                high, between = middle, between[: len(between) // 2]
            elif verdict == "VIOLATED":
                low, between = middle, between[len(between) // 2 + 1 :]
            else:
                return [
                    f"It is gone in {exact(high)}, and still there in {exact(low)}; which release between them closes it was not decided in the time."
                ]
        return [
            f"It is gone in {exact(high)}, and still there in {exact(low)}.",
            *self._by_change_of(low, high),
        ]

    def _by_change_of(self, low: str, high: str) -> list[str]:
        before, after = self._at(low), self._at(high)
        assert before is not None
        assert after is not None
        left = {change.key for change in after.missing}
        brought = [change.key for change in before.missing if change.key not in left]
        key = self._first_that_closes(brought, low)
        if key is None:
            return [f"Which of the {len(brought)} changes that it brought closes it was not found."]
        return [f"Of what {exact(high)} brought, {key} closes it by itself: {CHANGES[key].title}."]

    def _by_coming_change(self) -> list[str]:
        acted = {step.component for step in self._trace}
        parts = tuple(part for name, part in get_type_hints(Cluster).items() if name in acted)

        def is_far(key: str) -> bool:
            """Whether it changes only parts that take no step in the violation."""
            return not any(issubclass(one, parts) for one in CHANGES[key].classes)

        key = self._first_that_closes(sorted(self._coming(), key=is_far), self._base.release)
        if key is not None:
            return [f"{key} closes it: {CHANGES[key].title}; {CHANGES[key].where}."]
        if self._is_over:
            return [
                f"Whether one of the {len(self._coming())} unreleased changes closes it was not decided in the time. {MORE}"
            ]
        return ["podrace found no unreleased change that closes it."]

    def _first_that_closes(self, keys: Iterable[str], release: str) -> str | None:
        return next((key for key in keys if self._verdict(self._with((key,), release)) == "HOLDS"), None)

    # --- trying -------------------------------------------------------------------------------------------

    def _with(self, keys: Sequence[str], release: str | None = None) -> Composition | None:
        removed = [key for key in self._base.removed if key not in keys] if release is None else []
        return self._composed(release or self._base.release, [*self._base.added, *keys], removed)

    def _at(self, release: str) -> Composition | None:
        return self._composed(release, self._base.added, ())

    def _composed(self, release: str, added: Sequence[str], removed: Sequence[str]) -> Composition | None:
        try:
            gates = dict(self._base.gates)
            return compose_for(self._run.scenario, release, list(dict.fromkeys(added)), removed, gates)
        except Problem:  # a gate that is not there, or contradicts a change
            return None

    def _verdict(self, composition: Composition | None, most_states: int | None = None) -> Word:
        if composition is None:
            return "INCONCLUSIVE"
        if composition.label not in self._known:
            left = self._until - monotonic()
            if left <= 0:
                return "INCONCLUSIVE"
            self._watcher.start(f"what closes it: {composition.label}?")
            budget = replace(
                self._budget,
                timeout=min(left, self._budget.timeout or left),
                max_states=most_states or self._budget.max_states,
            )
            run = replace(self._run, composition=composition, expected=None, expected_steps=None)
            try:
                self._known[composition.label] = bare_verdict(
                    run, budget, self._method, self._watcher.watch, self._trace
                )
            except Problem:  # a property of the user's own that this release has not what it takes for
                return "INCONCLUSIVE"
        return self._known[composition.label].verdict


def _closed_by(keys: Sequence[str], holds: str) -> list[str]:
    close, them = ("together close", "them") if len(keys) > 1 else ("closes", "it")
    return [
        f"{listed(keys)} {close} it: with {them}, {holds}.",
        *(f"{key}: {CHANGES[key].title}; {CHANGES[key].where}." for key in keys),
    ]


def _later(release: str) -> tuple[str, ...]:
    return tuple(name for name in (*RELEASES[:-1], NEWEST) if version_of(name) > version_of(release))
