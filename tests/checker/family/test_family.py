"""All choices of parameters at once find, for each, what a search for it alone finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.result import Verdict
from podrace.checker.exhaust import exhaust
from podrace.checker.explicit.reference import explore
from podrace.checker.family import search
from podrace.checker.family.division import parts_of
from podrace.checker.family.outcome import CellOutcome, FamilyOutcome
from podrace.checker.family.search import FamilySearch
from podrace.checker.parametric.explorer import Explorer
from podrace.checker.parametric.grounding import questions
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.reduction.questions import explored_slice
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Variable,
    select,
    topological,
)
from podrace.model.language.expressions.expr import const, fresh_graph, less, negate, parameter, variable
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, instantiate, templates
from tests.checker.family.cell_of import cell_of
from tests.checker.parametric.enumeration import regions_of
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

Values = Mapping[Parameter, int]


def same(cell: CellOutcome, alone: Exploration) -> None:
    """A cell has the counts, and the shortest way to break the invariant, of one of its members by itself."""
    assert (cell.states, cell.transitions, cell.depth) == (alone.states, alone.transitions, alone.depth)
    assert cell.violated == next((len(path) for path in alone.violations.values()), None)


def what_all_reach(found: FamilyOutcome, system: TransitionSystem, alone: list[Exploration]) -> None:
    """Coverage is that of all choices together."""
    fired = {i for one in alone for i, times in enumerate(one.fired) if times}
    assert {i for i, times in enumerate(found.fired) if times} == fired
    assert found.constraints_hit == frozenset().union(*(one.constraints_hit for one in alone))
    shortest: dict[str, int] = {}
    for one in alone:
        for name, path in one.witnesses.items():
            shortest[name] = min(len(path), shortest.get(name, len(path)))
    assert {name: first.depth for name, first in found.witnesses.items()} == shortest
    assert len(system.transitions) == len(found.fired)


def tamed(system: TransitionSystem) -> TransitionSystem:
    """No parameter is kept in the state: an update with a parameter becomes one of two numbers, as a comparison says."""

    def update(v: Variable, e: Expr) -> Expr:
        if v.sort is INT and any(node.op == "param" for node in topological([e])):
            return select(less(e, const(INT, (v.lo + v.hi + 1) // 2)), const(INT, v.lo), const(INT, v.hi))
        return e

    return replace(
        system,
        transitions=tuple(
            replace(t, updates={v: update(v, e) for v, e in t.updates.items()}) for t in system.transitions
        ),
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_the_helper_keeps_what_it_need_not_change(compiled: bool) -> None:
    n = Variable("n", INT, 0, 3, 0)
    cap = Parameter("cap", 0, 3)
    with fresh_graph():
        value = parameter(cap) if compiled else const(INT, 2)
        step = Transition("part", "step", (), "actor", True, const(BOOL, 1), (), {n: value})
        (made,) = tamed(TransitionSystem("one", UNIVERSE, (n,), (step,))).transitions
    assert (made.updates[n] is value) is not compiled


def is_answerable(system: TransitionSystem, property_id: str = "invariant0") -> bool:
    """Whether the state can be taken out of its comparisons: there are not too many cases, and no divisor is a parameter."""
    with fresh_graph():
        try:
            questions(explored_slice(system, property_id))
        except ValueError:
            return False
    return True


@settings(max_examples=examples(60), deadline=None)
@given(systems(invariants=1, resettabilities=0, parameters=3))
def test_random_systems_choice_by_choice(drawn: TransitionSystem) -> None:
    with fresh_graph():
        system = tamed(drawn)
    unknown = parameters_of(system)
    assume(system.invariants and unknown)
    assume(is_answerable(system))
    family = FamilySearch(ParametricSystem(system, unknown), "invariant0")
    found = family.run(Budget())
    assert found.stopped is None
    alone = []
    reached = set()
    for codes in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        values = dict(zip(unknown, codes, strict=True))
        itself = explore(with_parameters(family.slice, {q.name: v for q, v in values.items()}), Budget())
        cell = cell_of(family.sets.cells, values)
        reached.add(cell)
        same(found.cells[cell], itself)
        alone.append(itself)
    assert reached == set(range(len(found.cells)))
    what_all_reach(found, family.slice, alone)


@settings(max_examples=examples(40), deadline=None)
@given(systems(invariants=1, resettabilities=0, parameters=3), st.integers(1, 30), st.integers(2, 5))
def test_each_choice_is_in_one_part_and_has_its_counts_there(
    drawn: TransitionSystem, looked_at: int, number: int
) -> None:
    with fresh_graph():
        system = tamed(drawn)
    unknown = parameters_of(system)
    assume(system.invariants and unknown)
    assume(is_answerable(system))
    parametric = ParametricSystem(system, unknown)
    begun = FamilySearch(parametric, "invariant0")
    begun.run(Budget(max_states=looked_at))
    parts = parts_of(begun, number)
    assert len(parts) == len(set(parts)) <= number
    whole = FamilySearch(parametric, "invariant0")
    expected = whole.run(Budget())
    searches = [FamilySearch(parametric, "invariant0", part=part) for part in parts]
    found = [search.run(Budget()) for search in searches]
    for codes in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        values = dict(zip(unknown, codes, strict=True))
        own = [i for i, search in enumerate(searches) if search.has(values)]
        assert len(own) == 1
        cell = found[own[0]].cells[cell_of(searches[own[0]].sets.cells, values)]
        assert replace(cell, example={}, answers={}) == replace(
            expected.cells[cell_of(whole.sets.cells, values)], example={}, answers={}
        )


@settings(max_examples=examples(60), deadline=None)
@given(systems(invariants=0, witnesses=1, resettabilities=0, livenesses=1, parameters=3))
def test_random_livenesses_choice_by_choice(drawn: TransitionSystem) -> None:
    """Each choice rests in a violation, or has a fair cycle for ever, in the family if and only if by itself."""
    with fresh_graph():
        system = tamed(drawn)
    unknown = parameters_of(system)
    assume(system.livenesses and unknown)
    assume(is_answerable(system, "liveness0"))
    family = FamilySearch(ParametricSystem(system, unknown), "liveness0")
    found = family.run(Budget())
    assert found.stopped is None
    for codes in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        values = dict(zip(unknown, codes, strict=True))
        itself = explore(with_parameters(family.slice, {q.name: v for q, v in values.items()}), Budget())
        cell = found.cells[cell_of(family.sets.cells, values)]
        assert (cell.states, cell.transitions, cell.depth) == (
            itself.states,
            itself.transitions,
            itself.depth,
        )
        assert (cell.violated is not None) == bool(itself.violations or itself.lassos)


SCOPE = Scope(pod_events=1, flush=False)


def parametric_system(template: ClusterTemplate, release: str, property_id: str) -> ParametricSystem:
    found = instantiate(template)
    system = instrument(found.spec, resolve(release).classes, [PROPERTIES[property_id]])
    return ParametricSystem(system, found.parameters, found.assumptions())


@pytest.mark.parametrize(
    ("release", "property_id", "pods", "nodes", "every", "counts"),
    [
        ("1.22", "S-CAP", 1, 1, 1, [(3, 2, 31, 54), (1, 1, 1, 1)]),
        pytest.param(
            "1.19",
            "S-NOM",
            2,
            1,
            1,
            [(63, 12, 1793, 21261), (51, 5, 3617, 7521), (1, 1, 1, 1)],
            marks=pytest.mark.ci,
        ),
        pytest.param(
            "1.22",
            "S-CAP",
            2,
            1,
            1,
            [(63, 12, 1389, 17865), (51, 5, 925, 3131), (1, 1, 1, 1)],
            marks=pytest.mark.ci,
        ),
        pytest.param("1.36", "S-STUCK", 1, 2, 1, [(10, 5, 36, 167), (1, 1, 1, 1)], marks=pytest.mark.ci),
        pytest.param(
            "1.13",
            "S-NOMVIS",
            2,
            2,
            40,
            [(651, 65, 30540, 23325), (531, 7, 13687, 1054), (1, 1, 1, 1), (1, 1, 1, 1)],
            marks=pytest.mark.ci,
        ),
    ],
)
def test_clusters_region_by_region(
    release: str, property_id: str, pods: int, nodes: int, every: int, counts: list[tuple[int, int, int, int]]
) -> None:
    """Each region that all questions tell apart, or each so-manieth, is searched by itself.

    The counts, for each placement: regions that all questions tell apart, cells that states tell apart, states that differ, and states of
    the searches by itself.
    """
    found_counts = []
    for template in templates(pods, nodes, ClusterTemplate((), 0, scope=SCOPE)):
        parametric = parametric_system(template, release, property_id)
        family = FamilySearch(parametric, property_id)
        found = family.run(Budget())
        members = [region.example for region in regions_of(parametric, property_id)]
        reached = {cell_of(family.sets.cells, values) for values in members}
        assert reached == set(range(len(found.cells)))
        ranges = {q: (min(v[q] for v in members), max(v[q] for v in members)) for q in parametric.parameters}
        explorer = Explorer(parametric, property_id, ranges)
        alone = []
        for values in members[::every]:
            alone.append(explorer.explore(values, Budget()))
            same(found.cells[cell_of(family.sets.cells, values)], alone[-1])
        if every == 1:
            what_all_reach(found, family.slice, alone)
        found_counts.append((len(members), len(found.cells), found.states, sum(one.states for one in alone)))
    assert found_counts == counts


CAP = Parameter("cap", 1, 1 << 40)


def up_to_cap(limit: int) -> ParametricSystem:
    """A number that grows up to the unknown one, and is never to reach the limit."""
    n = Variable("n", INT, 0, limit, 0)
    with fresh_graph():
        more = less(variable(n), parameter(CAP)) & less(variable(n), const(INT, limit))
        grows = Transition("part", "grow", (), "actor", True, more, (), {n: variable(n) + 1})
        never = {"never": negate(less(const(INT, limit - 1), variable(n)))}
        return ParametricSystem(TransitionSystem("up", UNIVERSE, (n,), (grows,), invariants=never), (CAP,))


def test_a_choice_is_told_from_another_only_where_a_state_asks() -> None:
    found = FamilySearch(up_to_cap(3), "never").run(Budget())
    assert sorted((c.example[CAP], c.states, c.depth, c.violated) for c in found.cells) == [
        (1, 2, 1, None),
        (2, 3, 2, None),
        (3, 4, 3, 3),
    ]
    assert (found.states, found.stopped) == (4, None)


def test_a_witness_asks_until_it_is_reached() -> None:
    """It is reached at depth 2, where the choices are divided. The invariant asks nothing: so no later level is asked what holds there."""
    up = up_to_cap(5)
    (n,) = up.system.variables
    with fresh_graph():
        far = {"far": less(const(INT, 1), variable(n)) & less(const(INT, 4), parameter(CAP))}
        asking = FamilySearch(replace(up, system=replace(up.system, witnesses=far)), "never")
    levels: list[int] = []
    ask = asking.ask

    def counted(kind: int, at: int, number: int) -> None:
        levels.append(len(asking.levels) - 1)
        ask(kind, at, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "ask", counted)
        found = asking.run(Budget())
    first = found.witnesses["far"]
    assert (levels, list(found.witnesses), first.depth) == ([0, 1, 2, 2], ["far"], 2)
    assert first.example[CAP] > 4
    assert sorted((c.states, c.violated) for c in found.cells) == [*((n, None) for n in range(2, 6)), (6, 5)]


@settings(max_examples=examples(40), deadline=None)
@given(systems(invariants=1, witnesses=1, resettabilities=0, parameters=3), st.integers(1, 4))
def test_a_second_thread_changes_nothing(drawn: TransitionSystem, batch: int) -> None:
    with fresh_graph():
        system = tamed(drawn)
    unknown = parameters_of(system)
    assume(system.invariants and unknown)
    assume(is_answerable(system))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "BATCH", batch)
        one, two = (
            FamilySearch(ParametricSystem(system, unknown), "invariant0", window=2, ahead=ahead).run(Budget())
            for ahead in (False, True)
        )
    assert bare(one) == bare(two)


def bare(found: FamilyOutcome) -> FamilyOutcome:
    """Without the time, and without questions, of which each search has its own."""
    return replace(found, seconds=0, cells=tuple(replace(cell, answers={}) for cell in found.cells))


def test_parts_have_few_states_in_common() -> None:
    begun = FamilySearch(up_to_cap(9), "never")
    begun.run(Budget(max_states=5))
    parts = parts_of(begun, 3)
    searches = [FamilySearch(up_to_cap(9), "never", part=part) for part in parts]
    found = [sorted(c.states for c in search.run(Budget()).cells) for search in searches]
    assert found == [[2], [3], [4, 5, 6, 7, 8, 9, 10]]
    assert parts_of(begun, 1) == [()]


def test_every_constraint_that_some_choice_hits_is_named() -> None:
    """Also where another constraint, without parameters, stops the same transition."""
    n = Variable("n", INT, 0, 1, 0)
    with fresh_graph():
        stops = (("few", less(variable(n), const(INT, 0))), ("less", less(parameter(CAP), const(INT, 2))))
        step = Transition("part", "step", (), "actor", True, const(BOOL, 1), stops, {n: const(INT, 1)})
        never = {"never": negate(less(const(INT, 1), variable(n) + 1))}
        system = TransitionSystem("stopped", UNIVERSE, (n,), (step,), invariants=never)
    found = FamilySearch(ParametricSystem(system, (CAP,)), "never").run(Budget())
    assert found.constraints_hit == {"few", "less"}


def test_numbers_beyond_the_first_window_are_compiled_for() -> None:
    family = FamilySearch(up_to_cap(9), "never", window=2)
    found = family.run(Budget())
    assert sorted((c.states, c.violated) for c in found.cells) == [
        *((n, None) for n in range(2, 10)),
        (10, 9),
    ]
    assert family.window == 32


def test_what_runs_out_leaves_cells_undecided() -> None:
    found = FamilySearch(up_to_cap(9), "never").run(Budget(max_states=4))
    assert found.stopped == "states"
    assert all(c.violated is None for c in found.cells)
    assert FamilySearch(up_to_cap(9), "never").run(Budget(timeout=0)).stopped == "timeout"
    assert FamilySearch(up_to_cap(9), "never").run(Budget(max_memory=1)).stopped == "memory"


@settings(max_examples=examples(60), deadline=None)
@given(systems(invariants=0, witnesses=1, resettabilities=1, parameters=3))
def test_random_resettabilities_cell_by_cell(drawn: TransitionSystem) -> None:
    """What comes out for a cell comes out for each of its members by itself."""
    with fresh_graph():
        system = tamed(drawn)
    unknown = parameters_of(system)
    assume(system.resettabilities and unknown)
    assume(is_answerable(system, "resettability0"))
    parametric = ParametricSystem(system, unknown)
    found = exhaust(parametric, "resettability0", Budget())
    assert found.stopped == frozenset()
    cells = FamilySearch(parametric, "resettability0")
    cells.run(Budget())
    for codes in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        values = dict(zip(unknown, codes, strict=True))
        itself = explore(with_parameters(found.slice, {q.name: v for q, v in values.items()}), Budget())
        one = found.cells[cell_of(cells.sets.cells, values)]
        assert (one.cell.states, one.cell.transitions, one.cell.depth) == (
            itself.states,
            itself.transitions,
            itself.depth,
        )
        lost = itself.no_way_back.get("resettability0")
        assert (None if one.trace is None else len(one.trace.steps)) == (None if lost is None else len(lost))
        assert one.verdict is (Verdict.HOLDS if lost is None else Verdict.VIOLATED)


def test_each_choice_that_a_resettability_tells_apart_has_a_cell() -> None:
    """The steps ask nothing: what tells choices apart is where it holds."""
    n = Variable("n", INT, 0, 3, 0)
    cap = Parameter("cap", 0, 4)
    with fresh_graph():
        grows = Transition(
            "part", "grow", (), "actor", True, less(variable(n), const(INT, 3)), (), {n: variable(n) + 1}
        )
        back = {"back": less(variable(n), parameter(cap))}
        system = TransitionSystem("up", UNIVERSE, (n,), (grows,), resettabilities=back)
    found = exhaust(ParametricSystem(system, (cap,)), "back", Budget())
    assert sorted((one.cell.example[cap], one.verdict.name) for one in found.cells) == [
        *((value, "VIOLATED") for value in range(4)),
        (4, "HOLDS"),
    ]
