"""S-IDENT where a Binding is executed after nobody waits for it any more: it may be another pod that has the name by then."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.model.language import require
from podrace.model.scheduler import Binding
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

CLUSTER = """
name: late-namesake
title: A Binding is executed after its pod was recreated under its name
nodes: {{n1: {{cpu: 2}}}}
pods:
  web: {{cpu: 1, terminationGracePeriodSeconds: 0}}
  web-again: {{cpu: 1, recreates: web, terminationGracePeriodSeconds: 0}}
scope: {{pod_events: 2, pod_deletions: 1, flush: false, {scope}}}
"""


class AskedBeforePosted(Binding):
    """The API server is asked for the pod's UID in the moment in which the Binding is posted: only what is executed later can hit another pod."""

    def require_bind(self, pod: Pod) -> None:
        super().require_bind(pod)
        require(self.api.pod[pod].exists)


@pytest.mark.parametrize(
    ("scope", "release", "last"),
    [
        ("late_bindings: 1", "1.22", "process.land_late(pod=web, node=n1)"),
        ("leader_changes: 1, lost_replies: 1", "1.22", "process.land(pod=web, node=n1)"),
        ("lost_replies: 1", "1.22", None),
        ("late_bindings: 1", "1.23", None),
    ],
)
def test_a_binding_that_is_executed_late_may_hit_another_pod(
    scope: str, release: str, last: str | None
) -> None:
    cluster = parse_scenario(CLUSTER.format(scope=scope), "late.yaml").spec
    classes = [*resolve(release).classes, AskedBeforePosted]
    (result,) = check(instrument(cluster, classes, [PROPERTIES["S-IDENT"]]), ["S-IDENT"])
    assert result.verdict.name == ("HOLDS" if last is None else "VIOLATED")
    assert (None if result.trace is None else str(result.trace.steps[-1].label)) == last
