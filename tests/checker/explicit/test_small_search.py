"""Small searches without native code: the answers of the reference, to the last count, or none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker import explicit as native
from podrace.checker import search
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.interpreter import OPERATORS
from podrace.checker.explicit import reference, small_search
from podrace.checker.explicit.small_search import explore_if_small
from podrace.model.language import INT, Transition, TransitionSystem, Universe, Variable, as_expr
from podrace.model.language.expressions.expr import Parameter, parameter, select, variable
from tests.checker.explicit.systems import counting
from tests.checker.machines import counters
from tests.checker.results import untimed
from tests.checker.slices import slice_system
from tests.profiles import examples
from tests.random_systems import systems


def small(system: TransitionSystem, budget: Budget | None = None) -> Exploration:
    found = explore_if_small(system, budget or Budget())
    assert found is not None
    return untimed(found)


def wide(system: TransitionSystem) -> bool:
    return any(v.hi - v.lo > 255 for v in system.variables)


@settings(max_examples=examples(400))
@given(systems())
def test_random_systems_have_the_answer_of_the_reference(system: TransitionSystem) -> None:
    if wide(system):
        assert explore_if_small(system, Budget()) is None
    else:
        assert small(system) == untimed(reference.explore(system))


@settings(max_examples=examples(200))
@given(systems(resettabilities=0))
def test_where_a_search_may_end_early(system: TransitionSystem) -> None:
    if not wide(system):
        assert small(system) == untimed(reference.explore(system))


@settings(max_examples=examples(200))
@given(systems(invariants=1, witnesses=0, resettabilities=1, livenesses=2))
def test_lassos_and_ways_back_are_those_of_the_reference(system: TransitionSystem) -> None:
    if not wide(system):
        assert small(system) == untimed(reference.explore(system))


@settings(max_examples=examples(100))
@given(systems(), st.integers(1, 40))
def test_what_exceeds_the_states_allowed_is_left_to_others(system: TransitionSystem, limit: int) -> None:
    system = slice_system(system)
    found = explore_if_small(system, Budget(max_states=limit))
    expected = untimed(reference.explore(system, Budget(max_states=limit)))
    if found is None:
        assert wide(system) or expected.stopped == "states" or expected.states == limit
    else:
        assert untimed(found) == expected


def test_so_many_states_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_search, "MOST_STATES", 81)
    assert small(counters(4)) == untimed(native.explore(counters(4)))
    assert explore_if_small(counters(5), Budget()) is None
    monkeypatch.setattr(small_search, "MOST_STATES", 80)
    assert explore_if_small(counters(4), Budget()) is None


def test_while_levels_become_wider_fewer_states_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of five counters up to 2, the levels have 1, 5, 15, 30, 45, 51, 45, 30, 15, 5, 1 states.
    monkeypatch.setattr(small_search, "MOST_WHILE_WIDENING", 147)
    assert small(counters(5)) == untimed(native.explore(counters(5)))
    monkeypatch.setattr(small_search, "MOST_WHILE_WIDENING", 146)
    assert explore_if_small(counters(5), Budget()) is None


def test_while_levels_multiply_fewer_still_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    # The level of 45 states is the last that is wider by so much than the one before, the third in a row.
    monkeypatch.setattr(small_search, "MOST_WHILE_MULTIPLYING", 96)
    assert small(counters(5)) == untimed(native.explore(counters(5)))
    monkeypatch.setattr(small_search, "MOST_WHILE_MULTIPLYING", 95)
    assert explore_if_small(counters(5), Budget()) is None


def test_a_long_chain_of_narrow_levels_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = counting(200)
    assert small(chain).depth == 200
    monkeypatch.setattr(small_search, "MOST_LOOKS", 300)
    assert explore_if_small(chain, Budget()) is None


def test_the_interpreter_has_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*OPERATORS]:
        monkeypatch.delitem(OPERATORS, name)
    assert small(counters(3)).states == 27


def test_what_takes_long_for_its_size_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_search, "MOST_SECONDS", 0.0)
    assert explore_if_small(counters(2), Budget()) is None


@pytest.mark.parametrize(
    "budget",
    [
        Budget(max_memory=small_search.LEAST_MEMORY - 1),
        Budget(timeout=small_search.LEAST_SECONDS / 2),
    ],
)
def test_tight_budgets_are_for_the_engine_that_keeps_to_them(budget: Budget) -> None:
    assert explore_if_small(counters(2), budget) is None


def test_what_it_cannot_evaluate_is_left_to_others() -> None:
    number = Variable("number", INT, 0, 9, 0)

    def with_update(update: object, hi: int = 9) -> TransitionSystem:
        v = Variable("number", INT, 0, hi, 0) if hi != 9 else number
        step = Transition("p", "s", (), "a", True, as_expr(True), (), {v: as_expr(update)})  # type: ignore[arg-type]
        return TransitionSystem("", Universe({}), (v,), (step,))

    assert explore_if_small(with_update(3), Budget()) is not None
    assert explore_if_small(with_update(parameter(Parameter("unknown", 0, 3))), Budget()) is None
    assert explore_if_small(with_update(3, hi=256), Budget()) is None
    # A mistake in the system, in one state and in another of several: the interpreter says what it is.
    assert explore_if_small(with_update(10), Budget()) is None
    beyond = select(variable(number) < 1, 1, select(variable(number) < 2, 2, 10))
    assert explore_if_small(with_update(beyond), Budget()) is None
    deep = variable(number)
    for i in range(3000):
        deep = select(variable(number).__eq__(i % 7), deep, (deep + 1) // 2)
    assert explore_if_small(with_update(deep), Budget()) is None


def test_the_native_engine_is_asked_where_a_search_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(native, "explore", lambda system, *_: asked.append(system.name))
    explore = search.engine_of("native")
    assert explore(counters(2), Budget(), None).states == 9
    assert asked == []
    monkeypatch.setattr(small_search, "MOST_STATES", 8)
    explore(counters(2), Budget(), None)
    assert asked == [counters(2).name]


def test_a_small_check_loads_neither_numpy_nor_llvm() -> None:
    program = (
        "import sys; from podrace.cli.main import run; "
        "code = run(['check', '53647', '--closing', '0', '--no-cache', '-o', 'json']); "
        "print(code, [m for m in ('numpy', 'llvmlite', 'z3') if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines()[-1] == "1 []"


def test_a_small_check_that_keeps_its_finding_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    program = (
        "import sys; from podrace.cli.main import run; "
        "code = run(['check', '53647', '--closing', '0', '--property', sys.argv[1], '-o', 'json']); "
        "print(code, [m for m in ('json', 'tempfile', 'numpy', 'llvmlite') if m in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PODRACE_CACHE": str(tmp_path / "kept")}
    environment.pop("PODRACE_NO_CACHE", None)
    # The first run may make the user's key, which takes more.
    _, ran = (
        subprocess.run(
            [sys.executable, "-c", program, prop],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=tmp_path,
        )
        for prop in ("S-ERR", "L-ISO")
    )
    assert ran.stderr.splitlines()[-1] == "1 []"
    assert any((tmp_path / "kept").rglob("*.json"))
