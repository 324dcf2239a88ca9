"""Which of several things are needed together: minimal sets by trying subsets, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")


def minimal_sets(candidates: Sequence[T], suffices: Callable[[tuple[T, ...]], bool]) -> list[tuple[T, ...]]:
    """Every set of candidates that suffices while none of its proper subsets does, in the order of the candidates.

    Asks about each subset at most once, and not about supersets of one that suffices. Nothing is assumed of `suffices`:
    a superset may well not suffice.
    """
    found: list[tuple[T, ...]] = []
    for size in range(len(candidates) + 1):
        for chosen in combinations(candidates, size):
            if not any(set(smaller) <= set(chosen) for smaller in found) and suffices(chosen):
                found.append(chosen)
    return found
