"""Random runs of the model for the real scheduler: weighted towards rare steps, and possible at some durations.

A step's chance is the inverse of how often it was taken so far on this version, in all clusters; then each of its arguments has the same chance.
What users and faults do, and the flush of the parked pods, has a tenth of that at the end of a run and less before: most of it can happen
at any time, and it would end most attempts before they came far. Steps that no durations allow for are not taken. A seed determines all runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from random import Random

from ...base.structs import Data
from ...checker.core.exploration import Path
from ...model.history import Composition
from ...model.language import TransitionSystem
from ...properties import instrument
from ...scenarios import Scenario, parse_scenario
from ..timing.timing import Timetable, Timing
from .forcing import Forcing
from .quick_steps import QuickSteps
from .varied_clusters import varied_cluster

SHORTEST, LONGEST = 20, 60

UNFORCED = 0.1
"""How likely what need not happen is, compared with what goes on by itself."""


class Model(Data, slots=False):
    """A cluster on a version: the system of all that can happen there, without any property."""

    scenario: Scenario
    composition: Composition
    system: TransitionSystem = field(repr=False)

    @classmethod
    def of(cls, text: str, composition: Composition) -> Model:
        """The model of a scenario file."""
        scenario = parse_scenario(text, "lockstep.yaml")
        return cls(scenario, composition, instrument(scenario.spec, composition.classes, []))


class RandomRun(Data, slots=False):
    """A run, and the waits before its steps. `waits`: the scheduler waits in Pop where it can (`..waiting`)."""

    model: Model
    path: Path
    timing: Timing
    waits: bool = False


class Wanted(Data):
    """Which runs: in how many clusters (of numbers, to their scenario files), how many in each, of how many steps, which steps are never taken, and with which feature gates."""

    clusters: int = 100
    runs: int = 25
    seed: int = 0
    shortest: int = SHORTEST
    longest: int = LONGEST
    without: Collection[str] = ()
    cluster: Callable[[int], str] = varied_cluster
    gates: Mapping[str, bool] = field(default_factory=dict)


class Walker:
    """Random runs of one model. `taken` counts the steps by their names, for all models that share it."""

    def __init__(self, model: Model, taken: Counter[str], without: Collection[str] = ()) -> None:
        self.model, self.taken = model, taken
        self._steps = QuickSteps(model.system)
        self._names = [f"{t.part}.{t.step}" for t in model.system.transitions]
        transitions = zip(self._names, model.system.transitions, strict=True)
        self._unforced = {name for name, t in transitions if not t.fair}
        self._without = frozenset(without)
        self._waits = False

    def walk(self, random: Random, most: int) -> RandomRun:
        """One run of at most so many steps; shorter where nothing more can happen. In every second run, the scheduler waits in Pop where it can."""
        system = self.model.system
        table, forcing = Timetable(system, self.model.composition), Forcing(system)
        state = system.initial
        path: list[int] = []
        while len(path) < most:
            progress = (len(path) + 1) / most
            for number in self._in_random_order(random, self._steps.enabled(state), progress):
                following = self._steps.successor(state, number)
                step = system.transitions[number]
                if forcing.allows(step, state) and table.take(step, state, following):
                    break
            else:
                break
            forcing.go(system.transitions[number], state, following)
            path.append(number)
            self.taken[self._names[number]] += 1
            state = following
        self._waits = not self._waits
        return RandomRun(self.model, tuple(path), table.timing, not self._waits)

    def _in_random_order(self, random: Random, enabled: Sequence[int], progress: float) -> Iterator[int]:
        groups: dict[str, list[int]] = {}
        for number in enabled:
            if self._names[number] not in self._without:
                groups.setdefault(self._names[number], []).append(number)
        while groups:
            names = list(groups)
            name = random.choices(names, [self._weight(name, progress) for name in names])[0]
            yield groups[name].pop(random.randrange(len(groups[name])))
            if not groups[name]:
                del groups[name]

    def _weight(self, name: str, progress: float) -> float:
        share = UNFORCED * progress if name in self._unforced else 1.0
        return share / (1 + self.taken[name])


def random_runs(composition: Composition, wanted: Wanted) -> Iterator[RandomRun]:
    """The runs on one version, cluster by cluster."""
    taken: Counter[str] = Counter()
    for i in range(wanted.clusters):
        number = wanted.seed * 1_000_003 + i
        walker = Walker(Model.of(wanted.cluster(number), composition), taken, wanted.without)
        random = Random(f"{composition.label} {number}")
        for _ in range(wanted.runs):
            yield walker.walk(random, random.randint(wanted.shortest, wanted.longest))
