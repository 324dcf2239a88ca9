"""A change of kube-scheduler's own code judged: what it touches, whether that was executed, and what became of the known races.

judged = Judging(change, what, Effort(budget), go, tell).judged()
"""

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

import msgspec

from ...analysis.request.method import NOBODY, USUAL, Method, Watcher
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...checker.core.exploration import Budget, Progress
from ...reports.document import Finding
from ...reports.verify.code_change import (
    Answer,
    Beyond,
    CodeChange,
    Lines,
    Probed,
    Race,
    Toured,
    Violation,
    answer_of,
    places_words,
)
from ...scenarios import Scenario, shipped
from ..case import Case
from ..lockstep.request import plays
from ..modules.toolchain import BuildProblem, Go
from ..reproducing import Prepared
from ..request import release_of
from ..running import Built, OutOfTime, built_for, taken
from .afterwards import mended_afterwards
from .beyond import Place, beyond
from .damaging import Damage, Played, executed_by
from .departures import departures, start_of
from .earlier import mended_earlier
from .functions import WhatChanged
from .lines import Counted, changed_lines, lines_of, packages_of
from .mends import mendable
from .probes import mixed, probes, random_clusters, using
from .renames import words
from .replays import (
    Counterexample,
    Question,
    Questions,
    Replay,
    counterexamples,
    differing,
    finding_in_base,
    place_of,
    questions_of,
    race_of,
    replay,
    shortest,
)
from .small_clusters import known_fixes, smallest_clusters
from .sources import DRIVERS, NOBODYS, Change, changed_tree, first_error
from .texts import is_elsewhere, why_elsewhere

SECONDS = 600.0
"""How long a judgement takes at most, the builds before it apart; --timeout counts them, too. Runs that are under way then are cut off; a search of the model comes on top."""

SEARCH_SECONDS = 20.0
"""How long one counterexample is searched for at most."""

BASE_STATES = 2_000_000
"""In so many states at most it is searched for what the base's model has of a property that a run beyond a departure violates."""

SHARES = {
    "near": 0.15,
    "some": 0.35,
    "known": 0.5,
    "toured": 0.4,
    "runs": 0.75,
    "beyond": 0.85,
    "own": 0.9,
    "tours": 0.95,
    "all": 1.0,
}
"""Up to which part of the time each kind of work goes on. The races that are far come last, if there is time."""

SETTLED_SECONDS = 240.0
"""How long it goes on at most once it is settled: see `_is_settled`. The shares are of this time, then."""

FIRST = 12
"""After random runs in so many scenarios that execute the change, lines are damaged if there was no difference; then others are run."""

SETTLED = 36
"""After random runs in so many scenarios that execute the change no others are run, if it is settled: see `_is_settled`."""

ENOUGH = 6
"""After so many scenarios whose runs leave the model, and after the first, it is searched beyond them before others are run."""

QUIET = 24
"""After so many scenarios that leave the model no more, once some have, no others are run."""

LEAST = 6
"""So many near races are replayed, scenarios run, and places searched from, if any time is left."""

AGAIN = 4
"""So many times more both sides are replayed if they differ: after a run several goroutines go on at once, and not always in one order."""

INTERRUPTED = "what was left when podrace was interrupted"
"""In what is not finished."""

Told = Callable[[Race | Probed], None]


class Effort(Data):
    """How a change is judged, and in how many `seconds`: `scenarios` are those that are run, all of them (`whole`) unless some are named."""

    budget: Budget
    method: Method = USUAL
    scenarios: Sequence[Scenario] = field(default_factory=shipped)
    whole: bool = True

    @property
    def seconds(self) -> float:
        """How long it may take."""
        return self.budget.timeout or SECONDS


def cannot_matter(
    what: WhatChanged, name: str, base: str, notes: Sequence[str] = (), uncompared: str = ""
) -> CodeChange:
    """The judgement of a change that is not compiled into the scheduler, or only where nothing is looked at."""
    if what.unjudged:
        return CodeChange(
            name, base, "INCONCLUSIVE", unjudged_words(what), (), what.passed_over, notes=tuple(notes)
        )
    kinds = sorted({why for _, why in what.passed_over})
    because = (
        f"nothing of it is compiled into kube-scheduler: {'; '.join(kinds)}" if kinds else "nothing differs"
    )
    answer: Answer = "CANNOT MATTER"
    if uncompared:
        answer, because = "INCONCLUSIVE", f"{uncompared_words(uncompared)}; of the rest: {because}"
    return CodeChange(name, base, answer, because, (), what.passed_over, notes=tuple(notes))


def renames_only(what: WhatChanged, change: Change) -> CodeChange:
    """The judgement of a change that compiles, and only gives other names."""
    because = f"it compiles, and only names differ that no program can see: {words(what.renamed)}"
    return CodeChange(
        change.name,
        change.base_words,
        "CANNOT MATTER",
        because,
        what.touched,
        what.passed_over,
        notes=change.notes,
    )


def uncompared_words(uncompared: str) -> str:
    """What is said of a part of a tree that is built as it is there."""
    return f"{uncompared} is not compared (two commits are, with --repo and --range)"


def unjudged_words(what: WhatChanged) -> str:
    """What is said of files of other modules, of the command, and of what these are built by."""
    first, *others = sorted(what.unjudged, key=is_elsewhere)
    more = f" and {len(others)} more" if others else ""
    elsewhere = why_elsewhere(first)
    why = elsewhere or "podrace runs it from its packages, not by its command"
    return f"{first}{more} {'may be' if elsewhere else 'is'} part of kube-scheduler and is not judged: {why}"


class InTime(Data, Watcher):
    """A watcher that lets nothing begin any more after a moment of the monotonic clock."""

    watcher: Watcher
    until: float

    def start(self, what: str) -> None:
        """Work on something else begins, or raises OutOfTime."""
        if time.monotonic() >= self.until:
            raise OutOfTime
        self.watcher.start(what)

    def watch(self, progress: Progress) -> None:
        """A search stands here."""
        self.watcher.watch(progress)

    def say(self, text: str) -> None:
        """Other work stands here."""
        self.watcher.say(text)


class Judging:
    """The judgement of a change that is compiled into the scheduler; afterwards `tested` and `roamed` are the runs that tests can be made of."""

    def __init__(
        self, change: Change, what: WhatChanged, effort: Effort, go: Go, tell: Told, watcher: Watcher = NOBODY
    ) -> None:
        self.change, self.what, self.effort, self.go, self.tell, self.watcher = (
            change, what, effort, go, tell, watcher,
        )  # fmt: skip
        self.release = release_of(change.version)
        self.lines = changed_lines(what.files)
        self.played: list[Played] = []
        self.races: list[Race] = []
        self.words: set[tuple[str, ...]] = set()
        self.places: list[Place] = []
        self.probed: list[Probed] = []
        self.reached: dict[str, Scenario] = {}
        self.tours: tuple[Toured, ...] | None = None
        self.searched: list[Beyond] = []
        self.unfinished: list[str] = []
        self.damage = Damage(change, what.files, self.lines, go, watcher)
        self.waiting: deque[Scenario] = deque()
        self.chosen, self.departed = len(effort.scenarios), 0
        self.tested: list[Prepared] = []
        self.roamed: list[tuple[Case, Violation]] = []
        self.began, self.seconds = time.monotonic(), effort.seconds

    def judged(self) -> CodeChange:
        """The judgement: it ends with what is known when time is up. Raises GoProblem, and UsageProblem for a change that does not compile."""
        change, what = self.change, self.what
        built: list[Built] = []
        try:
            built.append(self._changed())
            if what.renamed and not what.unjudged:
                return renames_only(what, change)
            built.insert(0, self._built(change.base_tree, change.base_words))
            if self.effort.budget.timeout is not None:
                self.seconds -= time.monotonic() - self.began
            self.began = time.monotonic()
            until = self.began + max(self.seconds, 0.0)
            try:
                self._look(*(replace(one, until=until) for one in built))
            except OutOfTime:
                self.unfinished.append("what was under way was cut off")
            except KeyboardInterrupt:
                self.unfinished.append(INTERRUPTED)
        finally:
            self.damage.clear()
            for one in built[-1:]:
                shutil.rmtree(one.folder, ignore_errors=True)
        counted, answer, because = self._answer()
        return CodeChange(
            change.name,
            change.base_words,
            answer,
            because,
            what.touched,
            what.passed_over,
            counted if self.played else None,
            tuple(self.races),
            self.tours,
            change.notes,
            tuple(self.searched),
            tuple(self.probed),
            self.chosen,
            "; ".join(self.unfinished),
        )

    def _answer(self) -> tuple[Lines, Answer, str]:
        """The lines with what became of them, the answer, and why."""
        found = executed_by(self.played)
        counted = lines_of(found)
        answer, because = answer_of(self.races, counted, self.tours, self.searched, self.probed)
        if answer == "NO DIFFERENCE SEEN":
            counted, answer, because = self._doubted(found, counted, because)
        if self.what.unjudged and answer != "BREAKS":
            answer, because = "INCONCLUSIVE", f"{unjudged_words(self.what)}; of the rest: {because}"
        return counted, answer, because

    def _doubted(self, found: Counted, counted: Lines, because: str) -> tuple[Lines, Answer, str]:
        """The same where no difference was seen: whether that says anything."""
        if INTERRUPTED in self.unfinished:
            return counted, "INCONCLUSIVE", f"{because}; but podrace was interrupted"
        idle, untried, undamaged = self.damage.said_of(found)
        counted = msgspec.structs.replace(counted, idle=tuple(line.shown for line in idle))
        if idle:
            nothing = f"nothing that was run depends on {counted.idle_words}"
            return counted, "INCONCLUSIVE", f"{counted.words}, and {nothing}"
        doubt = ""
        if untried:
            named = places_words([line.shown for line in untried])
            doubt = f"what {named} returns cannot be altered to see whether anything depends on it"
        elif undamaged:
            self.unfinished.append(f"the damage of {len(undamaged)} executed lines")
            doubt = "time was up before it was known whether anything depends on the change"
        else:
            because = "; ".join([because, *self._remarks(found)])
            if not self.effort.whole:
                doubt = "only the scenarios that were named were run"
            elif self.what.values:
                doubt = f"nothing says what depends on {self.what.values[0]}"
        if doubt:
            return counted, "INCONCLUSIVE", f"{because}; but {doubt}"
        if uncompared := self.change.uncompared:
            return counted, "INCONCLUSIVE", f"{uncompared_words(uncompared)}; of the rest: {because}"
        return counted, "NO DIFFERENCE SEEN", because

    def _remarks(self, found: Counted) -> Iterator[str]:
        """What is said with it that no difference was seen."""
        if aside := [line.shown for line in self.lines if line.aside and line not in found.executed]:
            yield f"not executed: {places_words(aside)}, which only log, or return an error as before"
        if self.damage.kept:
            kept = places_words(sorted(line.shown for line in self.damage.kept))
            yield f"damage of {kept} shows only in memory, of which that part is the same before and after"
        if self.unfinished:
            yield f"not finished: {'; '.join(self.unfinished)}"

    def _goes_on(self, kind: str) -> bool:
        """Whether there is time left for this kind of work."""
        return self._left(kind) > 0

    def _left(self, kind: str) -> float:
        return self.began + SHARES[kind] * max(self.seconds, 0.0) - time.monotonic()

    @property
    def _breaks(self) -> bool:
        opened = any(race.outcome == "opens" for race in self.races)
        return (
            opened or any(one.violations for one in self.searched) or any(one.panics for one in self.probed)
        )

    def _look(self, before: Built, after: Built) -> None:
        """The most telling things first, until something is broken or time is up."""
        built, until = (before, after), self.began + self.seconds
        self.damage.both = built
        questions = questions_of(self.effort.scenarios, self.what.elements, self.release)
        hazards = mendable(self.effort.scenarios, self.what.files, self.what.touched, self.change.base)
        self._replay(
            [Question(one) for one in hazards], "near", "replays of hazards of the changed functions", built
        )
        if not self._breaks:
            self._replay(questions.near, "near", "replays of races of the changed functions", built)
        if not self._breaks:
            self.waiting += self._to_probe(questions)
            self._probe("some", built)
            if self.places and not self._breaks:
                self._beyond(built, "known")
            if self._is_unnoticed:
                self.damage.look(self.played, until)
            if self._is_settled:
                left = self._left("all")
                self.began, self.seconds = time.monotonic(), min(left, SETTLED_SECONDS)
                self._tours("toured", built)
        if not self._breaks and self.effort.whole:
            made = list(known_fixes(self.effort.scenarios, self.what.elements))
            self._replay(
                made, "known", "searches for races that an upstream change of these functions fixed", built
            )
        if not self._breaks:
            self._probe("runs", built)
            self._beyond(built)
        if not self._breaks:
            ranks = {
                name: n
                for n, name in enumerate(
                    [*dict.fromkeys(p.scenario.name for p in self.places), *self.reached]
                )
            }
            done = {one.name for one in hazards} | {
                one.scenario.name for one in questions.near if not one.without and not one.added
            }
            mine = [one for one in questions.own if one.scenario.name in ranks.keys() - done]
            mine.sort(key=lambda one: ranks[one.scenario.name])
            self._replay(mine, "own", "replays of races in scenarios that execute the change", built)
        if not (self._breaks or self.places or self.tours):
            self._tours("tours", built)
        if not self._breaks:
            self._beyond(built)
        if not self._breaks and self.places:
            self._replay(questions.far, "all", "replays of other races", built)
        if self._is_unnoticed:
            self.damage.look(self.played, until)

    def _replay(
        self, questions: Sequence[Question], kind: str, what: str, built: tuple[Built, Built]
    ) -> None:
        """Replay the counterexamples on both sides, until one opens or time is up."""
        effort, until = self.effort, self.began + self.seconds
        with ThreadPoolExecutor(2 if effort.budget.jobs > 1 else 1) as pool:
            for number, question in enumerate(questions):
                least = kind == "near" and number < LEAST and self._goes_on("all")
                if not (least or self._goes_on(kind)):
                    self.unfinished.append(f"{what} ({number} of {len(questions)} done)")
                    return
                limits = replace(
                    effort.budget, timeout=min(SEARCH_SECONDS, self._left("all" if least else kind))
                )
                for one in counterexamples(
                    question,
                    self.change.version,
                    self.release,
                    limits,
                    effort.method,
                    InTime(self.watcher, until),
                ):
                    if question.new and one.words in self.words:  # the run of another cluster
                        continue
                    self.words.add(one.words)
                    race = self._race(
                        one, built, pool, near=kind == "near" and not question.without and not question.added
                    )
                    self.races.append(race)
                    self.tell(race)
                    if race.outcome == "opens":
                        return

    @property
    def _is_unnoticed(self) -> bool:
        """Whether nothing has differed so far."""
        return not (self._breaks or self.places or any(race.leaves for race in self.races))

    def _to_probe(self, questions: Questions) -> list[Scenario]:
        """The smallest clusters, and all scenarios, those of the near races first."""
        order = {one.scenario.name: one.scenario for one in questions.near}
        others = [one for one in self.effort.scenarios if one.name not in order]
        smallest, clusters = (
            (smallest_clusters(self.what.elements), random_clusters(self.release))
            if self.effort.whole
            else ((), ())
        )
        scenarios = [*smallest, *order.values(), *mixed(others, list(clusters))]
        self.chosen = len(scenarios)
        return using(scenarios, self.what.elements)

    def _probe(self, kind: str, built: tuple[Built, Built]) -> None:
        """Random runs in those that are left, until enough leave the model, some execute the change, or time is up."""
        departing: set[str] = set()

        def goes_on() -> bool:
            few = len(self.probed) < LEAST and self._goes_on("all")
            if self.places and not self._missed:
                enough = len(self.probed) - self.departed >= QUIET
            elif kind == "some":
                enough = len(self.reached) >= FIRST and not self._missed
            else:
                enough = len(self.reached) >= SETTLED and self._is_settled
            return not self._breaks and (few or (self._goes_on(kind) and not enough))

        for probe in probes(
            self.waiting,
            self.release,
            built,
            self.lines,
            max(1, self.effort.budget.jobs),
            goes_on,
            self.watcher.say,
            self.change.base_tree is not None,
            self.what.elements,
            not self.effort.whole,
        ):
            told = probe.told
            self.probed.append(told)
            self.tell(told)
            self.played.append(Played(probe.cases, probe.seen, probe.counted))
            if probe.reached:
                self.reached[probe.scenario.name] = probe.scenario
            if probe.departures:
                self.departed = len(self.probed)
                departing.add(probe.scenario.name)
                self.places += probe.places
            if len(departing) >= (ENOUGH if self.searched else 1) and not self._breaks:
                self._beyond(built)
                departing.clear()
        if kind == "runs" and self.waiting and not self._breaks:
            done = self.chosen - len(self.waiting)
            self.unfinished.append(f"random runs ({done} of {self.chosen} scenarios done)")

    @property
    def _is_settled(self) -> bool:
        """Whether all changed lines were executed, some run notices the damage of each, and nothing has differed: other scenarios add little."""
        open_lines = any(self.damage.said_of(executed_by(self.played)))
        return self._is_unnoticed and bool(self.reached) and not (self._missed or open_lines)

    @property
    def _missed(self) -> bool:
        """Whether changed lines were not executed yet."""
        found = executed_by(self.played)
        return found.statements != found.executed

    def _changed(self) -> Built:
        """The changed code, so that its lines can be damaged; as it is if that does not compile, or if only names differ."""
        built = None if self.what.renamed else self.damage.changed(packages_of(self.what.files))
        if built is not None:
            return built
        with changed_tree(self.change, self.watcher.say) as tree:
            return taken(self._built(tree, self.change.name))

    def _built(self, tree: Path | None, name: str) -> Built:
        counted = packages_of(self.what.files)
        try:
            version, base = replace(self.change.version, tree=tree), self.change.base_words
            what = base if name == base else f"{base} with {name}"
            return built_for(version, self.go, self.watcher.say, counted, what)
        except BuildProblem as problem:
            error, whose = first_error(problem, self.change)
            if whose == DRIVERS and tree != self.change.base_tree:  # which the unchanged code may have, too
                self._built(self.change.base_tree, self.change.base_words)
            elif whose == DRIVERS:
                whose = NOBODYS
            raise UsageProblem(f"{name}: {whose.format(error)}") from None

    def _race(
        self, one: Counterexample, built: tuple[Built, Built], pool: ThreadPoolExecutor, near: bool
    ) -> Race:
        self.watcher.say(f"replaying {one.case.id} before and after the change")
        gone, new = ([line for line in self.lines if line.removed is removed] for removed in (True, False))

        def both() -> tuple[Replay, Replay]:
            playing = (
                pool.submit(replay, built[0], one.case, gone),
                pool.submit(replay, built[1], one.case, new),
            )
            return playing[0].result(), playing[1].result()

        sides = both()
        self.played.append(
            Played([one.case], ((sides[0].seen,), (sides[1].seen,)), (sides[0].counted, sides[1].counted))
        )
        if sides[0].counted.executed or sides[1].counted.executed:
            self.reached.setdefault(one.scenario.name, one.scenario)
        others = [both() for _ in range(AGAIN)] if sides[0].seen != sides[1].seen else []

        def base() -> int | None:
            return shortest(self._in_base(one.scenario, one.asked.about["property"]))

        race = race_of(one, *sides, base, differing(one, sides, others))
        if race.outcome == "left the model":
            self.places.append(place_of(one, sides[1]))
        played = self.release, plays(built[0]), plays(built[1])
        with suppress(OutOfTime):  # then it stays what it is
            if race.outcome == "still open":
                race = mended_afterwards(race, one, *played, base)
            elif near and race.outcome == "left the model" and race.before == "REPRODUCED":
                self.watcher.say(f"random runs from before {one.case.id} leaves the model")
                race = mended_earlier(race, one, sides[1], *played)
        if race.outcome == "opens" or (race.outcome == "closes" and not race.leaves):
            self.tested.append(one.asked)
        return race

    def _tours(self, kind: str, built: tuple[Built, Built]) -> None:
        """Tours of scenarios that execute changed lines."""
        made: list[Toured] = []
        for toured, places in departures(
            list(self.reached.values()),
            self.release,
            *built,
            self.effort.budget,
            self.watcher.say,
            lambda: self._left(kind),
        ):
            made.append(toured)
            self.places += places
        self.tours = tuple(made)

    def _beyond(self, built: tuple[Built, Built], kind: str = "beyond") -> None:
        """From where the code has left the model; in scenarios that were named and show no such place, from the start."""
        places, known = self.places, {one.scenario for one in self.searched}
        if not self.effort.whole:
            left = {place.scenario.name for place in places}
            starts = (start_of(one, self.release) for one in self.effort.scenarios if one.name not in left)
            places = [*places, *(place for place in starts if place is not None)]
        fresh = [place for place in places if place.scenario.name not in known]
        plays_of = [plays(one) for one in built]
        self.searched += beyond(
            fresh,
            self.release,
            plays_of[0],
            plays_of[1],
            self.watcher.say,
            lambda: self._goes_on(kind) or (len(self.searched) < LEAST and self._goes_on("all")),
            lambda scenario, name: self._in_base(scenario, name, BASE_STATES).verdict,
            lambda case, violation: self.roamed.append((case, violation)),
        )

    def _in_base(self, scenario: Scenario, name: str, states: int | None = None) -> Finding:
        """What the base's model has of a property in a scenario, as far as it is known in so many states, or otherwise in `SEARCH_SECONDS`, at most."""
        left, budget = max(self._left("all"), 1.0), self.effort.budget
        if states is None:
            limits = replace(budget, timeout=min(SEARCH_SECONDS, left))
        else:
            limits = replace(budget, timeout=left, max_states=min(states, budget.max_states or states))
        return finding_in_base(scenario, name, self.release, limits, self.effort.method)
