"""Of clusters in which two entities are swapped, one stands for both: it has the verdict, the counts and the depths of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.reference import explore
from podrace.checker.family.search import FamilySearch
from podrace.checker.parametric.interchangeable import are_interchangeable, ordered
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.parametric.regions import evaluate
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Lasts,
    Parameter,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    any_of,
    equal,
    substitute,
)
from podrace.model.language.expressions.expr import const, fresh_graph, less, parameter, variable
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, Limits, instantiate, templates
from tests.profiles import examples
from tests.symmetric_systems import Crowd, Process, alike

Values = Mapping[Parameter, int]


def exchanged(values: Values, one: str, other: str) -> dict[Parameter, int]:
    """The choice in which two entities have each other's parameters."""
    known = {q.name: value for q, value in values.items()}
    names = {one: other, other: one}

    def its(name: str) -> str:
        entity, _, of = name.partition(".")
        return f"{names.get(entity, entity)}.{of}"

    return {q: known[its(q.name)] for q in values}


# Random systems


@st.composite
def ranked(draw: st.DrawFn) -> ParametricSystem:
    """Identical processes, some steps of which only the one with the highest rank takes; of equal ones, any, or that which is first. Often one is not like the others."""
    system = draw(alike(spoiled=draw(st.booleans())))
    members = system.universe[Process]
    ranks = [Parameter(f"{p.name}.rank", 0, 1) for p in members]
    before = {v.name: v for v in system.variables if v.name.startswith("before")}
    chosen = {
        step: (draw(st.booleans()), draw(st.booleans())) for step in {t.step for t in system.transitions}
    }

    def is_first(p: Process, q: Process) -> Expr:
        low, high = sorted((p, q), key=lambda one: one.index)
        found = variable(before[f"before[{low.name}][{high.name}]"])
        return found if p is low else ~found

    def beats(p: Process, q: Process, breaks_ties: bool) -> Expr:
        mine, its = parameter(ranks[p.index]), parameter(ranks[q.index])
        ties = is_first(p, q) if breaks_ties else const(BOOL, 1)
        return any_of(less(its, mine), all_of(equal(mine, its), ties))

    with fresh_graph():
        transitions = []
        for t in system.transitions:
            asks, breaks_ties = chosen[t.step]
            (_, me) = t.args[0]
            wins = [beats(me, q, breaks_ties) for q in members if q is not me] if asks else []
            transitions.append(replace(t, guard=all_of(t.guard, *wins) if wins else t.guard))
    return ParametricSystem(replace(system, transitions=tuple(transitions)), tuple(ranks))


def found_with(system: TransitionSystem, values: Values) -> tuple[object, ...]:
    """What a search reports: the lengths of the shortest runs to violations and to witnesses, the steps that were taken, the constraints that were hit."""
    alone = explore(with_parameters(system, {q.name: v for q, v in values.items()}), Budget())
    steps = {t.step for t, times in zip(system.transitions, alone.fired, strict=True) if times}
    lengths = [{n: len(path) for n, path in found.items()} for found in (alone.violations, alone.witnesses)]
    return *lengths, steps, alone.constraints_hit


def choices(parametric: ParametricSystem) -> Iterator[dict[Parameter, int]]:
    for codes in product(*(range(q.lo, q.hi + 1) for q in parametric.parameters)):
        yield dict(zip(parametric.parameters, codes, strict=True))


@settings(max_examples=examples(100), deadline=None)
@given(ranked())
def test_what_is_taken_for_interchangeable_is(parametric: ParametricSystem) -> None:
    """Neighbours of different ranks are swapped: violations and witnesses come after as many steps."""
    for one, other in pairwise(parametric.parameters):
        names = one.name.partition(".")[0], other.name.partition(".")[0]
        if not are_interchangeable(parametric, (names[0], one.name), (names[1], other.name)):
            continue
        for values in choices(parametric):
            if values[one] < values[other]:
                swapped = exchanged(values, *names)
                assert found_with(parametric.system, values) == found_with(parametric.system, swapped)


def spoiled(parametric: ParametricSystem, number: int, **changes: Any) -> ParametricSystem:
    """The system with other expressions in one transition, of one process."""
    system = parametric.system
    transitions = list(system.transitions)
    transitions[number] = replace(transitions[number], **changes)
    return replace(parametric, system=replace(system, transitions=tuple(transitions)))


def two_in_line() -> ParametricSystem:
    """Two processes, of which the one with the higher rank goes first, and the first of the scenario where ranks are equal; both must not have gone."""
    crowd = Crowd(2)
    ranks = [Parameter(f"{p.name}.rank", 0, 1) for p in crowd.all]
    p, q = crowd.all
    with fresh_graph():
        low, high = (parameter(rank) for rank in ranks)
        first = {p: any_of(less(high, low), equal(low, high)), q: less(low, high)}
        waits = {one: equal(variable(crowd.at[one]), 0) for one in crowd.all}
        transitions = tuple(
            Transition(
                "crowd", "go", (("me", me),), "crowd", True, all_of(waits[me], any_of(first[me], ~waits[other])),
                (), {crowd.at[me]: const(INT, 1)},
            )
            for me, other in ((p, q), (q, p))
        )  # fmt: skip
        never = {"never": any_of(waits.values())}
        universe = Universe({Process: crowd.all})
        system = TransitionSystem("line", universe, crowd.variables, transitions, invariants=never)
    return ParametricSystem(system, tuple(ranks))


BY_RANK = (("p0", "p0.rank"), ("p1", "p1.rank"))


def test_of_two_in_line_the_first_has_no_lower_rank() -> None:
    """A tie-break is no difference where ranks differ. Three kinds of choices become two."""
    line = two_in_line()
    assert are_interchangeable(line, *BY_RANK)
    first, second = line.parameters
    searches = [FamilySearch(one, "never").run(Budget()) for one in (line, ordered(line, "never", [BY_RANK]))]
    assert [
        sorted((c.example[first], c.example[second], c.violated) for c in found.cells) for found in searches
    ] == [[(0, 0, 2), (0, 1, 2), (1, 0, 2)], [(0, 0, 2), (1, 0, 2)]]


def test_any_difference_between_the_two_counts() -> None:
    """A guard, an update, a duration, an initial value, a constraint or a predicate."""
    line = two_in_line()
    system = line.system
    (go, _) = system.transitions
    at = {v.name: v for v in system.variables}
    with fresh_graph():
        flag = variable(at["flag[p0]"])
        (never,) = system.invariants.values()
        others = [
            spoiled(line, 0, guard=all_of(go.guard, ~flag)),
            spoiled(line, 0, updates={at["at[p0]"]: const(INT, 2)}),
            spoiled(line, 0, lasts=Lasts.MINUTES),
            spoiled(line, 0, fair=False),
            spoiled(line, 0, constraints=(("few", flag),)),
            replace(line, system=replace(system, invariants={"never": all_of(never, ~flag)})),
            replace(line, system=replace(system, witnesses={"one went": equal(variable(at["at[p0]"]), 1)})),
            replace(line, system=replace(system, transitions=system.transitions[:1])),
            replace(line, assumptions=(less(const(INT, 0), parameter(line.parameters[0])),)),
            replace(line, parameters=(line.parameters[0], Parameter("p1.rank", 0, 2))),
        ]
    begun = Variable("at[p0]", INT, 0, 2, 2)
    assert not any(are_interchangeable(one, *BY_RANK) for one in others)
    assert are_interchangeable(line, *BY_RANK)
    with fresh_graph():
        begins = replace(
            system, variables=tuple(begun if v.name == "at[p0]" else v for v in system.variables),
            **moved(system, at["at[p0]"], begun),
        )  # fmt: skip
    assert not are_interchangeable(replace(line, system=begins), *BY_RANK)


def moved(system: TransitionSystem, old: Variable, new: Variable) -> dict[str, Any]:
    """The transitions and invariants of a system about another variable."""
    made = substitute(
        system.roots(),
        lambda e: e if e.op == "const" else parameter(e.value) if e.op == "param" else variable(new if e.value is old else e.value),
    )  # fmt: skip
    return {
        "transitions": tuple(
            replace(
                t,
                guard=made[t.guard],
                updates={(new if v is old else v): made[e] for v, e in t.updates.items()},
            )
            for t in system.transitions
        ),
        "invariants": {name: made[e] for name, e in system.invariants.items()},
    }


# Clusters


SMALL = ClusterTemplate((), 0, graceful=False, limits=Limits(least_request=1), scope=Scope(pod_events=2))
TIMED = ClusterTemplate((), 0, scope=Scope(time="scales"))


@pytest.mark.parametrize(
    ("size", "release", "name", "example", "counts"),
    [
        ((2, 1), "1.36.0", "S-STUCK", SMALL, [(15, 10, 0, 0), (1, 1, 0, 0)]),
        pytest.param(
            (2, 2), "1.36.0", "S-STUCK", SMALL, [(69, 28, 0, 0), (1, 1, 0, 0)], marks=pytest.mark.ci
        ),
        pytest.param(
            (3, 1),
            "1.36.0",
            "S-STUCK",
            SMALL,
            [(189, 60, 0, 0), (154, 92, 118, 68), (23, 13, 18, 9), (1, 1, 0, 0)],
            marks=[pytest.mark.ci, pytest.mark.nightly],
        ),
        pytest.param(
            (2, 2), "1.13.0", "S-NOMVIS", SMALL, [(65, 27, 0, 0), (1, 1, 0, 0)], marks=pytest.mark.ci
        ),
        pytest.param((2, 2), "1.36.3", "S-NOM", TIMED, [(69, 28, 0, 0), (1, 1, 0, 0)], marks=pytest.mark.ci),
    ],
)
def test_every_cluster_has_the_verdict_of_the_one_that_stands_for_it(
    size: tuple[int, int], release: str, name: str, example: ClusterTemplate, counts: list[tuple[int, ...]]
) -> None:
    """Each cell of a search of all clusters, with its counts, depth and verdict. `counts` are cells of both searches, and cells that violate the property."""
    found_counts = []
    for template in templates(*size, example):
        unknown = instantiate(template)
        neighbours = unknown.neighbours()
        if not neighbours:
            continue
        system = instrument(unknown.spec, resolve(release).classes, [PROPERTIES[name]])
        whole = ParametricSystem(system, unknown.parameters, unknown.assumptions())
        fewer = ordered(whole, name, neighbours)
        assert len(fewer.assumptions) == len(whole.assumptions) + len(neighbours)
        every, chosen = FamilySearch(whole, name).run(Budget()), FamilySearch(fewer, name).run(Budget())
        by_name = {q.name: q for q in unknown.parameters}
        for cell in every.cells:
            values = dict(cell.example)
            while unsorted := next(
                (p for p in neighbours if values[by_name[p[0][1]]] < values[by_name[p[1][1]]]), None
            ):
                values = exchanged(values, unsorted[0][0], unsorted[1][0])
            with fresh_graph():
                (one,) = (
                    c for c in chosen.cells if all(evaluate(q, values) == yes for q, yes in c.answers.items())
                )
            assert (cell.states, cell.transitions, cell.depth, cell.violated) == (
                one.states, one.transitions, one.depth, one.violated,
            )  # fmt: skip
        assert (every.constraints_hit, {*every.witnesses}) == (chosen.constraints_hit, {*chosen.witnesses})
        violated = [sum(c.violated is not None for c in found.cells) for found in (every, chosen)]
        found_counts.append((len(every.cells), len(chosen.cells), *violated))
    assert found_counts == counts
