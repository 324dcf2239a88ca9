"""Asynchronous preemption together with what else is asynchronous, each pair on one small cluster: exact counts (docs/hazards.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import read_scenario
from tests.races.hazard_patches import (
    AlwaysActivated,
    FreshRequeue,
    PlacedNotAdded,
    RegisteredToTheEnd,
    RequeueLooksAgain,
    VersionedCondition,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")

CLUSTER = """
name: pair
title: A pod preempts asynchronously
release: "1.36.3"
nodes:
  n1: {cpu: 2}
pods:
  v: {cpu: 2, nodeName: n1, terminationGracePeriodSeconds: 0}
"""
ALONE, WITH_CLAIM = "  p: {cpu: 2, priority: 10}\n", "  p: {cpu: 2, priority: 10, resourceClaims: [c1]}\n"
PAIRS = {
    "queued calls": ALONE
    + "featureGates: {SchedulerAsyncAPICalls: true}\nscope: {pod_events: 2, flush: false}\n",
    "leader change": ALONE + "scope: {pod_events: 2, leader_changes: 1, flush: false}\n",
    "claim": WITH_CLAIM
    + "devices:\n  gpu1: {node: n1}\nresourceClaims:\n  c1: {}\nscope: {pod_events: 2, flush: false}\n",
}
HOLD = {
    "queued calls": ("S-CAP", "S-CONS", "S-NOMLIVE", "S-CYCLE", "S-GHOST", "S-COND", "S-STUCK", "L-PEND", "L-PROG"),
    "leader change": ("S-CAP", "S-CONS", "S-NOMLIVE", "S-BIND", "S-GAIN"),
    "claim": ("S-CAP", "S-CONS", "S-NOMLIVE", "S-CYCLE", "S-GHOST", "S-STUCK", "L-PEND", "L-PROG", "S-DEV", "S-RESV", "S-INFLIGHT", "L-CLAIM"),
}  # fmt: skip
STATES = {"queued calls": 811, "leader change": 9644, "claim": 1439}
PATCHES: dict[str, type[Component]] = {
    "AlwaysActivated": AlwaysActivated,
    "FreshRequeue": FreshRequeue,
    "PlacedNotAdded": PlacedNotAdded,
    "RegisteredToTheEnd": RegisteredToTheEnd,
    "RequeueLooksAgain": RequeueLooksAgain,
    "VersionedCondition": VersionedCondition,
}
VIOLATED: list[tuple[str, str, int, int, str, int]] = [
    ("queued calls", "S-UNIQ", 447, 25, "RegisteredToTheEnd", 753),
    ("leader change", "S-UNIQ", 861, 23, "RegisteredToTheEnd", 3496),
    ("leader change", "S-CYCLE", 2936, 37, "RegisteredToTheEnd", 3496),
    ("leader change", "S-GHOST", 3152, 38, "RequeueLooksAgain", 8245),
    ("leader change", "S-FRESH", 861, 23, "FreshRequeue", 9821),
    ("leader change", "S-COND", 2631, 35, "VersionedCondition", 9444),
    ("leader change", "S-STUCK", 1918, 29, "AlwaysActivated", 13320),
    ("leader change", "L-PEND", 1918, 29, "AlwaysActivated", 13320),
    ("claim", "S-UNIQ", 368, 34, "RegisteredToTheEnd", 1285),
    ("claim", "S-COND", 1283, 54, "PlacedNotAdded", 611),
]
"""States and steps as it is, the patch with which it holds, and the states with that."""


NOTHING_AT_STAKE = {
    ("claim", "S-DEV"), ("claim", "S-NOMLIVE"), ("leader change", "S-NOMLIVE"), ("queued calls", "S-NOMLIVE"),
}  # fmt: skip
"""There is one claim alone, and no pod goes."""


def asked(
    tmp_path: Path, pair: str, identifier: str, patch: type[Component] | None = None
) -> tuple[str, int | None, int | None]:
    file = tmp_path / "pair.yaml"
    file.write_text(CLUSTER + PAIRS[pair], encoding="utf-8")
    scenario = read_scenario(file)
    classes = resolve("1.36.3", (), (), dict(scenario.feature_gates)).classes
    if patch is not None:
        classes = (patch, *classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert found.vacuous == ((pair, identifier) in NOTHING_AT_STAKE)
    return found.verdict.name, found.counts.states, None if found.trace is None else len(found.trace.steps)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("pair", "identifier"), [(pair, name) for pair, names in HOLD.items() for name in names]
)
def test_what_holds(tmp_path: Path, pair: str, identifier: str) -> None:
    assert asked(tmp_path, pair, identifier) == ("HOLDS", STATES[pair], None)


@pytest.mark.ci
@pytest.mark.parametrize(("pair", "identifier", "states", "steps", "patch", "after"), VIOLATED)
def test_what_is_violated_and_with_which_patch_it_holds(
    tmp_path: Path, pair: str, identifier: str, states: int, steps: int, patch: str, after: int
) -> None:
    assert asked(tmp_path, pair, identifier) == ("VIOLATED", states, steps)
    assert asked(tmp_path, pair, identifier, PATCHES[patch]) == ("HOLDS", after, None)


def test_the_page_says_so() -> None:
    for pair, identifier, states, steps, patch, after in VIOLATED:
        row = f"| {pair} | {identifier} | violated in {steps} steps, after {states:,} states | {patch}: {after:,} states |"
        assert row in PAGE, row
