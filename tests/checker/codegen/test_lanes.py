"""Many states at a time: what comes out does not depend on how they share vectors and chunks."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen import expansion
from podrace.checker.codegen.program import generate
from podrace.checker.codegen.room import CHUNK
from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import explore, parallel_bfs, reference
from podrace.checker.explicit.states.hash_table import Stored
from podrace.checker.explicit.states.search_state import bits_of
from podrace.checker.explicit.states.successors import ALL, Batch, Successors, expand
from podrace.checker.kernel_compiler.jit import jit
from podrace.checker.llvm.machine_code import compile_system
from podrace.model.history import resolve
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    as_expr,
)
from podrace.model.language.expressions.expr import (
    clamp,
    divide,
    equal,
    fresh_graph,
    less,
    negate,
    select,
    variable,
)
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.checker.explicit.systems import queue
from tests.checker.explicit.test_search import untimed, widened
from tests.profiles import examples
from tests.random_systems import systems


@pytest.fixture(params=[0, 1 << 30], ids=["side by side", "one by one"])
def one_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All transitions computed in the same way; and workers that meet after every few parents."""
    monkeypatch.setattr(expansion, "FEW_NODES", request.param)
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    monkeypatch.setattr(parallel_bfs, "LARGEST_SHARE", 3)


@pytest.mark.usefixtures("one_way")
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), deadline=None)
@given(systems(), st.integers(1, 3), st.integers(1, 3))
def test_agrees_with_the_reference_engine(system: TransitionSystem, words: int, jobs: int) -> None:
    system = widened(system, words)
    assert untimed(explore(system, Budget(jobs=jobs))) == untimed(reference.explore(system, Budget()))


@pytest.mark.usefixtures("one_way")
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_many_states(jobs: int) -> None:
    assert untimed(explore(queue(9), Budget(jobs=jobs))) == untimed(reference.explore(queue(9), Budget()))


def test_the_scheduler_in_both_ways() -> None:
    (scenario,) = find_scenarios("73309")
    system = instrument(scenario.spec, resolve("1.13", ()).classes, [PROPERTIES["S-STUCK"]])
    budget = Budget(max_states=60_000)
    found = explore(system, budget)
    for few in (0, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(expansion, "FEW_NODES", few)
            other = explore(system, budget)
        assert replace(found, seconds=0.0) == replace(other, seconds=0.0)


def crooked() -> TransitionSystem:
    """Fields that lie across quarters, values of every width, negative ones, constraints that stop some transitions."""
    wide = Variable("wide", INT, -(2**40), 2**40, -7)
    middle = Variable("middle", INT, -40_000, 90_000, 5)
    small = Variable("small", INT, -3, 4, 0)
    flag = Variable("flag", BOOL, 0, 1, 0)
    pads = [Variable(f"pad{i}", INT, 0, (1 << bits) - 1, 0) for i, bits in enumerate((11, 3, 9))]
    w, m, s, f, p = (variable(v) for v in (wide, middle, small, flag, pads[0]))
    limits = (("few", less(s, 4)), ("low", less(m, 80_000)))

    def step(name: str, guard: Expr, updates: dict[Variable, Expr], *limits: tuple[str, Expr]) -> Transition:
        return Transition("part", name, (), "nobody", True, guard, limits, updates)

    steps = (
        step("up", less(m, 89_990), {middle: m + 9, small: clamp(s + 1, -3, 4)}, *limits),
        step("divide", negate(equal(s, 0)), {middle: divide(m, s + 4), flag: less(w, m) | f}),
        step("carry", less(w, 0) | less(2**30, w), {wide: select(less(w, 0), w + 2**33, 17 - w)}),
        step("mark", less(p, 2000) & negate(less(m, 3)), {pads[0]: p + 1, flag: equal(p, 1) & negate(f)}),
        step("back", less(s, 3) & f, {small: as_expr(-3), pads[2]: divide(m + 40_000, 300)}, limits[1]),
        step("mix", as_expr(True), {small: clamp(s * -1, -3, 4), wide: clamp(w - m, -(2**40), 2**40)}),
    )
    variables = (pads[0], wide, pads[1], middle, flag, small, pads[2])
    return TransitionSystem("crooked", Universe({}), variables, steps)


NUMBERS = [1, 15, 16, 17, 64, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 70]


@pytest.mark.parametrize("most", [1, 1500], ids=["guards in parts", "guards together"])
@pytest.mark.parametrize("few", [0, 1 << 30], ids=["side by side", "one by one"])
@pytest.mark.parametrize("count", NUMBERS)
def test_any_number_of_states(count: int, few: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state's successors come in the order of its transitions, one state's after the other's; and none from beyond the last."""
    monkeypatch.setattr(expansion, "FEW_NODES", few)
    monkeypatch.setattr(expansion, "_MOST_NODES", most)
    chance = random.Random(count)
    with fresh_graph():
        system = crooked()
        program = generate(system)
        interpreter = Interpreter(system)
        states = [tuple(chance.choice(_codes(v)) for v in system.variables) for _ in range(count)]
        expected = [[(t, interpreter.successor(s, t)) for t in interpreter.enabled(s)] for s in states]
        assert program.ir.count("define internal i64 @guards") == (6 if most == 1 else 1)
        batch = Batch(program, compile_system(program.ir), count)
    # What lies behind the last state is no state.
    words = [*(w for s in states for w in program.layout.pack(s)), *[2**64 - 1] * (40 * program.layout.words)]
    parents = np.array(words, np.uint64)
    stored = Stored(
        (0,) * batch.words, parents, np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.uint64(1), ()
    )
    for last in (ALL, 4, 1, 0):
        hits = {
            name
            for state in states
            for number in range(min(last, len(system.transitions)))
            if interpreter.holds(system.transitions[number].guard, state)
            for name in interpreter.blocking(state, number)
        }
        batch.hits[:] = 0
        total = _expand(stored, count, batch.arrays, last)
        ends = [0, *batch.ends[:count].tolist()]
        rows = batch.states[: total * batch.words].reshape(-1, batch.words).tolist()
        pairs = list(zip(batch.which[:total].tolist(), map(program.layout.unpack, rows), strict=True))
        assert [pairs[a:b] for a, b in pairwise(ends)] == expected
        assert {system.constraints[bit] for bit in bits_of(batch.hits)} == hits


@jit
def _expand(stored: Stored, count: int, batch: Successors, last: int) -> int:
    return expand(stored, 0, count, batch, last)


def _codes(v: Variable) -> list[int]:
    near = [v.lo, v.lo + 1, v.lo + 2, v.hi - 1, v.hi, v.initial, (v.lo + v.hi) // 2, (v.lo + 3 * v.hi) // 4]
    return [code for code in near if v.lo <= code <= v.hi]
