"""What of a scenario acts: runs of a scenario with some features are sampled, level by level."""

from __future__ import annotations

import json
import math
import random
import sys
from functools import cache

from podrace.base.problems import Problem
from podrace.checker.core.many_states import ManyStates
from podrace.checker.explicit.small_search import SmallSearch
from podrace.checker.reduction.constant_propagation import ConstantPropagation
from podrace.checker.reduction.slicing import Key, key_of
from podrace.model.asked_for import asked_for
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import instrument
from podrace.scenarios import Scenario, parse_scenario
from tests.scenarios.features import combined

DEEPEST = 100_000
"""So deep may an expression be: where nodes have many versions, they are deeper than Python's call stack usually is."""


@cache
def _read(names: tuple[str, ...]) -> Scenario | str:
    try:
        return parse_scenario(json.dumps(combined(names)), "features.yaml")
    except Problem as problem:
        return str(problem)


def read(names: tuple[str, ...]) -> Scenario | None:
    """The scenario with these features; None if the reader refuses it."""
    found = _read(names)
    return None if isinstance(found, str) else found


def refusal(names: tuple[str, ...]) -> str | None:
    """What the reader says of a scenario with these features that it refuses; None if it takes it."""
    found = _read(names)
    return found if isinstance(found, str) else None


def parts_and_idle(names: tuple[str, ...], depth: int, width: int) -> tuple[list[str], set[str]]:
    """What the scenario with these features asks for, and what of it acts in none of the runs that are tried."""
    found = read(names)
    assert found is not None
    return idle_parts(found, "1.36", depth, width)


def idle_parts(scenario: Scenario, release: str, depth: int, width: int) -> tuple[list[str], set[str]]:
    """The same of any scenario."""
    system = instrument(scenario.spec, resolve(release, gates=scenario.feature_gates).classes, [])
    parts = asked_for(system)
    fired = sampled(system, depth, width) if parts else set[Key]()
    return list(parts), {
        name
        for name, transitions in parts.items()
        if fired.isdisjoint(key_of(system.transitions[i]) for i in transitions)
    }


def sampled(system: TransitionSystem, depth: int, width: int) -> set[Key]:
    """The transitions that could be taken in runs of so many steps: of each level so many states go on, as many by one step as by another."""
    possible = ConstantPropagation(system).propagated
    search, chance = SmallSearch(possible, width), random.Random(1)
    search.began = math.inf  # it takes the time that it takes
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    level = list(search.states)
    for _ in range(depth):
        by_step: dict[tuple[str, str], dict[int, None]] = {}
        for edges in search._successors(ManyStates(search.packed, level), level):
            for index, target in edges:
                transition = possible.transitions[index]
                by_step.setdefault((transition.part, transition.step), {})[target] = None
        share = max(1, width // max(1, len(by_step)))
        level = list(
            dict.fromkeys(
                state
                for states in by_step.values()
                for state in chance.sample(list(states), min(share, len(states)))
            )
        )
        if not level:
            break
    return {key_of(t) for t, times in zip(possible.transitions, search.fired, strict=True) if times}
