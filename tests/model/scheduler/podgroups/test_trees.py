"""Which groups of a tree are scheduled, and what they leave to each other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.search import check
from podrace.checker.trace.execution import replay
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodGroup, Scope
from podrace.model.history import resolve
from podrace.model.history.versions.gates import GateProblem
from podrace.model.language import Expr, all_of, any_of
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import parse_scenario

RELEASE = "1.38.0-beta.0"
ALL = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True}
V, H = "VIOLATED", "HOLDS"


class NobodyBound(Property):
    """No pod that waited at the start is bound."""

    id = "X-BOUND"
    of = "gh"

    def holds(self) -> Expr:
        mine = [pod for pod in self.pods if pod.node is None and str(pod.group) in self.of]
        return ~any_of(self.api.pod[pod].assigned for pod in mine)


class NobodyOfFirstBound(NobodyBound):
    """Of the first gang."""

    id = "X-FIRST"
    of = "g"


class NobodyOfSecondBound(NobodyBound):
    """Of the second gang."""

    id = "X-SECOND"
    of = "h"


class NotAllBound(Property):
    """Not all pods of the tree are bound."""

    id = "X-ALL"

    def holds(self) -> Expr:
        return ~all_of(self.api.pod[pod].assigned for pod in self.pods if pod.group)


def tree(
    minimum: int, sizes: tuple[int, int], counts: tuple[int, int], bound: Mapping[str, str] | None = None
) -> ClusterSpec:
    """A node with room for two pods, and two gangs of pods of these sizes below one root."""
    node = Node(0, "n1", 2)
    pods = [Pod(i, name, 1, group=group, node=node) for i, (name, group) in enumerate((bound or {}).items())]
    for group, size in zip("gh", sizes, strict=True):
        pods += [Pod(len(pods) + i, f"{group}{i + 1}", 1, group=group) for i in range(size)]
    groups = (
        PodGroup(0, "c", min_group_count=minimum),
        PodGroup(1, "g", counts[0], parent="c"),
        PodGroup(2, "h", counts[1], parent="c"),
    )
    return ClusterSpec("x", tuple(pods), (node,), Scope(pod_events=1, flush=False), groups=groups)


@pytest.mark.parametrize(
    ("spec", "prop", "verdict"),
    [
        (tree(2, (1, 1), (1, 1)), NotAllBound, V),
        (tree(2, (2, 1), (2, 1)), NobodyBound, H),  # the second would fit alone, and so would the first
        (tree(1, (2, 1), (2, 1)), NobodyOfFirstBound, V),
        (
            tree(1, (2, 1), (2, 1)),
            NobodyOfSecondBound,
            H,
        ),  # the first is assumed again for it, and has all room
        (tree(1, (3, 2), (3, 2)), NobodyOfFirstBound, H),
        (tree(1, (3, 2), (3, 2)), NobodyOfSecondBound, V),  # what the first has got is taken back
        (tree(2, (3, 2), (3, 2)), NobodyBound, H),  # too few gangs are left for the root after the first
        (tree(2, (1, 1), (1, 2)), NobodyBound, H),  # PreEnqueue: the second lacks a pod
        (tree(1, (1, 1), (1, 2)), NobodyOfFirstBound, V),
        (tree(1, (1, 1), (1, 2)), NobodyOfSecondBound, H),
        (tree(3, (1, 1), (1, 1)), NobodyBound, H),
        (tree(2, (0, 1), (1, 1), {"b": "g"}), NobodyOfSecondBound, V),  # the first is scheduled already
        (tree(2, (0, 2), (1, 2), {"b": "g"}), NobodyOfSecondBound, H),
    ],
)
def test_which_groups_are_bound(spec: ClusterSpec, prop: type[Property], verdict: str) -> None:
    (found,) = check(instrument(spec, resolve(RELEASE, (), (), ALL).classes, [prop]), [prop.id])
    assert found.verdict.name == verdict


@pytest.mark.parametrize(
    ("spec", "states", "vacuous"),
    [
        (tree(2, (1, 1), (1, 1)), 95, False),
        (tree(2, (2, 1), (2, 1)), 393, True),  # it fits at no time
    ],
)
def test_a_tree_that_fits_is_scheduled(spec: ClusterSpec, states: int, vacuous: bool) -> None:
    (found,) = check(
        instrument(spec, resolve(RELEASE, (), (), ALL).classes, [PROPERTIES["L-GANG"]]), ["L-GANG"]
    )
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, states, vacuous)


TEXT = "nodes: {n1: {cpu: 2}}\npods: {a: {cpu: 1, podGroup: g}}\npodGroups: {c: {minGroupCount: 1}, g: {minCount: 1, parent: c}}\n"


@pytest.mark.parametrize(
    ("release", "gates", "said"),
    [
        (RELEASE, ALL, None),
        (RELEASE, {**ALL, "CompositePodGroup": False}, "x: minGroupCount of podGroups is for 1.38.0-beta.0 with CompositePodGroup on: add --release 1.38.0-beta.0 --gate CompositePodGroup=true --gate TopologyAwareWorkloadScheduling=true"),
        ("1.37.2", {"GenericWorkload": True}, "x: minGroupCount of podGroups is for 1.38.0-beta.0 with CompositePodGroup on: add --release 1.38.0-beta.0 --gate CompositePodGroup=true --gate TopologyAwareWorkloadScheduling=true"),
        (RELEASE, {"GenericWorkload": True, "CompositePodGroup": True}, "x: CompositePodGroup needs GenericWorkload and TopologyAwareWorkloadScheduling: add --gate GenericWorkload=true --gate TopologyAwareWorkloadScheduling=true"),
    ],
)  # fmt: skip
def test_which_gates_trees_need(release: str, gates: dict[str, bool], said: str | None) -> None:
    assert refusal_of(parse_scenario(TEXT, "x.yaml"), resolve(release, (), (), gates)) == said


def test_a_tree_has_one_priority() -> None:
    text = TEXT.replace(
        "podGroup: g}}\npodGroups: {", "podGroup: g}, b: {cpu: 1, priority: 1, podGroup: h}}\npodGroups: {"
    ).replace("parent: c}}", "parent: c}, h: {minCount: 1, parent: c}}")
    said = "x: from 1.37 on, the pods of a group need one priority and one preemptionPolicy, and those of c have several"
    assert refusal_of(parse_scenario(text, "x.yaml"), resolve(RELEASE, (), (), ALL)) == said


def test_trees_of_1_37_are_not_modelled() -> None:
    with pytest.raises(GateProblem, match=r"only the trees of 1\.38 are modelled \(A-GROUP-TREES\)"):
        resolve("1.37.2", (), (), ALL)


def test_a_pod_that_came_before_others_of_its_tree_stays_held_at_the_start() -> None:
    """p came first and was held alone; with q in the entry PreEnqueue asks q first, whose group is the first of the tree, and not p."""
    node = Node(0, "n1", 3)
    groups = (
        PodGroup(0, "c", min_group_count=2),
        PodGroup(1, "g", 2, parent="c"),
        PodGroup(2, "h", 2, parent="c"),
    )
    pods = (Pod(0, "p", 1, group="h"), Pod(1, "q", 1, group="g"), Pod(2, "r", 1, group="h"))
    spec = ClusterSpec("x", pods, (node,), Scope(pod_events=1, flush=False), groups=groups)
    system = instrument(spec, resolve(RELEASE, (), (), ALL).classes, [])
    start = system.describe(Interpreter(system).initial)
    held = {pod.name: start[f"queue.gated[{pod.name}]"] for pod in pods}
    rejected = {pod.name: start[f"queue.rejected_by[{pod.name}][GangScheduling]"] for pod in pods}
    assert held == rejected == {"p": True, "q": True, "r": False}


@pytest.mark.parametrize(
    ("minimum", "leaves", "rejected"),
    [
        (2, "gi", {"pod0": False, "pod1": True}),  # too few groups are left for the root
        (1, "ggh", {"pod0": False, "pod1": True, "pod2": False}),  # the gang of two has lost one
        (1, "h", {"pod0": False}),
    ],
)
def test_without_nodes_only_pods_that_are_not_tried_have_a_rejecter(
    minimum: int, leaves: str, rejected: dict[str, bool]
) -> None:
    """The first error says that there are no nodes, and names no plugin. What is not tried is rejected by GangScheduling."""
    pods = tuple(Pod(i, f"pod{i}", 1, group=leaf) for i, leaf in enumerate(leaves))
    counts = {leaf: max(leaves.count(leaf), 1) for leaf in "ghi"}
    groups = (
        PodGroup(0, "c", min_group_count=minimum),
        *(PodGroup(i, leaf, counts[leaf], parent="c") for i, leaf in enumerate("ghi", 1)),
    )
    scope = Scope(pod_events=1, flush=False, node_creations=1)
    spec = ClusterSpec("x", pods, (Node(0, "n1", 2, exists=False),), scope, groups=groups)
    system = instrument(spec, resolve(RELEASE, (), (), ALL).classes, [])
    numbers = {transition.label: n for n, transition in enumerate(system.transitions)}
    path = [numbers[f"{step}(pod=pod0)"] for step in ("scheduler.pop", "pod_group_cycle.take_snapshot")]
    after = system.describe(replay(system, tuple(path)).states[-1])
    assert {pod.name: after[f"queue.rejected_by[{pod.name}][GangScheduling]"] for pod in pods} == rejected
    assert {pod.name: after[f"pod_group_cycle.withdraws[{pod.name}]"] for pod in pods} == {
        name: not untried for name, untried in rejected.items()
    }
