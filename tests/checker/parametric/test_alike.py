"""Which parameters a system tells apart: by hand, and by the law that what is alike has the same runs."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings

from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.reference import ReferenceSearch
from podrace.checker.parametric.grounding import Comparisons
from podrace.checker.parametric.parameters import parameters_of, with_parameters
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Variable,
    select,
    total,
)
from podrace.model.language.expressions.expr import equal, fresh_graph, parameter, variable
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

A, B, ROOM = Parameter("a", 0, 3), Parameter("b", 0, 3), Parameter("room", 0, 7)


def taking(guard_of: str) -> TransitionSystem:
    """Two take from a room: `fits` looks at how much is taken, the others at something else."""
    with fresh_graph():
        one, two = Variable("one", BOOL, 0, 1, 0), Variable("two", BOOL, 0, 1, 0)
        n = Variable("n", INT, 0, 3, 0)
        a, b, room = parameter(A), parameter(B), parameter(ROOM)
        used = total([select(variable(one), a, 0), select(variable(two), b, 0)])
        guards: dict[str, Expr] = {
            "fits": used + a <= room,
            "twice": equal(a * 2, b),
            "remembered": variable(one),
            "multiplied": a * b < room,
            "constant": a < 9,
        }
        step = Transition("part", "take", (), "actor", True, guards[guard_of], (), {one: variable(two)})
        copy = Transition("part", "copy", (), "actor", True, variable(two), (), {n: a})
        steps = (step, copy) if guard_of == "remembered" else (step,)
        return TransitionSystem("taking", UNIVERSE, (one, two, n), steps)


def classes(system: TransitionSystem) -> set[tuple[bool, ...]]:
    """How the comparisons divide all choices, each class by its answers."""
    found, unknown = Comparisons(system), parameters_of(system)
    choices = product(*(range(q.lo, q.hi + 1) for q in unknown))
    tellers = [
        Interpreter(system, dict(zip((q.name for q in unknown), values, strict=True))) for values in choices
    ]
    return {tuple(bool(t.evaluate(c, system.initial)) for c in found.all) for t in tellers}


def test_sums_are_told_apart_by_what_they_are_compared_with() -> None:
    system = taking("fits")
    found = Comparisons(system)
    assert not found.exact
    # That room is less than a, a + a, a + b, a + a + b. Each implies the last, and the first implies all.
    assert len(found.all) == 4
    assert len(classes(system)) == 6


def test_equality_and_multiples() -> None:
    found = Comparisons(taking("twice"))
    assert not found.exact
    assert len(found.all) == 1


def test_what_folds_away_is_no_comparison() -> None:
    assert Comparisons(taking("constant")).all == ()


def test_products_are_compared_too() -> None:
    found = Comparisons(taking("multiplied"))
    assert not found.exact
    assert list(map(repr, found.all)) == ["lt(mul(a, b), room)"]


def test_where_a_parameter_is_remembered_every_choice_is_a_class() -> None:
    system = taking("remembered")
    found = Comparisons(system)
    assert found.exact
    with fresh_graph():
        assert repr(found.like({"a": 1, "b": 2, "room": 3})).count("eq(") == len(parameters_of(system))


def test_like_is_true_of_the_values_and_of_those_alike() -> None:
    system = taking("fits")
    alike = Comparisons(system).like({"a": 1, "b": 1, "room": 7})
    everywhere = [{"a": a, "b": b, "room": room} for a in range(4) for b in range(4) for room in range(8)]
    found = [v for v in everywhere if Interpreter(system, v).holds(alike, system.initial)]
    assert found == [v for v in everywhere if 2 * v["a"] + v["b"] <= v["room"]]


@settings(max_examples=examples(60), deadline=None)
@given(systems(invariants=1, parameters=2))
def test_what_is_alike_has_the_same_runs(system: TransitionSystem) -> None:
    asked = system.with_predicates(witnesses={}, resettabilities={})
    comparisons = Comparisons(asked)
    runs: dict[str, object] = {}
    for q0, q1 in product(range(3), range(-2, 1)):
        values = {"q0": q0, "q1": q1}
        fixed = with_parameters(asked, values)
        search = ReferenceSearch(fixed, Budget(max_states=100), None)
        search.run()
        seen = (search.states, search.fired, search.violated)
        assert runs.setdefault(repr(comparisons.like(values)), seen) == seen
