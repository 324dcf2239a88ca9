"""Steps that would have kept a run from its end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.counterfactual import counterfactuals
from podrace.checker.trace.execution import replay
from podrace.model.language import INT, Expr, Transition, TransitionSystem, Variable, all_of, as_expr
from podrace.model.language.expressions.expr import equal, less, variable
from tests.checker.random_runs import random_run
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

SENT, HEARD, BUSY = (Variable(name, INT, 0, 3, 0) for name in ("sent", "heard", "busy"))
sent, heard, busy = (variable(v) for v in (SENT, HEARD, BUSY))


def step(actor: str, name: str, guard: Expr, updates: dict[Variable, int], fair: bool = True) -> Transition:
    made = {v: as_expr(value, INT) for v, value in updates.items()}
    return Transition("m", name, (), actor, fair, guard, (), made)


SEND = step("writer", "send", as_expr(True), {SENT: 1})
LOOK = step("worker", "look", equal(heard, 0), {BUSY: 1})
ACT = step("worker", "act", equal(busy, 1), {BUSY: 2})
DELIVER = step("courier", "deliver", all_of((equal(sent, 1), equal(heard, 0))), {HEARD: 1})


def found(*transitions: Transition) -> list[tuple[int, list[str], int]]:
    """The preventions of the run of the first three steps."""
    system = TransitionSystem("s", UNIVERSE, (SENT, HEARD, BUSY), transitions, {"I": less(busy, 2)})
    trace = replay(system, (0, 1, 2))
    return [(p.before, [s.step for s in p.steps], p.stops) for p in counterfactuals(system, trace)]


def test_a_delivery_that_would_have_come_in_time() -> None:
    assert found(SEND, LOOK, ACT, DELIVER) == [(2, ["deliver"], 2)]


def test_several_steps_of_one_actor() -> None:
    fetch = step("courier", "fetch", all_of((equal(sent, 1), equal(heard, 0))), {SENT: 2})
    bring = step("courier", "bring", equal(sent, 2), {HEARD: 1})
    assert found(SEND, LOOK, ACT, fetch, bring) == [(2, ["fetch", "bring"], 2)]


def test_one_way_for_every_actor() -> None:
    other = step("friend", "tell", equal(sent, 1), {HEARD: 2})
    assert found(SEND, LOOK, ACT, DELIVER, other) == [(2, ["deliver"], 2), (2, ["tell"], 2)]


def test_nobody_relies_on_a_fault() -> None:
    unfair = step("user", "shout", as_expr(True), {HEARD: 1}, fair=False)
    assert found(SEND, LOOK, ACT, unfair) == []


def test_steps_that_make_no_difference_prevent_nothing() -> None:
    idle = step("idler", "rest", equal(sent, 1), {SENT: 2})
    assert found(SEND, LOOK, ACT, idle) == []


@settings(deadline=None)
@given(systems(), st.data())
def test_what_is_claimed_can_be_executed(made: TransitionSystem, data: st.DataObject) -> None:
    interpreter = Interpreter(made)
    path = random_run(data, made, 5)
    for way in counterfactuals(made, replay(made, path)):
        extra = [s.transition for s in way.steps]
        actors = {made.transitions[n].actor for n in extra}
        assert len(actors) == 1
        assert all(made.transitions[n].fair for n in extra)
        rest = path[way.before - 1 :]
        assert not set(extra) & set(rest)
        possible = [*path[: way.before - 1], *extra, *path[way.before - 1 : way.stops - 1]]
        end = replay(made, tuple(possible)).states[-1]
        assert not interpreter.holds(made.transitions[path[way.stops - 1]].guard, end)
