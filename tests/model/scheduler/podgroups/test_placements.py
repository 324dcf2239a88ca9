"""Which domains a group is tried in, and what becomes of it where there is none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.checker.search import check
from podrace.checker.trace.execution import replay
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodGroup, Scope
from podrace.model.history import resolve
from podrace.model.history.versions.gates import GateProblem
from podrace.model.language import Expr, all_of, any_of, as_expr
from podrace.model.scheduler import PodGroupCycle
from podrace.model.scheduler.podgroups.pod_group_cycle import GroupStatus
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import parse_scenario

RELEASE, BOTH = "1.38.0-beta.0", {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
V, H = "VIOLATED", "HOLDS"


class NeverOnSecond(Property):
    """No pod that waited at the start is bound to the second node."""

    id = "X-SECOND"

    def holds(self) -> Expr:
        second = self.nodes[1]
        return all_of(self.api.pod[pod].node != second for pod in self.pods if pod.node is None)


class NoErrorOfGroups(Property):
    """No cycle of a group ends in an error."""

    id = "X-ERROR"
    pod_group_cycle: PodGroupCycle

    def holds(self) -> Expr:
        return as_expr(self.pod_group_cycle.status != GroupStatus.ERROR)


class NobodyBound(Property):
    """No pod that waited at the start is bound."""

    id = "X-BOUND"

    def holds(self) -> Expr:
        return ~any_of(self.api.pod[pod].assigned for pod in self.pods if pod.node is None)


def cluster(labels: tuple[Mapping[str, str], ...], bound: Mapping[str, int], waiting: int = 1) -> ClusterSpec:
    """Nodes with room for two pods each, and a group whose pods have to be within one zone."""
    nodes = tuple(Node(i, f"n{i + 1}", 2, labels=each) for i, each in enumerate(labels))
    pods = [Pod(i, name, 1, group="g", node=nodes[at]) for i, (name, at) in enumerate(bound.items())]
    pods += [Pod(len(pods) + i, f"w{i + 1}", 1, group="g") for i in range(waiting)]
    groups = (PodGroup(0, "g", 1, topology_key="zone"),)
    return ClusterSpec("x", tuple(pods), nodes, Scope(pod_events=1, flush=False), groups=groups)


X, Y, NONE = {"zone": "x"}, {"zone": "y"}, {"rack": "r"}


@pytest.mark.parametrize(
    ("spec", "gates", "prop", "verdict"),
    [
        (cluster((X, Y), {}), BOTH, NeverOnSecond, V),  # either domain may be chosen
        (cluster((X, Y), {"b": 0}), BOTH, NeverOnSecond, H),  # the domain of the scheduled member
        (cluster((X, Y), {"b": 0}), {"GenericWorkload": True}, NeverOnSecond, V),  # the gate is off
        (cluster((X, Y), {"b": 0}), BOTH, NobodyBound, V),
        (cluster((X, NONE), {}), BOTH, NeverOnSecond, H),  # a node without the label is in no domain
        (cluster((X, {"zone": ""}), {}), BOTH, NeverOnSecond, H),  # nor is one whose label is empty
        (cluster((NONE, NONE), {}), BOTH, NobodyBound, H),
        (cluster((NONE, NONE), {}), BOTH, NoErrorOfGroups, H),
        (cluster((X, Y), {"b": 0, "c": 1}), BOTH, NoErrorOfGroups, V),  # more than one domain
        (cluster((X, Y), {"b": 0, "c": 1}), BOTH, NobodyBound, H),
        (cluster((X, NONE), {"b": 1}), BOTH, NoErrorOfGroups, V),  # a member where there is no domain
        (cluster((X, X), {"b": 0, "c": 0}), BOTH, NeverOnSecond, V),  # two nodes of one domain
        (cluster((X, X), {"b": 0, "c": 0}), BOTH, NoErrorOfGroups, H),
    ],
)  # fmt: skip
def test_where_a_group_may_go(
    spec: ClusterSpec, gates: dict[str, bool], prop: type[Property], verdict: str
) -> None:
    (found,) = check(instrument(spec, resolve(RELEASE, (), (), gates).classes, [prop]), [prop.id])
    assert found.verdict.name == verdict


def test_groups_without_a_key_are_placed_as_without_the_gate() -> None:
    spec = ClusterSpec(
        "x",
        tuple(Pod(i, name, 1, group="g") for i, name in enumerate("ab")),
        (Node(0, "n1", 1, labels=X), Node(1, "n2", 1, labels=Y)),
        Scope(pod_events=1, flush=False),
        groups=(PodGroup(0, "g", 2),),
    )
    seen = set()
    for gates in (BOTH, {"GenericWorkload": True}):
        (found,) = check(
            instrument(spec, resolve(RELEASE, (), (), gates).classes, [PROPERTIES["L-GANG"]]), ["L-GANG"]
        )
        seen.add((found.verdict.name, found.counts.states, found.vacuous))
    assert seen == {(H, 122, False)}


@pytest.mark.parametrize(
    ("release", "gates", "said"),
    [
        (RELEASE, BOTH, None),
        (RELEASE, {"GenericWorkload": True}, "x: topologyKey of podGroups is for 1.38.0-beta.0 with TopologyAwareWorkloadScheduling on: add --release 1.38.0-beta.0 --gate TopologyAwareWorkloadScheduling=true"),
        ("1.37.2", {"GenericWorkload": True}, "x: topologyKey of podGroups is for 1.38.0-beta.0 with TopologyAwareWorkloadScheduling on: add --release 1.38.0-beta.0 --gate TopologyAwareWorkloadScheduling=true"),
        (RELEASE, {"TopologyAwareWorkloadScheduling": True}, "x: TopologyAwareWorkloadScheduling needs GenericWorkload: add --gate GenericWorkload=true"),
    ],
)  # fmt: skip
def test_which_gates_placements_need(release: str, gates: dict[str, bool], said: str | None) -> None:
    text = "nodes: {n1: {cpu: 2, labels: {zone: x}}}\npods: {a: {cpu: 1, podGroup: g}}\npodGroups: {g: {topologyKey: zone}}\n"
    assert refusal_of(parse_scenario(text, "x.yaml"), resolve(release, (), (), gates)) == said


def test_earlier_placements_are_not_modelled() -> None:
    with pytest.raises(GateProblem, match=r"only the placements of 1\.38 are modelled \(A-GROUP-KINDS\)"):
        resolve("1.37.2", (), (), BOTH)


FULL_AND_FREE = """
nodes: {n1: {cpu: 1, labels: {zone: x}}, n2: {cpu: 1, labels: {zone: y}}}
podGroups: {g: {minCount: 1, topologyKey: zone}}
pods: {a: {cpu: 1, podGroup: g}, x: {cpu: 1, nodeName: n1}}
"""


def test_a_trial_in_one_domain_says_nothing_in_the_next() -> None:
    """The result of a placement is that of its own trial (podGroupSchedulingDefaultAlgorithm): n1 is full, the pod fits on n2, and no plugin has rejected it."""
    scenario = parse_scenario(FULL_AND_FREE, "x.yaml")
    system = instrument(scenario.spec, resolve(RELEASE, (), (), BOTH).classes, [])
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    path = [
        "scheduler.pop(pod=a)", "pod_group_cycle.take_snapshot(pod=a)", "pod_group_cycle.enter(pod=a, domain=g/x)", "scheduler.filter(pod=a, node=n1)", "scheduler.fail(pod=a)",
        "pod_group_cycle.weigh(pod=a, better=True)", "pod_group_cycle.enter(pod=a, domain=g/y)", "scheduler.filter(pod=a, node=n2)", "scheduler.assume(pod=a, node=n2)",
        "pod_group_cycle.weigh(pod=a, better=True)", "pod_group_cycle.submit(pod=a)",
    ]  # fmt: skip
    found = [system.describe(s) for s in replay(system, tuple(numbers[step] for step in path)).states]
    rejected = [state["queue.rejected_by[a][NodeResourcesFit]"] for state in found]
    assert rejected == [False] * 5 + [True] * 2 + [False] * 5
