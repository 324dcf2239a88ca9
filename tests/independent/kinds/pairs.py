"""Smallest sets of anything, and where two systems part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

from podrace.analysis.compare.minimal_changes import minimal_sets
from podrace.checker.divergence import divergence
from tests.independent.oracle.graph import TooLarge
from tests.independent.oracle.pairs import first_difference
from tests.independent.question import Question, Skipped
from tests.independent.systems import changed, random_system


def sets(seed: int) -> Iterator[Question]:
    """`minimal_sets` of an arbitrary property of sets, against all sets."""
    random = Random(seed)
    items = tuple("abcdef"[: random.randint(1, 6)])
    every = [frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size)]
    rarely = random.random()
    enough = {s for s in every if random.random() < rarely * 0.4}
    found = minimal_sets(items, lambda chosen: frozenset(chosen) in enough)
    expected = {s for s in enough if not any(other < s for other in enough)}
    yield Question("sets", (len(found), set(map(frozenset, found))), (len(expected), expected), len(expected) > 1)  # fmt: skip


def difference(seed: int) -> Iterator[Question]:
    """Where a system and a changed one part: after how many steps, and in what; or that they never do."""
    before = random_system(("diff", seed))
    after = changed(("changed", seed), before)
    try:
        expected = first_difference(before, after)
    except TooLarge as error:
        raise Skipped from error
    found = divergence(before, after)
    if expected is None:
        yield Question("alike", (found.difference, found.alike), (None, True), False)
        return
    depth, decisions = expected
    answer: object = None
    if found.difference is not None:
        told = frozenset((d.label, str(d.kind)) for d in found.difference.decisions)
        fits = told in decisions or (depth == 0 and not decisions)
        answer = len(found.difference.trace.steps), fits, found.shortest, found.alike
    yield Question("difference", answer, (depth, True, True, False), True)
