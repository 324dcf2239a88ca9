"""Users that delete claims: of volumes and of devices."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import Claim, VolumeClaim
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete, enabled

VOLUME = """
name: volume
nodes: {n1: {cpu: 1}}
storageClasses: {local: {volumeBindingMode: WaitForFirstConsumer}}
volumes: {v: {storageClassName: local, nodes: [n1]}}
volumeClaims: {c: {storageClassName: local}}
pods: {a: {cpu: 1, volumes: [c]}}
scope: {pod_events: 2, flush: false, volume_deletions: 1}
"""
DEVICE = """
name: device
nodes: {n1: {cpu: 1}}
devices: {gpu: {node: n1}}
resourceClaims: {c: {}}
pods: {a: {cpu: 1, resourceClaims: [c]}}
scope: {pod_events: 2, flush: false, claim_deletions: DELETIONS}
"""


def test_a_volume_claim_that_no_pod_on_a_node_mounts_is_gone_at_once() -> None:
    model = concrete(parse_scenario(VOLUME).spec, "1.36.3")
    storage, users = model.part("storage"), model.part("storage_users")
    (c,) = storage.universe[VolumeClaim]
    model.do(lambda: users.delete_claim(c))
    assert model.get(lambda: (storage.claim[c].exists, storage.claim[c].terminating)) == (False, False)


@pytest.mark.parametrize("deletions", [0, 1])
def test_a_user_deletes_as_many_resource_claims_as_the_scope_says(deletions: int) -> None:
    model = concrete(parse_scenario(DEVICE.replace("DELETIONS", str(deletions))).spec, "1.36.3")
    users = model.part("claim_deletions")
    (c,) = users.universe[Claim]
    assert enabled(model, lambda: users.delete_claim(c)) is bool(deletions)
