"""Random clusters with claims: each is a scenario that can be said in objects, and the number determines it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.claim_clusters import claim_cluster
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


def test_clusters_differ() -> None:
    assert len({claim_cluster(number) for number in range(20)}) == 20
