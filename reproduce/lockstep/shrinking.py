"""From a difference of a random run to a small one of the same cause: fewer steps, then a smaller cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import yaml

from ...checker.core.exploration import Path
from ...checker.trace.shrinking import shrink
from ...scenarios import ScenarioError
from ..random_runs.forcing import Forcing
from ..random_runs.quick_steps import QuickSteps
from ..random_runs.random_runs import Model, RandomRun
from ..timing.timing import Timetable
from .lockstep import Difference, Play, played_again


def shrunk(difference: Difference, play: Play, say: Callable[[str], None] = lambda text: None) -> Difference:
    """A difference of the same cause. No single step can be left out of it, and no part of the cluster."""
    best = _fewer_steps(difference, play)
    say(f"{best.at} steps")
    again = True
    while again:
        again = False
        for text in smaller_clusters(best.run.model.scenario.text):
            found = _in_cluster(best, text, play)
            if found is not None:
                best, again = found, True
                say(f"{best.at} steps in a smaller cluster")
                break
    return _fewer_steps(best, play)


def _fewer_steps(difference: Difference, play: Play) -> Difference:
    model = difference.run.model
    steps = QuickSteps(model.system)
    best = [difference]

    def shows(path: Path) -> Path | None:
        run = possible(model, steps, path)
        found = played_again(run, play) if run.path else None
        if found is None or found.cause != difference.cause:
            return None
        best[0] = found
        return run.path[: found.at]

    if not difference.at or shows(difference.run.path[: difference.at]) is None:
        return difference
    shrink(difference.run.path[: difference.at], shows)
    return best[0]


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


def _in_cluster(difference: Difference, text: str, play: Play) -> Difference | None:
    """The difference in another cluster, with the steps that there are there."""
    try:
        model = Model.of(text, difference.run.model.composition)
    except ScenarioError:
        return None
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    labels = labels_of(difference.run)
    path = [numbers[label] for label in labels[: difference.at] if label in numbers]
    run = possible(model, QuickSteps(model.system), path)
    found = played_again(run, play) if run.path else None
    return found if found is not None and found.cause == difference.cause else None


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
