"""The section `gateKeepers`: what it makes, and what it refuses."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.workloads import KeeperSpec
from podrace.scenarios.reader.scenario_reader import parse_scenario

CLUSTER = """\
nodes: {n1: {cpu: 4}, n2: {cpu: 4}}
pods:
  p:
    cpu: 1
    schedulingGates: [{name: x/quota}, {name: x/zone}]
    updates: {east: {nodeSelector: {zone: east}}, west: {nodeSelector: {zone: west}}}
  q: {cpu: 1}
"""


def test_keepers() -> None:
    text = "gateKeepers:\n  kueue: {gate: x/quota, quota: 2, directs: {p: east}, apart: true}\n  z: {gate: x/zone, waitsFor: [x/quota]}\n"
    spec = parse_scenario(CLUSTER + text).spec
    assert spec.keepers == (
        KeeperSpec("kueue", "x/quota", 2, (), ("p.east",), True),
        KeeperSpec("z", "x/zone", None, ("x/quota",)),
    )
    assert spec.pods[0].gates == ("x/quota", "x/zone")
    assert spec.scope.pod_updates == 1, "what a keeper writes is no update of a user"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "gateKeepers: nobody keeps a gate: name a keeper, or remove the section"),
        ("{k: {quota: 1}}", "gateKeepers.k: `gate` is missing: say which scheduling gate it takes away"),
        ("{k: {gate: x/qouta}}", "gateKeepers.k.gate: no pod has the scheduling gate `x/qouta`; did you mean `x/quota`?"),
        ("{k: {gate: x/zone}, l: {gate: x/zone}}", "gateKeepers.l.gate: two keepers take `x/zone` away: remove one of them"),
        ("{k: {gate: x/zone, waitsFor: [x/zone]}}", "gateKeepers.k.waitsFor: it would wait for itself: name other gates"),
        ("{k: {gate: x/zone, apart: true}}", "gateKeepers.k.apart: it writes nothing else: add `directs`, or remove this"),
        ("{k: {gate: x/zone, directs: {r: east}}}", "gateKeepers.k.directs.r: there is no pod `r`; known: p, q"),
        ("{k: {gate: x/zone, directs: {q: east}}}", "gateKeepers.k.directs.q: q has no such gate: add it to its `schedulingGates`, or remove the pod here"),
        ("{k: {gate: x/zone, directs: {p: north}}}", "gateKeepers.k.directs.p: p has no such update; known: east, west"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_scenario(CLUSTER + f"gateKeepers: {text}\n", "s.yaml")
    assert message in str(refused.value)


def test_what_does_not_go_with_gates_that_go_one_by_one() -> None:
    text = CLUSTER.replace(
        "  q: {cpu: 1}",
        "  q: {cpu: 1, nodeName: n1}\n  r: {cpu: 1, recreates: q, schedulingGates: [{name: x/zone}]}",
    )
    assert parse_scenario(text).spec.pods[2].gates == ("x/zone",)
    with pytest.raises(
        Problem, match=r"pods\.r\.recreates: of a pod whose gates go one by one, this is not modelled"
    ):
        parse_scenario(text + "gateKeepers: {k: {gate: x/zone}}\n")
    owned = CLUSTER.replace(
        "  q: {cpu: 1}", "  q: {cpu: 1, schedulingGates: [{name: x/zone}], exists: false}"
    )
    owned += "controllers: {w: {kind: ReplicaSet, pods: [q]}}\n"
    assert parse_scenario(owned).spec.pods[1].gates == ("x/zone",)
    with pytest.raises(
        Problem, match=r"pods\.q\.schedulingGates: gates of pods that a controller makes again and again"
    ):
        parse_scenario(owned + "gateKeepers: {k: {gate: x/zone}}\n")
