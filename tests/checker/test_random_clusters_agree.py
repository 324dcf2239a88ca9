"""All engines agree on random clusters, on any release, with random patches: states, verdicts and depths."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, settings

from podrace.checker import explicit as native
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.result import Verdict
from podrace.checker.reduction.questions import explored_slice, kind_of
from podrace.model.language import TransitionSystem
from tests.checker.results import engine_contract
from tests.profiles import examples
from tests.random_clusters import Asked, questions
from tests.tools.symbolic.bounded import search

LARGE = 20_000
"""Natively, this many states are explored; what is complete by then is compared in full."""


def system_of(asked: Asked) -> TransitionSystem:
    system = asked.system()
    return reject() if system is None else system


def assert_interpreter_agrees(asked: Asked, states: int) -> None:
    """The native engine and the interpreter, on the slice that is explored, and on the whole system."""
    system = system_of(asked)
    for explored in (explored_slice(system, asked.property), system):
        engine_contract(explored, Budget(max_states=states))


def lengths(found: Exploration) -> tuple[dict[str, int], dict[str, int]]:
    return tuple(
        {name: len(path) for name, path in runs.items()} for runs in (found.violations, found.witnesses)
    )  # type: ignore[return-value]


def assert_searches_agree(asked: Asked, states: int) -> None:
    """With and without the slice."""
    system = system_of(asked)
    sliced, name = explored_slice(system, asked.property), asked.property
    full = native.explore(sliced, Budget(max_states=states))
    if kind_of(system, name) != "invariant":
        return
    whole = native.explore(system, Budget(max_states=states))
    if whole.complete and full.complete:
        assert lengths(whole) == lengths(full)
    found, expected = full.violations.get(name), whole.violations.get(name)
    if found is not None and expected is not None:
        assert len(found) == len(expected)
    elif found is not None:  # the whole system has more states: the search did not get so far
        assert whole.stopped == "states"
        assert whole.depth <= len(found)
    elif expected is not None:
        assert full.stopped == "states"
        assert full.depth <= len(expected)


def assert_bounded_search_agrees(asked: Asked, steps: int) -> None:
    """Z3 finds a violation exactly where a search does, up to so many steps."""
    system = system_of(asked)
    sliced, name = explored_slice(system, asked.property), asked.property
    explored = native.explore(sliced, Budget(max_states=LARGE))
    if not explored.complete and explored.depth <= steps and name not in explored.violations:
        reject()
    found, path = search(system, name, steps), explored.violations.get(name)
    if path is not None and len(path) <= steps:
        assert (found.verdict, found.counts.depth) == (Verdict.VIOLATED, len(path))
    else:
        assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.INCONCLUSIVE, steps, "steps")


SLOW = list(HealthCheck)
INVARIANTS = ("invariant", "deadlock freedom")


@settings(max_examples=examples(6), suppress_health_check=SLOW)
@given(questions())
def test_the_interpreter_agrees(asked: Asked) -> None:
    assert_interpreter_agrees(asked, 150)


@settings(max_examples=examples(6), suppress_health_check=SLOW)
@given(questions(pods=2, nodes=1))
def test_searches_agree(asked: Asked) -> None:
    assert_searches_agree(asked, LARGE)


@settings(max_examples=examples(2), suppress_health_check=SLOW)
@given(questions(pods=2, nodes=1, kinds=INVARIANTS))
def test_bounded_searches_agree(asked: Asked) -> None:
    assert_bounded_search_agrees(asked, 2)


@pytest.mark.campaign
@settings(max_examples=examples(2000), suppress_health_check=SLOW)
@given(questions(pods=3, mutations=3))
def test_the_interpreter_agrees_on_thousands(asked: Asked) -> None:
    assert_interpreter_agrees(asked, 1500)


@pytest.mark.campaign
@settings(max_examples=examples(2000), suppress_health_check=SLOW)
@given(questions(pods=3, mutations=3))
def test_searches_agree_on_thousands(asked: Asked) -> None:
    assert_searches_agree(asked, 200_000)


@pytest.mark.campaign
@settings(max_examples=examples(1000), suppress_health_check=SLOW)
@given(questions(kinds=INVARIANTS, mutations=3))
def test_bounded_searches_agree_on_a_thousand(asked: Asked) -> None:
    assert_bounded_search_agrees(asked, 7)
