"""Random clusters with volumes: each is a scenario that can be said in objects, and the number determines it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.volume_clusters import volume_cluster
from podrace.scenarios import parse_scenario


@given(st.integers(0, 1_000_000))
def test_every_cluster_can_be_said_in_objects(number: int) -> None:
    text = volume_cluster(number)
    assert text == volume_cluster(number)
    spec = parse_scenario(text, "lockstep.yaml").spec
    assert objects_of(spec).missing == ()
    assert any(pod.volumes for pod in spec.pods)
