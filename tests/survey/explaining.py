"""Which known changes a violation goes away with: those of upstream that the release lacks, and the patches of open hazards.

The set that is given makes the property hold in the very cluster of the violation; members that were not needed are left out.
There may be others: what removed a violation elsewhere is tried first, then the races of the catalogue and single changes and
patches, then many at once, from which whatever is not needed is taken out again (Zeller and Hildebrandt, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from podrace.checker.core.result import Verdict
from podrace.checker.trace.cross_system_replay import replay_across
from podrace.checker.trace.execution import ReplayError, confirm
from podrace.model.history import CHANGES, Composition, Patch, resolve
from podrace.model.language import Component, ModelError
from podrace.scenarios import catalogue
from tests.races import actor_patches, hazard_patches, taint_patches
from tests.survey.finding import Found, decide, system_of

HAZARDS: dict[str, tuple[type[Component], ...]] = {
    name: (getattr(hazard_patches, name), *(hazard_patches.BESIDE.get(name, ())))
    for name in (
        "FreshRequeue", "GhostsRefused", "RegisteredToTheEnd", "VersionedCondition", "AskedBeforeForgotten", "Barrier", "Fenced",
        "BoundElsewhereWakes", "AlwaysActivated", "NodeRemovedFirst", "GoneNotAssumed", "PlacedNotAdded",
        "TombstonesWakeLikeDeletions",
    )
}  # fmt: skip
"""The patches of docs/hazards.md, by name: those that the survey knew."""

EVERYDAY: dict[str, tuple[type[Component], ...]] = {
    **HAZARDS,
    **{
        name: (getattr(hazard_patches, name),)
        for name in (
            "TermsOfOthersHeard", "CountedNodesHeard", "LostDomainsHeard", "RelabelledPeersHeard", "AnyTermHeard",
            "RequeueLooksAgain", "VictimsAwaitedByUID", "VictimsDeletedByUID", "WrittenByUID", "NominatedByUID", "NominationsInMemoryHeard", "LooksAgain",
            "VictimsPaidFor",
        )
    },
}  # fmt: skip
"""With those for clusters that change from day to day."""

ACTING: dict[str, tuple[type[Component], ...]] = {
    name: (getattr(of, name),)
    for of, names in (
        (taint_patches, ("LiveTaintsAsked", "TaintedDeletedByUID", "WorksByUID")),
        (actor_patches, ("KeptForPending", "ListsAfresh")),
    )
    for name in names
}
"""Those for what others do."""

PATCHES = {**EVERYDAY, **ACTING}

Changes = tuple[str, ...]
T = TypeVar("T")

UNDECIDED: Changes = ("?",)
"""No set was found, and of some it is not known whether the property holds with them."""

MOST_STATES = 2_000_000
"""Where a search for what explains a violation is given up."""


@dataclass
class Explainer:
    """Explains the violations of one release.

    `successes` gives for a property the sets that explained others, the last first; `hopeless` are properties with faults for which many
    changes at once were of no use: for these nothing but such sets and the races of the catalogue is tried. `patches` are those that are
    known; a search for what explains a violation is given up at `most_states`. With `only_known` nothing is tried that did not explain another
    violation, but for the races of the catalogue.
    """

    release: str
    successes: dict[str, list[Changes]] = field(default_factory=dict)
    hopeless: set[tuple[str, str]] = field(default_factory=set)
    patches: tuple[str, ...] = tuple(HAZARDS)
    most_states: int = MOST_STATES
    only_known: bool = False

    def __post_init__(self) -> None:
        lacking = [change.key for change in CHANGES.values() if not change.is_in(self.release)]
        races = [s.race for s in catalogue() if s.race is not None]
        raced = dict.fromkeys(
            k for r in races for k in (*r.after, *(r.residual.closed_by if r.residual else ()))
        )
        self._raced = tuple(k for k in raced if k in lacking)
        self._others = tuple(k for k in lacking if k not in raced)
        groups = [
            (*r.after, *more) for r in races for more in ((), r.residual.closed_by if r.residual else ())
        ]
        self._groups = [self._here(group) for group in groups]

    def explain(self, found: Found) -> Changes | None:
        """A set of changes with which the property holds; no single one of them can be left out.

        None if every set that was tried leaves a violation, UNDECIDED if some search was given up.
        """
        asked = _Asked(found, self.most_states)
        hopeless = self.only_known or (found.property_id, found.fault) in self.hopeless
        earlier = [self._here(changes) for changes in self.successes.get(found.property_id, [])]
        singles = () if hopeless else (*self._raced, *self.patches)
        for guess in dict.fromkeys(g for g in (*earlier, *self._groups, *((k,) for k in singles)) if g):
            if asked.holds_with(guess):
                return self._noted(found, smallest(guess, asked.holds_with))
        if hopeless:
            return UNDECIDED if asked.undecided else None
        patched = (*self._raced, *self.patches)
        upstream = (*self._raced, *self._others)
        for whole in (self._raced, patched, upstream, (*patched, *self._others)):
            if whole and asked.holds_with(whole, however=True):
                return self._noted(found, smallest(whole, asked.holds_with))
        self.hopeless.add((found.property_id, found.fault))
        return UNDECIDED if asked.undecided else None

    def _here(self, changes: Changes) -> Changes:
        """Those that the release lacks."""
        return tuple(k for k in changes if k in self._raced or k in self._others or k in self.patches)

    def _noted(self, found: Found, changes: Changes) -> Changes:
        others = [known for known in self.successes.get(found.property_id, []) if known != changes]
        self.successes[found.property_id] = [changes, *others]
        return changes


class _Asked:
    """Whether one violation goes away with a set of changes, each set asked about once."""

    def __init__(self, found: Found, most_states: int) -> None:
        self._found, self._most_states = found, most_states
        self._known: dict[frozenset[str], bool] = {}
        self.undecided = False

    def holds_with(self, changes: Sequence[str], *, however: bool = False) -> bool:
        chosen = frozenset(changes)
        if chosen not in self._known:
            self._known[chosen] = self._ask(changes, however)
        return self._known[chosen]

    def _ask(self, changes: Sequence[str], however: bool) -> bool:
        found, composition = self._found, with_changes(self._found.release, changes)
        try:
            if not however and self._runs_again(composition):
                return False
            verdict = decide(found.spec, composition, found.property_id, self._most_states).verdict
            self.undecided |= verdict is Verdict.INCONCLUSIVE
            return verdict is Verdict.HOLDS
        except (ModelError, AttributeError, TypeError, KeyError):
            return False  # a patch for another release: it does not fit here

    def _runs_again(self, composition: Composition) -> bool:
        """Whether the very same run is possible, and a violation: then there is nothing to search for."""
        found = self._found
        system = system_of(found.spec, composition, found.property_id)
        if found.property_id not in system.invariants:
            return False
        replayed_across = replay_across(system, found.schedule)
        if replayed_across.stopped_at is not None:
            return False
        try:
            confirm(system, replayed_across.path, found.property_id)
        except ReplayError:
            return False
        return True


def smallest(candidates: tuple[T, ...], suffices: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Candidates that suffice while no single one of them can be left out: ever smaller parts are taken away, the last first.

    All of them must suffice. Asks `suffices` for far fewer sets than there are where few candidates matter.
    """
    kept, size = candidates, len(candidates)
    while size > 1 or kept != candidates:
        candidates, size = kept, max(1, size // 2)
        end = len(kept)
        while end > 0:
            fewer = kept[: max(0, end - size)] + kept[end:]
            if fewer and suffices(fewer):
                kept = fewer
            end -= size
    return kept


def with_changes(release: str, changes: Sequence[str]) -> Composition:
    """The release with these changes of upstream and patches put in."""
    upstream = [name for name in changes if name not in PATCHES]
    return resolve(release, upstream).patched([_patch(name) for name in changes if name in PATCHES])


def _patch(name: str) -> Patch:
    return Patch(name, name, PATCHES[name])
