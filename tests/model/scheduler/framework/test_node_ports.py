"""Host ports: which conflict, what the plugin says, and what it waits for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.model.environment.objects import HostPort, Node, Pod
from podrace.model.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    EVENTS,
    NODE_ADD,
    NODE_DELETE,
    NOMINATED_POD_GONE,
    WAITING_POD_GONE,
    Plugin,
    default_plugins,
)
from podrace.model.scheduler.framework.filters import Filters
from podrace.model.scheduler.framework.rejections import reasons
from podrace.model.scheduler.framework.status import Code
from tests.model.clusters import concrete, nodes, spec

HTTP = HostPort(80)
NO_FREE_PORT = "node(s) didn't have free ports for the requested pod ports"

PORTS = st.builds(
    HostPort,
    st.integers(80, 81),
    st.sampled_from(["TCP", "UDP"]),
    st.sampled_from(["0.0.0.0", "10.0.0.1", "127.0.0.1", "::"]),
)


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (HTTP, HTTP, True),
        (HTTP, HostPort(8080), False),
        (HTTP, HostPort(80, "UDP"), False),
        (HTTP, HostPort(80, ip="127.0.0.1"), True),
        (HostPort(80, ip="127.0.0.1"), HostPort(80, ip="127.0.0.1"), True),
        (HostPort(80, ip="127.0.0.1"), HostPort(80, ip="127.0.0.2"), False),
        (HostPort(80, "UDP", "127.0.0.1"), HTTP, False),
        # Addresses are compared as they are written, and only 0.0.0.0 is all of them.
        (HostPort(80, ip="::"), HostPort(80, ip="127.0.0.1"), False),
    ],
)
def test_conflicts(one: HostPort, other: HostPort, conflict: bool) -> None:
    """The cases of upstream's TestHostPortInfo_Check (framework/types_test.go), in short."""
    assert one.conflicts(other) is other.conflicts(one) is conflict


@given(PORTS, PORTS)
def test_conflicts_are_mutual_and_end_with_another_number(one: HostPort, other: HostPort) -> None:
    assert one.conflicts(other) == other.conflicts(one)
    assert one.conflicts(one)
    assert replace(one, ip="0.0.0.0").conflicts(one)
    assert not one.conflicts(replace(one, port=one.port + 10))


def said(pods: list[Pod], on: tuple[Node, ...], release: str = "1.36", nominated: Any = ()) -> list[Any]:
    """What NodePorts says of the first pod on each node, with the nominated pods."""
    model = concrete(spec(pods, on), release)
    snapshot, filters, nominator = (model.part(name) for name in ("snapshot", "filters", "nominator"))
    model.do(snapshot.update)
    for pod, node in nominated:
        model.do(partial(nominator.add, pod, None, node))

    def code(node: Node) -> Any:
        placement = snapshot.placement()
        added = filters.nominated_pods(pods[0], node, placement)
        return filters.node_ports(pods[0], node, placement.with_added(node, added))

    return [model.get(partial(code, node)) for node in on]


def test_a_node_has_each_port_once():
    on = nodes(9, 9, 9)
    pods = [
        Pod(0, "p", 1, host_ports=[HTTP, HostPort(443)]),
        Pod(1, "a", 1, node=on[0], host_ports=[HostPort(443)]),
        Pod(2, "b", 1, node=on[1], host_ports=[HostPort(80, "UDP"), HostPort(81)]),
    ]
    assert said(pods, on) == [Code.UNSCHEDULABLE, Code.SUCCESS, Code.SUCCESS]
    without = [Pod(0, "p", 1), *pods[1:]]
    assert said(without, on) == [Code.SUCCESS] * 3


@pytest.mark.parametrize(
    ("release", "code"), [("1.8", Code.UNSCHEDULABLE), ("1.9", Code.SUCCESS), ("1.36", Code.SUCCESS)]
)
def test_up_to_1_8_only_the_number_counted(release, code):
    on = nodes(9)
    for other in (HostPort(80, "UDP"), HostPort(80, ip="10.0.0.2")):
        pods = [
            Pod(0, "p", 1, host_ports=[HostPort(80, ip="10.0.0.1")]),
            Pod(1, "a", 1, node=on[0], host_ports=[other]),
        ]
        assert said(pods, on, release) == [code]


def test_ports_of_nominated_pods_are_kept_for_them():
    """AddPod on a copy of the NodeInfo; a pod that is in no sub-queue is a bare name, which has no ports."""
    on = nodes(9, 9)
    pods = [Pod(0, "p", 1, host_ports=[HTTP]), Pod(1, "q", 1, 5, host_ports=[HTTP])]
    assert said(pods, on, nominated=[(pods[1], on[1])]) == [Code.SUCCESS, Code.UNSCHEDULABLE]
    less = [pods[0], Pod(1, "q", 1, -5, host_ports=[HTTP])]
    assert said(less, on, nominated=[(less[1], on[1])]) == [Code.SUCCESS, Code.SUCCESS]


def test_what_it_says_is_said_and_recorded_and_a_victim_gives_its_port_back():
    on = nodes(9)
    pods = [
        Pod(0, "low", 1, 0, node=on[0], host_ports=[HTTP]),
        Pod(1, "other", 1, 0, node=on[0], host_ports=[HostPort(443)]),
        Pod(2, "p", 1, 10, host_ports=[HTTP]),
    ]
    model = concrete(spec(pods, on), "1.36")
    snapshot, filters, preemption = (model.part(name) for name in ("snapshot", "filters", "preemption"))
    model.do(snapshot.update)
    assert isinstance(filters, Filters)
    found = model.get(lambda: reasons(filters, pods[2], on[0], snapshot.placement()))
    assert [text for text, why in found.items() if why] == [NO_FREE_PORT]
    rejecting = model.get(lambda: filters.rejected_by_with_nominated(pods[2], on[0], snapshot.placement()))
    assert [name for name, why in rejecting.items() if why] == ["NodePorts"]
    candidate, victims = model.get(lambda: preemption.dry_run(pods[2], on[0]))
    assert (candidate, [q.name for q, goes in victims.items() if goes]) == (True, ["low"])


def test_it_stands_between_node_affinity_and_resources_and_costs_nothing_where_nobody_has_ports():
    names = [plugin.name for plugin in default_plugins(ports=True)]
    assert names.index("NodePorts") == names.index("NodeAffinity") + 1 == names.index("NodeResourcesFit") - 1
    assert [name for name in names if name != "NodePorts"] == [plugin.name for plugin in default_plugins()]
    for ports, listed in (((), False), ((HTTP,), True)):
        model = concrete(spec([Pod(0, "p", 1, host_ports=ports)], nodes(1)), "1.36")
        assert ("NodePorts" in {p.name for p in model.model.entities[Plugin]}) is listed


@pytest.mark.parametrize(
    ("release", "without", "heard"),
    [
        ("1.21", (), ""),
        ("1.22", (), ""),
        ("1.22.17", (), "ALT"),
        ("1.23", (), ""),
        ("1.23.17", (), "ALT"),
        ("1.24", (), "ALT"),
        ("1.31", (), "ALT"),
        ("1.32", (), "T"),
        # Without hints there is a pre-check, which may hide a node that is new.
        ("1.32", ("hints-decide",), "LT"),
        ("1.36", (), "T"),
    ],
)
def test_which_updates_of_nodes_it_asks_for(release, without, heard):
    """EventsToRegister, and what buildQueueingHintMap adds from 1.30 on: A is allocatable, L labels, T taints."""
    letters = {"NodeAllocatableChange": "A", "NodeLabelChange": "L", "NodeTaintChange": "T"}
    model = concrete(spec([Pod(0, "p", 1, host_ports=[HTTP])], nodes(1)), release, (), without)
    hints, plugin = model.part("hints"), node_ports(model)
    assert "".join(letter for name, letter in letters.items() if hints.hears(plugin, EVENTS[name])) == heard
    assert hints.hears(plugin, NODE_ADD)
    assert hints.hears(plugin, ASSIGNED_POD_DELETE)
    # Up to 1.21, NodeResourcesFit alone said what it waits for: that is `plugins-register`.
    assert not hints.hears(plugin, NODE_DELETE)
    assert not hints.hears(plugin, ASSIGNED_POD_ADD)


def node_ports(model):
    return next(p for p in model.model.entities[Plugin] if p.name == "NodePorts")


def hint(release, event, about):
    """Whether NodePorts, which rejected p for port 80, would have it tried again."""
    pods = [Pod(0, "p", 1, host_ports=[HTTP]), Pod(1, "q", 1, host_ports=about)]
    model = concrete(spec(pods, nodes(9)), release)
    return model.get(lambda: model.part("hints").wakes(node_ports(model), pods[0], event, pods[1]))


@pytest.mark.parametrize("release", ["1.22", "1.31", "1.32", "1.33", "1.36"])
def test_a_pod_that_goes_wakes_those_that_want_its_port(release):
    """isSchedulableAfterPodDeleted, since hints count (1.32): a pod without a node gave no port back, a nominated one from 1.33 on."""
    hinted = release not in ("1.22", "1.31")
    for ports, conflict in (([HostPort(80, ip="10.0.0.1")], True), ([HostPort(81)], False), ([], False)):
        assert hint(release, ASSIGNED_POD_DELETE, ports) is (conflict or not hinted)
        assert hint(release, WAITING_POD_GONE, ports) is (not hinted)
        assert hint(release, NOMINATED_POD_GONE, ports) is (
            conflict and release in ("1.33", "1.36") if hinted else True
        )
