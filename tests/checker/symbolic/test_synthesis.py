"""Synthesis finds the simplest choice of the parameters, and then every other kind of choice: as brute force does."""

from __future__ import annotations

import time
from itertools import product

import pytest
from hypothesis import given, settings

from podrace.checker.explicit.reference import explore
from podrace.checker.parametric.grounding import Comparisons
from podrace.checker.parametric.parameters import parameters_of, with_parameters
from podrace.checker.reduction.slicing import slice_system
from podrace.checker.symbolic.synthesis import ChoiceShape, Synthesis
from podrace.model.language import INT, Expr, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import fresh_graph, parameter, variable
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

TRUE = as_expr(True)


def filling(top: int = 6) -> TransitionSystem:
    """Two pour into a vessel, each while its share is below the room; it must not hold `top`."""
    with fresh_graph():
        n = Variable("n", INT, 0, 12, 0)
        room = parameter(Parameter("room", 0, 6))
        steps = []
        for name in ("left", "right"):
            share = parameter(Parameter(name, 0, 3))
            fits = variable(n) + share <= room
            steps.append(Transition("part", name, (), "actor", True, fits, (), {n: variable(n) + share}))
        return TransitionSystem("filling", UNIVERSE, (n,), tuple(steps), {"below": variable(n) < top})


def condition(system: TransitionSystem, name: str, most: int) -> Expr:
    (p,) = (q for q in parameters_of(system) if q.name == name)
    with fresh_graph():
        return parameter(p) <= most


def test_the_simplest_example_first() -> None:
    system = filling()
    search = Synthesis([ChoiceShape(system, TRUE)], "below", 3)
    example = next(iter(search))
    # In two steps, both of 3: the least sum, and of `left` and `right` the first one is as small as can be.
    assert example.parameters == {"left": 0, "right": 3, "room": 6}
    assert [step.label for step in example.trace.steps] == ["part.right()", "part.right()"]


def test_no_example_within_the_bound() -> None:
    search = Synthesis([ChoiceShape(filling(), condition(filling(), "left", 1))], "below", 1)
    assert (list(search), search.clear, search.stopped) == ([], 1, "steps")


def test_a_harmless_system_needs_no_search() -> None:
    search = Synthesis([ChoiceShape(filling(99), TRUE)], "below", 5)
    assert (list(search), search.clear, search.stopped) == ([], -1, "harmless")


def test_no_time() -> None:
    search = Synthesis([ChoiceShape(filling(), TRUE)], "below", 5, deadline=time.monotonic() - 1)
    assert (list(search), search.clear, search.stopped) == ([], -1, "timeout")


def test_of_several_shapes_the_one_with_the_smaller_example_comes_first() -> None:
    system = filling(4)
    large, small = ChoiceShape(system, TRUE), ChoiceShape(system, condition(system, "room", 4))
    search = Synthesis([ChoiceShape(system, condition(system, "room", 3)), large, small], "below", 3)
    example = next(iter(search))
    # Both have one of the same size: then the first.
    assert (example.shape, example.parameters) == (1, {"left": 0, "right": 2, "room": 4})


def compared(system: TransitionSystem) -> Comparisons:
    """What the part of the system that decides its invariants compares."""
    return Comparisons(slice_system(system))


def brute_force(system: TransitionSystem, steps: int) -> dict[str, tuple[int, int]]:
    """For each kind of choice that breaks the invariant: the length of a shortest run, and the least sum with it."""
    comparisons, best = compared(system), dict[str, tuple[int, int]]()
    unknown = parameters_of(system)
    for values in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        chosen = dict(zip((q.name for q in unknown), values, strict=True))
        violations = explore(with_parameters(system, chosen)).violations
        for path in violations.values():
            if len(path) <= steps:
                key = repr(comparisons.like(chosen))
                best[key] = min(best.get(key, (steps, 10**6)), (len(path), sum(values)))
    return best


def found_by(system: TransitionSystem, invariant: str, steps: int) -> dict[str, tuple[int, int]]:
    comparisons = compared(system)
    search = Synthesis([ChoiceShape(system, TRUE)], invariant, steps)
    found: dict[str, tuple[int, int]] = {}
    order = []
    for example in search:
        key = repr(comparisons.like(example.parameters))
        assert key not in found
        found[key] = (len(example.trace.steps), sum(example.parameters.values()))
        order.append(found[key])
    assert order == sorted(order)
    assert search.stopped in ("steps", "harmless")
    return found


def test_every_kind_of_choice_is_found_once() -> None:
    system = filling(4)
    expected = brute_force(system, 3)
    assert found_by(system, "below", 3) == expected
    assert len(expected) > 5


@settings(max_examples=examples(25), deadline=None)
@given(systems(resettabilities=0, witnesses=0, invariants=1, parameters=2))
def test_random_systems(system: TransitionSystem) -> None:
    for invariant in system.invariants:
        assert found_by(system, invariant, 3) == brute_force(system, 3)


def test_a_renaming_leaves_out_what_differs_by_names_only() -> None:
    system = filling(4)
    swap = {"left": "right", "right": "left", "room": "room"}
    every = [e.parameters for e in Synthesis([ChoiceShape(system, TRUE)], "below", 2)]
    fewer = [e.parameters for e in Synthesis([ChoiceShape(system, TRUE, (swap,))], "below", 2)]
    assert all(values in every for values in fewer)
    assert len(fewer) < len(every)
    comparisons = compared(system)

    def key(values: dict[str, int]) -> str:
        return repr(comparisons.like(values))

    both = {key(dict(v)) for v in fewer} | {key({swap[n]: x for n, x in v.items()}) for v in fewer}
    assert both == {key(dict(v)) for v in every}


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_search_says_how_far_it_went(steps: int) -> None:
    heard: list[int] = []
    search = Synthesis([ChoiceShape(filling(13), TRUE)], "below", steps, watch=heard.append)
    assert list(search) == []
    assert (search.clear, search.stopped, heard) == (-1, "harmless", [])
    search = Synthesis([ChoiceShape(filling(12), TRUE)], "below", steps, watch=heard.append)
    assert list(search) == []
    assert (search.clear, search.stopped, heard) == (steps, "steps", list(range(steps + 1)))
