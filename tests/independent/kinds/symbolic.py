"""Bounded search and k-induction with Z3, against the reachable states."""

from __future__ import annotations

from collections.abc import Iterator

from podrace.checker.core.result import Result, Verdict
from podrace.checker.smt.theories import THEORIES
from podrace.checker.symbolic import bounded
from podrace.checker.symbolic.induction import NotInductive, by_k_induction
from podrace.model.language import TransitionSystem
from tests.independent.oracle.graph import TooLarge, graph_of
from tests.independent.oracle.reading import Reader
from tests.independent.question import Question, Skipped
from tests.independent.systems import random_system

STEPS = 5
MOST = 4
"""The largest k."""


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


def induction(seed: int) -> Iterator[Question]:
    """HOLDS only of what is never violated; a violation at its shortest length; else states that show what is missing."""
    system = random_system(("induction", seed), invariants=2)
    theory = list(THEORIES.values())[seed % len(THEORIES)]
    for name, shortest in _shortest(system).items():
        found = by_k_induction(system, name, MOST, theory=theory)
        if shortest is not None and shortest < MOST:
            expected: object = (Verdict.VIOLATED, shortest)
            yield Question(name, (found.verdict, found.counts.depth), expected, True)
        elif found.verdict is Verdict.HOLDS:
            yield Question(name, "never violated", "never violated" if shortest is None else shortest, True)
        else:
            shown = found.verdict is Verdict.INCONCLUSIVE and _shows(found, name)
            yield Question(name, shown, True, False)


def _shows(found: Result, name: str) -> bool:
    """Whether these are different states in a row of which only the last breaks the invariant."""
    evidence = found.evidence
    if not isinstance(evidence, NotInductive):
        return False
    reader, states = Reader(evidence.system), evidence.states
    keeps = [reader.holds(evidence.system.invariants[name], s) for s in states]
    linked = all(
        any(
            evidence.system.transitions[n].label == label and s == after
            for n, s in reader.moves(before).steps
        )
        for before, after, label in zip(states, states[1:], evidence.labels, strict=False)
    )
    return keeps == [True] * MOST + [False] and linked and len(set(states)) == len(states)
