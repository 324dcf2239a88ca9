"""The host ports that NodeInfos list: a set, which does not say how many pods have a port (HostPortInfo in framework/types.go)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.footprint import UsedPort, used_ports_of
from podrace.model.environment.cluster.node_versions import NodeVersion
from podrace.model.environment.cluster.pod_versions import PodVersion
from podrace.model.environment.objects import HostPort, Node, Pod, PodCopy, Scope
from podrace.model.environment.storage.volumes import CountedClaim
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete, Model, Universe, build
from podrace.model.scheduler import Cache, NodeInfos, NodeTree, Snapshot
from podrace.model.scheduler.cache.order import Zone, zones_of
from podrace.model.scheduler.framework.status import Code
from tests.conformance.cache.cast import NoGroups
from tests.model.clusters import nodes, spec
from tests.races.hazard_patches import PortsOfOthersKept

HTTP = HostPort(80)
ON = nodes(9, 9)
PODS = [
    Pod(0, "a", 1, host_ports=[HTTP]),
    Pod(1, "b", 1, host_ports=[HTTP, HostPort(81)]),
    Pod(2, "c", 1, host_ports=[HostPort(80, ip="10.0.0.1")]),
    Pod(3, "p", 1, host_ports=[HTTP]),
]


def patched(pods: list[Pod], on: tuple[Node, ...], patches: tuple[type[Component], ...]) -> Concrete:
    return Concrete(build_cluster(spec(pods, on), (*patches, *resolve("1.36").classes)))


MOVES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([None, 0, 1])), max_size=6)


class Infos(Model):
    """The cache and what it needs."""

    cache: Cache
    pod_group_states: NoGroups
    node_infos: NodeInfos
    node_tree: NodeTree
    snapshot: Snapshot


@settings(max_examples=12)
@given(MOVES)
def test_a_node_info_lists_what_was_put_in_since_the_same_was_last_taken_out(moves: list[Any]) -> None:
    absent = tuple(Node(n.index, n.name, 9, exists=False) for n in ON)
    ports = used_ports_of(pod.host_ports for pod in PODS)
    kinds: Any = {
        Pod: tuple(PODS),
        Node: absent,
        Zone: zones_of(absent),
        PodVersion: (),
        UsedPort: ports,
        NodeVersion: (),
        CountedClaim: (),
    }
    model = Concrete(build(Infos, Universe(kinds, Scope())))
    cache, infos = model.part("cache"), model.part("node_infos")
    listed: dict[int, set[HostPort]] = {0: set(), 1: set()}
    place: dict[int, int] = {}
    for number, where in moves:
        pod = PODS[number]
        if number in place:
            listed[place[number]] -= set(pod.host_ports)
            model.do(partial(cache.forget, pod, absent[place.pop(number)]))
        if where is not None:
            place[number] = where
            listed[where] |= set(pod.host_ports)
            model.do(partial(cache.assume, pod, absent[where], PodCopy()))
    for at, node in enumerate(absent):
        assert {p.port for p in ports if model.get(partial(_lists, infos, node, p))} == listed[at]


def _lists(infos: Any, node: Any, port: UsedPort) -> Any:
    return infos.port[node][port]


@pytest.mark.parametrize(
    ("patches", "after"), [((), Code.SUCCESS), ((PortsOfOthersKept,), Code.UNSCHEDULABLE)]
)
def test_of_two_pods_with_a_port_one_leaves_and_it_is_free_until_the_other_is_put_in_anew(
    patches: tuple[type[Component], ...], after: Code
) -> None:
    a, b, _, p = PODS
    model = patched(PODS, ON, patches)
    cache, snapshot, filters = (model.part(name) for name in ("cache", "snapshot", "filters"))

    def said() -> Any:
        model.do(snapshot.update)
        return model.get(lambda: filters.node_ports(p, ON[0], snapshot.placement()))

    for pod in (a, b):
        model.do(partial(cache.assume, pod, ON[0], PodCopy()))
    assert said() is Code.UNSCHEDULABLE
    model.do(partial(cache.forget, a, ON[0]))
    assert said() is after
    # The watch confirms the other: out of the NodeInfo, and into it again.
    api = model.part("api")
    model.do(partial(api.bind, b, ON[0]))
    model.do(lambda: cache.add_pod(b, api.pod[b]))
    assert said() is Code.UNSCHEDULABLE


@pytest.mark.parametrize(("patches", "found"), [((), (True, ["low"])), ((PortsOfOthersKept,), (False, []))])
def test_a_dry_run_frees_with_a_victim_the_port_of_a_pod_that_stays(
    patches: tuple[type[Component], ...], found: tuple[bool, list[str]]
) -> None:
    pods = [
        Pod(0, "low", 1, 0, node=ON[0], host_ports=[HTTP]),
        Pod(1, "high", 1, 10, node=ON[0], host_ports=[HTTP]),
        Pod(2, "p", 1, 5, host_ports=[HTTP]),
    ]
    model = patched(pods, ON[:1], patches)
    snapshot, preemption = model.part("snapshot"), model.part("preemption")
    model.do(snapshot.update)
    candidate, victims = model.get(lambda: preemption.dry_run(pods[2], ON[0]))
    assert (candidate, [q.name for q, goes in victims.items() if goes]) == found
