"""Dependences of the steps of a run on earlier ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.causality import Dependence, dependences, used_variables
from podrace.checker.trace.execution import replay
from podrace.model.language import INT, Expr, Transition, TransitionSystem, Variable, any_of, as_expr
from podrace.model.language.expressions.expr import equal, select, variable
from tests.checker.random_runs import random_run
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

X, Y, Z, FLAG = (Variable(name, INT, 0, 3, 0) for name in ("x", "y", "z", "flag"))


def step(name: str, guard: Expr, **updates: object) -> Transition:
    by_name = {v.name: v for v in (X, Y, Z, FLAG)}
    made = {by_name[n]: as_expr(e, INT) for n, e in updates.items()}  # type: ignore[arg-type]
    return Transition("m", name, (), name, True, guard, (), made)


def system(*steps: Transition) -> TransitionSystem:
    return TransitionSystem("s", UNIVERSE, (X, Y, Z, FLAG), steps)


def found(*steps: Transition) -> list[tuple[int, int, tuple[str, ...]]]:
    made = system(*steps)
    trace = replay(made, tuple(range(len(steps))))
    return [(d.number, d.after, d.variables) for d in dependences(made, trace)]


x, y, z, flag = (variable(v) for v in (X, Y, Z, FLAG))
ALWAYS = as_expr(True)


def test_what_a_guard_reads_and_what_an_update_reads() -> None:
    assert found(step("a", ALWAYS, x=1), step("b", equal(x, 1), y=2), step("c", ALWAYS, z=y)) == [
        (2, 1, ("x",)),
        (3, 2, ("y",)),
    ]


def test_the_last_assignment_counts() -> None:
    assert found(step("a", ALWAYS, x=1), step("b", ALWAYS, x=2), step("c", ALWAYS, y=x)) == [(3, 2, ("x",))]


def test_the_branch_that_was_not_taken_does_not_count() -> None:
    chosen = select(equal(flag, 1), x, y)
    assert found(step("a", ALWAYS, x=1), step("b", ALWAYS, y=2), step("c", ALWAYS, z=chosen)) == [
        (3, 2, ("y",))
    ]


def test_a_false_operand_beside_a_true_one_does_not_count() -> None:
    guard = any_of((equal(x, 1), equal(y, 1)))
    assert found(step("a", ALWAYS, x=1), step("b", ALWAYS, y=2), step("c", guard, z=1)) == [(3, 1, ("x",))]


def test_assigning_what_is_there_counts_and_keeping_it_does_not() -> None:
    assigned = found(step("a", ALWAYS, x=1), step("b", ALWAYS, x=1), step("c", ALWAYS, y=x))
    kept = found(
        step("a", ALWAYS, x=1), step("b", ALWAYS, x=select(equal(flag, 1), 2, x)), step("c", ALWAYS, y=x)
    )
    assert assigned == [(3, 2, ("x",))]
    assert kept == [(3, 1, ("x",))]


@settings(deadline=None)
@given(systems(), st.data())
def test_other_variables_make_no_difference(made: TransitionSystem, data: st.DataObject) -> None:
    """Whatever values the variables have that were not used, the expression keeps its value."""
    interpreter = Interpreter(made)
    roots = [e for t in made.transitions for e in (t.guard, *t.updates.values())]
    if not roots:
        return
    root = data.draw(st.sampled_from(roots))
    one, other = (tuple(data.draw(st.integers(v.lo, v.hi)) for v in made.variables) for _ in range(2))
    used = used_variables(interpreter, [root], one)
    mixed = tuple(a if v in used else b for v, a, b in zip(made.variables, one, other, strict=True))
    assert interpreter.evaluate(root, mixed) == interpreter.evaluate(root, one)


@settings(deadline=None)
@given(systems(), st.data())
def test_dependences_lead_back_to_assignments(made: TransitionSystem, data: st.DataObject) -> None:
    path = random_run(data, made, 6)
    trace = replay(made, path)
    for d in dependences(made, trace):
        assert d == Dependence(d.number, d.after, tuple(sorted(set(d.variables))))
        assert 1 <= d.after < d.number <= len(path)
        written = {v.name for v in made.transitions[path[d.after - 1]].updates}
        assert set(d.variables) <= written
