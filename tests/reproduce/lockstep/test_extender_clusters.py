"""Random clusters with extenders or scores: each is a scenario that can be said in objects, and the number determines it."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.extender_clusters import extender_cluster
from podrace.scenarios import parse_scenario


@given(st.integers(0, 1_000_000))
def test_every_cluster_can_be_said_in_objects(number: int) -> None:
    text = extender_cluster(number)
    assert text == extender_cluster(number)
    spec = parse_scenario(text, "lockstep.yaml").spec
    assert objects_of(spec).missing == ()
    assert spec.extenders or spec.scope.config.scored
    assert sum(extender.binds for extender in spec.extenders) <= 1
    made = yaml.safe_load(text)
    for name, node in made["nodes"].items():
        for resource, there in node.get("resources", {}).items():
            bound = [pod for pod in made["pods"].values() if pod.get("nodeName") == name]
            assert sum(pod.get("resources", {}).get(resource, 0) for pod in bound) <= there


def test_what_extenders_do_is_drawn_often_enough() -> None:
    specs = [parse_scenario(extender_cluster(number), "lockstep.yaml").spec for number in range(60)]
    assert len({extender_cluster(number) for number in range(60)}) == 60
    asked = [extender for spec in specs for extender in spec.extenders]
    assert (len(asked), sum(len(spec.extenders) == 2 for spec in specs)) == (59, 17)
    assert sum(spec.scope.config.scored for spec in specs) == 34
    assert sum(bool(spec.scope.config.scoring_strategy) for spec in specs) == 15
    found = {
        "filters": sum(e.filters for e in asked),
        "binds": sum(e.binds for e in asked),
        "preempts": sum(e.preempts for e in asked),
        "ignorable": sum(e.ignorable for e in asked),
        "unresolvable": sum(e.unresolvable for e in asked),
        "scores": sum(bool(e.scores) for e in asked),
        "nodes": sum(e.nodes is not None for e in asked),
        "resource": sum(e.resource is not None for e in asked),
    }
    assert found == {
        "filters": 52,
        "binds": 19,
        "preempts": 26,
        "ignorable": 18,
        "unresolvable": 18,
        "scores": 12,
        "nodes": 14,
        "resource": 38,
    }
    assert sum(spec.scope.extender_failures > 0 for spec in specs) == 23
    assert sum(spec.scope.late_answers > 0 for spec in specs) == 9
