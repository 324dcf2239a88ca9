"""KEP-5690, preemption for devices: its three questions with exact counts (docs/notebook/kep-5690.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.properties import instrument
from podrace.properties.base.property import Property
from podrace.scenarios import parse_scenario
from tests.races.kep_5690 import (
    DeviceGoesToPreemptor,
    DevicesHeld,
    DevicesPreempted,
    HeldBackAreWoken,
    LeftToTheDryRun,
    PreemptsOnce,
    WorthADryRun,
)

PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "kep-5690.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"
DESIGN = (WorthADryRun, DevicesPreempted, LeftToTheDryRun)
HOLDING = (WorthADryRun, DevicesPreempted, DevicesHeld)

TAKEN = """
name: taken
title: A device that is freed for a preemptor
release: "1.37.2"
nodes:
  n1: {cpu: 4}
devices:
  gpu1: {node: n1}
resourceClaims:
  c0: {device: gpu1, reservedFor: [v]}
  c1: {}
  c2: {}
pods:
  v: {cpu: 1, nodeName: n1, resourceClaims: [c0], terminationGracePeriodSeconds: 0}
  p: {cpu: 1, priority: 10, resourceClaims: [c1]}
  u: {cpu: 1, priority: 5, exists: false, resourceClaims: [c2]}
scope: {pod_events: 1, claim_events: 1, pod_creations: 1, flush: false, backoff: false}
"""
TWICE = """
name: twice
title: Two devices, of which the preemptor needs one
release: "1.37.2"
nodes:
  n1: {cpu: 4}
devices:
  gpu1: {node: n1}
  gpu2: {node: n1}
resourceClaims:
  c1: {device: gpu1, reservedFor: [v1]}
  c2: {device: gpu2, reservedFor: [v2]}
  c3: {}
pods:
  v1: {cpu: 1, nodeName: n1, resourceClaims: [c1], terminationGracePeriodSeconds: 0}
  v2: {cpu: 1, nodeName: n1, resourceClaims: [c2], terminationGracePeriodSeconds: 0}
  p: {cpu: 1, priority: 10, resourceClaims: [c3]}
scope: {pod_events: 1, claim_events: 1, flush: false, backoff: false}
"""
JOINED = TWICE.replace("  n1: {cpu: 4}\n", "  n1: {cpu: 4}\n  n2: {cpu: 1, exists: false}\n").replace(
    "claim_events: 1", "node_events: 1, node_creations: 1, claim_events: 1"
)
HELD = """
name: held
title: The preemptor is deleted while a device is held back for it
release: "1.37.2"
nodes:
  n1: {cpu: 4}
devices:
  gpu1: {node: n1}
resourceClaims:
  c0: {device: gpu1, reservedFor: [v]}
  c1: {}
  c2: {}
pods:
  v: {cpu: 1, nodeName: n1, resourceClaims: [c0], terminationGracePeriodSeconds: 0}
  p: {cpu: 1, priority: 10, resourceClaims: [c1]}
  u: {cpu: 1, priority: 5, preemptionPolicy: Never, resourceClaims: [c2]}
scope: {pod_events: 1, claim_events: 1, pod_deletions: {count: 1, pods: [p]}, flush: false, backoff: false}
"""


@pytest.mark.parametrize(
    ("cluster", "asked", "patches", "verdict", "states", "steps"),
    [
        (TAKEN, DeviceGoesToPreemptor, DESIGN, V, 3588, 35),
        (TAKEN, DeviceGoesToPreemptor, HOLDING, H, 235349, None),
        (TWICE, PreemptsOnce, DESIGN, H, 1665, None),
        (JOINED, PreemptsOnce, DESIGN, V, 10174, 42),
        (HELD, HeldBackAreWoken, HOLDING, V, 17352, 42),
        (HELD, HeldBackAreWoken, DESIGN, V, 1615440, 75),
    ],
)
def test_verdict_and_counts(
    cluster: str, asked: type[Property], patches: tuple[type[Component], ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    spec = parse_scenario(cluster, "x").spec
    classes = (*resolve("1.37.2").classes, *patches)
    (found,) = check(instrument(spec, classes, [asked]), [asked.id])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,}" in PAGE
