"""Induction: what is proved holds, what is violated is violated, and no proof is believed that a fresh solver denies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.reference import explore
from podrace.checker.search import EngineDisagreement
from podrace.checker.smt.theories import THEORIES, Theory
from podrace.checker.symbolic.certificate import OBLIGATIONS, certificate, failed_obligations
from podrace.checker.symbolic.cubes import Cubes
from podrace.checker.symbolic.induction import Proof, by_k_induction, by_pdr
from podrace.checker.symbolic.pdr import Pdr
from podrace.model.language import BOOL, INT, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expr import const, equal, fresh_graph, parameter, variable
from tests.checker.machines import Careless, house
from tests.profiles import examples
from tests.random_systems import UNIVERSE, coupled, systems

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
def test_pdr_finds_an_invariant_for_all_quantities(theory: Theory) -> None:
    proof = by_pdr(lock(), "room", theory=theory)
    assert (proof.word, proof.trace, proof.stopped) == ("PROVED", None, None)
    assert proof.clauses > 0
    assert proof.certificate is not None
    assert failed_obligations(proof.certificate) == []


@BOTH
def test_pdr_finds_a_violation(theory: Theory) -> None:
    proof = by_pdr(lock(broken=True), "room", theory=theory)
    assert (proof.word, proof.k, proof.certificate) == ("VIOLATED", 2, None)
    assert proof.quantities["share"] <= proof.quantities["room"] < 2 * proof.quantities["share"]
    assert proof.trace is not None


@BOTH
def test_k_induction_shows_what_it_cannot_exclude(theory: Theory) -> None:
    proof = by_k_induction(lock(), "room", 1, theory=theory)
    assert (proof.word, proof.k, proof.stopped) == ("INCONCLUSIVE", 1, "induction")
    shown = proof.counterexample
    assert shown is not None
    assert len(shown.states) == 2
    interpreter = Interpreter(shown.system, shown.quantities)
    predicate = shown.system.invariants["room"]
    assert [interpreter.holds(predicate, s) for s in shown.states] == [True, False]
    (number,) = (i for i, t in enumerate(shown.system.transitions) if t.label == shown.labels[0])
    assert number in interpreter.enabled(shown.states[0])
    assert interpreter.successor(shown.states[0], number) == shown.states[1]


@BOTH
def test_k_induction_proves_with_a_larger_k(theory: Theory) -> None:
    proof = by_k_induction(lock(), "room", 12, theory=theory)
    assert proof.word == "PROVED"
    assert proof.k > 1


def test_k_induction_finds_a_violation() -> None:
    proof = by_k_induction(lock(broken=True), "room", 5)
    assert (proof.word, proof.k) == ("VIOLATED", 2)


@pytest.mark.parametrize(
    "prove", [lambda s, t: by_pdr(s, "room", timeout=t), lambda s, t: by_k_induction(s, "room", 3, timeout=t)]
)
def test_no_time_is_inconclusive(prove: object) -> None:
    proof: Proof = prove(lock(), 0.0)  # type: ignore[operator]
    assert (proof.word, proof.stopped) == ("INCONCLUSIVE", "timeout")


def test_a_proof_that_a_fresh_solver_denies_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Pdr.run

    def forgetful(self: Pdr) -> int | None:
        found = ran(self)
        self.clauses = ()
        return found

    monkeypatch.setattr(Pdr, "run", forgetful)
    with pytest.raises(EngineDisagreement, match="no step leaves the invariant: sat"):
        by_pdr(lock(), "room")


def test_a_violation_that_nothing_confirms_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pdr, "run", lambda self: 4)
    with pytest.raises(EngineDisagreement, match="violated within 4 steps, but bounded search does not"):
        by_pdr(lock(), "room")


def test_each_obligation_can_fail() -> None:
    text = by_pdr(lock(), "room").certificate
    assert text is not None
    for i, (words, _) in enumerate(OBLIGATIONS):
        parts = text.split("(push 1)")
        parts[i + 1] = "\n(assert true)\n(check-sat)\n(pop 1)\n"
        assert failed_obligations("(push 1)".join(parts)) == [f"{words}: sat"]
    assert len(failed_obligations("(check-sat)")) == 3


def test_another_process_confirms_a_certificate(tmp_path: Path) -> None:
    text = by_pdr(lock(), "room").certificate
    assert text is not None
    file = tmp_path / "proof.smt2"
    file.write_text(text)
    solver = shutil.which("z3", path=str(Path(sys.executable).parent))
    assert solver is not None
    ran = subprocess.run([solver, str(file)], capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout.split() == ["unsat"] * 3


@BOTH
def test_a_certificate_knows_no_names_of_the_solver(theory: Theory) -> None:
    system = lock()
    cubes = Cubes(system, system.invariants["room"], theory, None)
    (question, *_) = cubes.questions
    for code in (0, 1):
        cubes.literal((question, code))
        text = certificate(cubes, [((question, code),)], "not a proof")
        assert "literal" not in text
        assert not any("no answer" in failed for failed in failed_obligations(text))


def agree(system: TransitionSystem, theory: Theory) -> None:
    """Both kinds of induction say what the explorer says, wherever they say something."""
    for name in system.invariants:
        asked = system.with_predicates(
            invariants={name: system.invariants[name]}, witnesses={}, resettabilities={}
        )
        violations = explore(asked).violations
        by_frames = by_pdr(system, name, theory=theory)
        by_depth = by_k_induction(system, name, 4, theory=theory)
        assert by_frames.word == ("VIOLATED" if violations else "PROVED")
        assert by_depth.word in (by_frames.word, "INCONCLUSIVE")
        if violations:
            assert by_frames.k == len(violations[name])
            assert by_depth.word == "VIOLATED" or len(violations[name]) >= 4


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
