"""Slices answer what the whole system answers: on small systems by hand, on random ones by law."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.reference import ReferenceSearch, explore
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.reduction.slicing import Slicer, key_of, transition_map
from podrace.checker.reduction.value_analysis import ValueAnalysis, transition_roots
from podrace.checker.trace.execution import confirm, confirm_no_way_back, confirm_witness, replay
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Variable,
    as_expr,
    clamp,
    topological,
)
from podrace.model.language.expressions.expr import equal, fresh_graph, less, parameter, select, variable
from tests.checker.machines import counters, graph, house
from tests.checker.slices import map_path, project, slice_system
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE


def names(system: TransitionSystem) -> list[str]:
    return [v.name for v in system.variables]


def make(variables: list[Variable], transitions: list[Transition], **tables: Any) -> TransitionSystem:
    return TransitionSystem("made", UNIVERSE, tuple(variables), tuple(transitions), **tables)


def move(
    step: str, guard: Expr, updates: dict[Variable, Expr], constraints: dict[str, Expr] | None = None
) -> Transition:
    return Transition("part", step, (), "actor", True, guard, tuple((constraints or {}).items()), updates)


def test_what_nobody_sees_and_what_cannot_happen_is_gone() -> None:
    system = counters(invariants=["all_done"])
    small = slice_system(system)
    assert names(system) == ["counting.n[w0]", "counting.n[w1]", "counting.noise", "counting.on"]
    assert names(small) == ["counting.n[w0]", "counting.n[w1]"]
    assert [t.label for t in small.transitions] == [
        "counting.increase(worker=w0)",
        "counting.increase(worker=w1)",
    ]
    assert transition_map(small, system) == (0, 1)


def test_a_variable_that_a_kept_predicate_reads_stays() -> None:
    system = counters(invariants=["all_done", "quiet"])
    assert "counting.noise" in names(slice_system(system))
    assert "counting.noise" not in names(slice_system(system, invariants=["all_done"]))


@pytest.mark.parametrize("kind", ["invariants", "witnesses", "resettabilities"])
def test_only_what_is_asked_is_kept(kind: str) -> None:
    system = counters(**{kind: ["all_done", "quiet"]})
    one: Any = {kind: ["quiet"]}
    none: Any = {kind: []}
    small = slice_system(system, **one)
    assert list(getattr(small, kind)) == ["quiet"]
    assert list(getattr(slice_system(system), kind)) == ["all_done", "quiet"]
    assert dict(getattr(slice_system(system, **none), kind)) == {}


@pytest.mark.parametrize(
    ("kind", "word"),
    [("invariants", "invariant"), ("witnesses", "witness"), ("resettabilities", "resettability")],
)
def test_an_unknown_predicate_is_refused(kind: str, word: str) -> None:
    system = counters(**{kind: ["quiet"]})
    wrong: Any = {kind: ["loud"]}
    with pytest.raises(ValueError, match=f"counters has no {word} `loud`; it has `quiet`"):
        slice_system(system, **wrong)
    with pytest.raises(ValueError, match=f"counters has no {word} `loud`; it has none"):
        slice_system(counters(), **wrong)


def test_a_step_that_changes_nothing_visible_is_dropped_and_named() -> None:
    with fresh_graph():
        seen, unseen = Variable("seen", BOOL, 0, 1, 0), Variable("unseen", BOOL, 0, 1, 0)
        system = make(
            [seen, unseen],
            [
                move("show", as_expr(True), {seen: as_expr(True)}),
                move("hide", variable(seen), {unseen: as_expr(True)}),
            ],
            invariants={"always": variable(seen) | ~variable(seen) | True},
            witnesses={"seen": variable(seen)},
        )
    small = slice_system(system)
    assert names(small) == ["seen"]
    assert [t.step for t in small.transitions] == ["show"]
    assert Slicer(system).steps_outside_cone(small) == ("part.hide",)
    assert explore(small).fired == (2,)


def test_ranges_are_narrowed_and_constants_folded() -> None:
    with fresh_graph():
        a, b, c = (Variable(n, INT, 0, 7, i) for n, i in (("a", 0), ("b", 3), ("c", 2)))
        system = make(
            [a, b, c],
            [
                # b stays 3, so a grows to 3 only; c jumps between 2 and 5.
                move(
                    "grow", less(variable(a), variable(b)), {a: clamp(variable(a) + 1, 0, 3), b: as_expr(3)}
                ),
                move("jump", equal(variable(c), 2), {c: as_expr(5)}),
                move("back", equal(variable(c), 5), {c: as_expr(2)}),
                move("hop", equal(variable(c), 4), {c: as_expr(7)}),
                move("skip", less(variable(b), 3), {a: as_expr(7)}),
            ],
            witnesses={"both": equal(variable(a), 3) & equal(variable(c), 5)},
        )
    small = slice_system(system)
    assert [(v.name, v.lo, v.hi, v.initial) for v in small.variables] == [("a", 0, 3, 0), ("c", 2, 5, 2)]
    assert [t.step for t in small.transitions] == ["grow", "jump", "back"]
    assert transition_map(small, system) == (0, 1, 2)
    assert [v.name for v in small.transitions[0].updates] == ["a"]


def test_a_constraint_that_always_holds_is_dropped_and_one_that_never_does_is_kept() -> None:
    with fresh_graph():
        n, other = Variable("n", INT, 0, 9, 0), Variable("other", BOOL, 0, 1, 0)
        up = {n: clamp(variable(n) + 1, 0, 3)}
        system = make(
            [n, other],
            [
                move("up", as_expr(True), up, constraints={"small": less(variable(n), 5)}),
                move(
                    "stopped",
                    equal(variable(n), 2),
                    {other: as_expr(True)},
                    constraints={"no": variable(n) == 9},
                ),
                move("impossible", variable(other), {n: as_expr(9)}, constraints={"none": as_expr(False)}),
            ],
        )
    small = slice_system(system)
    assert [t.step for t in small.transitions] == ["up", "stopped"]
    assert small.constraints == ("no",)
    assert small.transitions[1].updates == {}
    assert explore(small).constraints_hit == explore(system).constraints_hit == {"no"}
    assert names(small) == ["n"]


def test_wide_variables_are_intervals() -> None:
    with fresh_graph():
        n = Variable("n", INT, -1000, 100_000, 5)
        m = Variable("m", INT, 0, 1000, 0)
        system = make(
            [n, m],
            [
                move("set", as_expr(True), {n: as_expr(50), m: clamp(variable(m) + 1, 0, 1000)}),
                move("never", less(variable(n), 5), {n: as_expr(-1000)}),
                move("nor", equal(variable(n), 51), {n: as_expr(-1000)}),
                move("perhaps", equal(variable(n), 7), {n: as_expr(6)}),
            ],
            witnesses={"seen": equal(variable(m), 5) & equal(variable(n), 50)},
        )
    small = slice_system(system)
    assert [(v.lo, v.hi) for v in small.variables] == [(5, 50), (0, 1000)]
    assert [t.step for t in small.transitions] == ["set", "perhaps"]


def test_a_wide_counter_takes_no_time() -> None:
    with fresh_graph():
        n = Variable("n", INT, 0, 10**12, 0)
        count = move("count", as_expr(True), {n: clamp(variable(n) + 1, 0, 10**12)})
        system = make([n], [count], witnesses={"end": equal(variable(n), 10**12)})
    # One by one, the values would never be counted to the end.
    assert [(v.lo, v.hi) for v in slice_system(system).variables] == [(0, 10**12)]


def test_a_step_that_turns_out_to_change_nothing_is_dropped() -> None:
    with fresh_graph():
        n, never, when = (Variable(name, INT, 0, 3, 0) for name in ("n", "never", "when"))
        system = make(
            [n, never, when],
            [
                # `never` stays 0, so this keeps n as it is, and nobody needs to know when it happens.
                move("keep", less(variable(when), 2), {n: select(equal(variable(never), 1), 3, variable(n))}),
                move("time", as_expr(True), {when: clamp(variable(when) + 1, 0, 3)}),
                move("set", equal(variable(n), 0), {n: as_expr(1)}),
            ],
            witnesses={"one": equal(variable(n), 1)},
        )
    small = slice_system(system)
    assert names(small) == ["n"]
    assert [t.step for t in small.transitions] == ["set"]


def test_without_values_only_the_invisible_goes() -> None:
    system = counters(invariants=["all_done"])
    small = slice_system(system, values=False)
    # What `haunt` writes nobody asks for, so its guard does not matter either.
    assert [t.step for t in small.transitions] == ["increase", "increase"]
    assert names(small) == ["counting.n[w0]", "counting.n[w1]"]
    assert small.variables[0] is system.variables[0]


def test_an_unknown_parameter_has_its_whole_range() -> None:
    with fresh_graph():
        v, w = Variable("v", INT, 0, 9, 0), Variable("w", INT, 0, 9, 0)
        size = parameter(Parameter("size", 2, 4))
        system = make(
            [v, w],
            [
                move("grow", variable(v) < size, {v: clamp(variable(v) + 1, 0, 9)}),
                move("copy", equal(variable(v), size), {w: size}),
                # One reading of the parameter says nothing of another, so this stays.
                move("no", equal(size, 3) & equal(variable(w), 4), {w: as_expr(5)}),
                move("too big", equal(size, 5), {w: as_expr(9)}),
            ],
            witnesses={"end": equal(variable(w), 4)},
        )
    small = slice_system(system)
    assert [(x.name, x.lo, x.hi) for x in small.variables] == [("v", 0, 9), ("w", 0, 5)]
    assert [t.step for t in small.transitions] == ["grow", "copy", "no"]
    assert [(q.name, q.lo, q.hi) for q in parameters_of(small)] == [("size", 2, 4)]
    reached = {n: explore(with_parameters(small, {"size": n})).witnesses for n in (2, 3, 4)}
    assert {n: len(witnesses.get("end", ())) for n, witnesses in reached.items()} == {2: 0, 3: 0, 4: 5}


@settings(max_examples=examples(100))
@given(systems(parameters=2), st.booleans(), st.integers(0, 8))
def test_a_slice_answers_for_every_choice_of_the_parameters(
    system: TransitionSystem, values: bool, choice: int
) -> None:
    small = slice_system(system, values=values)
    chosen = {"q0": choice % 3, "q1": choice // 3 - 2}
    whole, part = explore(with_parameters(system, chosen)), explore(with_parameters(small, chosen))
    same_answers(whole, part)
    for name, path in part.violations.items():
        confirm(with_parameters(system, chosen), map_path(small, system, path), name)


def test_transitions_that_cannot_be_told_apart_are_refused() -> None:
    with fresh_graph():
        v = Variable("v", BOOL, 0, 1, 0)
        system = make([v], [move("twin", as_expr(True), {}), move("twin", as_expr(True), {})])
    with pytest.raises(ValueError, match=r"made has two transitions `part.twin\(\)`"):
        map_path(slice_system(system), system, (0,))


def test_arguments_tell_transitions_apart() -> None:
    system = graph(
        {(0, 2): True, (1, 2): True, (2, 1): True, (0, 1): True}, 3, start=2, witnesses={"one": {1}}
    )
    small = slice_system(system)
    assert transition_map(small, system) == (1, 2)
    assert map_path(small, system, (1, 0)) == (2, 1)
    assert key_of(small.transitions[1]) == ("graph", "go", (2, 1))


def same_answers(whole: Exploration, part: Exploration) -> None:
    # The whole system may have states left that differ only in what nobody sees.
    assert part.complete or not whole.complete
    assert part.stopped in (whole.stopped, None)
    assert part.depth <= whole.depth
    assert part.states <= whole.states
    assert part.transitions <= whole.transitions
    for table in ("violations", "witnesses", "no_way_back"):
        lengths = [{name: len(path) for name, path in getattr(e, table).items()} for e in (whole, part)]
        assert lengths[0] == lengths[1], table
    if whole.complete:
        assert part.constraints_hit <= whole.constraints_hit


@settings(max_examples=examples(500))
@given(systems(), st.booleans())
def test_a_slice_gives_the_same_answers(system: TransitionSystem, values: bool) -> None:
    small = slice_system(system, values=values)
    whole, part = explore(system), explore(small)
    same_answers(whole, part)
    numbers = transition_map(small, system)
    assert {numbers[i] for i, times in enumerate(part.fired) if times} == {
        i for i, times in enumerate(whole.fired) if times and i in numbers
    }
    if whole.complete:
        only_seen = replace(system, transitions=tuple(system.transitions[i] for i in numbers))
        assert part.constraints_hit == explore(only_seen).constraints_hit
    for name, path in part.violations.items():
        confirm(system, map_path(small, system, path), name)
    for name, path in part.witnesses.items():
        confirm_witness(system, map_path(small, system, path), name)
    for name, path in part.no_way_back.items():
        assert confirm_no_way_back(system, map_path(small, system, path), name, 100_000).closed


@settings(max_examples=examples(300))
@given(systems(), st.data())
def test_a_slice_for_some_predicates_answers_those(system: TransitionSystem, data: st.DataObject) -> None:
    kinds = ("invariants", "witnesses", "resettabilities")
    chosen: Any = {
        kind: [name for name in getattr(system, kind) if data.draw(st.booleans(), label=name)]
        for kind in kinds
    }
    wanted = system.with_predicates(
        **{kind: {n: getattr(system, kind)[n] for n in chosen[kind]} for kind in kinds}
    )
    same_answers(explore(wanted), explore(slice_system(system, **chosen)))


@settings(max_examples=examples(300))
@given(systems(invariants=0))
def test_the_states_of_a_slice_are_the_projections_of_the_states(system: TransitionSystem) -> None:
    small = slice_system(system)
    whole, part = ReferenceSearch(system, Budget(), None), ReferenceSearch(small, Budget(), None)
    whole.run()
    part.run()
    assert set(part.states) == {project(small, system, s) for s in whole.states}
    assert small.initial == project(small, system, system.initial)


@settings(max_examples=examples(300))
@given(systems(invariants=0))
def test_a_slice_stays_within_its_ranges_and_is_smaller(system: TransitionSystem) -> None:
    small = slice_system(system)
    originals = {v.name: v for v in system.variables}
    assert [v.name for v in system.variables if v.name in names(small)] == names(small)
    for v in small.variables:
        assert originals[v.name].lo <= v.lo <= v.initial <= v.hi <= originals[v.name].hi
    assert small.bits <= system.bits
    for t in small.transitions:
        for v, e in t.updates.items():
            assert v in small.position
            assert v.lo <= e.lo <= e.hi <= v.hi
    again = slice_system(small)
    # Not always equal: what was an interval may have become small enough for a mask.
    assert set(names(again)) <= set(names(small))
    assert len(again.transitions) <= len(small.transitions)


@settings(max_examples=examples(500))
@given(systems(invariants=0))
def test_every_expression_stays_within_the_values_found(system: TransitionSystem) -> None:
    predicates = [*system.witnesses.values(), *system.resettabilities.values()]
    found = ValueAnalysis(system, predicates)
    search, interpreter = ReferenceSearch(system, Budget(), None), Interpreter(system)
    search.run()
    nodes = topological([*transition_roots(system), *predicates])
    for state in search.states:
        for v, code in zip(system.variables, state, strict=True):
            lo, hi = found.range_of_variable(v)
            assert lo <= code <= hi
        for node in nodes:
            lo, hi = found.range_of(node)
            assert lo <= interpreter.evaluate(node, state) <= hi
            assert node.lo <= lo
            assert hi <= node.hi


@settings(max_examples=examples(200))
@given(systems())
def test_slicing_is_deterministic(system: TransitionSystem) -> None:
    first, second = slice_system(system), slice_system(system)
    assert [repr(e) for e in first.roots()] == [repr(e) for e in second.roots()]
    assert [e.index for e in topological(first.roots())] == [e.index for e in topological(second.roots())]


@settings(max_examples=examples(100))
@given(systems())
def test_a_run_of_a_slice_is_a_run_of_the_whole(system: TransitionSystem) -> None:
    small = slice_system(system)
    interpreter, state = Interpreter(small), small.initial
    path: list[int] = []
    for _ in range(6):
        enabled = interpreter.enabled(state)
        if not enabled:
            break
        path.append(enabled[len(path) % len(enabled)])
        state = interpreter.successor(state, path[-1])
    trace = replay(system, map_path(small, system, tuple(path)))
    assert project(small, system, trace.states[-1]) == state


def test_the_house_loses_nothing() -> None:
    system = house()
    small = slice_system(system)
    # Two workers never have the key while the other is in, but the analysis forgets that: all stays.
    assert names(small) == names(system)
    assert explore(small).states == explore(system).states == 8


def test_a_predicate_may_come_from_another_graph() -> None:
    """Its variables are those of the transitions, although its nodes are not."""
    system = counters(2)
    with fresh_graph():
        low = less(variable(system.variables[0]), 2)
    sliced = slice_system(replace(system, invariants={"low": low}))
    assert [v.name for v in sliced.variables] == ["counting.n[w0]"]
    assert not sliced.invariants["low"].is_const


@pytest.mark.parametrize(
    ("first", "second", "sums", "differences"),
    [
        ((1, 2), (1, 2), (2, 4), (-1, 1)),
        ((3, 4), (5, 6), (8, 10), (-3, -1)),
        ((-4, -3), (2, 3), (-2, 0), (-7, -5)),
    ],
)
def test_sums_of_small_sets_are_exact(
    first: tuple[int, int], second: tuple[int, int], sums: tuple[int, int], differences: tuple[int, int]
) -> None:
    """From the one that is least: no value is there that is not the sum of two."""
    with fresh_graph():
        x, y = (Variable(name, INT, -9, 9, lo) for name, (lo, _) in (("x", first), ("y", second)))
        steps = [
            move(f"{v.name}", as_expr(True), {v: as_expr(hi)}) for v, (_, hi) in ((x, first), (y, second))
        ]
        plus, minus = variable(x) + variable(y), variable(x) - variable(y)
        found = ValueAnalysis(make([x, y], steps), [equal(plus, 0), equal(minus, 0)])
        assert (found.range_of(plus), found.range_of(minus)) == (sums, differences)
