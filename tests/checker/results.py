"""What tests take from a result, and what every engine owes."""

from __future__ import annotations

from dataclasses import replace

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.result import Result
from podrace.checker.explicit import explore, reference
from podrace.checker.explicit.small_search import explore_if_small
from podrace.model.language import TransitionSystem


def untimed(found: Exploration) -> Exploration:
    """Without what differs from run to run."""
    return replace(found, seconds=0.0)


def engine_contract(system: TransitionSystem, budget: Budget | None = None) -> Exploration:
    """What every engine must find: all that the reference does, run by run. A small search has one more engine."""
    expected = untimed(reference.explore(system, budget))
    assert untimed(explore(system, budget)) == expected
    small = explore_if_small(system, budget or Budget())
    assert small is None or untimed(small) == expected
    return expected


def timeless(found: Result) -> Result:
    """Without what differs from run to run."""
    return replace(found, counts=replace(found.counts, seconds=None))
