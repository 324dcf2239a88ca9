"""A change of kube-scheduler's own code judged: what it touches, whether that was executed, and what became of the known races.

judged = judge(change, what, Effort(budget), go, tell)
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ...analysis.request.method import NOBODY, USUAL, Method, Watcher
from ...base.problems import UsageProblem
from ...checker.core.exploration import Budget
from ...reports.verify.code_change import Beyond, CodeChange, Race, Toured, answer_of
from ...scenarios import Scenario
from ..across import everything
from ..lockstep.request import plays
from ..modules.toolchain import BuildProblem, Go
from ..request import release_of
from ..running import Built, built_for
from .beyond import Place, beyond
from .damage import damaged_texts, is_jump, is_told_only, unexercised
from .departures import departures, start_of
from .functions import WhatChanged
from .lines import NOTHING, ChangedLine, Counted, changed_lines, lines_of, packages_of
from .replays import (
    Counterexample,
    Replay,
    counterexamples,
    place_of,
    race_of,
    replay,
    verdict_without_change,
)
from .sources import Change, changed_tree, tree_with

SEARCH_SECONDS = 20.0
"""How long one counterexample is searched for, unless --timeout says otherwise."""

MOST_DAMAGED = 12
"""In so many replays, the shortest first, the damage of a line is looked for."""

Told = Callable[[Race], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How a change is judged: `scenarios` are those whose counterexamples are replayed, all of them (`whole`) unless some are named."""

    budget: Budget
    method: Method = USUAL
    scenarios: Sequence[Scenario] = field(default_factory=everything)
    whole: bool = True


def cannot_matter(what: WhatChanged, name: str, base: str, notes: Sequence[str] = ()) -> CodeChange:
    """The judgement of a change that is not compiled into the scheduler, or only where nothing is looked at."""
    if what.unjudged:
        return CodeChange(
            name, base, "INCONCLUSIVE", unjudged_words(what), (), what.passed_over, notes=tuple(notes)
        )
    kinds = sorted({why for _, why in what.passed_over})
    because = (
        f"nothing of it is compiled into kube-scheduler: {'; '.join(kinds)}" if kinds else "nothing differs"
    )
    return CodeChange(name, base, "CANNOT MATTER", because, (), what.passed_over, notes=tuple(notes))


def unjudged_words(what: WhatChanged) -> str:
    """What is said of files of other modules."""
    more = f" and {len(what.unjudged) - 1} more" if len(what.unjudged) > 1 else ""
    return f"{what.unjudged[0]}{more} may be part of kube-scheduler and is not judged: it belongs to another module"


def judge(
    change: Change, what: WhatChanged, effort: Effort, go: Go, tell: Told, watcher: Watcher = NOBODY
) -> CodeChange:
    """The judgement of a change that is compiled into the scheduler. Raises GoProblem, and UsageProblem for one that does not compile."""
    return _Judging(change, what, effort, go, tell, watcher).judged()


@dataclass
class _Played:
    """A counterexample on the code before and after the change."""

    one: Counterexample
    sides: tuple[Replay, Replay]


class _Judging:
    def __init__(
        self, change: Change, what: WhatChanged, effort: Effort, go: Go, tell: Told, watcher: Watcher
    ) -> None:
        self.change, self.what, self.effort, self.go, self.tell, self.watcher = (
            change, what, effort, go, tell, watcher,
        )  # fmt: skip
        self.release = release_of(change.version)
        self.lines = changed_lines(what.files)
        self.played: list[_Played] = []
        self.races: list[Race] = []
        self.places: list[Place] = []

    def judged(self) -> CodeChange:
        """Replays, then tours and what is beyond the departures unless a race opens, then damages unless a difference was seen."""
        change, what = self.change, self.what
        built: list[Built] = []
        try:
            with changed_tree(change, self.watcher.say) as tree:
                built.append(taken(self._built(tree, change.name)))
            built.insert(0, self._built(change.base_tree, change.base_words))
            self._replay(built[0], built[1])
            tours = None if self._opens else self._tours(built[0], built[1])
            searched = () if self._opens else self._beyond(built[0], built[1])
        finally:
            for one in built[-1:]:
                shutil.rmtree(one.folder, ignore_errors=True)
        found: Counted = NOTHING
        for played in self.played:
            for side in played.sides:
                found |= side.counted
        counted = lines_of(found)
        answer, because = answer_of(self.races, counted, tours, searched)
        if answer == "NO DIFFERENCE SEEN" and (idle := self._unexercised(found)):
            counted = msgspec.structs.replace(counted, idle=tuple(line.shown for line in idle))
            answer, because = (
                "INCONCLUSIVE",
                f"{counted.words}, and nothing that was run depends on {counted.idle_words}",
            )
        if answer == "NO DIFFERENCE SEEN" and not self.effort.whole:
            answer, because = "INCONCLUSIVE", f"{because}; but only the scenarios that were named were run"
        if what.unjudged and answer != "BREAKS":
            answer, because = "INCONCLUSIVE", f"{unjudged_words(what)}; of the rest: {because}"
        return CodeChange(
            change.name,
            change.base_words,
            answer,
            because,
            what.touched,
            what.passed_over,
            counted,
            tuple(self.races),
            tours,
            change.notes,
            searched,
        )

    @property
    def _opens(self) -> bool:
        return any(race.outcome == "opens" for race in self.races)

    def _built(self, tree: Path | None, name: str) -> Built:
        counted = packages_of(self.what.files)
        try:
            return built_for(self.change.version, self.go, self.watcher.say, tree, counted)
        except BuildProblem as problem:
            raise UsageProblem(f"{name}: does not compile: {first_error(problem, self.change)}") from None

    def _replay(self, before: Built, after: Built) -> None:
        """Replay each counterexample on both sides, until one opens."""
        effort = self.effort
        found = counterexamples(
            effort.scenarios, self.change.version, self.release, effort.budget, effort.method, self.what.elements, self.watcher
        )  # fmt: skip
        with ThreadPoolExecutor(2 if effort.budget.jobs > 1 else 1) as pool:
            for one in found:
                race = self._race(one, (before, after), pool)
                self.races.append(race)
                self.tell(race)
                if race.outcome == "opens":
                    return

    def _race(self, one: Counterexample, built: tuple[Built, Built], pool: ThreadPoolExecutor) -> Race:
        self.watcher.say(f"replaying {one.case.id} before and after the change")
        gone, new = ([line for line in self.lines if line.removed is removed] for removed in (True, False))

        def both() -> tuple[Replay, Replay]:
            playing = (
                pool.submit(replay, built[0], one.case, gone),
                pool.submit(replay, built[1], one.case, new),
            )
            return playing[0].result(), playing[1].result()

        sides, effort = both(), self.effort
        self.played.append(_Played(one, sides))
        steady = sides[0].seen == sides[1].seen or [side.seen for side in both()] == [s.seen for s in sides]
        race = race_of(
            one,
            *sides,
            lambda: verdict_without_change(one, self.release, effort.budget, effort.method),
            steady,
        )
        if race.outcome == "left the model":
            self.places.append(place_of(one, sides[1]))
        return race

    def _tours(self, before: Built, after: Built) -> tuple[Toured, ...]:
        reached: dict[str, tuple[int, Scenario]] = {}
        for played, race in zip(self.played, self.races, strict=True):
            if race.lines and not played.one.without:
                reached.setdefault(race.name, (len(played.one.case.steps), played.one.scenario))
        scenarios = [scenario for _, scenario in sorted(reached.values(), key=lambda pair: pair[0])]
        made: list[Toured] = []
        for toured, places in departures(
            scenarios, self.release, before, after, self.effort.budget, self.watcher.say
        ):
            made.append(toured)
            self.places += places
        return tuple(made)

    def _beyond(self, before: Built, after: Built) -> tuple[Beyond, ...]:
        """From where the code has left the model; in scenarios that were named and show no such place, from the start."""
        if not self.effort.whole:
            left = {place.scenario.name for place in self.places}
            starts = (start_of(one, self.release) for one in self.effort.scenarios if one.name not in left)
            self.places += [place for place in starts if place is not None]
        return tuple(beyond(self.places, self.release, plays(before), plays(after), self.watcher.say))

    def _unexercised(self, found: Counted) -> list[ChangedLine]:
        """The executed lines of which nothing that was replayed depends."""
        idle: list[ChangedLine] = []
        for side, removed in enumerate((True, False)):
            executed = [line for line in found.executed if line.removed is removed]
            if executed:
                idle += self._idle(side, executed)
        return idle

    def _idle(self, side: int, executed: list[ChangedLine]) -> list[ChangedLine]:
        change = self.change
        all_texts = {one.path: (one.after if side else one.before) for one in self.what.files}
        texts, numbered = damaged_texts(
            {path: text for path, text in all_texts.items() if text is not None}, executed
        )
        shown: set[ChangedLine] = set()
        root = (change.tree if side else change.base_tree) or change.base
        built = None
        try:
            with tree_with(
                root, {**(all_texts if side else {}), **texts}, change.version, self.watcher.say
            ) as tree:
                built = taken(built_for(change.version, self.go, self.watcher.say, tree))
            for number, line in numbered.items():
                self.watcher.say(f"damaging {line.shown}")
                if self._shows(built, number, line, side):
                    shown.add(line)
        except BuildProblem:
            numbered = {}  # no line is known to be needed
        finally:
            if built is not None:
                shutil.rmtree(built.folder, ignore_errors=True)
        code = {line: (all_texts[line.path] or "").splitlines()[line.number - 1] for line in executed}
        told = frozenset(line for line in executed if is_told_only(code[line]))
        jumps = frozenset(line for line in executed if line.removed and is_jump(code[line]))
        return unexercised(executed, frozenset(shown), frozenset(numbered.values()), told, jumps)

    def _shows(self, built: Built, number: int, line: ChangedLine, side: int) -> bool:
        """Whether a replay that executes a line goes otherwise if it is damaged."""
        reached = [one for one in self.played if line in one.sides[side].counted.executed]
        shortest = sorted(reached, key=lambda one: len(one.one.case.steps))[:MOST_DAMAGED]
        for one in shortest:
            damaged = replay(built, one.one.case, (), number).seen
            if damaged != one.sides[side].seen and replay(built, one.one.case, (), number).seen == damaged:
                return True
        return False


def taken(built: Built) -> Built:
    """The binary of a change at a place of its own: another podrace that judges the same change deletes only what it has built itself."""
    folder = Path(tempfile.mkdtemp(dir=built.folder.parent, prefix="judged-"))
    built.folder.rename(folder)
    return replace(built, folder=folder)


def first_error(problem: BuildProblem, change: Change) -> str:
    """The compiler's first error, with the file named as in the tree."""
    for line in problem.text.splitlines():
        place, mark, rest = line.strip().partition(".go:")
        if mark and rest[:1].isdigit():
            inside = next(
                (f"pkg/{part}" for part in [place.rpartition("/pkg/")[2]] if "/pkg/" in place), place
            )
            known = next(
                (
                    one.path
                    for one in change.files
                    if f"{inside}.go".endswith(one.path) or one.path.endswith(f"/{inside}.go")
                ),
                f"{inside}.go",
            )
            return f"{known}:{rest}"
    return str(problem)
