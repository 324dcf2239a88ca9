"""Induction: what is proved holds, what is violated is violated, and no violation is believed that nothing confirms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.core.result import EngineDisagreement, Verdict
from podrace.checker.explicit.reference import explore
from podrace.checker.smt.theories import THEORIES, Theory
from podrace.checker.symbolic.bounded import Claim, Runs
from podrace.checker.symbolic.induction import NotInductive, by_k_induction
from podrace.model.language import BOOL, INT, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import const, equal, fresh_graph, parameter, variable
from podrace.reports.verdict_words import verdict_words
from tests.checker.machines import Careless, house
from tests.profiles import examples
from tests.random_systems import coupled, systems
from tests.random_universe import UNIVERSE

MOST = 4
"""The largest k for random systems."""

BOTH = pytest.mark.parametrize("theory", THEORIES.values(), ids=THEORIES)


def lock(broken: bool = False) -> TransitionSystem:
    """Two take turns to use room of an unknown size; the invariant needs to know whose turn it is."""
    with fresh_graph():
        turn = Variable("turn", INT, 0, 9, 0)
        used = [Variable(f"used{i}", BOOL, 0, 1, 0) for i in (0, 1)]
        share, room = parameter(Parameter("share", 1, 4)), parameter(Parameter("room", 1, 7))
        steps = []
        for i, mine in enumerate(used):
            my_turn = as_expr(True) if broken else equal(variable(turn), i)
            fits = share <= room
            enter = my_turn & fits
            steps += [
                Transition(
                    "part",
                    f"enter{i}",
                    (),
                    "actor",
                    True,
                    enter,
                    (),
                    {mine: const(BOOL, 1), turn: const(INT, 5 + i)},
                ),
                Transition(
                    "part",
                    f"leave{i}",
                    (),
                    "actor",
                    True,
                    variable(mine),
                    (),
                    {mine: const(BOOL, 0), turn: const(INT, 1 - i)},
                ),
            ]
        over = variable(used[0]) & variable(used[1]) & (room < share * 2)
        return TransitionSystem("lock", UNIVERSE, (turn, *used), tuple(steps), {"room": ~over})


@BOTH
def test_k_induction_shows_what_it_cannot_exclude(theory: Theory) -> None:
    proof = by_k_induction(lock(), "room", 1, theory=theory)
    assert (proof.verdict, proof.counts.depth, proof.stopped) == (Verdict.INCONCLUSIVE, 1, "induction")
    shown = proof.evidence
    assert isinstance(shown, NotInductive)
    assert len(shown.states) == 2
    interpreter = Interpreter(shown.system, proof.parameters)
    predicate = shown.system.invariants["room"]
    assert [interpreter.holds(predicate, s) for s in shown.states] == [True, False]
    (number,) = (i for i, t in enumerate(shown.system.transitions) if t.label == shown.labels[0])
    assert number in interpreter.enabled(shown.states[0])
    assert interpreter.successor(shown.states[0], number) == shown.states[1]


@BOTH
def test_k_induction_proves_with_a_larger_k(theory: Theory) -> None:
    proof = by_k_induction(lock(), "room", 12, theory=theory)
    assert (proof.verdict, proof.evidence, proof.stopped, proof.vacuous) == (Verdict.HOLDS, None, None, False)
    assert (
        verdict_words(proof)
        == f"Proved by k-induction for runs of any length, at depth {proof.counts.depth}."
    )
    assert (proof.counts.depth or 0) > 1


def test_k_induction_finds_a_violation() -> None:
    proof = by_k_induction(lock(broken=True), "room", 5)
    assert (proof.verdict, proof.counts.depth) == (Verdict.VIOLATED, 2)
    assert proof.parameters["share"] <= proof.parameters["room"] < 2 * proof.parameters["share"]
    assert proof.trace is not None


def test_no_time_is_inconclusive() -> None:
    proof = by_k_induction(lock(), "room", 3, timeout=0.0)
    assert (proof.verdict, proof.counts.depth, proof.stopped) == (Verdict.INCONCLUSIVE, 0, "timeout")
    assert (proof.evidence, verdict_words(proof)) == (
        None,
        "Stopped by the time limit at depth 0, nothing known beyond.",
    )


def test_a_violation_that_nothing_confirms_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runs, "violation", lambda self: Claim({"share": 1, "room": 1}, ()))
    with pytest.raises(EngineDisagreement, match="Z3 claims that `room` of lock is violated after 0 steps"):
        by_k_induction(lock(), "room", 3)


def agree(system: TransitionSystem, theory: Theory) -> None:
    """Induction says what the explorer says, wherever it says something."""
    for name in system.invariants:
        asked = system.with_predicates(
            invariants={name: system.invariants[name]}, witnesses={}, resettabilities={}
        )
        violations = explore(asked).violations
        found = by_k_induction(system, name, MOST, theory=theory)
        if violations and len(violations[name]) < MOST:
            assert (found.verdict, found.counts.depth) == (Verdict.VIOLATED, len(violations[name]))
        elif violations:
            assert found.verdict is Verdict.INCONCLUSIVE
        else:
            assert found.verdict in (Verdict.HOLDS, Verdict.INCONCLUSIVE)
        assert (found.evidence is None) == (found.verdict is Verdict.HOLDS)


@BOTH
@settings(max_examples=examples(40), deadline=None)
@given(system=systems(resettabilities=0, witnesses=0))
def test_on_random_systems(theory: Theory, system: TransitionSystem) -> None:
    agree(system, theory)


@settings(max_examples=examples(40), deadline=None)
@given(coupled(resettabilities=0))
def test_on_processes(system: TransitionSystem) -> None:
    agree(system, THEORIES["bit-vectors"])


@pytest.mark.campaign
@BOTH
@settings(max_examples=2000, deadline=None)
@given(system=systems(resettabilities=0, witnesses=0))
def test_on_thousands_of_random_systems(theory: Theory, system: TransitionSystem) -> None:
    agree(system, theory)


@BOTH
def test_on_the_house(theory: Theory) -> None:
    for system in (house(), house(Careless)):
        agree(system, theory)
