"""Random clusters with extended resources that devices back: each is a scenario that can be said in objects, and the number determines it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.extended_clusters import extended_cluster
from podrace.scenarios import parse_scenario


@given(st.integers(0, 1_000_000))
def test_every_cluster_can_be_said_in_objects(number: int) -> None:
    text = extended_cluster(number)
    assert text == extended_cluster(number)
    spec = parse_scenario(text, "lockstep.yaml").spec
    assert objects_of(spec).missing == ()
    assert any(claim.special for claim in spec.claims)


def test_what_is_left_from_before_is_drawn_often_enough() -> None:
    specs = [parse_scenario(extended_cluster(number), "lockstep.yaml").spec for number in range(40)]
    left = [claim for spec in specs for claim in spec.claims if claim.exists]
    assert len({extended_cluster(number) for number in range(40)}) == 40
    assert (len(left), sum(claim.device is not None for claim in left)) == (6, 5)
