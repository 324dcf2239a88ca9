"""Bounded search on small machines: bounds, assumptions, parameters, time, and answers that nobody believes."""

from __future__ import annotations

import time

import pytest

from podrace.checker.core.result import EngineDisagreement, Verdict
from podrace.model.language import INT, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import fresh_graph, parameter, variable
from tests.checker.machines import counters, graph
from tests.random_universe import UNIVERSE
from tests.tools.symbolic import bounded
from tests.tools.symbolic.bit_vectors import THEORIES
from tests.tools.symbolic.bounded import Claim, Runs, confirmed, search
from tests.tools.symbolic.solver import Solver, Undecided


def climbing(top: int = 9) -> tuple[TransitionSystem, dict[str, Parameter]]:
    """A counter climbs by an unknown stride while it is below an unknown height, and must stay below `top`."""
    known = {"stride": Parameter("stride", 1, 3), "height": Parameter("height", 0, 9)}
    with fresh_graph():
        n = Variable("n", INT, 0, 12, 0)
        low = variable(n) < parameter(known["height"])
        up = Transition(
            "part", "up", (), "actor", True, low, (), {n: variable(n) + parameter(known["stride"])}
        )
        stay = Transition("part", "stay", (), "actor", True, as_expr(True), (), {})
        invariants = {"below": variable(n) < top}
        return TransitionSystem("climbing", UNIVERSE, (n,), (stay, up), invariants), known


def test_the_shortest_run_over_all_parameters() -> None:
    system, _ = climbing()
    found = search(system, "below", 5)
    assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.VIOLATED, 3, None)
    assert found.parameters["stride"] == 3
    assert found.parameters["height"] in (7, 8, 9)
    assert found.trace is not None
    assert [step.label for step in found.trace.steps] == ["part.up()"] * 3


def test_no_run_within_the_bound() -> None:
    system, _ = climbing()
    found = search(system, "below", 2)
    assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.INCONCLUSIVE, 2, "steps")
    assert (found.trace, found.parameters) == (None, {})


def test_an_assumption_leaves_parameters_out() -> None:
    system, known = climbing()
    with fresh_graph():
        slow = parameter(known["stride"]) < 2
    assert search(system, "below", 8, assumption=slow).verdict is Verdict.INCONCLUSIVE
    found = search(system, "below", 9, assumption=slow)
    assert (found.counts.depth, found.parameters) == (9, {"stride": 1, "height": 9})


def test_an_assumption_is_about_parameters_only() -> None:
    system, _ = climbing()
    with pytest.raises(ValueError, match="`n` is no parameter: it changes from state to state"):
        search(system, "below", 1, assumption=system.invariants["below"])


def test_parameters_that_the_slice_does_not_see_have_a_value_too() -> None:
    system, _ = climbing()
    with fresh_graph():
        other = parameter(Parameter("other", 4, 6)) < 5
    found = search(system, "below", 3, assumption=other)
    assert found.parameters["other"] == 4


def test_the_initial_state_counts() -> None:
    system = graph({(0, 1): True}, 2, invariants={"never": set()})
    found = search(system, "never", 0)
    assert (found.verdict, found.counts.depth) == (Verdict.VIOLATED, 0)


def test_a_system_that_comes_to_rest_has_no_longer_runs() -> None:
    system = graph({(0, 1): True, (1, 2): True}, 4, invariants={"inside": {0, 1, 2}})
    assert search(system, "inside", 9).verdict is Verdict.INCONCLUSIVE
    system = graph({(0, 1): True, (1, 2): True}, 4, invariants={"inside": {0, 1}})
    assert search(system, "inside", 9).counts.depth == 2


def test_a_slice_without_the_property_is_harmless() -> None:
    system, _ = climbing(top=99)
    assert Runs(system, "below").harmless
    assert not Runs(counters(3, invariants=["not_all_done"]), "not_all_done").harmless


def test_no_time_is_inconclusive() -> None:
    system, _ = climbing()
    found = search(system, "below", 9, timeout=0.0)
    assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.INCONCLUSIVE, -1, "timeout")


def test_a_solver_that_gives_up_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    system, _ = climbing()
    answered = bounded.Runs.violation

    def tired(self: Runs, *conditions: object) -> Claim | None:
        if self.depth == 2:
            raise Undecided("canceled")
        return answered(self)

    monkeypatch.setattr(bounded.Runs, "violation", tired)
    found = search(system, "below", 9)
    assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.INCONCLUSIVE, 1, "canceled")


def test_the_deadline_stops_a_solver() -> None:
    solver = Solver(THEORIES["bit-vectors"], time.monotonic() - 1)
    with pytest.raises(Undecided, match="timeout"):
        solver.model()


@pytest.mark.parametrize(
    ("parameters", "path", "reason"),
    [
        ({"stride": 2, "height": 9}, (1, 1, 1), "does not violate"),
        ({"stride": 3, "height": 3}, (1, 1, 1), "its guard is false"),
        ({"stride": 3, "height": 9}, (1, 1, 1, 0), "after 3 of its 4 steps already"),
        ({"stride": 9, "height": 9}, (1,), "so it cannot be 9"),
    ],
)
def test_a_false_claim_is_never_shown(parameters: dict[str, int], path: tuple[int, ...], reason: str) -> None:
    system, _ = climbing()
    with pytest.raises(EngineDisagreement, match=reason):
        confirmed(system, Claim(parameters, path), "below")
