"""Preemption for a pod with a claim: evicting pods makes room, and frees no device."""

from __future__ import annotations

import pytest

from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.reproduce.random_runs.random_runs import Model

CLUSTER = """
nodes: {{n1: {{cpu: 1}}}}
devices: {{d1: {{node: n1}}{more}}}
resourceClaims: {{c1: {{}}, c2: {{device: d1, reservedFor: [x]}}}}
pods:
  p: {{cpu: 1, priority: 1, resourceClaims: [c1]}}
  x: {{cpu: 1, nodeName: n1, resourceClaims: [c2]}}
scope: {{flush: false}}
"""

STEPS = (
    "scheduler.pop(pod=p)",
    "scheduler.take_snapshot(pod=p)",
    "dynamic_resources.get_claim(use=c1 of p)",
    "dynamic_resources.check_claim(use=c1 of p)",
    "dynamic_resources.list_devices(pod=p)",
    "dynamic_resources.add_in_flight(pod=p)",
    "scheduler.filter(pod=p, node=n1)",
    "scheduler.reread_preemptor(pod=p)",
    "scheduler.dry_run(pod=p, node=n1)",
)


@pytest.mark.parametrize(("more", "verdict"), [("", "NO_CANDIDATE"), (", d2: {node: n1}", "CANDIDATE")])
def test_the_dry_run_asks_for_devices(more: str, verdict: str) -> None:
    """DynamicResources filters in the dry run, too, by the devices that PreFilter has listed."""
    model = Model.of(CLUSTER.format(more=more), resolve("1.36.3"))
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    states = replay(model.system, tuple(numbers[label] for label in STEPS)).states
    seen = [model.system.describe(state)["scheduler.verdict[n1]"].name for state in states[-2:]]
    assert seen == ["REJECTED", verdict]
