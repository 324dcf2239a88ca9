"""The descheduler: whom its plugins choose, what it asks of the node where a pod is to go, and what budgets refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from podrace.model.environment.cluster.owned_pods import Owned
from podrace.model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from podrace.model.environment.controllers.descheduler import Descheduler, Strategy
from podrace.model.environment.objects import (
    ClusterSpec,
    DisruptionBudget,
    Node,
    NodeAffinity,
    NodeTerm,
    Operator,
    Pod,
    Requirement,
    Scope,
    Selector,
    Taint,
)
from podrace.model.language import Concrete
from tests.model.clusters import concrete, enabled

WEB = {"app": "web"}
SPREAD: dict[str, Any] = {"topology_key": "zone", "selector": Selector(WEB)}


def cluster(
    nodes: Sequence[Node],
    where: Sequence[Node],
    strategy: StrategySpec,
    *,
    cpu: int = 1,
    kind: OwnerKind = OwnerKind.REPLICA_SET,
    affinity: NodeAffinity | None = None,
    budgets: Sequence[DisruptionBudget] = (),
) -> ClusterSpec:
    pods = tuple(
        Pod(i, f"p{i}", cpu, node=n, graceful=False, labels=WEB, node_affinity=affinity)
        for i, n in enumerate(where)
    )
    place = where[0].name if kind is OwnerKind.DAEMON_SET else ""
    owner = OwnerSpec("web", kind, len(pods), ((place, tuple(p.name for p in pods)),))
    scope = Scope(disruption_controller=bool(budgets))
    return ClusterSpec(
        "moved", pods, tuple(nodes), scope, tuple(budgets), owners=(owner,), strategies=(strategy,)
    )


def chosen(of: ClusterSpec) -> list[str]:
    model = concrete(of, "1.36")
    part, (strategy,) = model.part("descheduler"), model.model.entities[Strategy]
    assert isinstance(part, Descheduler)
    return [
        o.name for o in model.model.entities[Owned] if enabled(model, lambda o=o: part.choose(o, strategy))
    ]


def nodes(*cpus: int, **more: object) -> list[Node]:
    return [Node(i, f"n{i}", cpu, labels={"zone": f"z{i}"}) for i, cpu in enumerate(cpus)]


def test_a_taint_that_the_pod_does_not_tolerate() -> None:
    tainted, free = Node(0, "n0", 1, taints=[Taint("x")]), Node(1, "n1", 1)
    for fit in (False, True):
        assert chosen(cluster([tainted, free], [tainted], StrategySpec(StrategyKind.NODE_TAINTS, fit))) == [
            "p0"
        ]
    small = Node(1, "n1", 0)
    assert chosen(cluster([tainted, small], [tainted], StrategySpec(StrategyKind.NODE_TAINTS, True))) == []
    soft = Node(0, "n0", 1, taints=[Taint("x", effect="NoExecute")])
    assert chosen(cluster([soft, free], [soft], StrategySpec(StrategyKind.NODE_TAINTS))) == []


def test_pods_of_a_daemon_set_stay() -> None:
    tainted = Node(0, "n0", 1, taints=[Taint("x")])
    of = cluster([tainted], [tainted], StrategySpec(StrategyKind.NODE_TAINTS), kind=OwnerKind.DAEMON_SET)
    assert chosen(of) == []


def test_a_node_that_the_pod_does_not_ask_for() -> None:
    on = nodes(1, 1)
    affinity = NodeAffinity((NodeTerm((Requirement("zone", Operator.IN, ("z1",)),)),))
    strategy = StrategySpec(StrategyKind.NODE_AFFINITY)
    assert chosen(cluster(on, [on[0]], strategy, affinity=affinity)) == ["p0"]
    assert chosen(cluster(on, [on[1]], strategy, affinity=affinity)) == []
    assert chosen(cluster(on[:1], [on[0]], strategy, affinity=affinity)) == []


def test_a_node_that_the_pod_would_rather_have() -> None:
    on = nodes(1, 1)
    strategy = StrategySpec(StrategyKind.NODE_AFFINITY, prefers={"zone": "z1"})
    assert chosen(cluster(on, [on[0]], strategy)) == ["p0"]
    assert chosen(cluster(on, [on[1]], strategy)) == []


@pytest.mark.parametrize(
    ("where", "skew", "found"),
    [
        ((0, 0), 1, ["p0", "p1"]),
        ((0, 0), 2, []),
        ((0, 1), 1, []),
        ((0, 0, 1), 1, []),
        ((0, 0, 0, 1), 1, ["p0", "p1", "p2"]),
    ],
)
def test_a_domain_with_too_many_pods(where: tuple[int, ...], skew: int, found: list[str]) -> None:
    on = nodes(4, 4)
    strategy = StrategySpec(StrategyKind.SPREAD, True, max_skew=skew, **SPREAD)
    assert chosen(cluster(on, [on[i] for i in where], strategy)) == found


def test_the_spread_asks_for_room_where_there_are_fewer() -> None:
    on = nodes(4, 0)
    for fit, found in ((False, ["p0", "p1"]), (True, [])):
        strategy = StrategySpec(StrategyKind.SPREAD, fit, **SPREAD)
        assert chosen(cluster(on, [on[0], on[0]], strategy)) == found


def test_duplicates() -> None:
    on = nodes(4, 4)
    strategy = StrategySpec(StrategyKind.DUPLICATES)
    assert chosen(cluster(on, [on[0], on[0]], strategy)) == ["p0", "p1"]
    assert chosen(cluster(on, [on[0], on[1]], strategy)) == []
    assert chosen(cluster(on, [on[0], on[0], on[1]], strategy)) == []
    assert chosen(cluster(on[:1], [on[0], on[0]], strategy)) == []


def test_a_node_that_is_busy_while_another_is_idle() -> None:
    on = nodes(4, 4)
    strategy = StrategySpec(StrategyKind.LOW_UTILIZATION, low=20, high=50)
    assert chosen(cluster(on, [on[0]], strategy, cpu=3)) == ["p0"]
    assert chosen(cluster(on, [on[0]], strategy, cpu=2)) == []
    assert chosen(cluster(on, [on[0], on[1]], strategy, cpu=3)) == []


def evicted(of: ClusterSpec) -> tuple[Concrete, Descheduler, tuple[Owned, ...]]:
    model = concrete(of, "1.36")
    part, (strategy,) = model.part("descheduler"), model.model.entities[Strategy]
    assert isinstance(part, Descheduler)
    owned = model.model.entities[Owned]
    model.do(lambda: part.choose(owned[0], strategy))
    assert not enabled(model, lambda: part.choose(owned[1], strategy))
    model.do(lambda: part.evict(owned[0]))
    return model, part, owned


@pytest.mark.parametrize(("allowed", "goes"), [(None, True), (1, True), (0, False)])
def test_a_budget_refuses_what_it_does_not_allow(allowed: int | None, goes: bool) -> None:
    on = nodes(4, 4)
    strategy = StrategySpec(StrategyKind.DUPLICATES)
    budgets = () if allowed is None else (DisruptionBudget(0, "b", Selector(WEB), allowed),)
    model, _, owned = evicted(cluster(on, [on[0], on[0]], strategy, budgets=budgets))
    if allowed:
        model.do(lambda: model.part("budgets").finish_eviction(owned[0].pod))
    assert model.get(lambda: model.part("api").pod[owned[0].pod].exists) is not goes
