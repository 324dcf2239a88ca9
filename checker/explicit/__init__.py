"""Exhaustive exploration in native code: the system is compiled by LLVM, its states are stored exactly."""

from ...model.language import TransitionSystem
from ..core.exploration import Budget, Exploration, Watcher

__all__ = ["explore"]


def explore(
    system: TransitionSystem, budget: Budget | None = None, progress: Watcher | None = None
) -> Exploration:
    """Visit every reachable state of `system`, or stop as `Exploration` and `Budget` say.

    The memory that counts against the budget is that of the arrays of the search, growth included.
    Raises ValueError for a system that has no native code (a parameter without a value, a value beyond 64 bits),
    and OverflowError beyond 2^32 - 2 states.
    """
    from .engine import search  # numpy and LLVM take a while to import: only for those who search

    return search(system, budget or Budget(), progress)
