"""The listing of devices comes just before its second half, where the run is one of the model that violates the property all the same."""

from __future__ import annotations

from pathlib import Path

from podrace.analysis.stored.replayed import read_trace, replayed
from podrace.reports.stored import StoredStep
from podrace.reproduce.whole_listings import ADDS, LISTS, moved_listings, with_whole_listings


def steps(*names: str) -> tuple[StoredStep, ...]:
    return tuple(StoredStep(name) for name in names)


def test_listings_move() -> None:
    assert moved_listings(steps("a", LISTS, "b", ADDS, "c")) == steps("a", "b", LISTS, ADDS, "c")
    assert moved_listings(steps("a", LISTS, "b")) == steps("a", "b", LISTS)
    twice = steps(LISTS, ADDS, "a", LISTS, ADDS)
    assert moved_listings(twice) == twice


def test_a_run_without_listings_stays_as_it_is(ghost: Path) -> None:
    trace = read_trace(ghost)
    found = replayed(trace)
    assert with_whole_listings(trace, found, "ghost") is found
