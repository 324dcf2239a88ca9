"""Bounded search with Z3, against the reachable states."""

from __future__ import annotations

from collections.abc import Iterator

from podrace.checker.core.result import Verdict
from podrace.model.language import TransitionSystem
from tests.independent.oracle.graph import TooLarge, graph_of
from tests.independent.question import Question, Skipped
from tests.independent.systems import random_system
from tests.tools.symbolic import bounded
from tests.tools.symbolic.bit_vectors import THEORIES

STEPS = 5


def _shortest(system: TransitionSystem) -> dict[str, int | None]:
    try:
        graph = graph_of(system)
    except TooLarge as error:
        raise Skipped from error
    return {name: graph.nearest(e, False) for name, e in system.invariants.items()}


def bounded_search(seed: int) -> Iterator[Question]:
    """The length of a shortest violation, if it is within the bound."""
    system = random_system(("bounded", seed), invariants=2)
    theory = list(THEORIES.values())[seed % len(THEORIES)]
    for name, shortest in _shortest(system).items():
        found = bounded.search(system, name, STEPS, theory=theory)
        within = shortest is not None and shortest <= STEPS
        expected = (Verdict.VIOLATED, shortest) if within else (Verdict.INCONCLUSIVE, STEPS)
        yield Question(name, (found.verdict, found.counts.depth), expected, within)
