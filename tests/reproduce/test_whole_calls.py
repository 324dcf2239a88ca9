"""What is one call comes in one piece, where the run is one of the model that violates the property all the same."""

from __future__ import annotations

from pathlib import Path

from podrace.analysis.stored.replayed import read_trace, replayed
from podrace.reports.stored import StoredStep
from podrace.reproduce.whole_calls import ADDS, CYCLES, LISTS, moved_listings, moved_up, with_whole_calls


def steps(*names: str) -> tuple[StoredStep, ...]:
    return tuple(StoredStep(name) for name in names)


def test_listings_move() -> None:
    assert moved_listings(steps("a", LISTS, "b", ADDS, "c")) == steps("a", "b", LISTS, ADDS, "c")
    assert moved_listings(steps("a", LISTS, "b")) == steps("a", "b", LISTS)
    twice = steps(LISTS, ADDS, "a", LISTS, ADDS)
    assert moved_listings(twice) == twice


def of(step: str, pod: str) -> StoredStep:
    return StoredStep(f"volume_binding.{step}", {"use": f"c of {pod}"})


def test_what_volume_binding_does_in_one_call_moves_up() -> None:
    read, other = of("read_claim", "a"), of("read_claim", "b")
    lists, amid = StoredStep("volume_binding.list_volumes", {"pod": "a"}), StoredStep("x.y")
    assert moved_up((read, other, amid, lists)) == (read, lists, other, amid)
    looks, assumes = StoredStep("volume_binding.look_again", {"pod": "a"}), of("assume_claim", "a")
    assert moved_up((looks, amid, assumes, other)) == (looks, assumes, amid, other)


def test_filters_move_up_behind_what_is_read_of_volumes_and_behind_nothing_else() -> None:
    read, amid = of("read_claim", "a"), StoredStep("x.y")
    first, second = (StoredStep("scheduler.filter", {"pod": "a", "node": node}) for node in ("n1", "n2"))
    assert moved_up((read, amid, first, second), CYCLES) == (read, first, second, amid)
    assert moved_up((read, amid, first)) == (read, amid, first)
    assert moved_up((first, amid, second), CYCLES) == (first, amid, second)


def test_what_is_of_another_call_of_the_pod_stays() -> None:
    read, again = of("read_claim", "a"), of("read_claim", "a")
    pop, amid = StoredStep("scheduler.pop", {"pod": "a"}), StoredStep("x.y")
    assert moved_up((read, amid, pop, again)) == (read, amid, pop, again)


def test_a_run_without_listings_stays_as_it_is(ghost: Path) -> None:
    trace = read_trace(ghost)
    found = replayed(trace)
    assert with_whole_calls(trace, found, "ghost") is found
