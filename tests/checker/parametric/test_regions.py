"""The regions of parameters: none missing, none twice, each with an example; the counts of the house plan."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.parametric.regions import evaluate, smallest
from podrace.model.language import Expr, Parameter, total
from podrace.model.language.expressions.expr import fresh_graph, parameter
from tests.checker.parametric.enumeration import Region, regions
from tests.profiles import examples

Fits = tuple[tuple[bool, ...], ...]


def fitting(sizes: tuple[int, ...], capacities: tuple[int, ...]) -> Fits:
    """For each node, which non-empty sets of pods fit on it."""
    subsets = [s for s in product((0, 1), repeat=len(sizes)) if any(s)]
    return tuple(
        tuple(sum(a * b for a, b in zip(s, sizes, strict=True)) <= c for s in subsets) for c in capacities
    )


def up_to_renaming(fits: Fits, pods: int) -> Fits:
    """The same for all namings of pods and nodes."""
    subsets = [s for s in product((0, 1), repeat=pods) if any(s)]
    at = {s: i for i, s in enumerate(subsets)}
    images = []
    for order in permutations(range(pods)):
        moved = [at[tuple(s[i] for i in order)] for s in subsets]
        images.append(tuple(sorted(tuple(node[i] for i in moved) for node in fits)))
    return min(images)


def enumerated(pods: int, nodes: int) -> list[Region]:
    """The regions of every fit question, with requests of at least 1."""
    sizes = [Parameter(f"size{i}", 1, 1000) for i in range(pods)]
    room = [Parameter(f"room{i}", 0, 1000) for i in range(nodes)]
    subsets = [s for s in product((0, 1), repeat=pods) if any(s)]
    with fresh_graph():
        questions = [
            parameter(r) < total(parameter(q) for q, chosen in zip(sizes, s, strict=True) if chosen)
            for r in room
            for s in subsets
        ]
        return regions([*sizes, *room], questions)


def brute_force(pods: int, nodes: int, largest: int) -> set[Fits]:
    """Families of fitting sets up to renaming, by trying all small sizes."""
    found = set()
    for sizes in combinations_with_replacement(range(1, largest + 1), pods):
        for room in combinations_with_replacement(range(sum(sizes) + 1), nodes):
            # Pods by size and nodes by room: no other naming gives more.
            found.add(fitting(sizes, room))
    return found


@pytest.mark.parametrize(
    ("pods", "nodes", "largest", "families"), [(2, 1, 4, 4), (3, 1, 6, 9), (3, 2, 6, 44)]
)
def test_families_of_fitting_pods_agree_with_brute_force(
    pods: int, nodes: int, largest: int, families: int
) -> None:
    """44 families for 3 pods on 2 nodes: the house plan counts pods by size, nodes unordered."""
    found = enumerated(pods, nodes)
    assert len({region.answers for region in found}) == len(found)
    canonical = set()
    for region in found:
        sizes = tuple(v for q, v in region.example.items() if q.name.startswith("size"))
        room = tuple(v for q, v in region.example.items() if q.name.startswith("room"))
        canonical.add(up_to_renaming(fitting(sizes, room), pods))
    tried = {up_to_renaming(fits, pods) for fits in brute_force(pods, nodes, largest)}
    assert canonical == tried
    assert len(canonical) == families


@pytest.mark.ci
def test_four_pods_on_two_nodes_have_308_families() -> None:
    found = enumerated(4, 2)
    canonical = set()
    for region in found:
        sizes = tuple(v for q, v in region.example.items() if q.name.startswith("size"))
        room = tuple(v for q, v in region.example.items() if q.name.startswith("room"))
        canonical.add(up_to_renaming(fitting(sizes, room), 4))
    assert len(canonical) == 308


def orders(count: int) -> int:
    priorities = [Parameter(f"p{i}", -5, 1000) for i in range(count)]
    with fresh_graph():
        questions = [parameter(a) < parameter(b) for a in priorities for b in priorities if a is not b]
        return len(regions(priorities, questions))


def test_priorities_have_as_many_orders_as_there_are_rankings_with_ties() -> None:
    assert [orders(n) for n in (1, 2, 3, 4)] == [1, 3, 13, 75]


def test_assumptions_leave_cells_out() -> None:
    a, b = Parameter("a", 0, 9), Parameter("b", 0, 9)
    with fresh_graph():
        x, y = parameter(a), parameter(b)
        assert [c.answers for c in regions([a, b], [x < y], [y < x])] == [(False,)]
        assert regions([a, b], [x < y], [y < x, x < y]) == []


def test_there_may_be_more_questions_than_python_nests_calls() -> None:
    a, b = Parameter("a", 0, 3), Parameter("b", 0, 3)
    with fresh_graph():
        x, y = parameter(a), parameter(b)
        found = regions([a, b], [x * i < y * i + 1 for i in range(1, 1201)])
        assert sorted((len(r.answers), *set(r.answers)) for r in found) == [(1200, False), (1200, True)]


def test_the_smallest_example_has_the_least_sum_then_the_first_parameters() -> None:
    a, b, c = (Parameter(name, 0, 9) for name in "abc")
    with fresh_graph():
        x, y, z = map(parameter, (a, b, c))
        questions = [x + y < z, y < x]
        assert smallest([a, b, c], questions, [], [False, True]) == {a: 1, b: 0, c: 0}
        assert smallest([a, b, c], questions, [], [True, False]) == {a: 0, b: 0, c: 1}
        with pytest.raises(ValueError, match="no parameters give these answers"):
            smallest([a, b, c], [x < y, y < x], [], [True, True])


def test_negative_parameters_are_near_zero_where_they_can_be() -> None:
    a, b = Parameter("a", -100, 100), Parameter("b", -100, 100)
    with fresh_graph():
        questions = [parameter(a) < parameter(b)]
        assert smallest([a, b], questions, [], [True]) == {a: 0, b: 1}
        assert smallest([a], [parameter(a) < 0], [], [True]) == {a: -1}


@st.composite
def conditions(draw: st.DrawFn) -> tuple[list[Parameter], list[tuple[tuple[int, ...], int]]]:
    """Linear comparisons of up to three parameters with small ranges."""
    count = draw(st.integers(1, 3))
    parameters = [Parameter(f"q{i}", draw(st.integers(-2, 0)), draw(st.integers(1, 3))) for i in range(count)]
    row = st.tuples(st.tuples(*[st.integers(-2, 2)] * count), st.integers(-3, 3))
    return parameters, draw(st.lists(row, min_size=1, max_size=4))


@settings(max_examples=examples(100))
@given(conditions())
def test_cells_are_those_of_all_choices(
    drawn: tuple[list[Parameter], list[tuple[tuple[int, ...], int]]],
) -> None:
    parameters, rows = drawn
    with fresh_graph():
        questions: list[Expr] = []
        for factors, bound in rows:
            made = total(parameter(q) * f for q, f in zip(parameters, factors, strict=True)) < bound
            if not made.is_const and made not in set(questions):
                questions.append(made)
        found = regions(parameters, questions)
        choices = [
            dict(zip(parameters, values, strict=True))
            for values in product(*(range(q.lo, q.hi + 1) for q in parameters))
        ]
        expected = {tuple(bool(evaluate(e, values)) for e in questions) for values in choices}
        assert sorted(c.answers for c in found) == sorted(expected)
        for region in found:
            assert tuple(bool(evaluate(e, region.example)) for e in questions) == region.answers
