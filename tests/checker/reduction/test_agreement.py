"""Reduced and unreduced searches give the same answers, in both engines; a broken reduction would be noticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from podrace.checker import explicit as native
from podrace.checker.core.exploration import Budget, Exploration, Path
from podrace.checker.explicit import reference
from podrace.checker.explicit.reduced_reference import ReducedSearch, explore_reduced
from podrace.checker.reduction.dependence import Dependence, dependence_of
from podrace.checker.search import check
from podrace.model.language import State, TransitionSystem
from tests.profiles import examples
from tests.random_systems import coupled, systems


def answers(found: Exploration) -> tuple[Any, ...]:
    """What a reduction must preserve; how much only where the search was complete."""
    violated = found.violations.keys()
    if not found.complete:
        return violated, found.stopped
    fired = tuple(times > 0 for times in found.fired)
    return violated, found.witnesses.keys(), found.no_way_back.keys(), found.constraints_hit, fired


def differs(system: TransitionSystem, explore: Callable[[TransitionSystem], Exploration]) -> bool:
    return answers(reference.explore(system)) != answers(explore(system))


@settings(max_examples=examples(250))
@given(coupled())
def test_answers_of_coupled_processes(system: TransitionSystem) -> None:
    assert not differs(system, explore_reduced)


@settings(max_examples=examples(100))
@given(systems())
def test_answers_of_random_systems(system: TransitionSystem) -> None:
    assert not differs(system, explore_reduced)


@pytest.mark.campaign
@settings(max_examples=20_000, suppress_health_check=list(HealthCheck))
@given(coupled())
def test_answers_of_thousands_of_systems(system: TransitionSystem) -> None:
    assert not differs(system, explore_reduced)


def plain(found: Exploration) -> Exploration:
    """Without the time, and with the lengths of runs instead of the runs: natively a run may take twin transitions."""

    def lengths(runs: Mapping[str, Path]) -> dict[str, Path]:
        return {name: (0,) * len(path) for name, path in runs.items()}

    return replace(
        found,
        seconds=0.0,
        violations=lengths(found.violations),
        witnesses=lengths(found.witnesses),
        no_way_back=lengths(found.no_way_back),
    )


@settings(max_examples=examples(100))
@given(coupled())
def test_the_native_engine_reduces_alike(system: TransitionSystem) -> None:
    dependence = dependence_of(system)
    expected = without_runs(explore_reduced(system, dependence=dependence))
    assert without_runs(native.explore(system, dependence=dependence)) == expected


def without_runs(answer: Exploration) -> Exploration:
    """The answer with the names of what was found: native runs may use a transition that the reduced search left out."""
    return replace(
        plain(answer),
        violations=dict.fromkeys(answer.violations, ()),
        witnesses=dict.fromkeys(answer.witnesses, ()),
        no_way_back=dict.fromkeys(answer.no_way_back, ()),
    )


@settings(max_examples=examples(100))
@given(coupled())
def test_violations_are_as_short_as_without(system: TransitionSystem) -> None:
    if system.invariants or system.resettabilities:
        for found, expected in zip(
            check(system, engine="reference", reductions="on"),
            check(system, engine="reference", reductions="off"),
            strict=True,
        ):
            assert found.verdict is expected.verdict
            assert (found.trace is None) == (expected.trace is None)
            if found.trace is not None and expected.trace is not None:
                assert len(found.trace.steps) == len(expected.trace.steps)
                assert found.reductions == ()
            else:
                assert found.reductions == ("partial-order reduction",)
                assert found.states <= expected.states
                assert (found.fired, found.constraints_hit) == (expected.fired, expected.constraints_hit)
                assert found.witnesses_missed == expected.witnesses_missed


class NoCycleCondition(ReducedSearch):
    """Puts transitions off for ever."""

    def advances(self, state: State, index: int) -> bool:
        return True


class UnfairProgress(ReducedSearch):
    """Takes any transition for progress, also where only fair ones count."""

    def advances(self, state: State, index: int) -> bool:
        number = self.number.get(self.acting.successor(state, index))
        return number is None or number >= self.level_end


class NothingWatched(ReducedSearch):
    """Has no visibility: what is observed may be undone before it is seen."""

    def begin_level(self) -> None:
        super().begin_level()
        self.watching = 0


def without_conflicts(d: Dependence) -> Dependence:
    return replace(d, conflicts=(0,) * len(d.conflicts))


def without_enablers(d: Dependence) -> Dependence:
    return replace(d, enablers=(0,) * len(d.enablers))


BROKEN: dict[str, tuple[type[ReducedSearch], Callable[[Dependence], Dependence]]] = {
    "no cycle condition": (NoCycleCondition, lambda d: d),
    "unfair progress": (UnfairProgress, lambda d: d),
    "no visibility": (NothingWatched, lambda d: d),
    "no conflicts": (ReducedSearch, without_conflicts),
    "no enablers": (ReducedSearch, without_enablers),
}


def find_example(
    strategy: st.SearchStrategy[TransitionSystem], most: int, wanted: Callable[[TransitionSystem], bool]
) -> TransitionSystem:
    """One of so many systems, always the same ones; the test fails if `wanted` holds for none."""
    options = settings(
        max_examples=most,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    try:
        return find(strategy, wanted, settings=options)
    except NoSuchExample:
        pytest.fail(f"no random system of {most:,} shows the mistake")


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_broken_reduction_is_caught(mistake: str) -> None:
    cls, spoil = BROKEN[mistake]

    def broken(system: TransitionSystem) -> Exploration:
        return cls(system, Budget(), None, spoil(dependence_of(system))).run()

    find_example(coupled(), 4000, lambda system: differs(system, broken))
