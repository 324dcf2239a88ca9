"""Bounded search says what the explorers say: violated or not, and after how many steps at least.

The native engine, the reference engine and Z3 share no code that evaluates an expression. Each is asked up to the
diameter, where bounded search has an answer for everything.
"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings

from podrace.checker import explicit as native
from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.explicit import reference
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.smt.theories import Theory
from podrace.model.language import TransitionSystem
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import coupled, systems
from tests.tools.symbolic.bit_vectors import THEORIES
from tests.tools.symbolic.bounded import search

DEEPEST = 12
"""Random systems are unrolled no further."""

BIT_VECTORS, INTEGERS = THEORIES["bit-vectors"], THEORIES["integers"]


def shortest(system: TransitionSystem, invariant: str) -> tuple[int | None, int]:
    """The length of a shortest run that breaks the invariant, on which both explorers agree; and how far they looked."""
    asked = system.with_predicates(
        invariants={invariant: system.invariants[invariant]}, witnesses={}, resettabilities={}, livenesses={}
    )
    found, again = reference.explore(asked), native.explore(asked, Budget())
    lengths = {len(f.violations[invariant]) if invariant in f.violations else None for f in (found, again)}
    assert len(lengths) == 1
    assert found.depth == again.depth
    return lengths.pop(), found.depth


def compare(system: TransitionSystem, theory: Theory) -> None:
    """Ask all three about every invariant."""
    for invariant in system.invariants:
        length, diameter = shortest(system, invariant)
        bound = min(diameter, DEEPEST)
        found = search(system, invariant, bound, theory=theory)
        if length is None or length > bound:
            assert (found.verdict, found.counts.depth, found.stopped) == (
                Verdict.INCONCLUSIVE,
                bound,
                "steps",
            )
        else:
            assert (found.verdict, found.counts.depth) == (Verdict.VIOLATED, length)
            assert found.trace is not None
            assert len(found.trace.steps) == length


@settings(max_examples=examples(120), deadline=None)
@given(systems(resettabilities=0, witnesses=0))
def test_on_random_systems(system: TransitionSystem) -> None:
    compare(system, BIT_VECTORS)


@settings(max_examples=examples(40), deadline=None)
@given(systems(resettabilities=0, witnesses=0))
def test_on_random_systems_as_integers(system: TransitionSystem) -> None:
    compare(system, INTEGERS)


@settings(max_examples=examples(40), deadline=None)
@given(coupled(resettabilities=0))
def test_on_processes(system: TransitionSystem) -> None:
    compare(system, BIT_VECTORS)


def compare_unknown(system: TransitionSystem, theory: Theory) -> None:
    """An unknown parameter stands for every value: the least of the lengths that its values give."""
    unknown = parameters_of(system)
    choices = [
        dict(zip((q.name for q in unknown), values, strict=True))
        for values in product(*(range(q.lo, q.hi + 1) for q in unknown))
    ]
    for invariant in system.invariants:
        answers = [shortest(with_parameters(system, choice), invariant)[0] for choice in choices]
        lengths = [length for length in answers if length is not None and length <= 4]
        found = search(system, invariant, 4, theory=theory)
        assert found.verdict is (Verdict.VIOLATED if lengths else Verdict.INCONCLUSIVE)
        if lengths:
            assert found.counts.depth == min(lengths)
            assert (
                answers[choices.index({q.name: found.parameters[q.name] for q in unknown})]
                == found.counts.depth
            )


@settings(max_examples=examples(40), deadline=None)
@given(systems(resettabilities=0, witnesses=0, parameters=2))
def test_on_random_systems_with_unknown_parameters(system: TransitionSystem) -> None:
    compare_unknown(system, BIT_VECTORS)


@settings(max_examples=examples(20), deadline=None)
@given(systems(resettabilities=0, witnesses=0, parameters=2))
def test_on_unknown_parameters_as_integers(system: TransitionSystem) -> None:
    compare_unknown(system, INTEGERS)


@pytest.mark.campaign
@settings(max_examples=examples(5000), deadline=None)
@given(systems(resettabilities=0, witnesses=0))
def test_on_thousands_of_random_systems(system: TransitionSystem) -> None:
    compare(system, BIT_VECTORS)
    compare(system, INTEGERS)


@pytest.mark.campaign
@settings(max_examples=examples(2000), deadline=None)
@given(systems(resettabilities=0, witnesses=0, parameters=2))
def test_on_thousands_with_unknown_parameters(system: TransitionSystem) -> None:
    compare_unknown(system, BIT_VECTORS)
    compare_unknown(system, INTEGERS)
