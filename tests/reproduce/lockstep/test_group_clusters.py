"""Random clusters with groups of pods: each is a scenario that can be said in objects, and the number determines it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.analysis.request.in_release import refusal_of
from podrace.base.problems import UsageProblem
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.model.language import State
from podrace.reproduce.lockstep.request import held
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.objects import objects_of
from podrace.reproduce.random_runs.forcing import Forcing
from podrace.reproduce.random_runs.group_clusters import (
    ENTRY_GATES,
    GATES,
    PLACED_GATES,
    TREE_GATES,
    clusters_for,
    entry_cluster,
    group_cluster,
    placed_cluster,
    tree_cluster,
)
from podrace.reproduce.random_runs.random_runs import Model, Wanted
from podrace.reproduce.request import code_of
from podrace.scenarios import parse_scenario


@given(st.integers(0, 1_000_000))
def test_every_cluster_can_be_said_in_objects(number: int) -> None:
    text = group_cluster(number)
    assert text == group_cluster(number)
    scenario = parse_scenario(text, "lockstep.yaml")
    assert objects_of(scenario.spec).missing == ()
    assert scenario.feature_gates == GATES
    assert sum(pod.group is not None for pod in scenario.spec.pods) >= 2


@given(st.integers(0, 1_000_000))
def test_clusters_of_entries_have_no_claims_and_one_priority_in_each_group(number: int) -> None:
    """In every other cluster priorities differ otherwise, so that groups preempt."""
    scenario = parse_scenario(entry_cluster(number), "lockstep.yaml")
    assert objects_of(scenario.spec).missing == ()
    assert scenario.feature_gates == ENTRY_GATES
    pods = scenario.spec.pods
    for group in scenario.spec.groups:
        assert len({repr(pod.priority) for pod in pods if pod.group == group.name}) <= 1
    assert number % 2 or {repr(pod.priority) for pod in pods} == {"1"}
    assert not scenario.spec.claims


@given(st.integers(0, 1_000_000))
def test_two_of_three_clusters_for_1_38_have_zones(number: int) -> None:
    scenario = parse_scenario(placed_cluster(number), "lockstep.yaml")
    assert objects_of(scenario.spec).missing == ()
    assert scenario.feature_gates == PLACED_GATES
    zones = {node.labels.get("zone") for node in scenario.spec.nodes}
    assert zones == ({"x", "y"} if number % 3 else {None})
    assert {group.topology_key for group in scenario.spec.groups} <= {None, *(["zone"] if number % 3 else [])}


@given(st.integers(0, 1_000_000))
def test_a_tree_has_one_root_and_can_be_said_in_objects(number: int) -> None:
    scenario = parse_scenario(tree_cluster(number), "lockstep.yaml")
    assert objects_of(scenario.spec).missing == ()
    assert scenario.feature_gates == TREE_GATES
    assert refusal_of(scenario, resolve("1.38.0-beta.0", (), (), TREE_GATES)) is None
    root, *children = scenario.spec.groups
    assert (root.name, {child.parent for child in children}) == ("c", {"c"})
    assert len({pod.group for pod in scenario.spec.pods} - {None}) >= 1
    there = [pod.exists for pod in scenario.spec.pods]
    assert there == sorted(there, reverse=True)


def test_which_clusters_a_version_is_given() -> None:
    assert clusters_for(36) == (group_cluster, GATES)
    assert clusters_for(37) == (entry_cluster, ENTRY_GATES)
    assert clusters_for(38) == (placed_cluster, PLACED_GATES)


def test_what_is_rarer_is_drawn_often_enough() -> None:
    specs = [parse_scenario(group_cluster(number), "lockstep.yaml").spec for number in range(40)]
    assert len({group_cluster(number) for number in range(40)}) == 40
    assert [
        sum(not group.exists for spec in specs for group in spec.groups),
        sum(group.min_count is None for spec in specs for group in spec.groups),
        sum(not pod.exists for spec in specs for pod in spec.pods),
        sum(pod.gated for spec in specs for pod in spec.pods),
        sum(bool(spec.claims) for spec in specs),
        sum(any(pod.node for pod in spec.pods) for spec in specs),
    ] == [10, 3, 12, 13, 10, 10]


@pytest.mark.parametrize("version", ["1.34.4", "1.37.2"])
def test_a_version_without_their_gate_is_refused_before_anything_is_built(version: str) -> None:
    go = Go("/no/go", "go1.26.8")
    with pytest.raises(UsageProblem) as refused:
        held(code_of(f"v{version}"), Wanted(cluster=group_cluster, gates=GATES), go, print)
    gate = f"{version} has no gate GangScheduling: it came with 1.35.0 and was gone in 1.37.0"
    assert str(refused.value) == f"--kubernetes v{version}: {gate}: name another version"


BOUND_AND_WAITING = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 2}}
pods: {a: {cpu: 1, nodeName: n1, podGroup: g, terminationGracePeriodSeconds: 0}, b: {cpu: 1, podGroup: g}}
scope: {pod_deletions: 1}
"""


ONE_AND_ANOTHER = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 2}}
pods: {a: {cpu: 1, podGroup: g, exists: false}, b: {cpu: 1, podGroup: g}}
"""


@pytest.mark.parametrize(("release", "asked"), [("1.37.2", True), ("1.38.0-beta.0", False)])
@pytest.mark.parametrize(
    ("cluster", "steps"),
    [
        (BOUND_AND_WAITING, ("users.delete_pod", "handlers.handle_for_cache", "handlers.wake_queue")),
        (ONE_AND_ANOTHER, ("users.create_pod", "handlers.handle_for_queue", "handlers.add_member")),
    ],
)
def test_pre_enqueue_is_not_asked_before_the_tracker_is_told(
    cluster: str, steps: tuple[str, ...], release: str, asked: bool
) -> None:
    """The handler of a is held between the cache, which PreEnqueue asks up to 1.37, and the tracker, which it asks then."""
    model = Model.of(cluster, resolve(release, gates=ENTRY_GATES))
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    flush, wake = "queue.flush_unschedulable(pod=b)", f"{steps[-1]}(pod=a)"
    path = [numbers[f"{step}(pod=a)"] for step in steps]
    before, amid, after = replay(model.system, tuple(path)).states[1:]
    forcing = Forcing(model.system)

    def allows(step: str, state: State) -> bool:
        return forcing.allows(model.system.transitions[numbers[step]], state)

    assert [allows(flush, state) for state in (before, amid, after)] == [True, asked, True]
    assert allows(wake, amid)
