"""Questions: what a system can learn about its parameters."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings

from podrace.checker.explicit.reference import explore
from podrace.checker.parametric import grounding
from podrace.checker.parametric.grounding import TooManyCases, questions
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.regions import evaluate
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    select,
    total,
)
from podrace.model.language.expressions.expr import fresh_graph, parameter, variable
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

CAP, A, B = Parameter("cap", 0, 99), Parameter("a", 0, 99), Parameter("b", 0, 99)


def one_step(guard: Expr, *variables: Variable) -> TransitionSystem:
    """A system whose only transition has this guard."""
    step = Transition("part", "step", (), "actor", True, guard, (), {})
    return TransitionSystem("one step", UNIVERSE, variables, (step,))


def asked(system: TransitionSystem) -> set[str]:
    with fresh_graph():
        return set(map(repr, questions(system)))


def test_a_sum_over_what_is_there_asks_about_every_subset() -> None:
    x, y = Variable("x", BOOL, 0, 1, 0), Variable("y", BOOL, 0, 1, 0)
    with fresh_graph():
        taken = total([select(variable(x), parameter(A), 0), select(variable(y), parameter(B), 0)])
        system = one_step(taken > parameter(CAP), x, y)
    assert asked(system) == {"lt(cap, a)", "lt(cap, b)", "lt(cap, add(a, b))"}


def test_a_comparison_without_the_state_is_one_question() -> None:
    with fresh_graph():
        assert asked(one_step(parameter(A) < parameter(B))) == {"lt(a, b)"}


def test_a_condition_and_its_negation_are_one_question() -> None:
    x = Variable("x", BOOL, 0, 1, 0)
    with fresh_graph():
        less = parameter(A) < parameter(B)
        assert asked(one_step(all_of([variable(x), less]) | all_of([~variable(x), ~less]), x)) == {"lt(a, b)"}


def test_a_number_of_the_state_takes_each_of_its_values() -> None:
    n = Variable("n", INT, 1, 3, 1)
    with fresh_graph():
        assert asked(one_step(parameter(A) < variable(n), n)) == {"lt(a, 1)", "lt(a, 2)", "lt(a, 3)"}


def test_comparisons_that_are_only_used_together_are_one_question_for_each_case() -> None:
    """Not enough of one resource or not enough of another: which of them does not matter."""
    x = Variable("x", BOOL, 0, 1, 0)
    room, ask = Parameter("room", 0, 99), Parameter("ask", 0, 99)
    with fresh_graph():
        short = [
            select(variable(x), parameter(A), 0) + parameter(B) > parameter(CAP),
            select(variable(x), parameter(ask), 0) + parameter(ask) > parameter(room),
        ]
        system = one_step(any_of(short), x)
    assert asked(system) == {
        "or(lt(cap, b), lt(room, ask))",
        "or(lt(cap, add(a, b)), lt(room, add(ask, ask)))",
    }


def test_comparisons_that_are_also_used_apart_are_asked_apart() -> None:
    x = Variable("x", BOOL, 0, 1, 0)
    with fresh_graph():
        one, two = parameter(A) < parameter(CAP), parameter(B) < parameter(CAP)
        system = one_step(all_of([variable(x), one]) | all_of([one, two, ~variable(x)]), x)
    assert asked(system) == {"lt(a, cap)", "lt(b, cap)"}


def test_a_parameter_in_the_state_is_refused() -> None:
    n = Variable("n", INT, 0, 99, 0)
    with fresh_graph():
        step = Transition("part", "keep", (), "actor", True, variable(n) == 0, (), {n: parameter(A)})
        system = TransitionSystem("keeps", UNIVERSE, (n,), (step,))
    with pytest.raises(ValueError, match=r"part\.keep\(\) keeps a parameter in `n`"):
        asked(system)


def test_a_comparison_with_too_many_cases_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "MOST_CASES", 2)
    n = Variable("n", INT, 1, 3, 1)
    with fresh_graph(), pytest.raises(TooManyCases, match="a comparison of a has more than 2 cases"):
        asked(one_step(parameter(A) < variable(n), n))


def test_a_comparison_with_just_so_many_cases_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "MOST_CASES", 3)
    n = Variable("n", INT, 1, 3, 1)
    with fresh_graph():
        system = one_step(parameter(A) < variable(n), n)
    assert asked(system) == {"lt(a, 1)", "lt(a, 2)", "lt(a, 3)"}


@settings(max_examples=examples(80))
@given(systems(parameters=3))
def test_equal_answers_give_equal_behaviour(system: TransitionSystem) -> None:
    """Choices that no question tells apart give systems with the same counts, depths and answers."""
    unknown = parameters_of(system)
    assume(unknown)
    alike: dict[tuple[int, ...], list[dict[str, int]]] = {}
    with fresh_graph():
        try:
            found = questions(system)
        except ValueError:
            assume(False)
        for values in product(*(range(q.lo, q.hi + 1) for q in unknown)):
            chosen = dict(zip(unknown, values, strict=True))
            answers = tuple(evaluate(e, chosen) for e in found)
            alike.setdefault(answers, []).append({q.name: v for q, v in chosen.items()})
    for members in list(alike.values())[:4]:
        first, last = (
            replace(explore(with_parameters(system, chosen)), seconds=0.0)
            for chosen in (members[0], members[-1])
        )
        assert first == last
