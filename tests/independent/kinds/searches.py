"""The native search from many initial states, and whole verdicts with slicing and confirmation."""

from __future__ import annotations

from collections.abc import Iterator

from podrace.checker.core.exploration import Budget, Path
from podrace.checker.core.result import Verdict
from podrace.checker.explicit.engine import Series
from podrace.checker.search import check
from podrace.model.language import State
from tests.independent.oracle.graph import Graph, TooLarge, graph_of
from tests.independent.question import Question, Skipped
from tests.independent.systems import random_system, some_states

STARTS = 8
"""So many searches are made with one compilation, each from another state."""


def search(seed: int) -> Iterator[Question]:
    """Counts, and how far the nearest violation, witness and state without a way back are; some searches end early."""
    early = seed % 2 == 1
    asked = {"invariants": 1, "witnesses": 4} if early else {"invariants": 4, "witnesses": 4, "resettabilities": 4}  # fmt: skip
    system = random_system(("search", seed), **asked)
    series = Series(system)
    for start in some_states(seed, system, STARTS):
        try:
            graph = graph_of(system, start)
        except TooLarge as error:
            raise Skipped from error
        found = series.explore(start, Budget())
        broken = {name: graph.nearest(e, False) for name, e in system.invariants.items()}
        depths = [d for d in broken.values() if d is not None]
        last = max(depths) if early and len(depths) == len(broken) else None
        about = f"from {start}"
        counts = found.states, found.transitions, found.depth, found.fired, found.constraints_hit
        yield Question(f"{about}: counts", counts, graph.counts(last), last is None)
        for name, depth in broken.items():
            yield _run(graph, f"{about}: {name}", found.violations.get(name), depth)
        for name, e in system.witnesses.items():
            depth = graph.nearest(e)
            met = depth if last is None or (depth is not None and depth <= last) else None
            yield _run(graph, f"{about}: {name}", found.witnesses.get(name), met)
        for name, e in system.resettabilities.items():
            yield _run(graph, f"{about}: {name}", found.no_way_back.get(name), graph.stranded(e))


def _run(graph: Graph, about: str, path: Path | None, depth: int | None) -> Question:
    """The length of a run that podrace claims; it has to end as far from the start as that."""
    length = None
    if path is not None:
        end = _end(graph, path)
        length = len(path) if end is not None and graph.distance[end] == len(path) else -1
    return Question(about, length, depth, depth is not None)


def _end(graph: Graph, path: Path) -> State | None:
    at: State | None = next(iter(graph.distance))
    for number in path:
        at = None if at is None else dict(graph.moves[at].steps).get(number)
    return at


def verdicts(seed: int) -> Iterator[Question]:
    """What `check` says of each property, sliced: the word, the length of the counterexample, and of runs to witnesses."""
    system = random_system(("verdicts", seed), invariants=2, witnesses=2, resettabilities=2)
    try:
        graph = graph_of(system)
    except TooLarge as error:
        raise Skipped from error
    for result in check(system):
        name = result.property_id
        if name in system.invariants:
            depth = graph.nearest(system.invariants[name], False)
        else:
            depth = graph.stranded(system.resettabilities[name])
        expected = (Verdict.HOLDS if depth is None else Verdict.VIOLATED, depth)
        steps = None if result.trace is None else len(result.trace.steps)
        yield Question(name, (result.verdict, steps), expected, depth is not None)
        if depth is None:
            reached = {w: graph.nearest(e) for w, e in system.witnesses.items()}
            known = {w: d for w, d in reached.items() if d is not None}
            yield Question(f"{name}: witnesses", dict(result.coverage.witnesses_reached), known, bool(known))
