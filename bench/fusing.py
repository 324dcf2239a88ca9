"""How much it could save to take a step at once, and no other, where it commutes with all that can happen before it.

In a state, a step is *safe* if it commutes with every other step that can be taken there, and is safe again after each of these: then whatever run goes on from
there, the step can come first, so the other steps can wait (an ample set of one step). These states are found from the whole graph, by the
greatest fixed point: no analysis of a system, before or during a search, can find more. `one` is how many states are left if each that has a safe step takes only that. `stored` is how
many are left if safe steps are taken until there is none, only the state that they end in is stored, and each stored state takes all its steps; a run
of safe steps that comes back to its beginning is cut there.

Both are counted three times: with the steps that are safe wherever they can be taken (`always`); with those that are safe wherever one variable has one value, too, if no other
step changes that (`one value`); and with all. What an analysis has to prove becomes more from column to column.

Predicates are left out, which makes more steps safe: a step that changes what a property sees is counted, too. So the bound is generous, as that of `bench/bisimulation.py` is.

    python bench/fusing.py [NAME ...]
    python bench/fusing.py clusters

Scenarios of more than MOST states are left out. `clusters` takes some of the clusters of three pods and two nodes (`bench/family.py`) instead of scenarios.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from podrace.analysis.prove.proof_request import ProofQuestion
from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.family.search import FamilySearch
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.reduction.slicing import slice_system
from podrace.model.language import TransitionSystem
from podrace.model.language.expressions.expr import fresh_graph
from podrace.scenarios.template import templates

if __package__:
    from bench.bisimulation import MOST, Graph, graph_of
    from bench.family import CASES, EXAMPLE
    from bench.spin import cases
else:  # run as a script
    from bisimulation import MOST, Graph, graph_of  # type: ignore[no-redef,import-not-found]
    from family import CASES, EXAMPLE  # type: ignore[no-redef,import-not-found]
    from spin import cases  # type: ignore[no-redef,import-not-found]

LEAST = 10_000
"""Clusters of fewer states say little."""

EACH = 4
"""So many clusters of each placement."""


class Edges:
    """The edges of a graph, which begin in the order of the states, and the edge of a state with a label."""

    def __init__(self, graph: Graph) -> None:
        self.states = graph.states
        self.sources, self.targets = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
        self.labels = graph.labels.astype(np.int64)
        self.kinds = int(self.labels.max(initial=0)) + 1
        self.keys = self.sources * self.kinds + self.labels
        self.starts = np.searchsorted(self.sources, np.arange(self.states + 1))
        self.degrees = np.diff(self.starts)

    def labelled(self, states: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The edge of each state with a label; -1 where it has none."""
        keys = states * self.kinds + labels
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)

    def of(self, states: np.ndarray) -> np.ndarray:
        """All edges of some states."""
        counts = self.degrees[states]
        before = np.cumsum(counts) - counts
        return np.repeat(self.starts[states] - before, counts) + np.arange(counts.sum())


def safe(edges: Edges) -> np.ndarray:
    """Which edges are safe."""
    every = np.arange(len(edges.sources))
    place = every - edges.starts[edges.sources]
    degree = edges.degrees[edges.sources]
    unsafe = edges.targets == edges.sources
    needs, needed = [], []
    for further in range(1, int(edges.degrees.max(initial=0))):
        one = every[degree > further]
        other = edges.starts[edges.sources[one]] + (place[one] + further) % degree[one]
        later = edges.labelled(edges.targets[other], edges.labels[one])
        last = edges.labelled(edges.targets[one], edges.labels[other])
        commute = (later >= 0) & (last >= 0) & (edges.targets[later] == edges.targets[last])
        unsafe[one[~commute]] = True
        needs.append(one[commute])
        needed.append(later[commute])
    if needs:
        need, what = np.concatenate(needs), np.concatenate(needed)
        known = -1
        while known != (known := int(unsafe.sum())):
            unsafe[need[unsafe[what]]] = True
    return ~unsafe


def reached(edges: Edges, leads_to: np.ndarray, taken: np.ndarray, first: int) -> int:
    """How many states there are from the first on: `taken` edges lead to what `leads_to` says of their targets."""
    seen = np.zeros(edges.states, bool)
    seen[first] = True
    front = np.array([first])
    while len(front):
        out = edges.of(front)
        front = np.unique(leads_to[edges.targets[out[taken[out]]]])
        front = front[~seen[front]]
        seen[front] = True
    return int(seen.sum())


def always(edges: Edges, good: np.ndarray) -> np.ndarray:
    """The edges whose labels are on safe edges only."""
    bad = np.unique(edges.labels[~good])
    return ~np.isin(edges.labels, bad)


def where_one_value(edges: Edges, good: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The edges of a label that is safe wherever a value holds, in such a state, if every other step from such a state with this label keeps the value.

    `values` has a row for each value of a variable that is taken, which says in which states.
    """
    found = always(edges, good)
    for label in np.unique(edges.labels[~found]):
        mine = np.flatnonzero(edges.labels == label)
        states = edges.sources[mine]
        others = edges.of(states)
        others = others[edges.labels[others] != label]
        for row in values[~(values[:, states] & ~good[mine]).any(1) & values[:, states].any(1)]:
            if row[edges.targets[others[row[edges.sources[others]]]]].all():
                found[mine[row[states]]] = True
    return found


def left(edges: Edges, good: np.ndarray) -> tuple[int, int]:
    """How many states are left if these steps may be taken first: `one`, `stored`."""
    chosen = np.flatnonzero(good & (edges.targets != edges.sources))[::-1]
    itself = np.arange(edges.states)
    step = np.full(edges.states, -1)
    step[edges.sources[chosen]] = chosen
    taken = step[edges.sources] < 0
    taken[step[step >= 0]] = True
    ends = np.where(step >= 0, edges.targets[step], itself)
    for _ in range(edges.states.bit_length()):
        ends = ends[ends]
    everything = np.ones_like(taken)
    return reached(edges, itself, taken, 0), reached(edges, ends, everything, int(ends[0]))


def values_taken(system: TransitionSystem) -> np.ndarray:
    """For each value that a variable takes, in which states."""
    search = Search(generate(system), SearchBudget(Budget(jobs=1), None), Workers(1))
    search.run()
    return np.stack([codes == code for codes in search.columns().values() for code in np.unique(codes)])


def systems(words: list[str]) -> Iterator[tuple[str, TransitionSystem]]:
    """What is measured, with names."""
    if words != ["clusters"]:
        yield from ((case.name, case.system) for case in cases(words))
        return
    for release, fixes, prop in CASES:
        question = ProofQuestion(EXAMPLE, release, fixes, (), prop)
        for template in list(templates(3, 2, EXAMPLE))[:2]:
            parametric = replace(question, template=template).parametric_system()
            search = FamilySearch(parametric, prop)
            found = search.run(Budget(max_states=MOST))
            some = sorted({c.states: c for c in found.cells if LEAST < c.states < MOST // 4}.items())
            for _, cell in some[:: max(1, len(some) // EACH)][:EACH]:
                with fresh_graph():
                    values = {q.name: value for q, value in cell.example.items()}
                    yield f"{prop} {release}, {template}", slice_system(with_parameters(search.slice, values))


def main() -> None:
    """Print states and the ratios for each system, and the geometric means."""
    ratios = []
    ways = ("always", "one value", "all")
    print(f"{'':<64}{'states':>9}" + "".join(f"{way:>16}" for way in ways))
    print(" " * 73 + f"{'one':>8}{'stored':>8}" * len(ways))
    for name, system in systems(sys.argv[1:]):
        bare = replace(system, invariants={}, witnesses={}, resettabilities={}, livenesses={})
        graph = graph_of(bare)
        if graph is not None and len(graph.sources):
            edges = Edges(graph)
            good = safe(edges)
            chosen = (always(edges, good), where_one_value(edges, good, values_taken(bare)), good)
            ratios.append([graph.states / n for some in chosen for n in left(edges, some)])
            print(f"{name:<64}{graph.states:>9,}" + "".join(f"{r:>8.1f}" for r in ratios[-1]), flush=True)
    if ratios:
        means = (math.exp(sum(map(math.log, column)) / len(ratios)) for column in zip(*ratios, strict=True))
        print(f"{f'geometric means of {len(ratios)}':<73}" + "".join(f"{mean:>8.2f}" for mean in means))


if __name__ == "__main__":
    main()
