"""From a difference of a random run to a small one of the same cause: fewer steps, then a smaller cluster."""

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import yaml

from ...base.problems import Problem
from ...base.structs import Data
from ...checker.core.exploration import Path
from ...checker.trace.shrinking import shrink
from ..random_runs.forcing import Forcing
from ..random_runs.quick_steps import QuickSteps
from ..random_runs.random_runs import Model, RandomRun
from ..timing.timing import Timetable
from .lockstep import Difference, Play, played_again

MOST_SECONDS = 600.0
"""How long one difference is shrunk: each try is a process of the driver, of a second or two, and of up to two minutes where the scheduler hangs."""


class Shrunk(Data):
    """A small difference. Unless time was up (`stopped`), no single step can be left out of it, and no part of the cluster."""

    difference: Difference
    tries: int
    stopped: bool


def shrunk(
    difference: Difference,
    play: Play,
    say: Callable[[str], None] = lambda text: None,
    seconds: float = MOST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Shrunk:
    """The smallest difference of the same cause that is found in so many seconds."""
    end = clock() + seconds
    shrinking = _Shrinking(difference, play, say, lambda: clock() < end)
    shrinking.run()
    return Shrunk(shrinking.best, shrinking.tries, shrinking.stopped)


class _Shrinking:
    """The smallest difference so far. `in_time`: whether another run may be tried."""

    def __init__(
        self, difference: Difference, play: Play, say: Callable[[str], None], in_time: Callable[[], bool]
    ) -> None:
        self.best, self.play, self.say, self.in_time = difference, play, say, in_time
        self.tries, self.stopped = 0, False

    def run(self) -> None:
        self._leave_out_steps()
        while self._leave_out_of_the_cluster():
            pass
        self._leave_out_steps()

    def _leave_out_steps(self) -> None:
        model = self.best.run.model
        steps = QuickSteps(model.system)

        def shows(path: Path) -> Path | None:
            found = self._tried(possible(model, steps, path)) if self._may_try() else None
            return None if found is None else found.run.path[: found.at]

        path = self.best.run.path[: self.best.at]
        first = shows(path) if path else None
        if first is not None:
            shrink(first, lambda path: first if path == first else shows(path))
            self.say(f"{self.best.at} steps after {self.tries} tries")

    def _leave_out_of_the_cluster(self) -> bool:
        """Go on in the first smaller cluster that shows it, too; gives whether there is one."""
        for text in smaller_clusters(self.best.run.model.scenario.text):
            run = _in_cluster(self.best, text) if self._may_try() else None
            if run is not None and self._tried(run) is not None:
                self.say(f"{self.best.at} steps in a smaller cluster after {self.tries} tries")
                return True
        return False

    def _may_try(self) -> bool:
        """Whether there is time; once there was none, there is none."""
        self.stopped = self.stopped or not self.in_time()
        return not self.stopped

    def _tried(self, run: RandomRun) -> Difference | None:
        """The difference of a smaller run, if it is of the same cause: the best one from then on."""
        if not run.path:
            return None
        self.tries += 1
        found = played_again(replace(run, waits=self.best.run.waits), self.play)
        if found is None or found.cause != self.best.cause:
            return None
        self.best = found
        return found


def possible(model: Model, steps: QuickSteps, path: Sequence[int]) -> RandomRun:
    """What can be taken of a path, at durations that there are."""
    system = model.system
    table, forcing = Timetable(system, model.composition), Forcing(system)
    state = system.initial
    taken: list[int] = []
    for number in path:
        if number in steps.enabled(state):
            following, step = steps.successor(state, number), system.transitions[number]
            if forcing.allows(step, state) and table.take(step, state, following):
                forcing.go(step, state, following)
                state = following
                taken.append(number)
    return RandomRun(model, tuple(taken), table.timing)


def _in_cluster(difference: Difference, text: str) -> RandomRun | None:
    """The steps of a difference in another cluster: those that there are there."""
    try:
        model = Model.of(text, difference.run.model.composition)
    except Problem:
        return None
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    labels = labels_of(difference.run)
    path = [numbers[label] for label in labels[: difference.at] if label in numbers]
    return possible(model, QuickSteps(model.system), path)


def labels_of(run: RandomRun) -> list[str]:
    """The labels of a run's steps."""
    return [run.model.system.transitions[number].label for number in run.path]


def smaller_clusters(text: str) -> Iterator[str]:
    """The same scenario without one thing: a pod, a node, a budget, a field of one of them, a bound."""
    document: dict[str, Any] = yaml.safe_load(text)
    for section in ("pods", "nodes", "podDisruptionBudgets"):
        for name in document.get(section) or {}:
            if section == "podDisruptionBudgets" or len(document[section]) > 1:
                yield _without(document, section, name)
    for section in ("pods", "nodes"):
        for name, fields in document[section].items():
            for name_of_field in fields:
                if name_of_field != "cpu":
                    yield _without(document, section, name, name_of_field)
    for bound in document.get("scope") or {}:
        yield _without(document, "scope", bound)


def _without(document: dict[str, Any], *path: str) -> str:
    smaller = deepcopy(document)
    inside = smaller
    for name in path[:-1]:
        inside = inside[name]
    del inside[path[-1]]
    sections = {name: value for name, value in smaller.items() if value != {}}
    return yaml.safe_dump(sections, sort_keys=False, default_flow_style=None, width=1000)
