"""An object that does not exist yet, or is gone, has no state: who waits until nobody remembers it would wait in vain."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.environment.controllers import autoscaler, replacement
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.language import Entity, TransitionSystem
from podrace.model.language.systems.remembering import concerns
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

TAINT = "ToBeDeletedByClusterAutoscaler"
UPDATED = f"updates: {{going: {{taints: [{{key: {TAINT}, effect: NoSchedule}}]}}}}"
EVERYTHING = f"""\
name: everything
nodes:
  n: {{cpu: 2, taints: [{{key: broken, effect: NoExecute}}], {UPDATED}}}
  m: {{cpu: 2, exists: false, {UPDATED}}}
pods:
  a: {{cpu: 1, nodeName: n, finalizers: [x], hostPorts: [80], labels: {{app: web}}}}
  b: {{cpu: 1, exists: false, finalizers: [x], hostPorts: [80], labels: {{app: web}}}}
controllers:
  web: {{kind: ReplicaSet, pods: [a, b]}}
podDisruptionBudgets:
  keep: {{minAvailable: 1, selector: {{matchLabels: {{app: web}}}}}}
scope:
  {{autoscaler: true, scale_down_taints: true, scale_down_drains: true, bound_finalizers: true, disruption_controller: true, taint_eviction: true,
   kubelet_admission: true, restarts: 1, pod_deletions: 1, lost_replies: 1}}
"""
TAINTED_FIRST = f"""\
name: tainted-first
nodes: {{n1: {{cpu: 2, exists: false, {UPDATED}}}}}
pods: {{p: {{cpu: 1}}}}
scope: {{pod_events: 1, node_events: 1, flush: false, backoff: false, autoscaler: true, scale_down_taints: true}}
"""
LOST_REPLY = f"""\
name: lost-reply
nodes:
  n0: {{cpu: 1, {UPDATED}}}
  n1: {{cpu: 2, exists: false, {UPDATED}}}
pods: {{c: {{cpu: 1}}, a: {{cpu: 2}}, b: {{cpu: 2}}}}
scope: {{pod_events: 1, node_events: 1, flush: false, backoff: false, autoscaler: true, scale_down_taints: true, lost_replies: 1}}
"""
KEPT = """\
name: kept
nodes: {n: {cpu: 2}}
pods:
  a: {cpu: 1, nodeName: n, finalizers: [x]}
  b: {cpu: 1, exists: false, finalizers: [x]}
controllers: {web: {kind: ReplicaSet, pods: [a, b]}}
scope: {pod_events: 1, node_events: 1, flush: false, backoff: false, bound_finalizers: true, pod_deletions: 1}
"""


def system_of(text: str, *properties: str) -> TransitionSystem:
    spec = parse_scenario(text, "it.yaml").spec
    return instrument(spec, resolve("1.36.4").classes, [PROPERTIES[name] for name in properties])


def test_what_does_not_exist_has_no_state() -> None:
    """But for what OUTLIVED names."""
    but = {*autoscaler.OUTLIVED, *replacement.OUTLIVED}
    system = system_of(EVERYTHING)
    objects: list[Node | Pod] = [*system.universe[Node], *system.universe[Pod]]
    absent = [e for e in objects if not e.exists]
    left = [
        variable.name
        for variable in system.variables
        for address in [system.narration.addresses[variable.name]]
        for entity in absent
        if any(concerns(key, entity) for key in address.keys if isinstance(key, Entity))
        if address.state not in but and variable.initial != min(max(0, variable.lo), variable.hi)
    ]
    assert [entity.name for entity in absent] == ["m", "b"]
    assert left == []


def test_an_autoscaler_makes_a_node_that_has_updates() -> None:
    (found,) = check(system_of(TAINTED_FIRST, "L-LOOP"))
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == ("VIOLATED", 3610, 43)


@pytest.mark.ci
def test_a_reply_is_lost_where_a_node_that_has_updates_is_made() -> None:
    (found,) = check(system_of(LOST_REPLY, "S-CAP"), budget=Budget(max_states=500_000))
    assert found.trace is not None
    assert (found.verdict.name, len(found.trace.steps)) == ("VIOLATED", 26)


def test_a_controller_makes_a_pod_that_has_finalizers() -> None:
    (found,) = check(system_of(KEPT, "S-CONS"))
    assert (found.verdict.name, found.counts.states) == ("HOLDS", 618)
    assert "api.held[b]" in {v.name for v in system_of(KEPT).variables}
