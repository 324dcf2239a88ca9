"""Capacity is about every resource, not CPU alone."""

import pytest

from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, HostPort, Node, Pod, PodCopy
from podrace.model.history import resolve
from podrace.model.language import Concrete
from podrace.properties import instrument
from podrace.properties.placement.bindings import Capacity
from podrace.scenarios import find_scenarios, parse_scenario
from tests.model.clusters import nodes


@pytest.mark.parametrize(("memory", "holds"), [(2, True), (3, False)])
def test_memory_counts(memory: int, holds: bool) -> None:
    node = Node(0, "n", 4, memory=4)
    bound, pod = Pod(0, "bound", 1, memory=2, node=node), Pod(1, "p", 1, memory=memory)
    model = build_cluster(ClusterSpec("test", (bound, pod), (node,)))
    monitor = model.add("S-CAP", Capacity)
    assert isinstance(monitor, Capacity)
    state = Concrete(model)
    state.do(lambda: model.parts["cache"].assume(pod, node, PodCopy()))
    assert state.get(monitor.holds) is holds


@pytest.mark.parametrize(
    ("ip", "where", "holds"),
    [("0.0.0.0", 0, False), ("10.0.0.1", 0, False), ("10.0.0.2", 0, True), ("0.0.0.0", 1, True)],
)
def test_a_host_port_is_given_once(ip: str, where: int, holds: bool) -> None:
    on = nodes(4, 4)
    bound = Pod(0, "bound", 1, node=on[0], host_ports=[HostPort(80, ip="10.0.0.1")])
    pod = Pod(1, "p", 1, host_ports=[HostPort(80, ip=ip)])
    model = build_cluster(ClusterSpec("test", (bound, pod), on))
    monitor = model.add("S-CAP", Capacity)
    assert isinstance(monitor, Capacity)
    state = Concrete(model)
    assert state.get(monitor.holds) is True
    state.do(lambda: model.parts["cache"].assume(pod, on[where], PodCopy()))
    assert state.get(monitor.holds) is holds


def test_the_number_of_pods_counts() -> None:
    """two-generals, told of a node that takes one pod instead of one that has one CPU: the same run, after the same states."""
    (two_generals,) = find_scenarios("scenarios/hazards/two-generals.yaml")
    text = two_generals.text.replace("n1: {cpu: 1}", "n1: {cpu: 9, pods: 1}")
    found = []
    for scenario in (two_generals, parse_scenario(text, "one-pod.yaml")):
        system = instrument(scenario.spec, resolve("1.34").classes, [Capacity])
        (result,) = check(system, ["S-CAP"])
        assert result.trace is not None
        found.append((result.verdict.name, result.counts.states, len(result.trace.steps)))
    assert found == [("VIOLATED", 328, 12)] * 2
