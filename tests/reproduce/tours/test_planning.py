"""Plans of random graphs: every edge that can be taken is taken, by runs that begin in the first state."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.explicit.state_graph import StateGraph
from podrace.reproduce.tours.planning import TRIES, Plan
from tests.profiles import examples


def graph_of(edges: Iterable[tuple[int, int]], states: int) -> StateGraph:
    rows = sorted(edges)
    starts = np.searchsorted([source for source, _ in rows], np.arange(states + 1))
    targets = np.array([target for _, target in rows], np.uint32)
    system: Any = None  # nobody asks for it
    return StateGraph(
        system, np.zeros((states, 1), np.int8), starts.astype(np.int64), targets, np.arange(len(rows)).astype(np.uint16)
    )  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> StateGraph:
    states = draw(st.integers(1, 12))
    state = st.integers(0, states - 1)
    return graph_of(draw(st.lists(st.tuples(state, state), max_size=40)), states)


class Anything:
    """Allows for every edge but some; remembers its run."""

    def __init__(self, refused: frozenset[int] = frozenset()) -> None:
        self.refused, self.run = refused, []  # type: tuple[frozenset[int], list[int]]

    def take(self, edge: int) -> str:
        if edge in self.refused:
            return "never"
        self.run.append(edge)
        return ""

    def end(self, steps: int) -> int:
        return steps


def reachable(graph: StateGraph, without: frozenset[int] = frozenset()) -> set[int]:
    """The edges that can be come to."""
    there, found = [0], set()
    for state in there:
        for edge in range(graph.starts[state], graph.starts[state + 1]):
            if edge not in without:
                found.add(edge)
                if graph.targets[edge] not in there:
                    there.append(int(graph.targets[edge]))
    return found


def closed(graph: StateGraph, *edges: int) -> Any:
    found = np.zeros(graph.edges, np.uint8)
    found[list(edges)] = 1
    return found


@given(graphs(), st.data())
@settings(max_examples=examples(60))
def test_every_edge_that_can_be_taken_is_taken(graph: StateGraph, data: st.DataObject) -> None:
    edge = st.integers(0, max(0, graph.edges - 1))
    few = data.draw(st.frozensets(edge, max_size=3)) if graph.edges else frozenset()
    refused = data.draw(st.frozensets(edge, max_size=2)) if graph.edges else frozenset()
    plan: Plan[int] = Plan(graph, lambda: Anything(refused), closed(graph, *few))
    taken: set[int] = set()
    sources = np.repeat(np.arange(graph.states), np.diff(graph.starts))
    for run in plan.runs():
        assert run.about == len(run.edges)
        assert sources[run.edges[0]] == 0
        assert all(graph.targets[a] == sources[b] for a, b in pairwise(run.edges))
        assert run.edges[-1] not in taken  # a run ends with something new
        taken.update(run.edges)
    assert taken == reachable(graph, few | refused)
    assert not any(plan.wanted[edge] for edge, reasons in plan.refused.items() if reasons.total() >= TRIES)


@given(graphs(), st.integers(0, 5))
@settings(max_examples=examples(50))
def test_the_same_seed_gives_the_same_plan(graph: StateGraph, seed: int) -> None:
    def runs() -> list[tuple[int, ...]]:
        plan: Plan[int] = Plan(graph, Anything, closed(graph), seed=seed)
        return [run.edges for run in plan.runs()]

    assert runs() == runs()


def test_a_grid_is_toured_in_few_steps() -> None:
    """Of a grid of 12 by 12 the 264 edges; each way from corner to corner has 22."""
    side = 12
    steps = [(r * side + c, r * side + c + side) for r in range(side - 1) for c in range(side)]
    steps += [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    plan: Plan[int] = Plan(graph_of(steps, side * side), Anything, closed(graph_of(steps, side * side)))
    runs = [run.edges for run in plan.runs()]
    assert {edge for run in runs for edge in run} == set(range(264))
    assert sum(map(len, runs)) <= 6 * 264


def test_what_was_taken_is_wanted_again_and_what_is_closed_never() -> None:
    plan: Plan[int] = Plan(graph_of([(0, 1), (1, 2)], 3), Anything, closed(graph_of([(0, 1), (1, 2)], 3)))
    assert [run.edges for run in plan.runs()] == [(0, 1)]
    plan.want([0])
    assert [run.edges for run in plan.runs()] == [(0,)]
    plan.close(1)
    plan.want([1])
    assert list(plan.runs()) == []


@pytest.mark.parametrize("longest", [1, 2])
def test_only_a_run_along_an_earlier_one_is_longer(longest: int) -> None:
    graph = graph_of([(0, 1), (1, 2), (2, 3)], 4)
    plan: Plan[int] = Plan(graph, Anything, closed(graph), longest=longest)
    assert [len(run.edges) for run in plan.runs()] == list(range(longest, 4))


class LikeTheFirst(Anything):
    """Allows for one edge only in runs that come to it as the first one did."""

    def __init__(self, edge: int, first: list[list[int]]) -> None:
        super().__init__()
        self.edge, self.first = edge, first

    def take(self, edge: int) -> str:
        if edge == self.edge:
            self.first.append(self.first[0] if self.first else [*self.run])
            if self.run != self.first[0]:
                return "not after this beginning"
        return super().take(edge)


def test_a_run_goes_along_an_earlier_one_where_the_way_matters() -> None:
    """Of a thousand ways to a state one lets runs go on there, and what lies behind takes many runs."""
    levels, behind = 10, 40
    edges = [(i, i + 1) for i in range(levels) for _ in range(2)]
    edges += [(levels, levels + 1), *((levels + 1, levels + 2 + i) for i in range(behind))]
    graph = graph_of(edges, levels + 2 + behind)
    first: list[list[int]] = []
    plan: Plan[int] = Plan(graph, lambda: LikeTheFirst(2 * levels, first), closed(graph))
    taken = {edge for run in plan.runs() for edge in run.edges}
    assert taken == set(range(graph.edges))
