"""S-VOL, S-RWOP and S-RESV are about the pods that the scheduler binds: those of somebody else do not count, a Binding that is late does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.language import Component, require, step
from podrace.model.scheduler import Binding, Process
from podrace.model.scheduler.cycles.binding import Reply
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios, parse_scenario

BETWEEN = Path(__file__).parents[2] / "scenarios" / "volumes" / "bound-between.yaml"

EXCLUSIVE = """
name: exclusive
title: Only one pod may use a claim, and somebody else who binds
nodes: {n1: {cpu: 2}}
storageClasses: {local: {}}
volumes: {pv1: {storageClassName: local, claimRef: c1}}
volumeClaims: {c1: {storageClassName: local, volumeName: pv1, accessModes: [ReadWriteOncePod]}}
pods:
  a: {cpu: 1, volumes: [c1]}
  b: {cpu: 1, volumes: [c1]}
scope: {pod_events: 2, flush: false, backoff: false, external_binds: 1}
"""

UNRESERVED = """
name: unreserved
title: A claim, and somebody else who binds
nodes: {n1: {cpu: 1}}
devices: {d1: {node: n1}}
resourceClaims: {c1: {}}
pods: {a: {cpu: 1, resourceClaims: [c1]}}
scope: {pod_events: 1, flush: false, backoff: false, external_binds: 1}
"""


@pytest.mark.parametrize(
    ("text", "identifier", "states"), [(EXCLUSIVE, "S-RWOP", 57201), (UNRESERVED, "S-RESV", 72610)]
)
def test_pods_that_somebody_else_binds_do_not_count(text: str, identifier: str, states: int) -> None:
    cluster = parse_scenario(text, "others.yaml").spec
    system = instrument(cluster, resolve("1.36.3").classes, [PROPERTIES[identifier]])
    (found,) = check(system, [identifier])
    assert (found.verdict.name, found.counts.states, found.vacuous) == ("HOLDS", states, False)


class NeverInTime(Binding):
    """No Binding is answered in time, so that each that is executed is executed late."""

    @step(actor="binding cycle", each="pod")
    def bind(self, pod: Pod, reply: Reply) -> None:
        """POST the Binding, in vain."""
        require(False)


class AfterTheCycle(Process):
    """A Binding is executed late only once its binding cycle has ended."""

    def _land(self, pod: Pod, node: Node) -> None:
        require(~self.binding.active(pod))
        super()._land(pod, node)


def test_a_binding_that_is_executed_late_is_the_schedulers() -> None:
    """It was taken for one of somebody else, and S-VOL held."""
    (scenario,) = find_scenarios(str(BETWEEN))
    scope = replace(scenario.spec.scope, late_bindings=1)
    classes: list[type[Component]] = [NeverInTime, AfterTheCycle, *resolve("1.36.3").classes]
    (found,) = check(
        instrument(replace(scenario.spec, scope=scope), classes, [PROPERTIES["S-VOL"]]), ["S-VOL"]
    )
    assert found.trace is not None
    assert (found.verdict.name, len(found.trace.steps)) == ("VIOLATED", 32)
    assert str(found.trace.steps[-1].label) == "process.land_late(pod=b, node=n2)"
