"""How much any reduction could save that keeps every step: the classes of strong bisimulation, beside the states.

Two states are in one class if they enable the same transitions, and what each leads to is in one class again: nobody who
watches the steps can tell them apart. A reduction that merges states and keeps all steps (values that are dead made
equal, monitors reset, don't-cares) cannot leave fewer states than there are classes. Predicates are left out, which makes classes
larger, so the bound is generous. Reductions that leave steps out, as stubborn sets do, or that rename them, as symmetry does, are not bounded by it.

Classes are found by refinement of signatures of 64 bits; a collision could only make the bound more generous. Arguments: names of
scenarios to take. Scenarios of more than MOST states are left out.
"""

from __future__ import annotations

import ctypes
import math
import sys
from dataclasses import dataclass, replace

import numpy as np

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.successors import ALL, BATCH
from podrace.checker.explicit.states.workers import Workers
from podrace.model.language import TransitionSystem

if __package__:
    from bench.spin import cases
else:  # run as a script
    from spin import cases  # type: ignore[no-redef,import-not-found]

MOST = 400_000


@dataclass(frozen=True)
class Graph:
    """Edges in the order of where they begin: state `sources[e]` goes by transition `labels[e]` to state `targets[e]`."""

    states: int
    sources: np.ndarray
    labels: np.ndarray
    targets: np.ndarray


def graph_of(system: TransitionSystem) -> Graph | None:
    """All states of a system and what they lead to; None if there are more than MOST."""
    program = generate(system)
    search = Search(program, SearchBudget(Budget(jobs=1, max_states=MOST), None), Workers(1))
    found = search.run()
    if not found.complete or search.store is None:
        return None
    count, words, batch = found.states, program.layout.words, search.batch
    states = np.array(search.store.arrays.states[: count * words]).reshape(count, words)
    expand = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)(batch.code.expand)
    outputs = [a.ctypes.data for a in (batch.states, batch.which, batch.ends, batch.hits)]
    successors, labels, sources = [], [], []
    for first in range(0, count, BATCH):
        number = min(BATCH, count - first)
        total = expand(states.ctypes.data + first * words * 8, number, *outputs, ALL, batch.room)
        successors.append(batch.states[: total * words].reshape(total, words).copy())
        labels.append(batch.which[:total].astype(np.uint64))
        sources.append(np.repeat(np.arange(first, first + number), np.diff(batch.ends[:number], prepend=0)))
    both = np.concatenate([states, *successors])
    _, same = np.unique(both.view([("", np.uint64)] * words).ravel(), return_inverse=True)
    number_of = np.empty(same.max() + 1, np.int64)
    number_of[same[:count]] = np.arange(count)
    return Graph(count, np.concatenate(sources), np.concatenate(labels), number_of[same[count:]])


def classes(graph: Graph) -> int:
    """How many classes of strong bisimulation the states fall into."""
    numbers = np.arange(graph.states)
    first = np.searchsorted(graph.sources, numbers)
    last = np.searchsorted(graph.sources, numbers, "right")
    signatures, known = np.zeros(graph.states, np.uint64), 1
    while True:
        edges = _mixed(graph.labels * np.uint64(0x9E3779B97F4A7C15) + signatures[graph.targets])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(edges, dtype=np.uint64)])
        signatures = _mixed(_mixed(signatures) + sums[last] - sums[first])
        finer = len(np.unique(signatures))
        if finer == known:
            return known
        known = finer


def _mixed(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def main() -> None:
    """Print states, classes and their ratio for each race before and after its fix, and the geometric mean."""
    ratios = []
    print(f"{'all states':<68}{'states':>9}{'classes':>9}{'ratio':>7}")
    for case in cases(sys.argv[1:]):
        graph = graph_of(replace(case.system, invariants={}, witnesses={}, resettabilities={}, livenesses={}))
        if graph is not None:
            found = classes(graph)
            ratios.append(graph.states / found)
            print(f"{case.name:<68}{graph.states:>9,}{found:>9,}{ratios[-1]:>7.2f}", flush=True)
    if ratios:
        print(f"geometric mean of {len(ratios)}: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
