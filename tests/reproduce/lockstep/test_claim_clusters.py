"""Random clusters with claims: each is a scenario that can be said in objects and has the kinds of devices that it is to have, and the number determines it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.claim_clusters import claim_cluster
from podrace.reproduce.random_runs.device_clusters import (
    KINDS,
    clusters_with_claims,
    device_cluster,
)
from podrace.scenarios import parse_scenario


@given(st.integers(0, 1_000_000))
def test_every_cluster_can_be_said_in_objects(number: int) -> None:
    text = claim_cluster(number)
    assert text == claim_cluster(number)
    spec = parse_scenario(text, "lockstep.yaml").spec
    made = objects_of(spec)
    assert made.missing == ()
    assert len(made.claims) == len(spec.claims) > 0
    allocated = [claim.device for claim in spec.claims if claim.device is not None]
    assert len(allocated) == len(set(allocated))


@given(st.integers(0, 1_000_000))
def test_every_cluster_with_newer_kinds_can_be_said_in_objects(number: int) -> None:
    text = device_cluster(number)
    assert text == device_cluster(number)
    spec = parse_scenario(text, "lockstep.yaml").spec
    assert objects_of(spec).missing == ()
    shared = {d.shared for d in spec.devices if d.shared}
    assert len(shared) <= 1  # the allocator has one order of devices for all claims of a pod


def test_there_are_clusters_of_each_newer_kind() -> None:
    specs = [parse_scenario(device_cluster(number), "lockstep.yaml").spec for number in range(1, 80, 2)]
    met = {
        "slices": any(not d.exists for s in specs for d in s.devices),
        "taints": any(d.taint for s in specs for d in s.devices),
        "choices": any(len(c.wishes) > 1 for s in specs for c in s.claims),
        "several": any(d.parts for s in specs for d in s.devices),
        "partitions": any(len(d.draws) > 1 for s in specs for d in s.devices if not d.parts),
        "shares": any(d.shared for s in specs for d in s.devices),
        "admin": any(c.admin for s in specs for c in s.claims),
    }
    assert met == dict.fromkeys(KINDS, True)


def test_releases_without_them_have_none() -> None:
    assert clusters_with_claims(35)(1) == claim_cluster(1)
    assert clusters_with_claims(36)(1) == device_cluster(1)
    assert clusters_with_claims(36)(2) == claim_cluster(2)


def test_clusters_differ() -> None:
    assert len({claim_cluster(number) for number in range(20)}) == 20
