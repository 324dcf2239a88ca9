"""In how many essentially different ways the scenario of each race is violated before the fix: nearly always in one.

So within the bounds of the scenario every violation takes all the steps of the race.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.request.plan import SAFETY, Selection, plan
from podrace.analysis.systems import system_of
from podrace.checker.ways import find_ways
from podrace.scenarios import catalogue

STEPS: dict[str, tuple[int, ...]] = {
    # The node goes and its handler has not run yet; or the node is back, and handled, before the old one is removed.
    "live-read-removes-node": (9, 11),
    "nominated-node-race": (15,),
    "forgotten-move-request": (23,),
    "wiped-nomination": (20,),
    "node-comes-back-empty": (8,),
    # The failure handler finds the binding in the lister, where its own store or one of the two handlers shows it first.
    "bound-but-requeued": (11, 11, 11),
    "update-skips-backoff": (15,),
    "preemption-of-nobody": (19,),
    "dead-node-in-snapshot": (10,),
    "phantom-preemptor": (12,),
    "bound-phantom": (40,),
    "forgotten-wakes-nobody": (13,),
    "error-is-parked": (12,),
    "missed-deletion": (10,),
    "corrupted-cache": (19,),
    "expired-assumption": (12,),
    "restart-before-handlers": (13,),
    "update-in-flight": (17,),
    "gate-outlives-removal": (17,),
    "old-rejection": (29,),
    "event-list": (25,),
    "skipped-in-flight": (25,),
    "assigned-pod-in-empty-zone": (25,),
    "deleted-while-binding": (6,),
    "preempts-again": (20,),
    "dropped-by-pop": (16, 17),
    "gone-victim": (34, 48),
    "namesake-bound": (8,),
    "namesake-in-flight": (13, 14),
    "swapped-by-a-list": (4,),
    "taint-removed": (18,),
    "port-behind-taint": (18,),
    "tainted-arrival": (18,),
    "two-changes": (17,),
    "remade-behind-a-list": (22,),
    "keyless-node": (15,),
    "repelled-by-the-deleted": (15,),
    "live-tree": (5,),
    "scaled-down-under-pre-bind": (7,),
    "counted-by-its-kubelet": (10,),
    "counted-when-rejected": (15,),
    "unheard-extender": (16,),
    "kept-name": (7,),
    "untainted-arrival": (9,),
    "undrained": (3,),
    "undrained-when-ended": (5,),
    "undrained-while-pending": (12,),
    "ended-and-kept": (16,),
    "tainted-domain": (16,),
    # Between two reads; or an event of the assume cache that is delivered late.
    "device-twice": (30, 34),
    # The handler of the update makes the cache forget the pod; or the binding goroutine does, just before it.
    "dismissed-member": (15, 23),
    "stranger-in-group": (21,),
}
"""How long the shortest run of each way is."""

IN_EVERY_RUN = (
    "live-read-removes-node",
    "bound-but-requeued",
    "error-is-parked",
    "missed-deletion",
    "deleted-while-binding",
)
"""Those that take less than a second: three with one way, and both with several."""

LARGE = "forgotten-move-request"
"""Five million states: left to the campaign."""


def priced(name: str) -> Any:
    marks = pytest.mark.campaign if name == LARGE else () if name in IN_EVERY_RUN else pytest.mark.nightly
    return pytest.param(name, marks=marks)


def test_every_race_that_a_finite_run_shows_is_here() -> None:
    races = [scenario.name for scenario in catalogue() if scenario.race is not None]
    kinds = {name: plan(Selection((name,)))[0].prop.kind for name in races}
    assert set(STEPS) == {name for name, kind in kinds.items() if kind in SAFETY}
    assert {*IN_EVERY_RUN, LARGE} <= set(STEPS)


@pytest.mark.parametrize("name", [priced(name) for name in STEPS])
def test_the_ways_to_a_race(name: str) -> None:
    run = plan(Selection((name,)))[0]
    found = find_ways(system_of(run), run.property, 6)
    assert found.result.stopped is None
    assert tuple(len(way.trace.steps) for way in found.ways) == STEPS[name]


def test_the_page_says_how_many() -> None:
    page = (Path(__file__).parents[2] / "docs" / "counterexamples.md").read_text(encoding="utf-8")
    alone = sum(len(steps) == 1 for steps in STEPS.values())
    assert f"For {alone} of {len(STEPS)} races of the catalogue there is exactly one way." in page
