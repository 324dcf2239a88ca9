"""What VolumeBinding makes of the claims and volumes that its caches have (plugins/volumebinding/binder.go, v1.36.3)."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import Node, Volume
from podrace.model.environment.storage.volumes import VolumeClaimObject, VolumeObject, VolumeUse
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete

CLUSTER = """
name: made
nodes: {n1: {cpu: 1}, n2: {cpu: 1}}
storageClasses: {csi: {volumeBindingMode: WaitForFirstConsumer, provisioner: csi.example.com}}
volumeClaims: {c: {storageClassName: csi}}
pods: {a: {cpu: 1, volumes: [c]}}
scope: {pod_events: 2, flush: false}
"""

WAITS, FAILS, BOUND = "waits", "fails", "bound"


@pytest.mark.parametrize(
    ("selected", "made_on", "completed", "found"),
    [
        ("n1", None, False, WAITS),
        ("n1", "n1", False, WAITS),
        ("n1", "n1", True, BOUND),
        ("n1", "n2", True, FAILS),
        ("n2", "n1", True, FAILS),
        (None, "n1", True, FAILS),
        (None, None, False, FAILS),
        (None, "n2", True, FAILS),
    ],
)
def test_the_annotation_and_the_place_of_the_volume_each_fail_it(
    selected: str | None, made_on: str | None, completed: bool, found: str
) -> None:
    model = concrete(parse_scenario(CLUSTER).spec, "1.36.3")
    binding, cache, plugin = (model.part(name) for name in ("binding", "volume_cache", "volume_binding"))
    universe = plugin.universe
    (use,), (made,) = universe[VolumeUse], universe[Volume]
    nodes = {node.name: node for node in universe[Node]}
    claim = VolumeClaimObject(
        exists=True,
        volume=made if made_on else None,
        selected=nodes[selected] if selected else None,
        completed=completed,
    )
    model.do(lambda: binding.node.__setitem__(use.pod, nodes["n1"]))
    model.do(lambda: cache.claim.__setitem__(use.claim, claim))
    if made_on:
        volume = VolumeObject(exists=True, claim=use.claim, node=nodes[made_on])
        model.do(lambda: cache.volume.__setitem__(made, volume))
    waits, fails = model.get(lambda: (plugin.waits(use), plugin.fails(use)))
    assert (waits, fails) == (found == WAITS, found == FAILS)
