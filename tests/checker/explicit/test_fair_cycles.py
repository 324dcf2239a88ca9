"""Fair cycles against their definition, in all small graphs and in many larger ones; and the bugs of others by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from podrace.checker.explicit.liveness import fair_cycles
from podrace.checker.explicit.liveness.fair_cycles import fair_component, shortest_found
from tests.checker.lasso_oracle import Graph, agree, fair_states, follow, native

PAIRS2 = tuple(product(range(2), repeat=2))
PAIRS3 = tuple(product(range(3), repeat=2))


def two_states_two_sets() -> Iterator[Graph]:
    """Every graph of two states with at most one edge from each to each, in sets of any kind, which may also lead away."""
    for masks in product((None, 1, 2, 3), repeat=4):
        edges = tuple((s, t, mask) for (s, t), mask in zip(PAIRS2, masks, strict=True) if mask is not None)
        for strong, *leave in product(range(4), (0, 3), (0, 3)):
            yield Graph(2, edges, 2, strong, tuple(enumerate(leave)))


def test_all_graphs_of_two_states_with_two_sets() -> None:
    found = [bool(agree(graph)) for graph in two_states_two_sets()]
    assert (len(found), sum(found)) == (4096, 3628)


def three_states_one_set(step: int) -> Iterator[Graph]:
    """Every `step`-th graph of three states with at most one edge from each to each, in one set or in none."""
    every = product((None, 0, 1), repeat=9)
    for number, masks in enumerate(every):
        if number % step == 0:
            edges = tuple(
                (s, t, mask) for (s, t), mask in zip(PAIRS3, masks, strict=True) if mask is not None
            )
            for strong, *leave in product((0, 1), repeat=4):
                yield Graph(3, edges, 1, strong, tuple(enumerate(leave)))


def test_graphs_of_three_states_with_one_set() -> None:
    found = [bool(agree(graph)) for graph in three_states_one_set(149)]
    assert (len(found), sum(found)) == (2128, 2070)


@pytest.mark.campaign
def test_all_graphs_of_three_states_with_one_set() -> None:
    found = [bool(agree(graph)) for graph in three_states_one_set(1)]
    assert len(found) == 16 * 3**9
    assert 0 < sum(found) < len(found)


def drawn(random: Random) -> Graph:
    """A graph of up to six states and nine edges, up to three sets, up to two conditions that must recur."""
    size, sets = random.randint(2, 6), random.randint(1, 3)

    def state() -> int:
        return random.randrange(size)

    def some() -> int:
        return random.randrange(1 << sets)

    return Graph(
        size,
        tuple((state(), state(), some()) for _ in range(random.randint(size - 1, 9))),
        sets,
        some(),
        tuple((state(), some()) for _ in range(random.randint(0, 2))),
        tuple(
            frozenset(s for s in range(size) if random.random() < 0.6) for _ in range(random.randint(0, 2))
        ),
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_of_up_to_six_states(seed: int) -> None:
    random = Random(seed)
    found = [bool(agree(drawn(random))) for _ in range(700)]
    assert 50 < sum(found) < 650, "graphs with and without fair cycles"


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_graphs(seed: int) -> None:
    random = Random(seed)
    found = [bool(agree(drawn(random))) for _ in range(5000)]
    assert 0 < sum(found) < 5000


def walk(graph: Graph) -> tuple[int, tuple[int, ...]] | None:
    """The fair cycle that all agree on."""
    agree(graph)
    return native(graph)


# --- what went wrong in other tools -----------------------------------------------------------------------


def test_two_weak_sets_may_need_two_loops() -> None:
    # Each set acts in one of two loops that share state 0, and waits everywhere.
    both = Graph(3, ((0, 1, 1), (1, 0, 0), (0, 2, 2), (2, 0, 0), (1, 1, 3), (2, 2, 3)), 2)
    assert walk(Graph(3, both.edges[:4], 2, leave=((0, 3), (1, 3), (2, 3)))) == (0, (0, 1, 2, 3))


def test_a_loop_that_is_fair_to_only_one_of_two_sets_is_no_violation() -> None:
    edges = ((0, 1, 1), (1, 0, 0))
    assert walk(Graph(2, edges, 1, leave=((0, 1), (1, 1)))) == (0, (0, 1))
    assert walk(Graph(2, edges, 2, leave=((0, 3), (1, 3)))) is None


def test_three_sets_of_both_kinds() -> None:
    edges = ((0, 1, 1), (1, 0, 2), (0, 0, 4))
    assert walk(Graph(2, edges, 3, strong=0b100)) == (0, (0, 1, 2))
    assert walk(Graph(2, edges[:2], 3, strong=0b100, leave=((1, 4),))) is None


def test_a_strong_set_that_waits_now_and_then_must_act() -> None:
    edges = ((0, 1, 0), (1, 0, 1))
    weakly = Graph(2, edges, 2, leave=((0, 2), (0, 1)))
    assert walk(weakly) is not None
    assert walk(Graph(2, edges, 2, strong=2, leave=((0, 2), (0, 1), (1, 1)))) is None


def test_a_part_of_an_unfair_component_may_be_fair() -> None:
    # All three states are one component, in which the strong set waits at 2 and never acts; without 2 it is fair.
    graph = Graph(3, ((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 0, 1)), 2, strong=2, leave=((2, 2),))
    assert fair_states(graph) == {0, 1}
    assert walk(graph) == (0, (0, 1))


def test_parts_of_parts() -> None:
    # First 3 has to go (set 1 waits there), which leaves 2 without a way back; 0 and 1 remain.
    edges = ((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1))
    graph = Graph(4, edges, 3, strong=0b110, leave=((3, 2), (2, 4)))
    assert walk(graph) == (0, (0, 1))


def test_states_that_no_cycle_visits_are_not_repeated() -> None:
    # 0 leads to the loop of 1 and 2 and is on no cycle itself; what holds only in 0 does not recur.
    edges = ((0, 1, 1), (1, 2, 1), (2, 1, 1))
    assert fair_states(Graph(3, edges, 1)) == {1, 2}
    assert walk(Graph(3, edges, 1, recurring=(frozenset({0}),))) is None
    assert walk(Graph(3, edges, 1, recurring=(frozenset({2}),))) == (1, (1, 2))


def test_a_state_of_a_component_that_an_edge_of_the_set_leaves_does_not_make_it_act() -> None:
    # Edge 2 belongs to the set and leaves the loop: the set waits at 0 and 1 for ever and never acts inside.
    graph = Graph(3, ((0, 1, 0), (1, 0, 0), (1, 2, 1)), 1, leave=((0, 1), (2, 1)))
    assert walk(graph) is None


def test_paths_that_join_are_no_cycle() -> None:
    # A diamond: two ways to 3, where the set waits. A search that only sees a known state again must not cry.
    edges = ((0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1))
    assert walk(Graph(4, edges, 1, leave=((3, 1),))) is None


def test_a_run_may_stay_at_the_end_of_a_path() -> None:
    edges = ((0, 1, 1), (1, 2, 1))
    assert walk(Graph(3, edges, 1)) == (2, ())
    assert walk(Graph(3, edges, 1, leave=((2, 1),))) is None


def test_a_run_may_rest_where_only_unfair_steps_are_left() -> None:
    assert walk(Graph(1, ((0, 0, 0),), 0)) == (0, ())


def test_no_run_rests_where_a_strong_set_waits() -> None:
    assert walk(Graph(1, (), 1, strong=1, leave=((0, 1),))) is None


def test_a_step_that_changes_nothing_counts_as_acting() -> None:
    assert walk(Graph(1, ((0, 0, 1),), 1)) == (0, (0,))


def test_the_least_fair_component_is_taken_and_its_cycle_is_short() -> None:
    edges = ((0, 1, 1), (1, 2, 1), (2, 0, 1), (2, 1, 1), (3, 3, 1))
    graph = Graph(4, edges, 1)
    component = fair_component(graph.region, graph.fair)
    assert component == {0, 1, 2}
    start, cycle = shortest_found(graph.region.within(component), graph.fair)
    assert (start, len(cycle)) == (1, 2)
    follow(graph, start, cycle)


def test_more_than_64_sets() -> None:
    # Set 70 acts on one edge only; all others act on the other.
    others = (1 << 70) - 1
    edges = ((0, 1, others), (1, 0, 1 << 70))
    assert native(Graph(2, edges, 71)) == (0, (0, 1))
    assert native(Graph(2, ((0, 1, others), (1, 0, 0)), 71, leave=((0, 1 << 70), (1, 1 << 70)))) is None


def test_a_shorter_cycle_is_sought_as_long_as_there_is_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """From state 0 the cycle goes to 1, where the set can act, and back; from 1 it acts at once."""
    graph = Graph(2, ((0, 1, 0), (1, 0, 0), (1, 1, 1)), sets=1, leave=((0, 1), (1, 1)))
    component = graph.region.within({0, 1})
    assert shortest_found(component, graph.fair) == (1, (2,))
    monkeypatch.setattr(fair_cycles, "MAX_LOOKS", 0)
    assert shortest_found(component, graph.fair) == (0, (0, 2, 1))
