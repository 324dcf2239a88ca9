"""Where two systems part: every difference that is told is one, and none is denied that there is."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.divergence import Decision, divergence
from podrace.model.language import INT, Expr, State, Transition, TransitionSystem, Variable, as_expr, negate
from podrace.model.language.expressions.expr import equal, fresh_graph, variable
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

X, Y = Variable("x", INT, 0, 9, 0), Variable("y", INT, 0, 9, 0)
x, y = variable(X), variable(Y)


def step(name: str, guard: Expr, updates: dict[Variable, int]) -> Transition:
    made = {v: as_expr(value, INT) for v, value in updates.items()}
    return Transition("m", name, (), "a", True, guard, (), made)


def system(*transitions: Transition, variables: tuple[Variable, ...] = (X, Y)) -> TransitionSystem:
    return TransitionSystem("s", UNIVERSE, variables, transitions)


FIRST = step("first", equal(x, 0), {X: 1})
SECOND = step("second", equal(x, 1), {X: 2})
THIRD = step("third", equal(x, 2), {X: 3})


def test_the_same_system_never_decides_differently() -> None:
    found = divergence(system(FIRST, SECOND), system(FIRST, SECOND))
    assert (found.difference, found.alike) == (None, True)


def test_another_effect() -> None:
    found = divergence(system(FIRST, SECOND), system(FIRST, step("second", equal(x, 1), {X: 5, Y: 1})))
    assert found.difference is not None
    assert [s.label for s in found.difference.trace.steps] == ["m.first()"]
    assert found.difference.decisions == (
        Decision("m.second()", "another effect", {"x": (2, 5), "y": (0, 1)}),
    )
    assert found.shortest


def test_a_step_more_and_a_step_less() -> None:
    found = divergence(system(FIRST, SECOND), system(FIRST, THIRD, step("other", equal(x, 1), {X: 4})))
    assert found.difference is not None
    assert [(d.label, d.kind) for d in found.difference.decisions] == [
        ("m.second()", "only before"),
        ("m.other()", "only after"),
    ]


def test_a_difference_out_of_reach_is_none() -> None:
    found = divergence(system(FIRST, THIRD), system(FIRST, step("third", equal(x, 2), {X: 9})))
    assert (found.difference, found.alike) == (None, True)


def test_a_variable_more_makes_no_claim() -> None:
    after = system(step("first", equal(x, 0), {X: 1, Y: 1}))
    found = divergence(system(FIRST, variables=(X,)), after)
    assert (found.difference, found.alike) == (None, False)


def test_systems_that_begin_differently() -> None:
    other = Variable("x", INT, 0, 9, 3)
    found = divergence(system(FIRST), system(variables=(other, Y)))
    assert found.difference is not None
    assert found.difference.trace.steps == ()


def by_hand(before: TransitionSystem, after: TransitionSystem) -> int | None:
    """The length of a shortest run of both to a state where they decide differently, by walking both."""
    one, other = Interpreter(before), Interpreter(after)

    def moves(interpreter: Interpreter, state: State) -> dict[str, State]:
        transitions = interpreter.system.transitions
        return {transitions[n].label: interpreter.successor(state, n) for n in interpreter.enabled(state)}

    waiting, seen = deque([(before.initial, 0)]), {before.initial}
    while waiting:
        state, depth = waiting.popleft()
        first, second = moves(one, state), moves(other, state)
        if first != second:
            return depth
        for following in first.values():
            if following not in seen:
                seen.add(following)
                waiting.append((following, depth + 1))
    return None


@settings(max_examples=examples(60), deadline=None)
@given(systems(), st.data())
def test_a_changed_transition_is_found_exactly_where_it_shows(
    before: TransitionSystem, data: st.DataObject
) -> None:
    assume(before.transitions)
    at = data.draw(st.integers(0, len(before.transitions) - 1))
    with fresh_graph():
        old = before.transitions[at]
        new = (
            replace(old, guard=negate(old.guard), updates={})
            if data.draw(st.booleans())
            else replace(old, updates={})
        )
    labels = [t.label for t in before.transitions]
    assume(len(labels) == len(set(labels)))
    after = replace(before, transitions=(*before.transitions[:at], new, *before.transitions[at + 1 :]))
    expected = by_hand(before, after)
    found = divergence(before, after, Budget())
    if expected is None:
        assert (found.difference, found.alike) == (None, True)
    else:
        assert found.difference is not None
        assert len(found.difference.trace.steps) == expected
        assert found.shortest
