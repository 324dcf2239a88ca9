"""The choices of the parameters of one system in parts, each of which can be explored by itself: on another machine, or when memory is short.

What divides them is asked early: the search goes on for a while, and of the questions that the states asked so far, those are chosen that
leave the parts the fewest states in common and the largest part the smallest. A part is the choices that answer some questions in one way; every choice is
in exactly one.
"""

from collections.abc import Callable

import numpy as np

from .kernels import COUNT
from .search import FamilySearch, Part

_Count = Callable[[int], int]


def parts_of(search: FamilySearch, number: int) -> list[Part]:
    """So many parts, as far as what a search has met so far divides its choices; of an unfinished search, too."""
    sets = search.sets
    times = np.bincount(search.reached.sets[: int(search.control[COUNT])])
    reached = [(sets.bits([n]), int(times[n])) for n in np.flatnonzero(times).tolist()]

    def states(cells: int) -> int:
        return sum(count for bits, count in reached if bits & cells)

    everything = (1 << len(sets.cells)) - 1
    whole: list[tuple[int, Part, int]] = [(states(everything), (), everything)]
    found: list[tuple[int, Part, int]] = []
    while whole and len(whole) + len(found) < number:
        # The first of the largest parts, so that the outcome is the same in every run.
        most = max(range(len(whole)), key=lambda i: (whole[i][0], -i))
        count, part, cells = whole.pop(most)
        halves = _halves(search, cells, states)
        if halves is None:
            found.append((count, part, cells))
            continue
        question, sides = halves
        whole += [
            (states(some), (*part, (question, yes)), some)
            for yes, some in zip((False, True), sides, strict=True)
        ]
    return [part for _, part, _ in (*found, *whole)]


def _halves(search: FamilySearch, cells: int, states: _Count) -> tuple[int, tuple[int, int]] | None:
    """The question that divides some cells best, and those that answer no and yes; None if none does.

    All cells must have been asked it: else members that no state tells apart would come into different parts.
    """
    best: tuple[int, int, int, tuple[int, int]] | None = None
    for question, (no, yes) in sorted(search.sets.answered.items()):
        sides = no & cells, yes & cells
        if not all(sides) or cells & ~(no | yes):
            continue
        sizes = sorted(map(states, sides))
        if best is None or (sizes[1], sizes[0]) < best[:2]:
            best = sizes[1], sizes[0], question, sides
    return None if best is None else best[2:]
